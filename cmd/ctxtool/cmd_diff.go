package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"ctxtool/replay"
	"ctxtool/replay/diff"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/outline"
	"ctxtool/sessionfmt/store"
)

// diffOptions are the flags of ctxtool diff.
type diffOptions struct {
	readFlags
	entries bool
}

func newDiffCommand(e *env) *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff [flags] SESSION[@A] [A] [B | OTHER[@B]]",
		Short: "Compare two contexts: what changed, and which entry changed it",
		Long: "Compare what the model had at two points of a session, or of two sessions: prompt,\n" +
			"tools, options, model, and message by message what was added, edited, truncated,\n" +
			"replaced, moved, removed or summarised away, by which entry and which op of its\n" +
			"patch. Without B it is what the entry A itself changed, by default the leaf.\n\n" +
			sessionHelp + "\n" +
			"Within a session messages are followed by where they come from; messages of two\n" +
			"sessions are the same where they say the same.\n\n" +
			"Forms (-f):\n" +
			"  text      a line for each difference, and of what changed the lines that did\n" +
			"  stat      tables: sizes of both sides, and of each kind of change\n" +
			"  markdown  a page for a review\n" +
			"  json      all that is needed to make B of A (docs/formats.md)\n\n" +
			"Exit status: 0 both are the same, 1 they differ, 2 the command line is wrong,\n" +
			"3 there is no answer: the input is missing or no session, a patch before both\n" +
			"points stopped the replay, or --strict found something.",
		Example: "  ctxtool diff s.jsonl request:6 request:7    # what the request added\n" +
			"  ctxtool diff s.jsonl 03dd9db7               # what that entry changed\n" +
			"  ctxtool diff s.jsonl@leaf other.jsonl@leaf -f stat\n" +
			"  ctxtool diff s.jsonl LEAF OTHER-LEAF --entries",
		Args: cobra.RangeArgs(1, 3),
		RunE: func(_ *cobra.Command, args []string) error { return runDiff(e, o, args) },
	}
	o.readFlags.flags(cmd, "text", "stat", "markdown", "json")
	cmd.Flags().BoolVar(&o.entries, "entries", false, "list the entries that only one of the two points has on its path instead")
	cmd.ValidArgsFunction = e.completeEntries(2)
	return cmd
}

// A diffEnd is one end of a comparison.
type diffEnd struct {
	file  string // that is opened
	given string // as it was named
	point string
	s     *sessionfmt.Session
	rec   int // the last record of the state, -1 for none
}

