// Package store finds session files by name or id.
package store

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ctxtool/internal/read/unread"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Store is folders of sessions.
type Store struct {
	Disk sessionfmt.Disk // where the folders are

	folders []folder
	missing []folder // of agents, that do not exist
	named   bool     // the folder was named, and not that of an agent
	home    string   // the user's folder, empty where it is not known
	listing *listing // nil to list its files each time
	// unread finds the stores of agents whose sessions are not read; nil for a folder that was named
	unread func() []unread.Found
}

// A listing are the files of a store, listed once.
type listing struct {
	walk sync.Once
	all  []File
	err  error

	names sync.Once
	short map[string]string // by absolute name
}

// A folder is one of an agent.
type folder struct {
	dir     string
	by      *dialect.Dialect // nil for pi, and for a folder that was named
	archive bool             // it has what was kept of the others; see Place
}

// In returns the store of all sessions in a folder, whichever agent wrote them.
func In(disk sessionfmt.Disk, dir string) Store {
	return Store{Disk: disk, folders: []folder{{dir: dir}}, named: true}
}

// Default returns the folders in which agents keep their sessions, as far as they exist. That
// of pi is PI_CODING_AGENT_SESSION_DIR, else sessions in PI_CODING_AGENT_DIR, else
// ~/.pi/agent/sessions; those of others are in [dialect.Dialect]'s Store. getenv reads the
// environment; home is the user's folder, empty if unknown.
func Default(disk sessionfmt.Disk, getenv func(key string) string, home string) Store {
	pi := folder{dir: piFolder(getenv, home)}
	st := Store{Disk: disk, home: home}
	st.unread = func() []unread.Found { return unread.Find(getenv, home, disk.Path) }
	for _, dir := range append([]string{pi.dir}, variants(getenv, home)...) {
		if disk.Has(dir) && !slices.Contains(st.Folders(), dir) {
			st.folders = append(st.folders, folder{dir: dir})
		}
	}
	st.lacks(0, pi)
	for _, d := range sessionfmt.Dialects() {
		had := len(st.folders)
		dir := getenv(d.Store.Variable)
		if dir == "" && home == "" {
			continue
		} else if dir == "" {
			dir = filepath.Join(home, d.Store.Home)
		}
		for _, name := range d.Store.Folders {
			if f := filepath.Join(dir, name); disk.Has(f) {
				st.folders = append(st.folders, folder{dir: f, by: d})
			}
		}
		st.lacks(had, folder{dir: dir, by: d})
	}
	if len(st.folders) == 0 {
		st.folders = append(st.folders, pi)
	}
	return st
}

// variants returns the folders of programs that write sessions of pi (docs/session-format.md 21).
func variants(getenv func(key string) string, home string) (dirs []string) {
	if dir := getenv("PI_SESSIONS_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	if home != "" {
		dirs = append(dirs, filepath.Join(home, ".omp/agent/sessions"), filepath.Join(home, ".atomic/agent/sessions"))
	}
	return dirs
}

func piFolder(getenv func(key string) string, home string) string {
	dir := getenv("PI_CODING_AGENT_SESSION_DIR")
	if agent := getenv("PI_CODING_AGENT_DIR"); dir == "" && agent != "" {
		dir = filepath.Join(agent, "sessions")
	} else if dir == "" {
		dir = "~/.pi/agent/sessions"
	}
	if rest, ok := strings.CutPrefix(dir, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
		dir = filepath.Join(home, rest)
	}
	return dir
}

