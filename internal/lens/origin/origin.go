package origin

import (
	"cmp"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/linediff"
	"ctxtool/internal/read/phrase"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
)

// OfFile returns the origin of the lines of a file in the working tree from first to last, of all if last is 0.
func (r *Repo) OfFile(opt Options, name string, first, last int) (*Report, error) {
	rel, text, err := r.file(name)
	if err != nil {
		return nil, err
	}
	if n := len(slices.Collect(strings.Lines(text))); last == 0 {
		first, last = 1, n
	} else if last > n {
		return nil, sessionfmt.Errorf("line %d: the file has %s", last, phrase.Count(n, "line")).In(rel)
	}
	b := &builder{repo: r, opt: opt, out: &Report{Of: "file", Name: rel, Commit: r.head, Lines: []Line{}}}
	b.keep = func(t *trace, i int) bool { return i >= first-1 && i < last }
	return b.build([]string{rel}, &text)
}

// OfCommit returns the origin of the lines that a commit brought. Those of a merge are all that it merged.
func (r *Repo) OfCommit(opt Options, revision string) (*Report, error) {
	id, err := r.commitID(revision)
	if err != nil {
		return nil, sessionfmt.Errorf("no such file, commit or session").In(revision).
			Hinted("FILE, FILE:LINE, a commit of this checkout, or the beginning of a session's id")
	}
	b := &builder{repo: r, opt: opt, out: &Report{Of: "commit", Name: id, Commit: id}}
	brought, diff := []string{"--topo-order", id, "--not", id + "^1"}, []string{id + "^1", id}
	if _, err := r.commitID(id + "^1"); err != nil { // the first one
		brought, diff = []string{"--no-walk", id}, []string{"--root", id}
	}
	if b.out.Commits, err = r.commits(brought...); err != nil {
		return nil, err
	}
	in := map[string]bool{}
	for _, c := range b.out.Commits {
		in[c.ID] = true
	}
	b.keep = func(t *trace, i int) bool { return t.blamed[i].commit != nil && in[t.blamed[i].commit.ID] }
	names, err := r.git(append([]string{"diff-tree", "-r", "-z", "-M", "--no-commit-id", "--name-only",
		"--diff-filter=d", "--no-ext-diff"}, diff...)...)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range strings.Split(strings.Trim(names, "\x00"), "\x00") {
		if text, err := r.text(id, name); err == nil && !isBinary(text) {
			paths = append(paths, name)
		}
	}
	return b.build(paths, nil)
}

// OfSession returns the lines that a session and its sub-agents wrote, and how many of them are gone.
func (r *Repo) OfSession(opt Options, name string) (*Report, error) {
	own := Options{Open: opt.Open}
	for _, name := range append([]string{name}, store.Family(opt.Open.Disk, name)...) {
		own.Files = append(own.Files, store.File{Name: name})
		if !slices.ContainsFunc(opt.Files, func(f store.File) bool { return f.Name == name }) {
			opt.Files = append(opt.Files, store.File{Name: name})
		}
	}
	wrote := r.scan(own, nil)
	if len(wrote.unread) > 0 {
		return nil, wrote.unread[0].Err
	}
	if wrote.sessions == 0 {
		return nil, sessionfmt.Errorf("the session is not of the repository %s", filepath.Base(r.Top)).In(name).
			Hinted("run this in a checkout of the repository in which it ran")
	}
	id := store.ReadHeader(opt.Open.Disk, name).ID
	b := &builder{repo: r, opt: opt, out: &Report{Of: "session", Name: id, Commit: r.head}, owner: id}
	b.keep = func(t *trace, i int) bool { return t.writer(i) != nil && t.writer(i).of.owner() == id }
	now, present, gone := r.renames(), map[string]bool{}, map[string][]*write{}
	for _, w := range wrote.writes {
		path := cmp.Or(now[w.path], w.path)
		if text, err := r.text(r.head, path); err == nil && !isBinary(text) {
			present[path] = true
		} else {
			gone[path] = append(gone[path], w)
		}
	}
	for path, writes := range gone {
		t := &trace{path: path, writes: writes}
		t.fragments = replayed(writes, t)
		b.files = append(b.files, t)
	}
	return b.build(slices.Sorted(maps.Keys(present)), nil)
}

// A builder makes a report of the lines of files that keep selects.
type builder struct {
	repo  *Repo
	opt   Options
	keep  func(t *trace, i int) bool
	owner string // the session whose lines that are gone are counted; empty for none
	files []*trace
	scan  *scan
	out   *Report

	used  []*write // one for each call of the report
	calls map[callKey]int
}

type callKey struct {
	of     *session
	record int
	call   string
}

func (w *write) key() callKey { return callKey{w.of, w.record, w.call} }

