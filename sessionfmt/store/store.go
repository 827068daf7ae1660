// Package store finds session files by name or id.
package store

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Store is a folder of sessions as pi keeps them: files named STAMP_ID.jsonl, directly or in
// one folder per project (docs/session-format.md 1.2).
type Store struct {
	Dir  string
	Disk sessionfmt.Disk // where the folder is
}

// Default returns pi's folder of sessions: PI_CODING_AGENT_SESSION_DIR, else sessions in
// PI_CODING_AGENT_DIR, else ~/.pi/agent/sessions. getenv reads the environment; home is the
// user's folder, empty if unknown.
func Default(disk sessionfmt.Disk, getenv func(key string) string, home string) Store {
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
	name string // path of the file
	id   string // from the name; the header decides
	info fs.DirEntry
}

// files returns the store's sessions, in the order of their names.
func (st Store) files() ([]stored, error) {
	var all []stored
	err := st.Disk.Walk(st.Dir, func(name string, f fs.DirEntry) {
		if stem, ok := sessionStem(f.Name()); ok {
			_, id, _ := strings.Cut(stem, "_")
			all = append(all, stored{name, cmp.Or(id, stem), f})
		}
	})
	if err != nil {
		return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: st.Dir}, Err: err, Hint: "--sessions-dir sets the folder of sessions"}
	}
	return all, nil
}

// sessionStem returns the name of a session file without its extensions.
func sessionStem(name string) (string, bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return strings.CutSuffix(name, ".jsonl")
}

// Files returns the names of the store's sessions, in order.
func (st Store) Files() ([]string, error) {
	files, err := st.files()
	var names []string
	for _, f := range files {
		names = append(names, f.name)
	}
	return names, err
}

// find returns the name of the file whose session has that id, or the only one whose id begins
// with it.
func (st Store) find(id string) (string, error) {
	fault := &sessionfmt.Error{Pos: sessionfmt.Pos{File: id}, Hint: "sessions are looked up by id under " + st.Dir + "; --sessions-dir sets the folder"}
	files, err := st.files()
	if err != nil {
		fault.Err = errors.New("no such file, and no sessions to search for an id")
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
	if len(found) == 0 { // renamed files
		for _, f := range files {
			if h := ReadHeader(st.Disk, f.name); strings.HasPrefix(h.ID, id) && id != "" {
				found = append(found, f.name)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		fault.Err = errors.New("no such file, and no session's id begins with it")
	default:
		for i, name := range found {
			found[i] = filepath.Base(name)
		}
		fault.Err = fmt.Errorf("ambiguous prefix of %d session ids: %s", len(found), strings.Join(sessionfmt.FirstFew(found), ", "))
	}
	return "", fault
}

// Newest returns the name of the most recently written file whose header has the folder cwd.
func (st Store) Newest(cwd string) (string, error) {
	files, err := st.files()
	if err != nil {
		return "", err
	}
	written := map[string]time.Time{}
	for _, f := range files {
		if info, err := f.info.Info(); err == nil {
			written[f.name] = info.ModTime()
		}
	}
	byAge := func(a, b string) int { return cmp.Or(written[b].Compare(written[a]), cmp.Compare(b, a)) }
	for _, name := range slices.SortedFunc(maps.Keys(written), byAge) {
		if h := ReadHeader(st.Disk, name); h.CWD == cwd {
			return name, nil
		}
	}
	return "", &sessionfmt.Error{Pos: sessionfmt.Pos{File: st.Dir}, Err: errors.New("no session of this folder"), Hint: "name a session: a file, - for standard input, or the beginning of an id"}
}

// A HeaderInfo is the content of a session's header. Its zero value is not a header.
type HeaderInfo struct {
	ID, CWD, Timestamp string
	Parent             string // the session that it was forked from
}

// ReadHeader reads the header of a plain session file from its first line, as pi does to list
// sessions. It returns the zero value if that is not a header.
func ReadHeader(disk sessionfmt.Disk, name string) (h HeaderInfo) {
	f, err := disk.Open(name)
	if err != nil {
		return h
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 4<<10).ReadSlice('\n')
	if err != nil && len(line) == 0 {
		return h
	}
	head, bad := jsonl.NewHeadReader(jsonl.Pick{}).Read(line)
	if bad != nil || head.Kind != jsonl.Header {
		return h
	}
	var more [2]jsonl.Value
	head.Line.Fields(more[:], "cwd", "parentSession")
	return HeaderInfo{head.ID.Text(), more[0].Text(), head.Timestamp.Text(), more[1].Text()}
}

// SplitPoint splits SESSION@POINT at its last @, unless the whole names a file.
func SplitPoint(disk sessionfmt.Disk, arg string) (session, point string) {
	at := strings.LastIndexByte(arg, '@')
	if at <= 0 || disk.Has(arg) {
		return arg, ""
	}
	return arg[:at], arg[at+1:]
}

// Locate returns the name of the file that a SESSION argument means: an existing file, - for
// standard input, or a session's id or its beginning.
func (st Store) Locate(arg string) (string, error) {
	if arg == "-" || st.Disk.Has(arg) {
		return arg, nil
	}
	if arg == "" || strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".jsonl") {
		return arg, nil // meant as a file: opening it says what is wrong
	}
	return st.find(arg)
}
