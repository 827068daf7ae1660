package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ctxtool/internal/body"
	"ctxtool/internal/dialect"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Part is a part of a request that is compared.
type Part int

// The parts.
const (
	System   Part = iota // the texts of the prompt
	Tools                // whole, in their order
	Messages             // without marks for the cache; a text counts as one block
	Thinking             // how much of it the request asks for
	Options              // all other members, but for those that no record has
	Cache                // the places of the marks
	parts
)

// PartNames are the names of the parts.
var PartNames = [parts]string{"system", "tools", "messages", "thinking", "options", "cache"}

// A Comparison is a request that was sent, beside what is replayed of it.
type Comparison struct {
	Script, Version, Model string
	N                      int
	Equal                  [parts]bool
	Claim                  dialect.Certainty
	Used                   rule.Set
	Asked                  rule.Asked
	Unlike                 [parts]string // how the parts begin to differ
}

// Overstated are the parts that are called exact and are not equal.
func (c *Comparison) Overstated() (names []string) {
	for p, claim := range []string{System: c.Claim.System, Tools: c.Claim.Tools, Messages: c.Claim.Messages} {
		if claim == "exact" && !c.Equal[p] {
			names = append(names, PartNames[p])
		}
	}
	return names
}

// ReadRecording returns the requests of a recording. Those of a skeleton build on earlier ones.
func ReadRecording(dir string) (all []*Request) {
	sc := bufio.NewScanner(must.Get(os.Open(filepath.Join(dir, "requests.jsonl"))))
	for sc.Buffer(nil, 1<<26); sc.Scan(); {
		var q Request
		must.Do(json.Unmarshal(sc.Bytes(), &q))
		q.unpack(all)
		all = append(all, &q)
	}
	must.Do(sc.Err())
	return all
}

// Compare compares the requests of a recording with what its sessions replay to, found by the id of the answer that
// each got. lost are those whose answer is in no session.
func Compare(dir string, interfaceOf string) (all []Comparison, lost []*Request) {
	at := map[string][]standing{}
	for _, file := range sessions(dir) {
		answers(file, at)
	}
	for _, q := range ReadRecording(dir) {
		hits := at[q.Answer]
		if q.Answer == "" || len(hits) == 0 {
			lost = append(lost, q)
			continue
		}
		own := slices.IndexFunc(hits, func(h standing) bool { return strings.Contains(h.file, q.ID) })
		c := compare(q, hits[max(0, own)], interfaceOf)
		c.Script = filepath.Base(dir)
		all = append(all, c)
	}
	return all, lost
}

// sessions are the files of a recording's sessions. Programs leave empty ones too.
func sessions(dir string) (all []string) {
	must.Do(filepath.WalkDir(filepath.Join(dir, "projects"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".jsonl") {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			all = append(all, name)
		}
		return err
	}))
	return all
}

// A standing is where an answer stands.
type standing struct {
	file string
	rec  int
}

// answers adds the answers of a session, by their ids.
func answers(file string, at map[string][]standing) {
	s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
	defer s.Close()
	lines := s.NewReader()
	for rec := range s.Len() {
		if !s.Answers(rec) {
			continue
		}
		raw := must.Get(lines.Raw(rec))
		line, _, _ := bytes.Cut(raw, []byte{'\n'})
		v := jsonl.Value(line)
		id := jsonl.FirstText(v.First("message", "id"), v.First("data", "apiCallId")).Text()
		at[id] = append(at[id], standing{file, rec})
	}
}

// compare compares one request.
func compare(q *Request, at standing, interfaceOf string) (c Comparison) {
	s := must.Get(sessionfmt.Open(at.file, sessionfmt.Options{}))
	defer s.Close()
	e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.Before(at.rec)))
	reading, err := e.Reading()
	must.Do(err)
	ref := must.Get(e.ModelRef())
	var asked object
	must.Do(json.Unmarshal(unattributed(jsonl.Value(q.Body)), &asked))
	model, _ := asked["model"].(string)
	if q.Beta != "" { // a header; records have it as a member
		asked["betas"] = strings.Split(q.Beta, ",")
	}
	c = Comparison{N: q.N, Version: s.WrittenBy(), Model: model, Claim: *reading.Certainty, Used: e.Rules(),
		Asked: rule.Asked{Host: ref.Provider, Model: ref.ID}}
	got, was := written(e, interfaceOf), sent(asked)
	if interfaceOf == chatForm {
		got, was = asMessages(got), asMessages(was)
	}
	for p := range parts {
		a, b := got.part(p), was.part(p)
		if c.Equal[p] = reflect.DeepEqual(a, b); !c.Equal[p] {
			c.Unlike[p] = unlike(a, b, "")
		}
	}
	return c
}

