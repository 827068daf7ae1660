package redact

import (
	"errors"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestBroken: values that span the syntax of a line leave it JSON; and where a marker broke it, as no rule's does, the
// line is refused with its place, and not written.
func TestBroken(t *testing.T) {
	const (
		head = `{"type":"session","version":3,"id":"s"}` + "\n"
		line = `{"type":"custom","id":"i","parentId":null,"customType":"x","data":{"a":1234,"b":"5678"}}`
		rule = "[[rules]]\nid = \"own\"\nregex = '''5678'''\n"
	)
	for _, value := range []string{"1234", "5678", `1234,"b":"5678`, `"5678"}`, `5678"}`, `{"a":1234`, "customType"} {
		r := must.Get(New(Options{Values: []string{value}}))
		x := r.NewRun()
		got, err := x.line([]byte(line))
		s, wrong := sessionfmt.OpenReader("s.jsonl", strings.NewReader(head+string(got)+"\n"), sessionfmt.Options{})
		if err != nil || wrong != nil || s.Len() != 2 {
			t.Errorf("%s: %s, %v, %v", value, got, err, wrong)
		}
		x.Close()
	}
	for _, name := range []string{`a"b`, `a\`, "a\n"} {
		r := must.Get(New(Options{Patterns: []byte(rule)}))
		r.names[r.ofRule[0]] = name
		x := r.NewRun()
		if got, err := x.line([]byte(line)); !errors.Is(err, errBroken) || got != nil {
			t.Errorf("a marker of %q: %s, %v", name, got, err)
		}
		x.Close()
		tally := new(Tally)
		opt := sessionfmt.Options{Through: func(yield func(sessionfmt.Pass) bool) { r.Passes(tally)(yield) }}
		_, err := sessionfmt.OpenReader("s.jsonl", strings.NewReader(head+line+"\n"), opt)
		if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "s.jsonl:2: ") {
			t.Errorf("a marker of %q: %v, want an error with the line", name, err)
		}
	}
}
