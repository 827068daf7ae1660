// Package unread knows the agents whose sessions are not read: where they keep them, and by what their files are told.
package unread

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An Agent is one whose sessions, or other files that people take for sessions, are not read.
type Agent struct {
	Name    string
	Folders []string    // that only its files are in: names, or several of them with slashes
	Names   []string    // of its files
	Files   []Signature // what its files begin with
	Tables  []string    // of a database; all of an element, separated by spaces, are in it
	Stores  []Store
	Hint    string // what can be done; empty for nothing
	Source  string // of the row: the version that was run, or documentation
}

// A Signature recognizes an agent's files by their beginning.
type Signature struct {
	Begins string // the first bytes
	// Fields are those of the first object and, after a dot, of an object in it; after = is the whole text of a field,
	// after ^ its beginning.
	Fields []string
}

// A Store is a place where an agent keeps sessions.
type Store struct {
	Variable string // of the environment, that names the agent's folder
	// Home is the name of that in the user's folder where the variable is not set, empty for none. XDG_DATA_HOME and
	// XDG_CONFIG_HOME name the beginning of it, as agents look there.
	Home   string
	Folder string // in it: a folder with sessions, or the file that has them
	Each   string // a pattern of names below Folder, one for each session; empty where names do not count them
}

// Of returns the agent that a file is of, by its name, its first object and its first bytes; nil for none.
func Of(name string, first jsonl.Value, begin []byte) *Agent {
	dir, base := path.Split(filepath.ToSlash(name))
	dir = "/" + dir
	return find(func(a *Agent) bool {
		return slices.Contains(a.Names, base) ||
			slices.ContainsFunc(a.Folders, func(f string) bool { return strings.Contains(dir, "/"+f+"/") }) ||
			slices.ContainsFunc(a.Files, func(s Signature) bool { return s.fits(first, begin) })
	})
}

// OfTables returns the agent that a database is of; nil for none. has reports whether the database has a table.
func OfTables(has func(table string) bool) *Agent {
	return find(func(a *Agent) bool {
		return slices.ContainsFunc(a.Tables, func(all string) bool {
			return !slices.ContainsFunc(strings.Fields(all), func(t string) bool { return !has(t) })
		})
	})
}

func find(is func(a *Agent) bool) *Agent {
	for k := range agents {
		if is(&agents[k]) {
			return &agents[k]
		}
	}
	return nil
}

func (s *Signature) fits(first jsonl.Value, begin []byte) bool {
	if s.Begins != "" {
		return strings.HasPrefix(string(begin), s.Begins)
	}
	for _, field := range s.Fields {
		at := strings.IndexAny(field, "=^")
		if at < 0 {
			at = len(field)
		}
		is, want := first.First(strings.Split(field[:at], ".")...), field[at:]
		switch {
		case !is.Exists(),
			strings.HasPrefix(want, "=") && !is.Is(want[1:]),
			strings.HasPrefix(want, "^") && !strings.HasPrefix(is.Text(), want[1:]):
			return false
		}
	}
	return true
}

// A Found is a store that exists.
type Found struct {
	Folder   string `json:"-"`                  // of its sessions, or the file that has them
	Agent    string `json:"agent"`              // that keeps its sessions there
	Sessions int    `json:"sessions,omitempty"` // absent where it takes more than names of files to count them
	Hint     string `json:"hint"`               // what can be done
}

// Find returns the stores that have sessions. getenv reads the environment; home is the user's folder, empty if
// unknown; on makes names absolute.
func Find(getenv func(key string) string, home string, on func(name string) string) (all []Found) {
	for k := range agents {
		a := &agents[k]
		for _, s := range a.Stores {
			dir := s.dir(getenv, home)
			if dir == "" {
				continue
			}
			place := on(filepath.Join(dir, s.Folder))
			if _, err := os.Stat(place); err != nil {
				continue
			}
			f := Found{Agent: a.Name, Folder: place, Hint: a.Hint}
			if s.Each != "" {
				names, _ := fs.Glob(os.DirFS(place), s.Each) // what cannot be listed has none
				f.Sessions = len(names)
			}
			if f.Sessions > 0 || s.Each == "" {
				all = append(all, f)
			}
		}
	}
	return all
}

// dir returns the agent's folder, empty for none.
func (s *Store) dir(getenv func(key string) string, home string) string {
	if s.Variable != "" {
		if dir := getenv(s.Variable); dir != "" {
			return dir
		}
	}
	if s.Home == "" {
		return ""
	}
	for at, variable := range map[string]string{".local/share/": "XDG_DATA_HOME", ".config/": "XDG_CONFIG_HOME"} {
		if rest, ok := strings.CutPrefix(s.Home, at); ok && filepath.IsAbs(getenv(variable)) {
			return filepath.Join(getenv(variable), rest)
		}
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, s.Home)
}
