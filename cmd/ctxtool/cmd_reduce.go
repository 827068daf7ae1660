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
)

type reduceOptions struct {
	reduceFlags
	policyName, preset string
	passes             []string
	keep               int
	target             string

	// gsh's own keys
	maxOutput, protect int
	threshold          float64
}

func newReduceCommand(e *env) *cobra.Command {
	o := &reduceOptions{reduceFlags: reduceFlags{writeFlags: writeFlags{name: "reduce"}}}
	names := []string{ofAgent}
	var presets, whose []string
	for _, p := range compact.Policies {
		names = append(names, p.Name)
		first := len(presets)
		for _, s := range p.Presets {
			presets = append(presets, s.Name)
		}
		if own := presets[first:]; len(own) > 0 {
			whose = append(whose, p.Name+" has "+strings.Join(own, ", "))
		}
	}
	cmd := &cobra.Command{}
	o.summaryFlags(e, cmd, "pass exec:COMMAND")
	f := cmd.Flags()
	e.choice(cmd, &o.policyName, "policy", ofAgent, "reduce by policy `NAME`: "+strings.Join(names, ", ")+", or your own", "", names)
	e.choice(cmd, &o.preset, "preset", "", "use preset `NAME`: "+strings.Join(whose, "; "), "", presets)
	f.StringArrayVar(&o.passes, "pass", nil, "run `PASS` instead of a policy, such as redact or exec:COMMAND (repeatable)")
	f.IntVar(&o.keep, "keep", 0, "keep `N` messages or tokens after a summary (default: by the policy)")
	f.StringVar(&o.target, "target", "", "run all layers until the context is at most `AMOUNT`: 50k, 50%")
	f.IntVar(&o.maxOutput, "max-tool-output-bytes", 30000, "gsh: shorten tool results to `N` bytes (0: no limit)")
	f.IntVar(&o.protect, "prune-protect-tokens", 40000, "gsh: keep the results of the last `N` tokens")
	f.Float64Var(&o.threshold, "compact-threshold", 0.85, "gsh: summarize above this `SHARE` of the window")
	own := []string{"max-tool-output-bytes", "prune-protect-tokens", "compact-threshold"}
	only(cmd, []string{"policy gsh", "policy agent"}, own...)
	exclude(cmd, "pass", append([]string{"policy", "preset", "keep"}, own...)...)
	return o.reduceFlags.command(e, cmd, func() (err error) {
		name := o.policyName
		if name == ofAgent {
			name = compact.PiPolicy.Name
			o.byAgent = func(name string) (*compact.Policy, error) { return o.choose(e, cmd, name) }
		}
		o.policy, err = o.choose(e, cmd, name)
		return err
	})
}

// ofAgent is the name of the policy of the agent whose session it is.
const ofAgent = "agent"

// choose returns the policy of a name with the numbers of configuration, preset and flags.
func (o *reduceOptions) choose(e *env, cmd *cobra.Command, name string) (*compact.Policy, error) {
	if len(o.passes) > 0 {
		return o.ofPasses(e)
	}
	own, err := e.config.Policies()
	if err != nil {
		return nil, err
	}
	p, err := compact.FindPolicy(name, own...)
	if err != nil {
		return nil, err
	}
	given := cmd.Flags().Changed
	if p = p.Copy(); p.Name == compact.GSHPolicy.Name {
		o.gsh(p, func(string) bool { return true })
	}
	if o.preset != "" {
		if p, err = p.With(o.preset); err != nil {
			return nil, err
		}
		if p = p.Copy(); p.Name == compact.GSHPolicy.Name {
			o.gsh(p, given)
		}
	}
	if given("keep") {
		l := p.Layer(&compact.Compact)
		if l == nil || l.Style == compact.StyleGSH || o.keep < 0 {
			return nil, fmt.Errorf("--keep %d: policy %s keeps no messages", o.keep, p.Name)
		}
		l.Keep = o.keep
	}
	p.Target, err = compact.ParseAmount("--target", o.target)
	return p, err
}

