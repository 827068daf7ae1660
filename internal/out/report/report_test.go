package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// reported is a session with its report, all of it read.
func reported(t *testing.T, s corpus.Session) (*Report, [][]byte) {
	t.Helper()
	opened, err := sessionfmt.OpenReader(s.Name, bytes.NewReader(s.Data), sessionfmt.Options{})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { opened.Close() })
	p := New(replay.New(opened, replay.Options{}), opened.Leaf())
	entries := p.Begin(64 << 10)
	must.Do(p.Wait())
	var all []byte
	for _, size := range [][][2]int{entries, p.Rest(64 << 10)} {
		for _, stretch := range size {
			if all, err = p.Rows(all, stretch, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Finish()
	return p, bytes.Split(bytes.TrimSuffix(all, []byte{'\n'}), []byte{'\n'})
}

// listOf is the messages of a step, put together from what the steps before it say.
func listOf(p *Report, step int) (list []int) {
	if step < 0 {
		return nil
	}
	st := &p.Steps
	was := listOf(p, st.Before[step])
	list = append(list, was[:st.Same[step]]...)
	for _, x := range st.List[step] {
		switch x := x.(type) {
		case int:
			list = append(list, x)
		case []int:
			list = append(list, was[x[0]:x[0]+x[1]]...)
		}
	}
	return list
}

// TestSteps holds of every session that the steps put together are what a replay to
// the request gives: its messages, where they come from, and what they count for.
func TestSteps(t *testing.T) {
	for _, s := range corpus.All(t) {
		t.Run(s.Name, func(t *testing.T) {
			p, rows := reported(t, s)
			n := p.s.Len()
			if want := n + len(p.extra); want != len(rows) && want > 0 {
				t.Fatalf("%d rows, not %d", len(rows), want)
			}
			every := max(1, len(p.Steps.Entry)/12)
			for step := 0; step < len(p.Steps.Entry); step += every {
				if entry := p.Steps.Entry[step]; entry >= 0 {
					if _, found := p.s.Path(entry); len(found) > 0 {
						t.Logf("left out: step %d is on a circle, whose beginning each entry of it has elsewhere", step)
						continue
					}
					e := must.Get(p.r.At(sessionfmt.Before(entry)))
					sameStep(t, p, rows, step, e)
				}
			}
		})
	}
}

// listsOf returns the parts and the tools of a prompt.
func listsOf(all []Prompt, at int) (parts, tools []any) {
	if at < 0 {
		return nil, nil
	}
	parts, tools = listsOf(all, all[at].From)
	apply := func(list []any, changes [][]any) []any {
		for _, c := range slices.Backward(changes) {
			from := c[0].(int)
			list = slices.Replace(list, from, from+c[1].(int), c[2:]...)
		}
		return list
	}
	return apply(parts, all[at].Parts), apply(tools, all[at].Tools)
}

// sameStep compares a step with the envelope that it stands for.
func sameStep(t *testing.T, p *Report, rows [][]byte, step int, e *replay.Envelope) {
	t.Helper()
	list, n, i := listOf(p, step), p.s.Len(), 0
	counts := must.Get(e.Count(&tokens.Pi))
	st := &p.Steps
	if got := (weigh.Counts{System: st.System[step], Tools: st.Tools[step], Messages: st.Messages[step], Total: counts.Total, NoSystem: counts.NoSystem, NoTools: counts.NoTools}); got != counts {
		t.Errorf("step %d: %+v, the envelope has %+v", step, got, counts)
	}
	sum := 0
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
		if err != nil {
			t.Fatal(err)
		}
		if i >= len(list) {
			t.Fatalf("step %d: %d messages, the envelope has more", step, len(list))
		}
		at := fmt.Sprintf("step %d, message %d", step, i)
		if row := list[i]; row < n {
			if m.Origin != (origin.Origin{Record: row, By: row, Op: -1}) {
				t.Errorf("%s: entry %d, the envelope says %+v", at, row, m.Origin)
			}
			sum += int(p.Index.Tokens[row])
		} else {
			x := &st.Extra
			if got := (origin.Origin{Record: x.Entry[row-n], By: x.By[row-n], Op: x.Op[row-n]}); m.Origin != got {
				t.Errorf("%s: %+v, the envelope says %+v", at, got, m.Origin)
			}
			if body := x.Row[row-n]; body >= n && outline.MessageGist(jsonl.Value(rows[body])) != outline.MessageGist(m.Raw) {
				t.Errorf("%s: says %q, the envelope %q", at, outline.MessageGist(jsonl.Value(rows[body])), outline.MessageGist(m.Raw))
			}
			sum += x.Tokens[row-n]
		}
		i++
	}
	if i != len(list) || i != e.Cached()+e.Uncached() || st.Cached[step] != e.Cached() {
		t.Errorf("step %d: %d messages, %d cached; the envelope has %d and %d", step, len(list), st.Cached[step], i, e.Cached())
	}
	if sum != counts.Messages {
		t.Errorf("step %d: the messages count for %d, in the envelope for %d", step, sum, counts.Messages)
	}
	is, want := "", ""
	for _, p := range must.Get(e.Prompt()).Parts {
		want += string(jsonl.AppendQuoted(nil, p.Text))
	}
	parts, tools := listsOf(st.Prompts, st.Prompt[step])
	for _, p := range parts {
		for _, section := range p.([][4]any) {
			is += string(rows[section[1].(int)])
		}
	}
	for _, t := range must.Get(e.Prompt()).Tools {
		want += string(t.Raw.AppendMinified(nil))
	}
	for _, t := range tools {
		t := t.([4]any)
		if t[1] == -1 {
			continue
		}
		is += string(rows[t[1].(int)])
	}
	if strings.ReplaceAll(is, `""`, "") != strings.ReplaceAll(want, `""`, "") { // parts are shown by sections
		t.Errorf("step %d: prompt and tools\n%s, in the envelope\n%s", step, is, want)
	}
}

// TestRows holds that rows are JSON on a line, and have what the entries say.
func TestRows(t *testing.T) {
	for _, s := range corpus.Own(t) {
		t.Run(s.Name, func(t *testing.T) {
			p, rows := reported(t, s)
			lines := p.s.NewReader()
			for i := range p.s.Len() {
				if !json.Valid(rows[i]) {
					t.Errorf("row %d is not JSON: %.100s", i, rows[i])
				}
				line := must.Get(lines.Line(i))
				kind := p.s.Kind(i)
				if !kind.IsMessage() || kind == jsonl.NoMessage || !line.Get("message").IsObject() {
					continue
				}
				was, is := outline.MessageGist(line.Get("message")), outline.MessageGist(jsonl.Value(rows[i]).Get("message"))
				if was != is {
					t.Errorf("row %d says %q, its entry %q", i, is, was)
				}
			}
		})
	}
}
