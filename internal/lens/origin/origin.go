// Package origin tells which session wrote the lines of a file in a git checkout: the request, the prompt and the
// cost. It replays what the calls of sessions wrote to the file, and compares that with what git has of it.
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
	"ctxtool/sessionfmt"
)

// Schema is that of a File.
const Schema = "ctxtool/origin/1"

// A File is a file of a checkout with the origin of its lines.
type File struct {
	Schema   string    `json:"schema"`
	File     string    `json:"file"`   // in the repository
	Commit   string    `json:"commit"` // the checked out one
	Counts   Counts    `json:"lines"`  // of the lines that are asked for
	Sessions []Session `json:"sessions"`
	Calls    []Call    `json:"calls"`   // that wrote lines, in the order of time
	Commits  []Commit  `json:"commits"` // that lines came with, in the order of the lines
	Lines    []Line    `json:"text"`    // those that are asked for
}

// Counts are numbers of lines by certainty.
type Counts struct {
	Exact   int `json:"exact"`   // a call wrote this text here
	Edited  int `json:"edited"`  // a call wrote a similar text here, which was changed afterwards
	Likely  int `json:"likely"`  // a command line wrote it, or its text and its place are common
	Unknown int `json:"unknown"` // no session is known to have written it
}

func (c *Counts) add(sure Certainty) {
	*map[Certainty]*int{Exact: &c.Exact, Edited: &c.Edited, Likely: &c.Likely, Unknown: &c.Unknown}[sure]++
}

// Known is the number of lines that a session wrote.
func (c *Counts) Known() int { return c.Exact + c.Edited + c.Likely }

// A Line is a line with its origin.
type Line struct {
	Number int    `json:"line"` // in the file, from 1
	Text   string `json:"text"`
	// `exact`: a call wrote this text here; `edited`: a call wrote a similar text, which was changed afterwards;
	// `likely`: a command line wrote it, or its text and its place are common; `unknown`
	Certainty Certainty `json:"certainty"`
	Call      *int      `json:"call,omitempty"`      // index in calls; absent if unknown
	Commit    *int      `json:"commit,omitempty"`    // index in commits; absent of a line that is not committed
	Was       string    `json:"was,omitempty"`       // what the call wrote, of an edited line
	Changed   string    `json:"changedBy,omitempty"` // who committed the change of an edited line
	Notes     []Note    `json:"notes,omitempty"`     // what other programs noted about the line
}

// Of returns the origin of the lines from first to last, all of them if last is 0.
func (r *Repo) Of(opt Options, name string, first, last int) (*File, error) {
	rel, text, err := r.file(name)
	if err != nil {
		return nil, err
	}
	out := &File{Schema: Schema, File: rel, Commit: r.head, Commits: []Commit{}, Lines: []Line{}}
	if n := len(linesOf(text)); last == 0 {
		first, last = 1, n
	} else if last > n {
		return nil, sessionfmt.Errorf("line %d: the file has %s", last, phrase.Count(n, "line")).In(rel)
	}
	found, err := r.find(opt, out.Commit, []string{rel}, &text)
	if err != nil {
		return nil, err
	}
	t, w, noted := found[0], newWriter(r, opt), r.noted(found)
	for i := first - 1; i < last; i++ {
		m := t.matches[i]
		l := Line{Number: i + 1, Text: t.lines[i].text, Certainty: m.sure}
		out.Counts.add(m.sure)
		if c := t.blamed[i].commit; c != nil {
			l.Commit = indexOf(&out.Commits, *c)
		}
		if m.by >= 0 {
			l.Call = w.call(t.writes[m.by], m.sure)
		}
		if m.sure == Edited {
			l.Changed, l.Was = t.changer(i), t.fragments[m.fragment].lines[m.line].text
		}
		l.Notes = noted.of(t, i)
		out.Lines = append(out.Lines, l)
	}
	out.Calls, out.Sessions = w.finish()
	for i := range out.Lines {
		if k := out.Lines[i].Call; k != nil {
			*k = w.order[*k]
		}
	}
	return out, nil
}

// linesOf returns the lines of a text.
func linesOf(text string) []string { return slices.Collect(strings.Lines(text)) }

func indexOf(all *[]Commit, c Commit) *int {
	at := slices.Index(*all, c)
	if at < 0 {
		at = len(*all)
		*all = append(*all, c)
	}
	return &at
}

// find traces files as a commit has them, or if text is given, the only one of them as it is in the working tree.
func (r *Repo) find(opt Options, commit string, paths []string, text *string) (all []*traced, err error) {
	wanted := map[string]string{}
	for t := range parallel.InOrder(len(paths), runtime.GOMAXPROCS(0), len(paths), func() func(int) *traced {
		return func(k int) *traced {
			t, err := r.trace(commit, paths[k], text)
			if err != nil {
				return &traced{err: err}
			}
			return t
		}
	}) {
		if t.err != nil {
			return nil, t.err
		}
		all = append(all, t)
		maps.Copy(wanted, t.wanted)
	}
	writes, found := r.scan(opt, wanted)
	if found == 0 {
		return nil, sessionfmt.Errorf("none of %s is of this repository", phrase.Count(len(opt.Files), "session")).
			In(r.Top).Hinted("sessions are those that began in a folder of it; --sessions-dir names another store")
	}
	for _, t := range all {
		for _, w := range writes {
			if w.path == t.path {
				t.writes = append(t.writes, w)
			}
		}
		t.fragments = replayed(t.writes, t)
		t.matches = matched(t.lines, t.writes, t.fragments)
	}
	return all, nil
}

