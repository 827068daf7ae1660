package main

import (
	"bytes"
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
)

func newNameCommand(e *env) *cobra.Command {
	o := &writing{name: "name"}
	cmd := &cobra.Command{
		Use:   "name [flags] SESSION [TEXT]",
		Short: "Name a session",
		Long: "Name a session. Line ends in TEXT become spaces; without TEXT the name is taken away.\n\n" +
			writingHelp + writingStatus,
		Example: "  ctxtool name s.jsonl \"race in the queue\" --write",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			text := oneLine(strings.Join(args[1:], ""))
			if len(args) == 2 && strings.TrimSpace(text) == "" {
				return usagef("TEXT is empty: leave it out to take the name away") // an unset variable of a shell
			}
			return o.runOne(e, args[0], func(_ *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
				b.Add(sessionfmt.SessionInfo, sessionfmt.Field{Name: "name", Value: sessionfmt.AppendQuoted(nil, text)})
				return nil, nil
			})
		},
	}
	o.appendFlags(cmd)
	cmd.ValidArgsFunction = e.completeSession
	return cmd
}

// oneLine is a text on one line, as pi stores names: line ends become spaces.
func oneLine(text string) string {
	var b bytes.Buffer
	broken := false
	for _, r := range text {
		if r == '\r' || r == '\n' {
			broken = true
			continue
		}
		if broken {
			b.WriteByte(' ')
		}
		broken = false
		b.WriteRune(r)
	}
	return sessionfmt.TrimJS(b.String())
}
