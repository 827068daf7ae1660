package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Row is a setting, with the value in effect and where it comes from.
type Row struct {
	Key     string `json:"key"`
	Value   string `json:"value"`             // in effect, in the syntax of flags
	From    string `json:"from"`              // the variable or file that sets it, or `default`
	Policy  string `json:"policy,omitempty"`  // it counts only where that policy is asked for
	Unknown bool   `json:"unknown,omitempty"` // a file sets it, and no command reads it
}

// Source returns in words where the row comes from.
func (r Row) Source() string {
	var notes []string
	if r.Policy != "" {
		notes = append(notes, "policy "+r.Policy)
	}
	if r.Unknown {
		notes = append(notes, "unknown setting")
	}
	if len(notes) == 0 {
		return r.From
	}
	return r.From + " (" + strings.Join(notes, ", ") + ")"
}

// Rows returns all settings, of which defaults has the default values, and unknown keys of
// files.
func (c *Config) Rows(defaults map[string]string) (rows []Row) {
	for _, name := range slices.Sorted(maps.Keys(defaults)) {
		value, from := c.Lookup(name)
		if from == "" {
			value, from = defaults[name], "default"
		}
		row := Row{Key: name, Value: value, From: from}
		if k := slices.IndexFunc(c.files, func(l layer) bool { return l.name == from }); k >= 0 {
			row.Policy = c.files[k].policy
		}
		rows = append(rows, row)
	}
	for _, l := range c.files {
		for _, key := range slices.Sorted(maps.Keys(l.v.AllSettings())) {
			_, known := defaults[key]
			switch {
			case key == "models":
				for _, model := range slices.Sorted(maps.Keys(l.Models)) {
					rows = append(rows, Row{Key: fmt.Sprintf("models.%q", model), Value: settingText(l.Models[model]), From: l.name})
				}
			case key == "policies":
				for _, name := range slices.Sorted(maps.Keys(l.Policies)) {
					rows = append(rows, Row{Key: "policies." + name, Value: l.Policies[name].String(), From: l.name})
				}
			case key == "context":
				rows = append(rows, l.contextRows(defaults)...)
			case !known:
				rows = append(rows, Row{Key: key, Value: settingText(l.v.Get(key)), From: l.name, Unknown: true})
			}
		}
	}
	return rows
}

// contextRows returns the keys of a file's table [context] that no command reads.
func (l layer) contextRows(defaults map[string]string) (rows []Row) {
	table := l.v.GetStringMap("context")
	for _, key := range slices.Sorted(maps.Keys(table)) {
		name := strings.ReplaceAll(key, "_", "-")
		if _, known := defaults[name]; !known || gshKey(name) != "context."+key {
			rows = append(rows, Row{Key: "context." + key, Value: settingText(table[key]), From: l.name, Policy: l.policy, Unknown: true})
		}
	}
	return rows
}

// A Place is a variable or a file that can set a setting, or its default.
type Place struct {
	Name, Value string // Value is - if it is not set
	Effective   bool
}

// Places returns the places that can set a setting, the first in effect first.
func (c *Config) Places(key, standard string) []Place {
	value, from := c.Lookup(key)
	from = cmp.Or(from, "default")
	env := envName(key)
	if from != env {
		value = "-"
	}
	places := []Place{{env, value, from == env}}
	for _, l := range slices.Backward(c.files) {
		text := "-"
		if v, set := l.get(key); set {
			text = settingText(v)
		}
		places = append(places, Place{l.name, text, from == l.name})
	}
	return append(places, Place{"default", fmt.Sprintf("%q", standard), from == "default"})
}
