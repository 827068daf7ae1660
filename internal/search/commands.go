package search

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"strings"

	"ctxtool/internal/said"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A happened is a shell command, or what a log would have of an entry, in a session.
type happened struct {
	Event
	record int
	stamp  jsonl.Value
}

// events searches a session as a shell history or as a log.
func (s *searcher) events(f File, out *searched) error {
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
	read := s.shellCommands
	if s.opt.Source == InLogs {
		read = s.logged
	}
	all, err := read(ses, cwd)
	for _, c := range all {
		h := Hit{
			Source: s.opt.Source, File: f.Given, Line: ses.Line(c.record), Session: sessionID(ses),
			ID: ses.ID(c.record), Kind: ses.Kind(c.record).String(), CWD: cwd,
		}
		if s.opt.Source == InLogs {
			s.event(out, h, c.stamp, c.Event)
		} else {
			s.shell(out, h, c.stamp, c.Event)
		}
	}
	return err
}

// shellCommands returns the shell commands of a session, those of the user and those of tools, in
// the order of the file.
func (s *searcher) shellCommands(ses *sessionfmt.Session, cwd string) (all []*happened, err error) {
	calls := map[string]*happened{}
	for i, err := range s.turns(ses) {
		if err != nil {
			return nil, err
		}
		d := &s.doc
		start := func(text string) *happened {
			c := &happened{Event{Event: "command", Command: text, CWD: cwd}, i, bytes.Clone(d.time)}
			all = append(all, c)
			return c
		}
		if c := calls[d.m.CallID.Text()]; c != nil && d.kind == jsonl.ToolResult {
			c.Exit, c.Failed = d.ended()
		}
		if d.kind == jsonl.Bash && len(d.blocks) > 0 {
			c := start(string(d.text(d.blocks[0])))
			c.Exit, c.Failed = d.ended()
		}
		for b := range d.calls {
			if text := argument(b, said.CommandArguments); text != "" {
				c := start(text)
				calls[b.ID.Text()] = c
				c.Failed = b.Raw.Get("status").Is("error") // of a nested call, which has no result
			}
		}
	}
	return all, nil
}

// logged returns the events of a session that gsh would log, in the order of the file.
func (s *searcher) logged(ses *sessionfmt.Session, _ string) (all []*happened, err error) {
	commands := map[string]string{}
	for i, err := range s.turns(ses) {
		if err != nil {
			return nil, err
		}
		d := &s.doc
		add := func(e Event) { all = append(all, &happened{e, i, bytes.Clone(d.time)}) }
		own := string(d.buf[:d.own])
		switch e := (Event{Output: own}); d.kind {
		case jsonl.User:
			add(Event{Event: "prompt", Text: own})
		case jsonl.Assistant:
			if text := d.m.Failure.Text(); text != "" {
				add(Event{Event: "error", Text: text})
			}
		case jsonl.Bash:
			for _, b := range d.blocks {
				if text := string(d.text(b)); b.where == Call {
					e.Command = text
				} else {
					e.Stdout = text
				}
			}
			e.Event, e.Output = "bash_exec", ""
			e.Exit, e.Failed = d.ended()
			add(e)
		case jsonl.ToolResult:
			e.Event, e.Tool = "tool_result", d.m.Tool.Text()
			e.Exit, e.Failed = d.ended()
			if command := commands[d.m.CallID.Text()]; command != "" {
				e = Event{Event: "bash_exec", Command: command, Stdout: own, Exit: e.Exit, Failed: e.Failed}
			}
			add(e)
		}
		for b := range d.calls {
			add(Event{Event: "tool_call", Tool: b.Name.Text(), Input: string(b.Args.AppendMinified(nil))})
			commands[b.ID.Text()] = argument(b, said.CommandArguments)
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
// none. Codex has had commands as lists of words, the last of which is the script of a shell.
func argument(b *jsonl.Block, names []string) string {
	for _, name := range names {
		v := b.Args.Get(name)
		if v.IsArray() {
			var words []string
			for word := range v.Strings {
				words = append(words, word.Text())
			}
			if len(words) == 3 && (words[1] == "-c" || words[1] == "-lc") {
				return words[2]
			}
			return strings.Join(words, " ")
		}
		if text := v.Text(); text != "" {
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
