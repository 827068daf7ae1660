package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/sessionfmt"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/viper"
)

// gshLayer returns gsh's own configuration below all others, if the command asks for that
// policy, or lists the settings. Only its table [context] counts (docs/policies.md 2.1).
func (e *env) gshLayer(cmd *cobra.Command) (own []layer, err error) {
	if cmd.Name() != "config" && !e.config.asks(cmd, compact.GSHPolicy.Name) {
		return nil, nil
	}
	name, data := "", []byte(nil)
	for _, dir := range []string{filepath.Join(e.home, ".config"), e.configDir} {
		if name = filepath.Join(dir, "gsh", "config.toml"); filepath.IsAbs(name) {
			if data, err = e.disk.ReadFile(name); err == nil {
				break
			}
		}
	}
	if data == nil {
		return nil, nil
	}
	var file struct{ Context map[string]any }
	if err := toml.Unmarshal(data, &file); err != nil {
		return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: lineOf(err)}, Err: err}
	}
	l := layer{name: name, v: viper.New(), policy: compact.GSHPolicy.Name}
	return []layer{l}, l.v.MergeConfigMap(map[string]any{"context": file.Context})
}

// asks reports whether a command is to follow a policy, by its flags or the configuration.
func (c *config) asks(cmd *cobra.Command, policy string) bool {
	for _, name := range []string{"policy", "like"} {
		f := cmd.Flags().Lookup(name)
		if f == nil {
			continue
		}
		value := f.Value.String()
		if set, from := c.lookup(name); !f.Changed && from != "" && isSetting(cmd, name) {
			value = set
		}
		if slices.Contains(strings.Split(value, ","), policy) {
			return true
		}
	}
	return false
}

// contextRows returns the keys of a file's table [context] that no command reads.
func (l layer) contextRows(settings map[string]*setting) (rows []configRow) {
	table := l.v.GetStringMap("context")
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if name := strings.ReplaceAll(key, "_", "-"); settings[name] == nil || gshKey(name) != "context."+key {
			rows = append(rows, configRow{Key: "context." + key, Value: settingText(table[key]), From: l.name, Policy: l.policy, Unknown: true})
		}
	}
	return rows
}

// from says in words where a row comes from.
func (r configRow) from() string {
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
