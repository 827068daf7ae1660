// Package opencode shows the sessions of opencode, rows of a database, as entries
// (docs/session-format.md 22).
package opencode

import (
	"path/filepath"
	"reflect"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An agent is a program that writes these rows, by its name.
type agent string

const (
	opencode agent = "opencode"
	kilo     agent = "kilo"
)

func (a agent) arranger() dialect.Arranger { return newArranger(a) }

func (a agent) make(s *dialect.Source) { makeEntry(a, s) }

// tables are those with the rows of a session.
var tables = []dialect.Table{
	{Name: "session_message", Session: "session_id", Order: []string{"seq"}, Needs: []string{"type", "data"}},
	{Name: "event", Session: "aggregate_id", Order: []string{"seq"}, Begins: "session.created.",
		Needs: []string{"type", "data"}, Sequence: "event_sequence"},
	{Name: "message", Session: "session_id", Order: []string{"time_created", "id"}, Needs: []string{"id", "data"},
		Parts: &dialect.Table{Name: "part", Session: "message_id", Order: []string{"id"}, Needs: []string{"data"}}},
}

// needs are the columns by which a session is known.
var needs = []string{"id", "directory", "version"}

// Dialect is the format of opencode.
var Dialect = dialect.Dialect{
	Name: "opencode", Fields: reflect.TypeFor[lineFields](),
	Sniff: sniff,
	Store: dialect.Store{Variable: "XDG_DATA_HOME", Home: filepath.Join(".local", "share"),
		Folders: []string{filepath.Join("opencode", "opencode.db")}},
	File: fileID, Owner: owner, Session: sessionID, Policy: "opencode", Unrecorded: "titles", OlderCopies: true,
	Version: version, Newest: "1.18.33",
	Database: &dialect.Database{
		Files: "opencode*.db", Sessions: "session", ID: "id", Parent: "parent_id", Time: written,
		Needs: needs, Rows: tables,
	},
	Read:    read,
	Scan:    scan,
	New:     opencode.arranger,
	Make:    opencode.make,
	Compose: compose, InterfaceOf: interfaceOf,
	Rules: Rules, Question: question,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}

// Version2 is the format of version 2, in the same database. It is not compared with the program.
var Version2 = dialect.Dialect{
	Name: "opencode2", Fields: reflect.TypeFor[line2Fields](),
	Sniff: func(first jsonl.Value) bool {
		return isSession(first) && strings.HasPrefix(first.Get("version").Text(), "2.")
	},
	File: fileID, Owner: owner, Session: sessionID, Policy: "opencode", Unrecorded: "titles", Neutral: true,
	OlderCopies: true,
	Read:        read, Scan: scan, New: opencode.arranger, Make: opencode.make,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}

func version(row jsonl.Value) jsonl.Value { return row.Get("version") }

func sniff(first jsonl.Value) bool {
	return isSession(first) && !Version2.Sniff(first) && !ofKilo(first)
}

// isSession reports whether a line is the row of a session.
func isSession(line jsonl.Value) bool {
	f := line.All("table", "id", "directory")
	return f[0].Is("session") && f[1].IsString() && f[2].IsString()
}

// owner returns the session that a sub-agent's is the child of. Forks are no children.
func owner(_ string, row jsonl.Value) string { return row.Get("parent_id").Text() }

func sessionID(line jsonl.Value) jsonl.Value {
	if !isSession(line) {
		return nil
	}
	return line.Get("id")
}

// fileID returns the id by the name of a session in a database.
func fileID(name string) (id string, part bool) { return filepath.Base(name), false }

// A dated is what tells when a row was written.
type dated struct {
	updated jsonl.Value `jsonl:"time_updated"`
	created jsonl.Value `jsonl:"time_created"`
	data    struct {
		raw  jsonl.Value
		time times
		info struct {
			raw  jsonl.Value
			time times
		}
	}
}

// times are those of a message or a part; an event of a part has only a number, which is raw.
type times struct{ raw, updated, completed, created jsonl.Value }

var datedShape = jsonl.ShapeOf[dated]()

// written returns when a row was written: of an event, when what it has was.
func written(line jsonl.Value) int64 {
	var (
		c jsonl.Cursor
		d dated
	)
	datedShape.Read(c.Reset(line), &d)
	info, data := &d.data.info.time, &d.data.time
	for _, at := range []jsonl.Value{data.raw, info.updated, info.completed, info.created,
		data.updated, data.completed, data.created, d.updated} {
		if at.IsNumber() {
			return at.Int()
		}
	}
	return d.created.Int()
}

// Codes of lines.
const (
	session     = dialect.First + iota // the row of the session
	reverted                           // messages are taken back with the next prompt
	restored                           // they are not
	user                               // a message of the user
	answer                             // one of the model
	failed                             // one that was not finished, and is not sent
	aborted                            // one that the user ended
	summary                            // a summary that was not finished
	summarized                         // a summary
	removed                            // a message is removed
	partRemoved                        // a part is
	text                               // a part of a message
	synthetic                          // a text that the program wrote
	tool                               // a call
	returned                           // a call that has returned
	cleared                            // a call whose result is no longer sent
	compaction                         // a summary is asked for
	step                               // a request began
	other                              // a part that is neither
	newer                              // of a later version
	damaged                            // a row whose data is not an object
	turned                             // a row of version 2
	compacted                          // its summary
)

// scan implements Scan of the dialect.
func scan(text jsonl.Value) (h dialect.Head, size int) {
	var r row
	size = r.read(text)
	if h = r.head(); h.Code == dialect.Unknown {
		size = 0
	}
	return h, size
}

// read implements Read of the dialect.
func read(p *jsonl.Picked) dialect.Head {
	var r row
	r.read(p.Line)
	return r.head()
}
