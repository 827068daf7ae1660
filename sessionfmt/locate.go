package sessionfmt

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Store is a folder of sessions as pi keeps them: files named
// STAMP_ID.jsonl, in it or in one folder a project (spec/pi-1.5.md 2).
type Store struct {
	Dir  string
	Disk Disk // where that folder is
}

// DefaultStore is the folder where pi looks: what PI_CODING_AGENT_SESSION_DIR
// names, else sessions in PI_CODING_AGENT_DIR, else ~/.pi/agent/sessions. getenv reads
// the environment; home is the user's folder, empty where there is none.
func DefaultStore(disk Disk, getenv func(key string) string, home string) Store {
	dir := getenv("PI_CODING_AGENT_SESSION_DIR")
	if agent := getenv("PI_CODING_AGENT_DIR"); dir == "" && agent != "" {
		dir = filepath.Join(agent, "sessions")
	} else if dir == "" {
		dir = "~/.pi/agent/sessions"
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		dir = filepath.Join(home, rest)
	}
	return Store{dir, disk}
}

// A stored session is a file of a store.
type stored struct {
	name string // with its folders
	id   string // by its name; the header has the last word
	info fs.DirEntry
}

// files are the store's sessions, in the order of their names.
func (st Store) files() ([]stored, error) {
	var all []stored
	err := st.Disk.walk(st.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == st.Dir {
				return plainPathError(err)
			}
			return nil // a folder that cannot be read hides nothing else
		}
		stem, ok := sessionStem(d.Name())
		if ok && !d.IsDir() {
			_, id, _ := strings.Cut(stem, "_")
			all = append(all, stored{name, firstOf(id, stem), d})
		}
		return nil
	})
	if err != nil {
		return nil, &Error{Pos: Pos{File: st.Dir}, Err: err, Hint: "--sessions-dir names another folder of sessions"}
	}
	return all, nil
}

// sessionStem is the name of a session file without what says so, compressed or not.
func sessionStem(name string) (string, bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.CutSuffix(name, ".jsonl")
}

// Files are the names of the store's sessions, in order.
func (st Store) Files() ([]string, error) {
	files, err := st.files()
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	return names, err
}

