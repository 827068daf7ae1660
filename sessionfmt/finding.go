package sessionfmt

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/sessionfmt/dialect"
)

// A Finding is a defect of a session, or content that pi does not read as its writer meant it.
type Finding struct {
	Code  string `json:"code"`
	File  string `json:"file,omitempty"`  // a file that the session continues; empty for the session's own
	Line  int    `json:"line,omitempty"`  // physical line of that file, from 1; 0 for the whole file
	Entry string `json:"entry,omitempty"` // id of the entry
	Text  string `json:"text"`
}

// A Pos is a place in a session file. String leaves out zero fields.
type Pos struct {
	File  string
	Line  int
	Entry string
}

// String returns `file:line: entry id`, the beginning of every message.
func (p Pos) String() string {
	s := Clean(p.File)
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
	}
	if p.Entry != "" {
		s += ": entry " + Quote(p.Entry)
	}
	return s
}

// An Error is an error at a place in a session file, with a hint on what to do.
type Error struct {
	Pos  Pos
	Err  error
	Hint string
}

func (e *Error) Error() string {
	if s := e.Pos.String(); s != "" {
		return s + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error with a text formatted like fmt.Errorf. The methods In and Hinted add the file and a
// hint.
func Errorf(format string, args ...any) *Error { return &Error{Err: fmt.Errorf(format, args...)} }

func (e *Error) In(file string) *Error     { return &Error{Pos{File: file}, e.Err, e.Hint} }
func (e *Error) Hinted(hint string) *Error { return &Error{e.Pos, e.Err, hint} }

// Quote shortens text from a session for a message, to 80 bytes without control characters.
// Sessions hold secrets, and terminals obey escapes.
func Quote(s string) string {
	cut := len(s) > 80
	if cut {
		s = s[:77]
		for len(s) > 0 && s[len(s)-1] >= 0x80 {
			s = s[:len(s)-1]
		}
	}
	s = Clean(s)
	if cut {
		s += "..."
	}
	return s
}

// Clean replaces characters that a terminal would obey, or that mislead a reader, with U+FFFD: control
// characters (also line ends and tabs), escape sequences, characters that change the direction of text, and
// bytes that are not UTF-8.
func Clean(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' { // most texts have none
			return strings.Map(cleanRune, s)
		}
	}
	return s
}

func cleanRune(r rune) rune {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x061c, r == 0x200e, r == 0x200f,
		r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return '\uFFFD'
	}
	return r
}

// Coverage records how much of a session a run has read.
type Coverage struct {
	Lines   int            `json:"lines"`             // physical lines
	Entries int            `json:"entries"`           // records of the tree
	Skipped int            `json:"skipped"`           // lines without a record, except blank ones
	Blank   int            `json:"blank,omitempty"`   // blank lines
	CRLF    int            `json:"crlf,omitempty"`    // lines that end in CR LF
	Unknown map[string]int `json:"unknown,omitempty"` // entries of unknown types, by type
	strange map[string]int // line of the first entry of each unknown type
	Partial bool           `json:"partial,omitempty"` // only the end of the file was read
	passed  int            // lines of the file; a message of a document counts as one
}

// Plus returns the sum of both coverages; c may be nil.
func (c *Coverage) Plus(other *Coverage) *Coverage {
	sum := Coverage{}
	for _, one := range []*Coverage{c, other} {
		if one != nil {
			sum.add(one)
		}
	}
	return &sum
}

func (c *Coverage) add(part *Coverage) {
	for typ, line := range part.strange {
		c.first(typ, c.passed+line)
	}
	c.Lines += part.Lines
	c.passed += part.passed
	c.Entries += part.Entries
	c.Skipped += part.Skipped
	c.Blank += part.Blank
	c.CRLF += part.CRLF
	for typ, n := range part.Unknown {
		c.unknown(typ, n)
	}
}

func (c *Coverage) unknown(typ string, n int) {
	if c.Unknown == nil {
		c.Unknown = map[string]int{}
	}
	c.Unknown[typ] += n
}

// first records the line of an unknown type, unless the type has one.
func (c *Coverage) first(typ string, line int) {
	if c.strange == nil {
		c.strange = map[string]int{}
	}
	if _, ok := c.strange[typ]; !ok {
		c.strange[typ] = line
	}
}