// file returns the name of a file in the repository, and its text in the working tree.
func (r *Repo) file(name string) (rel, text string, err error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	top, err := filepath.EvalSymlinks(r.Top)
	if err != nil {
		return "", "", err
	}
	if rel, err = filepath.Rel(top, abs); err != nil || !filepath.IsLocal(rel) {
		return "", "", sessionfmt.Errorf("not in the checkout %s", r.Top).In(name).
			Hinted("run this in the checkout of the file")
	}
	rel = filepath.ToSlash(rel)
	data, readErr := os.ReadFile(abs)
	if info, err := os.Lstat(abs); err == nil && !info.Mode().IsRegular() {
		return "", "", sessionfmt.Errorf("not a file").In(name).Hinted("name a file, a commit or a session")
	}
	committed, err := r.text("HEAD", rel)
	switch {
	case err != nil && readErr != nil:
		return "", "", sessionfmt.Errorf("no such file").In(name).Hinted("name a file, a commit or a session")
	case err != nil:
		if list, _ := r.git("ls-files", "--others", "--ignored", "--exclude-standard", "--", rel); list != "" {
			return "", "", sessionfmt.Errorf("git ignores this file").In(name).Hinted("name a committed file")
		}
		return "", "", sessionfmt.Errorf("git does not track this file").In(name).Hinted("git add and commit it first")
	case readErr != nil: // removed from the working tree only
		data = []byte(committed)
	}
	if strings.ContainsRune(string(data), 0) || strings.ContainsRune(committed, 0) {
		return "", "", sessionfmt.Errorf("a binary file has no lines").In(name).
			Hinted("ctxtool search finds the sessions that name it")
	}
	return rel, string(data), nil
}

// A traced is a file of which the origin of lines is asked for.
type traced struct {
	repo    *Repo
	path    string
	lines   []target
	blamed  []blamed // of each line; one that is not committed has no commit
	history []version
	wanted  map[string]string
	texts   map[version]string

	writes    []*write
	fragments []fragment
	matches   []match // of each line
	err       error
}

// trace reads what git has of a file: as it is in a commit, or if text is given, in the working tree.
func (r *Repo) trace(commit, path string, text *string) (*traced, error) {
	t := &traced{repo: r, path: path, wanted: map[string]string{path: path}, texts: map[version]string{}}
	committed, err := r.text(commit, path)
	if err == nil {
		t.blamed, err = r.blame(commit, path)
	}
	if err == nil {
		t.history, err = r.history(commit, path)
	}
	if err != nil {
		return nil, err
	}
	sorting.By(t.history, func(a, b version) int { return cmp.Compare(b.at, a.at) })
	for _, v := range t.history {
		t.wanted[v.path] = path
	}
	for _, b := range t.blamed {
		t.wanted[b.path] = path
	}
	committed = unixLines(committed)
	if text == nil {
		text = &committed
	}
	t.compare(committed, unixLines(*text))
	for i, l := range t.lines {
		if b := t.blamed[i]; b.commit == nil {
			t.lines[i] = target{l.text, math.MaxInt64, t.before(math.MaxInt64)}
		} else {
			t.lines[i] = target{l.text, b.commit.at + 999, t.before(b.commit.authored)} // git counts seconds
		}
	}
	return t, nil
}

// compare sets the lines of the text, with the commits of those that are committed.
func (t *traced) compare(committed, text string) {
	all, at := t.blamed, 0
	t.blamed = nil
	for _, l := range linediff.Lines(committed, text) {
		b := blamed{}
		if l.Mark != '+' && at < len(all) {
			b = all[at]
			at++
		}
		if l.Mark != '-' {
			t.lines, t.blamed = append(t.lines, target{text: l.Text}), append(t.blamed, b)
		}
	}
}

// before returns when the last version before a time was made.
func (t *traced) before(at int64) (last int64) {
	for _, v := range t.history {
		if v.authored < at {
			last = max(last, v.authored)
		}
	}
	return last
}

// last returns the last version before a time.
func (t *traced) last(at int64) (text string, committed int64) {
	k := slices.IndexFunc(t.history, func(v version) bool { return v.at <= at })
	if k < 0 {
		return "", 0
	}
	return t.version(t.history[k]), t.history[k].at
}

// version returns the text of a version.
func (t *traced) version(v version) string {
	text, known := t.texts[v]
	if !known {
		text, _ = t.repo.text(v.commit, v.path)
		text = unixLines(text)
		t.texts[v] = text
	}
	return text
}

// having returns the version nearest to a time that has a text, an earlier one if there is one.
func (t *traced) having(at int64, part string) (string, bool) {
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

// changer returns who changed a line after a call had written it.
func (t *traced) changer(i int) string {
	if c := t.blamed[i].commit; c != nil {
		return c.Author
	}
	return "not committed"
}
