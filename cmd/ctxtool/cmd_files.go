package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/phrase"
	"ctxtool/internal/read/store"
	"ctxtool/migrate"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

type branchOptions struct{ writeFlags }

func (o *branchOptions) define(f *flagSet) {
	o.name, o.alone = "branch", true
	f.StringVarP(&o.output, "output", "o", "", "write the new session to `FILE` (- for standard output)")
	o.nowFlag(f, "the new session")
}

func runBranch(e *env, o *branchOptions, args []string) error {
	now, err := e.nowFlag(o.now)
	if err != nil {
		return usage(err)
	}
	if o.output == "" {
		return usagef("-o is required (- for standard output)")
	}
	name, err := e.store().Locate(args[0])
	if err != nil {
		return usage(err)
	}
	if e.sameFile(o.output, name) {
		return usage(sessionfmt.Errorf("-o must not name the session").In(o.output))
	}
	e.frugal(name)
	var b *sessionfmt.BranchFile
	o.plan = func(_ *env, s *sessionfmt.Session, _ listedFile) (*plan.Plan, error) {
		leaf, err := e.wholeBatch(s, args[1])
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
		fmt.Fprintf(e.stdout, "%s: session %s, %s, %s\n", sessionfmt.Clean(o.output), b.ID,
			phrase.Count(b.Entries, "entry"), phrase.Count(b.Labels, "label"))
	}
	return err
}

// wholeBatch returns the point for appending entries below the given one: within a batch, the end of that
// batch.
func (e *env) wholeBatch(s *sessionfmt.Session, point string) (int, error) {
	at, err := findLeaf(s, point, s.Leaf())
	if err != nil {
		return at, err
	}
	end, err := compact.BatchEnd(s, at)
	if end != at {
		e.note("%s: entry %s is inside a batch of changes: using %s, the end of the batch", s.Name, s.ID(at), s.ID(end))
	}
	return end, err
}

type migrateOptions struct {
	writeFlags
	replayFlags
	to          int
	compactions string
}

func (o *migrateOptions) define(f *flagSet) {
	o.name = "migrate"
	o.rewriteFlags(f)
	f.IntVar(&o.to, "to", 3, "upgrade to `VERSION`: 2 or 3")
	f.choice(&o.compactions, "compaction", "auto", "convert compactions by `MODE`:", "--compaction",
		migrate.Compactions)
	o.rulesFlag(f)
	f.complete("to", []string{"2", "3"})
}

func runMigrate(e *env, o *migrateOptions, args []string) error {
	if o.to != 2 && o.to != 3 {
		return usagef("--to %d: must be 2 or 3", o.to)
	}
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		if !o.alone && s.Foreign() != nil {
			return plan.Skip(o.name, f.given, s, "nothing to upgrade: a session of another agent"), nil
		}
		return plan.Migrate(f.given, s, migrate.Options{To: o.to, Compaction: migrate.Compaction(o.compactions),
			Rules: o.by})
	}
	return o.run(e, args)
}

type repairOptions struct {
	writeFlags
	answerCalls bool
	provider    string
	known       *models.Table
}

func (o *repairOptions) define(f *flagSet) {
	o.name, o.lists = "repair", true
	o.rewriteFlags(f)
	f.BoolVar(&o.answerCalls, "answer-calls", false, "append entries that pair tool calls with their results")
	f.choice(&o.provider, "provider", "", "append the least that makes `PROVIDER` accept the next request:",
		"unknown provider", check.Providers)
	f.exclude("provider", "answer-calls")
	o.nowFlag(f, "what is appended")
	f.models(&o.known)
}

func runRepair(e *env, o *repairOptions, args []string) error {
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		if o.Write {
			if err := s.Foreign(); err != nil {
				return nil, otherHint(err, "ctxtool repair "+sessionfmt.Quote(f.given)+" -o NEW.jsonl repairs a copy")
			}
		}
		p, err := plan.Repair(f.given, s, check.Options{Models: o.known, Provider: o.provider},
			func(r *check.Repair) error {
				if o.provider != "" {
					return otherHint(r.Accept(o.provider, o.time), "ctxtool import "+sessionfmt.Quote(f.given)+
						" -o - | ctxtool repair --provider "+o.provider+" - -o NEW.jsonl")
				}
				if !o.answerCalls {
					return nil
				}
				return otherHint(r.AnswerCalls(o.time), "without --answer-calls, repair fixes the rest")
			})
		if err == nil && o.provider == "" && !o.answerCalls {
			if err = p.Unrepaired(); err != nil {
				p.Close()
				return nil, err
			}
		}
		return p, err
	}
	return o.run(e, args)
}

