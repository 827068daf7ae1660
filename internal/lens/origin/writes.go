package origin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/cachefile"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Options configure where sessions are.
type Options struct {
	Files []store.File       // the sessions to look at, with those of sub-agents
	Open  sessionfmt.Options // how they are opened
	Cache *cachefile.Cache   // what is known of their files, nil for nothing
}

// CacheVersion is that of the values in the cache.
const CacheVersion = "origin 1"

// A session is one that may have written to the repository.
type session struct {
	store.HeaderInfo
	file string
	root root
}

// owner is the id of the session that the writes belong to: for a sub-agent, the one that started it.
func (s *session) owner() string { return cmp.Or(s.Owner, s.ID) }

// A write is a change of a file of the repository that a call made, and that succeeded.
type write struct {
	activity.FileChange
	of     *session
	path   string // of the wanted file
	record int
	call   string // its id
	tool   string
	at     int64 // milliseconds since 1970
	copied bool  // from another session
}

// A scan is what sessions wrote to the wanted files.
type scan struct {
	writes   []*write // in the order of time
	sessions int      // of the repository
	unread   []Unread
	owners   map[string]string // files of sessions of the repository, by id
}

// scan reads sessions. wanted has the present name of a file by each name that it has had; nil for all files.
func (r *Repo) scan(opt Options, wanted map[string]string) *scan {
	type result struct {
		of     *session // nil if it is not one of the repository
		writes []*write
		err    error
	}
	out := &scan{owners: map[string]string{}}
	workers, k := runtime.GOMAXPROCS(0), 0
	for one := range parallel.InOrder(len(opt.Files), workers, 2*workers, func() func(int) result {
		buf := make([]byte, 256<<10)
		return func(k int) (out result) {
			out.of, out.writes, out.err = r.session(&opt, opt.Files[k].Name, wanted, buf)
			return out
		}
	}) {
		out.writes = append(out.writes, one.writes...)
		if one.of != nil {
			out.sessions++
			if one.of.Owner == "" {
				out.owners[one.of.ID] = one.of.file
			}
		}
		if one.err != nil {
			out.unread = append(out.unread, Unread{File: opt.Files[k].Name, Err: one.err, Error: one.err.Error()})
		}
		k++
	}
	slices.SortStableFunc(out.writes, func(a, b *write) int { return cmp.Compare(a.at, b.at) })
	out.writes = once(out.writes)
	return out
}

// once leaves out copies of calls: a fork or a resumed session repeats what it continues. The original owns them.
func once(all []*write) []*write {
	first := map[string]*write{}
	of := func(w *write) string { return fmt.Sprint(w.call, "\x00", w.path, "\x00", w.Text, w.Edits) }
	for _, w := range all {
		if had := first[of(w)]; had == nil || had.copied && !w.copied {
			first[of(w)] = w
		}
	}
	return slices.DeleteFunc(all, func(w *write) bool { return w.call != "" && first[of(w)].of != w.of })
}

// A digest is what is known of a session's file, for the cache.
type digest struct {
	Header store.HeaderInfo
	Known  knowledge
	names  names // of files that it may have written to
}

// knowledge is how the names of a digest are known.
type knowledge int

const (
	unknown   knowledge = iota
	mentioned           // they are all that the file mentions, of usual names
	written             // they are what calls wrote to
)

// session reads a session; of is nil for one of another repository, and for a file that is not a session.
func (r *Repo) session(opt *Options, name string, wanted map[string]string, buf []byte) (
	of *session, writes []*write, err error) {
	var d digest
	value, found := opt.Cache.Get(name)
	head, rest, _ := strings.Cut(string(value), "\n")
	if found = found && json.Unmarshal([]byte(head), &d) == nil; !found {
		d = digest{Header: store.ReadHeader(opt.Open.Disk, name)}
	} else {
		d.names = decodeNames(rest)
	}
	known := d.Known
	defer func() {
		if err == nil && (!found || d.Known != known) {
			head, _ := json.Marshal(d)
			opt.Cache.Set(name, d.names.encode(append(head, '\n')))
		}
	}()
	switch {
	case d.Header.ID == "" && found: // it is not a session
		return nil, nil, nil
	case d.Header.ID == "":
		return nil, nil, unreadable(opt, name)
	}
	in, ours := r.rootOf(&d.Header)
	if !ours {
		return nil, nil, nil
	}
	of = &session{d.Header, name, in}
	if d.Known == unknown && wanted != nil {
		if all, ok := mentions(opt.Open.Disk, name, buf); ok {
			d.names, d.Known = all, mentioned
		}
	}
	if wanted != nil && !d.mayHave(wanted) {
		return of, nil, nil
	}
	open := opt.Open
	open.Workers, open.Origins = 1, true
	s, err := sessionfmt.Open(name, open)
	if err != nil {
		return of, nil, err
	}
	defer s.Close()
	d.names, d.Known = names{}, written
	return of, r.writes(s, of, wanted, d.names), nil
}

// unreadable returns why a file has no header; nil if it is not a session.
func unreadable(opt *Options, name string) error {
	s, err := sessionfmt.Open(name, opt.Open)
	if err == nil {
		s.Close()
	}
	if errors.Is(err, sessionfmt.ErrNotSession) && !sessionfmt.NamesAgent(err) {
		return nil
	}
	return err
}

// writes returns what a session wrote to the wanted files, and adds the names of all files that it may have written
// to. Branches that it left count: their calls ran, too.
func (r *Repo) writes(s *sessionfmt.Session, of *session, wanted map[string]string, to names) (all []*write) {
	lines, open := s.NewReader(), map[string][]*write{}
	header, _ := s.HeaderLine()
	origins := s.Origins(header)
	for i := range s.Len() {
		kind := s.Kind(i)
		if kind != jsonl.Assistant && (kind != jsonl.ToolResult || len(open) == 0) {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			continue
		}
		m := line.Get("message").Message()
		if kind == jsonl.ToolResult {
			if calls, c := open[m.CallID.Text()], (activity.Call{Action: activity.Named(m.Tool.Text())}); calls != nil {
				if delete(open, m.CallID.Text()); c.Succeeded(m) {
					all = append(all, calls...)
				}
			}
			continue
		}
		at, _ := line.Get("timestamp").Millis()
		_, copied := origins.Copied(i)
		for c := range activity.Calls(m) {
			for _, ch := range c.Changes() {
				name := cmp.Or(ch.To, ch.Path)
				to[hash(path.Base(slashed(name)))] = true
				if name = of.root.file(r, name, ch.Dir, wanted); name != "" {
					open[c.ID] = append(open[c.ID], &write{FileChange: plainText(ch), of: of, path: name, record: i,
						call: c.ID, tool: c.Tool, at: at, copied: copied})
				}
			}
		}
	}
	return all
}

// plainText returns a change whose texts have the line ends of Unix.
func plainText(ch activity.FileChange) activity.FileChange {
	ch.Text = unixLines(ch.Text)
	for i := range ch.Edits {
		ch.Edits[i].Old, ch.Edits[i].New = unixLines(ch.Edits[i].Old), unixLines(ch.Edits[i].New)
	}
	return ch
}
