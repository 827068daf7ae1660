package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/render"
	"ctxtool/sessionfmt"
)

// treeOptions are the flags of ctxtool tree.
type treeOptions struct {
	answer
	redaction
	leaf   string
	filter []string
	fold   bool
	strict bool
}

func newTreeCommand(e *env) *cobra.Command {
	o := &treeOptions{}
	cmd := &cobra.Command{
		Use:   "tree [flags] [SESSION]",
		Short: "Draw a session's tree",
		Long: "Draw the whole tree of a session, a line an entry: ● is on the path to the leaf,\n" +
			"○ is not. At a fork the branches come first, each with its size and its last\n" +
			"entry, then what goes on. Long runs of answers and results are one line.\n\n" +
			sessionHelp + "\n" +
			"The point of a SESSION@POINT, or --leaf, is where the active path ends.\n\n" +
			"Exit status: 0 the tree was drawn, 2 the command line is wrong, 3 there is no\n" +
			"answer: the input is missing or no session, or --strict found something.",
		Example: "  ctxtool tree s.jsonl\n" +
			"  ctxtool tree s.jsonl --filter user,compaction   # prompts and compactions\n" +
			"  ctxtool tree s.jsonl -f json | jq '.entries[] | select(.branch)'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runTree(e, o, args) },
	}
	f := cmd.Flags()
	o.answer.flags(cmd, "text", "json")
	f.StringVar(&o.leaf, "leaf", "", "the active path ends at this `POINT`")
	f.StringSliceVar(&o.filter, "filter", nil, "show only entries of these `KINDS`: user, assistant, compaction, ...")
	f.BoolVar(&o.fold, "fold", true, "put long runs into one line, in text")
	f.BoolVar(&o.strict, "strict", false, "fail on any finding")
	o.redaction.flags(cmd)
	cmd.ValidArgsFunction = e.completeSession
	complete(cmd, "filter", sessionfmt.KindNames())
	return cmd
}

// kinds reads names of kinds, nil for all.
func kinds(names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return nil, nil
	}
	only := map[string]bool{}
	for _, n := range names {
		if !slices.Contains(sessionfmt.KindNames(), n) {
			return nil, fmt.Errorf("unknown kind %q: one of %s", sessionfmt.Quote(n), strings.Join(sessionfmt.KindNames(), ", "))
		}
		only[n] = true
	}
	return only, nil
}

func runTree(e *env, o *treeOptions, args []string) error {
	if err := o.answer.check(); err != nil {
		return usage(err)
	}
	write := render.WriteTree
	if o.format == "json" {
		write = render.WriteTreeJSON
	}
	only, err := kinds(o.filter)
	if err = cmp.Or(err, o.redaction.start(e)); err != nil {
		return usage(err)
	}
	s, point, err := e.named(args)
	if err != nil {
		return err
	}
	defer s.Close()
	leaf, err := findLeaf(s, cmp.Or(o.leaf, point, "leaf"), s.Leaf())
	if err != nil {
		return err
	}
	_, found := s.Path(leaf)
	found = append(slices.Clone(s.Findings), found...)
	if err := e.strictly(s, found, o.strict); err != nil {
		return err
	}
	r := render.TreeReport{Nodes: s.Outline(leaf), Only: only, Fold: o.fold, Width: e.width(o.output), Coverage: s.Coverage, Found: found}
	if leaf >= 0 {
		id := s.ID(leaf)
		r.Leaf = &id
	}
	if err := e.answer(&o.answer, []string{s.Name}, func(w *bufio.Writer) error { return write(w, r) }); err != nil {
		return err
	}
	e.note("%s: %s", s.Name, s.Coverage)
	return nil
}
