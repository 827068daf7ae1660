package migrate

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
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
	r := rewritten(t, s, opt)
	if r == nil {
		return nil
	}
	if r.is = open(t, s.Name+" migrated", r.out); r.is == nil {
		t.Fatalf("%s: no session any more: %.200q", s.Name, r.out)
	}
	return r
}

// rewritten is migrated without opening what comes of it.
func rewritten(t testing.TB, s *sessionfmt.Session, opt Options) *result {
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
	must.Do(sessionfmt.Rewrite(follow, &out, &left))
	r.out, r.left = out.Bytes(), left.Bytes()
	return r
}

// content is what an envelope holds, and with context what pi's own context
// building would return.
func content(t testing.TB, e *replay.Envelope, context bool) string {
	t.Helper()
	var b bytes.Buffer
	read(t, e, context, &b, func(m value) { // white space in a message may move
		b.Write(m.AppendMinified(nil))
	})
	return b.String()
}

// digest is the hash of a content.
func digest(t testing.TB, e *replay.Envelope, context bool) uint64 {
	t.Helper()
	var h maphash.Hash
	h.SetSeed(seed)
	read(t, e, context, &h, func(m value) { maphash.WriteComparable(&h, compactHash(m)) })
	return h.Sum64()
}

var (
	seed     = maphash.MakeSeed()
	compacts = map[uint64]uint64{} // the hashes of values' compact forms, by their own
)

// compactHash is the hash of the compact form of a value: most messages are asked for
// again and again.
func compactHash(m value) uint64 {
	is := maphash.Bytes(seed, m)
	h, ok := compacts[is]
	if !ok {
		if len(compacts) > 1<<16 {
			clear(compacts)
		}
		h = maphash.Bytes(seed, m.AppendMinified(nil))
		compacts[is] = h
	}
	return h
}

// read writes what an envelope holds; message writes one.
func read(t testing.TB, e *replay.Envelope, context bool, w io.Writer, message func(m value)) {
	t.Helper()
	p := must.Get(e.Prompt())
	for _, part := range p.Parts {
		fmt.Fprintf(w, "part %s: %s\n", part.Name, part.Text)
	}
	fmt.Fprintf(w, "compiled %s\n", p.Compiled)
	for _, tool := range p.Tools {
		fmt.Fprintf(w, "tool %s\n", tool.Raw)
	}
	fmt.Fprintf(w, "options %s %s %s, turn %d, request %d\n", p.Options.Reasoning, p.Options.Temperature, p.Options.MaxTokens, e.TurnIndex, e.RequestIndex)
	fmt.Fprintf(w, "%d cached\n", e.Cached())
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
			message(m.Raw)
			io.WriteString(w, "\n")
		}
		io.WriteString(w, "--\n")
	}
}

// contexts are the digests of what a session has after entries of paths. All ways to
// migrate it are compared with the same.
type contexts map[pathRead]map[int]uint64

type pathRead struct {
	leaf    int
	rules   replay.Rules
	context bool
}

const stops = 0 // in place of a digest: the replay comes no further

// at is what a session has after some entries of a path: those at even distances, all
// that compact or patch, and the leaf.
func (all contexts) at(t *testing.T, s *sessionfmt.Session, p pathRead) map[int]uint64 {
	t.Helper()
	if after, ok := all[p]; ok {
		return after
	}
	path, _ := s.Path(p.leaf)
	most := 15
	if s.Size() > 300<<10 && !corpus.Whole() {
		most = 4
	}
	every := 1 + len(path)/most
	after := map[int]uint64{}
	steps := 0
	for step, err := range replay.New(s, replay.Options{Rules: p.rules}).Walk(p.leaf) {
		if err != nil {
			after[step.Record] = stops
			break
		}
		k := s.Kind(step.Record)
		if steps++; steps%every == 0 || k == jsonl.Compaction || k == jsonl.Transform || step.Record == p.leaf {
			after[step.Record] = digest(t, step.Envelope(), p.context)
		}
	}
	all[p] = after
	return after
}

