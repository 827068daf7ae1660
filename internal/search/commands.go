package search

import (
	"bytes"
	"errors"
	"iter"
	"slices"

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
	workers, _, done := s.take(f)
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
	for _, c := range all {
		h := Hit{File: f.Given, Line: ses.Line(c.record), Session: sessionID(ses), ID: ses.ID(c.record), Kind: ses.Kind(c.record).String()}
		s.shell(out, h, c.stamp, c.Event)
	}
	return err
}

// shellCommands returns the shell commands of a session, in the order of the file.
func (s *searcher) shellCommands(ses *sessionfmt.Session, cwd string) (all []*command, err error) {
	calls := map[string]*command{}
	for i, err := range s.turns(ses) {
		if err != nil {
			return nil, err
		}
		d := &s.doc
		start := func(text string) *command {
			c := &command{Event{Event: "command", Command: text, CWD: cwd}, i, bytes.Clone(d.time)}
			all = append(all, c)
			return c
		}
		code, known := d.status()
		switch d.kind {
		case jsonl.Assistant:
			for b := range d.m.Calls {
				if text := argument(b, said.CommandArguments); text != "" {
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

// turns yields the prompts, answers, results and commands of the user in a session, whose texts
// are in the doc.
func (s *searcher) turns(ses *sessionfmt.Session) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		lines := ses.NewReader()
		for i := range ses.Len() {
			kind := ses.Kind(i)
			if !kind.IsTurn() && kind != jsonl.Bash {
				continue
			}
			line, err := lines.Line(i)
			if err == nil {
				s.doc.read(kind, line)
			}
			if !yield(i, err) {
				return
			}
		}
	}
}

// argument returns the text of a call's first argument with one of the names, empty if it has
// none.
func argument(b *jsonl.Block, names []string) string {
	for _, name := range names {
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
	for _, h := range r.Events {
		if h.Event.Event == "command" && len(all) < n {
			all = append(all, *h.Event)
		}
	}
	slices.Reverse(all)
	for _, b := range r.Broken {
		if !errors.Is(b.Err, errNoObject) {
			return all, b.Err
		}
	}
	return all, nil
}
