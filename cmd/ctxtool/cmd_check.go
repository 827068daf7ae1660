package main

import (
	"bufio"
	"cmp"
	"errors"
	"runtime/debug"
	"strings"

	"ctxtool/internal/help"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/check"

	"github.com/spf13/cobra"
)

// checkOptions are the flags of ctxtool check.
type checkOptions struct {
	answer
	redaction
	failOn      string
	only, skip  []string
	implemented []string
	explain     string
}

func newCheckCommand(e *env) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:     "check [flags] SESSION|DIR...",
		Aliases: []string{"fsck"},
		Short:   "Check sessions for damage",
		Long: "Check sessions for damage: lines, header, tree, compactions, edits, patches, tool\n" +
			"calls and limits of providers. Each finding has its place, and what it hides from\n" +
			"pi: the difference between the context with and without the damage.",
		Example: "  ctxtool check s.jsonl\n" +
			"  ctxtool check sessions/ --fail-on error -f github\n" +
			"  ctxtool check --explain orphan",
		RunE: func(_ *cobra.Command, args []string) error { return runCheck(e, o, args) },
	}
	f := cmd.Flags()
	o.answer.flags(cmd, "text", "json", "jsonl", "sarif", "github")
	choice(cmd, &o.failOn, "fail-on", "warning", "exit with 1 on findings of this `SEVERITY` or worse: error, warning", []string{"error", "warning"})
	f.StringSliceVar(&o.only, "only", nil, "only these `CHECKS`: codes or groups ("+groupNames()+")")
	f.StringSliceVar(&o.skip, "skip", nil, "skip these `CHECKS`")
	f.StringSliceVar(&o.implemented, "implemented", nil, "report calls of tools other than `NAMES`")
	choice(cmd, &o.explain, "explain", "", "print the page of the check `CODE`", checkCodes())
	o.redaction.flags(cmd)
	cmd.MarkFlagsMutuallyExclusive("explain", "format", "json")
	complete(cmd, "only", checkCodes())
	complete(cmd, "skip", checkCodes())
	help.Group(f, "Selection", "only", "skip")
	help.Group(f, "Gate", "fail-on")
	help.Group(f, "Output", "explain")
	return cmd
}

func groupNames() string {
	var names []string
	for _, g := range check.Groups {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

func checkCodes() (codes []string) {
	for _, c := range check.All() {
		codes = append(codes, c.Code)
	}
	return codes
}

func runCheck(e *env, o *checkOptions, args []string) error {
	if err := o.answer.check(); err != nil {
		return usage(err)
	}
	failOn, err := check.ParseSeverity(o.failOn)
	if err != nil || failOn == check.Info {
		return usagef("--fail-on %s: error or warning; an info is nothing to fail on", o.failOn)
	}
	choice, err := check.Choose(o.only, o.skip)
	if err != nil {
		return usage(err)
	}
	if o.explain != "" {
		return o.page(e)
	}
	if err := o.redaction.start(e); err != nil {
		return usage(err)
	}
	files, err := e.sessions(args)
	known, wrong := e.config.models()
	if err = cmp.Or(err, wrong); err != nil {
		return usage(err)
	}
	report := check.Together(o.checked(e, files, choice, known))
	if err := e.print(&o.answer, paths(files), report); err != nil {
		return err
	}
	if report.Totals.Unread == report.Totals.Files {
		return errors.New("nothing could be read as a session")
	}
	for _, f := range report.Files {
		if worst, any := f.Worst(); any && worst >= failOn {
			return errFound
		}
	}
	return nil
}

// checked checks the files: one on all processors, several each on one.
func (o *checkOptions) checked(e *env, files []listedFile, choice check.Choice, known *models.Table) []*check.Report {
	opt := check.Options{Choice: choice, Models: known, Now: e.now(), Implemented: o.implemented, Open: e.opening(0)}
	if len(files) > 1 {
		opt.Open.Workers = 1
	}
	return inParallel(e, files, func(f listedFile, show func(done, size int64)) *check.Report {
		mine := opt
		if mine.Open.Progress = show; len(files) == 1 {
			debug.SetGCPercent(10) // next to nothing is garbage
		}
		r := check.File(f.path, mine)
		r.Rename(e.fileName(f.given))
		return r
	})
}

// page prints the page of a check.
func (o *checkOptions) page(e *env) error {
	if err := oneOf("unknown check", checkCodes(), o.explain); err != nil {
		return usage(err)
	}
	return e.answer(&o.answer, nil, func(w *bufio.Writer) error {
		_, err := w.WriteString(check.Find(o.explain).Page())
		return err
	})
}
