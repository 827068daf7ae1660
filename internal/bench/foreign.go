//go:build unix

package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"text/template"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

//go:embed agents.tmpl
var agents string

// A said is a prompt, or an answer with its calls and their results. All texts are JSON.
type said struct {
	N             int // of the message, from 0
	Prompt        bool
	Text, Thought string
	Calls         []*called
	Usage         jsonl.Usage
}

type called struct{ ID, Name, Args, Result string }

// WithoutCalls is the answer as an agent writes it that writes it again with its calls.
func (m *said) WithoutCalls() *said { return &said{N: m.N, Text: m.Text, Usage: m.Usage} }

// A teller writes a conversation as another agent records it, by the templates of that agent.
type teller struct {
	w        io.Writer
	forms    *template.Template
	agent    string
	document bool // one JSON document, indented
	lines    int  // numbered so far
	messages int
}

func newTeller(w io.Writer, agent string) *teller {
	t := &teller{w: w, agent: agent}
	t.forms = template.Must(template.New("").Funcs(template.FuncMap{
		"lines":  func() int { return t.lines },
		"before": func() int { return t.lines - 1 },
		"next":   func() int { t.lines++; return t.lines - 1 },
		"list":   func(all ...any) []any { return all },
		"quote":  func(text string) string { return string(jsonl.AppendQuoted(nil, text)) },
	}).Parse(agents))
	t.document = t.forms.Lookup(agent+" end") != nil
	return t
}

// write writes what the template of that name makes of a message, if there is one.
func (t *teller) write(name string, m *said) error {
	if t.forms.Lookup(name) == nil {
		return nil
	}
	if m == nil || !t.document {
		return t.forms.ExecuteTemplate(t.w, name, m)
	}
	var line, out bytes.Buffer
	err := t.forms.ExecuteTemplate(&line, name, m)
	if m.N > 0 {
		out.WriteString(",\n")
	}
	out.WriteString("    ")
	json.Indent(&out, bytes.TrimSpace(line.Bytes()), "    ", "  ")
	out.WriteTo(t.w)
	return err
}

// makeForeign writes the conversation of a session of pi in the format of another agent, with
// what that records besides: Codex most things twice, Claude Code the results of tools.
func makeForeign(name, agent, from string) error {
	s, err := sessionfmt.Open(from, sessionfmt.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	t := newTeller(w, agent)
	if err := t.write(agent+" begin", nil); err != nil {
		return err
	}
	if err := t.all(s); err != nil {
		return err
	}
	if err := t.write(agent+" end", nil); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// all writes the messages of a session. An answer waits for the results of its calls.
func (t *teller) all(s *sessionfmt.Session) error {
	var held *said
	r := s.NewReader()
	for i := range s.Len() {
		if !s.Kind(i).IsTurn() {
			continue
		}
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		m := line.Get("message").Message()
		if m.Kind == jsonl.ToolResult {
			held.result(m)
			continue
		}
		if held != nil {
			if err := t.write(t.agent, held); err != nil {
				return err
			}
		}
		held = saidBy(m, t.messages)
		t.messages++
	}
	return t.write(t.agent, held)
}

func saidBy(m *jsonl.Message, n int) *said {
	h := &said{N: n, Prompt: m.Kind == jsonl.User, Text: `""`, Usage: m.Usage.Usage()}
	for k := range m.Blocks {
		switch b := &m.Blocks[k]; b.Kind {
		case jsonl.CallBlock:
			h.Calls = append(h.Calls, &called{string(b.ID), string(b.Name), string(b.Args), "null"})
		case jsonl.ThinkingBlock:
			h.Thought = text(b)
		default:
			h.Text = text(b)
		}
	}
	return h
}

func (m *said) result(r *jsonl.Message) {
	for _, c := range m.Calls {
		if c.ID == string(r.CallID) && len(r.Blocks) > 0 {
			c.Result = text(&r.Blocks[0])
		}
	}
}

// text is that of a block, at least empty.
func text(b *jsonl.Block) string {
	if b.Text.IsString() {
		return string(b.Text.Value)
	}
	return `""`
}
