package replay_test

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	prompts "ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// agreed are sessions of pi and of other agents, one of each generated shape, and two whose lists are longer than
// what is stored together.
func agreed(t *testing.T) []corpus.Session {
	all := slices.DeleteFunc(slices.Concat(corpus.Own(t), corpus.Agents(t), corpus.Generated(t)), func(c corpus.Session) bool {
		return strings.HasPrefix(c.Name, "gen/") && !strings.HasSuffix(c.Name, "-0")
	})
	for k, shape := range []gen.Shape{
		{Entries: 1300, Tools: 0.6, Systems: 0.05, Edits: 0.02, Ephemerals: 0.1, Branch: 0.01},
		{Entries: 1300, Tools: 0.6, Transforms: 0.01, Systems: 0.02, CompactEvery: 900},
	} {
		shape.Text, shape.MaxText = 20, 100
		all = append(all, corpus.Session{Name: fmt.Sprint("long/", k), Data: gen.Session(shape)})
	}
	return all
}

// envelopesOf yields the envelopes after some entries of the path to the leaf, and at the leaf.
func envelopesOf(t *testing.T) iter.Seq2[string, []*replay.Envelope] {
	return func(yield func(string, []*replay.Envelope) bool) {
		for _, c := range agreed(t) {
			s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
			if err != nil {
				continue
			}
			for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
				var all []*replay.Envelope
				r := replay.New(s, replay.Options{Rules: rules, Lenient: true})
				path, _ := s.Path(s.Leaf())
				k := 0
				for step, err := range r.Walk(s.Leaf()) {
					if err != nil {
						break
					}
					if k++; k == len(path) || k%max(1, len(path)/4) == 0 {
						all = append(all, step.Envelope())
					}
				}
				if !yield(fmt.Sprintf("%s by %v", c.Name, rules), all) {
					return
				}
			}
			s.Close()
		}
	}
}

// TestMessagesAgree: all ways to read the messages of a context give the same ones, in the same order.
func TestMessagesAgree(t *testing.T) {
	scanned := 0
	for name, all := range envelopesOf(t) {
		for _, e := range all {
			var want []string
			for m, err := range e.ProviderMessages() {
				must.Do(err)
				if m.Kind != jsonl.System { // in place
					want = append(want, string(m.Raw))
				}
			}
			var pieces, parallel []string
			l := e.Replay().NewReader()
			for i := range e.Len() {
				if p := e.Piece(i); p.Sent() {
					m, size, err := l.Message(p)
					must.Do(err)
					pieces = append(pieces, fmt.Sprint(m.Kind, size, string(m.Content), m.CallID, m.Tool))
				}
			}
			for one, err := range replay.Each(e, func(l *replay.Reader, p replay.Piece) (string, error) {
				m, size, err := l.Message(p)
				return fmt.Sprint(m.Kind, size, string(m.Content), m.CallID, m.Tool), err
			}) {
				must.Do(err)
				parallel = append(parallel, one)
			}
			if !slices.Equal(pieces, parallel) || len(want) != len(pieces) {
				t.Fatalf("%s: %d messages, %d pieces, %d in parallel", name, len(want), len(pieces), len(parallel))
			}
			found := make([]string, e.Len())
			must.Do(e.Scan(func(i int, p replay.Piece, m *jsonl.Message, n int) {
				if p.Place() != e.Piece(i).Place() || (m == nil) == p.Sent() {
					t.Errorf("%s: piece %d is scanned as %v", name, i, p)
				}
				if found[i] = "-"; m != nil {
					found[i] = fmt.Sprint(m.Kind, string(m.Content), m.CallID, m.Tool)
				}
				if turn := p.Kind().IsTurn(); turn && n != 0 {
					t.Errorf("%s: piece %d of kind %v is estimated as %d", name, i, p.Kind(), n)
				}
			}))
			for i, one := range found {
				p := e.Piece(i)
				if _, omits := p.Edit(); omits != (one == "") {
					t.Errorf("%s: piece %d, omitted %v, is scanned as %q", name, i, omits, one)
				}
				if !p.Sent() {
					continue
				}
				m, _, err := l.Message(p)
				must.Do(err)
				if one != fmt.Sprint(m.Kind, string(m.Content), m.CallID, m.Tool) {
					t.Errorf("%s: piece %d is scanned as %s", name, i, one)
				}
				scanned++
			}
			if n := e.Cached() + e.Uncached(); n != len(want) || e.Listed() > e.Len() {
				t.Errorf("%s: %d cached and uncached, %d messages", name, n, len(want))
			}
		}
	}
	if scanned < 1000 {
		t.Errorf("only %d messages", scanned)
	}
}

// TestDiffersAgrees: where two contexts of a walk differ is found without comparing what both store together.
func TestDiffersAgrees(t *testing.T) {
	for name, all := range envelopesOf(t) {
		for at, e := range all {
			for _, was := range append(slices.Clone(all[:at]), nil) {
				var want []int
				n := 0
				if was != nil {
					n = was.Listed()
				}
				for i := range max(e.Listed(), n) {
					if i >= n || i >= e.Listed() || e.Piece(i).Place() != was.Piece(i).Place() {
						want = append(want, i)
					}
				}
				if got := slices.Collect(e.Differs(was)); !slices.Equal(got, want) {
					t.Fatalf("%s: %d messages of %d differ, want %d", name, len(got), e.Listed(), len(want))
				}
				for range e.Differs(was) {
					break
				}
			}
		}
	}
}