// ofPasses returns the policy that runs the passes of --pass unconditionally.
func (o *reduceOptions) ofPasses(e *env) (p *compact.Policy, err error) {
	p, err = unconditional(o.passes, nil, func(name string) (*compact.Pass, error) {
		line, exec := strings.CutPrefix(name, "exec:")
		if !exec {
			return compact.FindPass(name)
		} else if strings.TrimSpace(line) == "" {
			return nil, errors.New("--pass exec: must be exec:COMMAND")
		}
		o.commands()
		return compact.ExecPass(o.running, shell.Command{Line: line, Dir: e.disk.Dir, Environ: e.environ, Limit: o.summaryLimit}), nil
	})
	if err == nil {
		p.Target, err = compact.ParseAmount("--target", o.target)
	}
	return p, err
}

// unconditional returns a policy that runs passes unconditionally, with the same options, or nil
// for the default ones of each.
func unconditional(names []string, same *compact.Options, find func(name string) (*compact.Pass, error)) (*compact.Policy, error) {
	p := &compact.Policy{Name: strings.Join(names, ","), Window: compact.PiPolicy.Window}
	for _, name := range names {
		pass, err := find(name)
		if err != nil {
			return nil, err
		}
		p.Counter = cmp.Or(p.Counter, pass.Defaults.Counter)
		p.Layers = append(p.Layers, compact.Layer{Pass: pass, Options: *cmp.Or(same, &pass.Defaults)})
	}
	return p, nil
}

// gsh sets those of gsh's own numbers whose flags are given.
func (o *reduceOptions) gsh(p *compact.Policy, given func(flag string) bool) {
	set := func(flag string, pass *compact.Pass, to func(l *compact.Layer)) {
		if l := p.Layer(pass); l != nil && given(flag) {
			to(l)
		}
	}
	set("max-tool-output-bytes", &compact.Truncate, func(l *compact.Layer) { l.Max = o.maxOutput })
	set("prune-protect-tokens", &compact.Prune, func(l *compact.Layer) { l.Protect = o.protect })
	set("compact-threshold", &compact.Compact, func(l *compact.Layer) { l.When = &compact.Trigger{Share: o.threshold, Whole: true} })
}

// passFlags are the flags of the commands that run single passes.
type passFlags struct {
	reduceFlags
	compact.Options
	which []string
}

func newPassFlags(name string) *passFlags {
	return &passFlags{reduceFlags: reduceFlags{writeFlags: writeFlags{name: name}}}
}

// use sets a policy that runs these passes unconditionally.
func (o *passFlags) use(names ...string) (err error) {
	o.policy, err = unconditional(names, &o.Options, compact.FindPass)
	return err
}

func newTruncateCommand(e *env) *cobra.Command {
	o, units := newPassFlags("truncate"), []string{"bytes", "chars", "tokens"}
	cmd := &cobra.Command{}
	f := cmd.Flags()
	f.IntVar(&o.Max, "max", compact.Truncate.Defaults.Max, "keep at most `N` units of a result (0 bytes: no limit)")
	e.choice(cmd, &o.Unit, "unit", "bytes", "count in `UNITS`: bytes, chars, tokens", "", units)
	return o.command(e, cmd, func() error {
		if o.Unit == "chars" && !cmd.Flags().Changed("max") {
			o.Max = 10000
		}
		if !slices.Contains(units, o.Unit) || o.Max < 0 || o.Max == 0 && o.Unit != "bytes" {
			return fmt.Errorf("--max %d --unit %s: must be a limit in bytes, chars or tokens", o.Max, sessionfmt.Quote(o.Unit))
		}
		return o.use("truncate")
	})
}

// pruning are the passes of ctxtool prune, the default first.
var pruning = []string{"prune", "superseded", "retry-prune", "stale-results", "merge-notes", "progressive", "drop-bootstrap", "drop-tools"}

// A passCommand is a command that runs a pass.
type passCommand struct{ line, pass string }

// passCommands returns the commands that run each pass, for help.
func passCommands() []passCommand {
	all := []passCommand{{"truncate", "truncate"}}
	for _, pass := range pruning {
		all = append(all, passCommand{"prune --pass " + pass, pass})
	}
	return append(all, passCommand{"strip --thinking", "strip-thinking"}, passCommand{"strip --images", "drop-images"},
		passCommand{"compact", "compact"}, passCommand{"reduce --pass redact", "redact"})
}

