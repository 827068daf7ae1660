package compact

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ctxtool/sessionfmt"
)

// Files are the files that a stretch of a session is about, as pi keeps them with a
// compaction (spec/pi-format.md 7.5). A file that was read and changed is only Modified.
type Files struct {
	Read     []string `json:"readFiles"`
	Modified []string `json:"modifiedFiles"`
}

// Files are the files that the messages of a range are about, which the view still has:
// what a stored compaction has as its details.
func (v *View) Files(r Range) (Files, error) {
	var messages []int
	previous := -1
	for i := r.From; i < r.To; i++ {
		switch m := &v.Messages[i]; {
		case m.Gone:
		case m.isSummary() && previous < 0:
			previous = i
		default:
			messages = append(messages, i)
		}
	}
	return v.files(messages, previous)
}

// files are the files of messages: those that calls of the tools read, write and edit
// name, whether they worked or not, and calls within those. The lists that an earlier
// compaction keeps go in, if pi itself has made them; previous is its summary, -1 for
// none.
func (v *View) files(messages []int, previous int) (Files, error) {
	read, modified := map[string]bool{}, map[string]bool{}
	note := func(tool, path string) {
		switch {
		case path == "":
		case tool == "read":
			read[path] = true
		case tool == "write" || tool == "edit":
			modified[path] = true
		}
	}
	if previous >= 0 && !v.Messages[previous].Heads {
		line, err := v.session().NewReader().Line(v.Messages[previous].Origin.Record)
		if err != nil {
			return Files{}, err
		}
		if details := line.Get("details"); !line.Get("fromHook").Truthy() {
			for el := range details.Get("readFiles").Elements {
				note("read", el.Text())
			}
			for el := range details.Get("modifiedFiles").Elements {
				note("edit", el.Text())
			}
		}
	}
	for _, i := range messages {
		if err := v.noteFiles(i, note); err != nil {
			return Files{}, err
		}
	}
	f := Files{Read: []string{}, Modified: []string{}}
	for path := range modified {
		f.Modified = append(f.Modified, path)
		delete(read, path)
	}
	for path := range read {
		f.Read = append(f.Read, path)
	}
	slices.SortFunc(f.Read, byUnits)
	slices.SortFunc(f.Modified, byUnits)
	return f, nil
}

// noteFiles notes the files that a message's calls name.
func (v *View) noteFiles(i int, note func(tool, path string)) error {
	m := &v.Messages[i]
	if m.nested && !m.Heads {
		raw, err := v.texts.provider(m)
		if err != nil {
			return err
		}
		for el := range raw.Get("nestedCalls").Get("calls").Elements {
			note(el.Get("name").Text(), el.Get("arguments").Get("path").Text())
		}
		return nil
	}
	for k := range m.Blocks {
		b := &m.Blocks[k]
		if tool := b.tool(); b.Kind != CallBlock || tool != "read" && tool != "write" && tool != "edit" {
			continue
		}
		args, err := v.Text(i, k)
		if err != nil {
			return err
		}
		note(m.Blocks[k].tool(), sessionfmt.Value(args).Get("path").Text())
	}
	return nil
}

// byUnits compares as JavaScript sorts: by UTF-16 units.
func byUnits(a, b string) int {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, k := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
		}
		a, b = a[n:], b[k:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit is the first UTF-16 unit of a character.
func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}

// blocks are the lists as pi puts them behind a summary, empty where there is nothing.
func (f Files) blocks() string {
	text := ""
	if len(f.Read) > 0 {
		text += "\n\n<read-files>\n" + strings.Join(f.Read, "\n") + "\n</read-files>"
	}
	if len(f.Modified) > 0 {
		text += "\n\n<modified-files>\n" + strings.Join(f.Modified, "\n") + "\n</modified-files>"
	}
	return text
}
