package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/lens/entry"
	"ctxtool/internal/lens/trace"
	"ctxtool/internal/out/show"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"

	"github.com/spf13/cobra"
)

type traceOptions struct {
	readFlags
	at, leaf      string
	regexp, fixed string
	ignoreCase    bool
	blame, before bool
	all           bool
	limit         int // 0 for all

	query *trace.Query // nil until the session is open, if it could be a point
}

func (o *traceOptions) define(f *flagSet) {
	f.cmd.Args = cobra.MaximumNArgs(2)
	o.readFlags.flags(f, "text", "jsonl")
	f.StringVar(&o.at, "at", "", "take the state at `POINT` as the current one")
	f.StringVar(&o.leaf, "leaf", "", "trace the branch that ends at `POINT`")
	f.StringVarP(&o.regexp, "regexp", "e", "", "search for `PATTERN`")
	f.StringVarP(&o.fixed, "fixed", "F", "", "search for `TEXT`, even if it names a point")
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "ignore case")
	f.BoolVar(&o.all, "all", false, "also list entries that never reached the context")
	f.Var(countFlag(&o.limit), "limit", "list only the last `N` messages, parts and tools")
	f.BoolVar(&o.blame, "blame", false, "list where each message at a point comes from")
	f.BoolVar(&o.before, "before", false, "take the state before the point")
	f.cmd.MarkFlagsMutuallyExclusive("regexp", "fixed", "blame")
	f.exclude("blame", "all", "ignore-case", "at", "limit")
	f.only([]string{"blame"}, "before")
}

// check checks the flags and the arguments after the session, before any input is opened.
func (o *traceOptions) check(args []string) (err error) {
	searches := o.regexp != "" || o.fixed != ""
	switch {
	case searches && len(args) > 0:
		return errors.New("TEXT conflicts with -e and -F")
	case !searches && !o.blame && len(args) == 0:
		return errors.New("missing TEXT or POINT, -e PATTERN, -F TEXT, or --blame")
	case len(args) > 0 && args[0] == "":
		return errors.New("TEXT is empty")
	}
	if searches {
		if o.query, err = o.search(cmp.Or(o.regexp, regexp.QuoteMeta(o.fixed)), o.fixed); err != nil {
			return fmt.Errorf("--regexp: %w", err)
		}
	}
	return nil
}

// search returns a query for a pattern. text, if not empty, is what the pattern matches.
func (o *traceOptions) search(pattern, text string) (*trace.Query, error) {
	if text != "" && !o.ignoreCase {
		return &trace.Query{Text: text}, nil
	}
	if o.ignoreCase {
		pattern = "(?i)" + pattern
	}
	compiled, err := regexp.Compile(pattern)
	return &trace.Query{Regexp: compiled}, err
}

func runTrace(e *env, o *traceOptions, args []string) error {
	wanted := args[min(1, len(args)):]
	if err := o.check(wanted); err != nil {
		return usage(err)
	}
	s, point, err := e.named(args)
	if err != nil {
		return err
	}
	leaf, err := findLeaf(s, cmp.Or(o.leaf, "leaf"), s.Leaf())
	if err != nil {
		return err
	}
	r := replay.New(s, replay.Options{Rules: o.by, Leaf: leaf})
	if o.blame {
		return e.blame(r, o, leaf, cmp.Or(strings.Join(wanted, ""), point, "leaf"))
	}
	now, err := findLeaf(s, cmp.Or(o.at, point, "leaf"), leaf)
	if err != nil {
		return err
	}
	if o.query == nil {
		if o.query, err = o.textOrPoint(e, s, wanted[0], leaf); err != nil {
			return err
		}
	}
	return e.trace(r, o, now)
}

// textOrPoint returns the query for an argument: for a point if it names one, else for the
// text.
func (o *traceOptions) textOrPoint(e *env, s *sessionfmt.Session, text string, leaf int) (*trace.Query, error) {
	at, err := findPoint(s, text, leaf)
	counted := strings.HasPrefix(text, "request:") || strings.HasPrefix(text, "turn:")
	switch {
	case err != nil && (counted || !errors.As(err, new(*sessionfmt.PointError))):
		return nil, err
	case err == nil && at.Record >= 0:
		if id := s.ID(at.Record); strings.HasPrefix(id, text) && id != text {
			e.note("%s: %s is the beginning of an entry id; use -F to search for the text", s.Name,
				sessionfmt.Quote(text))
		}
		return &trace.Query{Entry: at.Record}, nil
	}
	return o.search(regexp.QuoteMeta(text), text)
}

