package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/out/show"
	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
)

type replayOptions struct {
	readFlags
	overrideFlags
	at, leaf   string
	before     bool
	request    int
	ephemeral  bool
	provenance bool
	lenient    bool
	tail       bool

	replay.Options
}

const noRequest = math.MinInt

func (o *replayOptions) define(f *flagSet) {
	o.readFlags.flags(f, namesOf(show.Formats, func(f show.Format) string { return f.Name })...)
	o.overrideFlags.flags(f, &o.Options)
	f.StringVar(&o.at, "at", "", "replay to `POINT`")
	f.BoolVar(&o.before, "before", false, "replay to the state before the entry of the point")
	f.IntVar(&o.request, "request", noRequest, "short for --at request:`N`")
	f.StringVar(&o.leaf, "leaf", "", "replay the branch that ends at `POINT`")
	f.BoolVar(&o.ephemeral, "ephemeral", false, "add the request-only messages logged for the request")
	f.BoolVar(&o.provenance, "provenance", false, "with -f json, record where each piece comes from")
	f.BoolVar(&o.lenient, "lenient", false, "skip broken patches, as the reference code does")
	f.BoolVar(&o.tail, "tail", false, "with --rules pi, read only the end of the file")
	f.Lookup("request").DefValue = "0" // shows no default
	f.cmd.MarkFlagsMutuallyExclusive("request", "at")
	f.exclude("tail", "at", "before", "request", "leaf", "provenance")
	f.before(o.check)
}

// check checks the flags, before any input is opened.
func (o *replayOptions) check() error {
	if o.provenance && o.format != "json" {
		return errors.New("--provenance requires -f json")
	}
	if o.tail && o.by != replay.ByPi {
		return errors.New("--tail requires --rules pi: only the whole path shows whether it has patches")
	}
	o.Rules, o.Lenient = o.by, o.lenient
	return nil
}

func runReplay(e *env, o *replayOptions, args []string) error {
	name, point, err := e.session(args)
	if err != nil {
		return err
	}
	if point != "" && (o.at != "" || o.request != noRequest || o.tail) {
		return usagef("the session's @%s conflicts with --at, --request or --tail", sessionfmt.Quote(point))
	}
	o.at = cmp.Or(o.at, point)
	if err := o.overrideFlags.load(e, &o.Options); err != nil {
		return err
	}
	s, err := o.open(e, name)
	if err != nil {
		return err
	}
	env, err := o.envelope(s)
	if err != nil {
		return err
	}
	return e.finish(env, o)
}

// open opens the session, or with --tail only its end if that is enough. Standard input cannot be read again if it
// is not.
func (o *replayOptions) open(e *env, name string) (*sessionfmt.Session, error) {
	if !o.tail || name == "-" {
		return e.open(name)
	}
	form := slices.IndexFunc(show.Formats, func(f show.Format) bool { return f.Name == o.format })
	s, err := e.held(sessionfmt.OpenTail(name, show.Formats[form].Need, e.opening(0)))
	if errors.Is(err, sessionfmt.ErrTail) {
		e.note("%s; reading all of it", err)
		return e.open(name)
	}
	if err == nil {
		e.note("read %s of %s", megabytes(s.Size()), megabytes(s.OwnSize()))
	}
	return s, err
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// envelope returns the replay to the point that the flags name.
func (o *replayOptions) envelope(s *sessionfmt.Session) (*replay.Envelope, error) {
	leaf, err := findLeaf(s, cmp.Or(o.leaf, "leaf"), s.Leaf())
	if err != nil {
		return nil, err
	}
	if o.request != noRequest {
		o.at = pointOfRequest(o.request)
	}
	at, err := findPoint(s, cmp.Or(o.at, "leaf"), leaf)
	if err != nil {
		return nil, err
	}
	o.Leaf = leaf
	at.Before = at.Before || o.before
	env, err := replay.New(s, o.Options).At(at)
	if err != nil || !o.ephemeral {
		return env, err
	}
	return env.WithEphemeral()
}

// finish prints the envelope, and notes about it.
func (e *env) finish(envelope *replay.Envelope, o *replayOptions) error {
	p, err := envelope.Prompt()
	if err != nil {
		return err
	}
	if names := namesOf(p.Omitted, func(t prompt.Tool) string { return sessionfmt.Quote(t.Name) }); names != nil {
		e.note("omitted, without an implementation: %s", strings.Join(names, ", "))
	}
	report := show.ContextForms.Of(show.Report{
		Envelope: envelope, Ephemeral: o.ephemeral, Provenance: o.provenance,
	})
	return o.reply(e, envelope.Replay(), report, o.baseline)
}
