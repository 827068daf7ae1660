package redact

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// minName is the minimum length of a person's name that is replaced outside of paths too, in bytes.
const minName = 3

// learnName records a name that a home directory has, to find it everywhere.
func (s *Scanner) learnName(name string) {
	if s.r.opt.Names && s.found != nil && len(name) >= minName {
		s.found[strings.Clone(name)] = s.r.home
	}
}

// isExact reports whether text[start:end] is an exact value. A name may have another case, and is a whole word.
func (s *Scanner) isExact(u *use, text []byte, start, end int) bool {
	if u.rule == s.r.home {
		return isWhole(text, start, end) && hasFolded(text[start:end], lowerASCII(u.exact))
	}
	return string(text[start:end]) == u.exact && (!s.r.short(u.rule, len(u.exact)) || isWhole(text, start, end))
}

// Persons returns the names of home directories that were found.
func (t *Tally) Persons() []string { return t.persons }

// persons returns the names that a run has found, in order.
func (x *Run) persons() []string { return slices.Sorted(maps.Keys(x.s.known)) }

// CountNames returns how often names stand in a text as whole words, in any case. The error is that of the reader.
func CountNames(from io.Reader, names []string) (n int, err error) {
	var all []string // in small letters
	longest := 0
	for _, name := range names {
		if len(name) >= minName {
			all, longest = append(all, lowerASCII(name)), max(longest, len(name))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return 0, nil
	}
	buf := make([]byte, 256<<10)
	for kept := 0; ; {
		read, err := io.ReadFull(from, buf[kept:])
		end := kept + read
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return n, err
		}
		stop := end
		if !last { // the rest of a line, or of what is left of it
			stop = max(bytes.LastIndexByte(buf[:end], '\n')+1, end-longest-1)
		}
		for _, name := range all {
			pair := jsonl.Pair{A: name[0], B: name[1], MaskA: 0x20, MaskB: 0x20}
			for at := pair.Index(buf[:stop], 0); at < stop; at = pair.Index(buf[:stop], at+1) {
				if hasFolded(buf[at:stop], name) && isWhole(buf[:end], at, at+len(name)) {
					n++
				}
			}
		}
		if last {
			return n, nil
		}
		kept = copy(buf, buf[stop:end])
	}
}
