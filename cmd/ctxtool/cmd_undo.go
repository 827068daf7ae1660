package main

import (
	"github.com/spf13/cobra"

	"ctxtool/compact"
	"ctxtool/internal/plan"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

func newUndoCommand(e *env) *cobra.Command {
	o := &writing{name: "undo"}
	cmd := &cobra.Command{
		Use:   "undo [flags] SESSION",
		Short: "Take back the last batch that made a context smaller, by appending entries",
		Long: "Take back what reduce, truncate, prune, strip or compact last appended: edits by edits\n" +
			"that repeat what the messages said before; a compaction or a patch by going on\n" +
			"before it, while nothing but labels and settings follows. Otherwise it refuses,\n" +
			"and says what would not come back.\n\n" +
			"SESSION is a file (plain, gzip or zstd), - for standard input, or a session's id or\n" +
			"its beginning.\n\n" +
			writingHelp + inUseHelp + "Not where the file ends with what is taken back.\n" + writingStatus,
		Example: "  ctxtool undo s.jsonl\n" +
			"  ctxtool undo s.jsonl --write",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runUndo(e, o, args) },
	}
	o.appendFlags(cmd)
	o.forceFlag(cmd, "append")
	cmd.ValidArgsFunction = e.completeSession
	return cmd
}

func runUndo(e *env, o *writing, args []string) error {
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		u, err := compact.FindLast(s)
		if err != nil {
			return nil, err
		}
		o.guarded = !u.Last // else nobody has written since
		return o.entries(s, f, u.Parent, func(s *sessionfmt.Session, b *sessionfmt.Batch) (plan.Promise, error) {
			return nil, compact.Undo(replay.New(s, replay.Options{Leaf: s.Leaf()}), b)
		})
	}
	return o.runOne(e, args[0], nil)
}
