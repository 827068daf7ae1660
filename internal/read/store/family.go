package store

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ctxtool/internal/base/sorting"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Family returns the files of the sub-agents of a session, at any depth, by name. It looks where the
// session's agent keeps them. A sub-agent has no family: its own sub-agents belong to its session.
func Family(disk sessionfmt.Disk, name string) (files []string) {
	if name == "-" {
		return nil
	}
	h := ReadHeader(disk, name)
	switch {
	case h.ID == "" || h.by == nil || h.Owner != "":
		return nil
	case h.by.Nests == nil && h.by.Owner == nil:
		return nil
	case h.by.Nests == nil:
		return children(disk, filepath.Dir(name), h.ID)
	}
	if filepath.Base(h.ID) != h.ID || !filepath.IsLocal(h.ID) {
		return nil // it names no folder
	}
	if abs, err := filepath.Abs(disk.Path(name)); err == nil {
		name = abs
	}
	in := map[string]bool{h.ID: true} // ids of the session and its sub-agents
	written := writtenAt(disk, name)
	for _, c := range candidates(disk, h.by, name, h.ID) {
		if c.May != nil && !c.May(c.name, written) || c.name == name {
			continue
		}
		sub := ReadHeader(disk, c.name)
		switch broken := sub == (HeaderInfo{}) && c.Own && !empty(disk, c.name); {
		case broken: // opening it reports why
		case sub.by != h.by || !in[sub.Owner]:
			continue
		default:
			in[sub.ID] = true
		}
		files = append(files, c.name)
		if at := writtenAt(disk, c.name); at.After(written) {
			written = at
		}
	}
	return files
}

// children returns the names of the sessions of a database that are below another one.
func children(disk sessionfmt.Disk, file, id string) (names []string) {
	below := map[string][]string{}
	err := sessionfmt.InDatabase(disk, file, func(name string, row jsonl.Value, by *dialect.Dialect, _ bool) {
		if owner := by.OwnerOf(name, row); owner != "" {
			below[owner] = append(below[owner], name)
		}
	})
	if err != nil {
		return nil // opening the session reports why
	}
	seen := map[string]bool{id: true}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		for _, name := range below[next[0]] {
			if child := filepath.Base(name); !seen[child] {
				seen[child] = true
				names, next = append(names, name), append(next, child)
			}
		}
	}
	slices.Sort(names)
	return names
}

// A candidate is a file that may be that of a sub-agent.
type candidate struct {
	name string
	dialect.Nest
}

// candidates returns the files in which an agent may keep the sub-agents of a session, by their own names: so agents
// that began later come later.
func candidates(disk sessionfmt.Disk, by *dialect.Dialect, session, id string) (all []candidate) {
	for _, nest := range by.Nests(session, id) {
		see := func(name string, _ fs.DirEntry) {
			plain := plainName(name)
			ext := filepath.Ext(plain)
			if (ext == ".jsonl" || ext == documentEnd && by.Document != nil) && (plain == name || !disk.Has(plain)) {
				all = append(all, candidate{name, nest})
			}
		}
		if nest.Deep {
			disk.Walk(nest.Dir, see) // a folder that is missing has none
			continue
		}
		files, _ := os.ReadDir(disk.Path(nest.Dir))
		for _, f := range files {
			if !f.IsDir() {
				see(filepath.Join(nest.Dir, f.Name()), f)
			}
		}
	}
	sorting.By(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(filepath.Base(a.name), filepath.Base(b.name)), cmp.Compare(a.name, b.name))
	})
	return slices.CompactFunc(all, func(a, b candidate) bool { return a.name == b.name })
}

// empty reports whether a file has no bytes yet.
func empty(disk sessionfmt.Disk, name string) bool {
	info, err := disk.Stat(name)
	return err == nil && info.Size() == 0
}

// writtenAt returns when a file was written to last.
func writtenAt(disk sessionfmt.Disk, name string) (at time.Time) {
	if info, err := disk.Stat(name); err == nil {
		at = info.ModTime()
	}
	return at
}
