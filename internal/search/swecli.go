package search

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// logEvents is the member of SWE-CLI's log that is the list of its events.
const logEvents = "events"

// isDocument reports whether a file is a log of SWE-CLI: one JSON document.
func isDocument(first jsonl.Value) bool {
	return first.Get("session_id").IsString() && first.Get("started_at").IsString()
}

// beginning returns a JSON document with the members that the beginning of a file has whole.
func beginning(head []byte) jsonl.Value {
	doc, _ := dialect.ReadDocument(bytes.NewReader(head), int64(len(head)), logEvents, func(jsonl.Value, int) error { return nil })
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
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: f.Given}, Err: fmt.Errorf("not a complete JSON document: %w", err)}
	}
	return nil
}

// documentEvent reads an event, as gsh has it; the zero value for one that gsh has not.
func documentEvent(v jsonl.Value) Event {
	switch kind := v.Get("type"); {
	case kind.Is("user_input"):
		return Event{Event: "prompt", Text: v.Get("content").Text()}
	case kind.Is("tool_execution"):
		rest := jsonl.Value(v.AppendEdited(nil, jsonl.Field{Name: "timestamp"}, jsonl.Field{Name: "type"}, jsonl.Field{Name: "tool"}))
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
