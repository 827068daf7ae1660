package conformance

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// lineEnds are the places after the lines of data.
func lineEnds(data []byte) (ends []int) {
	at := 0
	for line := range bytes.Lines(data) {
		at += len(line)
		ends = append(ends, at)
	}
	return ends
}

// grows: a session that has grown with its file is the one that is in the file. What cannot grow is
// opened again.
func (a Agent) grows(t *testing.T, c corpus.Session) {
	name := write(t, "s.jsonl", "")
	f := must.Get(os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600))
	defer f.Close()
	var s *sessionfmt.Session
	ends, before := lineEnds(c.Data), 0
	for _, k := range corpus.Points(len(ends), 12, 1, func(int) int { return 0 }) {
		must.Get(f.Write(c.Data[before:ends[k]]))
		before = ends[k]
		want, err := sessionfmt.Open(name, sessionfmt.Options{})
		if s != nil && s.Grow() {
			sameIndex(t, c.Name, s, want)
			want.Close()
			continue
		}
		if s != nil {
			s.Close()
		}
		if s = want; err != nil {
			s = nil
		}
	}
	if s != nil {
		s.Close()
	}
}

// sameIndex compares the entries of two sessions.
func sameIndex(t *testing.T, what string, s, want *sessionfmt.Session) {
	t.Helper()
	if !reflect.DeepEqual(s.Coverage, want.Coverage) || !reflect.DeepEqual(s.Findings, want.Findings) {
		t.Fatalf("%s: %v %v, opened %v %v", what, s.Coverage, s.Findings, want.Coverage, want.Findings)
	}
	if s.Size() != want.Size() || s.Len() != want.Len() || s.Leaf() != want.Leaf() || s.Header() != want.Header() {
		t.Fatalf("%s: %d records, leaf %d, opened %d and %d", what, s.Len(), s.Leaf(), want.Len(), want.Leaf())
	}
	lines, wantLines := s.NewReader(), want.NewReader()
	for i := range s.Len() {
		if !bytes.Equal(must.Get(lines.Line(i)), must.Get(wantLines.Line(i))) || s.Kind(i) != want.Kind(i) || s.Parent(i) != want.Parent(i) ||
			s.Line(i) != want.Line(i) || s.Shadowed(i) != want.Shadowed(i) || s.Find(s.ID(i)) != want.Find(want.ID(i)) {
			t.Fatalf("%s: record %d is not the one that is opened", what, i)
		}
	}
}

// rewritten: a session does not grow with a file that is another one, even of the same size.
func (a Agent) rewritten(t *testing.T) {
	text := joined(a.Lines)
	for what, change := range map[string]func(name string) error{
		"shorter": func(name string) error { return os.Truncate(name, int64(len(text)-len(a.Lines[6])-1)) },
		"gone":    os.Remove,
		"another": func(name string) error {
			return os.WriteFile(name, []byte(strings.Replace(text, "Nothing is left.", "Several are there", 1)+moon), 0o600)
		},
		"replaced": func(name string) error {
			must.Do(os.WriteFile(name+"2", []byte(text+moon), 0o600))
			return os.Rename(name+"2", name)
		},
	} {
		name := write(t, "s.jsonl", text)
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		must.Do(change(name))
		if s.Grow() {
			t.Errorf("%s: the file is %s, and the session has grown", a.Name, what)
		}
		s.Close()
	}
}

// continued: a session that goes on has the entries that it had, and its prompt follows the messages;
// one that forks has those before the fork.
func (a Agent) continued(t *testing.T) {
	was := open(t, a.Name, []byte(joined(a.Lines)))
	for what, c := range map[string]struct {
		lines []string
		kept  int
	}{"resumed": {a.Resume, len(was.said)}, "forked": {a.Fork, len(was.said) - 2}} {
		if len(c.lines) == 0 {
			continue
		}
		is := open(t, a.Name, []byte(joined(slices.Concat(a.Lines, c.lines))))
		for i, raw := range was.raw {
			if what == "resumed" && raw != a.Lines[0] && !strings.HasPrefix(is.raw[i], raw) {
				t.Errorf("%s, %s: record %d is %s, and was %s", a.Name, what, i, is.raw[i], raw)
			}
		}
		n := min(len(is.said), c.kept)
		if len(is.said) != c.kept+1 || !slices.Equal(is.said[:n], was.said[:n]) || !strings.Contains(is.said[c.kept], "Instead?") || len(is.findings) > 0 {
			t.Errorf("%s, %s: %q %q", a.Name, what, is.said, is.findings)
		}
	}
}
