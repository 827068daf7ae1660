package stats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// A lines is a session in the making: each entry follows the one before it, unless it
// says what it follows.
type lines struct {
	text []string
	last string
}

func newLines() *lines { return &lines{text: []string{header}} }

// entry adds an entry with that id and those fields.
func (l *lines) entry(id, fields string) *lines {
	parent := "null"
	if l.last != "" {
		parent = `"` + l.last + `"`
	}
	l.text = append(l.text, fmt.Sprintf(`{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z",%s}`, id, parent, len(l.text), fields))
	l.last = id
	return l
}

// from continues after another entry.
func (l *lines) from(id string) *lines {
	l.last = id
	return l
}

func (l *lines) user(id, text string) *lines {
	return l.entry(id, `"type":"message","message":{"role":"user","content":`+quote(text)+`}`)
}

// answer adds an answer of the model p/m with those blocks and further fields.
func (l *lines) answer(id, blocks, fields string) *lines {
	return l.entry(id, `"type":"message","message":{"role":"assistant","provider":"p","model":"m","content":[`+blocks+`]`+fields+`}`)
}

func (l *lines) result(id, call, text, fields string) *lines {
	return l.entry(id, `"type":"message","message":{"role":"toolResult","toolCallId":`+quote(call)+`,"toolName":"t","content":[{"type":"text","text":`+quote(text)+`}]`+fields+`}`)
}

func (l *lines) compaction(id, kept, summary, fields string) *lines {
	return l.entry(id, `"type":"compaction","summary":`+quote(summary)+`,"firstKeptEntryId":`+quote(kept)+fields)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func call(id, name, args string) string {
	return fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":%s}`, id, name, args)
}

func said(text string) string { return `{"type":"text","text":` + quote(text) + `}` }

// usage is a usage of that many prompt tokens.
func usage(prompt int) string {
	return fmt.Sprintf(`,"stopReason":"stop","usage":{"input":%d,"cacheRead":%d,"output":5,"totalTokens":%d}`, prompt-prompt/2, prompt/2, prompt+5)
}

const failed = `,"isError":true`

// look is what lenses see of a session.
func look(t *testing.T, opt stats.Options, data string, names ...string) *stats.Report {
	t.Helper()
	for _, l := range stats.Lenses {
		for _, name := range names {
			if l.Name == name {
				opt.Lenses = append(opt.Lenses, l)
			}
		}
	}
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, []byte(data), 0o600))
	return must.Get(opt.Read(name))
}

func (l *lines) look(t *testing.T, opt stats.Options, names ...string) *stats.Report {
	t.Helper()
	return look(t, opt, strings.Join(l.text, "\n")+"\n", names...)
}

// twice is what is seen of two sessions that are the same.
func twice(t *testing.T, r *stats.Report) *stats.Report {
	t.Helper()
	var opt stats.Options
	for _, l := range stats.Lenses {
		switch l.Name {
		case "session", "growth", "compactions":
			opt.Lenses = append(opt.Lenses, l)
		}
	}
	sum := &stats.Report{}
	for _, name := range []string{"a", "b"} {
		one := *r
		one.File = name
		opt.Add(sum, &one)
	}
	opt.Finish(sum)
	return sum
}

// TestShapeOfCorpus: the sums are those of the raw lines, and what lenses say of one
// thing in two ways agrees, in every session that there is.
func TestShapeOfCorpus(t *testing.T) {
	for _, c := range corpus.Sample(t) {
		t.Run(c.Name, func(t *testing.T) {
			data := string(c.Data)
			opt := stats.Options{}
			for _, l := range stats.Lenses {
				if l.Name == "session" || l.Name == "growth" || l.Name == "compactions" {
					opt.Lenses = append(opt.Lenses, l)
				}
			}
			name := filepath.Join(t.TempDir(), "s.jsonl")
			must.Do(os.WriteFile(name, c.Data, 0o600))
			r, err := opt.Read(name)
			if err != nil {
				t.Logf("not looked at: %v", err)
				return
			}
			checkSession(t, r.Session, data)
			checkGrowth(t, r, data)
			checkCompactions(t, r)
			sum := twice(t, r)
			if got, want := sum.Session.Messages, 2*r.Session.Messages; got != want {
				t.Errorf("twice %d messages are %d", want/2, got)
			}
			if got, want := sum.Session.Calls.Calls, 2*r.Session.Calls.Calls; got != want {
				t.Errorf("twice %d calls are %d", want/2, got)
			}
			if len(sum.Growth.Sessions) != 2 || sum.Compactions.Count != 2*r.Compactions.Count {
				t.Errorf("%d sessions, %d compactions", len(sum.Growth.Sessions), sum.Compactions.Count)
			}
		})
	}
}

