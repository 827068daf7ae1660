package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
)

func newBranchCommand(e *env) *cobra.Command {
	o := &writing{name: "branch", alone: true}
	cmd := &cobra.Command{
		Use:   "branch [flags] SESSION POINT -o FILE",
		Short: "Make a new session of the path to an entry",
		Long: "Make a new session of the path to POINT, with request:N to what the request got. Its\n" +
			"header names this one as its parent.\n" +
			"Entries are taken over as they are; labels of the path are set again at its end,\n" +
			"with the times that they had, so that no entry loses its parent.\n\n" +
			pointHelp +
			"\nExit status: 0 the session was written, 2 the command line is wrong, 3 there is no\n" +
			"such session, it is damaged or old, or the file cannot be written.",
		Example: "  ctxtool branch s.jsonl turn:3 -o try.jsonl\n" +
			"  ctxtool branch s.jsonl turn:3 -o - | ctxtool replay -",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return runBranch(e, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write the new session to `FILE`, - for standard output")
	o.nowFlag(cmd, "the new session")
	cmd.ValidArgsFunction = e.completeEntries(1)
	return cmd
}

func runBranch(e *env, o *writing, args []string) error {
	now, err := e.nowFlag(o.now)
	if err != nil {
		return usage(err)
	}
	if o.output == "" {
		return usagef("-o FILE says where the new session goes, - is standard output")
	}
	name, err := e.store().Locate(args[0])
	if err != nil {
		return usage(err)
	}
	if e.sameFile(o.output, name) {
		return &usageError{&sessionfmt.Error{Pos: sessionfmt.Pos{File: o.output}, Err: errors.New("-o names the session itself, which stays")}}
	}
	e.frugal(name)
	var b *sessionfmt.BranchFile
	o.plan = func(_ *env, s *sessionfmt.Session, _ listedFile) (*plan.Plan, error) {
		leaf, err := findLeaf(s, args[1], s.Leaf())
		if err == nil {
			err = requireID(s, leaf)
		}
		from := ""
		if err == nil && name != "-" {
			from, err = filepath.Abs(e.disk.Path(name))
		}
		if err == nil {
			b, err = s.Branch(leaf, from, now)
		}
		if err != nil {
			return nil, err
		}
		return plan.Branch(args[0], s, leaf, b), nil
	}
	p, err := o.make(e, listedFile{path: name})
	if p != nil {
		defer p.Close()
	}
	if err == nil && o.output != "-" {
		fmt.Fprintf(e.stdout, "%s: session %s, %s, %s\n", sessionfmt.Clean(o.output), b.ID, plural(b.Entries, "entry", "entries"), plural(b.Labels, "label", "labels"))
	}
	return err
}

// plural is a number of things in words.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
