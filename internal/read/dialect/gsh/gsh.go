// Package gsh shows the sessions of gsh as entries (docs/session-format.md 17).
package gsh

import (
	"path/filepath"
	"reflect"
	"strings"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Dialect is the format of gsh.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "gsh", Fields: reflect.TypeFor[lineFields](),
	Sniff: func(first jsonl.Value) bool { _, ok := about(first); return ok },
	Store: dialect.Store{Variable: "XDG_DATA_HOME", Home: ".local/share", Folders: []string{"gsh/sessions"}},
	File:  fileID, Policy: "gsh",
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, chat.Format{About: about, Read: read, Sums: true})

// fileID returns the id by the name of a session.
func fileID(name string) (id string, part bool) {
	id, _, _ = strings.Cut(filepath.Base(name), ".")
	return id, false
}

// about reads the first line. gsh never rewrites it, so its count stays 0 and most have no title.
func about(line jsonl.Value) (a chat.About, ok bool) {
	f := line.All("id", "created_at", "last_activity", "cwd", "role", "title")
	ok = f[0].IsString() && f[1].IsString() && f[2].IsString() && !f[4].Exists()
	return chat.About{ID: f[0], CWD: f[3], Time: f[1], Title: f[5]}, ok
}

// read reads a message. Results stand in a message of the user, each is one of its own.
func read(r *chat.Reader, line jsonl.Value) {
	m := chat.Said{Kind: jsonl.OtherMessage}
	for key := range r.Reset(line).Members {
		switch string(key) {
		case "role":
			m.Kind = r.Value().RoleKind()
		case "content":
			if r.Peek() == '"' {
				r.Own(chat.Text(r.String()))
				continue
			}
			for range r.Elements {
				block(r)
			}
		case "id":
			r.ID = r.Value()
		case "timestamp":
			r.Stamp = r.Value()
		}
	}
	if m.Kind != jsonl.User && m.Kind != jsonl.Assistant {
		r.Said = r.Said[:0]
		return
	}
	m.Blocks = r.Take()
	if r.Native {
		m.Native = line
	}
	if len(r.Said) > 0 { // all of them are one message
		r.Said[0].Native, m.Native = m.Native, nil
	}
	if len(r.Said) == 0 || len(m.Blocks) > 0 {
		r.Said = append(r.Said, m)
	}
}

// block reads a block of a content.
func block(r *chat.Reader) {
	var f [8]jsonl.String
	at := r.Offset()
	r.Fields(f[:], "type", "text", "id", "name", "input", "tool_use_id", "content", "is_error")
	switch typ, content, failed := f[0], f[6], f[7]; {
	case typ.Is("text"):
		r.Own(chat.Text(f[1]))
	case typ.Is("tool_use"):
		r.Own(jsonl.Block{Kind: jsonl.CallBlock, ID: f[2].Value, Name: f[3].Value, Args: f[4].Value})
	case typ.Is("tool_result"):
		m := chat.Said{Kind: jsonl.ToolResult, Call: f[5].Value, Failed: failed.Truthy(), Untold: failed.IsNull()}
		if content.IsArray() {
			m.Blocks = content.Blocks(jsonl.ToolResult)
		} else if chat.HasText(content.Value) {
			m.Blocks = r.Keep(chat.Text(content))
		}
		r.Said = append(r.Said, m)
	default:
		r.Own(jsonl.Block{Raw: r.Since(at)})
	}
}
