package main

import (
	"fmt"
	"io"

	"ctxtool/internal/help"
	"ctxtool/migrate"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// convertOptions are the flags of ctxtool convert.
type convertOptions struct {
	redaction
	to, output string
}

func newConvertCommand(e *env) *cobra.Command {
	o := &convertOptions{}
	cmd := &cobra.Command{
		Use:   "convert [flags] SESSION -o FILE",
		Short: "Convert another agent's session to one of pi",
		Long: "Convert a session of another agent to one that pi loads. Its context at the leaf is\n" +
			"the same, and is compared before anything is written. Where that agent replaced all\n" +
			"messages, as in a compaction, the new ones follow a new root.",
		Example: "  ctxtool convert rollout.jsonl -o s.jsonl\n" +
			"  ctxtool convert 019db92a --to pi -o s.jsonl\n" +
			"  ctxtool convert rollout.jsonl -o - | ctxtool stats -",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runConvert(e, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write the new session to `FILE` (- for standard output)")
	choice(cmd, &o.to, "to", "pi", "convert to the format of `AGENT`: pi", []string{"pi"})
	o.redaction.flags(cmd)
	help.Group(f, "Writing", "output", "to")
	return cmd
}

func runConvert(e *env, o *convertOptions, args []string) error {
	if o.output == "" {
		return usagef("-o is required (- for standard output)")
	}
	if err := o.redaction.start(e); err != nil {
		return usage(err)
	}
	if err := oneOf("unknown agent", []string{"pi"}, o.to); err != nil {
		return usage(err)
	}
	s, _, err := e.named(args)
	if err != nil {
		return err
	}
	defer s.Close()
	made, err := migrate.Convert(s)
	if err != nil {
		return err
	}
	defer made.Close()
	out, err := e.create(o.output, s.Name)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err = io.Copy(out, made.Plain()); err == nil {
		err = out.Commit()
	}
	if err == nil && o.output != "-" {
		fmt.Fprintf(e.stdout, "%s: %s\n", sessionfmt.Clean(o.output), made.Coverage)
	}
	return err
}
