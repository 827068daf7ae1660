package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
		Short: "Upgrade old sessions to the current format, and compactions to patches",
		Long: "Bring sessions of versions 1 and 2 to version 3. Untouched fields, their order and\n" +
			"spelling survive, and so does the context at every entry. A session that is current\n" +
			"comes out byte for byte.\n\n" +
			"What becomes of compactions (--compaction):\n" +
			"  pair       a patch, and after it the compaction as its shadow: agents that replay\n" +
			"             patches read the one, pi the other\n" +
			"  transform  the patch alone; pi, which reads no patches, then sees more\n" +
			"  native     they stay as they are\n" +
			"  auto       pair where the session replays by envelope rules, else native\n" +
			"One whose meaning no patch can have stays as it is, and is named.\n\n" +
			rewritingHelp + "\n" + filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read or written.",
		Example: "  ctxtool migrate old.jsonl\n" +
			"  ctxtool migrate old.jsonl --compaction pair -o - | ctxtool replay -\n" +
			"  ctxtool migrate ~/.pi/agent/sessions --write",
		RunE: func(_ *cobra.Command, args []string) error { return runMigrate(e, o, args) },
	}
	o.rewriteFlags(cmd)
	f := cmd.Flags()
	f.IntVar(&o.to, "to", 3, "`VERSION` of the format to bring them to: 2 or 3")
	choice(cmd, &o.compactions, "compaction", "auto", "what becomes of compactions: "+strings.Join(migrate.Compactions, ", "), migrate.Compactions)
	choice(cmd, &o.rules, "rules", "auto", "`RULES` to replay by: "+strings.Join(replay.RulesNames(), ", "), replay.RulesNames())
	complete(cmd, "to", []string{"2", "3"})
	return cmd
}

func runMigrate(e *env, o *migrateOptions, args []string) error {
	rules, err := (&reading{rules: o.rules}).check()
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
		Short: "Repair damaged sessions; nothing is lost",
		Long: "Repair sessions: split glued lines, end torn tails, find parents for entries that\n" +
			"have lost theirs, break cycles, rename ids that are there twice. What it does to\n" +
			"each line, and by which rule, is in the plan; how the context changes, too. The\n" +
			"result is read back and checked before anything is written.\n\n" +
			rewritingHelp + "\n" + filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read or written.",
		Example: "  ctxtool repair session.jsonl\n" +
			"  ctxtool repair session.jsonl -o - | ctxtool check -\n" +
			"  ctxtool repair session.jsonl --answer-calls --write",
		RunE: func(_ *cobra.Command, args []string) error { return runRepair(e, o, args) },
	}
	o.rewriteFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.answerCalls, "answer-calls", false, "append what makes tool calls and results fit each other")
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
			"for several sessions into a folder. Each line is searched again as it is\n" +
			"written, and the result is opened: what is left of a secret fails the run.\n\n" +
			filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read, redacted or written.",
		Example: "  ctxtool redact session.jsonl\n" +
			"  ctxtool redact session.jsonl --env '*_TOKEN' -o shared.jsonl\n" +
			"  ctxtool redact session.jsonl --structure-only -o - | ctxtool check -",
		RunE: func(_ *cobra.Command, args []string) error { return runRedact(e, o, args) },
	}
	o.writeFlags.flags(cmd, "the redacted session to `FILE`, - for standard output, or into a folder", "text", "json")
	f := cmd.Flags()
	o.redaction.ruleFlags(cmd)
	f.BoolVar(&o.images, "images", false, "make a single pixel of every image")
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
