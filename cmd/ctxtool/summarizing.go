package main

import (
	"bytes"
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

	"github.com/spf13/cobra"

	"ctxtool/compact"
	"ctxtool/sessionfmt"
)

// A summarizing is where the summaries of a command come from. Its zero value has
// none.
type summarizing struct {
	summarizer        string
	summaryTokens     int
	summaryLimit      time.Duration
	prompt            compact.Prompt
	emitTo, applyFrom string

	running context.Context // ends with the first signal, and a command with it; nil without commands
	settle  func()

	answers *compact.Answers
	mu      sync.Mutex
	emitted map[string][]byte // requests, by session
}

// summaryFlags are the flags of commands that need summaries.
func (o *summarizing) summaryFlags(cmd *cobra.Command) {
	var forms []string
	for _, s := range compact.Summarizers() {
		forms = append(forms, s.Form())
	}
	f := cmd.Flags()
	f.StringVar(&o.summarizer, "summarizer", "extract", "where summaries come from: `HOW` is "+strings.Join(forms, ", "))
	f.IntVar(&o.summaryTokens, "summary-tokens", 0, "extract: the longest summary, in `TOKENS` (default: by what it stands for)")
	f.DurationVar(&o.summaryLimit, "summary-limit", compact.ExecLimit, "exec: end a command that takes longer than this `TIME`")
	f.StringVar(&o.prompt.Focus, "focus", "", "ask for summaries that look at this `TEXT` above all")
	f.StringVar(&o.prompt.Identifiers, "identifiers", "strict", "y-agent: name what a summary has to keep: `POLICY` is strict or relaxed")
	f.StringVar(&o.emitTo, "emit", "", "write the requests for summaries to `FILE` as JSON lines, - for standard output; nothing is appended")
	f.StringVar(&o.applyFrom, "apply", "", "take the summaries from `FILE`, - for standard input: the lines of --emit, each with a member summary")
	cmd.MarkFlagsMutuallyExclusive("emit", "apply", "summarizer")
}

// check reads the flags, before any input is opened.
func (o *summarizing) check(e *env, writes bool) (compact.Summarize, error) {
	switch {
	case o.emitTo != "" && writes:
		return nil, errors.New("--emit only asks: append with --apply, once there are answers")
	case o.summaryTokens < 0 || o.summaryLimit < 0:
		return nil, errors.New("--summary-tokens and --summary-limit want numbers from 0 on")
	case o.prompt.Identifiers != "" && o.prompt.Identifiers != "strict" && o.prompt.Identifiers != "relaxed":
		return nil, fmt.Errorf("--identifiers %q: one of strict, relaxed", sessionfmt.Quote(o.prompt.Identifiers))
	case o.emitTo != "" || o.applyFrom != "" || o.summarizer == "":
		return nil, nil
	}
	if strings.HasPrefix(o.summarizer, compact.Exec.Name+":") {
		o.running, o.settle = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		context.AfterFunc(o.running, o.settle) // the second signal is as ever
	}
	return compact.OpenSummarizer(o.summarizer, compact.SummaryOptions{Context: o.running, Tokens: o.summaryTokens, Limit: o.summaryLimit, Prompt: o.prompt, Disk: e.disk, Environ: e.environ})
}

// interrupted says that a signal has come that ends the run.
func (o *summarizing) interrupted() error {
	if o.running == nil || o.running.Err() == nil {
		return nil
	}
	return context.Cause(o.running)
}

// load reads the answers, which are input.
func (o *summarizing) load(e *env) error {
	if o.applyFrom == "" {
		return nil
	}
	in := e.stdin
	if o.applyFrom != "-" {
		f, err := e.disk.Open(o.applyFrom)
		if err != nil {
			return unreadable(o.applyFrom, err)
		}
		defer f.Close()
		in = f
	}
	var err error
	if o.answers, err = compact.ReadAnswers(in); err != nil {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.applyFrom}, Err: err}
	}
	return nil
}

// emit takes down what a plan waits for.
func (o *summarizing) emit(session, policy string, plan *compact.Plan) error {
	if o.emitTo == "" || len(plan.Requests) == 0 {
		return nil
	}
	var b bytes.Buffer
	if _, err := compact.WriteRequests(&b, session, policy, o.prompt, plan.Requests); err != nil {
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

// around writes the requests of all sessions in the order of their names, and says which
// answers were of no use.
func (o *summarizing) around(e *env, inputs []string, reduce func() error) error {
	if o.settle != nil {
		defer o.settle()
	}
	failed := reduce()
	if o.answers != nil {
		for _, a := range o.answers.Unused() {
			e.note("%s: answer %s is for %s at %s, and was not taken", o.applyFrom, sessionfmt.Quote(a.ID), sessionfmt.Quote(a.Session), sessionfmt.Quote(a.Leaf))
		}
	}
	if o.emitTo == "" {
		return failed
	}
	out, err := e.create(o.emitTo, inputs...)
	if err != nil {
		return err
	}
	defer out.abort()
	for _, name := range slices.Sorted(maps.Keys(o.emitted)) {
		if _, err := out.Write(o.emitted[name]); err != nil {
			return err
		}
	}
	if err := out.commit(); err != nil {
		return err
	}
	if len(o.emitted) == 1 {
		e.note("1 session waits for summaries; its requests are in %s", o.emitTo)
	} else {
		e.note("%d sessions wait for summaries; their requests are in %s", len(o.emitted), o.emitTo)
	}
	return failed
}
