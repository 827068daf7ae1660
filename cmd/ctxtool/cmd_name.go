package main

import (
	"github.com/spf13/cobra"

	"ctxtool/sessionfmt"
)

func newNameCommand(e *env) *cobra.Command {
	o := &writing{name: "name"}
	cmd := &cobra.Command{
		Use:   "name [flags] SESSION TEXT",
		Short: "Name a session",
		Long: "Name a session. Line ends in TEXT become spaces; an empty TEXT takes the name away.\n\n" +
			writingHelp + writingStatus,
		Example: "  ctxtool name s.jsonl \"race in the queue\" --write",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.run(e, args[0], func(_ *sessionfmt.Session, b *sessionfmt.Batch) error {
				b.Add(sessionfmt.SessionInfo, sessionfmt.Field{Name: "name", Value: sessionfmt.AppendQuoted(nil, oneLine(args[1]))})
				return nil
			})
		},
	}
	o.flags(cmd)
	cmd.ValidArgsFunction = e.completeSession
	return cmd
}