type redactOptions struct {
	writeFlags
	redaction
	report bool
}

func (o *redactOptions) define(f *flagSet) {
	o.name, o.whole, o.stays = "redact", true, ", which redact never changes"
	o.writeFlags.flags(f, "the redacted session to `FILE`, or into a folder", "text", "json")
	o.redaction.ruleFlags(f)
	f.choice(&o.images, "images", "keep",
		"what to do with images: `WAY` is keep, without their metadata, or drop, for a single pixel", "--images",
		[]string{"keep", "drop"})
	f.BoolVar(&o.report, "report", false, "list all entries of each rule, and explain what is not searched")
}

func runRedact(e *env, o *redactOptions, args []string) error {
	r, err := o.redactor(e)
	if err != nil {
		return usage(err)
	}
	o.shown = func(f listedFile) string { return r.Text(f.given) }
	e.redactor, e.asIs = r, true
	o.plan = func(e *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		opt := e.opening(1)
		if o.alone {
			opt.Workers = 0
		}
		p, err := plan.Redact(f.given, s, r, opt)
		if err == nil {
			p.Report = o.report
		}
		return p, err
	}
	return o.run(e, args)
}

type checkOptions struct {
	answer
	redaction
	failOn, min string
	only, skip  []string
	implemented []string
	explain     string
	provider    string
	coverage    bool
	known       *models.Table
}

func (o *checkOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "json", "jsonl", "sarif", "github")
	f.choice(&o.failOn, "fail-on", "warning", "exit with 1 on findings of this `SEVERITY` or worse:", "",
		[]string{"error", "warning"})
	f.choice(&o.min, "min", "info", "list only findings of this `SEVERITY` or worse:", "--min",
		[]string{"error", "warning", "info"})
	f.StringSliceVar(&o.only, "only", nil, "only these `CHECKS`: codes or groups ("+
		strings.Join(namesOf(check.Groups(), func(g check.Group) string { return g.Name }), ", ")+")")
	f.StringSliceVar(&o.skip, "skip", nil, "skip these `CHECKS`")
	f.StringSliceVar(&o.implemented, "implemented", nil, "report calls of tools other than `NAMES`")
	f.choice(&o.provider, "provider", "", "check also what `PROVIDER` refuses of the next request:", "unknown provider",
		check.Providers)
	f.choice(&o.explain, "explain", "", "print the page of the check `CODE`", "unknown check", checkCodes())
	f.BoolVar(&o.coverage, "coverage", false,
		"list the fields and the types of lines that nothing reads, and exit with 1 if one is new")
	o.redaction.flags(f)
	f.models(&o.known)
	f.before(func() error { return o.textOnly("explain", o.explain) })
	f.exclude("coverage", "explain", "only", "skip", "fail-on", "min", "implemented", "provider")
	f.complete("only", checkCodes())
	f.complete("skip", checkCodes())
}

func checkCodes() []string {
	return namesOf(check.All(), func(c *check.Check) string { return c.Code })
}

func runCheck(e *env, o *checkOptions, args []string) error {
	failOn, err := check.ParseSeverity(o.failOn)
	if err != nil || failOn == check.Info {
		return usagef("--fail-on %q: must be error or warning", sessionfmt.Quote(o.failOn))
	}
	least, _ := check.ParseSeverity(o.min) // the flag was checked
	if !o.given("fail-on") {
		failOn = max(failOn, least) // a gate with an empty list could not say why it fails
	}
	choice, err := check.Choose(o.only, o.skip)
	if err != nil {
		return usage(err)
	}
	if o.explain != "" {
		return e.printText(&o.answer, nil, check.Find(o.explain).Page())
	}
	files, err := e.sessions(args)
	if err != nil {
		return usage(err)
	}
	if o.coverage && (o.format == "sarif" || o.format == "github") {
		return usagef("--coverage has no form %s", o.format)
	}
	if o.coverage {
		return o.cover(e, files)
	}
	report := check.Together(o.checked(e, files, choice))
	failed := slices.ContainsFunc(report.Files, func(f *check.Report) bool {
		worst, any := f.Worst()
		return any && worst >= failOn
	})
	report.List(least)
	if err := e.print(&o.answer, paths(files), show.CheckForms.Of(report)); err != nil {
		return err
	}
	if report.Totals.Unread == report.Totals.Files {
		return errors.New("no file could be read as a session")
	}
	return found(failed)
}

