package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/out/plan"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Without -o and --write a reduction prints a plan.
type reduceOptions struct {
	writeFlags
	replayFlags
	overrideFlags
	summarizerFlags
	policyName string
	passes     []string
	target     string
	at         string
	as         string
	ifOver     string
	counter    string

	policy  *compact.Policy
	byAgent func(name string) (*compact.Policy, error) // returns the policy of another agent; nil if one applies to all
	asked   *tokens.Counter                            // replaces a policy's own
	job     compact.Job
	replay  replay.Options
}

// words maps the other names of ctxtool reduce to the pass that each runs.
var words = map[string]string{"compact": compact.Compact.Name, "prune": compact.Prune.Name}

func (o *reduceOptions) define(f *flagSet) {
	o.name = "reduce"
	names := append([]string{ofAgent}, namesOf(compact.Policies, func(p *compact.Policy) string { return p.Name })...)
	f.cmd.SetFlagErrorFunc(passFlag)
	o.summaryFlags(f, "pass exec:COMMAND")
	f.choice(&o.policyName, "policy", ofAgent,
		"reduce by the policy `NAME`, NAME:PRESET or NAME:KEY=VALUE,...: "+strings.Join(names, ", ")+", or your own",
		"", names)
	f.StringArrayVar(&o.passes, "pass", nil,
		"run `PASS`, PASS:KEY=VALUE,... or exec:COMMAND instead of a policy (repeatable)")
	f.complete("pass", namesOf(compact.Passes(), func(p *compact.Pass) string { return p.Name }))
	f.StringVar(&o.target, "target", "", "run all layers until the context is at most `AMOUNT`: 50k, 50%")
	f.exclude("pass", "policy")
	o.writeFlags.flags(f, "the session with the new entries to `FILE`, or into a folder",
		"text", "json", "jsonl", "entries")
	o.replayFlags.flags(f)
	o.overrideFlags.flags(f, &o.replay)
	o.nowFlag(f, "the entries")
	o.forceFlag(f)
	f.BoolVar(&o.Write, "write", false, "append the entries to each session")
	f.StringVar(&o.at, "at", "", "plan for the context at `POINT`")
	f.choice(&o.as, "as", string(compact.AsAuto), "store changes as `FORM`:", "--as", asForms)
	o.unmarkedFlag(f)
	f.StringVar(&o.ifOver, "if-over", "", "only contexts over `AMOUNT`: 100k tokens, or 80% of the window")
	f.choice(&o.counter, "counter", "", "count tokens by `COUNTER` (default: the policy's)", "", tokens.Names())
	f.Var(countFlag(&o.jobs), "jobs", "work on `N` sessions at a time (default: number of CPUs)")
	f.before(func() error { return o.check(f.env, f.cmd) })
}

// word adds the pass for which the command is named, unless a --pass names it.
func (o *reduceOptions) word(cmd *cobra.Command) error {
	pass := words[cmd.CalledAs()]
	if pass == "" {
		return nil
	}
	if cmd.Flags().Changed("policy") {
		return sessionfmt.Errorf("ctxtool %s runs the pass %s and no policy", cmd.CalledAs(), pass).
			Hinted("ctxtool reduce --policy runs one")
	}
	if !slices.ContainsFunc(o.passes, func(spec string) bool {
		name, _, _ := strings.Cut(spec, ":")
		return name == pass
	}) {
		o.passes = append(o.passes, pass)
	}
	return nil
}

// passFlag returns an error for an unknown flag with a hint if it is an option of a pass.
func passFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	name := unknown.GetSpecifiedName()
	for _, p := range compact.Passes() {
		if slices.ContainsFunc(p.Params(), func(q compact.Param) bool { return q.Name == name }) {
			hint := fmt.Sprintf("--pass %s:%s=N (ctxtool help passes)", p.Name, name)
			return usage(&sessionfmt.Error{Err: err, Hint: hint})
		}
	}
	return unknownFlag(cmd, err)
}

// ofAgent stands for the policy of the agent that wrote the session.
const ofAgent = "agent"

