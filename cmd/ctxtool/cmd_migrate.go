package main

import (
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/internal/plan"
	"ctxtool/migrate"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// migrateOptions are the flags of ctxtool migrate.
type migrateOptions struct {
	writing
	to          int
	compactions string
	rules       string
}

func newMigrateCommand(e *env) *cobra.Command {
	o := &migrateOptions{writing: writing{name: "migrate"}}
	cmd := &cobra.Command{
		Use:   "migrate [flags] SESSION|DIR...",
		Short: "Bring old sessions to today's format, and compactions to patches",
		Long: "Bring sessions of versions 1 and 2 to version 3. Untouched members, their order and\n" +
			"spelling survive, and so does the context at every entry. A session that is current\n" +
			"comes out byte for byte.\n\n" +
			"What becomes of compactions (--compaction):\n" +
			"  pair       a patch, and behind it the compaction as its shadow: agents that replay\n" +
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
	f.StringVar(&o.compactions, "compaction", "auto", "what becomes of compactions: "+strings.Join(migrate.CompactionNames(), ", "))
	f.StringVar(&o.rules, "rules", "auto", "`RULES` to replay by: "+strings.Join(replay.RulesNames(), ", "))
	complete(cmd, "to", []string{"2", "3"})
	complete(cmd, "compaction", migrate.CompactionNames())
	complete(cmd, "rules", replay.RulesNames())
	cmd.ValidArgsFunction = e.completeFiles
	return cmd
}

func runMigrate(e *env, o *migrateOptions, args []string) error {
	how, err := migrate.ParseCompaction(o.compactions)
	if err != nil {
		return usagef("%w: one of %s", err, strings.Join(migrate.CompactionNames(), ", "))
	}
	rules, err := (&reading{rules: o.rules}).check()
	if err != nil {
		return usage(err)
	}
	if o.to != 2 && o.to != 3 {
		return usagef("--to %d: versions to migrate to are 2 and 3", o.to)
	}
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		return plan.Migrate(f.given, s, migrate.Options{To: o.to, Compaction: how, Rules: rules})
	}
	return o.run(e, args)
}
