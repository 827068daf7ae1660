// Package gsh shows the sessions of gsh as entries (docs/session-format.md 17).
package gsh

import (
	"path/filepath"
	"strings"

	"ctxtool/sessionfmt/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Dialect is the format of gsh.
var Dialect = chat.Dialect(dialect.Dialect{
	Name:  "gsh",
	Sniff: func(first jsonl.Value) bool { _, ok := about(first); return ok },
	Store: dialect.Store{Variable: "XDG_DATA_HOME", Home: ".local/share", Folders: []string{"gsh/sessions"}},
	File:  fileID, Policy: "gsh",
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, chat.Format{About: about, Read: read})

// fileID is the id by the name of a session.
func fileID(name string) (id string, part bool) {
	id, _, _ = strings.Cut(filepath.Base(name), ".")
	return id, false
}

// about reads the first line. gsh never rewrites it, so its count stays 0 and most have no title.
func about(line jsonl.Value) (a chat.About, ok bool) {
	var f [6]jsonl.Value
	line.Fields(f[:], "id", "created_at", "last_activity", "cwd", "role", "title")
	ok = f[0].IsString() && f[1].IsString() && f[2].IsString() && !f[4].Exists()
	return chat.About{ID: f[0], CWD: f[3], Time: f[1], Title: f[5]}, ok
}

// read reads a message. Results stand in a message of the user, each is one of its own.
func read(said []chat.Said, line jsonl.Value, native bool) []chat.Said {
	var f [2]jsonl.Value
	line.Fields(f[:], "role", "content")
	m := chat.Said{}
	if native {
		m.Native = line
	}
	switch {
	case f[0].Is("user"):
		m.Kind = jsonl.User
	case f[0].Is("assistant"):
		m.Kind = jsonl.Assistant
	default:
		return said
	}
	if f[1].IsString() {
		m.Blocks = []jsonl.Block{chat.Text(f[1])}
		return append(said, m)
	}
	before := len(said)
	for el := range f[1].Elements {
		var b [8]jsonl.Value
		el.Fields(b[:], "type", "text", "id", "name", "input", "tool_use_id", "content", "is_error")
		switch {
		case b[0].Is("text"):
			m.Blocks = append(m.Blocks, chat.Text(b[1]))
		case b[0].Is("tool_use"):
			m.Blocks = append(m.Blocks, jsonl.Block{Kind: jsonl.CallBlock, ID: b[2], Name: b[3], Args: b[4]})
		case b[0].Is("tool_result"):
			r := chat.Said{Kind: jsonl.ToolResult, Call: b[5], Blocks: result(b[6]), Failed: b[7].Truthy(), Untold: b[7].IsNull()}
			if len(said) == before {
				r.Native = m.Native // all of them are one message
			}
			said = append(said, r)
		default:
			m.Blocks = append(m.Blocks, jsonl.Block{Raw: el})
		}
	}
	if len(said) > before && len(m.Blocks) == 0 {
		return said
	}
	if len(said) > before {
		m.Native = nil // sent with the results
	}
	return append(said, m)
}

// result reads the content of a result: a text, or blocks.
func result(content jsonl.Value) []jsonl.Block {
	if content.IsArray() {
		return content.Blocks(jsonl.ToolResult)
	}
	return chat.Texts(content)
}