// A sent is a body of the Messages API.
type sent object

// written is the body of an envelope. Where there is none, it has the reason in place of messages.
func written(e *replay.Envelope, interfaceOf string) (got sent) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	of := slices.IndexFunc(body.Forms, func(f *body.Form) bool { return f.Name == interfaceOf })
	if err := body.Forms[of].Write(w, e); err != nil {
		return sent{"messages": err.Error()}
	}
	w.Flush()
	must.Do(json.Unmarshal(b.Bytes(), &got))
	return got
}

// unrecorded are the members of a body that no record has, and those that other parts compare.
var unrecorded = []string{"metadata", "stream", "safeguards", "diagnostics", "thread", "system", "tools", "messages",
	"thinking"}

// part is a part of a body.
func (s sent) part(p Part) any {
	switch p {
	case System:
		return texts(s["system"])
	case Tools:
		return Unmarked(s["tools"])
	case Messages:
		var all []any
		list, ok := s["messages"].([]any)
		if !ok {
			return s["messages"]
		}
		for _, m := range list {
			m := Unmarked(m).(object)
			m["content"] = asBlocks(m["content"])
			all = append(all, m)
		}
		return all
	case Thinking:
		return s["thinking"]
	case Options:
		all := object{}
		for name, v := range s {
			if !slices.Contains(unrecorded, name) {
				all[name] = v
			}
		}
		var same any
		must.Do(json.Unmarshal(must.Get(json.Marshal(all)), &same))
		return same
	}
	var all []string
	marks(map[string]any{"system": s["system"], "tools": s["tools"], "messages": s["messages"]}, "", &all)
	slices.Sort(all)
	return all
}

func asBlocks(content any) any {
	if t, ok := content.(string); ok {
		return []any{object{"type": "text", "text": t}}
	}
	return content
}

func texts(content any) (all []string) {
	blocks, _ := asBlocks(content).([]any)
	for _, b := range blocks {
		all = append(all, fmt.Sprint(b.(object)["text"]))
	}
	return all
}

// marks adds the places of marks for the cache.
func marks(v any, at string, all *[]string) {
	switch v := v.(type) {
	case []any:
		for k, e := range v {
			marks(e, fmt.Sprintf("%s/%d", at, k), all)
		}
	case object:
		for name, e := range v {
			if name == "cache_control" {
				*all = append(*all, fmt.Sprintf("%s %v", at, e))
			} else {
				marks(e, at+"/"+name, all)
			}
		}
	}
}

// unlike is how two values begin to differ.
func unlike(got, want any, at string) string {
	switch g := got.(type) {
	case []any:
		w, ok := want.([]any)
		for k := 0; ok && k < max(len(g), len(w)); k++ {
			switch {
			case k >= len(g):
				return fmt.Sprintf("%s/%d: nothing, and sent was %.400s", at, k, must.Get(json.Marshal(w[k])))
			case k >= len(w):
				return fmt.Sprintf("%s/%d: %.400s, and nothing was sent", at, k, must.Get(json.Marshal(g[k])))
			case !reflect.DeepEqual(g[k], w[k]):
				return unlike(g[k], w[k], fmt.Sprintf("%s/%d", at, k))
			}
		}
	case object:
		w, ok := want.(object)
		for name := range w {
			if ok && !reflect.DeepEqual(g[name], w[name]) {
				return unlike(g[name], w[name], at+"/"+name)
			}
		}
		for name := range g {
			if _, has := w[name]; ok && !has {
				return fmt.Sprintf("%s/%s: %.200v, and nothing was sent", at, name, g[name])
			}
		}
	case string:
		if w, ok := want.(string); ok {
			k := 0
			for k < min(len(g), len(w)) && g[k] == w[k] {
				k++
			}
			return fmt.Sprintf("%s: %.200q at %d, and sent was %.200q", at, g[max(0, k-20):], k, w[max(0, k-20):])
		}
	}
	return fmt.Sprintf("%s: %.400s, and sent was %.400s", at, must.Get(json.Marshal(got)), must.Get(json.Marshal(want)))
}

// WithoutRecords copies a recording without the lines by which the program records its requests. It reports whether
// there are any.
func WithoutRecords(dir, to string) (any bool) {
	must.Do(os.CopyFS(to, os.DirFS(dir)))
	for _, file := range sessions(to) {
		var kept [][]byte
		for line := range bytes.SplitSeq(must.Get(os.ReadFile(file)), []byte{'\n'}) {
			if typ := jsonl.Value(line).Get("type").Text(); strings.HasPrefix(typ, "api-request") {
				any = true
			} else {
				kept = append(kept, line)
			}
		}
		must.Do(os.WriteFile(file, bytes.Join(kept, []byte{'\n'}), 0o644))
	}
	return any
}