// find is the name of the file whose session has that id, or the one whose id
// begins with it.
func (st Store) find(id string) (string, error) {
	fault := &Error{Pos: Pos{File: id}, Hint: "sessions are looked up by id under " + st.Dir + "; --sessions-dir names another folder"}
	files, err := st.files()
	if err != nil {
		fault.Err = errors.New("no such file, and there are no sessions to look it up in")
		return "", fault
	}
	var found []string
	for _, f := range files {
		if f.id == id {
			return f.name, nil
		}
		if strings.HasPrefix(f.id, id) {
			found = append(found, f.name)
		}
	}
	if len(found) == 0 { // files that were renamed
		for _, f := range files {
			if h := st.Disk.ReadHeader(f.name); strings.HasPrefix(h.ID, id) && id != "" {
				found = append(found, f.name)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		fault.Err = errors.New("no such file, and no session's id begins with it")
	default:
		fault.Err = fmt.Errorf("begins the ids of %d sessions: %s", len(found), strings.Join(baseNames(found), ", "))
	}
	return "", fault
}

func baseNames(names []string) []string {
	var bases []string
	for _, n := range names {
		bases = append(bases, filepath.Base(n))
	}
	return firstFew(bases)
}

// Newest is the name of the file that was written last of those whose header
// reports that they belong to the folder cwd.
func (st Store) Newest(cwd string) (string, error) {
	files, err := st.files()
	if err != nil {
		return "", err
	}
	type dated struct {
		name string
		at   int64
	}
	var all []dated
	for _, f := range files {
		if info, err := f.info.Info(); err == nil {
			all = append(all, dated{f.name, info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b dated) int {
		if a.at != b.at {
			return int(min(1, max(-1, b.at-a.at)))
		}
		return strings.Compare(b.name, a.name)
	})
	for _, f := range all {
		if h := st.Disk.ReadHeader(f.name); h.CWD == cwd {
			return f.name, nil
		}
	}
	return "", &Error{Pos: Pos{File: st.Dir}, Err: errors.New("no session of this folder"), Hint: "name a session: a file, - for standard input, or the beginning of an id"}
}

// A HeaderInfo is what a session's header says. Its zero value is no header.
type HeaderInfo struct {
	ID, CWD, Timestamp string
	Parent             string // the session that it was forked from
}

// ReadHeader reads the header of a plain session file: its first line, as pi
// does to list sessions, or nothing where that is no header.
func (d Disk) ReadHeader(name string) (h HeaderInfo) {
	f, err := d.Open(name)
	if err != nil {
		return h
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 4<<10).ReadSlice('\n')
	if err != nil && len(line) == 0 {
		return h
	}
	head, bad := newHeadReader().read(line)
	if bad != nil || head.Kind != Header {
		return h
	}
	var more [2]Value
	Value(trimJSON(line)).Fields(more[:], "cwd", "parentSession")
	return HeaderInfo{head.ID.Text(), more[0].Text(), head.Timestamp.Text(), more[1].Text()}
}

// SplitPoint splits SESSION@POINT at its last @, unless the whole names a file.
func (d Disk) SplitPoint(arg string) (session, point string) {
	at := strings.LastIndexByte(arg, '@')
	if at <= 0 || d.Has(arg) {
		return arg, ""
	}
	return arg[:at], arg[at+1:]
}

// Locate is the name of the file that a SESSION argument means: a file that is
// there, - for standard input, or a session's id or its beginning.
func (st Store) Locate(arg string) (string, error) {
	if arg == "-" || st.Disk.Has(arg) {
		return arg, nil
	}
	if arg == "" || strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".jsonl") {
		return arg, nil // meant as a file: opening it says what is wrong
	}
	return st.find(arg)
}

// A Disk is where files are read and written by name. Its zero value is the machine's own
// as the process sees it.
type Disk struct {
	Dir  string               // where relative names start; the process's working directory when empty
	Sync func(*os.File) error // makes what was written last; File.Sync when nil

	// Temporary, if set, is told of each temporary file that is made, and when it is
	// there no more: who ends the process before removes it. It is called by several
	// goroutines.
	Temporary func(name string, there bool)
}

func (d Disk) temporary(name string, there bool) {
	if d.Temporary != nil {
		d.Temporary(name, there)
	}
}

// Path is the name by which the process finds a file, for what takes no Disk.
func (d Disk) Path(name string) string {
	if d.Dir == "" || name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.Dir, name)
}

// Open opens a file for reading.
func (d Disk) Open(name string) (*os.File, error) { return os.Open(d.Path(name)) }

// ReadFile is all of a file.
func (d Disk) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.Path(name)) }

// Stat describes the file that name leads to.
func (d Disk) Stat(name string) (os.FileInfo, error) { return os.Stat(d.Path(name)) }

// Lstat describes what has the name, which may be a symbolic link.
func (d Disk) Lstat(name string) (os.FileInfo, error) { return os.Lstat(d.Path(name)) }

// MkdirAll makes a folder, and those above it.
func (d Disk) MkdirAll(name string) error { return os.MkdirAll(d.Path(name), 0o777) }

// Remove removes a file.
func (d Disk) Remove(name string) error { return os.Remove(d.Path(name)) }

// Has reports whether there is a file or a folder called name.
func (d Disk) Has(name string) bool {
	_, err := d.Stat(name)
	return err == nil
}

// walk is filepath.WalkDir, with the names below root beginning as root does.
func (d Disk) walk(root string, visit fs.WalkDirFunc) error {
	at := d.Path(root)
	if at == root {
		return filepath.WalkDir(root, visit)
	}
	return filepath.WalkDir(at, func(name string, e fs.DirEntry, err error) error {
		if name == at {
			return visit(root, e, err)
		}
		return visit(filepath.Join(root, strings.TrimPrefix(name, at)), e, err)
	})
}

func (d Disk) sync(f *os.File) error {
	if d.Sync != nil {
		return d.Sync(f)
	}
	return f.Sync()
}