// build traces files as the commit has them, or if text is given, the only one as it is in the working tree.
func (b *builder) build(paths []string, text *string) (*Report, error) {
	r, wanted := b.repo, map[string]string{}
	var failed error
	for t := range parallel.InOrder(len(paths), runtime.GOMAXPROCS(0), len(paths), func() func(int) *trace {
		return func(k int) *trace { return r.trace(b.out.Commit, paths[k], text) }
	}) {
		failed = cmp.Or(failed, t.err)
		b.files = append(b.files, t)
		maps.Copy(wanted, t.wanted)
	}
	if failed != nil {
		return nil, failed
	}
	b.scan = r.scan(b.opt, wanted)
	if b.scan.sessions == 0 {
		broken := len(b.scan.unread)
		return nil, sessionfmt.Errorf("none of %s is of this repository%s", phrase.Count(len(b.opt.Files), "session"),
			phrase.If(broken > 0, "; %d cannot be read", broken)).In(r.Top).
			Hinted("sessions are those that began in a folder of it; --sessions-dir names another store")
	}
	for _, t := range b.files {
		if t.repo != nil {
			t.match(b.scan.writes)
		}
	}
	slices.SortFunc(b.files, func(x, y *trace) int { return cmp.Compare(x.path, y.path) })
	b.count()
	b.describe()
	return b.out, nil
}

// count fills in all but what sessions tell of their calls.
func (b *builder) count() {
	out, noted, sums := b.out, b.repo.noted(b.files), map[NoteSum]int{}
	out.Schema, out.Files, out.Notes, out.Unread = Schema, []File{}, []NoteSum{}, append([]Unread{}, b.scan.unread...)
	out.Calls, out.Sessions, out.Commits = []Call{}, []Session{}, append([]Commit{}, out.Commits...)
	b.list()
	for _, t := range b.files {
		f := File{File: t.path}
		for i := range t.lines {
			if !b.keep(t, i) {
				continue
			}
			m, w := t.matches[i], t.writer(i)
			l := Line{Number: i + 1, Text: t.lines[i].text, Certainty: m.sure, Notes: noted.of(t, i)}
			f.Counts.add(m.sure)
			if c := t.blamed[i].commit; c != nil {
				l.Commit = indexOf(&out.Commits, *c)
			}
			if w != nil {
				k := b.calls[w.key()]
				l.Call = &k
				out.Calls[k].Counts.add(m.sure)
				out.Sessions[out.Calls[k].Session].Counts.add(m.sure)
			}
			if m.sure == Edited {
				l.Changed, l.Was = t.changer(i), t.fragments[m.fragment].lines[m.line].text
			}
			for _, n := range l.Notes {
				sums[NoteSum{By: n.By, Verdict: n.Verdict}]++
			}
			if out.Lines != nil {
				out.Lines = append(out.Lines, l)
			}
		}
		if b.owner != "" {
			f.Counts.Gone = max(0, t.written(b.owner)-f.Counts.Known())
		}
		if out.Counts.plus(f.Counts); f.Counts != (Counts{}) {
			out.Files = append(out.Files, f)
		}
	}
	for n, lines := range sums {
		out.Notes = append(out.Notes, NoteSum{n.By, n.Verdict, lines})
	}
	sorting.By(out.Notes, func(a, b NoteSum) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Verdict, b.Verdict))
	})
}

func indexOf(all *[]Commit, c Commit) *int {
	at := slices.IndexFunc(*all, func(o Commit) bool { return o.ID == c.ID })
	if at < 0 {
		at = len(*all)
		*all = append(*all, c)
	}
	return &at
}

// file returns the name of a file in the repository, and its text in the working tree.
func (r *Repo) file(name string) (rel, text string, err error) {
	fail := func(what, hint string) (string, string, error) {
		return "", "", sessionfmt.Errorf("%s", what).In(name).Hinted(hint)
	}
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", "", err
	}
	abs = filepath.Join(realName(filepath.Dir(abs)), filepath.Base(abs))
	if rel, err = filepath.Rel(realName(r.Top), abs); err != nil || !filepath.IsLocal(rel) {
		return fail("not in the checkout "+r.Top, "run this in the checkout of the file")
	}
	rel = filepath.ToSlash(rel)
	if info, err := os.Lstat(abs); err == nil && !info.Mode().IsRegular() {
		return fail("not a file", "name a file, a commit or a session")
	}
	data, readErr := os.ReadFile(abs)
	committed, err := r.text("HEAD", rel)
	switch {
	case err != nil && readErr != nil:
		return fail("no such file", "name a file, a commit or a session")
	case err != nil:
		if list, _ := r.git("ls-files", "--others", "--ignored", "--exclude-standard", "--", rel); list != "" {
			return fail("git ignores this file", "name a committed file")
		}
		return fail("git does not track this file", "git add and commit it first")
	case readErr != nil: // removed from the working tree only
		data = []byte(committed)
	}
	if text = unixLines(string(data)); isBinary(text) || isBinary(committed) {
		return fail("a binary file has no lines", "ctxtool search finds the sessions that name it")
	}
	return rel, text, nil
}

