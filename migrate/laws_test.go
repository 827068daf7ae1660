package migrate

import (
	"bytes"
	"fmt"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// open opens a session in memory, nil where it is none. Who opens many closes them.
func open(t testing.TB, name string, data []byte) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A result is a session and what migrating has made of it.
type result struct {
	plan      *Plan
	was, is   *sessionfmt.Session
	out, left []byte
	to        map[int]int // records of the one to those of the other
}

// migrated migrates a session, nil where that is refused.
func migrated(t testing.TB, s *sessionfmt.Session, opt Options) *result {
	t.Helper()
	p, err := New(s, opt)
	if err != nil {
		return nil
	}
	r := &result{plan: p, was: s, to: map[int]int{}}
	var out, left bytes.Buffer
	records := 0
	follow := func(yield func(sessionfmt.Change, error) bool) {
		for c, err := range p.Changes {
			if err != nil {
				t.Fatal(err)
			}
			if c.Same && c.Record >= 0 {
				records++
			}
			records += len(c.New)
			if c.Record >= 0 && (c.Same || len(c.New) > 0) {
				r.to[c.Record] = records - 1
			}
			if !yield(c, err) {
				return
			}
		}
	}
	if err := sessionfmt.Rewrite(follow, &out, &left); err != nil {
		t.Fatal(err)
	}
	r.out, r.left = out.Bytes(), left.Bytes()
	if r.is = open(t, s.Name+" migrated", r.out); r.is == nil {
		t.Fatalf("%s: no session any more: %.200q", s.Name, r.out)
	}
	return r
}

// content is what an envelope holds, and with context what pi's own context
// building would return.
func content(t testing.TB, e *replay.Envelope, context bool) string {
	t.Helper()
	var b bytes.Buffer
	p, err := e.Prompt()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range p.Parts {
		fmt.Fprintf(&b, "part %s: %s\n", part.Name, part.Text)
	}
	fmt.Fprintf(&b, "compiled %s\n", p.Compiled)
	for _, tool := range p.Tools {
		fmt.Fprintf(&b, "tool %s\n", tool.Raw)
	}
	fmt.Fprintf(&b, "options %s %s %s, turn %d, request %d\n", p.Options.Reasoning, p.Options.Temperature, p.Options.MaxTokens, e.TurnIndex, e.RequestIndex)
	fmt.Fprintf(&b, "%d cached\n", e.Cached())
	lists := []func(func(replay.Message, error) bool){e.CachedMessages(), e.UncachedMessages()}
	if context {
		lists = lists[:0]
		lists = append(lists, e.ContextMessages())
	}
	for _, list := range lists {
		for m, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", m.Raw.AppendCompact(nil)) // white space in a message may move
		}
		b.WriteString("--\n")
	}
	return b.String()
}

// sameContext compares the envelopes after the entries of a path.
func (r *result) sameContext(t *testing.T, leaf int, rules replay.Rules, context bool) (n int) {
	t.Helper()
	path, _ := r.was.Path(leaf)
	every := 1 + len(path)/15
	after := map[int]string{}
	steps := 0
	for step, err := range replay.New(r.was, replay.Options{Rules: rules}).Walk(leaf) {
		if err != nil {
			after[step.Record] = "stops"
			break
		}
		k := r.was.Kind(step.Record)
		if steps++; steps%every == 0 || k == sessionfmt.Compaction || k == sessionfmt.Transform || step.Record == leaf {
			after[step.Record] = content(t, step.Envelope(), context)
		}
	}
	back := map[int]int{}
	for was, is := range r.to {
		back[is] = was
	}
	for step, err := range replay.New(r.is, replay.Options{Rules: rules}).Walk(r.to[leaf]) {
		was, ok := back[step.Record]
		want, known := after[was]
		if !ok || !known {
			continue
		}
		got := "stops"
		if err == nil {
			got = content(t, step.Envelope(), context)
		}
		if got != want {
			t.Fatalf("%s, compaction %s, rules %s: after line %d\n was %.3000s\n\n  is %.3000s", r.was.Name, r.plan.Compaction, rules, r.was.Line(was), want, got)
		}
		delete(after, was)
		n++
	}
	if len(after) > 0 {
		t.Fatalf("%s, compaction %s, rules %s: %d entries of the path are gone", r.was.Name, r.plan.Compaction, rules, len(after))
	}
	return n
}

// tips are the entries without children, the leaf among them, and a few of many.
func tips(s *sessionfmt.Session) (tips []int) {
	parent := make([]bool, s.Len())
	for i := range s.Len() {
		if up := s.Parent(i); up >= 0 {
			parent[up] = true
		}
	}
	for i := range s.Len() {
		if !parent[i] && s.Kind(i) != sessionfmt.Header && s.Kind(i) != sessionfmt.Scalar {
			tips = append(tips, i)
		}
	}
	for len(tips) > 10 {
		for i := range len(tips) / 2 {
			tips[i] = tips[2*i+1]
		}
		tips = tips[:len(tips)/2]
	}
	return tips
}

// lawful holds a migration to law 5, and to law 1.
func (r *result) lawful(t *testing.T) (n int) {
	t.Helper()
	for was, is := range r.to {
		if id := r.was.ID(was); id != r.is.ID(is) && id != "" {
			t.Fatalf("%s: line %d: id %q becomes %q", r.was.Name, r.was.Line(was), r.was.ID(was), r.is.ID(is))
		}
	}
	for _, leaf := range tips(r.was) {
		n += r.sameContext(t, leaf, replay.ByEnvelope, r.plan.Compaction == Native)
		if r.plan.Compaction != Transform {
			n += r.sameContext(t, leaf, replay.ByPi, true)
		}
	}
	return n
}

// twice says that migrating again changes nothing.
func (r *result) twice(t testing.TB, opt Options) {
	t.Helper()
	again := migrated(t, r.is, opt)
	if again == nil || !bytes.Equal(again.out, r.out) || !again.plan.Current() {
		t.Fatalf("%s, compaction %s, to %d: migrating again changes it", r.was.Name, opt.Compaction, opt.To)
	}
	again.is.Close()
	r.is.Close()
}

var modes = []Compaction{Auto, Native, Pair, Transform}

// TestLaw5 is law 5: migration keeps the context, and migrating twice changes
// nothing.
func TestLaw5(t *testing.T) {
	envelopes, turned, native := 0, 0, 0
	for _, c := range corpus.All(t) {
		s := open(t, c.Name, c.Data)
		if s == nil {
			continue
		}
		for _, mode := range modes {
			for _, to := range []int{2, 3} {
				if to == 2 && s.Version > 2 {
					continue // as to 3
				}
				opt := Options{To: to, Compaction: mode}
				r := migrated(t, s, opt)
				if r == nil || r.plan.Current() {
					if r != nil && !bytes.Equal(r.out, c.Data) {
						t.Fatalf("%s is current, and changes", c.Name)
					}
					native += lenNative(r)
					continue
				}
				turned, native = turned+r.plan.Turned, native+len(r.plan.Native)
				envelopes += r.lawful(t)
				r.twice(t, opt)
			}
		}
	}
	t.Logf("%d envelopes; %d compactions turned, %d native", envelopes, turned, native)
	if turned == 0 || native == 0 {
		t.Error("no compaction was tested")
	}
}

func lenNative(r *result) int {
	if r == nil {
		return 0
	}
	return len(r.plan.Native)
}

// read is a session of the project's own.
func read(t *testing.T, name string) []byte {
	t.Helper()
	for _, c := range corpus.Own(t) {
		if c.Name == name {
			return c.Data
		}
	}
	t.Fatalf("no session %s", name)
	return nil
}