// checkSession counts a file's lines again, with another decoder.
func checkSession(t *testing.T, p *stats.SessionPart, data string) {
	t.Helper()
	type record struct {
		Type    string
		Message *struct {
			Role    string
			Content json.RawMessage
		}
	}
	calls, messages, answers, prompts, compactions, edits, transforms := 0, 0, 0, 0, 0, 0, 0
	for line := range strings.Lines(strings.TrimPrefix(data, "\uFEFF")) {
		var rec record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			if strings.Contains(err.Error(), "max depth") {
				t.Log("left out: too deep for the other decoder")
				return
			}
			var shape map[string]json.RawMessage
			if json.Unmarshal([]byte(line), &shape) == nil {
				t.Log("left out: a record whose fields have other types than pi's")
				return
			}
			continue
		}
		switch {
		case rec.Type == "compaction":
			compactions++
		case rec.Type == "context_transform":
			transforms++
		case rec.Type == "context_edit":
			edits++
		case rec.Type == "message":
			messages++
			if rec.Message == nil {
				continue
			}
			switch rec.Message.Role {
			case "user":
				prompts++
			case "assistant":
				answers++
				var blocks []struct{ Type string }
				json.Unmarshal(rec.Message.Content, &blocks)
				for _, b := range blocks {
					if b.Type == "toolCall" {
						calls++
					}
				}
			}
		}
	}
	if transforms > 0 { // some compact, and compactions may only repeat them: see TestOneNumber
		compactions = p.Compactions
	}
	got := []int{p.Calls.Calls, p.Messages, p.Requests, p.Turns, p.Compactions, p.Edits}
	want := []int{calls, messages, answers, prompts, compactions, edits}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("calls, messages, answers, prompts, compactions, edits:\n got %v\nwant %v", got, want)
	}
	sum := func(counts map[string]int) (n int) {
		for _, c := range counts {
			n += c
		}
		return n
	}
	models, tools := 0, 0
	for _, m := range p.Models {
		models += m.Requests
	}
	for _, c := range p.Tools {
		tools += c.Calls
		if n := c.OK + c.Error + c.Blocked + c.Skipped + c.Aborted + c.Unanswered; n != c.Calls {
			t.Errorf("%s: %d outcomes of %d calls", c.Tool, n, c.Calls)
		}
	}
	if sum(p.Roles) != messages || sum(p.StopReasons) != answers || models != answers || tools != calls {
		t.Errorf("parts do not add up: %+v", p)
	}
}

// checkGrowth reads the usage of answers again, where ids tell them apart.
func checkGrowth(t *testing.T, r *stats.Report, data string) {
	t.Helper()
	recorded, times := map[string]int64{}, map[string]int{}
	for line := range strings.Lines(data) {
		var rec struct {
			ID      string
			Message struct {
				Role, StopReason string
				Usage            struct{ Input, CacheRead, CacheWrite int64 }
			}
		}
		if json.Unmarshal([]byte(line), &rec) == nil && rec.Message.Role == "assistant" {
			if u := rec.Message.Usage; rec.Message.StopReason != "error" && rec.Message.StopReason != "aborted" && u.Input <= jsonl.MostUsage {
				recorded[rec.ID] = u.Input + u.CacheRead + u.CacheWrite
			}
			times[rec.ID]++
		}
	}
	for _, row := range r.Growth.Sessions[0].Requests {
		if times[row.Entry] == 1 && row.Recorded != recorded[row.Entry] {
			t.Errorf("%s: %d tokens recorded, the line has %d", row.Entry, row.Recorded, recorded[row.Entry])
		}
	}
	g := r.Growth.Sessions[0]
	for i, row := range g.Requests {
		if row.Request != i || row.Entry == "" && r.Version > 1 && r.Findings == nil || row.Estimated != (row.Recorded == 0) || row.Size > g.Peak || row.Share > g.Share {
			t.Fatalf("request %d: %+v, peak %d", i, row, g.Peak)
		}
	}
	if g.Now.Request != len(g.Requests) || r.Stopped == "" && g.Compactions != r.Compactions.Count {
		t.Errorf("now %+v after %d requests; %d compactions, the other lens has %d", g.Now, len(g.Requests), g.Compactions, r.Compactions.Count)
	}
}

func checkCompactions(t *testing.T, r *stats.Report) {
	t.Helper()
	for _, c := range r.Compactions.List {
		s := c.Survival
		for _, k := range []stats.Kept{s.Paths, s.Commands, s.Errors, s.Constraints} {
			if k.Found > k.Of || len(k.Lost) != k.Of-k.Found {
				t.Errorf("%s: %+v", c.Entry, k)
			}
		}
		if c.Evidence == "" || c.Kept < 0 || c.Summarized < 0 || c.Reduction > 1 {
			t.Errorf("%+v", c)
		}
	}
}

// TestStoppedReplay: the lenses see what precedes a patch that cannot be applied.
func TestStoppedReplay(t *testing.T) {
	l := newLines().user("u", "hello").answer("a", said("hi"), usage(10)).
		entry("t", `"type":"context_transform","schemaVersion":1,"transformerName":"x","patch":[{"op":"nobody_knows"}]`).
		user("v", "more").answer("b", said("yes"), usage(20))
	r := l.look(t, stats.Options{Replay: replay.Options{Rules: replay.ByEnvelope}}, "session", "growth", "compactions")
	if r.Stopped == "" || len(r.Growth.Sessions[0].Requests) != 1 || r.Session.Requests != 2 {
		t.Errorf("stopped %q, %+v, %d requests", r.Stopped, r.Growth, r.Session.Requests)
	}
}
