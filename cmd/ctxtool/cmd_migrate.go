package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/internal/check"
	"ctxtool/migrate"
	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// migrateOptions are the flags of ctxtool migrate.
type migrateOptions struct {
	remaking
	to          int
	compactions string
	rules       string
}

func newMigrateCommand(e *env) *cobra.Command {
	o := &migrateOptions{}
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
			remakeHelp + "\n" + filesHelp +
			"\nExit status: 0 the plan was made, or the files were written; 2 the command line is\n" +
			"wrong; 3 a session cannot be read or written.",
		Example: "  ctxtool migrate old.jsonl\n" +
			"  ctxtool migrate old.jsonl --compaction pair -o - | ctxtool replay -\n" +
			"  ctxtool migrate ~/.pi/agent/sessions --write",
		RunE: func(_ *cobra.Command, args []string) error { return runMigrate(e, o, args) },
	}
	o.remaking.flags(cmd)
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
	if err := o.answer.check(); err != nil {
		return usage(err)
	}
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
	o.name = "migrate"
	o.plan = func(s *sessionfmt.Session) (*render.Remake, func(), error) {
		p, err := migrate.New(s, migrate.Options{To: o.to, Compaction: how, Rules: rules})
		if err != nil {
			return nil, nil, err
		}
		return planMigration(s, p), func() {}, nil
	}
	return o.run(e, args)
}

// planMigration is a migration for people.
func planMigration(s *sessionfmt.Session, p *migrate.Plan) *render.Remake {
	r := &render.Remake{From: p.From, To: p.To, Compactions: p.Compaction.String(), Changes: p.Changes, Same: p.Current()}
	if p.Turned > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d compactions become patches", p.Turned))
		if p.Turned == 1 {
			r.Notes[0] = "1 compaction becomes a patch"
		}
		if p.Rules == replay.ByPi {
			r.Notes = append(r.Notes, "the session then replays by envelope rules: it holds a patch")
		}
	}
	if p.Compaction == migrate.Transform && p.Turned > 0 {
		r.Grown = &p.Grown
		r.Notes = append(r.Notes, "pi, which reads no patches, then has a context "+grown(p.Grown))
	}
	for _, f := range p.Native {
		r.Left = append(r.Left, check.Finding{Code: f.Code, Severity: check.Warning, File: s.Name, Line: f.Line, Entry: f.Entry, Text: f.Text})
	}
	return r
}

// grown says by how much a context is larger.
func grown(tokens int) string {
	switch {
	case tokens > 0:
		return fmt.Sprintf("that is %d tokens larger", tokens)
	case tokens < 0:
		return fmt.Sprintf("that is %d tokens smaller: it lacks the summary", -tokens)
	}
	return "of the same size"
}
