package search

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt/jsonl"
)

// sessions are the files of the project's own sessions, and some shared ones.
func sessions(t testing.TB) (files []File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(corpus.Root(t), "testdata/sessions/*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, pattern := range []string{"testdata/sessions/good/*.jsonl", "testdata/sessions/bad/*.jsonl"} {
		more, _ := filepath.Glob(filepath.Join(corpus.Root(t), pattern))
		names = append(names, more...)
	}
	names = append(names, testenv.Shared(t, "corpus/*.jsonl", "corpus/codex/*.jsonl")...)
	for _, n := range names {
		files = append(files, File{n, n, n})
	}
	return files
}

// TestGate: what the gate leaves out has no match.
func TestGate(t *testing.T) {
	t.Parallel()
	files := sessions(t)
	pattern, err := Pattern(`FAIL: Test\w+`, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []*Query{Fixed("CHANGELOG.md", false), Fixed("changelog.MD", true), Fixed("no such text", false), Fixed("ü", true), Words("outbox close", true), Words("outbox close", false), pattern} {
		open := *q
		open.gate = gate{}
		got, want := Run(files, Options{Query: q}), Run(files, Options{Query: &open})
		if a, b := listed(t, got), listed(t, want); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %d hits, %d without the gate", q.Text, len(a), len(b))
		}
	}
}

// listed returns the hits of a search as text, without their scores.
func listed(t *testing.T, r *Results) (all []string) {
	t.Helper()
	for s, err := range r.Read(0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range s.Hits {
			all = append(all, fmt.Sprint(h.File, h.Line, h.Where, h.Text, h.Copies))
		}
	}
	return all
}

// spelled spells a text as a JSON string, with escapes as a random number has it.
func spelled(text string, r *rand.Rand) []byte {
	out := []byte{'"'}
	for _, c := range text {
		switch n := r.IntN(6); {
		case c < 0x10000 && n == 0:
			out = fmt.Appendf(out, `\u%04x`, c)
		case c < 0x10000 && n == 1:
			out = fmt.Appendf(out, `\u%04X`, c)
		case c == '/' && n == 2:
			out = append(out, `\/`...)
		default:
			quoted := jsonl.AppendQuoted(nil, string(c))
			out = append(out, quoted[1:len(quoted)-1]...)
		}
	}
	return append(out, '"')
}

// FuzzGate: a text that matches is found by the gate in each of its spellings, in windows of any
// size.
func FuzzGate(f *testing.F) {
	for _, c := range []struct{ text, query string }{{"see store/lru.go", "store/lru"}, {"KISS the Kelvin K", "kiss"}, {"a\\u0065b", `\u0065`}, {"İstanbul", "istanbul"}, {"日本語/テスト", "本語/"}, {"say \"x\"", `"X"`}} {
		f.Add(c.text, c.query, true, uint64(1))
		f.Add(c.text, c.query, false, uint64(2))
	}
	f.Fuzz(func(t *testing.T, text, query string, fold bool, seed uint64) {
		text, query = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(query, "?")
		raw := spelled(text, rand.New(rand.NewPCG(seed, 1)))
		if v, err := jsonl.ParseValue(raw); err != nil || v.Text() != text {
			t.Skip("left out: a lone surrogate has no text")
		}
		q := Fixed(query, fold)
		if !q.has(text) {
			return
		}
		if !q.gate.may(raw) {
			t.Errorf("%q in %q, spelled %s: the gate is closed", query, text, raw)
		}
		for _, size := range []int{64, 65, 100} {
			if q.gate.overlap > 32 {
				break
			}
			half := int64(len(raw) / 2)
			first, second := q.gate.look(bytes.NewReader(raw), 0, half, make([]byte, size)), q.gate.look(bytes.NewReader(raw), half, int64(len(raw)), make([]byte, size))
			if first.err != nil || second.err != nil || !first.may && !second.may {
				t.Errorf("%q in %q, spelled %s: not seen in windows of %d: %v, %v", query, text, raw, size, first, second)
			}
		}
		for m := range q.matches([]byte(text)) {
			var h Hit
			if h.excerpt([]byte(text), m); h.From > h.To || h.To > len(h.Text) {
				t.Errorf("excerpt %q of %d to %d", h.Text, h.From, h.To)
			}
		}
	})
}

// TestExcerpt: gsh's excerpts (docs/policies.md).
func TestExcerpt(t *testing.T) {
	for _, test := range []struct{ text, query, want string }{
		{strings.Repeat("a", 100) + "auth" + strings.Repeat("b", 100), "auth", "..." + strings.Repeat("a", 75) + "auth" + strings.Repeat("b", 75) + "..."},
		{"İİ line\nof AUTH", "auth", "İİ line of AUTH"},
		{strings.Repeat("ü", 60) + "x auth", "auth", "..." + strings.Repeat("ü", 36) + "x auth"},
	} {
		q := Fixed(test.query, true)
		m, _, ok := q.best([]byte(test.text), nil)
		var h Hit
		if h.excerpt([]byte(test.text), m); !ok || h.Text != test.want || !strings.EqualFold(h.Text[h.From:h.To], test.query) {
			t.Errorf("%q: %+v", test.text, h)
		}
	}
}

// TestWords: how words of a query are found.
func TestWords(t *testing.T) {
	for _, test := range []struct {
		query  string
		ranked bool
		text   string
		want   bool
	}{
		{"lru", false, "the lruCache", true}, {"ruc", false, "the lruCache", true},
		{"fix cache", false, "the cache, fixed", true}, {"fix cache", false, "prefixed cache", false}, {"check it", true, "a checkpoint", false}, {"check it", true, "checking", true}, {"fix cache", false, "fixed", false},
		{"fix cache", true, "fixed", true}, {"where is the cache", true, "where is the", false}, {"what is it", true, "that is so", true},
		{"-- --", true, "a -- -- b", true}, {"", false, "anything", true}, {"ПРИВЕТ", false, "привет", true},
	} {
		m := matcher{q: Words(test.query, test.ranked), ranked: test.ranked}
		m.add([]byte(test.text))
		if got := m.done(); got != test.want {
			t.Errorf("%q (%v) in %q: %v", test.query, test.ranked, test.text, got)
		}
	}
}

// TestWhole: what is a word itself, what a longer word, and what no place of it.
func TestWhole(t *testing.T) {
	q := Words("pro cache", true)
	for text, want := range map[string]byte{
		"pro": 'w', "GoReleaser Pro.": 'w', "pros": 'w', "PROS": 'w', "pro-rata": 'w', "pro_x": 'w', "proX": 'w', "PROServer": 'w', "cached": 'w', "cacheSize": 'w',
		"prompt": 'l', "probe": 'l', "PROXY": 'l', "pro2": 'l', "proß": 'l', "CACHELINE": 0, "project": 0, "PROJECT_1": 0, "repro": 0, "GoReleaserPro": 0,
	} {
		ok, longer := q.match([]string{text})
		m := matcher{q: q, ranked: true}
		m.add([]byte(text))
		got := byte(0)
		if m.done() {
			got = 'w'
			if m.counts[0] >= inLonger || m.counts[1] >= inLonger {
				got = 'l'
			}
		}
		if got != want || ok || longer != (want == 'l') {
			t.Errorf("%q: %q, want %q (all terms %v, longer %v)", text, got, want, ok, longer)
		}
	}
}

// TestEvents: the newest events are kept, as if all had been.
func TestEvents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shares := range []float64{0, 0.1, 1} {
		few, all := events{most: 7}, events{}
		for i := range 5000 {
			one := &events{kept: []Hit{{Line: i, Event: &Event{at: r.Int64N(300)}, longer: r.Float64() < shares}}, all: 1}
			if one.kept[0].longer {
				one.longer = 1
			}
			few.add(one)
			all.add(one)
		}
		got, n := few.list()
		want, of := all.list()
		if len(few.kept) > 7 || !reflect.DeepEqual(got, want[:7]) || n != of || of != len(want) {
			t.Errorf("%v: %d of %d, want of %d", got, len(got), n, of)
		}
	}
}

// TestHybridScore: the shares and the threshold of y-agent (docs/policies.md).
func TestHybridScore(t *testing.T) {
	v := &Vectors{known: map[vectorKey][]float32{}}
	set := func(text string, x ...float32) { v.known[v.key(text)] = x }
	h := hybrid{query: "login bug", words: []string{"login", "bug"}, vectors: v, like: []float32{1, 0}}
	set("the login bug", 1, 0)
	set("a bug", 1, 0)
	set("bug, other", 0, 1)
	set("login size", 1, 0, 0)
	set("no word", 1, 0)
	one := &Session{texts: []string{"the login bug", "a bug", "bug, other", "login size", "no word"}}
	one.found = make([]found, len(one.texts))
	for i := range one.found {
		one.found[i].at = int64(i)
	}
	h.score(one)
	if want := []found{{at: 0, score: 0.4*0.8 + 0.6}, {at: 1, score: 0.4*0.5 + 0.6}}; !slices.Equal(one.found, want) {
		t.Errorf("%v, want %v", one.found, want)
	}
	if got := h.textScore("a bug"); got != 0.5 {
		t.Errorf("without vectors: %v", got)
	}
	// 0.6 counts, less does not; the best are left, of equal ones those of the better session.
	h = hybrid{query: "q", vectors: v, like: []float32{1, 0}}
	one, two := &Session{About: outline.About{ID: "one"}, last: 1}, &Session{About: outline.About{ID: "two"}, last: 2}
	for i, c := range []struct {
		in     *Session
		text   string
		cosine float64
	}{{one, "q 0", 0.467}, {one, "q 1", 0.466}, {one, "q 2", 0.9}, {one, "q 3", 0.6}, {two, "q 4", 0.6}, {two, "q 5", 0.6}, {two, "q 6", 0.6}} {
		set(c.text, float32(c.cosine), float32(math.Sqrt(1-c.cosine*c.cosine)))
		c.in.found, c.in.texts = append(c.in.found, found{at: int64(i), copies: 1}), append(c.in.texts, c.text)
	}
	h.score(one)
	h.score(two)
	if len(one.found) != 3 {
		t.Errorf("less than 0.6 counts, or more does not: %v", one.found)
	}
	r := &Results{opt: &Options{}, Sessions: []*Session{two, one}}
	r.leave(4)
	var got []string
	for _, s := range r.Sessions {
		for _, f := range s.found {
			got = append(got, fmt.Sprint(s.ID, " ", f.at))
		}
	}
	if want := []string{"one 2", "one 3", "two 4", "two 5"}; !slices.Equal(got, want) || r.Found != 4 || r.Copies != 4 {
		t.Errorf("%q, %d hits, %d copies", got, r.Found, r.Copies)
	}
}

// TestHybridRuns: the command gets texts in batches, each text once, and what it has answered is
// kept even if it fails later.
func TestHybridRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sed"); err != nil {
		testenv.Skip(t, "no sed(1)")
	}
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	for i := range 2*textsAtOnce + 10 {
		fmt.Fprintf(&b, `{"type":"message","id":"a%d","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"plum %d"}}`+"\n", i, i)
	}
	name := filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func() (*Results, error) {
		line := `echo run >>log; if test $(grep -c run log) = 3; then exit 1; fi; sed 's/.*plum 300".*/[1, 0]/; s/^{.*/[0, 1]/'`
		v := &Vectors{Command: shell.Command{Line: line, Dir: dir, Environ: os.Environ()}, File: filepath.Join(dir, "vectors")}
		return Hybrid([]File{{name, "s.jsonl", ""}}, "plum 300", v, Options{})
	}
	if _, err := run(); err == nil {
		t.Error("no error")
	}
	r, err := run()
	if err != nil {
		t.Fatal(err)
	}
	if log, err := os.ReadFile(filepath.Join(dir, "log")); err != nil || string(log) != strings.Repeat("run\n", 4) {
		t.Errorf("runs %q, %v", log, err)
	}
	if got := r.best(t, 5); len(got) == 0 || got[0].ID != "a300" {
		t.Errorf("%+v", got)
	}
}

// TestFold: of entries with the same text and time the first in the file stays, in whatever order CPUs
// found them.
func TestFold(t *testing.T) {
	r := &Results{Sessions: []*Session{{found: []found{{at: 5, key: 1, time: 9}, {at: 2, key: 1, time: 9}, {at: 1, key: 2, time: 9}}}}}
	r.fold()
	got := r.Sessions[0].found
	slices.SortFunc(got, func(a, b found) int { return int(a.at - b.at) })
	if len(got) != 2 || got[0].at != 1 || got[1].at != 2 || got[1].copies != 1 || r.Found != 2 || r.Copies != 1 {
		t.Errorf("%+v, %d found, %d copies", got, r.Found, r.Copies)
	}
}