func runDiff(e *env, o *diffOptions, args []string) error {
	rules, err := o.start(e)
	if err != nil {
		return usage(err)
	}
	a, b, err := e.diffEnds(args)
	if err != nil {
		return err
	}
	if a.s, err = e.open(a.file); err != nil {
		return err
	}
	defer a.s.Close()
	if b.s = a.s; b.file != a.file {
		if b.s, err = e.open(b.file); err != nil {
			return err
		}
		defer b.s.Close()
	}
	x := &comparison{e: e, o: o, a: a, b: b}
	if x.models, err = e.config.models(); err != nil {
		return err
	}
	if err := x.find(rules); err != nil {
		return err
	}
	if o.entries {
		return x.listEntries()
	}
	return x.compare()
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
		return nil, nil, &usageError{errors.New("two points are compared, and here are more")}
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

// namesSession reports that an argument is no POINT of the session before it: a file, or
// SESSION@POINT.
func (e *env) namesSession(arg string) bool {
	file, point := store.SplitPoint(e.disk, arg)
	if point == "" {
		return e.disk.Has(file)
	}
	_, err := e.store().Locate(file)
	return err == nil
}

// A comparison is a run of ctxtool diff.
type comparison struct {
	e      *env
	o      *diffOptions
	a, b   *diffEnd
	models *models.Table
	ra, rb *replay.Replay // the same where the session is
}

// find finds the points. Without B it is the state before A and that behind it.
func (x *comparison) find(rules replay.Rules) (err error) {
	opt := replay.Options{Rules: rules, Leaf: x.a.s.Leaf(), Models: x.models}
	x.ra = replay.New(x.a.s, opt)
	if x.rb = x.ra; x.b.s != x.a.s {
		opt.Leaf = x.b.s.Leaf()
		x.rb = replay.New(x.b.s, opt)
	}
	if x.b.point == "" {
		at, err := findPoint(x.a.s, x.a.point, x.a.s.Leaf())
		if err != nil {
			return err
		}
		x.b.rec, at.Before = at.Record, true
		x.a.rec = x.a.s.LeafAt(at)
		return nil
	}
	if x.a.rec, err = findLeaf(x.a.s, x.a.point, x.a.s.Leaf()); err != nil {
		return err
	}
	x.b.rec, err = findLeaf(x.b.s, x.b.point, x.b.s.Leaf())
	return err
}

// sides are the two ends as an answer shows them.
func (x *comparison) sides() (a, b diff.Source) {
	a = diff.Source{File: x.e.fileName(x.a.given), Point: x.a.point}
	b = diff.Source{File: x.e.fileName(x.b.given), Point: x.b.point}
	if x.b.point == "" { // before and behind one entry: its id, and that of the one before
		a.Point, b.Point = "", x.a.point
	}
	return a, b
}

// difference replays and compares.
func (x *comparison) difference() (*diff.Difference, error) {
	if x.ra == x.rb {
		span, err := diff.Between(x.ra, x.a.rec, x.b.rec)
		if err != nil {
			return nil, otherHint(err, "ctxtool replay --lenient goes on over it")
		}
		if span.Stopped != nil {
			x.e.note("%s: compared is what came before", span.Stopped)
		}
		return span.Diff(&tokens.Pi)
	}
	a, err := x.state(x.ra, x.a.rec)
	if err != nil {
		return nil, err
	}
	b, err := x.state(x.rb, x.b.rec)
	if err != nil {
		return nil, err
	}
	return diff.Envelopes(&tokens.Pi, a, b)
}

// state is the envelope behind a record, or the last one before a broken patch.
func (x *comparison) state(r *replay.Replay, rec int) (*replay.Envelope, error) {
	span, err := diff.Between(r, rec, rec)
	if err != nil {
		return nil, err
	}
	if span.Stopped != nil {
		x.e.note("%s: compared is what came before", span.Stopped)
	}
	return span.A, nil
}

func (x *comparison) compare() error {
	d, err := x.difference()
	if err != nil {
		return err
	}
	d.A.Source, d.B.Source = x.sides()
	return x.print(d, d.Equal())
}

// print writes what was found, says how much was read, and answers by the exit status.
func (x *comparison) print(v any, equal bool) error {
	replays := []*replay.Replay{x.ra, x.rb}
	if x.ra == x.rb {
		replays = replays[:1]
	}
	var err error
	for _, r := range replays {
		err = cmp.Or(err, x.e.strictly(r.Session, r.AllFindings(), x.o.strict))
	}
	if err != nil {
		return err
	}
	x.o.cleaned = x.e.screen(x.o.output).Colour && x.o.format == "text"
	if err := x.e.print(&x.o.answer, []string{x.a.s.Name, x.b.s.Name}, v); err != nil {
		return err
	}
	for _, r := range replays {
		x.e.noteCoverage(r.Session, r.Rules)
	}
	if !equal {
		return errFound
	}
	return nil
}

// listEntries lists what only one of the two paths has. Of two sessions entries are the
// same that have one id.
func (x *comparison) listEntries() error {
	pathA, _ := x.a.s.Path(x.a.rec)
	pathB, _ := x.b.s.Path(x.b.rec)
	shared := 0
	for shared < min(len(pathA), len(pathB)) && x.sameEntry(pathA[shared], pathB[shared]) {
		shared++
	}
	out := &diff.Entries{Schema: "ctxtool/diff.entries/1"}
	out.A, out.B = x.sides()
	if shared > 0 {
		last, err := outline.Rows(x.a.s, pathA[shared-1:shared])
		if err != nil {
			return err
		}
		out.Ancestor = &last[0]
	}
	var err error
	if out.OnlyA, err = outline.Rows(x.a.s, pathA[shared:]); err != nil {
		return err
	}
	if out.OnlyB, err = outline.Rows(x.b.s, pathB[shared:]); err != nil {
		return err
	}
	return x.print(out, len(out.OnlyA)+len(out.OnlyB) == 0)
}

func (x *comparison) sameEntry(a, b int) bool {
	if x.a.s == x.b.s {
		return a == b
	}
	id := x.a.s.ID(a)
	return id != "" && id == x.b.s.ID(b)
}
