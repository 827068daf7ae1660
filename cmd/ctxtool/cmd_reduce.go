package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ctxtool/compact"
)

// reduceOptions are the flags of ctxtool reduce.
type reduceOptions struct {
	reducing
	policyName, preset string
	keep               int
	target             string

	// gsh's own keys
	maxOutput, protect int
	threshold          float64
}

func newReduceCommand(e *env) *cobra.Command {
	o := &reduceOptions{reducing: reducing{writing: writing{name: "reduce"}}}
	var names, presets, whose []string
	for _, p := range compact.Policies() {
		names = append(names, p.Name)
		if len(p.Presets) == 0 {
			continue
		}
		var own []string
		for _, s := range p.Presets {
			own = append(own, s.Name)
		}
		presets = append(presets, own...)
		whose = append(whose, p.Name+" has "+strings.Join(own, ", "))
	}
	cmd := &cobra.Command{
		Use:   "reduce [flags] SESSION|DIR...",
		Short: "Make contexts smaller by a policy, by appending entries",
		Long: "Make contexts smaller as one of the agents would: --policy is a chain of passes, each\n" +
			"with what makes it run. ctxtool policies lists them with their numbers; --preset,\n" +
			"and over it flags, set other ones. The window is --window, else the model's, else\n" +
			"the policy's own.\n\n" +
			reduceHelp + "\n" + filesHelp + reduceStatus,
		Example: "  ctxtool reduce --policy gsh s.jsonl\n" +
			"  ctxtool reduce --policy pi --if-over 80% sessions/ --write\n" +
			"  ctxtool reduce --policy swe-cli --window 128000 s.jsonl -o - | ctxtool replay -",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.policy, err = o.choose(e, cmd); err != nil {
				return usage(err)
			}
			return o.run(e, args)
		},
	}
	o.reducing.flags(e, cmd)
	o.summaryFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.policyName, "policy", "pi", "reduce by `NAME`: "+strings.Join(names, ", ")+", or one of the configuration")
	f.StringVar(&o.preset, "preset", "", "the policy's numbers of `NAME`: "+strings.Join(whose, "; "))
	f.IntVar(&o.keep, "keep", 0, "let `N` messages stay behind a summary, with pi tokens (default: the policy's)")
	f.StringVar(&o.target, "target", "", "run layer by layer, whatever makes them run, until the context is at most `AMOUNT`: tokens, or a share of the window as 50%")
	f.IntVar(&o.maxOutput, "max-tool-output-bytes", 30000, "gsh: cap each tool result at `N` bytes, 0 for not at all")
	f.IntVar(&o.protect, "prune-protect-tokens", 40000, "gsh: let the results of the last `N` tokens stay")
	f.Float64Var(&o.threshold, "compact-threshold", 0.85, "gsh: summarise above this `SHARE` of the window")
	complete(cmd, "policy", names)
	complete(cmd, "preset", presets)
	return cmd
}

// choose is the policy with the numbers of configuration, preset and flags.
func (o *reduceOptions) choose(e *env, cmd *cobra.Command) (*compact.Policy, error) {
	own, err := e.config.policies()
	if err != nil {
		return nil, err
	}
	p, err := compact.FindPolicy(o.policyName, own...)
	if err != nil {
		return nil, err
	}
	given := cmd.Flags().Changed
	if p.Name == compact.GSHPolicy.Name {
		p = o.gsh(func(string) bool { return true }).Configure(p)
	}
	if o.preset != "" {
		if p, err = p.With(o.preset); err != nil {
			return nil, err
		}
		if p.Name == compact.GSHPolicy.Name {
			p = o.gsh(given).Configure(p)
		}
	}
	p = p.Copy()
	if given("keep") {
		l := p.Layer(&compact.Compact)
		if l == nil || l.Style == compact.StyleGSH || o.keep < 0 {
			return nil, fmt.Errorf("--keep %d: policy %s keeps no messages", o.keep, p.Name)
		}
		l.Keep = o.keep
	}
	p.Target, err = amount("--target", o.target)
	return p, err
}

// gsh are the values of gsh's own keys, of those that are given.
func (o *reduceOptions) gsh(given func(flag string) bool) (c compact.GSHConfig) {
	if given("max-tool-output-bytes") {
		c.MaxToolOutputBytes = &o.maxOutput
	}
	if given("prune-protect-tokens") {
		c.PruneProtectTokens = &o.protect
	}
	if given("compact-threshold") {
		c.CompactThreshold = &o.threshold
	}
	return c
}
