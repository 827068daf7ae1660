package check

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/fields"
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
	// the field's name after those of the objects around it
	Path  string `json:"path"`
	Known bool   `json:"known"` // known and not needed; otherwise new
	Count int    `json:"count"` // how often it stands in the files
	Bytes int64  `json:"bytes"` // of its values
	File  string `json:"file"`  // where it stands first
	Line  int    `json:"line"`
}

// Add adds what nothing reads of a session, as file.
func (c *Coverage) Add(s *sessionfmt.Session, file string) error {
	w := &coverage{all: c, agent: s.Agent(), file: file}
	w.finder = fields.Finder{Known: pi.Fields(s.Dialect()), Found: w.found}
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
	finder      fields.Finder
	scan        jsonl.Scanner
}

func (w *coverage) line(v jsonl.Value, number int) {
	v, w.number = bytes.TrimSpace(v), number
	w.all.Bytes += int64(len(v))
	w.finder.Line(v)
}

// found counts a value that nothing reads.
func (w *coverage) found(at []byte, v jsonl.Value, known bool) {
	path := sessionfmt.Quote(string(at))
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
	sorting.By(c.Fields, func(a, b Field) int {
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