// A trace is a file whose lines are matched with what sessions wrote.
type trace struct {
	repo    *Repo // nil of a file that is gone
	path    string
	lines   []target
	blamed  []blamed          // of each line
	history []version         // the newest first
	wanted  map[string]string // path by each name that the file has had
	texts   map[version]string
	err     error

	writes    []*write
	fragments []fragment
	matches   []match // of each line
}

// trace reads what git has of a file: as it is in a commit, or if text is given, in the working tree.
func (r *Repo) trace(commit, path string, text *string) *trace {
	t := &trace{repo: r, path: path, wanted: map[string]string{path: path}, texts: map[version]string{}}
	committed, err := r.text(commit, path)
	blamed, blameErr := r.blame(commit, path)
	t.history, t.err = r.history(commit, path)
	if t.err = cmp.Or(err, blameErr, t.err); t.err != nil {
		return t
	}
	sorting.By(t.history, func(a, b version) int { return cmp.Compare(b.at, a.at) })
	for _, v := range t.history {
		t.wanted[v.path] = path
	}
	if text == nil {
		text = &committed
	}
	for _, l := range linediff.Lines(committed, *text) {
		b := blamedLine(&blamed, l.Mark)
		if l.Mark == '-' {
			continue
		}
		line := target{l.Text, math.MaxInt64, t.before(math.MaxInt64)}
		if b.commit != nil {
			t.wanted[b.path] = path
			line.limit, line.since = b.commit.at+999, t.before(b.commit.authored) // git counts seconds
		}
		t.lines, t.blamed = append(t.lines, line), append(t.blamed, b)
	}
	return t
}

// blamedLine takes the next line from those of a commit, unless a line was added.
func blamedLine(all *[]blamed, mark byte) (b blamed) {
	if mark != '+' && len(*all) > 0 {
		b, *all = (*all)[0], (*all)[1:]
	}
	return b
}

// match matches the lines with the writes that are of the file.
func (t *trace) match(writes []*write) {
	for _, w := range writes {
		if w.path == t.path {
			t.writes = append(t.writes, w)
		}
	}
	t.fragments = replayed(t.writes, t)
	t.matches = matched(t.lines, t.writes, t.fragments)
}

// writer returns the write that a line is from, nil if that is unknown.
func (t *trace) writer(i int) *write {
	if t.matches[i].by < 0 {
		return nil
	}
	return t.writes[t.matches[i].by]
}

// written counts the lines that a session wrote, each time that it wrote them.
func (t *trace) written(owner string) (n int) {
	for _, f := range t.fragments {
		for _, l := range f.lines {
			if l.by == f.by && t.writes[f.by].of.owner() == owner {
				n++
			}
		}
	}
	return n
}

// changer returns who may have changed a line after a call had written it: the author of its commit, and another
// session that wrote to the file in between.
func (t *trace) changer(i int) string {
	who := "not committed"
	if c := t.blamed[i].commit; c != nil {
		who = c.Author
	}
	by := t.writer(i)
	for _, w := range slices.Backward(t.writes) {
		if w.at > max(by.at, t.lines[i].since) && w.at <= t.lines[i].limit && w.of.owner() != by.of.owner() {
			return who + ", session " + w.of.owner()
		}
	}
	return who
}

// before returns when the last version before a time was made.
func (t *trace) before(at int64) (last int64) {
	for _, v := range t.history {
		if v.authored < at {
			last = max(last, v.authored)
		}
	}
	return last
}

// last returns the last version before a time, and when it was committed; 0 if there is none.
func (t *trace) last(at int64) (text string, committed int64) {
	k := slices.IndexFunc(t.history, func(v version) bool { return v.at <= at })
	if k < 0 {
		return "", 0
	}
	return t.version(t.history[k]), t.history[k].at
}

// version returns the text of a version.
func (t *trace) version(v version) string {
	text, known := t.texts[v]
	if !known {
		text, _ = t.repo.text(v.commit, v.path)
		t.texts[v] = text
	}
	return text
}

// having returns the version nearest to a time that has a text, an earlier one if there is one.
func (t *trace) having(at int64, part string) (string, bool) {
	const most = 12 // versions that are looked at
	far := func(v version) int64 { return max(v.at, at) - min(v.at, at) }
	near := slices.Clone(t.history)
	sorting.By(near, func(a, b version) int {
		if a.at > at != (b.at > at) {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(far(a), far(b))
	})
	for _, v := range near[:min(most, len(near))] {
		if text := t.version(v); part != "" && strings.Contains(text, part) {
			return text, true
		}
	}
	return "", false
}
