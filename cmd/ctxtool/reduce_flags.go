package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// asForms are the forms in which changes are stored, the default first.
var asForms = []string{string(compact.AsAuto), string(compact.AsEdits), string(compact.AsTransform)}

// check checks the flags, before any input is opened.
func (o *reduceOptions) check(e *env, cmd *cobra.Command) (err error) {
	if err := o.word(cmd); err != nil {
		return err
	}
	name := o.policyName
	if own, rest, _ := strings.Cut(name, ":"); own == ofAgent && len(o.passes) == 0 {
		name = compact.PiPolicy.Name + ":" + rest
		o.byAgent = func(name string) (*compact.Policy, error) { return o.choose(e, name+":"+rest) }
	}
	if o.policy, err = o.choose(e, name); err != nil {
		return err
	}
	o.replay.Rules = o.by
	o.job = compact.Job{Command: o.name, Policy: o.policy, Form: compact.Form(o.as), GivenRules: o.rules != "auto",
		Unmarked: o.unmarked}
	o.job.IfOver, err = compact.ParseAmount("--if-over", o.ifOver)
	if err != nil {
		return err
	}
	if o.counter != "" {
		if o.asked, err = tokens.Find(o.counter); err != nil {
			return fmt.Errorf("--counter: %w", err)
		}
		o.job.Policy = o.counted(o.policy)
	}
	if o.at != "" && (o.Write || o.output != "") {
		return errors.New("--at conflicts with --write and -o: entries are appended at the leaf")
	}
	if o.job.Summarize, err = o.summarizerFlags.check(e, o.Write || o.output != ""); err != nil {
		return err
	}
	o.job.Models = o.replay.Models
	return nil
}

// counted returns a policy with the requested counter.
func (o *reduceOptions) counted(p *compact.Policy) *compact.Policy {
	if o.asked != nil {
		p = p.Copy()
		p.Counter, p.ByUsage = o.asked, false
	}
	return p
}

func (o *reduceOptions) policyOf(s *sessionfmt.Session) (*compact.Policy, error) {
	d := s.Dialect()
	if o.byAgent == nil || d == nil {
		return o.job.Policy, nil
	}
	p, err := o.byAgent(d.Policy)
	if err != nil {
		return nil, usage(err)
	}
	return o.counted(p), nil
}

// run reduces the sessions that the arguments name.
func runReduce(e *env, o *reduceOptions, args []string) error {
	files, err := e.sessions(args)
	if err != nil {
		return usage(err)
	}
	alone := len(files) == 1 && (len(args) == 0 || !e.isDir(args[0]))
	switch {
	case o.applyFrom == "-" && slices.Contains(paths(files), "-"):
		return usagef("standard input cannot be both the session and the answers")
	case !alone && o.at != "":
		return usagef("--at requires a single session")
	}
	if err := o.prepare(e, files, alone); err != nil {
		return usage(err)
	}
	if err := o.overrideFlags.load(e, &o.replay); err != nil {
		return err
	}
	if err := o.summarizerFlags.load(e); err != nil {
		return err
	}
	o.plan, o.Ready, o.aside, o.insists = o.reduce, o.interrupted, o.emitTo == "-", o.strict
	o.trial = o.at != "" || o.emitTo != ""
	o.shown = func(f listedFile) string { return f.name }
	return o.summarizerFlags.run(e, paths(files), func() error { return o.carryOut(e, files) })
}

