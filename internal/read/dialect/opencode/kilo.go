package opencode

import (
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Kilo is the format of Kilo CLI: the rows of opencode, in a database of its own. Its versions begin with 7.
var Kilo = dialect.Dialect{
	Name: string(kilo), Fields: reflect.TypeFor[lineFields](),
	Sniff: func(first jsonl.Value) bool { return isSession(first) && ofKilo(first) },
	Store: dialect.Store{Variable: "XDG_DATA_HOME", Home: filepath.Join(".local", "share"),
		Folders: []string{filepath.Join("kilo", "kilo.db")}},
	File: fileID, Owner: owner, Session: sessionID, Policy: "opencode", Unrecorded: "titles", OlderCopies: true,
	Version: version, Newest: "7.7.9",
	Database: &dialect.Database{
		Files: "kilo*.db", Sessions: "session", ID: "id", Parent: "parent_id", Time: written,
		Needs: needs, Rows: tables,
	},
	Read: read, Scan: scan, New: kilo.arranger, Make: kilo.make,
	Compose: compose, InterfaceOf: interfaceOf,
	Rules: KiloRules, Question: question,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}

// ofKilo reports whether Kilo wrote the row of a session, by its version: its first one with such rows was 7.
func ofKilo(row jsonl.Value) bool { return !dialect.Older(version(row).Text(), "3") }

// withPlace adds the row of the session, by which Kilo tells the model where it works.
func (a *arranger) withPlace(spans []dialect.Span) []dialect.Span {
	if a.agent == kilo && a.row != nil {
		spans = append(spans, a.row.At)
	}
	return spans
}

// parts returns the parts of a message as they are sent: Kilo adds one to each prompt that has none of its kind.
func (m *maker) parts(of []row) []row {
	own, parts := &of[0].data.info, of[1:len(of):len(of)]
	if m.place == nil || !own.role.Is("user") {
		return parts
	}
	for k := range parts {
		p := &parts[k].data.part
		begins := strings.TrimSpace(p.text.Beginning(2 * len(environment)))
		if p.synthetic.Truthy() && strings.HasPrefix(begins, environment) {
			return parts
		}
	}
	var added row
	added.data.part.typ = jsonl.Value(`"text"`)
	added.data.part.text = jsonl.Value(jsonl.AppendQuoted(nil, m.environment(own))).Spelled()
	return append(parts, added)
}

const environment = "<environment_details>"

// environs is the first version that adds such a part, as far as is known: 7.0.33 has none, 7.7.9 does.
const environs = "7.1"

// environment returns the text of that part: when a prompt was made, where the session works, what is open in
// an editor.
func (m *maker) environment(of *infoData) string {
	at := time.UnixMilli(of.time.Get("created").Int()).UTC().Format("2006-01-02T15:04:05Z")
	lines := []string{"", "", environment, "Message time: " + at}
	directory := m.place.directory.Text()
	root := directory
	for range strings.FieldsFuncSeq(m.place.path.Text(), func(c rune) bool { return c == '/' }) {
		root = path.Dir(root)
	}
	for _, one := range []struct{ title, member, text string }{
		{"Working directory", "directory", directory}, {"Workspace root folder", "worktree", root},
		{"Active file", "activeFile", ""},
	} {
		if of := of.editor.Get(one.member); of.IsString() {
			one.text = of.Text()
		}
		if one.text != "" {
			lines = append(lines, one.title+": "+one.text)
		}
	}
	for _, list := range []struct{ title, member string }{
		{"Visible files:", "visibleFiles"}, {"Open tabs:", "openTabs"},
	} {
		first := true
		for name := range of.editor.Get(list.member).Elements {
			if first {
				lines, first = append(lines, list.title), false
			}
			lines = append(lines, "  "+name.Text())
		}
	}
	return strings.Join(append(lines, "</environment_details>"), "\n")
}