// TestAside holds the packages to what contexts have besides messages: those of one request, native items, the history
// of the prompt, and which compactions a patch could replace.
func TestAside(t *testing.T) {
	var lines []string
	for name, all := range envelopesOf(t) {
		before := len(lines)
		for k, e := range all {
			with := must.Get(e.WithEphemeral())
			logged, items, history, recorded := []string{}, []string{}, []string{}, "none"
			for i := e.Len(); i < with.Len(); i++ {
				logged = append(logged, fmt.Sprint(with.Piece(i).Kind(), with.Piece(i).Origin()))
			}
			for m, err := range with.UncachedMessages() {
				must.Do(err)
				logged = append(logged, string(m.Raw))
			}
			own, err := e.Items()
			must.Do(err)
			for item, err := range own {
				must.Do(err)
				items = append(items, string(item))
			}
			must.Do(e.PromptHistory(func(origin.Origin) bool { return true }, func(by origin.Origin, p *prompts.Fold) {
				tools, omitted := p.Tools()
				history = append(history, fmt.Sprint(by, p.Known, p.NoTools, len(p.Parts()), len(tools), len(omitted)))
			}))
			if r, err := e.Recorded(); r != nil {
				proved, wrong := e.Proved()
				recorded = fmt.Sprint(r.Line, r.Answer, err, proved != nil, wrong)
			}
			lines = append(lines, fmt.Sprintf("%s %d: %d of one request %s, %d items %s, prompt %d %s, recorded %s, answers %d", name, k, with.Len()-e.Len(),
				golden.Digest(logged), len(items), golden.Digest(items), len(history), golden.Digest(history), recorded, e.RequestIndex))
		}
		if len(all) == 0 {
			continue
		}
		cuts := must.Get(all[0].Replay().Cuts())
		for _, c := range cuts {
			lines = append(lines, fmt.Sprintf("%s cut at %d above %d, index %d, by a patch %t", name, c.Record, c.Above, c.Index, c.Why == ""))
		}
		if strings.HasPrefix(name, "gen/") || strings.HasPrefix(name, "long/") || strings.Contains(name, "/bad/") {
			lines = append(lines[:before], fmt.Sprintf("%s: %d, %s", name, len(lines)-before, golden.Digest(lines[before:])))
		}
	}
	golden.Lines(t, "testdata/aside.txt", lines)
}

// TestCuts: why a patch cannot do what a compaction did.
func TestCuts(t *testing.T) {
	const head = `{"type":"session","version":3,"id":"s"}` + "\n"
	user := func(id, parent string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"message":{"role":"user","content":%[1]q}}`+"\n", id, parent)
	}
	cut := func(id, parent, fields string) string {
		return fmt.Sprintf(`{"type":"compaction","id":%q,"parentId":%q,%s}`+"\n", id, parent, fields)
	}
	three := head + user("a", "null") + user("b", `"a"`) + user("c", `"b"`)
	const stamp = `"timestamp":"2026-01-01T00:00:00.000Z"`
	for _, c := range []struct{ text, want string }{
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"b",`+stamp), "[{4 -1 1 }]"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"a",`+stamp), "[{4 -1 0 }]"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"k",`+stamp), "[{4 -1 3 }]"},
		{three + cut("k", "c", `"summary":7,"firstKeptEntryId":"b",`+stamp), "its summary is not text"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"x",`+stamp), "its first kept entry is not on the path before it"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"b","timestamp":"x"`), "it has no valid time"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"b","systemMessage":{"role":"system"},`+stamp), "it carries a checkpoint"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"b",`+stamp) + user("d", `"k"`) + cut("l", "d", `"summary":"s","firstKeptEntryId":"d",`+stamp), "[{4 -1 1 } {6 0 3 }]"},
		{three + cut("k", "c", `"summary":"s","firstKeptEntryId":"c",`+stamp) + user("d", `"k"`) + cut("l", "d", `"summary":"s","firstKeptEntryId":"a",`+stamp), "that an earlier compaction cut"},
		{three + `{"type":"context_edit","id":"e","parentId":"c","targetId":"b","replacement":null}` + "\n" + cut("k", "e", `"summary":"s","firstKeptEntryId":"b",`+stamp), "omitted by an edit"},
		{head + `{"type":"message","id":"y","parentId":null,"message":{"role":"system","content":"s"}}` + "\n" + user("a", `"y"`) + user("b", `"a"`) + cut("k", "b", `"summary":"s","firstKeptEntryId":"b",`+stamp), "it drops system messages"},
		{three, "[]"},
	} {
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(c.text), sessionfmt.Options{}))
		r := replay.New(s, replay.Options{})
		if got := fmt.Sprint(must.Get(r.Cuts())); got != c.want && !(c.want[0] != '[' && strings.Contains(got, c.want)) {
			t.Errorf("%s\n%s, want %s", c.text, got, c.want)
		}
	}
}

// TestEstimates: what Scan estimates for a message that is no prompt, answer or result is pi's estimate of it as stored.
func TestEstimates(t *testing.T) {
	for name, all := range envelopesOf(t) {
		for _, e := range all {
			must.Do(e.Scan(func(i int, p replay.Piece, _ *jsonl.Message, n int) {
				if p.Kind().IsTurn() {
					return
				}
				if want, err := e.Replay().NewReader().Estimate(&tokens.Pi, p); err != nil || n != want {
					t.Errorf("%s: piece %d is estimated as %d, want %d: %v", name, i, n, want, err)
				}
			}))
		}
	}
}