func (o *reduceOptions) reduce(e *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
	if o.Write || o.output != "" || o.format == "entries" {
		if err := s.Foreign(); err != nil {
			return nil, err
		}
	}
	leaf, err := findLeaf(s, cmp.Or(o.at, "leaf"), s.Leaf())
	if err != nil {
		return nil, err
	}
	opt := o.replay
	opt.Leaf = s.Leaf()
	envelope, err := replay.New(s, opt).At(sessionfmt.After(leaf))
	if err != nil {
		return nil, otherHint(err, "run ctxtool check")
	}
	if err := e.strictly(s, envelope.Replay().AllFindings(), o.strict); err != nil && o.strict {
		return nil, err
	}
	job := o.job
	if job.Policy, err = o.policyOf(s); err != nil {
		return nil, err
	}
	if o.answers != nil {
		job.Summarize = o.answers.For(f.name, job.Policy.Name, o.prompt)
	}
	p, err := plan.Reduce(f.name, envelope, leaf, &job, o.time, o.replay)
	if err != nil {
		return nil, err
	}
	if o.alone && !o.Write && o.output == "" && p.Waits == nil {
		p.Next = o.otherwise(e, s, p, f)
	}
	return p, o.summarizerFlags.emit(f.name, job.Policy.Name, p.Requests)
}

// smallContext is the number of tokens up to which no target is proposed.
const smallContext = 2000

// otherwise returns what to do if --write would do nothing: with a target if nothing is to be done, or after
// the upgrade that must come first, or for another agent's session after its import.
func (o *reduceOptions) otherwise(e *env, s *sessionfmt.Session, p *plan.Plan, f listedFile) string {
	r, ref, target := p.Reduction, e.ref(f.path), ""
	idle := len(r.Changes) == 0 && r.Summary == "" && o.job.Policy.Target == (compact.Amount{})
	if size := min(r.Before, p.Context.Tokens); idle && size > smallContext {
		target = " --target " + phrase.Short(int64(size/2))
	}
	waits := slices.ContainsFunc(r.Layers, func(l compact.LayerPlan) bool { return !l.Fired })
	again := func(session string) string {
		if target != "" && !waits { // a target helps if layers wait for one
			return "ctxtool reduce " + session + target
		}
		return e.typed(f.given, session) + target
	}
	switch {
	case s.Dialect() != nil:
		return fmt.Sprintf("a session of %s is read only; to write it smaller as one of pi:\n  ctxtool import %s -o "+
			"- | %s -o NEW.jsonl",
			p.Session.Agent, ref, again("-"))
	case target != "" && s.Version < 2:
		return "its format is version 1; to upgrade it, and make it smaller anyway:\n  ctxtool migrate " + ref +
			" --write && " + again(ref)
	case target != "":
		return "to make it smaller anyway:\n  " + again(ref)
	}
	return ""
}

// summarizerFlags are the flags for the source of summaries. Without flags there are none.
type summarizerFlags struct {
	summarizer        string
	summaryTokens     int
	summaryLimit      time.Duration
	prompt            compact.Prompt
	promptFile        string
	emitTo, applyFrom string

	running context.Context // ends with the first signal, as does its command; nil without commands
	settle  func()

	answers *compact.Answers
	mu      sync.Mutex
	emitted map[string][]byte // requests, by session
}

// summaryFlags are the flags of commands that need summaries; others are flags beside --summarizer that run
// commands, see only.
func (o *summarizerFlags) summaryFlags(f *flagSet, others ...string) {
	f.StringVar(&o.summarizer, "summarizer", "extract", "take summaries from `SOURCE`: "+
		strings.Join(compact.Summarizers, ", "))
	f.IntVar(&o.summaryTokens, "summary-tokens", 0, "write at most `TOKENS` (default: by what it replaces)")
	f.DurationVar(&o.summaryLimit, "summary-limit", compact.ExecLimit,
		"end a command that takes longer than `DURATION`")
	f.StringVar(&o.prompt.Focus, "focus", "", "ask for summaries that attend to `TEXT` above all")
	f.StringVar(&o.promptFile, "prompt", "", "ask for summaries in the words of `FILE`")
	f.StringVar(&o.prompt.Identifiers, "identifiers", "strict", "keep identifiers by `POLICY`: strict, relaxed")
	f.StringVar(&o.emitTo, "emit", "", "write the requests for summaries to `FILE`; append nothing")
	f.StringVar(&o.applyFrom, "apply", "", "take the summaries from `FILE`: the lines of --emit with a summary field")
	exec := "summarizer exec:COMMAND"
	f.only([]string{"summarizer extract"}, "summary-tokens")
	f.only(append([]string{exec}, others...), "summary-limit")
	f.only([]string{exec, "emit", "apply"}, "focus", "prompt", "identifiers")
	f.cmd.MarkFlagsMutuallyExclusive("emit", "apply", "summarizer")
}

