package main

import (
	"cmp"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/store"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
)

type diffOptions struct {
	readFlags
	entries bool
	known   *models.Table
}

func (o *diffOptions) define(f *flagSet) {
	o.readFlags.flags(f, "text", "stat", "markdown", "html", "json")
	f.BoolVar(&o.entries, "entries", false, "list the entries that only one of the two paths has")
	f.models(&o.known)
}

type diffEnd struct {
	file           string // as opened
	given          string // as on the command line
	point          string
	rec            int // the last record of the state, -1 for none
	*replay.Replay     // shared by both ends of one session
}

// A comparison is a run of ctxtool diff.
type comparison struct {
	e       *env
	o       *diffOptions
	a, b    *diffEnd
	replays []*replay.Replay
}

func runDiff(e *env, o *diffOptions, args []string) (err error) {
	x := &comparison{e: e, o: o}
	if x.a, x.b, err = e.diffEnds(args); err != nil {
		return err
	}
	for _, end := range []*diffEnd{x.a, x.b} {
		if end == x.b && end.file == x.a.file {
			end.Replay = x.a.Replay
			break
		}
		s, err := e.open(end.file)
		if err != nil {
			return err
		}
		end.Replay = replay.New(s, replay.Options{Rules: o.by, Models: o.known})
		x.replays = append(x.replays, end.Replay)
	}
	if err := x.find(); err != nil {
		return err
	}
	if o.entries {
		return x.listEntries()
	}
	d, err := x.difference()
	if err != nil {
		return err
	}
	d.A.Source, d.B.Source = x.sides()
	return x.print(show.DiffForms.Of(d), d.Equal())
}

// diffEnds reads the arguments: SESSION A [B], SESSION@A [B], SESSION[@A] OTHER[@B].
func (e *env) diffEnds(args []string) (a, b *diffEnd, err error) {
	a = &diffEnd{}
	if a.file, a.point, err = e.session(args); err != nil {
		return nil, nil, err
	}
	a.given, _ = store.SplitPoint(e.disk, args[0])
	b = &diffEnd{file: a.file, given: a.given}
	rest := args[1:]
	if len(rest) > 0 && a.point == "" && !e.namesSession(rest[0]) {
		a.point, rest = rest[0], rest[1:]
	}
	switch {
	case len(rest) == 0 && a.point == "" && len(args) == 1:
		a.point = "leaf"
	case len(rest) > 1:
		return nil, nil, usagef("too many arguments: expected at most two points")
	case len(rest) == 1 && e.namesSession(rest[0]):
		if b.file, b.point, err = e.session(rest); err != nil {
			return nil, nil, err
		}
		b.given, _ = store.SplitPoint(e.disk, rest[0])
		a.point, b.point = cmp.Or(a.point, "leaf"), cmp.Or(b.point, "leaf")
	case len(rest) == 1:
		b.point = rest[0]
	}
	return a, b, nil
}

// namesSession reports whether an argument names a session, as a file or SESSION@POINT, and
// not a POINT of the session before it.
func (e *env) namesSession(arg string) bool {
	file, point := store.SplitPoint(e.disk, arg)
	if point == "" {
		return e.disk.Has(file)
	}
	_, err := e.store().Locate(file)
	return err == nil
}

// find resolves the points. Without B, they are the states before and after the entry at A.
func (x *comparison) find() (err error) {
	a, b := x.a.Session, x.b.Session
	if x.b.point == "" {
		at, err := findPoint(a, x.a.point, a.Leaf())
		x.b.rec, at.Before = at.Record, true
		if err == nil {
			x.a.rec = a.LeafAt(at)
		}
		return err
	}
	if x.a.rec, err = findLeaf(a, x.a.point, a.Leaf()); err == nil {
		x.b.rec, err = findLeaf(b, x.b.point, b.Leaf())
	}
	return err
}

// sides returns the two ends as reports name them.
func (x *comparison) sides() (a, b diff.Source) {
	a = diff.Source{File: x.e.fileName(x.a.given), Point: x.a.point, Reading: x.a.Session.Reading()}
	b = diff.Source{File: x.e.fileName(x.b.given), Point: x.b.point, Reading: x.b.Session.Reading()}
	if x.b.point == "" { // before and after one entry
		a.Point, b.Point = "", x.a.point
	}
	return a, b
}

// difference compares the two contexts, as far as they can be replayed.
func (x *comparison) difference() (*diff.Difference, error) {
	if x.a.Replay == x.b.Replay {
		span, err := x.between(x.a.Replay, x.a.rec, x.b.rec)
		if err != nil {
			return nil, otherHint(err, "ctxtool replay --lenient skips it")
		}
		return span.Diff(&tokens.Pi)
	}
	a, err := x.between(x.a.Replay, x.a.rec, x.a.rec)
	if err != nil {
		return nil, err
	}
	b, err := x.between(x.b.Replay, x.b.rec, x.b.rec)
	if err != nil {
		return nil, err
	}
	return diff.Envelopes(&tokens.Pi, a.A, b.A)
}

// between is diff.Between, with notes on where the replay had to stop.
func (x *comparison) between(r *replay.Replay, a, b int) (*diff.Span, error) {
	span, err := diff.Between(r, a, b)
	if err == nil && span.Stopped != nil {
		x.e.note("%s: the comparison covers only what comes before it", span.Stopped)
	}
	return span, err
}

// print writes the result v, and returns errFound unless equal.
func (x *comparison) print(v show.Value, equal bool) error {
	var err error
	for _, r := range x.replays {
		err = cmp.Or(err, x.e.strictly(r.Session, r.AllFindings(), x.o.strict))
	}
	if err != nil {
		return err
	}
	err = x.e.print(&x.o.answer, []string{x.a.Session.Name, x.b.Session.Name}, v)
	return cmp.Or(err, found(!equal))
}

// listEntries lists the entries that only one of the two paths has. Entries of two sessions
// are the same if their ids are.
func (x *comparison) listEntries() (err error) {
	a, b := x.a.Session, x.b.Session
	pathA, _ := a.Path(x.a.rec)
	pathB, _ := b.Path(x.b.rec)
	same := func(i, j int) bool { return a == b && i == j || a != b && a.ID(i) != "" && a.ID(i) == b.ID(j) }
	shared := 0
	for shared < min(len(pathA), len(pathB)) && same(pathA[shared], pathB[shared]) {
		shared++
	}
	out := &diff.Entries{Schema: "ctxtool/diff.entries/1"}
	out.A, out.B = x.sides()
	if shared > 0 {
		last, err := outline.Rows(a, pathA[shared-1:shared])
		if err != nil {
			return err
		}
		out.Ancestor = &last[0]
	}
	if out.OnlyA, err = outline.Rows(a, pathA[shared:]); err != nil {
		return err
	}
	if out.OnlyB, err = outline.Rows(b, pathB[shared:]); err != nil {
		return err
	}
	return x.print(show.EntriesForms.Of(out), len(out.OnlyA)+len(out.OnlyB) == 0)
}
