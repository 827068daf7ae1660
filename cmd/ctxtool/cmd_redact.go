package main

import (
	"github.com/spf13/cobra"

	"ctxtool/internal/plan"
	"ctxtool/sessionfmt"
)

// redactOptions are the flags of ctxtool redact.
type redactOptions struct {
	writing
	redaction
}

func newRedactCommand(e *env) *cobra.Command {
	o := &redactOptions{writing: writing{name: "redact", whole: true, stays: ", which is never written to"}}
	cmd := &cobra.Command{
		Use:   "redact [flags] SESSION|DIR...",
		Short: "Write sessions without secrets, addresses and user names",
		Long: "Redact sessions, in every string of every line, keys too, however they are spelled.\n" +
			"The same value becomes the same placeholder, [redacted:RULE-N] or user-N, so the\n" +
			"session opens, checks and replays as before.\n\n" +
			"Covered: secrets by the rules of gitleaks, keys with a well-known prefix that an\n" +
			"output cut short, passwords in URLs, e-mail addresses, the names of home directories\n" +
			"in paths, exact values (--values, --env) and rules of your own (--patterns). A secret\n" +
			"of at least 4 bytes that one place shows is replaced wherever it stands in the file.\n" +
			"Signatures and encrypted reasoning go, since nobody can look into them.\n\n" +
			"Not covered: names of people, hosts and projects; secrets that nothing around them\n" +
			"shows as such; placeholders for passwords in URLs (password, $PW); base64 and other\n" +
			"encodings; and images, which stay and are counted, unless --images makes a single\n" +
			"pixel of each.\n\n" +
			"Without -o it prints the plan: what each rule finds, and in which entries, never\n" +
			"the secrets. -o writes the redacted session to FILE, to standard output (-), or\n" +
			"for several sessions into a folder. Each line is looked through again as it is\n" +
			"written, and the result is opened: what is left of a secret fails the run.\n\n" +
			filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read, redacted or written.",
		Example: "  ctxtool redact session.jsonl\n" +
			"  ctxtool redact session.jsonl --env '*_TOKEN' -o shared.jsonl\n" +
			"  ctxtool redact session.jsonl --structure-only -o - | ctxtool check -",
		RunE: func(_ *cobra.Command, args []string) error { return runRedact(e, o, args) },
	}
	o.writing.flags(cmd, "the redacted session to `FILE`, - for standard output, or into a folder", "text", "json")
	f := cmd.Flags()
	o.redaction.ruleFlags(cmd)
	f.BoolVar(&o.images, "images", false, "make a single pixel of every image")
	cmd.ValidArgsFunction = e.completeFiles
	return cmd
}

func runRedact(e *env, o *redactOptions, args []string) error {
	r, err := o.redactor(e)
	if err != nil {
		return usage(err)
	}
	o.shown = func(f listedFile) string { return r.Text(f.given) }
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		workers := 1
		if o.alone {
			workers = 0
		}
		return plan.Redact(f.given, s, r, workers)
	}
	return o.run(e, args)
}
