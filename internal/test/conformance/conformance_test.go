// Package conformance is what the sessions of every agent are held to, pi's included: what of them
// reads as it stands, and what becomes of it when a file is damaged, grows, or is written again. The
// test of a dialect is one call of [Run].
package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Agent is what the suite cannot know of an agent's sessions.
type Agent struct {
	Name string // of its dialect
	// Lines are a session: a header, or what stands for it, a prompt, a call and its result, an
	// answer, which is line 5, a prompt, and an answer.
	// Nil for an agent whose rows cannot be that.
	Lines []string
	// Resume are lines that the agent appends to Lines where it resumes the session: a prompt, Instead?.
	Resume []string
	// Fork are lines that it appends where the second prompt of Lines is taken back, and that
	// one takes its place. Empty for an agent that cannot.
	Fork []string
	// More are other sessions, of lines that are odd or rare. Documents are among them.
	More []string
	// Found is what check reports of damages, where it is not what it reports of most agents'
	// sessions; see damages.
	Found map[string]string
	// Usage are the paths of the numbers in a line that count as tokens of its request, with what
	// was read from a cache; lines with the same value at Once are one request, by the last of them.
	Usage []string
	Once  string
}

// small is the size up to which a sample is damaged at each of its lines, bytes.
const small = 20 << 10

// Run holds an agent's sessions to what the suite knows: those of a, the project's samples and, where
// they are, the shared ones.
func Run(t *testing.T, a Agent) {
	if len(a.Lines) > 0 {
		a.damaged(t)
		a.continued(t)
		a.rewritten(t)
	}
	samples, converted := a.samples(t), map[string][]byte{}
	if !slices.ContainsFunc(samples, prompted) {
		t.Errorf("no session of %s has the prompt that secrets replace", a.Name)
	}
	for _, c := range samples {
		a.typed(t, c)
		a.scanned(t, c)
		a.copied(t, c)
		a.converted(t, c, converted)
		a.redacted(t, c)
		if whole := open(t, c.Name, c.Data); len(c.Data) <= small && !whole.document {
			a.torn(t, c)
			a.disturbed(t, c, whole)
			a.grows(t, c)
			if strings.HasPrefix(c.Name, "agents/") || c.Name == a.Name {
				a.totals(t, c)
			}
		}
	}
	if len(converted) > 0 {
		t.Run("resumed", func(t *testing.T) { resumed(t, converted) })
	}
}

// samples are the sessions of the agent.
func (a Agent) samples(t *testing.T) (all []corpus.Session) {
	for k, text := range a.More {
		all = append(all, corpus.Session{Name: fmt.Sprintf("more %d of %s", k, a.Name), Data: []byte(text)})
	}
	if len(a.Lines) > 0 {
		all = append(all, corpus.Session{Name: a.Name, Data: []byte(joined(slices.Concat(a.Lines, a.Fork)))})
	}
	found := append(corpus.Agents(t), corpus.Foreign(t)...)
	if a.Name == "pi" {
		found = append(found, slices.DeleteFunc(corpus.Sample(t), func(c corpus.Session) bool { return strings.HasPrefix(c.Name, "sessions/bad") })...)
	}
	for _, c := range found {
		if s := opened(c.Name, c.Data); s != nil {
			if s.Dialect().Agent() == a.Name && len(c.Data) <= corpus.Pick(100<<10, 1<<30) {
				all = append(all, c)
			}
			s.Close()
		}
	}
	return all
}

