package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"ctxtool/internal/help"
	"ctxtool/internal/phrase"
	"ctxtool/internal/plan"
	"ctxtool/migrate"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/check"

	"github.com/spf13/cobra"
)

func newBranchCommand(e *env) *cobra.Command {
	o := &writeFlags{name: "branch", alone: true}
	cmd := &cobra.Command{
		Use:   "branch [flags] SESSION POINT -o FILE",
		Short: "Write the path to an entry as a new session",
		Long: "Write the path to POINT as a new session; its header names this session as its\n" +
			"parent. Entries are copied unchanged, and labels of the path are set again.",
		Example: "  ctxtool branch s.jsonl turn:3 -o try.jsonl\n" +
			"  ctxtool branch s.jsonl request:7 -o before-7.jsonl\n" +
			"  ctxtool branch s.jsonl turn:3 -o - | ctxtool replay -",
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return runBranch(e, o, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write the new session to `FILE` (- for standard output)")
	o.nowFlag(cmd, "the new session")
	help.Group(f, "Writing", "output")
	return cmd
}

func runBranch(e *env, o *writeFlags, args []string) error {
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
		fmt.Fprintf(e.stdout, "%s: session %s, %s, %s\n", sessionfmt.Clean(o.output), b.ID, phrase.Count(b.Entries, "entry"), phrase.Count(b.Labels, "label"))
	}
	return err
}

// migrateOptions are the flags of ctxtool migrate.
type migrateOptions struct {
	writeFlags
	to          int
	compactions string
	rules       string
}

func newMigrateCommand(e *env) *cobra.Command {
	o := &migrateOptions{writeFlags: writeFlags{name: "migrate"}}
	cmd := &cobra.Command{
		Use:   "migrate [flags] SESSION|DIR...",
		Short: "Upgrade sessions to the current format",
		Long: "Upgrade sessions to the current format. The context at every entry stays the same,\n" +
			"and so do all bytes that the upgrade does not concern.\n" +
			"\n" +
			"--compaction pair adds a patch before each compaction, transform replaces it by the\n" +
			"patch, and native keeps it. auto is pair for sessions with patches, else native.",
		Example: "  ctxtool migrate old.jsonl\n" +
			"  ctxtool migrate old.jsonl -o - | ctxtool replay -\n" +
			"  ctxtool migrate sessions/ --write",
		RunE: func(_ *cobra.Command, args []string) error { return runMigrate(e, o, args) },
	}
	o.rewriteFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.to, "to", 3, "upgrade to `VERSION`: 2 or 3")
	choice(cmd, &o.compactions, "compaction", "auto", "convert compactions by `MODE`: "+strings.Join(migrate.Compactions, ", "), migrate.Compactions)
	choice(cmd, &o.rules, "rules", "auto", "replay by `RULES`: "+strings.Join(replay.RulesNames(), ", "), replay.RulesNames())
	complete(cmd, "to", []string{"2", "3"})
	help.Group(f, "rules", "rules")
	return cmd
}

func runMigrate(e *env, o *migrateOptions, args []string) error {
	rules, err := (&replayFlags{rules: o.rules}).check()
	if err = cmp.Or(oneOf("unknown form of compactions", migrate.Compactions, o.compactions), err); err != nil {
		return usage(err)
	}
	if o.to != 2 && o.to != 3 {
		return usagef("--to %d: versions to migrate to are 2 and 3", o.to)
	}
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		return plan.Migrate(f.given, s, migrate.Options{To: o.to, Compaction: migrate.Compaction(o.compactions), Rules: rules})
	}
	return o.run(e, args)
}

// repairOptions are the flags of ctxtool repair.
type repairOptions struct {
	writeFlags
	answerCalls bool
}

func newRepairCommand(e *env) *cobra.Command {
	o := &repairOptions{writeFlags: writeFlags{name: "repair"}}
	cmd := &cobra.Command{
		Use:   "repair [flags] SESSION|DIR...",
		Short: "Repair damaged sessions",
		Long: "Repair damaged sessions: split glued lines, end torn lines, reparent orphans, break\n" +
			"cycles, rename duplicate ids. Nothing is lost: what cannot stay is quarantined.\n" +
			"\n" +
			"The plan lists every changed line with its rule, and how the context changes. The\n" +
			"result is read back and checked before it is written.",
		Example: "  ctxtool repair s.jsonl\n" +
			"  ctxtool repair s.jsonl -o - | ctxtool check -\n" +
			"  ctxtool repair s.jsonl --answer-calls --write",
		RunE: func(_ *cobra.Command, args []string) error { return runRepair(e, o, args) },
	}
	o.rewriteFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.answerCalls, "answer-calls", false, "append entries that pair tool calls with their results")
	o.nowFlag(cmd, "what is appended")
	return cmd
}

func runRepair(e *env, o *repairOptions, args []string) error {
	known, err := e.config.models()
	if err != nil {
		return usage(err)
	}
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		return plan.Repair(f.given, s, check.Options{Models: known}, func(r *check.Repair) error {
			if !o.answerCalls {
				return nil
			}
			return otherHint(r.AnswerCalls(o.time), "without --answer-calls all else can be repaired")
		})
	}
	return o.run(e, args)
}

// redactOptions are the flags of ctxtool redact.
type redactOptions struct {
	writeFlags
	redaction
}

func newRedactCommand(e *env) *cobra.Command {
	o := &redactOptions{writeFlags: writeFlags{name: "redact", whole: true, stays: ", which is never written to"}}
	cmd := &cobra.Command{
		Use:   "redact [flags] SESSION|DIR...",
		Short: "Write sessions without secrets and user names",
		Long: "Write sessions without secrets, e-mail addresses and user names. They open, check\n" +
			"and replay as before: the same value becomes the same placeholder everywhere.\n" +
			"\n" +
			"Each line is searched again as it is written; a remaining secret is an error.\n" +
			"ctxtool help redaction lists what is covered and what is not.",
		Example: "  ctxtool redact s.jsonl\n" +
			"  ctxtool redact s.jsonl --env '*_TOKEN' -o shared.jsonl\n" +
			"  ctxtool redact sessions/ --images -o shared/",
		RunE: func(_ *cobra.Command, args []string) error { return runRedact(e, o, args) },
	}
	o.writeFlags.flags(cmd, "the redacted session to `FILE`, or into a folder", "text", "json")
	f := cmd.Flags()
	o.redaction.ruleFlags(cmd)
	f.BoolVar(&o.images, "images", false, "replace every image by a single pixel")
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
