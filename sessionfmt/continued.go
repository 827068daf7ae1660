package sessionfmt

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// mostBases is how many files a session may continue, one after the other.
const mostBases = 1000

// bases returns the files that the session with a name continues, the oldest first, by its first
// object. before reports whether their lines come before that.
func (id *identity) bases(name string, first jsonl.Value, opt Options) (chain []part, before bool, err error) {
	if id.dialect == nil || id.dialect.Base == nil {
		return nil, false, nil
	}
	seen := map[string]bool{name: true}
	for {
		b, ok := id.dialect.Base(first)
		if !ok {
			break
		}
		next, err := id.findBase(name, b, opt)
		if err == nil && (seen[next] || len(chain) == mostBases) {
			err = fmt.Errorf("it continues %s, which continues it", Quote(b.ID))
		}
		var p part
		if err == nil {
			p, first, err = openBase(next, b, opt)
		}
		if err != nil && b.Optional {
			break
		}
		if err != nil {
			return chain, false, err
		}
		chain, name, seen[next] = append(chain, p), next, true
		before = before || b.All
	}
	slices.Reverse(chain)
	return chain, before, nil
}

// openBase opens a file that another one continues. Its first line comes with it.
func openBase(name string, b dialect.Base, opt Options) (part, jsonl.Value, error) {
	src, err := opt.Disk.fetch(name, nil)
	if err != nil {
		return part{}, nil, atFile(name, err)
	}
	first, _ := firstLine(src)
	if first == nil {
		src.close()
		return part{}, nil, atFile(name, ErrNotSession)
	}
	keep := b.Keep
	if b.All && endsLine(src, src.size) {
		keep = src.size
	}
	if keep <= 0 || keep > src.size || !endsLine(src, keep) {
		keep = src.linesBelow(b.Upto)
	}
	if opt.Through != nil {
		changed, err := through(src.packing, io.NewSectionReader(src.bytes, 0, keep), opt.Through)
		src.close()
		if err != nil {
			return part{}, nil, atFile(name, err)
		}
		src, keep = changed, changed.size
	}
	return part{name: opt.calls(name), src: src, keep: keep}, first, nil
}

// endsLine reports whether a line ends at an offset.
func endsLine(src *source, at int64) bool {
	var last [1]byte
	return readFullAt(src.bytes, last[:], at-1) == nil && last[0] == '\n'
}

// linesBelow returns the length of the lines before the first one whose ordinal is not below a number, bytes.
func (s *source) linesBelow(ordinal int64) (keep int64) {
	number := int64(0)
	for end, line := range s.eachLine {
		if line != nil {
			n := number
			if given := line.Get("ordinal"); given.IsNumber() {
				n = given.Int()
			}
			if n >= ordinal {
				break
			}
		}
		if !endsLine(s, end) {
			break
		}
		keep, number = end, number+1
	}
	return keep
}

// findBase returns the name of the file that holds a session which another one continues: beside that, or in
// the folders around it, or where opt looks.
func (id *identity) findBase(name string, b dialect.Base, opt Options) (string, error) {
	matches := func(file string) bool {
		stem, ok := strings.CutSuffix(sessionName(file), ".jsonl")
		return ok && (stem == b.ID || strings.HasSuffix(stem, "-"+b.ID) || strings.HasSuffix(stem, "_"+b.ID))
	}
	var found []string
	see := func(file string, _ fs.DirEntry) {
		if matches(filepath.Base(file)) && opt.Disk.isRegular(file) {
			found = append(found, file)
		}
	}
	dir := filepath.Dir(name)
	if b.Beside {
		beside := filepath.Join(dir, b.ID+".jsonl")
		if !opt.Disk.isRegular(beside) || b.ID != filepath.Base(b.ID) {
			return "", fs.ErrNotExist
		}
		return beside, nil
	}
	for up, n := dir, 0; len(found) == 0 && n < 3; up, n = filepath.Dir(up), n+1 {
		near, _ := os.ReadDir(opt.Disk.Path(up))
		for _, f := range near {
			see(filepath.Join(up, f.Name()), f)
		}
	}
	for up := dir; len(found) == 0 && up != filepath.Dir(up); up = filepath.Dir(up) {
		if b := filepath.Base(up); b == "sessions" || b == "archived_sessions" {
			opt.Disk.Walk(filepath.Dir(up), see)
		}
	}
	if len(found) == 0 && opt.Lookup != nil {
		found = opt.Lookup(id.dialect, b.ID)
	}
	slices.Sort(found) // a plain file before a packed one
	if len(found) > 0 {
		return found[0], nil
	}
	hint := "put the file of that session beside it"
	if b.Upto > 0 && !b.All {
		hint += ": it has " + plural(int(b.Upto), "line") + " of this one"
	}
	return "", &Error{Pos: Pos{File: name, Line: 1},
		Err: fmt.Errorf("it continues session %s, and no file of that name is beside it or in the agent's folder",
			Quote(b.ID)), Hint: hint}
}
