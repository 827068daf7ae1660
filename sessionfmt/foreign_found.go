package sessionfmt

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/dialect"
)

// piOnly is a text that tells what pi does with a file, empty for another agent's.
func piOnly(d *dialect.Dialect, text string) string {
	if d != nil {
		return ""
	}
	return text
}

// foreignFindings adds the findings of another agent's whole file: each unknown type once, and
// a version that is newer than the newest known.
func (s *Session) foreignFindings() error {
	for _, typ := range slices.Sorted(maps.Keys(s.Coverage.strange)) {
		what := "of the unknown type " + typ
		if typ == "" {
			what = "without a type that is known"
		}
		s.found.add("unknown-type", s.Coverage.strange[typ], "", "%s %s: kept, and in no context", plural(s.Coverage.Unknown[typ], "line"), what)
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
		if version := s.dialect.Version(first).Text(); newer(version, s.dialect.Newest) {
			s.find("too-new", i, "version %s of %s wrote it, and the newest known is %s: its rules may differ", Quote(version), s.dialect.Name, s.dialect.Newest)
			break
		}
	}
	return nil
}

// newer reports whether a version is newer than another: numbers with dots between them.
func newer(version, than string) bool {
	return version != "" && slices.CompareFunc(strings.Split(version, "."), strings.Split(than, "."), func(a, b string) int {
		m, _ := strconv.Atoi(a)
		n, _ := strconv.Atoi(b)
		return cmp.Compare(m, n)
	}) > 0
}

// Reached reports whether record i stands where a finding is, or after it.
func (s *Session) Reached(i int, f Finding) bool {
	line := f.Line
	for k := range s.base {
		switch b := &s.base[k]; {
		case f.File == b.name:
			line = f.Line + b.before
		case f.File == "" && line > b.before:
			line += b.lines
		}
	}
	return int(s.records[i].line) >= line
}
