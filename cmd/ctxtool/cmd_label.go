package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
)

func newLabelCommand(e *env) *cobra.Command {
	o := &writing{name: "label"}
	cmd := &cobra.Command{
		Use:   "label [flags] SESSION POINT [TEXT]",
		Short: "Label an entry, or take its label away",
		Long: "Label the entry at POINT, or without TEXT take its label away. The label is hung on\n" +
			"the leaf, whatever it names, so the session goes on where it was.\n\n" +
			writingHelp + "\n" + pointHelp + writingStatus,
		Example: "  ctxtool label s.jsonl turn:3 \"before the refactoring\" --write\n" +
			"  ctxtool label s.jsonl 4f2a -f entries",
		Args: cobra.RangeArgs(2, 3),
		RunE: func(_ *cobra.Command, args []string) error { return runLabel(e, o, args) },
	}
	o.appendFlags(cmd)
	cmd.ValidArgsFunction = e.completeEntries(1)
	return cmd
}

func runLabel(e *env, o *writing, args []string) error {
	text := strings.Join(args[2:], "")
	if len(args) == 3 && text == "" {
		return usagef("TEXT is empty: leave it out to take the label away") // an unset variable of a shell
	}
	return o.runOne(e, args[0], func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
		target, err := e.entry(s, args[1])
		if err != nil {
			return nil, err
		}
		fields := []sessionfmt.Field{{Name: "targetId", Value: sessionfmt.AppendQuoted(nil, s.ID(target))}}
		if text != "" {
			fields = append(fields, sessionfmt.Field{Name: "label", Value: sessionfmt.AppendQuoted(nil, text)})
		}
		b.Add(sessionfmt.Label, fields...)
		return nil, nil
	})
}

// entry is the entry that a point names, which has to have an id.
func (e *env) entry(s *sessionfmt.Session, point string) (int, error) {
	at, err := findPoint(s, point, s.Leaf())
	if err != nil {
		return 0, err
	}
	return at.Record, requireID(s, at.Record)
}

// requireID returns an error for a record that is not an entry with an id of its own.
func requireID(s *sessionfmt.Session, i int) error {
	switch {
	case i < 0:
		return &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: errors.New("the root is no entry")}}
	case s.ID(i) == "" || s.Shadowed(i) || s.WrongID(i):
		return &sessionfmt.Error{Pos: s.Pos(i), Err: errors.New("it has no id of its own, by which it could be named"), Hint: "ctxtool repair mends it"}
	}
	return nil
}