func (e *env) trace(r *replay.Replay, o *traceOptions, leaf int) error {
	traced, err := trace.Follow(r, leaf, o.query)
	if err != nil {
		return err
	}
	e.noteStop(traced.Stopped, "changes after it are unknown")
	if len(traced.Lives) == 0 || o.all {
		for stray, err := range traced.Strays(r, leaf, o.query) {
			if err != nil {
				return err
			}
			traced.Lives = append(traced.Lives, stray)
		}
	}
	if earlier := len(traced.Lives) - o.limit; o.limit > 0 && earlier > 0 {
		traced.Lives = traced.Lives[earlier:]
		e.note("%s: %d earlier results are not shown (--limit %d)", r.Session.Name, earlier, o.limit)
	}
	return cmp.Or(o.reply(e, r, show.TraceForms.Of(traced)), found(len(traced.Lives) == 0))
}

func (e *env) blame(r *replay.Replay, o *traceOptions, leaf int, point string) error {
	at, err := findPoint(r.Session, point, leaf)
	if err != nil {
		return err
	}
	at.Before = at.Before || o.before
	envelope, stopped, err := r.Reach(at)
	if err != nil {
		return err
	}
	e.noteStop(stopped, "showing the context before it")
	items, err := entry.Items(envelope)
	if err != nil {
		return err
	}
	return o.reply(e, r, show.BlameForms.Of(items))
}

type showOptions struct{ readFlags }

func (o *showOptions) define(f *flagSet) {
	f.cmd.Args = cobra.MinimumNArgs(1)
	o.flags(f, "text", "json", "raw")
}

func runShow(e *env, o *showOptions, args []string) error {
	s, point, err := e.named(args)
	if err != nil {
		return err
	}
	points := args[1:]
	if point != "" || len(points) == 0 {
		points = append([]string{cmp.Or(point, "leaf")}, points...)
	}
	r := replay.New(s, replay.Options{Rules: o.by})
	all, err := e.shown(r, points, o.format == "raw")
	if err != nil {
		return err
	}
	if err := e.strictly(s, r.AllFindings(), o.strict); err != nil {
		return err
	}
	return e.print(&o.answer, []string{s.Name}, show.ShownForms.Of(all))
}

// shown returns the entries at the points, and unless raw their effects. The effect of an
// entry after a broken patch is unknown, which is noted.
func (e *env) shown(r *replay.Replay, points []string, raw bool) (all []entry.Shown, err error) {
	s := r.Session
	path, _ := s.Path(s.Leaf())
	labels, err := s.Labels()
	if err != nil {
		return nil, err
	}
	lines := s.NewReader()
	for _, p := range points {
		at, err := findPoint(s, p, s.Leaf())
		if err != nil {
			return nil, err
		}
		rec := at.Record
		if rec < 0 {
			return nil, usagef("%s: %s has no entry to show", s.Name, sessionfmt.Quote(p))
		}
		read := lines.Line
		if raw {
			read = func(i int) (jsonl.Value, error) { return lines.Raw(i) }
		}
		line, err := read(rec)
		if err != nil {
			return nil, err
		}
		one := entry.Shown{
			ID: s.ID(rec), Line: s.Line(rec), Kind: s.Kind(rec).String(), Active: slices.Contains(path, rec),
			Entry: slices.Clone(line),
		}
		if up := s.Parent(rec); up >= 0 {
			one.Parent = s.ID(up)
		}
		for name, i := range labels {
			if i == rec {
				one.Label = name
			}
		}
		if !raw {
			if one.Effect, err = effect(r, rec); err != nil {
				e.note("%s: the effect of the entry is unknown", err)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// effect returns what an entry did to the context on its own path.
func effect(r *replay.Replay, rec int) (*entry.Effect, error) {
	known := r.Findings
	_, r.Findings = r.Session.Path(rec)
	span, err := diff.Between(r, r.Session.LeafAt(sessionfmt.Before(rec)), rec)
	for _, f := range r.Findings { // several entries can share a path
		if !slices.Contains(known, f) {
			known = append(known, f)
		}
	}
	r.Findings = known
	if err == nil {
		err = span.Stopped
	}
	if err != nil {
		return nil, err
	}
	return entry.EffectOf(span.A, span.B, &tokens.Pi)
}
