package search

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
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
	ses, about, err := s.open(f, workers, true, false)
	if err != nil {
		return err
	}
	defer ses.Close()
	if !s.opt.Filter.in(about.CWD) {
		return nil
	}
	hit := func(i int) Hit {
		return Hit{
			Source: s.opt.Source, File: f.Given, Line: ses.Line(i), Session: about.ID,
			ID: ses.ID(i), Kind: ses.Kind(i).String(), CWD: about.CWD,
		}
	}
	if s.opt.Source == InLogs {
		return s.logged(ses, func(i int, e Event) { s.event(out, hit(i), s.doc.time, e) })
	}
	all, err := s.shellCommands(ses, about.CWD)
	for _, c := range all {
		s.shell(out, hit(c.record), c.stamp, c.Event)
	}
	return err
}

// shellCommands returns the shell commands of a session, those of the user and those of tools, in
// the order of the file.
func (s *searcher) shellCommands(ses *sessionfmt.Session, cwd string) (all []*happened, err error) {
	calls := map[string]*happened{}
	for i, err := range s.turns(ses, nil) {
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
		for b := range activity.Calls(&d.m) {
			if b.Command != "" {
				c := start(b.Command)
				calls[b.ID] = c
				c.Failed = b.Status.Is("error") // of a nested call, which has no result
			}
		}
	}
	return all, nil
}

// logged calls add for the events of a session that gsh would log, with their records, in the
// order of the file.
func (s *searcher) logged(ses *sessionfmt.Session, add func(i int, e Event)) error {
	commands := map[string]string{}
	for i, err := range s.turns(ses, nil) {
		if err != nil {
			return err
		}
		d, e := &s.doc, Event{}
		switch d.kind {
		case jsonl.User:
			e = Event{Event: "prompt", Text: string(d.buf)}
		case jsonl.Assistant:
			e = Event{Event: "error", Text: d.m.Failure.Text()}
		case jsonl.Bash:
			e.Event = "bash_exec"
			for _, b := range d.blocks {
				if text := string(d.text(b)); b.where == Call {
					e.Command = text
				} else {
					e.Stdout = text
				}
			}
		case jsonl.ToolResult:
			text := string(d.buf[:d.own])
			e = (Event{Event: "tool_result", Tool: d.m.Tool.Text(),
				Output: text})
			if commands[d.m.CallID.Text()] != "" {
				e = Event{Event: "bash_exec", Command: commands[d.m.CallID.Text()], Stdout: text}
			}
		}
		if e.Exit, e.Failed = d.ended(); e.Event != "error" || e.Text != "" {
			add(i, e)
		}
		for b := range activity.Calls(&d.m) {
			add(i, Event{Event: "tool_call", Tool: b.Tool, Input: string(b.Args.AppendMinified(nil))})
			commands[b.ID] = b.Command
		}
	}
	return nil
}

// turns yields the prompts, answers, results and commands of the user in a session, whose texts
// are in the doc: all, or those whose raw bytes may have what is wanted.
func (s *searcher) turns(ses *sessionfmt.Session, may func(kind jsonl.Kind, raw []byte) bool) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		lines := ses.NewReader()
		for i := range ses.Len() {
			kind := ses.Kind(i)
			if !kind.IsTurn() && kind != jsonl.Bash {
				continue
			}
			if may != nil {
				if raw, err := lines.Raw(i); err == nil && !may(kind, raw) {
					continue
				}
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

// An events is the events that were found, in their order: the newest if only some are kept.
type events struct {
	kept   []Hit
	most   int // that are kept; 0 for all
	all    int // that were found
	longer int // of all, those with a word of the query in longer words only
}

// add adds others, and drops what cannot be among the newest, many at a time.
func (e *events) add(more *events) {
	e.kept, e.all, e.longer = append(e.kept, more.kept...), e.all+more.all, e.longer+more.longer
	if e.most > 0 && len(e.kept) > 8*e.most+1000 {
		e.sort()
		slices.Reverse(e.kept)
	}
}

// sort sorts them, the newest first, and of equal times the last one. What has a word of the query
// in longer words only comes after the others.
func (e *events) sort() {
	slices.Reverse(e.kept)
	sorting.By(e.kept, func(a, b Hit) int {
		if a.longer == b.longer {
			return cmp.Compare(b.Event.at, a.Event.at)
		}
		if a.longer {
			return 1
		}
		return -1
	})
	if e.most > 0 && len(e.kept) > e.most {
		clear(e.kept[e.most:])
		e.kept = e.kept[:e.most]
	}
}

// list returns the events that are kept, the newest first, and how many there are. Those with a
// word of the query in longer words only count if there are no others.
func (e *events) list() (kept []Hit, all int) {
	e.sort()
	if e.longer == e.all {
		return e.kept, e.all
	}
	return slices.DeleteFunc(e.kept, func(h Hit) bool { return h.longer }), e.all - e.longer
}
