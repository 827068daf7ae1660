package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// readModels reads the tables models."provider/id".
func (l *layer) readModels(v any) error {
	l.models = map[string]map[string]any{}
	return l.eachTable("models", v, func(name string, t map[string]any) error {
		l.models[name] = t
		return nil
	})
}

// readPolicies reads the tables policies.NAME.
func (l *layer) readPolicies(v any) error {
	l.policies = map[string]policyTable{}
	return l.eachTable("policies", v, func(name string, from map[string]any) error {
		var t policyTable
		for _, key := range slices.Sorted(maps.Keys(from)) {
			at := "policies." + name + "." + key
			if ok, is := t.set(strings.ToLower(key), from[key]); is == "" {
				return l.wrong(at, "unknown key %s", at)
			} else if !ok {
				return l.wrong(at, "%s: must be %s", at, is)
			}
		}
		l.policies[name] = t
		return nil
	})
}

// eachTable passes the tables in a table, by name.
func (l *layer) eachTable(key string, v any, see func(name string, t map[string]any) error) error {
	all, ok := v.(map[string]any)
	if !ok {
		return l.wrong(key, "%s: must be a table", key)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t, ok := all[name].(map[string]any)
		if !ok {
			return l.wrong(key+"."+name, "%s.%s: must be a table", key, name)
		}
		if err := see(name, t); err != nil {
			return err
		}
	}
	return nil
}

// wrong returns an error at the line of a key.
func (l *layer) wrong(key, format string, args ...any) error {
	return &sessionfmt.Error{Pos: sessionfmt.Pos{Line: l.line(key)}, Err: fmt.Errorf(format, args...)}
}

// Models returns the table of models with those of the configuration: each is a table
// models."provider/id" with the keys of the built-in table.
func (c *Config) Models() (*models.Table, error) {
	t := models.Builtin()
	for _, l := range c.files {
		for _, name := range slices.Sorted(maps.Keys(l.models)) {
			provider, id, ok := strings.Cut(name, "/")
			if !ok {
				return nil, fmt.Errorf("configuration: models.%q: must be provider/id", name)
			}
			m, _, _ := t.Lookup(provider, id)
			if m.Provider != provider || m.ID != id {
				m = models.Model{Provider: provider, ID: id}
			}
			if err := decodeModel(l.models[name], &m); err != nil {
				return nil, fmt.Errorf("%s: models.%q: %w", l.name, name, err)
			}
			t = t.With(m)
		}
	}
	return t, nil
}

// HasModel reports whether a file sets a field of a model.
func (c *Config) HasModel(m models.Model) bool {
	return slices.ContainsFunc(c.files, func(l *layer) bool { return l.models[m.Provider+"/"+m.ID] != nil })
}

// decodeModel reads the keys of one configured model.
func decodeModel(from map[string]any, m *models.Model) error {
	fields := map[string]any{
		"contextwindow": &m.ContextWindow, "maxtokens": &m.MaxTokens, "input": &m.Cost.Input, "output": &m.Cost.Output,
		"cacheread": &m.Cost.CacheRead, "cachewrite": &m.Cost.CacheWrite,
	}
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
		switch to := fields[strings.ReplaceAll(strings.ToLower(key), "_", "")].(type) {
		case *int64:
			*to = int64(n)
		case *float64:
			*to = n
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

// set sets a field from TOML. ok is false if the value is not what the key requires: is, empty for an unknown key.
func (t *policyTable) set(key string, v any) (ok bool, is string) {
	switch key {
	case "about":
		t.About, ok = v.(string)
		return ok, "a text"
	case "like":
		t.Like, ok = v.(string)
		return ok, "a text"
	case "counter":
		t.Counter, ok = v.(string)
		return ok, "a text"
	case "window":
		t.Window, ok = v.(int64)
		return ok, "a whole number"
	case "layers":
		list, ok := v.([]any)
		for _, one := range list {
			layer, is := one.(map[string]any)
			ok = ok && is
			t.Layers = append(t.Layers, layer)
		}
		return ok, "a list of tables"
	}
	return false, ""
}

// A layerTable is a layer of a policy: its `pass`, the options of that ([compact.Pass.Params], with _
// for -), `patterns`, and when it runs: `over` an amount, tokens or a share of the window with %, or
// with less than a `reserve` of tokens left of it.
type layerTable map[string]any

// Policies returns the policies of the configuration files; of one name, that of the last
// file.
func (c *Config) Policies() (own []*compact.Policy, err error) {
	for k := len(c.files) - 1; k >= 0; k-- {
		l := c.files[k]
		for _, name := range slices.Sorted(maps.Keys(l.policies)) {
			if slices.ContainsFunc(own, func(p *compact.Policy) bool { return p.Name == name }) {
				continue
			}
			p, err := l.policies[name].policy(name)
			if err != nil {
				return nil, sessionfmt.Errorf("policies.%s: %w", name, err).In(l.name)
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
		parts = append(parts, fmt.Sprint(l["pass"]))
	}
	return strings.Join(parts, ",")
}

func (t policyTable) policy(name string) (*compact.Policy, error) {
	p := &compact.Policy{Name: name, About: t.About, Window: compact.PiPolicy.Window, Counter: &tokens.Pi,
		Note: "from the configuration"}
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
	if l.Pass, err = compact.FindPass(fmt.Sprint(t["pass"])); err != nil {
		return l, err
	}
	var options []string
	for _, key := range slices.Sorted(maps.Keys(t)) {
		switch v := t[key]; key {
		case "pass", "patterns":
		case "over":
			over, err := compact.ParseAmount(key, fmt.Sprint(v))
			if err != nil {
				return l, err
			}
			l.When = &compact.Trigger{Share: over.Share, Tokens: over.Tokens}
		case "reserve":
			if n, ok := v.(int64); ok && n >= 0 {
				l.When = &compact.Trigger{Reserve: n}
			} else {
				return l, fmt.Errorf("reserve = %v: must be a number of tokens", v)
			}
		default:
			options = append(options, fmt.Sprintf("%s=%v", strings.ReplaceAll(key, "_", "-"), v))
		}
	}
	if l.Options, err = l.Pass.With(strings.Join(options, ",")); err != nil {
		return l, err
	}
	l.Patterns, err = texts(t["patterns"])
	return l, err
}

// texts returns a list of texts, as TOML has it.
func texts(v any) (all []string, err error) {
	list, ok := v.([]any)
	for _, one := range list {
		text, is := one.(string)
		ok = ok && is
		all = append(all, text)
	}
	if !ok && v != nil {
		return nil, fmt.Errorf("patterns = %v: must be a list of texts", v)
	}
	return all, nil
}
