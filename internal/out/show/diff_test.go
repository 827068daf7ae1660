package show

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestDiffApplies: what a comparison says, done to the first envelope, gives the
// second: for random points of all sessions, by both rules, and for points of two
// sessions.
func TestDiffApplies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	seen := map[diff.Change]int{}
	var last *replay.Envelope
	applied := 0
	for _, c := range corpus.Sample(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer s.Close()
		tries, others := 4, 1
		if !corpus.Whole() {
			tries, others = 1, 5
		}
		if len(c.Data) > 100<<10 {
			tries = 1
		}
		for turn, rules := range bothRules {
			r := replay.New(s, replay.Options{Rules: rules, Lenient: true})
			pairs := [][2]int{}
			for range tries {
				pairs = append(pairs, [2]int{random.IntN(s.Len()+1) - 1, random.IntN(s.Len()+1) - 1})
			}
			if len(c.Data) < 16<<10 {
				changes := func(rec int) bool {
					k := s.Kind(rec)
					return k == jsonl.Compaction || k == jsonl.ContextEdit || k == jsonl.Transform
				}
				kind := func(rec int) int {
					if changes(rec) {
						return -1 - rec // each by itself
					}
					return int(s.Kind(rec))
				}
				for k, rec := range corpus.Points(s.Len(), 4, 1, kind) {
					if corpus.Whole() || changes(rec) || k%2 == turn { // others by the one rules or the other
						pairs = append(pairs, [2]int{s.LeafAt(sessionfmt.Before(rec)), rec})
					}
				}
			}
			for _, p := range pairs {
				a, b := p[0], p[1]
				span, err := diff.Between(r, a, b)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				d, err := span.Diff(&tokens.Pi)
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				name := fmt.Sprintf("%s, rules %s, %s to %s", c.Name, rules, nameOf(s, a), nameOf(s, b))
				holds(t, name, d)
				applied++
				for _, m := range d.Messages {
					seen[m.Change] += m.Count
					if m.Change != diff.Kept && m.Cause.In == nil {
						t.Errorf("%s: a message is %s, and nothing did it", name, m.Change)
					}
				}
				if last != nil && applied%others == 0 {
					d, err := diff.Envelopes(&tokens.Pi, last, span.B)
					if err != nil {
						t.Fatalf("%s: %v", c.Name, err)
					}
					holds(t, "another session, "+name, d)
				}
				last = span.A
			}
		}
	}
	for _, change := range changeOrder[:8] {
		if seen[change] == 0 {
			t.Errorf("nothing is %s", change)
		}
	}
	if applied < 300 {
		t.Errorf("only %d comparisons", applied)
	}
	t.Logf("%d comparisons; messages %v", applied, seen)
}

func nameOf(s *sessionfmt.Session, rec int) string {
	if rec < 0 {
		return "root"
	}
	return s.ID(rec)
}

// holds applies a comparison.
func holds(t *testing.T, name string, d *diff.Difference) {
	t.Helper()
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	must.Do(DiffForms.Of(d).Write(w, "json", Screen{}))
	w.Flush()
	var diff appliedDiff
	if err := json.Unmarshal(out.Bytes(), &diff); err != nil {
		if strings.Contains(err.Error(), "exceeded max depth") {
			return
		}
		t.Fatalf("%s: %v", name, err)
	}
	is, want := printedEnvelope(t, d.A.Envelope), printedEnvelope(t, d.B.Envelope)
	equal := reflect.DeepEqual(said(is), said(want))
	for _, m := range is.all() {
		diff.was = append(diff.was, saysOf(m))
	}
	is.apply(diff)
	if a, b := is.text(), want.text(); a != b {
		k := 0
		for k < min(len(a), len(b)) && a[k] == b[k] {
			k++
		}
		t.Errorf("%s: the diff gives\n%.200s\nnot\n%.200s\nby\n%.600s", name, a[max(0, k-60):], b[max(0, k-60):], out.Bytes())
	}
	if diff.Equal != equal {
		t.Errorf("%s: equal is %v", name, diff.Equal)
	}
	n := 0
	for n < min(len(diff.was), len(want.all())) && diff.was[n] == saysOf(want.all()[n]) {
		n++
	}
	if diff.System != nil || diff.Tools != nil {
		n = 0
	}
	if diff.Shared.Messages != n {
		t.Errorf("%s: %d messages are shared, not %d", name, n, diff.Shared.Messages)
	}
	if equal && diff.Shared.Tokens != diff.Tokens.A.Total {
		t.Errorf("%s: the same, and %d of %d tokens are shared", name, diff.Shared.Tokens, diff.Tokens.A.Total)
	}
	for k, e := range []*replay.Envelope{d.A.Envelope, d.B.Envelope} {
		want := []weigh.Counts{d.Tokens.A, d.Tokens.B}[k]
		if counts, err := e.Count(&tokens.Pi); err != nil || counts != want {
			t.Errorf("%s: side %d has %v tokens, not %v (%v)", name, k, counts, want, err)
		}
	}
}

// An appliedEnvelope is what replay -f json prints.
type appliedEnvelope struct {
	System struct {
		Parts    []appliedPart
		Compiled string
	}
	Tools    []json.RawMessage
	Messages struct{ Cached, Uncached []json.RawMessage }
	Options  map[string]json.RawMessage
	Meta     struct {
		Model                   models.Ref
		Limit                   int64
		TurnIndex, RequestIndex int
		Tokens                  weigh.Counts
		Rules                   replay.Rules
		Leaf                    string
	}
}

