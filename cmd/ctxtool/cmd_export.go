package main

import (
	"ctxtool/internal/check"
	"ctxtool/internal/export"
	"ctxtool/internal/phrase"
	"ctxtool/replay/tokens"
)

// exportOptions are the flags of ctxtool export.
type exportOptions struct {
	redaction
	export.Options
	to, shard string
}

func (o *exportOptions) define(f *flagSet) {
	targets := namesOf(export.Targets, func(t *export.Target) string { return t.Name })
	f.choice(&o.to, "to", targets[0], "write as `TARGET`:", "unknown target", targets)
	f.StringVarP(&o.Dir, "output", "o", "", "write into the folder `DIR`")
	f.BoolVar(&o.Contents, "contents", false, "write the texts of messages too")
	f.StringVar(&o.shard, "shard", "", "export part `I/N` of the sessions, such as 2/10")
	f.cmd.MarkFlagRequired("output")
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

func runExport(e *env, o *exportOptions, args []string) error {
	files, err := e.listed(args)
	if err != nil {
		return err
	}
	e.collect(batchGC)
	e.asIs = true // texts are redacted as they are written
	o.Stats.Counter, o.Stats.Open = &tokens.Pi, e.opening(0)
	o.Stats.Check = check.Options{Models: o.Stats.Replay.Models, Now: e.now()}
	o.Disk, o.Note, o.Says = e.disk, e.note, e.reason
	if e.redactor != nil {
		o.Text = e.redactor.Text
	}
	show, end := e.progress("sessions", false)
	o.Progress = show
	defer end()
	var sessions []export.Input
	for _, f := range byPath(files) {
		sessions = append(sessions, export.Input{Path: f.path, Name: f.name})
	}
	done, err := export.Find(o.to).Export(&o.Options, sessions)
	if err != nil {
		return err
	}
	end()
	return e.exported(done)
}

// exported prints what was exported.
func (e *env) exported(done *export.Result) error {
	unread := phrase.If(done.Unread > 0, ", of which %d cannot be read", done.Unread)
	e.note("%s: read %d of %s%s; %s written", e.fileName(done.Dir), done.Exported, phrase.Count(done.Sessions, "session"), unread, phrase.Count(done.Files, "file"))
	return nil
}
