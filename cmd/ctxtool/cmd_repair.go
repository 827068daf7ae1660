package main

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"ctxtool/internal/check"
	"ctxtool/render"
	"ctxtool/sessionfmt"
)

// repairOptions are the flags of ctxtool repair.
type repairOptions struct {
	remaking
	answerCalls bool
	now         string
}

func newRepairCommand(e *env) *cobra.Command {
	o := &repairOptions{}
	cmd := &cobra.Command{
		Use:   "repair [flags] SESSION|DIR...",
		Short: "Make a sound session of a damaged one; nothing is lost",
		Long: "Repair sessions: split glued lines, end torn tails, find parents for entries that\n" +
			"have lost theirs, break circles, rename ids that are there twice. What it does to\n" +
			"each line, and by which rule, is in the plan; how the context changes, too. The\n" +
			"result is read back and checked before anything is written.\n\n" +
			remakeHelp + "\n" + filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read or written.",
		Example: "  ctxtool repair session.jsonl\n" +
			"  ctxtool repair session.jsonl -o - | ctxtool check -\n" +
			"  ctxtool repair session.jsonl --answer-calls --write",
		RunE: func(_ *cobra.Command, args []string) error { return runRepair(e, o, args) },
	}
	o.remaking.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.answerCalls, "answer-calls", false, "append what makes tool calls and results fit each other")
	f.StringVar(&o.now, "now", "", "`TIME` of what is appended, as 2026-01-31T12:00:00Z")
	cmd.ValidArgsFunction = e.completeFiles
	return cmd
}

func runRepair(e *env, o *repairOptions, args []string) error {
	now, wrong := e.nowFlag(o.now)
	known, err := e.config.models()
	choice, fault := check.Choose(nil, nil)
	if err = cmp.Or(o.answer.check(), wrong, err, fault); err != nil {
		return usage(err)
	}
	o.name = "repair"
	o.plan = func(s *sessionfmt.Session) (*render.Remake, func(), error) {
		return planRepair(s, check.Options{Choice: choice, Models: known}, o.answerCalls, now)
	}
	return o.run(e, args)
}

// planRepair plans a repair, and proves it: what checking the result finds, and
// how the context changes.
func planRepair(s *sessionfmt.Session, opt check.Options, answerCalls bool, now time.Time) (*render.Remake, func(), error) {
	p, err := check.NewRepair(s)
	if err != nil {
		return nil, nil, err
	}
	if answerCalls {
		if err := p.AnswerCalls(now); err != nil {
			p.Close()
			return nil, nil, otherHint(err, "without --answer-calls all else can be repaired")
		}
	}
	r := &render.Remake{Changes: p.Changes, Same: p.Sound()}
	r.Before, r.After, r.Left, err = p.Proof(opt)
	if err != nil {
		p.Close()
		return nil, nil, err
	}
	return r, p.Close, nil
}
