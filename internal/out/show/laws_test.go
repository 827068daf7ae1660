package show

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

var bothRules = []replay.Rules{replay.ByPi, replay.ByEnvelope}

// open opens a session in memory, nil where it is none.
func open(t testing.TB, c corpus.Session) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(c.Data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// at is the envelope at a record, nil where a patch stops the replay.
func at(s *sessionfmt.Session, rules replay.Rules, rec int) *replay.Envelope {
	e, err := replay.New(s, replay.Options{Rules: rules, Model: models.Ref{Provider: "anthropic", ID: "claude-sonnet-4-5"}}).At(sessionfmt.After(rec))
	if err != nil {
		return nil
	}
	return e
}

// content is an envelope as JSON, without what it says of itself and its file.
func content(t testing.TB, e *replay.Envelope) string {
	t.Helper()
	text := printed("json", Report{Envelope: e, Provenance: true})
	v, err := jsonl.ParseValue(text)
	if err != nil {
		t.Fatalf("%v in %.300q", err, text)
	}
	var parts [5]jsonl.Value
	v.Fields(parts[:], "system", "tools", "messages", "options", "provenance")
	return string(slices.Concat(parts[0], parts[1], parts[2], parts[3], parts[4]))
}

// TestLaw4CutAfterEntry: the envelope after an entry is the one at the leaf of
// the file that ends with it.
func TestLaw4CutAfterEntry(t *testing.T) {
	n := 0
	file := filepath.Join(t.TempDir(), "s.jsonl")
	for _, c := range corpus.Sample(t) {
		s := open(t, c)
		if s == nil || hasCode(s, "duplicate-id", "cycle", "self-parent", "no-header", "late-header") {
			continue
		}
		ends := lineEnds(c.Data)
		kind := s.Kind
		if len(c.Data) > 64<<10 { // each point is a file to read
			kind = func(i int) jsonl.Kind {
				switch k := s.Kind(i); k {
				case jsonl.System, jsonl.Compaction, jsonl.ContextEdit, jsonl.Transform:
					return k
				}
				return jsonl.User
			}
		}
		must.Do(os.WriteFile(file, c.Data, 0o600))
		for _, i := range slices.Backward(corpus.Points(s.Len(), 3, 1+s.Len()/40, kind)) { // shorter and shorter
			if s.ID(i) == "" || s.Kind(i) == jsonl.Header || s.Kind(i) == jsonl.Scalar || hasForward(s, i) {
				continue
			}
			var part *sessionfmt.Session
			for _, rules := range bothRules {
				whole := at(s, rules, i)
				if whole == nil {
					continue
				}
				if part == nil {
					part = cut(file, ends[s.Line(i)-1])
				}
				if part.Leaf() < 0 || part.ID(part.Leaf()) != s.ID(i) {
					t.Fatalf("%s: the file cut after line %d does not end with %s", c.Name, s.Line(i), s.ID(i))
				}
				got, want := content(t, whole), content(t, at(part, rules, part.Leaf()))
				if got != want {
					t.Fatalf("%s, rules %s: after line %d\n whole %.600s\n   cut %.600s", c.Name, rules, s.Line(i), got, want)
				}
				n++
			}
			if part != nil {
				part.Close()
			}
		}
	}
	if n < 600 {
		t.Errorf("only %d envelopes", n)
	}
}

// cut opens a file cut after so many bytes.
func cut(file string, size int) *sessionfmt.Session {
	must.Do(os.Truncate(file, int64(size)))
	return must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
}

// hasForward reports whether the path to a record has lines after it.
func hasForward(s *sessionfmt.Session, rec int) bool {
	path, _ := s.Path(rec)
	for _, i := range path {
		if i > rec {
			return true
		}
	}
	return false
}

func hasCode(s *sessionfmt.Session, codes ...string) bool {
	for _, f := range s.Findings {
		for _, c := range codes {
			if f.Code == c {
				return true
			}
		}
	}
	return false
}

// lineEnds are the offsets after each line's newline.
func lineEnds(data []byte) (ends []int) {
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	return append(ends, len(data))
}

// TestTailEqualsFull: reading backwards gives the same answer, in every form.
func TestTailEqualsFull(t *testing.T) {
	n, cannot := 0, 0
	dir := t.TempDir()
	for _, c := range corpus.All(t) {
		s := open(t, c)
		if s == nil {
			continue
		}
		name := filepath.Join(dir, "s.jsonl")
		must.Do(os.WriteFile(name, c.Data, 0o600))
		for _, f := range Formats {
			part, err := sessionfmt.OpenTail(name, f.Need, sessionfmt.Options{})
			if err != nil {
				cannot++
				continue
			}
			defer part.Close()
			if hasCode(s, "duplicate-id") {
				continue // only the whole file tells
			}
			want, got := at(s, replay.ByPi, s.Leaf()), at(part, replay.ByPi, part.Leaf())
			if (want == nil) != (got == nil) {
				t.Fatalf("%s: only one of them replays", c.Name)
			}
			if f.Name == "json" {
				lines := regexp.MustCompile(`"line":\d+`)
				if a, b := lines.ReplaceAllString(content(t, got), ""), lines.ReplaceAllString(content(t, want), ""); a != b {
					t.Fatalf("%s, %s:\n tail %.300s\nwhole %.300s", c.Name, f.Name, a, b)
				}
			} else if a, b := printed(f.Name, Report{Envelope: got}), printed(f.Name, Report{Envelope: want}); !bytes.Equal(a, b) {
				t.Fatalf("%s, %s:\n tail %.300s\nwhole %.300s", c.Name, f.Name, a, b)
			}
			n++
		}
	}
	t.Logf("%d answers compared; %d times the tail alone could not tell", n, cannot)
}

// TestTailKeptByNumber: a first kept entry whose id is a number is found from the
// end too.
func TestTailKeptByNumber(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.jsonl")
	data := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":7,"parentId":null,"timestamp":"","message":{"role":"user","content":"kept"}}
{"type":"compaction","id":"k","parentId":7,"timestamp":"","summary":"S","firstKeptEntryId":7,"tokensBefore":1}
`
	must.Do(os.WriteFile(name, []byte(data), 0o600))
	part := must.Get(sessionfmt.OpenTail(name, 0, sessionfmt.Options{}))
	defer part.Close()
	whole := open(t, corpus.Session{Data: []byte(data)})
	got := printed("llm", Report{Envelope: at(part, replay.ByPi, part.Leaf())})
	want := printed("llm", Report{Envelope: at(whole, replay.ByPi, whole.Leaf())})
	if !bytes.Equal(got, want) || !bytes.Contains(want, []byte("kept")) {
		t.Errorf("%s, want %s", got, want)
	}
}
