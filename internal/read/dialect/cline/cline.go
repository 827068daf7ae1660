// Package cline shows the sessions of Cline CLI, JSON documents that are rewritten, as entries
// (docs/session-format.md 24).
package cline

import (
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

var format = chat.Format{
	About: about, Read: read, Other: other,
	Make: map[jsonl.Kind]func(*chat.Format, *dialect.Source){
		jsonl.Header: makeHeader, jsonl.System: makeSystem, jsonl.SessionInfo: makeTitle,
		jsonl.Transform: makeCompaction,
	},
}

// Dialect is the format of Cline CLI.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "cline", Fields: reflect.TypeFor[lineFields](), Interface: "openai-chat",
	Sniff:    func(first jsonl.Value) bool { _, ok := about(first); return ok },
	Document: newArranger, New: newArranger,
	Files: dialect.Files{Own: messagesEnd, Beside: []string{".json", ".compaction.json"}},
	Store: dialect.Store{Variable: "CLINE_DIR", Home: ".cline", Folders: []string{"data/sessions"}},
	File:  fileID, SubAgent: isSubAgent, Owner: owner, Nests: nests,
	Version: func(line jsonl.Value) jsonl.Value { return line.Get("origin").Get("version") }, Newest: "3.0.65",
	Pick:   jsonl.Pick{As: jsonl.Names{ID: "id", Time: "ts"}},
	Policy: "pi", Unrecorded: "summaries",
	Compose:   func(dialect.Request) dialect.Composer { return &composer{} },
	Bulk:      []dialect.Bulk{{About: "copies of messages in a compaction", Path: []string{"messages"}}},
	Rules:     Rules,
	Certainty: dialect.Certainty{Messages: "rule", System: "rule", Tools: "absent"},
}, format)

// messagesEnd ends the name of a session's own document.
const messagesEnd = ".messages.json"

// fileID returns the id by the name of a file. What else is in the folder of a session belongs to it, and has
// none.
func fileID(name string) (id string, part bool) {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".gz"), ".zst")
	id, ok := strings.CutSuffix(base, messagesEnd)
	if !ok {
		return "", true
	}
	return id, isSubAgent(name)
}

// isSubAgent reports whether a file is that of a sub-agent, beside the one of its session, which has the name of the
// folder: agent_ID, or NAME__TASK of a team.
func isSubAgent(name string) bool {
	stem, ok := strings.CutSuffix(strings.TrimSuffix(filepath.Base(name), ".zst"), messagesEnd)
	return ok && stem != filepath.Base(filepath.Dir(name)) && (strings.HasPrefix(stem, "agent_") ||
		strings.Contains(stem, "__"))
}

func owner(_ string, first jsonl.Value) string {
	return first.First("origin", "parentThreadId").Text()
}

func nests(name, _ string) []dialect.Nest {
	may := func(name string, _ time.Time) bool { return isSubAgent(name) }
	return []dialect.Nest{{Dir: filepath.Dir(name), May: may}}
}

// about reads what a session's document has besides its messages.
func about(line jsonl.Value) (a chat.About, ok bool) {
	f := line.All("sessionId", "agent", "origin", "version", "role")
	ok = f[0].IsString() && f[1].IsString() && f[2].IsObject() && f[3].IsNumber() && !f[4].Exists()
	return chat.About{ID: f[0]}, ok
}

// Codes of lines besides messages.
const (
	opening    dialect.Code = 0x80 + iota // the session's document
	manifest                              // what Cline knows of the session
	compaction                            // its last compaction
)

// other returns what a line is that is no message.
func other(p *jsonl.Picked) (h dialect.Head, known bool) {
	if a, ok := about(p.Line); ok {
		return dialect.Head{Code: opening, ID: a.ID}, true
	}
	switch f := p.Line.All("session_id", "enable_tools", "source_message_count", "messages"); {
	case f[0].IsString() && f[1].Exists():
		return dialect.Head{Code: manifest, ID: f[0]}, true
	case f[2].IsNumber() && f[3].IsArray():
		return dialect.Head{Code: compaction}, true
	}
	return h, false
}
