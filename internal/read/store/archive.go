package store

import (
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"path/filepath"
	"strings"
	"time"
)

// Archive returns the store with an archive: a folder that has copies of its files, in the folders that
// agents have in the folder of a user (see Place). What is in both counts once, as it is now.
func (st Store) Archive(dir string) Store {
	if dir != "" {
		st.folders = append(st.folders[:len(st.folders):len(st.folders)], folder{dir: dir, archive: true})
	}
	return st
}

// Place returns the name in an archive of a file that is to be kept: where its agent would look for it,
// were the archive the folder of the user. The place of any other file is its own name.
func (st Store) Place(name string) string {
	name = st.absolute(name)
	if d, dir := st.AgentOf(name); d != nil {
		below, _ := below(dir, name)
		return filepath.Join(d.Store.Home, below)
	}
	if below, ok := below(st.home, name); ok && st.home != "" {
		return below
	}
	return strings.TrimLeft(strings.ReplaceAll(name, ":", ""), `/\`)
}

// AgentOf returns the agent that keeps its sessions where a file is, and the agent's folder; nil for pi, and
// for none.
func (st Store) AgentOf(name string) (d *dialect.Dialect, dir string) {
	name = st.absolute(name)
	for _, in := range st.folders {
		folder := st.absolute(in.dir)
		if _, ok := below(folder, name); !ok || in.by == nil {
			continue
		}
		for _, f := range in.by.Store.Folders {
			if dir, ok := strings.CutSuffix(folder, string(filepath.Separator)+f); ok {
				return in.by, dir
			}
		}
	}
	return nil, ""
}

// below returns the name of a file below a folder.
func below(dir, name string) (string, bool) {
	rel, err := filepath.Rel(dir, name)
	return rel, err == nil && filepath.IsLocal(rel)
}

// agentAt returns the agent that would look for a file there, were a folder that of a user; nil for none.
func agentAt(dir, name string) *dialect.Dialect {
	rel, _ := below(dir, name)
	for _, d := range sessionfmt.Dialects() {
		for _, f := range d.Store.Folders {
			place := filepath.Join(d.Store.Home, f)
			rest, ok := strings.CutPrefix(rel, place)
			if ok && (rest == "" || rest == sessionfmt.PackedEnd || rest[0] == filepath.Separator) {
				return d
			}
		}
	}
	return nil
}

// File returns the name of the file that has the session: that of its database, if it is in one.
func (f *File) File() string {
	if f.row != nil {
		return filepath.Dir(f.Name)
	}
	return f.Name
}

// SubAgent reports whether the file is that of a sub-agent, as far as its name or its database tells.
func (f *File) SubAgent() bool { return f.sub }

// Written returns when the file was written to last; the zero time if that is not known.
func (f *File) Written() time.Time {
	at, _ := f.written()
	return at
}

// once leaves out what an archive has of sessions that are also where their agent keeps them, and all but
// the last state of those that it has in several places.
func (st Store) once(all []File) []File {
	archive := -1
	for k, in := range st.folders {
		if in.archive {
			archive = k
		}
	}
	if archive < 0 {
		return all
	}
	dir := st.folders[archive].dir
	had := map[string]int{} // in the list that is left
	left := all[:0]
	for _, f := range all {
		place := f.File()
		if f.Dir == dir {
			place, _ = below(dir, place)
		} else {
			place = st.Place(place)
		}
		key := filepath.ToSlash(plainName(place))
		if f.row != nil {
			key += "/" + f.id
		} else if !f.part { // an agent may have moved it
			key = filepath.Base(key)
		}
		key = f.by.Agent() + " " + key
		k, again := had[key]
		switch {
		case !again || f.Dir != dir:
			had[key] = len(left)
			left = append(left, f)
		case left[k].Dir == dir && f.Written().After(left[k].Written()):
			left[k] = f
		}
	}
	return left
}
