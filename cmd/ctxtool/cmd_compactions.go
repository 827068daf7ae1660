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
		Short: "Show what each compaction dropped that mattered",
		Long: "Show what each compaction dropped that mattered, the most important first:\n" +
			"demands of the user and failures that its summary does not tell; what later\n" +
			"answers used again, that neither the summary nor a kept message has: calls,\n" +
			"paths, lines, identifiers; then the other paths and commands that the summary\n" +
			"does not tell. Each has the entry that it came from, and the requests whose\n" +
			"answers used it. Commands that only look (git status, ls) are left out. ctxtool\n" +
			"stats --lens compactions has the figures.\n\n" +
			sessionHelp + "\n" +
			"Exit status: 0 there are compactions, 1 there are none on the path, 2 the command\n" +
			"line is wrong, 3 there is no answer: the input is missing or no session, or --strict\n" +
			"found something.",
		Example: "  ctxtool compactions s.jsonl\n" +
			"  ctxtool compactions s.jsonl --limit 0\n" +
			"  ctxtool compactions s.jsonl -f jsonl | jq -r '.lost[] | select(.kind == \"constraint\").what'",
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
