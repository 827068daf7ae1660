package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// showOptions are the flags of ctxtool show.
type showOptions struct {
	answer
	reading
	redaction
}

func newShowCommand(e *env) *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use:   "show [flags] SESSION [POINT...]",
		Short: "Show entries whole, and what each did to the envelope",
		Long: "Show entries whole, and what each did to the envelope on its own path: messages,\n" +
			"tokens, parts, tools, and whether a provider's cache of the request before it can\n" +
			"still serve. Without a POINT it is the leaf.\n\n" +
			sessionHelp + "\n" +
			"Forms (-f):\n" +
			"  text   what it is, what it did, and the entry, indented\n" +
			"  json   the same as one object (docs/formats.md)\n" +
			"  raw    the line of the file, byte for byte\n\n" +
			"Exit status: 0 the entries were shown, 2 the command line is wrong, 3 there is\n" +
			"no answer: the input is missing or no session, or --strict found something.",
		Example: "  ctxtool show s.jsonl leaf turn:-1\n" +
			"  ctxtool show s.jsonl@race-fixed\n" +
			"  ctxtool show s.jsonl 4f2a -f raw | jq .message.usage",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runShow(e, o, args) },
	}
	o.answer.flags(cmd, "text", "json", "raw")
	o.reading.flags(cmd)
	o.redaction.flags(cmd)
	cmd.ValidArgsFunction = e.completeEntries(math.MaxInt)
	return cmd
}

func runShow(e *env, o *showOptions, args []string) error {
	rules, err := o.reading.check()
	if err = cmp.Or(o.answer.check(), err, o.redaction.start(e)); err != nil {
		return usage(err)
	}
	s, point, err := e.named(args)
	if err != nil {
		return err
	}
	defer s.Close()
	points := args[1:]
	if point != "" || len(points) == 0 {
		points = append([]string{cmp.Or(point, "leaf")}, points...)
	}
	r := replay.New(s, replay.Options{Rules: rules, Leaf: s.Leaf()})
	all, err := e.shown(r, points, o.format == "raw")
	if err != nil {
		return err
	}
	if err := e.strictly(s, r.AllFindings(), o.strict); err != nil {
		return err
	}
	return e.answer(&o.answer, []string{s.Name}, func(w *bufio.Writer) error { return writeShown(w, o.format, all) })
}

func writeShown(w *bufio.Writer, format string, all []replay.ShownEntry) error {
	if format == "json" {
		return render.WriteShownJSON(w, all)
	}
	for i, s := range all {
		if format == "raw" {
			w.Write(s.Entry)
			w.WriteByte('\n')
			continue
		}
		if i > 0 {
			w.WriteByte('\n')
		}
		if err := render.WriteShownText(w, &s); err != nil {
			return err
		}
	}
	return nil
}

// shown finds the entries, and unless they are wanted raw what each of them did.
// Behind a broken patch that is not known, and said once.
func (e *env) shown(r *replay.Replay, points []string, raw bool) (all []replay.ShownEntry, err error) {
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
			return nil, &usageError{fmt.Errorf("%s: %s has no entry to show", s.Name, sessionfmt.Quote(p))}
		}
		read := lines.Line
		if raw {
			read = func(i int) (sessionfmt.Value, error) { return lines.Raw(i) }
		}
		line, err := read(rec)
		if err != nil {
			return nil, err
		}
		one := replay.ShownEntry{
			ID: s.ID(rec), Line: s.Line(rec), Kind: s.Kind(rec).String(), Active: slices.Contains(path, rec), Entry: slices.Clone(line),
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
				e.note("%s: what it did is not known", err)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// effect is what an entry did on its own path.
func effect(r *replay.Replay, rec int) (*replay.EntryEffect, error) {
	known := r.Findings
	_, r.Findings = r.Session.Path(rec)
	span, err := r.Between(r.Session.LeafAt(sessionfmt.Point{Record: rec, Before: true}), rec)
	for _, f := range r.Findings { // paths of several entries have the same
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
	return span.B.Effect(span.A, &tokens.Pi)
}