type appliedPart struct{ Name, Text string }

type appliedDiff struct {
	B      diff.Side
	Equal  bool
	Shared diff.Shared
	System []struct {
		Name  string
		A, B  *int
		Value *string
	}
	Tools    []appliedRow
	Options  map[string]struct{ B json.RawMessage }
	Messages []appliedRow
	Tokens   diff.Sizes

	was []string // what A's messages say
}

type appliedRow struct {
	A, B  *int
	Count int
	Value json.RawMessage
}

func printedEnvelope(t *testing.T, e *replay.Envelope) (out appliedEnvelope) {
	t.Helper()
	if err := json.Unmarshal(printed("json", Report{Envelope: e}), &out); err != nil && !strings.Contains(err.Error(), "exceeded max depth") {
		t.Fatal(err)
	}
	return out
}

func (e *appliedEnvelope) all() []json.RawMessage {
	return append(append([]json.RawMessage(nil), e.Messages.Cached...), e.Messages.Uncached...)
}

func (e *appliedEnvelope) text() string {
	b, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// saysOf is what a provider gets of a message.
func saysOf(m json.RawMessage) string {
	var f [5]jsonl.Value
	jsonl.Value(m).Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
	text := ""
	for _, v := range f {
		text += string(v.AppendMinified(nil)) + "\x00"
	}
	return text
}

// said is what of an envelope a model gets.
func said(e appliedEnvelope) (all []string) {
	all = append(all, fmt.Sprint(e.System.Parts, e.Meta.Model, e.Options))
	for _, t := range e.Tools {
		all = append(all, string(jsonl.Value(t).AppendMinified(nil)))
	}
	for _, list := range [][]json.RawMessage{e.Messages.Cached, e.Messages.Uncached} {
		all = append(all, "list")
		for _, m := range list {
			all = append(all, saysOf(m))
		}
	}
	return all
}

// apply makes B of A: rows with a value put it where they say, others bring what was at
// their place; what no row names stays, in its order.
func (e *appliedEnvelope) apply(d appliedDiff) {
	var parts []appliedRow
	for _, p := range d.System {
		row := appliedRow{A: p.A, B: p.B}
		if p.Value != nil {
			row.Value, _ = json.Marshal(appliedPart{p.Name, *p.Value})
		}
		parts = append(parts, row)
	}
	var was []json.RawMessage
	for _, p := range e.System.Parts {
		raw, _ := json.Marshal(p)
		was = append(was, raw)
	}
	e.System.Parts = []appliedPart{}
	for _, raw := range appliedRows(was, parts) {
		var p appliedPart
		json.Unmarshal(raw, &p)
		e.System.Parts = append(e.System.Parts, p)
	}
	e.System.Compiled = d.compiled(e.System.Parts)
	e.Tools = appliedRows(e.Tools, d.Tools)
	all := appliedRows(e.all(), d.Messages)
	e.Messages.Cached, e.Messages.Uncached = all[:d.B.Cached], all[d.B.Cached:]
	for name, o := range d.Options {
		if delete(e.Options, name); o.B != nil {
			e.Options[name] = o.B
		}
	}
	m := &e.Meta
	m.Model, m.Limit, m.TurnIndex, m.RequestIndex = d.B.Model, d.B.Limit, d.B.TurnIndex, d.B.RequestIndex
	m.Rules, m.Leaf, m.Tokens = d.B.Rules, d.B.Entry, d.Tokens.B
}

func (d appliedDiff) compiled(parts []appliedPart) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	if d.B.Rules == replay.ByEnvelope {
		return strings.Join(texts, "")
	}
	return strings.Join(texts, "\n\n")
}

func appliedRows(was []json.RawMessage, rows []appliedRow) []json.RawMessage {
	named := map[int]bool{}
	put := map[int]json.RawMessage{}
	for _, r := range rows {
		for k := range max(1, r.Count) {
			if r.A != nil {
				named[*r.A+k] = true
			}
			switch {
			case r.B != nil && r.Value != nil:
				put[*r.B+k] = r.Value
			case r.B != nil:
				put[*r.B+k] = was[*r.A+k]
			}
		}
	}
	is := []json.RawMessage{}
	fill := func() {
		for put[len(is)] != nil {
			is = append(is, put[len(is)])
		}
	}
	fill()
	for i, v := range was {
		if !named[i] {
			is = append(is, v)
			fill()
		}
	}
	return is
}

// TestColours: what is painted becomes elements, and text stays text.
func TestColours(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a <b>&\"\n", "a &lt;b&gt;&amp;&#34;\n"},
		{"x \x1b[31m- <y>\x1b[0m z\n", `x <span class="c31">- &lt;y&gt;</span> z` + "\n"},
		{"\x1b[7;32mw\x1b[0m\x1b[1mh\x1b[0m", `<span class="c7 c32">w</span><span class="c1">h</span>`},
	} {
		var b strings.Builder
		writeColours(&b, test.text)
		if b.String() != test.want {
			t.Errorf("%q: %q, want %q", test.text, b.String(), test.want)
		}
	}
}