// sameContext compares the envelopes after the entries of a path.
func (r *result) sameContext(t *testing.T, before contexts, p pathRead) (n int) {
	t.Helper()
	after := before.at(t, r.was, p)
	back := map[int]int{}
	for was, is := range r.to {
		back[is] = was
	}
	for step, err := range replay.New(r.is, replay.Options{Rules: p.rules}).Walk(r.to[p.leaf]) {
		was, ok := back[step.Record]
		want, known := after[was]
		if !ok || !known {
			continue
		}
		got := uint64(stops)
		if err == nil {
			got = digest(t, step.Envelope(), p.context)
		}
		if got != want {
			t.Fatalf("%s, compaction %s, rules %s: after line %d\n was %.3000s\n\n  is %.3000s", r.was.Name, r.plan.Compaction, p.rules, r.was.Line(was),
				contentAt(t, r.was, p, was), contentAt(t, r.is, pathRead{r.to[p.leaf], p.rules, p.context}, step.Record))
		}
		n++
	}
	if n < len(after) {
		t.Fatalf("%s, compaction %s, rules %s: %d entries of the path are gone", r.was.Name, r.plan.Compaction, p.rules, len(after)-n)
	}
	return n
}

// contentAt is the content after an entry of a path, to be shown.
func contentAt(t *testing.T, s *sessionfmt.Session, p pathRead, rec int) string {
	t.Helper()
	for step, err := range replay.New(s, replay.Options{Rules: p.rules}).Walk(p.leaf) {
		if err != nil {
			break
		}
		if step.Record == rec {
			return content(t, step.Envelope(), p.context)
		}
	}
	return "stops"
}

// leaves returns the entries without children, the leaf among them, and a few of many.
func leaves(s *sessionfmt.Session) (leaves []int) {
	parent := make([]bool, s.Len())
	for i := range s.Len() {
		if up := s.Parent(i); up >= 0 {
			parent[up] = true
		}
	}
	for i := range s.Len() {
		if !parent[i] && s.Kind(i) != jsonl.Header && s.Kind(i) != jsonl.Scalar {
			leaves = append(leaves, i)
		}
	}
	for len(leaves) > 10 {
		for i := range len(leaves) / 2 {
			leaves[i] = leaves[2*i+1]
		}
		leaves = leaves[:len(leaves)/2]
	}
	return leaves
}

// lawful holds a migration to law 5, and to law 1.
func (r *result) lawful(t *testing.T, before contexts) (n int) {
	t.Helper()
	for was, is := range r.to {
		if id := r.was.ID(was); id != r.is.ID(is) && id != "" {
			t.Fatalf("%s: line %d: id %q becomes %q", r.was.Name, r.was.Line(was), r.was.ID(was), r.is.ID(is))
		}
	}
	for _, leaf := range leaves(r.was) {
		n += r.sameContext(t, before, pathRead{leaf, replay.ByEnvelope, r.plan.Compaction == Native})
		if r.plan.Compaction != Transform {
			n += r.sameContext(t, before, pathRead{leaf, replay.ByPi, true})
		}
	}
	return n
}

// twice reports whether migrating again changes nothing.
func (r *result) twice(t testing.TB, opt Options) {
	t.Helper()
	again := rewritten(t, r.is, opt)
	if again == nil || !bytes.Equal(again.out, r.out) || !again.plan.Current() {
		t.Fatalf("%s, compaction %s, to %d: migrating again changes it", r.was.Name, opt.Compaction, opt.To)
	}
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
		before := contexts{}
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
				envelopes += r.lawful(t, before)
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

// ownSession is a session of the project's own.
func ownSession(t *testing.T, name string) []byte {
	t.Helper()
	for _, c := range corpus.Own(t) {
		if c.Name == name {
			return c.Data
		}
	}
	t.Fatalf("no session %s", name)
	return nil
}
