package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ctxtool/sessionfmt"
)

// branchOptions are the flags of ctxtool branch.
type branchOptions struct{ output, now string }

func newBranchCommand(e *env) *cobra.Command {
	o := &branchOptions{}
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
	f.StringVar(&o.now, "now", "", "`TIME` of the new session, as 2026-01-31T12:00:00Z")
	cmd.ValidArgsFunction = e.completeEntries(1)
	return cmd
}

func runBranch(e *env, o *branchOptions, args []string) error {
	now, err := e.nowFlag(o.now)
	if err != nil {
		return err
	}
	if o.output == "" {
		return errors.New("-o FILE says where the new session goes, - is standard output")
	}
	name, err := e.store().Locate(args[0])
	if err != nil {
		return err
	}
	if e.sameFile(o.output, name) {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.output}, Err: errors.New("-o names the session itself, which stays")}
	}
	e.started = true
	s, err := e.open(name)
	if err != nil {
		return err
	}
	defer s.Close()
	leaf, err := findLeaf(s, args[1], s.Leaf())
	if err == nil {
		err = requireID(s, leaf)
	}
	if err != nil {
		return err
	}
	from := ""
	if name != "-" {
		if from, err = filepath.Abs(e.disk.Path(name)); err != nil {
			return err
		}
	}
	b, err := s.Branch(leaf, from, now)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { _, err := b.WriteTo(w); return err }
	if o.output == "-" {
		w := bufio.NewWriterSize(e.stdout, 64<<10)
		return cmp.Or(write(w), w.Flush())
	}
	if err := e.place(o.output, write); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "%s: session %s, %s, %s\n", sessionfmt.Clean(o.output), b.ID, number(b.Entries, "entry", "entries"), number(b.Labels, "label", "labels"))
	return nil
}

// number is a number of things in words.
func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
