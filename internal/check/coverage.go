package check

import (
	"bytes"
	"cmp"
	_ "embed"
	"io"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Coverage says what of sessions nothing reads, schema ctxtool/coverage/1.
type Coverage struct {
	Schema string  `json:"schema"`
	Files  int     `json:"files"` // that were read
	Bytes  int64   `json:"bytes"` // of their lines
	Fields []Field `json:"fields"`

	fields map[[2]string]int // their indexes by agent and path
}

// A Field is a field of lines that nothing reads, or a type of them.
type Field struct {
	Agent string `json:"agent"`
	// its name after those of the objects around it; `<NAME>` is an object of that `type`, or else `role`
	Path  string `json:"path"`
	Known bool   `json:"known"` // `ctxtool` knows it and needs nothing of it; else it is new
	Count int    `json:"count"` // how often it stands in the files
	Bytes int64  `json:"bytes"` // of its values
	File  string `json:"file"`  // where it stands first
	Line  int    `json:"line"`
}

// A fieldTree is what is known of a value: nothing reads it, everything below is read or kept as it
// is, or what is known of its fields and, as <TYPE>, of the objects that it is. Lists have the
// fields of their elements.
type fieldTree struct {
	unread, whole bool
	typed         bool // it is known by types
	below         map[string]*fieldTree
}

// piFields are the fields of pi's lines that are known (docs/formats.md, "Coverage").
//
//go:embed fields.txt
var piFields string

// parseFields reads a table of fields: a path on each line, after - if nothing reads it, and before
// .* if all below it is read or kept.
func parseFields(table string) *fieldTree {
	root := &fieldTree{}
	for line := range strings.Lines(table) {
		path, unread := strings.CutPrefix(strings.TrimSpace(line), "- ")
		path, whole := strings.CutSuffix(path, ".*")
		m := root
		for path != "" {
			name, rest := step(path)
			if m.below == nil {
				m.below = map[string]*fieldTree{}
			}
			if m.below[name] == nil {
				m.below[name] = &fieldTree{}
			}
			m.typed = m.typed || name[0] == '<'
			m, path = m.below[name], rest
		}
		m.unread, m.whole = unread, whole
	}
	return root
}

// step splits a path after its first name or type.
func step(path string) (name, rest string) {
	if i := strings.IndexByte(path, '>'); path[0] == '<' && i > 0 {
		return path[:i+1], strings.TrimPrefix(path[i+1:], ".")
	}
	i := strings.IndexAny(path[1:], ".<") + 1
	if i == 0 {
		return path, ""
	}
	return path[:i], strings.TrimPrefix(path[i:], ".")
}

// Add adds what nothing reads of a session, as file.
func (c *Coverage) Add(s *sessionfmt.Session, file string) error {
	table := piFields
	if d := s.Dialect(); d != nil {
		table = d.Fields
	}
	w := &coverage{all: c, agent: s.Agent(), file: file, known: parseFields(table)}
	c.Files++
	if c.fields == nil {
		c.fields = map[[2]string]int{}
	}
	for l, err := range s.Lines {
		if err != nil {
			return err
		}
		if end, bad := w.scan.Value(l.Raw, 0); bad == nil && len(bytes.TrimSpace(l.Raw[end:])) == 0 {
			w.line(jsonl.Value(l.Raw), l.Number)
		} else if d := s.Dialect(); l.Number == 1 && d != nil && d.Document != nil { // a document on several lines
			text, err := io.ReadAll(s.Plain())
			if err == nil {
				w.line(jsonl.Value(text).AppendOneLine(nil), 1)
			}
			return err
		}
	}
	return nil
}

// A coverage looks at the lines of one session.
type coverage struct {
	all         *Coverage
	agent, file string
	number      int // of the line
	path        []byte
	known       *fieldTree
	scan        jsonl.Scanner
}

func (w *coverage) line(v jsonl.Value, number int) {
	v, w.number, w.path = bytes.TrimSpace(v), number, w.path[:0]
	w.all.Bytes += int64(len(v))
	w.value(v, w.known)
}

// value looks at a value, of which m is known.
func (w *coverage) value(v jsonl.Value, m *fieldTree) {
	switch {
	case m.unread:
		w.found(v, true)
	case m.whole:
	case v.IsArray():
		for e := range v.Elements {
			w.value(e, m)
		}
	case v.IsObject():
		w.object(v, m)
	}
}

// object looks at an object by what is known of objects of its type, or else of all.
func (w *coverage) object(v jsonl.Value, m *fieldTree) {
	length := len(w.path)
	defer func() { w.path = w.path[:length] }()
	common := m.below["<*>"]
	if name := typeOf(v); m.typed && name != "" {
		name = "<" + name + ">"
		w.path = append(w.path, name...)
		if m = m.below[name]; m == nil || m.unread {
			w.found(v, m != nil)
			return
		}
		if m.whole {
			return
		}
	}
	before := len(w.path)
	for key, val := range v.Members {
		of := m.below[string(key)]
		if of == nil && common != nil {
			of = common.below[string(key)]
		}
		if before > 0 {
			w.path = append(w.path, '.')
		}
		w.path = append(w.path, key...)
		if of == nil {
			w.found(val, false)
		} else {
			w.value(val, of)
		}
		w.path = w.path[:before]
	}
}

// typeOf returns the name of what an object is, empty if it does not say.
func typeOf(v jsonl.Value) string {
	var f [3]jsonl.Value
	v.Fields(f[:], "table", "type", "role")
	i := slices.IndexFunc(f[:], jsonl.Value.IsString)
	if i < 0 {
		return ""
	}
	return f[i].Text()
}

// found counts a value that nothing reads.
func (w *coverage) found(v jsonl.Value, known bool) {
	path := sessionfmt.Quote(string(w.path))
	of := [2]string{w.agent, path}
	i, had := w.all.fields[of]
	if !had {
		i = len(w.all.Fields)
		w.all.fields[of] = i
		w.all.Fields = append(w.all.Fields, Field{Agent: w.agent, Path: path, Known: known, File: w.file,
			Line: w.number})
	}
	w.all.Fields[i].Count++
	w.all.Fields[i].Bytes += int64(len(v))
}

// Sorted returns the coverage with what is new first, then what takes most room.
func (c *Coverage) Sorted() Coverage {
	slices.SortStableFunc(c.Fields, func(a, b Field) int {
		if a.Known != b.Known {
			return map[bool]int{false: -1, true: 1}[a.Known]
		}
		return cmp.Compare(b.Bytes, a.Bytes)
	})
	c.Schema = "ctxtool/coverage/1"
	return *c
}

// New reports whether there is a field that ctxtool does not know.
func (c *Coverage) New() bool {
	return slices.ContainsFunc(c.Fields, func(m Field) bool { return !m.Known })
}
