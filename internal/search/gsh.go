package search

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Event is a command of a shell history, or an event of a log. Texts are cut as gsh cuts them.
type Event struct {
	Event    string `json:"event"` // `command`, `cd`, and of logs `bash_exec`, `tool_call`, `tool_result`, `prompt`, `error`
	Command  string `json:"command,omitempty"`
	CWD      string `json:"cwd,omitempty"`      // the folder of a command, or the one that `cd` left
	To       string `json:"to,omitempty"`       // the one that `cd` entered
	Exit     *int   `json:"exitCode,omitempty"` // absent if unknown
	Duration *int64 `json:"durationMs,omitempty"`
	Stdout   string `json:"stdout,omitempty"`
	Stderr   string `json:"stderr,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Input    string `json:"input,omitempty"`  // of a tool, as JSON
	Output   string `json:"output,omitempty"` // of a tool
	Failed   bool   `json:"failed,omitempty"` // the tool
	Text     string `json:"text,omitempty"`   // of a prompt or an error

	at int64 // milliseconds since 1970
}

// Cut puts a text on one line of at most so many bytes, and "..." after it if it is longer.
func cut(text string, most int) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}

// eachLine calls each for the lines of a file that are JSON objects, with their numbers. It
// returns an error that counts the others, unless they are blank.
func (s *searcher) eachLine(f File, each func(n int, line jsonl.Value)) error {
	in, err := s.opt.Open.Disk.Open(f.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	first, broken := 0, 0
	r := bufio.NewReaderSize(in, windowSize)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if v, bad := jsonl.ParseValue(line); bad == nil && v.IsObject() {
			each(n, v)
		} else if len(bytes.TrimSpace(line)) > 0 {
			if broken++; first == 0 {
				first = n
			}
		}
		switch {
		case err == io.EOF && broken > 0:
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: f.Given, Line: first}, Err: fmt.Errorf("%w: skipped (%d in the file)", errNoObject, broken)}
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

var errNoObject = errors.New("not a JSON object")

// shellEvents are the types of lines in gsh's history. gsh has called the second one DirChange
// too, and its members have had several names.
var shellEvents = []string{"Command", "DirectoryChange", "DirChange"}

func isHistory(first jsonl.Value) bool {
	for _, name := range shellEvents {
		if first.Get(name).IsObject() {
			return true
		}
	}
	return false
}

// history searches gsh's shell history.
func (s *searcher) history(f File, out *searched) error {
	return s.eachLine(f, func(n int, line jsonl.Value) {
		e, stamp := shellEvent(line)
		if e.Event == "" || e.Event == "command" && strings.TrimSpace(e.Command) == "" {
			return
		}
		if h, ok := s.shell(e, stamp); ok {
			h.File, h.Line = f.Given, n
			out.events = append(out.events, h)
		}
	})
}

// shellEvent reads a line of a history.
func shellEvent(line jsonl.Value) (e Event, stamp jsonl.Value) {
	for _, name := range shellEvents {
		v := line.Get(name)
		if !v.IsObject() {
			continue
		}
		stamp = v.Get("timestamp")
		if name != "Command" {
			e = Event{Event: "cd", CWD: v.First("from").Text(), To: v.First("to").Text()}
			for _, other := range [][2]string{{"old", "new"}, {"old_cwd", "new_cwd"}, {"old_path", "new_path"}} {
				e.CWD, e.To = cmp.Or(e.CWD, v.Get(other[0]).Text()), cmp.Or(e.To, v.Get(other[1]).Text())
			}
			return e, stamp
		}
		e = Event{Event: "command", Command: v.Get("command").Text(), CWD: v.Get("cwd").Text()}
		e.numbers(v)
		return e, stamp
	}
	return e, nil
}

// numbers reads exit status and duration.
func (e *Event) numbers(v jsonl.Value) {
	if n := v.Get("exit_code"); n.IsNumber() {
		code := int(n.Int())
		e.Exit = &code
	}
	if n := v.Get("duration_ms"); n.IsNumber() {
		ms := n.Int()
		e.Duration = &ms
	}
}

// shell returns the hit of a shell event, if it is selected and matches.
func (s *searcher) shell(e Event, stamp jsonl.Value) (h Hit, ok bool) {
	f := &s.opt.Filter
	ms, timed := stamp.Millis()
	e.at = ms
	switch {
	case !f.at(ms, timed) || f.Event != "" || !f.exits(e.Exit):
		return h, false
	case !f.in(e.CWD) && (e.Event != "cd" || !f.in(e.To)):
		return h, false
	}
	e.Command, e.CWD, e.To = s.redacted(e.Command), s.redacted(e.CWD), s.redacted(e.To)
	if e.Event == "cd" && !s.query.has(e.CWD) && !s.query.has(e.To) || e.Event == "command" && !s.query.has(e.Command) {
		return h, false
	}
	h = Hit{Schema: Schema, Source: InHistory, Time: stamp.Text(), CWD: e.CWD, Event: &e}
	s.mark(&h, cmp.Or(e.Command, e.CWD+" → "+e.To))
	return h, true
}

// redacted returns a text without secrets, if results are redacted.
func (s *searcher) redacted(text string) string {
	if s.opt.Redact == nil || text == "" {
		return text
	}
	return s.opt.Redact.Text(text)
}

// mark sets the text of a hit to the words around the match in a text.
func (s *searcher) mark(h *Hit, text string) {
	m, _, _ := s.query.best([]byte(text), nil)
	h.Text, h.From, h.To = excerpt([]byte(text), m)
}

func isLog(first jsonl.Value) bool {
	return first.Get("ts").IsString() && first.Get("event").IsString()
}

// log searches a log of gsh, which does not record folders.
func (s *searcher) log(f File, out *searched) error {
	return s.eachLine(f, func(n int, line jsonl.Value) {
		e, texts := logEvent(line)
		h := Hit{File: f.Given, Line: n, Time: line.Get("ts").Text(), Session: line.Get("session").Text()}
		s.event(out, h, line.Get("ts"), e, texts)
	})
}

// event adds the hit of an event of a log, if it is selected and one of its texts matches.
func (s *searcher) event(out *searched, h Hit, stamp jsonl.Value, e Event, texts []string) {
	filter := &s.opt.Filter
	ms, timed := stamp.Millis()
	if texts == nil || !filter.at(ms, timed) || filter.Event != "" && e.Event != filter.Event || len(filter.Tools) > 0 && !contains(filter.Tools, e.Tool) ||
		!filter.exits(e.Exit) || !filter.in(h.CWD) || !s.query.has(texts...) {
		return
	}
	e.at = ms
	h.Schema, h.Source, h.Tool, h.Event = Schema, InLogs, e.Tool, &e
	for _, t := range []*string{&e.Command, &e.Stdout, &e.Stderr, &e.Input, &e.Output, &e.Text} {
		*t = s.redacted(*t)
	}
	for _, t := range texts {
		if t = s.redacted(t); s.query.has(t) || h.Text == "" {
			s.mark(&h, t)
			if s.query.has(t) {
				break
			}
		}
	}
	e.cut()
	out.events = append(out.events, h)
}

func contains(all []string, one string) bool {
	for _, a := range all {
		if strings.EqualFold(a, one) {
			return true
		}
	}
	return false
}

// logEvent reads an event, with the texts that are searched; nil for one that is not.
func logEvent(line jsonl.Value) (e Event, texts []string) {
	e.Event = line.Get("event").Text()
	e.numbers(line)
	switch e.Event {
	case "bash_exec":
		e.Command, e.Stdout, e.Stderr = line.Get("command").Text(), line.Get("stdout").Text(), line.Get("stderr").Text()
		texts = []string{e.Command, e.Stdout, e.Stderr}
	case "tool_call":
		e.Tool, e.Input = line.Get("tool").Text(), string(line.Get("input").AppendMinified(nil))
		texts = []string{e.Tool, e.Input}
	case "tool_result":
		e.Tool, e.Output, e.Failed = line.Get("tool").Text(), line.Get("output").Text(), string(line.Get("success")) == "false"
		texts = []string{e.Tool, e.Output}
	case "prompt":
		e.Text = line.Get("content").Text()
		texts = []string{e.Text}
	case "error":
		e.Text = line.Get("message").Text()
		texts = []string{e.Text}
	}
	return e, texts
}

// cut cuts the texts of an event of a log.
func (e *Event) cut() {
	text := 150
	if e.Event == "error" {
		text = 200
	}
	e.Command, e.Stdout, e.Stderr = cut(e.Command, 80), cut(e.Stdout, 200), cut(e.Stderr, 100)
	e.Input, e.Output, e.Text = cut(e.Input, 120), cut(e.Output, 200), cut(e.Text, text)
}

// Clock returns the time of a hit as gsh prints it.
func (h *Hit) Clock(layout string) string {
	if h.Event == nil || h.Event.at == 0 {
		return h.Time
	}
	return time.UnixMilli(h.Event.at).UTC().Format(layout)
}
