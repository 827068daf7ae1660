// Package openclaw shows the sessions of OpenClaw, rows of a database, as entries
// (docs/session-format.md 21). Its older files are sessions of pi.
package openclaw

import (
	"path/filepath"
	"reflect"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// Dialect is the format of OpenClaw: each row holds a record in the format of pi.
var Dialect = dialect.Dialect{
	Name: "openclaw", Fields: reflect.TypeFor[lineFields](), Sniff: isWindow,
	Store: dialect.Store{Variable: "OPENCLAW_STATE_DIR", Home: ".openclaw", Folders: []string{"agents"}},
	File:  fileID, Policy: "pi", Neutral: true,
	Session: func(line jsonl.Value) jsonl.Value {
		if !isWindow(line) {
			return nil
		}
		return line.Get("session_id")
	},
	Database: &dialect.Database{
		Files: "openclaw-agent*.sqlite", Sessions: "session_windows", ID: "session_id", Time: written,
		Rows: []dialect.Table{{Name: "transcript_events", Session: "session_id", Order: []string{"seq"},
			Packed: "event_zstd", Unpacked: event}},
	},
	Pick:      jsonl.Pick{Record: []string{event}},
	Read:      read,
	New:       func() dialect.Arranger { return arranger{} },
	Make:      makeEntry,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}

// event is the column with a record in the format of pi.
const event = "event_json"

// isWindow reports whether a line is the row of a session.
func isWindow(line jsonl.Value) bool {
	f := line.All("table", "session_id")
	return f[0].Is("session_windows") && f[1].IsString()
}

// fileID returns the id by the name of a session in a database, or of an older file. Others in its folder
// belong to sessions.
func fileID(name string) (id string, part bool) {
	id, end, _ := strings.Cut(filepath.Base(name), ".")
	return id, strings.HasPrefix(end, "trajectory.")
}

// written returns when a row was written.
func written(line jsonl.Value) int64 {
	if ms, ok := line.Get(event).Get("timestamp").Millis(); ok {
		return ms
	}
	if at := line.Get("updated_at"); at.IsNumber() {
		return at.Int()
	}
	return line.Get("created_at").Int()
}

// What a line is: an entry has the number of its kind after entry.
const (
	window = dialect.First + iota // the row of the session
	header                        // its header
	entry
)

// read implements Read of the dialect.
func read(p *jsonl.Picked) dialect.Head {
	if isWindow(p.Line) {
		return dialect.Head{Code: window, ID: p.Line.Get("session_id")}
	}
	h, bad := jsonl.NewHeadReader(jsonl.Pick{}).Read(p.Record[0])
	if bad != nil || h.Kind == jsonl.Scalar {
		return dialect.Head{Code: dialect.Unknown}
	}
	head := dialect.Head{Code: entry + dialect.Code(h.Kind), ID: h.ID, Ref: h.ParentID}
	switch h.Kind {
	case jsonl.Header:
		head.Code = header
	case jsonl.Unknown:
		p.Type, head.Code = h.Type, dialect.Unknown
	}
	return head
}

// An arranger makes an entry of each record, below its parent. The last one is the leaf.
type arranger struct{}

// Next implements [dialect.Arranger], like End.
func (arranger) Next(t dialect.Tree, l *dialect.Line) {
	kind := jsonl.Unknown
	switch {
	case l.Code == window:
		t.Add(rule.Aside, jsonl.Header, l)
		return
	case l.Code == header:
		t.Join(l.Rules, 0, l.At)
		return
	case l.Code >= entry:
		kind = jsonl.Kind(l.Code - entry)
	}
	parent := -1
	if len(l.Ref) > 0 {
		parent = t.Find(l.Ref)
	}
	if parent != t.Leaf() {
		t.Move(rule.Branch, parent)
	}
	t.Add(dialect.ByKind(kind), kind, l)
	if parent < 0 && len(l.Ref) > 0 {
		t.Report("orphan", l, "its parent is not in a row before it: the context begins here")
	}
}

func (arranger) End(dialect.Tree) {}

// makeEntry implements Make of the dialect: the record with its id and parent first.
func makeEntry(s *dialect.Source) {
	e, record := s.Add(), s.Lines[len(s.Lines)-1].Get(event)
	e.Time = record.Get("timestamp")
	if s.Kind == jsonl.Unknown {
		e.Type = s.Quoted(record.Get("type").Text())
	}
	for key, v := range record.Members {
		switch string(key) {
		case "type", "id", "parentId", "timestamp", "version":
		default:
			e.Set(string(key), v)
		}
	}
}