// check checks the flags, before any input is opened.
func (o *summarizerFlags) check(e *env, writes bool) (compact.Summarize, error) {
	switch {
	case o.emitTo != "" && writes:
		return nil, errors.New("--emit conflicts with --write and -o: append with --apply")
	case o.summaryTokens < 0 || o.summaryLimit < 0:
		return nil, errors.New("--summary-tokens and --summary-limit must be 0 or more")
	case !slices.Contains([]string{"", "strict", "relaxed"}, o.prompt.Identifiers):
		return nil, fmt.Errorf("--identifiers %q: expected one of strict, relaxed",
			sessionfmt.Quote(o.prompt.Identifiers))
	}
	if o.promptFile != "" {
		text, err := e.readInput(o.promptFile)
		if err != nil {
			return nil, err
		}
		if o.prompt.Own, err = compact.ParsePrompt(string(text)); err != nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.promptFile}, Err: err}
		}
	}
	if o.emitTo != "" || o.applyFrom != "" || o.summarizer == "" {
		return nil, nil
	}
	if strings.HasPrefix(o.summarizer, "exec:") {
		o.commands()
	}
	return compact.OpenSummarizer(o.summarizer, compact.SummaryOptions{Context: o.running, Tokens: o.summaryTokens,
		Limit: o.summaryLimit, Prompt: o.prompt, Disk: e.disk, Environ: e.environ})
}

// commands prepares for running commands, which the first signal ends.
func (o *summarizerFlags) commands() {
	if o.running == nil {
		o.running, o.settle = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(o.running, o.settle) // the second signal has its default effect
	}
}

// interrupted returns an error if a signal has ended the run.
func (o *summarizerFlags) interrupted() error {
	if o.running == nil || o.running.Err() == nil {
		return nil
	}
	return context.Cause(o.running)
}

// load reads the answers, which are input.
func (o *summarizerFlags) load(e *env) error {
	if o.applyFrom == "" {
		return nil
	}
	in, err := e.input(o.applyFrom)
	if err != nil {
		return err
	}
	defer in.Close()
	if o.answers, err = compact.ReadAnswers(in); err != nil {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.applyFrom}, Err: err}
	}
	return nil
}

// emit records the requests for summaries on which a plan waits.
func (o *summarizerFlags) emit(session, policy string, requests []compact.Request) error {
	if o.emitTo == "" || len(requests) == 0 {
		return nil
	}
	var b bytes.Buffer
	if _, err := compact.WriteRequests(&b, session, policy, o.prompt, requests); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.emitted == nil {
		o.emitted = map[string][]byte{}
	}
	o.emitted[session] = b.Bytes()
	return nil
}

// run runs reduce, writes the requests of all sessions in the order of their names, and
// notes unused answers.
func (o *summarizerFlags) run(e *env, inputs []string, reduce func() error) error {
	if o.settle != nil {
		defer o.settle()
	}
	failed := reduce()
	if o.answers != nil {
		for _, a := range o.answers.Unused() {
			e.note("%s: unused answer %s, for %s at %s", o.applyFrom, sessionfmt.Quote(a.ID),
				sessionfmt.Quote(a.Session), sessionfmt.Quote(a.Leaf))
		}
	}
	if o.emitTo == "" {
		return failed
	}
	err := e.answer(&answer{output: o.emitTo, unpaged: true}, inputs, e.told(func(w *bufio.Writer) error {
		for _, name := range slices.Sorted(maps.Keys(o.emitted)) {
			w.Write(o.emitted[name])
		}
		return nil
	}))
	if err != nil {
		return err
	}
	if len(o.emitted) == 1 {
		e.note("1 session waits for summaries; its requests are in %s", o.emitTo)
	} else {
		e.note("%d sessions wait for summaries; their requests are in %s", len(o.emitted), o.emitTo)
	}
	return failed
}
