package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/base/shell"
	"ctxtool/internal/plan"
	"ctxtool/replay"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type reduceOptions struct {
	reduceFlags
	policyName string
	passes     []string
	target     string
}

// words are the other names of ctxtool reduce, and the pass that each runs.
var words = map[string]string{"compact": compact.Compact.Name, "prune": compact.Prune.Name}

func newReduceCommand(e *env) *cobra.Command {
	o := &reduceOptions{reduceFlags: reduceFlags{writeFlags: writeFlags{name: "reduce"}}}
	names := append([]string{ofAgent}, namesOf(compact.Policies, func(p *compact.Policy) string { return p.Name })...)
	cmd := &cobra.Command{}
	cmd.SetFlagErrorFunc(passFlag)
	o.summaryFlags(e, cmd, "pass exec:COMMAND")
	f := cmd.Flags()
	e.choice(cmd, &o.policyName, "policy", ofAgent,
		"reduce by the policy `NAME`, NAME:PRESET or NAME:KEY=VALUE,...: "+strings.Join(names, ", ")+", or your own", "", names)
	f.StringArrayVar(&o.passes, "pass", nil,
		"run `PASS`, PASS:KEY=VALUE,... or exec:COMMAND instead of a policy (repeatable)")
	complete(cmd, "pass", namesOf(compact.Passes(), func(p *compact.Pass) string { return p.Name }))
	f.StringVar(&o.target, "target", "", "run all layers until the context is at most `AMOUNT`: 50k, 50%")
	exclude(cmd, "pass", "policy")
	return o.reduceFlags.command(e, cmd, func() (err error) {
		if err := o.word(cmd); err != nil {
			return err
		}
		name := o.policyName
		if own, rest, _ := strings.Cut(name, ":"); own == ofAgent && len(o.passes) == 0 {
			name = compact.PiPolicy.Name + ":" + rest
			o.byAgent = func(name string) (*compact.Policy, error) { return o.choose(e, name+":"+rest) }
		}
		o.policy, err = o.choose(e, name)
		return err
	})
}

// word adds the pass that the command is called by, unless a --pass names it.
func (o *reduceOptions) word(cmd *cobra.Command) error {
	pass := words[cmd.CalledAs()]
	if pass == "" {
		return nil
	}
	if cmd.Flags().Changed("policy") {
		return &sessionfmt.Error{
			Err:  fmt.Errorf("ctxtool %s runs the pass %s and no policy", cmd.CalledAs(), pass),
			Hint: "ctxtool reduce --policy runs one",
		}
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
	return err
}

// ofAgent is the name of the policy of the agent whose session it is.
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
	if l := p.Layer(&compact.Compact); l != nil { // it measures as the system does whose style it is
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
		l.Pass = compact.ExecPass(o.running, shell.Command{
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

func newUndoCommand(e *env) *cobra.Command {
	o := &writeFlags{name: "undo"}
	cmd := command(e, o, func(e *env, o *writeFlags, args []string) error { return o.run(e, args) })
	o.appendFlags(e, cmd)
	o.forceFlag(cmd)
	cmd.Flags().BoolVar(&o.insists, "strict", false, "exit with 1 if a session is skipped")
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
	return cmd
}
