package origin

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
)

// CommitSchema and SessionSchema are those of a Change and of a Remains.
const (
	CommitSchema  = "ctxtool/origin.commit/1"
	SessionSchema = "ctxtool/origin.session/1"
)

// A Change is the origin of the lines that came with a commit, or with those that a merge brought.
type Change struct {
	Schema   string    `json:"schema"`
	Commits  []Commit  `json:"commits"` // the one that is named last
	Counts   Counts    `json:"lines"`   // that they left
	Files    []FileSum `json:"files"`
	Sessions []Session `json:"sessions"`
	Calls    []Call    `json:"calls"` // that wrote lines, in the order of time
	Notes    []NoteSum `json:"notes"` // what other programs noted about the lines
}

// A FileSum is the part of a file in a Change or a Remains.
type FileSum struct {
	File   string `json:"file"`
	Counts Counts `json:"lines"`
}

// A NoteSum counts equal notes.
type NoteSum struct {
	By      string `json:"by"`
	Verdict string `json:"verdict"` // as that of a note
	Lines   int    `json:"lines"`
}

// OfCommit returns the origin of the lines that a commit brought. Those of a merge are all that it merged.
func (r *Repo) OfCommit(opt Options, revision string) (*Change, error) {
	id, err := r.commitID(revision)
	if err != nil {
		return nil, sessionfmt.Errorf("no such file, commit or session").In(revision).
			Hinted("FILE, FILE:LINE, a commit of this checkout, or the beginning of a session's id")
	}
	list, err := r.git("log", "--reverse", "--topo-order", "--format=%H\t%an\t%ct\t%s", id, "--not", id+"^1")
	if err != nil { // the first one
		list, err = r.git("log", "--no-walk", "--format=%H\t%an\t%ct\t%s", id)
	}
	out := &Change{Schema: CommitSchema, Commits: []Commit{}, Files: []FileSum{}, Notes: []NoteSum{}}
	in := map[string]bool{}
	for line := range strings.Lines(list) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		c := Commit{ID: parts[0], Author: parts[1], Subject: parts[3]}
		c.set(parts[2])
		out.Commits, in[c.ID] = append(out.Commits, c), true
	}
	names, diffErr := r.git("diff-tree", "-r", "-z", "-M", "--no-commit-id", "--name-only", "--diff-filter=d",
		"--no-ext-diff", "--root", "-m", "--first-parent", id)
	if err = cmp.Or(err, diffErr); err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range strings.Split(strings.Trim(names, "\x00"), "\x00") {
		if text, err := r.text(id, name); err == nil && !strings.ContainsRune(text, 0) {
			paths = append(paths, name)
		}
	}
	found, err := r.find(opt, id, paths, nil)
	if err != nil {
		return nil, err
	}
	w, noted, count := newWriter(r, opt), r.noted(found), map[NoteSum]int{}
	for _, t := range found {
		sum := FileSum{File: t.path}
		for i, m := range t.matches {
			if !in[t.blamed[i].commit.ID] {
				continue
			}
			sum.Counts.add(m.sure)
			out.Counts.add(m.sure)
			if m.by >= 0 {
				w.call(t.writes[m.by], m.sure)
			}
			for _, n := range noted.of(t, i) {
				count[NoteSum{By: n.By, Verdict: n.Verdict}]++
			}
		}
		out.Files = append(out.Files, sum)
	}
	out.Calls, out.Sessions = w.finish()
	for n, lines := range count {
		n.Lines = lines
		out.Notes = append(out.Notes, n)
	}
	sorting.By(out.Notes, func(a, b NoteSum) int {
		return cmp.Or(cmp.Compare(a.By, b.By), cmp.Compare(a.Verdict, b.Verdict))
	})
	return out, nil
}

// A Remains is what still stands of what a session wrote.
type Remains struct {
	Schema  string `json:"schema"`
	Session string `json:"session"` // its id
	Commit  string `json:"commit"`  // the checked out one
	Left
	Files []FileLeft `json:"files"`
}

// A FileLeft is the part of a file in a Remains.
type FileLeft struct {
	File string `json:"file"` // in the repository
	Left
}

// Left counts the lines that a session wrote, each time that it wrote them.
type Left struct {
	Wrote  int `json:"wrote"`
	Stands int `json:"stands"` // lines still as it wrote them, in this checkout
	Edited int `json:"edited"` // lines that were changed
	Gone   int `json:"gone"`
}

// OfSession returns what still stands of what a session and its sub-agents wrote.
func (r *Repo) OfSession(opt Options, name string) (*Remains, error) {
	h := store.ReadHeader(opt.Open.Disk, name)
	out := &Remains{Schema: SessionSchema, Session: h.ID, Commit: r.head, Files: []FileLeft{}}
	own := opt
	own.Files = nil
	for _, name := range append([]string{name}, store.Family(opt.Open.Disk, name)...) {
		own.Files = append(own.Files, store.File{Name: name})
		if !slices.ContainsFunc(opt.Files, func(f store.File) bool { return f.Name == name }) {
			opt.Files = append(opt.Files, store.File{Name: name})
		}
	}
	writes, found := r.scan(own, nil)
	if found == 0 {
		return nil, sessionfmt.Errorf("the session is not of the repository %s", filepath.Base(r.Top)).In(name).
			Hinted("run this in a checkout of the repository in which it ran")
	}
	now, present := r.renames(), map[string]bool{}
	gone := map[string][]*write{}
	for _, w := range writes {
		path := w.path
		for n := 0; now[path] != "" && n < len(now); n++ {
			path = now[path]
		}
		if text, err := r.text(r.head, path); err == nil && !strings.ContainsRune(text, 0) {
			present[path] = true
		} else {
			gone[path] = append(gone[path], w)
		}
	}
	for path, writes := range gone {
		f := FileLeft{File: path}
		for _, fragment := range replayed(writes, &traced{}) {
			f.Wrote += fragment.own()
		}
		f.Gone = f.Wrote
		out.Files = append(out.Files, f)
	}
	all, err := r.find(opt, r.head, slices.Sorted(maps.Keys(present)), nil)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		f := FileLeft{File: t.path}
		of := func(by int) bool { return cmp.Or(t.writes[by].of.Owner, t.writes[by].of.ID) == h.ID }
		for _, fragment := range t.fragments {
			if of(fragment.by) {
				f.Wrote += fragment.own()
			}
		}
		for _, m := range t.matches {
			switch {
			case m.by < 0 || !of(m.by):
			case m.sure == Edited:
				f.Edited++
			default:
				f.Stands++
			}
		}
		f.Gone = max(0, f.Wrote-f.Stands-f.Edited)
		out.Files = append(out.Files, f)
	}
	sorting.By(out.Files, func(a, b FileLeft) int { return cmp.Compare(a.File, b.File) })
	for _, f := range out.Files {
		out.Wrote, out.Stands, out.Edited, out.Gone = out.Wrote+f.Wrote, out.Stands+f.Stands, out.Edited+f.Edited,
			out.Gone+f.Gone
	}
	return out, nil
}

// own returns how many lines of a fragment its write wrote.
func (f *fragment) own() (n int) {
	for _, l := range f.lines {
		if l.by == f.by {
			n++
		}
	}
	return n
}

// renames returns the new names of files that were renamed on the way to the last commit.
func (r *Repo) renames() map[string]string {
	now := map[string]string{}
	said, _ := r.git("log", "--diff-filter=R", "-M", "--name-status", "--format=", "--no-ext-diff", r.head)
	for line := range strings.Lines(said) {
		if names := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(names) == 3 && now[names[1]] == "" {
			now[names[1]] = names[2]
		}
	}
	return now
}