// cover reports the fields in the files that no reader uses.
func (o *checkOptions) cover(e *env, files []listedFile) error {
	var all check.Coverage
	broken := 0
	for _, f := range files {
		s, err := e.open(f.path)
		if err == nil {
			err = all.Add(s, e.fileName(f.given))
			s.Close()
		}
		if err != nil && len(files) == 1 {
			return err
		}
		if err != nil {
			broken++
			e.note("%s: %s", e.fileName(f.given), e.reason(err))
		}
	}
	if err := noneRead(broken, len(files)); err != nil {
		return err
	}
	if err := e.print(&o.answer, paths(files), show.CoverageForms.Of(all.Sorted())); err != nil {
		return err
	}
	return found(all.New())
}

// checked returns the reports on the files. One file is checked on all CPUs, several on one each.
func (o *checkOptions) checked(e *env, files []listedFile, choice check.Choice) []*check.Report {
	opt := check.Options{Choice: choice, Models: o.known, Now: e.now(), Implemented: o.implemented,
		Provider: o.provider, Open: e.opening(0)}
	opt.Open.Opened = nil
	if len(files) > 1 {
		opt.Open.Workers = 1
	}
	return inParallel(e, files, func(f listedFile, show func(done, size int64)) *check.Report {
		mine := opt
		mine.Open.Progress = show
		if len(files) == 1 {
			e.collect(10) // there is hardly any garbage
		}
		r := check.File(f.path, mine)
		name := e.fileName(f.given)
		if short := e.store().Short(f.path); o.format == "text" && short != "" {
			name = short
		}
		r.Rename(name)
		return r
	})
}

type importOptions struct {
	redaction
	output string
	resume bool
}

func (o *importOptions) define(f *flagSet) {
	f.StringVarP(&o.output, "output", "o", "", "write the new session to `FILE` (- for standard output)")
	f.BoolVar(&o.resume, "resume", false, "write it where pi keeps its sessions, and print the command that resumes it")
	f.exclude("resume", "output")
	o.redaction.flags(f)
}

func runImport(e *env, o *importOptions, args []string) error {
	if o.output == "" && !o.resume {
		return usage(sessionfmt.Errorf("--resume or -o is required").
			Hinted("--resume writes to pi's folder, -o FILE to a file, -o - to standard output"))
	}
	s, _, err := e.named(args)
	if err != nil {
		return err
	}
	made, err := e.held(migrate.Convert(s))
	if err != nil {
		return err
	}
	if o.resume {
		if err = o.place(e, made); err != nil {
			return err
		}
	}
	err = e.answer(&answer{output: o.output, unpaged: true}, []string{s.Name}, func(w *bufio.Writer) error {
		_, err := io.Copy(w, made.Plain())
		return err
	})
	switch {
	case err != nil || o.output == "-":
		return err
	case o.resume:
		_, err = fmt.Fprintf(e.stdout, "pi --session %s\n", shell.Quote(o.output))
	default:
		_, err = fmt.Fprintf(e.stdout, "%s: %s\n", sessionfmt.Clean(o.output), made.Coverage)
	}
	return err
}

// place returns the name for the file in pi's store. It must not exist: the session may have continued there.
func (o *importOptions) place(e *env, made *sessionfmt.Session) error {
	header, err := made.HeaderLine()
	if err != nil {
		return err
	}
	o.output = store.NewFile(e.getenv, e.home, header)
	if e.disk.Has(o.output) {
		return sessionfmt.Errorf("the session was imported before").In(o.output).
			Hinted("pi --session " + shell.Quote(o.output))
	}
	return e.disk.MkdirAll(filepath.Dir(o.output))
}
