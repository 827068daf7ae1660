package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// Models returns the table of models with those of the configuration: each is a table
// models."provider/id" with the keys of the built-in table.
func (c *Config) Models() (*models.Table, error) {
	t := models.Builtin()
	for _, l := range c.files {
		for _, name := range slices.Sorted(maps.Keys(l.Models)) {
			provider, id, ok := strings.Cut(name, "/")
			if !ok {
				return nil, fmt.Errorf("configuration: models.%q: must be provider/id", name)
			}
			m, _, _ := t.Lookup(provider, id)
			if m.Provider != provider || m.ID != id {
				m = models.Model{Provider: provider, ID: id}
			}
			if err := decodeModel(l.Models[name], &m); err != nil {
				return nil, fmt.Errorf("%s: models.%q: %w", l.name, name, err)
			}
			t = t.With(m)
		}
	}
	return t, nil
}

// HasModel reports whether a file sets a field of a model.
func (c *Config) HasModel(m models.Model) bool {
	return slices.ContainsFunc(c.files, func(l layer) bool { return l.Models[m.Provider+"/"+m.ID] != nil })
}

// decodeModel reads the keys of one configured model.
func decodeModel(from map[string]any, m *models.Model) error {
	for _, key := range slices.Sorted(maps.Keys(from)) {
		var n float64
		switch v := from[key].(type) {
		case int64:
			n = float64(v)
		case float64:
			n = v
		default:
			return fmt.Errorf("%s: %v: must be a number", key, v)
		}
		switch strings.ToLower(key) {
		case "contextwindow", "context_window":
			m.ContextWindow = int64(n)
		case "maxtokens", "max_tokens":
			m.MaxTokens = int64(n)
		case "input":
			m.Cost.Input = n
		case "output":
			m.Cost.Output = n
		case "cacheread", "cache_read":
			m.Cost.CacheRead = n
		case "cachewrite", "cache_write":
			m.Cost.CacheWrite = n
		default:
			return fmt.Errorf("unknown key %s", key)
		}
	}
	return nil
}

// A policyTable is a policy in a configuration file: [policies.NAME].
type policyTable struct {
	About   string
	Like    string // the policy whose numbers are the defaults; empty for none
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
	MinTokens *int `toml:"min_tokens"`
	Style     *string
	Keep      *int
	Patterns  []string
	Over      string // it runs above this amount: tokens, or a share of the window with %
	Reserve   int64  // or if fewer tokens than this are left of the window
}

// Policies returns the policies of the configuration files; of one name, that of the last
// file.
func (c *Config) Policies() (own []*compact.Policy, err error) {
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

// String returns the parts of a policy, without their numbers.
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
		p.Window, p.Windows = t.Window, nil
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
		return nil, fmt.Errorf("must have layers or like, and a window of 0 or more tokens")
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
		word(&l.Unit, t.Unit, "unit", "bytes", "chars", "tokens"),
		word((*string)(&l.Style), t.Style, "style", "pi", "gsh", "swe-cli", "y-agent"),
	); err != nil {
		return l, err
	}
	over, err := compact.ParseAmount("over", t.Over)
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

// number sets a number if the file has it.
func number(to, from *int, name string) error {
	if from == nil {
		return nil
	}
	if *to = *from; *to < 0 {
		return fmt.Errorf("%s = %d: must be 0 or more", name, *to)
	}
	return nil
}

// word sets a word if the file has it. It must be one of the list.
func word(to, from *string, name string, one ...string) error {
	if from == nil {
		return nil
	}
	if *to = *from; !slices.Contains(one, *to) {
		return fmt.Errorf("%s = %q: expected one of %v", name, *to, one)
	}
	return nil
}