// String describes the coverage in words.
func (c Coverage) String() string {
	entries := fmt.Sprintf("%d entries", c.Entries)
	if c.Entries == 1 {
		entries = "1 entry"
	}
	s := fmt.Sprintf("%s, %s, %d skipped", plural(c.Lines, "line"), entries, c.Skipped)
	for _, t := range slices.Sorted(maps.Keys(c.Unknown)) {
		s += fmt.Sprintf(", %d of unknown type %s", c.Unknown[t], t)
	}
	return s
}

// plural returns a count with its noun.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func newFinding(code string, line int, entry, format string, args ...any) Finding {
	return Finding{Code: code, Line: line, Entry: Quote(entry), Text: fmt.Sprintf(format, args...)}
}

// FindingAt returns a finding at record i.
func (s *Session) FindingAt(code string, i int, format string, args ...any) Finding {
	pos := s.Pos(i)
	f := newFinding(code, pos.Line, pos.Entry, format, args...)
	if pos.File != s.called {
		f.File = pos.File
	}
	return f
}

// MaxFindings is the number of findings that are kept for a file or a replay. It bounds the memory for a file
// that is damaged throughout.
const MaxFindings = 1000

// findings keeps the first MaxFindings findings, and counts the rest.
type findings struct {
	list []Finding
	more int
}

func (f *findings) add(code string, line int, entry, format string, args ...any) {
	if len(f.list) >= MaxFindings {
		f.more++
		return
	}
	f.list = append(f.list, newFinding(code, line, entry, format, args...))
}

// join adds the findings of a later part of the file.
func (f *findings) join(part findings) {
	n := min(len(part.list), MaxFindings-len(f.list))
	f.list = append(f.list, part.list[:n]...)
	f.more += len(part.list) - n + part.more
}

// all returns the findings in order of line, and how many more there were.
func (f *findings) all() []Finding {
	list := f.list
	sorting.By(list, func(a, b Finding) int { return a.Line - b.Line })
	if f.more > 0 {
		list = append(list, newFinding("more", 0, "", "%d more findings, not listed", f.more))
	}
	return list
}

// piOnly returns a text about what pi does with a file; empty for files of other agents.
func piOnly(d *dialect.Dialect, text string) string {
	if d != nil {
		return ""
	}
	return text
}

// foreignFindings adds the findings that depend on another agent's whole file: each unknown type once, and a
// newer version than the newest known if an unknown type shows that it matters.
func (s *Session) foreignFindings() error {
	for _, typ := range slices.Sorted(maps.Keys(s.Coverage.strange)) {
		what := "of the unknown type " + typ
		if typ == "" {
			what = "without a type that is known"
		}
		s.found.add("unknown-type", s.Coverage.strange[typ], "", "%s %s: kept, and in no context",
			plural(s.Coverage.Unknown[typ], "line"), what)
	}
	if s.dialect.Version == nil {
		return nil
	}
	lines := s.NewReader()
	for _, i := range []int{s.header, s.leaf} {
		if i < 0 {
			continue
		}
		raw, err := lines.Raw(i)
		if err != nil {
			return err
		}
		first, _, _ := bytes.Cut(raw, []byte{'\n'})
		version := s.dialect.Version(first).Text()
		s.wroteIt, s.wroteLast = cmp.Or(s.wroteIt, version), cmp.Or(version, s.wroteLast)
		if version != "" && dialect.Older(s.dialect.Newest, version) {
			if s.newer = version; len(s.Coverage.strange) > 0 {
				s.find("too-new", i, "%s, and writes records that are not known: its rules may differ", s.Newer())
			}
			break
		}
	}
	return nil
}

// Newer names the version that wrote the session and the newest known version, or is empty if the session's is
// not newer.
func (s *Session) Newer() string {
	if s.newer == "" {
		return ""
	}
	return fmt.Sprintf("version %s of %s wrote it, and the newest known is %s", Quote(s.newer), s.dialect.Name,
		s.dialect.Newest)
}

// Reached reports whether record i is at a finding or after it.
func (s *Session) Reached(i int, f Finding) bool {
	line := f.Line
	for k := range s.src.sections {
		switch b := &s.src.sections[k]; {
		case f.File == b.name:
			line = f.Line + b.before
		case f.File == "" && line > b.before:
			line += b.lines
		}
	}
	return int(s.records[i].line) >= line
}