// choose returns the policy of a name with the numbers of configuration, preset and options.
func (o *reduceOptions) choose(e *env, name string) (p *compact.Policy, err error) {
	if len(o.passes) > 0 {
		p, err = o.ofPasses(e)
	} else {
		p, err = e.policy(name)
	}
	if err == nil {
		p.Target, err = compact.ParseAmount("--target", o.target)
	}
	return p, err
}

// policy returns the policy that a NAME[:PRESET,KEY=VALUE] names, with the numbers of the
// configuration.
func (e *env) policy(spec string) (*compact.Policy, error) {
	own, err := e.config.Policies()
	if err != nil {
		return nil, err
	}
	name, options, _ := strings.Cut(spec, ":")
	p, err := compact.FindPolicy(name, own...)
	if err != nil {
		return nil, err
	}
	if p.Name == compact.GSHPolicy.Name {
		if p, err = e.withGSH(p); err != nil {
			return nil, err
		}
	}
	return p.With(options)
}

// withGSH returns gsh's policy with the numbers of gsh's own settings.
func (e *env) withGSH(p *compact.Policy) (*compact.Policy, error) {
	q := p.Copy()
	for _, s := range flagless {
		if s.option == "" || !p.Has(s.option) {
			continue
		}
		value, err := e.setting(s.name)
		if err != nil {
			return nil, err
		}
		if value == "" {
			continue
		}
		if err := q.Set(s.option, value); err != nil {
			return nil, fmt.Errorf("configuration: %s: %w", s.name, err)
		}
	}
	return q, nil
}

// ofPasses returns the policy that runs the passes of --pass unconditionally.
func (o *reduceOptions) ofPasses(e *env) (*compact.Policy, error) {
	p := &compact.Policy{Window: compact.PiPolicy.Window}
	var names []string
	for _, spec := range o.passes {
		l, err := o.layer(e, spec)
		if err != nil {
			return nil, fmt.Errorf("--pass %w", err)
		}
		p.Counter = cmp.Or(p.Counter, l.Pass.Defaults.Counter)
		p.Layers = append(p.Layers, l)
		names = append(names, l.Pass.Name)
	}
	if l := p.Layer(&compact.Compact); l != nil { // uses the counter of that style
		like, err := compact.FindPolicy(string(l.Style))
		if err != nil {
			return nil, err
		}
		p = like.Only("", p.Layers)
	}
	p.Name = strings.Join(names, ",")
	return p, nil
}

// layer returns the layer that a PASS[:KEY=VALUE,...] or exec:COMMAND names.
func (o *reduceOptions) layer(e *env, spec string) (l compact.Layer, err error) {
	name, options, _ := strings.Cut(spec, ":")
	if name == "exec" {
		if strings.TrimSpace(options) == "" {
			return l, errors.New("exec: must be exec:COMMAND")
		}
		o.commands()
		l.Pass = compact.ExecPass(o.running, hook.Command{
			Line: options, Dir: e.disk.Dir, Environ: e.environ, Limit: o.summaryLimit,
		})
		l.Options = l.Pass.Defaults
		return l, nil
	}
	if l.Pass, err = compact.FindPass(name); err == nil {
		l.Options, err = l.Pass.With(options)
	}
	return l, err
}

type undoOptions struct{ writeFlags }

func (o *undoOptions) define(f *flagSet) {
	o.name = "undo"
	o.appendFlags(f)
	o.forceFlag(f)
	f.BoolVar(&o.insists, "strict", false, "exit with 1 if a session is skipped")
}

func runUndo(e *env, o *undoOptions, args []string) error {
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		b, promise, last, err := compact.Undo(replay.New(s, replay.Options{}), o.time)
		if !o.alone && (errors.Is(err, compact.ErrNothing) || s.Foreign() != nil) {
			return plan.Skip(o.name, f.given, s, compact.ErrNothing.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		p, err := plan.Entries(o.name, f.given, s, b, promise)
		if err == nil {
			p.Guarded = !last // otherwise nothing was written since
		}
		return p, err
	}
	return o.run(e, args)
}
