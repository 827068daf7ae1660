package main

import (
	"errors"
	"fmt"
	"slices"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/lens/gate"
	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/export"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// exportOptions are the flags of ctxtool export.
type exportOptions struct {
	redaction
	export.Options
	to, shard string
	where     []string
	budgets   []gate.Budget // selection by figures
}

func (o *exportOptions) define(f *flagSet) {
	targets := namesOf(export.Targets, func(t *export.Target) string { return t.Name })
	f.choice(&o.to, "to", targets[0], "write as `TARGET`:", "unknown target", targets)
	f.StringVarP(&o.Dir, "output", "o", "", "write into the folder `DIR`")
	f.BoolVar(&o.Contents, "contents", false, "write the texts of messages too")
	f.choice(&o.As, "as", export.AsChat,
		"with --to jsonl, write lines of `FORM`: chat (default), a request each; sft, a turn each", "--as",
		[]string{export.AsChat, export.AsSFT})
	f.StringSliceVar(&o.where, "where", nil,
		"only sessions in which a figure is within `LIMIT`, such as 'session.tool-errors<=0.1'")
	f.complete("where", gate.FigureNames())
	f.StringVar(&o.shard, "shard", "", "export part `I/N` of the sessions, such as 2/10")
	f.cmd.MarkFlagRequired("output")
	f.before(func() error { return o.check(f) })
	f.before(func() (err error) {
		if o.shard != "" {
			o.Shard, err = export.ParseShard(o.shard)
		}
		return withFlag("--shard", err)
	})
	f.before(func() error {
		f.redact = f.redact || !f.Changed("redact")
		return nil
	})
	o.redaction.flags(f)
	f.models(&o.Stats.Replay.Models)
}

// check checks flag combinations, and reads the limits.
func (o *exportOptions) check(f *flagSet) error {
	switch whole := export.Find(o.to).Whole; {
	case o.Contents && whole:
		return fmt.Errorf("--contents is for tables: --to %s always has the texts", o.to)
	case f.Changed("as") && o.to != "jsonl":
		return errors.New("--as requires --to jsonl")
	}
	for _, text := range o.where {
		b, err := gate.ParseBudget(text)
		if err != nil {
			return withFlag("--where", err)
		}
		o.budgets = append(o.budgets, b)
	}
	return nil
}

// selected returns the sessions whose figures are within the limits.
func (o *exportOptions) selected(all []export.Input) (some []export.Input, err error) {
	if o.budgets == nil {
		return all, nil
	}
	of := gate.Gate{Budgets: o.budgets}
	read := o.Stats
	read.By, read.Entries, read.Targets = of.By(nil), gate.Entries, of.Targets()
	for _, l := range stats.Lenses {
		if slices.Contains(of.Lenses(), l.Name) {
			read.Lenses = append(read.Lenses, l)
		}
	}
	err = parallel.Ordered(all, func(in export.Input) (*export.Input, error) {
		one, err := read.Read(in.Path)
		if err != nil || gate.Holds(o.budgets, one) { // exporting an unreadable session reports why
			return &in, nil
		}
		return nil, nil
	}, func(in *export.Input, _ bool) error {
		if in != nil {
			some = append(some, *in)
		}
		return nil
	})
	return some, err
}

func runExport(e *env, o *exportOptions, args []string) error {
	files, err := e.listed(args)
	if err != nil {
		return err
	}
	// Garbage is collected more often while a large session is read, which takes much more memory.
	o.Large = func(is bool) {
		percent := 100
		if is {
			percent = 25
		}
		e.collect(percent)
	}
	o.Large(false)
	target := export.Find(o.to)
	e.asIs = !target.Whole // texts are redacted while they are written
	o.Stats.Counter, o.Stats.Open = &tokens.Pi, e.opening(0)
	o.Stats.Now = e.now()
	o.Disk, o.Note, o.Says = e.disk, e.note, e.reason
	if e.redactor != nil {
		o.Text = e.redactor.Text
	}
	if e.leaks != nil {
		o.Search = func(line []byte) error {
			if said := e.leaked(line); said != "" {
				return leak(said)
			}
			return nil
		}
	}
	show, end := e.progress("sessions", false)
	o.Progress = show
	defer end()
	var sessions []export.Input
	given := map[string]string{}
	for _, f := range byPath(files) {
		sessions = append(sessions, export.Input{Path: f.path, Name: f.name})
		given[e.disk.Path(f.path)] = f.path
	}
	o.Stats.Open.Opened = func(s *sessionfmt.Session) { // tables are made of absolute names
		name := s.Name
		if as, ok := given[e.disk.Path(name)]; ok {
			name = as
		}
		e.noteFindings(name, s.Findings)
	}
	if len(sessions) == 1 {
		e.frugal(sessions[0].Path)
	}
	if sessions, err = o.selected(sessions); err != nil {
		return err
	}
	done, err := target.Export(&o.Options, sessions)
	if said, is := errors.AsType[leak](err); is {
		e.note("%s; --redact removes them", said)
		return errFound
	}
	if err != nil {
		return err
	}
	end()
	return e.exported(done)
}

// A leak is an error that lists the likely secrets that were found.
type leak string

func (l leak) Error() string { return string(l) }

// leaked describes the likely secrets in a text; it is empty for none.
func (e *env) leaked(text []byte) string {
	found := redact.NewLeaks(e.leaks)
	found.Add(-1, text)
	return found.Summary(nil)
}

// exported prints what was exported.
func (e *env) exported(done *export.Result) error {
	unread := phrase.If(done.Unread > 0, ", of which %d cannot be read", done.Unread)
	e.note("%s: read %d of %s%s; %s written", e.fileName(done.Dir), done.Exported,
		phrase.Count(done.Sessions, "session"), unread, phrase.Count(done.Files, "file"))
	if done.Unread > 0 && done.Unread == done.Sessions {
		return errors.New("no session could be read: the tables say why")
	}
	return nil
}
