package search

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An Event is a command of a shell history, or an event of a log. Texts are cut as gsh cuts them.
type Event struct {
	// `command`, `cd`, and of logs `bash_exec`, `tool_call`, `tool_result`, `prompt`, `error`
	Event    string `json:"event"`
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
	Failed   bool   `json:"failed,omitempty"` // a command or a tool, also one without an exit status
	Text     string `json:"text,omitempty"`   // of a prompt or an error

	at int64 // milliseconds since 1970
}

// oneLine puts a text on one line.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

// cut puts a text on one line of at most so many bytes, and "..." after it if it is longer.
func cut(text string, most int) string {
	text = oneLine.Replace(text)
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
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: f.Given, Line: first},
				Err: fmt.Errorf("%w: skipped (%d in the file)", errNoObject, broken)}
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
	return slices.ContainsFunc(shellEvents, func(name string) bool { return first.Get(name).IsObject() })
}

// history searches gsh's shell history.
func (s *searcher) history(f File, out *searched) error {
	return s.eachLine(f, func(n int, line jsonl.Value) {
		e, stamp := shellEvent(line)
		s.shell(out, Hit{File: f.Given, Line: n}, stamp, e)
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
		e.Exit, e.Failed = &code, code != 0
	}
	if n := v.Get("duration_ms"); n.IsNumber() {
		ms := n.Int()
		e.Duration = &ms
	}
}

// shell adds the hit of a command or a change of the folder, if it is selected and matches.
func (s *searcher) shell(out *searched, h Hit, stamp jsonl.Value, e Event) {
	f := &s.opt.Filter
	if f.Event == "" && (e.Event == "cd" && f.in(e.To) || e.Event != "" && f.in(e.CWD)) &&
		strings.TrimSpace(e.line()) != "" {
		h.Source = InHistory
		s.event(out, h, stamp, e)
	}
}

// Line returns the command on one line, without the texts of here-documents.
func (e *Event) Line() string { return oneLine.Replace(activity.CutDocuments(e.Command)) }

// line returns the command, or how the folder changed.
func (e *Event) line() string {
	if e.Event == "cd" {
		return e.CWD + " → " + e.To
	}
	return e.Command
}

func isLog(first jsonl.Value) bool {
	return first.Get("ts").IsString() && first.Get("event").IsString()
}

// log searches a log of gsh, which does not record folders.
func (s *searcher) log(f File, out *searched) error {
	return s.eachLine(f, func(n int, line jsonl.Value) {
		h := Hit{File: f.Given, Line: n, Session: line.Get("session").Text(), Source: InLogs}
		s.event(out, h, line.Get("ts"), logEvent(line))
	})
}

// event adds the hit of an event, if it is selected and its texts match, also once they are
// redacted.
func (s *searcher) event(out *searched, h Hit, stamp jsonl.Value, e Event) {
	f := &s.opt.Filter
	if h.Source == InLogs && (!slices.Contains(Events, e.Event) || f.Event != "" && e.Event != f.Event ||
		len(f.Tools) > 0 && !contains(f.Tools, e.Tool) || !f.in(h.CWD)) {
		return
	}
	ms, timed := stamp.Millis()
	if !timed && s.begun > 0 {
		ms, timed = s.begun, true
	}
	if !f.at(ms, timed) || !f.exits(e.Exit, e.Failed) || !s.query.has(e.texts()...) {
		return
	}
	if s.opt.Redact != nil {
		for _, t := range []*string{&e.Command, &e.CWD, &e.To, &e.Stdout, &e.Stderr, &e.Tool, &e.Input, &e.Output,
			&e.Text, &h.Session, &h.CWD} {
			*t = s.opt.Redact.Text(*t)
		}
	}
	texts, ok := e.texts(), false
	if ok, h.longer = s.query.match(texts); !ok {
		return
	}
	best := max(0, slices.IndexFunc(texts, func(t string) bool { return s.query.has(t) }))
	m, _, _ := s.query.best([]byte(texts[best]), nil)
	h.excerpt([]byte(texts[best]), m)
	if h.Source == InLogs {
		text := 150
		if e.Event == "error" {
			text = 200
		}
		e.Command, e.Stdout, e.Stderr = cut(activity.CutDocuments(e.Command), 80), cut(e.Stdout, 200), cut(e.Stderr, 100)
		e.Input, e.Output, e.Text = cut(e.Input, 120), cut(e.Output, 200), cut(e.Text, text)
	}
	e.at = ms
	h.Schema, h.Time, h.Tool, h.CWD, h.Event = Schema, stamp.Text(), e.Tool, cmp.Or(e.CWD, h.CWD), &e
	one := events{kept: []Hit{h}, all: 1}
	if h.longer {
		one.longer = 1
	}
	out.events.add(&one)
}

// texts returns the texts that are searched, at least one.
func (e *Event) texts() []string {
	all := []string{e.line(), e.Stdout, e.Stderr, e.Tool, e.Input, e.Output, e.Text}
	return append(slices.DeleteFunc(all[:len(all):len(all)], func(t string) bool { return t == "" }), "")
}

func contains(all []string, one string) bool {
	return slices.ContainsFunc(all, func(a string) bool { return strings.EqualFold(a, one) })
}

// logEvent reads an event.
func logEvent(line jsonl.Value) Event {
	text := func(name string) string { return line.Get(name).Text() }
	e := Event{
		Event: text("event"), Command: text("command"), Stdout: text("stdout"), Stderr: text("stderr"),
		Tool:  text("tool"),
		Input: string(line.Get("input").AppendMinified(nil)), Output: text("output"),
		Text: cmp.Or(text("content"), text("message")),
	}
	e.numbers(line)
	e.Failed = e.Failed || string(line.Get("success")) == "false"
	return e
}

// Clock returns the time of a hit as gsh prints it.
func (h *Hit) Clock(layout string) string {
	if h.Event == nil || h.Event.at == 0 {
		return h.Time
	}
	return time.UnixMilli(h.Event.at).UTC().Format(layout)
}

// logEvents is the member of SWE-CLI's log that is the list of its events.
const logEvents = "events"

// isDocument reports whether a file is a log of SWE-CLI: one JSON document.
func isDocument(first jsonl.Value) bool {
	return first.Get("session_id").IsString() && first.Get("started_at").IsString()
}

// beginning returns a JSON document with the members that the beginning of a file has whole.
func beginning(head []byte) jsonl.Value {
	doc, _ := dialect.ReadDocument(bytes.NewReader(head), int64(len(head)), logEvents,
		func(jsonl.Value, int) error { return nil })
	return doc
}

// document searches a log of SWE-CLI. The number of an event is that of the line it begins on.
func (s *searcher) document(f File, out *searched) error {
	in, err := s.opt.Open.Disk.Open(f.Name)
	if err != nil {
		return err
	}
	defer in.Close()
	var events []jsonl.Value
	var lines []int
	info, err := in.Stat()
	if err != nil {
		return err
	}
	doc, err := dialect.ReadDocument(in, info.Size(), logEvents, func(v jsonl.Value, line int) error {
		events, lines = append(events, slices.Clone(v)), append(lines, line)
		return nil
	})
	h := Hit{Source: InLogs, File: f.Given, Session: doc.Get("session_id").Text(), CWD: doc.Get("working_dir").Text()}
	for i, v := range events {
		h.Line = lines[i]
		s.event(out, h, v.Get("timestamp"), documentEvent(v))
	}
	if err != nil {
		return sessionfmt.Errorf("not a complete JSON document: %w", err).In(f.Given)
	}
	return nil
}

// documentEvent reads an event, as gsh has it; the zero value for one that gsh has not.
func documentEvent(v jsonl.Value) Event {
	switch kind := v.Get("type"); {
	case kind.Is("user_input"):
		return Event{Event: "prompt", Text: v.Get("content").Text()}
	case kind.Is("tool_execution"):
		rest := jsonl.Value(v.AppendEdited(nil, jsonl.Field{Name: "timestamp"}, jsonl.Field{Name: "type"},
			jsonl.Field{Name: "tool"}))
		return Event{Event: "tool_call", Tool: v.Get("tool").Text(), Input: string(rest.AppendMinified(nil))}
	case kind.Is("context_retrieval"):
		return Event{Event: "tool_call", Tool: kind.Text(), Input: string(v.Get("actions").AppendMinified(nil))}
	}
	return Event{}
}

// Logs returns the logs of SWE-CLI below a folder, NAME.log. Other programs have such files too.
func Logs(disk sessionfmt.Disk, dir string) (names []string) {
	head := make([]byte, sniffSize)
	disk.Walk(dir, func(name string, f fs.DirEntry) { // what cannot be read has none
		if filepath.Ext(name) != ".log" {
			return
		}
		in, err := disk.OpenRegular(name)
		if err != nil {
			return
		}
		defer in.Close()
		if n, _ := in.ReadAt(head, 0); isDocument(firstObject(head[:n])) {
			names = append(names, name)
		}
	})
	return names
}
