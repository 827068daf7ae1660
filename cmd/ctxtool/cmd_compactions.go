package main

import (
	"cmp"

	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/replay/reuse"
	"ctxtool/replay/tokens"

	"github.com/spf13/cobra"
)

// compactionsOptions are the flags of ctxtool compactions.
type compactionsOptions struct {
	readFlags
	at    string
	limit int
}

func newCompactionsCommand(e *env) *cobra.Command {
	o := &compactionsOptions{}
	cmd := &cobra.Command{
		Use:   "compactions [flags] SESSION",
		Short: "Show what each compaction dropped that was used again",
		Long: "Show what each compaction dropped that was used again: calls that later answers made\n" +
			"again, files that they named, lines and identifiers that they repeated, and that\n" +
			"neither the summary nor a kept message says. Each has the entry that it came from\n" +
			"and the requests whose answers used it. Calls that only look (git status, ls) are\n" +
			"left out. ctxtool stats --lens compactions has the figures.\n\n" +
			sessionHelp + "\n" +
			"Exit status: 0 there are compactions, 1 there are none on the path, 2 the command\n" +
			"line is wrong, 3 there is no answer: the input is missing or no session, or --strict\n" +
			"found something.",
		Example: "  ctxtool compactions s.jsonl\n" +
			"  ctxtool compactions s.jsonl --limit 0\n" +
			"  ctxtool compactions s.jsonl -f jsonl | jq -r '.used[] | select(.kind == \"path\").what'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCompactions(e, o, args) },
	}
	o.readFlags.flags(cmd, "text", "jsonl")
	cmd.Flags().StringVar(&o.at, "at", "", "the path to this `POINT` instead of the leaf")
	cmd.Flags().IntVar(&o.limit, "limit", 10, "show `N` things a compaction in text, 0 for all")
	return cmd
}

func runCompactions(e *env, o *compactionsOptions, args []string) error {
	if o.limit < 0 {
		return usagef("--limit %d: want a whole number from 0 on", o.limit)
	}
	rules, s, point, err := o.open(e, args)
	if err != nil {
		return err
	}
	defer s.Close()
	leaf, err := findLeaf(s, cmp.Or(o.at, point, "leaf"), s.Leaf())
	if err != nil {
		return err
	}
	r := replay.New(s, replay.Options{Rules: rules, Leaf: leaf})
	all, stopped, err := reuse.Compactions(r, leaf, &tokens.Pi)
	if err != nil {
		return err
	}
	if stopped != nil {
		e.note("%s: what came after it is not known", stopped)
	}
	if err := o.reply(e, r, render.Compactions{All: all, Limit: o.limit}, nil); err != nil {
		return err
	}
	if len(all) == 0 {
		return errFound
	}
	return nil
}
