package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// An answer is the form in which a command answers, and where the answer goes.
type answer struct {
	format, output string
	json           bool
	cleaned        bool // the command cleans what it writes itself, and colours it
	forms          []string
}

// flags gives a command the flags of its answer; the first form is the default.
func (a *answer) flags(cmd *cobra.Command, forms ...string) {
	a.forms = forms
	f := cmd.Flags()
	f.StringVarP(&a.format, "format", "f", forms[0], "`FORM` of the answer: "+strings.Join(forms, ", "))
	f.BoolVar(&a.json, "json", false, "the same as -f "+a.jsonForm())
	f.StringVarP(&a.output, "output", "o", "", "write to `FILE`, whole or not at all")
	complete(cmd, "format", forms)
}

// jsonForm is what --json means: one object, or lines of JSON for a command that
// answers in nothing but lines.
func (a *answer) jsonForm() string {
	if slices.Contains(a.forms, "json") {
		return "json"
	}
	return "jsonl"
}

// check reads the flags, before any input is opened.
func (a *answer) check() error {
	if a.json {
		a.format = a.jsonForm()
	}
	if !slices.Contains(a.forms, a.format) {
		return fmt.Errorf("unknown format %q: one of %s", sessionfmt.Quote(a.format), strings.Join(a.forms, ", "))
	}
	return nil
}

// answer writes an answer, whole or not at all, to none of the inputs.
func (e *env) answer(a *answer, inputs []string, write func(w *bufio.Writer) error) error {
	out, err := e.create(a.output, inputs...)
	if err != nil {
		return err
	}
	defer out.abort()
	if c, ok := out.Writer.(*cleaner); ok && a.cleaned {
		out.Writer = c.w
	}
	w := bufio.NewWriterSize(out, 64<<10)
	if err := write(w); err != nil {
		return err
	}
	return cmp.Or(w.Flush(), out.commit())
}

// complete offers fixed values for a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// A reading is how a session is replayed and how strictly it is read.
type reading struct {
	rules  string
	strict bool
}

// flags gives a command the flags of its reading.
func (r *reading) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.rules, "rules", "auto", "`RULES` to replay by: "+strings.Join(replay.RulesNames(), ", "))
	f.BoolVar(&r.strict, "strict", false, "fail on any finding")
	complete(cmd, "rules", replay.RulesNames())
}

// check reads the name of the rules.
func (r *reading) check() (replay.Rules, error) {
	rules, err := replay.ParseRules(r.rules)
	if err != nil {
		return 0, fmt.Errorf("%w: one of %s", err, strings.Join(replay.RulesNames(), ", "))
	}
	return rules, nil
}

// A given is what is given in place of what the session says or lacks.
type given struct {
	baseline    string
	implemented []string
	model       string
	window      int64
}

// flags gives a command that replays the flags of what is given.
func (g *given) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.baseline, "baseline", "", "`FILE` with the prompt and tools that the session lacks: an envelope in JSON, a session, /context --full text, or an HTML export")
	f.StringSliceVar(&g.implemented, "implemented", nil, "`NAMES` of the tools that have an implementation; others are omitted")
	f.StringVar(&g.model, "model", "", "`PROVIDER/ID` of the model, in place of the path's")
	f.Var(tokensFlag{&g.window}, "window", "context window in `TOKENS`, in place of the known one")
}

// check reads the flags, before any input is opened; the baseline is for load.
func (g *given) check(e *env, opt *replay.Options) (err error) {
	if g.model != "" {
		provider, id, ok := strings.Cut(g.model, "/")
		if !ok || provider == "" || id == "" {
			return fmt.Errorf("--model %q: want PROVIDER/ID", g.model)
		}
		opt.Model = replay.ModelRef{Provider: provider, ID: id}
	}
	opt.Window, opt.Implemented = g.window, g.implemented
	opt.Models, err = e.config.models()
	return err
}

// load reads the baseline, which is input.
func (g *given) load(e *env, opt *replay.Options) (err error) {
	if g.baseline == "" {
		return nil
	}
	if opt.Baseline, err = replay.LoadBaseline(e.disk, g.baseline); err != nil {
		return err
	}
	return e.redactBaseline(opt.Baseline)
}

// nowFlag is the time of --now, which one batch of entries has; now if it was not
// given.
func (e *env) nowFlag(text string) (time.Time, error) {
	if text == "" {
		return e.now(), nil
	}
	ms, ok := parseTime(text)
	if !ok {
		return time.Time{}, fmt.Errorf("--now %q: want a time as 2026-01-31T12:00:00Z", sessionfmt.Quote(text))
	}
	return time.UnixMilli(ms), nil
}
