package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/lens/notes"
	"ctxtool/internal/out/sessionlog"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

type notesOptions struct {
	readFlags
	summarizerFlags
	at, update, digest, project string
	most                        int64
}

func (o *notesOptions) define(f *flagSet) {
	o.most, o.format, o.forms = 2500, "markdown", []string{"markdown"}
	o.replayFlags.flags(f)
	o.redaction.flags(f)
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` atomically")
	f.StringVar(&o.at, "at", "", "take the path to `POINT` instead of the leaf")
	f.StringVar(&o.update, "update", "", "add the notes to `FILE`, and keep the lines that you wrote")
	f.StringVar(&o.digest, "digest", "", "write a digest of the sessions in `DIR`")
	f.StringVar(&o.project, "project", "", "only projects with `TEXT` in their name")
	f.Var(tokensFlag(&o.most), "max-tokens", "at most `N` tokens, counted with cl100k")
	f.StringVar(&o.summarizer, "summarizer", "extract",
		"where notes come from: `HOW` is "+strings.Join(compact.Summarizers, ", "))
	f.DurationVar(&o.summaryLimit, "summary-limit", compact.ExecLimit,
		"end a command that takes longer than this `TIME`")
	f.StringVar(&o.prompt.Focus, "focus", "", "ask for notes that attend to `TEXT` above all")
	f.cmd.MarkFlagsMutuallyExclusive("update", "output")
	f.exclude("digest", "update", "at", "summarizer")
	f.only([]string{"digest"}, "project", "max-tokens")
	f.only([]string{"summarizer exec:COMMAND"}, "summary-limit", "focus")
}

func runNotes(e *env, o *notesOptions, args []string) error {
	switch {
	case o.digest != "" && len(args) > 0:
		return usagef("--digest conflicts with SESSION")
	case o.digest != "":
		return o.runDigest(e)
	}
	summarize, err := o.summarizerFlags.check(e, false)
	if err != nil {
		return usage(err)
	}
	if o.settle != nil {
		defer o.settle()
	}
	r, leaf, err := o.reading(e, args, o.at)
	if err != nil {
		return err
	}
	session, stopped, err := notes.Read(r, leaf)
	if err != nil {
		return err
	}
	e.noteStop(stopped, "the entries after it are omitted")
	if err := e.strictly(r.Session, r.AllFindings(), o.strict); err != nil {
		return err
	}
	existing, err := o.existing(e)
	if err != nil {
		return err
	}
	text := notes.Of(session)
	if o.summarizer != "extract" {
		if text, err = askForNotes(r, leaf, existing, summarize); err != nil {
			return err
		}
	}
	text = notes.Update(existing, text, session.Settled)
	return e.printText(&answer{output: cmp.Or(o.update, o.output)}, []string{r.Session.Name}, text)
}

// existing returns the notes to be updated, or "" if there is no such file.
func (o *notesOptions) existing(e *env) (string, error) {
	if o.update == "" {
		return "", nil
	}
	text, err := e.disk.ReadFile(o.update)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", unreadable(o.update, err)
	}
	return string(text), nil
}

// askForNotes has a summarizer write the notes from the context at record leaf.
func askForNotes(r *replay.Replay, leaf int, existing string, summarize compact.Summarize) (string, error) {
	envelope, err := r.At(sessionfmt.After(leaf))
	if err != nil {
		return "", err
	}
	request, err := compact.NotesRequest(envelope, existing)
	if err != nil {
		return "", err
	}
	text, err := summarize(request)
	text = notes.Inert(text, existing)
	if err == nil && !notes.Valid(text) {
		err = fmt.Errorf("the notes must have one of the headings %s", strings.Join(notes.Headings, ", "))
	}
	return text, err
}

func (o *notesOptions) runDigest(e *env) error {
	if !e.isDir(o.digest) {
		return usagef("--digest %s: must be a folder", sessionfmt.Quote(o.digest))
	}
	files, err := e.listed([]string{o.digest})
	if err != nil {
		return err
	}
	type read struct {
		*notes.Session
		stopped, err error
	}
	var all []*notes.Session
	broken := 0
	inOrder(e, 0, files, func(f listedFile, _ func(done, size int64)) (one read) {
		one.err = e.within(f, func(s *sessionfmt.Session) (err error) {
			leaf := s.Leaf()
			one.Session, one.stopped, err = notes.Read(replay.New(s, replay.Options{Rules: o.by}), leaf)
			return err
		})
		return one
	}, func(one read) {
		e.noteStop(one.stopped, "the entries after it are omitted")
		switch {
		case one.err != nil:
			broken++
			e.note("%s", one.err)
		case strings.Contains(one.CWD, o.project):
			all = append(all, one.Session)
		}
	})
	err = cmp.Or(noneBroken(o.strict, broken, len(files), "cannot be read"), noneRead(broken, len(files)))
	if err != nil {
		return err
	}
	if err := oneProject(all, o.digest); err != nil {
		return err
	}
	slices.SortStableFunc(all, func(a, b *notes.Session) int { return cmp.Compare(a.Began, b.Began) })
	text, err := notes.Digest(all, int(o.most), func(text string) int { return tokens.CL100K.Count([]byte(text)) })
	if err != nil {
		return fmt.Errorf("--max-tokens %d: %w", o.most, err)
	}
	return e.printText(&o.answer, paths(files), text)
}

// oneProject returns an error unless the sessions are of exactly one project.
func oneProject(all []*notes.Session, dir string) error {
	var dirs []string
	for _, s := range all {
		if !slices.Contains(dirs, s.CWD) {
			dirs = append(dirs, s.CWD)
		}
	}
	at := sessionfmt.Pos{File: dir}
	switch {
	case len(dirs) == 0:
		return &sessionfmt.Error{Pos: at, Err: errors.New("no session of a matching project")}
	case len(dirs) > 1:
		slices.Sort(dirs)
		for i, dir := range dirs {
			dirs[i] = sessionfmt.Quote(cmp.Or(dir, "(none)"))
		}
		return usage(&sessionfmt.Error{
			Pos: at, Err: fmt.Errorf("sessions of %d projects", len(dirs)),
			Hint: "choose one with --project: " + strings.Join(dirs, ", "),
		})
	}
	return nil
}

// sweLog writes the path as SWE-CLI's own session log.
func (o *logOptions) sweLog(e *env, args []string) error {
	if o.all || o.follow || o.request != noRequest || len(o.kind) > 0 || o.grep+o.since+o.until != "" {
		return usagef("-f swe-cli conflicts with --all, --follow, --grep, --kind, --request, --since, --until")
	}
	r, leaf, err := o.reading(e, args, o.leaf)
	if err != nil {
		return err
	}
	return e.answer(&o.answer, []string{r.Session.Name}, func(w *bufio.Writer) error {
		stopped, err := sessionlog.Write(w, r, leaf)
		if err != nil {
			return err
		}
		e.noteStop(stopped, "the entries after it are omitted")
		return e.strictly(r.Session, r.AllFindings(), o.strict)
	})
}
