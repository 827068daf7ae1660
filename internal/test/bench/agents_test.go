//go:build unix

package bench

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

//go:embed agents.tmpl
var agents string

// A said is a prompt, or an answer with its calls and their results. All texts are JSON.
type said struct {
	N             int // of the message, from 0
	Prompt        bool
	Text, Thought string
	Calls         []called
	Usage         usage
}

type called struct{ ID, Name, Args, Result string }

type usage struct{ Input, CacheRead, CacheWrite, Output, Prompt, Context int }

// WithoutCalls is the answer as an agent writes it that writes it again with its calls.
func (m *said) WithoutCalls() *said { return &said{N: m.N, Text: m.Text, Usage: m.Usage} }

// message is one of a conversation: after each prompt there are four answers, of which three call a tool.
func message(n int) *said {
	text := func(words int) string {
		return fmt.Sprintf(`"%d: %s"`, n, strings.Repeat(`the worker closes \"the queue\" before it drains,\nso we wait `, words/12+n%7))
	}
	read, output := n%500*300, 20+n%800
	m := &said{N: n, Prompt: n%5 == 0, Text: text(24), Usage: usage{4, read, 200, output, read + 204, read + 204 + output}}
	if m.Prompt {
		return m
	}
	if n%5 == 1 {
		m.Thought = text(36)
	}
	if n%5 < 4 {
		m.Calls = []called{{fmt.Sprintf(`"toolu_%d"`, n), `"bash"`, `{"command":` + text(12) + `}`, text(120)}}
	}
	return m
}

// qwenParts are the parts of an answer as Qwen Code has them.
func qwenParts(m *said) string {
	parts := []string{`{"text":` + m.Text + `}`}
	if m.Thought != "" {
		parts = append([]string{`{"thought":true,"text":` + m.Thought + `}`}, parts...)
	}
	for _, c := range m.Calls {
		parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s,"args":%s}}`, c.ID, c.Name, c.Args))
	}
	return strings.Join(parts, ",")
}

// makeForeign writes a conversation of about that many bytes of text as an agent records it, with what
// that records besides: Codex most things twice, Claude Code the results of tools.
func makeForeign(name, agent string, size int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	lines := 0  // numbered so far
	listed := 0 // messages of a document
	forms := template.Must(template.New("").Funcs(template.FuncMap{
		"lines":     func() int { return lines },
		"before":    func() int { return lines - 1 },
		"earlier":   func(n int) int { return lines - n },
		"qwenParts": qwenParts,
		"next":      func() int { lines++; return lines - 1 },
		"list":      func(all ...any) []any { return all },
		"quote":     func(text string) (string, error) { b, err := json.Marshal(text); return string(b), err },
	}).Parse(agents))
	document := forms.Lookup(agent+" end") != nil // one JSON document, indented
	write := func(form string, m *said) {
		if err != nil || forms.Lookup(form) == nil {
			return
		}
		if m == nil || !document {
			err = forms.ExecuteTemplate(w, form, m)
			return
		}
		var made bytes.Buffer
		err = forms.ExecuteTemplate(&made, form, m)
		for line := range bytes.Lines(bytes.TrimSpace(made.Bytes())) { // of messages in a list
			var out bytes.Buffer
			err = errors.Join(err, json.Indent(&out, bytes.TrimSpace(line), "    ", "  "))
			fmt.Fprintf(w, "%.*s    %s", min(listed, 1)*2, ",\n", out.Bytes())
			listed++
		}
	}
	write(agent+" begin", nil)
	for n := 0; size > 0; n++ {
		m := message(n)
		write(agent, m)
		size -= len(m.Text) + len(m.Thought)
		for _, c := range m.Calls {
			size -= len(c.Args) + len(c.Result)
		}
	}
	write(agent+" end", nil)
	return errors.Join(err, w.Flush(), f.Close())
}

// TestAgents: the session of each agent is read as one of that agent, whole and without a finding.
func TestAgents(t *testing.T) {
	dir := t.TempDir()
	turns := map[string]int{}
	for _, agent := range append([]string{"pi"}, otherAgents...) {
		name := filepath.Join(dir, agent+".jsonl")
		must.Do(makeForeign(name, agent, 100_000))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		defer s.Close()
		for i := range s.Len() {
			if s.Kind(i).IsTurn() {
				turns[agent]++
			}
		}
		if len(s.Findings) > 0 {
			t.Errorf("%s: %+v", agent, s.Findings[0])
		}
	}
	for agent, n := range turns {
		if n < 50 || n < turns["pi"]*9/10 {
			t.Errorf("%s has %d messages, pi %d", agent, n, turns["pi"])
		}
	}
}
