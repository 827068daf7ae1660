package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/check"
)

// repairOptions are the flags of ctxtool repair.
type repairOptions struct {
	writing
	answerCalls bool
}

func newRepairCommand(e *env) *cobra.Command {
	o := &repairOptions{writing: writing{name: "repair"}}
	cmd := &cobra.Command{
		Use:   "repair [flags] SESSION|DIR...",
		Short: "Make a sound session of a damaged one; nothing is lost",
		Long: "Repair sessions: split glued lines, end torn tails, find parents for entries that\n" +
			"have lost theirs, break circles, rename ids that are there twice. What it does to\n" +
			"each line, and by which rule, is in the plan; how the context changes, too. The\n" +
			"result is read back and checked before anything is written.\n\n" +
			rewritingHelp + "\n" + filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read or written.",
		Example: "  ctxtool repair session.jsonl\n" +
			"  ctxtool repair session.jsonl -o - | ctxtool check -\n" +
			"  ctxtool repair session.jsonl --answer-calls --write",
		RunE: func(_ *cobra.Command, args []string) error { return runRepair(e, o, args) },
	}
	o.rewriteFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.answerCalls, "answer-calls", false, "append what makes tool calls and results fit each other")
	o.nowFlag(cmd, "what is appended")
	cmd.ValidArgsFunction = e.completeFiles
	return cmd
}

func runRepair(e *env, o *repairOptions, args []string) error {
	known, err := e.config.models()
	choice, wrong := check.Choose(nil, nil)
	if err = cmp.Or(err, wrong); err != nil {
		return usage(err)
	}
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		return plan.Repair(f.given, s, check.Options{Choice: choice, Models: known}, func(r *check.Repair) error {
			if !o.answerCalls {
				return nil
			}
			return otherHint(r.AnswerCalls(o.time), "without --answer-calls all else can be repaired")
		})
	}
	return o.run(e, args)
}
