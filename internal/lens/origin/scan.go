package origin

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Options configure where sessions are.
type Options struct {
	Files []store.File       // the sessions to look at, with those of sub-agents
	Open  sessionfmt.Options // how they are opened
}

// A session is one that may have written to the repository.
type session struct {
	store.HeaderInfo
	file string
	root root
}

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

// scan returns what the sessions wrote to the wanted files, in the order of time. wanted has the present name of a
// file by each name that it has had. found is the number of sessions of the repository.
func (r *Repo) scan(opt Options, wanted map[string]string) (all []*write, found int) {
	type result struct {
		writes []*write
		ours   bool
	}
	needles := needlesOf(wanted)
	workers := runtime.GOMAXPROCS(0)
	for one := range parallel.InOrder(len(opt.Files), workers, 2*workers, func() func(int) result {
		buf := make([]byte, 256<<10)
		return func(k int) (out result) {
			out.writes, out.ours = r.session(opt, &opt.Files[k], wanted, needles, buf)
			return out
		}
	}) {
		all = append(all, one.writes...)
		if one.ours {
			found++
		}
	}
	slices.SortStableFunc(all, func(a, b *write) int { return cmp.Compare(a.at, b.at) })
	return once(all), found
}

// once leaves out copies of calls: a fork or a resumed session repeats what it continues. The original owns them.
func once(all []*write) []*write {
	type key struct {
		call, path, texts string
	}
	first := map[key]*write{}
	of := func(w *write) key {
		k := key{w.call, w.path, w.Text}
		for _, e := range w.Edits {
			k.texts += "\x00" + e.Old + "\x00" + e.New
		}
		return k
	}
	for _, w := range all {
		if had := first[of(w)]; had == nil || had.copied && !w.copied {
			first[of(w)] = w
		}
	}
	return slices.DeleteFunc(all, func(w *write) bool {
		owner := first[of(w)]
		return w.call != "" && owner.of != w.of
	})
}

// needlesOf returns texts one of which a session that writes the files has, as JSON spells them; nil if that is
// not certain.
func needlesOf(wanted map[string]string) (all [][]byte) {
	for name := range wanted { // nil for all
		base := path.Base(name)
		odd := func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\/<>&`, c) }
		if strings.ContainsFunc(base, odd) {
			return nil
		}
		all = append(all, []byte(base))
	}
	sorting.By(all, bytes.Compare)
	all = slices.CompactFunc(all, bytes.Equal)
	const most = 16 // above which looking for all of them takes longer than reading the lines
	if len(all) > most {
		return nil
	}
	return all
}

func hasAny(text []byte, needles [][]byte) bool {
	return len(needles) == 0 || slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) })
}

// mayHave reports whether a file may have one of the needles. Compressed files and databases may.
func mayHave(disk sessionfmt.Disk, name string, needles [][]byte, buf []byte) bool {
	if len(needles) == 0 || !strings.HasSuffix(name, ".jsonl") {
		return true
	}
	f, err := disk.OpenRegular(name)
	if err != nil {
		return true
	}
	defer f.Close()
	const overlap = 256 // bytes: no name of a file is longer
	kept := 0
	for {
		n, err := f.Read(buf[kept:])
		if hasAny(buf[:kept+n], needles) {
			return true
		}
		if err != nil {
			return err != io.EOF
		}
		end := kept + n
		kept = copy(buf, buf[max(0, end-overlap):end])
	}
}

// session returns the writes of a session, and whether it is one of the repository.
func (r *Repo) session(opt Options, f *store.File, wanted map[string]string, needles [][]byte, buf []byte) (
	[]*write, bool) {
	h := store.ReadHeader(opt.Open.Disk, f.Name)
	in, ok := r.rootOf(h.CWD)
	if h.ID == "" || !ok {
		return nil, false
	}
	if !mayHave(opt.Open.Disk, f.Name, needles, buf) {
		return nil, true
	}
	open := opt.Open
	open.Workers, open.Origins = 1, true
	s, err := sessionfmt.Open(f.Name, open)
	if err != nil {
		return nil, true
	}
	defer s.Close()
	return r.writes(s, &session{h, f.Name, in}, wanted, needles), true
}

// writes returns what a session wrote to the wanted files. Branches that it left count: their calls ran too.
func (r *Repo) writes(s *sessionfmt.Session, of *session, wanted map[string]string, needles [][]byte) (all []*write) {
	lines, open := s.NewReader(), map[string][]*write{}
	header, _ := s.HeaderLine()
	origins := s.Origins(header)
	for i := range s.Len() {
		kind := s.Kind(i)
		if kind != jsonl.Assistant && kind != jsonl.ToolResult || kind == jsonl.ToolResult && len(open) == 0 {
			continue
		}
		if raw, err := lines.Raw(i); err != nil || kind == jsonl.Assistant && !hasAny(raw, needles) {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			continue
		}
		at, _ := line.Get("timestamp").Millis()
		m := line.Get("message").Message()
		if kind == jsonl.ToolResult {
			id := m.CallID.Text()
			if calls := open[id]; calls != nil {
				c := activity.Call{Action: activity.Named(m.Tool.Text())}
				if delete(open, id); c.Succeeded(m) {
					all = append(all, calls...)
				}
			}
			continue
		}
		_, copied := origins.Copied(i)
		for c := range activity.Calls(m) {
			for _, ch := range c.Changes() {
				if name := of.root.file(r, cmp.Or(ch.To, ch.Path), ch.Dir, wanted); name != "" {
					open[c.ID] = append(open[c.ID], &write{FileChange: plainText(ch), of: of, path: name, record: i,
						call: c.ID, tool: c.Tool, at: at, copied: copied})
				}
			}
		}
	}
	return all
}

// plainText returns a change whose texts have no carriage returns before line ends.
func plainText(ch activity.FileChange) activity.FileChange {
	ch.Text = unixLines(ch.Text)
	for i := range ch.Edits {
		ch.Edits[i].Old, ch.Edits[i].New = unixLines(ch.Edits[i].Old), unixLines(ch.Edits[i].New)
	}
	return ch
}

func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
