package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A policyTable is a policy in a configuration file: [policies.NAME].
type policyTable struct {
	About   string
	Like    string // the policy whose numbers it begins with; without, it has the layers below
	Window  int64
	Counter string
	Layers  []layerTable
}

// A layerTable is a layer of a policy: the pass, its options, and when it runs.
type layerTable struct {
	Pass      string
	Max       *int
	Unit      *string
	Protect   *int
	Requests  *int
	Profile   *string
	MinTokens *int `mapstructure:"min_tokens" toml:"min_tokens"`
	Style     *string
	Keep      *int
	Patterns  []string
	Over      string // an amount above which it runs: tokens, or a share of the window with %
	Reserve   int64  // or the tokens that are to be left of the window
}

// policies are the policies that configuration files define, the strongest file's where
// several define one.
func (c *config) policies() (own []*compact.Policy, err error) {
	for k := len(c.files) - 1; k >= 0; k-- {
		l := c.files[k]
		for _, name := range slices.Sorted(maps.Keys(l.Policies)) {
			if slices.ContainsFunc(own, func(p *compact.Policy) bool { return p.Name == name }) {
				continue
			}
			p, err := l.Policies[name].policy(name)
			if err != nil {
				return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: l.name}, Err: fmt.Errorf("policies.%s: %w", name, err)}
			}
			own = append(own, p)
		}
	}
	return own, nil
}

// String is what a policy consists of: ctxtool policies has the numbers.
func (t policyTable) String() string {
	var parts []string
	if t.Like != "" {
		parts = append(parts, "like "+t.Like)
	}
	for _, l := range t.Layers {
		parts = append(parts, l.Pass)
	}
	return strings.Join(parts, ",")
}

func (t policyTable) policy(name string) (*compact.Policy, error) {
	p := &compact.Policy{Name: name, About: t.About, Window: compact.PiPolicy.Window, Counter: &tokens.Pi, Note: "from the configuration"}
	if t.Like != "" {
		like, err := compact.FindPolicy(t.Like)
		if err != nil {
			return nil, err
		}
		p = like.Copy()
		p.Name, p.Note = name, "from the configuration, like "+t.Like
	}
	if t.About != "" {
		p.About = t.About
	}
	if t.Window != 0 {
		p.Window = t.Window
	}
	if t.Counter != "" {
		c, err := tokens.Find(t.Counter)
		if err != nil {
			return nil, err
		}
		p.Counter = c
	}
	if len(t.Layers) > 0 {
		p.Layers = nil
	}
	for k, l := range t.Layers {
		layer, err := l.layer()
		if err != nil {
			return nil, fmt.Errorf("layer %d: %w", k, err)
		}
		p.Layers = append(p.Layers, layer)
	}
	if len(p.Layers) == 0 || p.Window < 0 {
		return nil, fmt.Errorf("want layers, or like = a policy, and a window of tokens")
	}
	return p, nil
}

func (t layerTable) layer() (l compact.Layer, err error) {
	if l.Pass, err = compact.FindPass(t.Pass); err != nil {
		return l, err
	}
	l.Options = l.Pass.Defaults
	l.Patterns = t.Patterns
	if err = cmp.Or(
		number(&l.Max, t.Max, "max"), number(&l.Protect, t.Protect, "protect"), number(&l.Requests, t.Requests, "requests"),
		number(&l.MinTokens, t.MinTokens, "min_tokens"), number(&l.Keep, t.Keep, "keep"),
		word(&l.Unit, t.Unit, "unit", "bytes", "chars", "tokens"), word(&l.Profile, t.Profile, "profile", "seed", "source"),
		word((*string)(&l.Style), t.Style, "style", "pi", "gsh", "swe-cli", "y-agent"),
	); err != nil {
		return l, err
	}
	over, err := amount("over", t.Over)
	switch {
	case err != nil:
		return l, err
	case over != compact.Amount{}:
		l.When = &compact.Trigger{Share: over.Share, Tokens: over.Tokens}
	case t.Reserve > 0:
		l.When = &compact.Trigger{Reserve: t.Reserve}
	}
	return l, nil
}

// number sets a number that is given.
func number(to, from *int, name string) error {
	if from == nil {
		return nil
	}
	if *to = *from; *to < 0 {
		return fmt.Errorf("%s = %d: want a number from 0 on", name, *to)
	}
	return nil
}

// word sets a word that is given, one of some.
func word(to, from *string, name string, one ...string) error {
	if from == nil {
		return nil
	}
	if *to = *from; !slices.Contains(one, *to) {
		return fmt.Errorf("%s = %q: one of %v", name, *to, one)
	}
	return nil
}