// NewFile returns the file in which pi looks for a session of its own (docs/session-format.md 1),
// by its header: in a folder for the session's folder, named by its time and id.
func NewFile(getenv func(key string) string, home string, header jsonl.Value) string {
	dashes := strings.NewReplacer("/", "-", `\`, "-", ":", "-", ".", "-")
	cwd := header.Get("cwd").Text()
	if cwd != "" && (cwd[0] == '/' || cwd[0] == '\\') {
		cwd = cwd[1:]
	}
	folder := "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(cwd) + "--"
	id := strings.NewReplacer("/", "-", `\`, "-").Replace(header.Get("id").Text())
	return filepath.Join(piFolder(getenv, home), folder, dashes.Replace(header.Get("timestamp").Text())+"_"+id+".jsonl")
}

// A File is a session file of a store.
type File struct {
	Name string
	Dir  string // the folder of the store that it is in
	id   string // from the name; the header decides
	by   *dialect.Dialect
	part bool // it belongs to another session, as that of a sub-agent does
	sub  bool // it is that of a sub-agent
	info fs.DirEntry
	row  jsonl.Value // of a session in a database, its first line
}

// written returns when the session was written to last.
func (f *File) written() (at time.Time, ok bool) {
	if f.row != nil {
		ms, ok := f.row.Get("timestamp").Millis()
		return time.UnixMilli(ms), ok
	}
	info, err := f.info.Info()
	if err != nil {
		return at, false
	}
	return info.ModTime(), true
}

// header is that of the session.
func (f *File) header(disk sessionfmt.Disk) HeaderInfo {
	if f.row != nil {
		return foreignHeader(f.by, f.Name, f.row)
	}
	return ReadHeader(disk, f.Name)
}

// Once returns a store whose files are listed once, when they are needed first.
func (st Store) Once() Store {
	st.listing = &listing{}
	return st
}

// files returns all session files, by folder and in the order of their names.
func (st Store) files() ([]File, error) {
	l := st.listing
	if l == nil {
		return st.list()
	}
	l.walk.Do(func() { l.all, l.err = st.list() })
	return l.all, l.err
}

func (st Store) list() (all []File, err error) {
	for _, of := range st.folders {
		if of.archive && !st.Disk.Has(of.dir) {
			continue // nothing is kept yet
		}
		err := st.Disk.Walk(of.dir, func(name string, f fs.DirEntry) {
			in := of
			if f.Type()&fs.ModeSymlink != 0 { // its own time is not that of the session
				if info, err := st.Disk.Stat(name); err == nil {
					f = linked{fs.FileInfoToDirEntry(info), f.Name()}
				}
			}
			if of.by == nil && (st.named || of.archive) {
				in.by = agentAt(of.dir, name)
			}
			stem, ok := strings.CutSuffix(plainName(f.Name()), ".jsonl")
			if st.mayBeDatabase(in, name) {
				all = append(all, inDatabase(st.Disk, name, in.dir, f)...)
				return
			}
			document := false
			if !ok {
				stem, document = strings.CutSuffix(plainName(f.Name()), documentEnd)
			}
			if !ok && !(document && !st.continued(name) && st.mayHold(in, name)) {
				return
			}
			if plain := strings.TrimSuffix(name, sessionfmt.PackedEnd); in.by != nil && plain != name &&
				st.Disk.Has(plain) {
				return // its agent reads the plain file beside it
			}
			file := File{Name: name, Dir: in.dir, by: in.by, info: f}
			if in.by != nil {
				file.id, file.part = in.by.File(name)
				file.sub = in.by.SubAgent != nil && in.by.SubAgent(name)
			} else {
				_, id, _ := strings.Cut(stem, "_")
				file.id, file.part = cmp.Or(id, stem), st.beside(name, stem)
			}
			all = append(all, file)
		})
		if errors.Is(err, fs.ErrNotExist) && !st.named {
			return nil, st.none()
		}
		if err != nil {
			return nil, sessionfmt.Errorf("%w", err).In(of.dir).Hinted("--sessions-dir sets the folder of sessions")
		}
	}
	return st.once(all), nil
}

// linked describes the target of a link, with the link's name.
type linked struct {
	fs.DirEntry
	name string
}

func (l linked) Name() string { return l.name }

// documentEnd ends the names of sessions that are JSON documents.
const documentEnd = ".json"

// mayHold reports whether a document may be a session of a folder: by the agent of the folder,
// or by what it holds. What another agent wrote is listed too, since opening it says so.
func (st Store) mayHold(in folder, name string) bool {
	if in.by != nil {
		return in.by.Document != nil
	}
	return (st.named || in.archive) && (ReadHeader(st.Disk, name).ID != "" || sessionfmt.IsUnread(st.Disk, name))
}

// continued reports whether an agent that once wrote a document went on in a file of lines beside
// it, which has all that the document has.
func (st Store) continued(name string) bool {
	return st.Disk.Has(name+"l") && ReadHeader(st.Disk, name+"l").ID != ""
}

// beside reports whether a file of a named folder belongs to a session beside it: it is the
// history that an agent shows, or the messages or events of a document.
func (st Store) beside(name, stem string) bool {
	if d, _ := sessionfmt.Owned(st.Disk, name); d != nil {
		return true
	}
	for _, d := range sessionfmt.Dialects() {
		if d.Display != "" && strings.HasSuffix(stem+".jsonl", d.Display) {
			return true
		}
	}
	stem, events := strings.CutSuffix(stem, ".events")
	document := filepath.Join(filepath.Dir(name), stem+documentEnd)
	return document != name && st.Disk.Has(document) && (events || !st.continued(document)) &&
		ReadHeader(st.Disk, document).ID != ""
}

// mayBeDatabase reports whether a file is a database that may have sessions: one that was named,
// or one with a name that an agent gives.
func (st Store) mayBeDatabase(in folder, name string) bool {
	named := name == in.dir
	for _, d := range sessionfmt.Dialects() {
		if d.Database != nil && !named {
			named, _ = filepath.Match(d.Database.Files, strings.TrimSuffix(filepath.Base(name), sessionfmt.PackedEnd))
		}
	}
	return named && sessionfmt.IsDatabase(st.Disk, name)
}

// inDatabase returns the sessions of a database, or the database itself if it cannot be read:
// opening that reports why.
func inDatabase(disk sessionfmt.Disk, name, dir string, f fs.DirEntry) (all []File) {
	err := sessionfmt.InDatabase(disk, name, func(session string, row jsonl.Value, by *dialect.Dialect, part bool) {
		all = append(all, File{Name: session, Dir: dir, id: filepath.Base(session), by: by, part: part,
			sub: part, info: f, row: row})
	})
	if err != nil {
		all = []File{{Name: name, Dir: filepath.Dir(name), id: name, info: f}}
	}
	return all
}

// Parts returns the files of the store, in the same order, and with those of sub-agents.
func (st Store) Parts() ([]File, error) { return st.files() }

// Families returns the sessions of the store with those of sub-agents, in the same order.
func (st Store) Families() ([]File, error) {
	all, err := st.files()
	return slices.DeleteFunc(slices.Clone(all), func(f File) bool { return f.part && !f.sub }), err
}

// Files returns the sessions of the store, by folder and in the order of their names. Files of
// sub-agents are sessions only in a folder that was named.
func (st Store) Files() ([]File, error) {
	all, err := st.files()
	return slices.DeleteFunc(slices.Clone(all), func(f File) bool { return f.part }), err
}

// Lookup returns the names of the files that may hold an agent's session with that id, as
// [sessionfmt.Options] has it.
func (st Store) Lookup(d *dialect.Dialect, id string) (names []string) {
	files, _ := st.files()
	for _, f := range files {
		if own, part := d.File(f.Name); own == id && !part && (f.by == d || st.named && f.row == nil) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Folders returns the names of the store's folders.
func (st Store) Folders() (dirs []string) {
	for _, in := range st.folders {
		dirs = append(dirs, in.dir)
	}
	return dirs
}

// plainName returns the name of a file without that of its compression.
func plainName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), sessionfmt.PackedEnd)
}

// A HeaderInfo is the content of a session's header. Its zero value is not a header.
type HeaderInfo struct {
	Agent              string // that wrote the session
	ID, CWD, Timestamp string
	Parent             string // the session that it was forked from
	Owner              string // the session whose sub-agent wrote it; empty for a session of its own
	Remote, Commit     string // the git remote and the commit that were checked out, if Codex recorded them

	by *dialect.Dialect // nil for pi
}

// mostHead is how far into a file its header is looked for, bytes.
const mostHead = 1 << 20

// ReadHeader reads the header of a session file, plain or packed, from its first lines. It
// returns the zero value if there is none.
func ReadHeader(disk sessionfmt.Disk, name string) HeaderInfo {
	if strings.HasSuffix(plainName(name), documentEnd) {
		f, err := disk.OpenContent(name)
		if err != nil {
			return HeaderInfo{}
		}
		defer f.Close()
		d := dialect.NewDocument(f, f.Size(), nil)
		for found := true; found && err == nil; {
			if found, _ = d.List(dialect.Messages); !found {
				break
			}
			if by := sessionfmt.Sniff(d.Head); by != nil && by.Files.Own != "" { // the rest is beside it
				break
			}
			err = d.PassList()
		}
		by := sessionfmt.Sniff(d.Head)
		if by == nil {
			return HeaderInfo{}
		}
		return foreignHeader(by, name, d.Head, sessionfmt.Beside(disk, by, name)...)
	}
	f, err := disk.OpenRegular(name)
	if err != nil {
		var h HeaderInfo
		sessionfmt.InDatabase(disk, filepath.Dir(name),
			func(session string, row jsonl.Value, by *dialect.Dialect, _ bool) {
				if session == name {
					h = foreignHeader(by, name, row)
				}
			})
		return h
	}
	defer f.Close()
	plain, err := sessionfmt.Unpack(f)
	if err != nil {
		return HeaderInfo{}
	}
	defer plain.Close()
	lines := bufio.NewScanner(io.LimitReader(plain, mostHead))
	lines.Buffer(make([]byte, 4<<10), mostHead)
	var by *dialect.Dialect
	owner, agent := "", by.Agent()
	for lines.Scan() {
		line, err := jsonl.ParseValue(bytes.Trim(lines.Bytes(), "\x00"))
		if err != nil || !line.IsObject() {
			continue
		}
		if by == nil {
			if by = sessionfmt.Sniff(line); by == nil && agent != dialect.OhMyPi && jsonl.IsSlot(line) {
				agent = dialect.OhMyPi
				continue
			} else if by == nil {
				return headerInfo(agent, nil, line)
			}
			owner = by.OwnerOf(name, line)
		}
		if h := foreignHeader(by, name, line); h.ID != "" {
			h.Owner = owner // by the first line
			return h
		}
	}
	return HeaderInfo{}
}

// foreignHeader returns the header that a line of another agent's session makes, if it does.
func foreignHeader(by *dialect.Dialect, name string, line jsonl.Value, more ...jsonl.Value) HeaderInfo {
	if by == nil {
		return HeaderInfo{}
	}
	id := by.Session(line)
	if !id.Exists() {
		return HeaderInfo{}
	}
	e := dialect.Source{Kind: jsonl.Header, ID: []byte(id.Text()), Lines: append([]jsonl.Value{line}, more...)}
	by.Make(&e)
	header, _ := new(dialect.JSON).Append(nil, &e, e.Entry(), nil)
	h := headerInfo(by.Agent(), by, header)
	h.Owner = by.OwnerOf(name, line)
	git := line.Get("payload").Get("git")
	h.Remote, h.Commit = git.Get("repository_url").Text(), git.Get("commit_hash").Text()
	return h
}

// headerInfo reads a header in the shape of pi.
func headerInfo(agent string, by *dialect.Dialect, line jsonl.Value) HeaderInfo {
	head, bad := jsonl.NewHeadReader(jsonl.Pick{}).Read(line)
	if bad != nil || head.Kind != jsonl.Header {
		return HeaderInfo{}
	}
	var more [2]jsonl.Value
	head.Line.Fields(more[:], "cwd", "parentSession")
	return HeaderInfo{Agent: agent, ID: head.ID.Text(), CWD: more[0].Text(), Timestamp: head.Timestamp.Text(),
		Parent: more[1].Text(), by: by}
}