func joined(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// opened opens a session in memory, nil where it is none.
func opened(name string, data []byte) *sessionfmt.Session {
	s, err := sessionfmt.OpenReader(name, strings.NewReader(string(data)), sessionfmt.Options{Times: true})
	if err != nil {
		return nil
	}
	return s
}

// A view is a session as it reads.
type view struct {
	entries  []string // without what their order gives them
	raw      []string // the lines of each
	said     []string // the messages at the leaf
	findings []string // line and code
	tokens   int64    // of all usages
	unknown  int      // lines of unknown types
	document bool
}

// open reads a session, nil where it is none: its entries are JSON, and the same in any order.
func open(t *testing.T, name string, data []byte) *view {
	t.Helper()
	s := opened(name, data)
	if s == nil {
		return nil
	}
	defer s.Close()
	v := &view{document: s.OwnLines() != nil}
	lines, back := s.NewReader(), s.NewReader()
	shown := make([]string, s.Len())
	for i := range s.Len() {
		for _, read := range []func(int) (jsonl.Value, error){lines.Native, lines.Line} {
			line := must.Get(read(i))
			if _, err := jsonl.ParseValue(line); err != nil {
				t.Fatalf("%s: %s: %v: %s", name, s.Pos(i), err, line)
			}
			shown[i] = string(line)
		}
		v.see(s, i, jsonl.Value(shown[i]))
		v.raw = append(v.raw, string(must.Get(lines.Raw(i))))
	}
	for i, want := range slices.Backward(shown) {
		if line := must.Get(back.Line(i)); string(line) != want {
			t.Fatalf("%s: %s: %s\nbefore: %s", name, s.Pos(i), line, want)
		}
	}
	v.said = messages(t, name, s)
	for _, n := range s.Coverage.Unknown {
		v.unknown += n
	}
	for _, f := range s.Findings {
		v.findings = append(v.findings, fmt.Sprint(f.Line, " ", f.Code))
	}
	return v
}

// see adds an entry.
func (v *view) see(s *sessionfmt.Session, i int, line jsonl.Value) {
	const id, parent = "id", "parentId"
	if s.Kind(i) == jsonl.Unknown {
		return
	}
	bare := line.AppendEdited(nil, jsonl.Field{Name: id}, jsonl.Field{Name: parent})
	v.entries = append(v.entries, string(bare))
	for _, of := range []jsonl.Value{line.Get("message").Get("usage"), line.Get("usage")} {
		if of.IsObject() && (s.Answers(i) || s.Kind(i) == jsonl.UsageEntry) {
			u := of.Usage()
			v.tokens += u.Prompt() + u.Output
		}
	}
}

// messages are those at the leaf.
func messages(t *testing.T, name string, s *sessionfmt.Session) (all []string) {
	t.Helper()
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		if !replay.Stopped(err) {
			t.Errorf("%s: %v", name, err)
		}
		return []string{err.Error()}
	}
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, string(m.Raw))
	}
	return all
}

// same fails unless two sessions have the same entries and messages.
func same(t *testing.T, what string, got, want *view) {
	t.Helper()
	switch {
	case got == nil && want == nil:
	case got == nil || want == nil:
		t.Errorf("%s: one of both is no session", what)
	case !slices.Equal(got.entries, want.entries):
		t.Errorf("%s: the entries differ:\n%s", what, differ(got.entries, want.entries))
	case !slices.Equal(got.said, want.said):
		t.Errorf("%s: the messages differ:\n%s", what, differ(got.said, want.said))
	}
}

// differ is where two lists begin to differ.
func differ(got, want []string) string {
	k := 0
	for k < min(len(got), len(want)) && got[k] == want[k] {
		k++
	}
	return fmt.Sprintf("%d: %.600s\nwant %.600s", k, append(got[k:], "nothing")[0], append(want[k:], "nothing")[0])
}

// write writes a file for a test.
func write(t *testing.T, base, text string) string {
	name := filepath.Join(t.TempDir(), base)
	must.Do(os.WriteFile(name, []byte(text), 0o600))
	return name
}

// Document is a session that is one document: the members of an object, and its messages.
func Document(head string, messages []string) string {
	var out bytes.Buffer
	must.Do(json.Indent(&out, []byte(strings.TrimSuffix(head, "}")+`,"messages":[`+strings.Join(messages, ",")+"]}"), "", "  "))
	return out.String()
}
