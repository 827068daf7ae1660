// Package gemini shows the sessions of Gemini CLI as entries (docs/session-format.md 20).
package gemini

import (
	"path/filepath"
	"reflect"
	"strings"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

var format = chat.Format{
	About: about, Read: read, Other: other,
	Signed: rule.Of(signature),
	Make:   map[jsonl.Kind]func(*chat.Format, *dialect.Source){jsonl.Transform: makeCheckpoint},
}

// Dialect is the format of Gemini CLI.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "gemini", Fields: reflect.TypeFor[lineFields](), Interface: "google",
	Sniff: func(first jsonl.Value) bool { _, ok := about(first); return ok }, Document: newListed, New: newArranger,
	Store: dialect.Store{Variable: "GEMINI_CLI_HOME", Folders: []string{".gemini/tmp"}},
	File:  fileID, SubAgent: func(name string) bool { return owner(name, nil) != "" }, Owner: owner, Nests: nests,
	Policy:    "pi",
	Compose:   func(dialect.Request) dialect.Composer { return &composer{} },
	Pick:      jsonl.Pick{Record: []string{"$set", "$rewindTo"}},
	Bulk:      []dialect.Bulk{{About: "histories in checkpoints", Path: []string{"$set", "messages"}}},
	Rules:     Rules,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, format)

// fileID returns the end of a session's id by the name of its file, which has only its beginning. Other files
// in these folders are parts of sessions, or none.
func fileID(name string) (id string, part bool) {
	base, dir := filepath.Base(name), filepath.Base(filepath.Dir(name))
	id, _, _ = strings.Cut(base, ".")
	if at := strings.LastIndexByte(id, '-'); at >= 0 && strings.HasPrefix(id, "session-") {
		return id[at+1:], dir != chats
	}
	return id, true
}

// chats is the folder with the sessions of a project. Those of sub-agents are in it, in a folder with the id of the
// session.
const chats = "chats"

func owner(name string, _ jsonl.Value) string {
	if dir := filepath.Dir(name); filepath.Base(filepath.Dir(dir)) == chats {
		return filepath.Base(dir)
	}
	return ""
}

func nests(name, id string) []dialect.Nest {
	return []dialect.Nest{{Dir: filepath.Join(filepath.Dir(name), id), Deep: true, Own: true}}
}

// about reads the first line, what a document has besides its messages, or a change of settings,
// which is not ok.
func about(line jsonl.Value) (a chat.About, ok bool) {
	set := line.First("$set")
	if set.IsObject() {
		line = set
	}
	f := line.All("sessionId", "projectHash", "startTime", "directories", "type", "summary")
	ok = f[0].IsString() && (f[1].IsString() || f[2].IsString()) && !f[4].Exists() && !set.Exists()
	a = chat.About{ID: f[0], Time: f[2], Title: f[5]}
	for dir := range f[3].Elements {
		a.CWD = dir
		break
	}
	return a, ok
}

// Codes of lines besides messages.
const (
	checkpoint dialect.Code = 0x80 + iota // the history is replaced
	rewind                                // a message and all after it are taken back
	settings                              // plus named and placed
)

// What settings have that counts: a title, and the session's folders.
const (
	named dialect.Code = 1 << iota
	placed
)

// other returns what a line of a log is that is no message.
func other(p *jsonl.Picked) (h dialect.Head, known bool) {
	switch set, to := p.Record[0], p.Record[1]; {
	case set.Get("messages").IsArray():
		return dialect.Head{Code: checkpoint}, true
	case set.Exists():
		return dialect.Head{Code: settingsCode(set)}, true
	case to.Exists():
		return dialect.Head{Code: rewind, Ref: to}, true
	}
	return h, false
}

// settingsCode returns the code of a change of settings.
func settingsCode(set jsonl.Value) (code dialect.Code) {
	if chat.HasText(set.Get("summary")) {
		code |= named
	}
	if set.Get("directories").IsArray() {
		code |= placed
	}
	if code == 0 {
		return dialect.Skip
	}
	return settings + code
}