func newPruneCommand(e *env) *cobra.Command {
	o := newPassFlags("prune")
	cmd := &cobra.Command{}
	o.summaryFlags(e, cmd)
	f := cmd.Flags()
	e.choices(cmd, &o.which, "pass", pruning[:1], "run `PASSES` in this order: "+strings.Join(pruning, ", "), "unknown pass", pruning)
	f.IntVar(&o.Protect, "protect", compact.Prune.Defaults.Protect, "keep the results of the last `N` tokens")
	f.IntVar(&o.Requests, "requests", compact.StaleResults.Defaults.Requests, "remove results older than `N` requests")
	f.BoolVar(&o.IntraTurn, "intra-turn", false, "only the last turn")
	f.IntVar(&o.MinTokens, "min-tokens", 0, "retry-prune, progressive: skip what frees fewer than `N` tokens")
	only(cmd, []string{"pass prune"}, "protect")
	only(cmd, []string{"pass stale-results"}, "requests")
	only(cmd, []string{"pass retry-prune"}, "intra-turn")
	only(cmd, []string{"pass retry-prune", "pass progressive"}, "min-tokens")
	return o.command(e, cmd, func() error {
		if o.Protect < 0 || o.Requests < 0 || o.MinTokens < 0 {
			return errors.New("--protect, --requests and --min-tokens must be 0 or more")
		}
		return o.use(o.which...)
	})
}

func newStripCommand(e *env) *cobra.Command {
	o := newPassFlags("strip")
	var thinking, images bool
	cmd := &cobra.Command{}
	f := cmd.Flags()
	f.BoolVar(&thinking, "thinking", false, "remove thinking, and <think> in texts")
	f.BoolVar(&images, "images", false, "replace images with a note")
	f.IntVar(&o.Keep, "keep", 0, "keep the images of the last `N` requests")
	only(cmd, []string{"images"}, "keep")
	return o.command(e, cmd, func() error {
		var names []string
		if thinking || !images {
			names = append(names, "strip-thinking")
		}
		if images {
			names = append(names, "drop-images")
		}
		if o.Keep < 0 {
			return fmt.Errorf("--keep %d: must be 0 or more", o.Keep)
		}
		return o.use(names...)
	})
}

func newCompactCommand(e *env) *cobra.Command {
	o := newPassFlags("compact")
	style := ""
	styles := []string{"pi", "gsh", "swe-cli", "y-agent"}
	cmd := &cobra.Command{}
	o.summaryFlags(e, cmd)
	f := cmd.Flags()
	e.choice(cmd, &style, "style", "pi", "cut as `SYSTEM` does: "+strings.Join(styles, ", "), "--style", styles)
	f.IntVar(&o.Keep, "keep", 20000, "keep `N` tokens, with swe-cli and y-agent messages (20 and 0)")
	return o.command(e, cmd, func() error {
		o.Style, o.Retries = compact.Style(style), 1
		if !cmd.Flags().Changed("keep") {
			o.Keep = map[string]int{"pi": 20000, "swe-cli": 20}[style]
		}
		if o.Keep < 0 || style == "gsh" && o.Keep > 0 {
			return fmt.Errorf("--keep %d: must be 0 or more, and 0 with --style gsh", o.Keep)
		}
		like, err := compact.FindPolicy(style)
		if err = cmp.Or(err, o.use("compact")); err == nil {
			o.policy = like.Only(o.policy.Name, o.policy.Layers)
		}
		return err
	})
}

func newUndoCommand(e *env) *cobra.Command {
	o := &writeFlags{name: "undo"}
	cmd := command(e, o, func(e *env, o *writeFlags, args []string) error { return o.runOne(e, args[0], nil) })
	o.appendFlags(e, cmd)
	o.forceFlag(cmd)
	o.plan = func(_ *env, s *sessionfmt.Session, f listedFile) (*plan.Plan, error) {
		b, promise, last, err := compact.Undo(replay.New(s, replay.Options{}), o.time)
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
