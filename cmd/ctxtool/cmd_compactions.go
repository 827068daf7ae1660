package main

import (
	"cmp"

	"ctxtool/internal/help"
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
		Use:   "compactions [flags] [SESSION[@POINT]]",
		Short: "Show what compactions dropped that mattered",
		Long: "Show what each compaction dropped that mattered, the most important first: demands\n" +
			"and failures that the summary does not have, what later answers used again, and\n" +
			"other paths and commands. Each item has the entry that it came from.\n" +
			"\n" +
			"Commands that only look (git status, ls) are left out. ctxtool stats --lens\n" +
			"compactions has the figures.",
		Example: "  ctxtool compactions s.jsonl\n" +
			"  ctxtool compactions s.jsonl --limit 0\n" +
			"  ctxtool compactions s.jsonl --json | jq -r '.lost[].what'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCompactions(e, o, args) },
	}
	o.readFlags.flags(cmd, "text", "jsonl")
	cmd.Flags().StringVar(&o.at, "at", "", "report the path to `POINT`")
	cmd.Flags().IntVar(&o.limit, "limit", 10, "print `N` items for each compaction (0: all)")
	help.Group(cmd.Flags(), "Selection", "at")
	help.Group(cmd.Flags(), "Output", "limit")
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
	shown := render.Compactions{All: all, Limit: o.limit}
	if s.Header() >= 0 {
		header, err := s.NewReader().Line(s.Header())
		if err != nil {
			return err
		}
		shown.Folder = header.Get("cwd").Text()
	}
	if err := o.reply(e, r, shown, nil); err != nil {
		return err
	}
	if len(all) == 0 {
		return errFound
	}
	return nil
}
