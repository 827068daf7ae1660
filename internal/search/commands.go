package search

import (
	"bytes"
	"errors"

	"ctxtool/internal/said"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A command is a shell command in a session.
type command struct {
	Event
	record int
	stamp  jsonl.Value
}

// commands searches the shell commands of a session, those of the user and those of tools, as
// a shell history.
func (s *searcher) commands(f File, out *searched) error {
	workers, done := s.take(f)
	defer done()
	ses, cwd, err := s.open(f, workers, true, false)
	if err != nil {
		return err
	}
	defer ses.Close()
	if !s.opt.Filter.in(cwd) {
		return nil
	}
	all, err := s.shellCommands(ses, cwd)
	if err != nil {
		return err
	}
	for _, c := range all {
		h, ok := s.shell(c.Event, c.stamp)
		if !ok {
			continue
		}
		h.File, h.Line, h.ID, h.Kind = f.Given, ses.Line(c.record), ses.ID(c.record), ses.Kind(c.record).String()
		if head := ses.Header(); head >= 0 {
			h.Session = ses.ID(head)
		}
		out.events = append(out.events, h)
	}
	return nil
}

// shellCommands returns the shell commands of a session, in the order of the file.
func (s *searcher) shellCommands(ses *sessionfmt.Session, cwd string) (all []*command, err error) {
	calls := map[string]*command{}
	lines := ses.NewReader()
	for i := range ses.Len() {
		kind := ses.Kind(i)
		if kind != jsonl.Assistant && kind != jsonl.ToolResult && kind != jsonl.Bash {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return nil, err
		}
		d := &s.doc
		d.read(kind, line)
		start := func(text string) *command {
			c := &command{Event{Event: "command", Command: text, CWD: cwd}, i, bytes.Clone(d.time)}
			all = append(all, c)
			return c
		}
		code, known := d.status()
		switch kind {
		case jsonl.Assistant:
			for b := range d.m.Calls {
				if text := commandOf(b); text != "" {
					calls[b.ID.Text()] = start(text)
				}
			}
		case jsonl.Bash:
			if len(d.blocks) > 0 {
				if c := start(string(d.text(d.blocks[0]))); known {
					c.Exit = &code
				}
			}
		case jsonl.ToolResult:
			if c := calls[d.m.CallID.Text()]; c != nil && known {
				c.Exit = &code
			}
		}
	}
	return all, nil
}

// commandOf returns the command line of a call, empty if it has none.
func commandOf(b *jsonl.Block) string {
	for _, name := range said.CommandArguments {
		if text := b.Args.Get(name).Text(); text != "" {
			return text
		}
	}
	return ""
}

// Recent returns the last n commands of a shell history, or of a session's shell commands, the
// oldest first.
func Recent(f File, n int, opt Options) ([]Event, error) {
	opt.Source = InHistory
	r := Run([]File{f}, opt)
	var all []Event
	for i := range r.Events {
		if e := r.Events[i].Event; e.Event == "command" && len(all) < n {
			all = append([]Event{*e}, all...)
		}
	}
	for _, b := range r.Broken {
		if !errors.Is(b.Err, errNoObject) {
			return all, b.Err
		}
	}
	return all, nil
}
