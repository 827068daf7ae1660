package cline

import (
	"bytes"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/dialect"
)

// Limits of what Cline sends as it stands. Beyond them it shortens more than one text by one rule, or by what it sent
// before in the same process: that is not rebuilt.
const (
	mostSent     = 6_000_000 // of all texts of a request, bytes
	mostAnswer   = 12_000    // of an answer with calls spelled out in its text, UTF-16 units
	mostOutdated = 64 << 10  // of results whose files were read again since, bytes
)

// reads are what was read of files.
type reads struct {
	last     map[uint64]int             // how long the last result is, by path and lines
	parts    map[uint64]map[uint64]bool // those of one path
	outdated int                        // bytes of results that are not the last of theirs
}

// add adds what a message read, and reports whether what is outdated by now may be replaced.
func (r *reads) add(keys []byte) bool {
	if r.last == nil {
		r.last, r.parts = map[uint64]int{}, map[uint64]map[uint64]bool{}
	}
	for line := range bytes.Lines(keys) {
		f := strings.Fields(string(line))
		path, _ := strconv.ParseUint(f[0], 36, 64)
		key, _ := strconv.ParseUint(f[1], 36, 64)
		size, _ := strconv.Atoi(f[2])
		r.forget(key)
		for part := range r.parts[path] {
			if key == path { // all of the file
				r.forget(part)
			}
		}
		r.last[key] = size
		if r.parts[path] == nil {
			r.parts[path] = map[uint64]bool{}
		}
		r.parts[path][key] = true
	}
	return r.outdated >= mostOutdated
}

func (r *reads) forget(key uint64) {
	r.outdated += r.last[key]
	delete(r.last, key)
}

// readKeys appends what a result of a tool read: a line for each file with its path, the path with the lines, and the
// length of the result, bytes.
func readKeys(keys []byte, b *block) []byte {
	if !b.name.Is("read_files") && !b.name.Is("read") || b.failed.Truthy() {
		return keys
	}
	for part := range b.content.Elements {
		keys = appendKey(keys, part.Get("query").Text(), len(part))
	}
	return keys
}

func appendKey(keys []byte, query string, size int) []byte {
	path := query
	if at := strings.LastIndexByte(query, ':'); at > 0 && strings.Trim(query[at+1:], "0123456789-EOF") == "" {
		path = query[:at]
	}
	for _, text := range []string{path, query} {
		keys = append(strconv.AppendUint(keys, dialect.Key(text), 36), ' ')
	}
	return append(strconv.AppendInt(keys, int64(min(size, 3*mostOfResult)), 10), '\n')
}
