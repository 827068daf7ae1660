package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/internal/base/abbrev"
	"ctxtool/internal/read/unread"
	"ctxtool/sessionfmt"
)

// where tells where sessions are looked up, for hints.
func (st Store) where() string {
	var parts []string
	if dirs := slices.DeleteFunc(st.Folders(), func(dir string) bool {
		return !st.named &&
			!st.Disk.Has(dir)
	}); len(dirs) > 0 {
		parts = append(parts, "sessions are looked up by id in "+strings.Join(dirs, ", "))
	}
	if len(st.missing) > 0 {
		var agents []string
		for _, in := range st.missing {
			agents = append(agents, in.by.Agent())
		}
		parts = append(parts, "there is no folder of "+strings.Join(agents, ", "))
	}
	return strings.Join(append(parts, "--sessions-dir names another folder"), "; ")
}

// lacks records a folder where an agent with folders to look for has none, if there are no more than
// had.
func (st *Store) lacks(had int, in folder) {
	if len(st.folders) > had || in.by != nil && len(in.by.Store.Folders) == 0 {
		return
	}
	if in.by != nil {
		in.dir = filepath.Join(in.dir, in.by.Store.Folders[0])
	}
	st.missing = append(st.missing, in)
}

// none returns the error of a store in which no agent has a folder.
func (st Store) none() error {
	var looked []string
	for _, in := range st.missing {
		looked = append(looked, fmt.Sprintf("%s (%s)", in.dir, in.by.Agent()))
	}
	err := sessionfmt.Errorf("no agent has sessions here")
	if found := st.Unread(); len(found) > 0 {
		var unread []string
		for _, f := range found {
			unread = append(unread, fmt.Sprintf("%s (%s)", f.Folder, f.Agent))
		}
		err = sessionfmt.Errorf("no agent has sessions here that can be read; not read: %s", strings.Join(unread, ", "))
	}
	return err.
		Hinted("looked for " + strings.Join(looked, ", ") + "; --sessions-dir names another folder")
}

// Unread returns the stores of agents whose sessions are not read. A folder that was named has none.
func (st Store) Unread() []unread.Found {
	if st.unread == nil {
		return nil
	}
	return st.unread()
}

// find returns the name of the file whose session has that id, or the only one whose id begins
// with it. A colon and a number after it choose among files with one id.
func (st Store) find(ref string) (string, error) {
	fault := &sessionfmt.Error{Pos: sessionfmt.Pos{File: ref}, Hint: st.where()}
	id, number, _ := strings.Cut(ref, ":")
	nth, err := strconv.Atoi(number)
	if err != nil {
		id = ref
	}
	files, err := st.files()
	if err != nil {
		fault.Err = errors.New("no such file, and no sessions to search for an id")
		return "", fault
	}
	var same, parts, found []File // with that id, those of sub-agents, whose id begins with it
	whole := ""                   // the id, where all of them have one
	for _, f := range files {
		switch {
		case f.id == id && f.part:
			parts = append(parts, f)
		case f.id == id:
			same = append(same, f)
		case strings.HasPrefix(f.id, id) && id != "":
			if found = append(found, f); len(found) == 1 {
				whole = f.id
			} else if f.id != whole {
				whole = ""
			}
		}
	}
	switch {
	case len(same) == 0 && len(parts) > 0:
		same = parts[:1]
	case len(same) == 0 && whole != "":
		same = found
	}
	switch {
	case nth > 0 && nth <= len(same):
		return same[nth-1].Name, nil
	case len(same) == 1:
		return same[0].Name, nil
	case len(same) > 1:
		fault.Err = fmt.Errorf("%d sessions have that id", len(same))
		var refs []string
		for k, f := range same {
			refs = append(refs, fmt.Sprintf("%s:%d (%s)", id, k+1, f.by.Agent()))
		}
		fault.Hint = "name one of " + strings.Join(sessionfmt.FirstFew(refs), ", ")
		return "", fault
	}
	if len(found) == 0 { // renamed files
		for _, f := range files {
			if h := f.header(st.Disk); !f.part && strings.HasPrefix(h.ID, id) && id != "" {
				found = append(found, f)
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0].Name, nil
	case 0:
		fault.Err = errors.New("no such file, and no session's id begins with it")
	default:
		var names []string
		for _, f := range found {
			names = append(names, filepath.Base(f.Name))
		}
		fault.Err = fmt.Errorf("ambiguous prefix of %d session ids: %s", len(names),
			strings.Join(sessionfmt.FirstFew(names), ", "))
	}
	return "", fault
}

// Short returns the shortest beginning of a session's id that Locate finds its file by, of at least
// 8 bytes, with the file's number if it shares the id with others, or "" if the file is not in the
// store. st is of Once.
func (st Store) Short(name string) string {
	name = st.absolute(name)
	if !slices.ContainsFunc(st.folders, func(in folder) bool {
		_, ok := below(st.absolute(in.dir), name)
		return ok
	}) {
		return "" // nothing need be listed
	}
	st.listing.names.Do(st.shorten)
	return st.listing.short[name]
}

// LeastShort is how much of an id is printed at least, bytes.
const LeastShort = 8

func (st Store) shorten() {
	files, _ := st.files()
	var ids []string
	same := map[string]int{}
	for _, f := range files {
		ids = append(ids, f.id)
		if !f.part {
			same[f.id]++
		}
	}
	short, _ := abbrev.Of(slices.Compact(slices.Sorted(slices.Values(ids))), LeastShort)
	st.listing.short = map[string]string{}
	nth := map[string]int{}
	for _, f := range files {
		if f.part {
			continue
		}
		ref := short(f.id)
		if nth[f.id]++; same[f.id] > 1 {
			ref = fmt.Sprintf("%s:%d", ref, nth[f.id])
		}
		st.listing.short[st.absolute(f.Name)] = ref
	}
}

func (st Store) absolute(name string) string {
	abs, err := filepath.Abs(st.Disk.Path(name))
	if err != nil {
		return name
	}
	return abs
}

// Newest returns the name of the most recently written session whose header has the folder cwd, or
// of any session if cwd is empty. Files that cannot be read, such as links to other folders, are
// passed over.
func (st Store) Newest(cwd string) (string, error) {
	files, err := st.Files()
	if err != nil {
		return "", err
	}
	written := map[*File]time.Time{}
	for k := range files {
		if at, ok := files[k].written(); ok {
			written[&files[k]] = at
		}
	}
	byAge := func(a, b *File) int { return cmp.Or(written[b].Compare(written[a]), cmp.Compare(b.Name, a.Name)) }
	for _, f := range slices.SortedFunc(maps.Keys(written), byAge) {
		if h := f.header(st.Disk); h.ID != "" && (cwd == "" || h.CWD == cwd) { // else it cannot be read
			return f.Name, nil
		}
	}
	return "", &sessionfmt.Error{Pos: sessionfmt.Pos{File: cwd}, Err: errors.New("no session of this folder"),
		Hint: "name a session: a file, - for standard input, or the beginning of an id"}
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
	if arg == "" || strings.ContainsAny(arg, `/\`) || strings.HasSuffix(arg, ".jsonl") ||
		strings.HasSuffix(arg, documentEnd) {
		return arg, nil // meant as a file: opening it says what is wrong
	}
	return st.find(arg)
}
