// Package config reads the configuration: files in TOML, and the environment.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/sessionfmt"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/viper"
)

// A Config holds configuration files and the environment (CTXTOOL_...), which overrides them.
type Config struct {
	getenv func(key string) string
	files  []*layer // later ones override
}

// A layer is one configuration file, decoded once. Viper changes the keys of settings to lower case; the names of
// models and policies stay as they are.
type layer struct {
	name     string
	text     []byte
	settings *viper.Viper // with empty texts for models and policies
	models   map[string]map[string]any
	policies map[string]policyTable
	policy   string // whose own file it is: it counts where that policy is asked for
}

// mostBytes is how large a configuration file may be.
const mostBytes = 1 << 20

// read returns the content of a configuration file. It must be a regular one, but for one that
// was named on the command line: those of folders may be somebody else's.
func read(disk sessionfmt.Disk, name string, named bool) ([]byte, error) {
	open := disk.OpenRegular
	if named {
		open = disk.Open
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = fmt.Errorf("must have at most %d bytes", mostBytes)
	}
	return data, err
}

// Read reads files, of which later ones override. Only the file required must exist.
func Read(disk sessionfmt.Disk, getenv func(key string) string, names []string, required string) (*Config, error) {
	c := &Config{getenv: getenv}
	for _, name := range names {
		l, err := readLayer(disk, name, name == required)
		if errors.Is(err, fs.ErrNotExist) && name != required {
			continue
		}
		if err != nil {
			return nil, broken(name, err)
		}
		c.files = append(c.files, l)
	}
	return c, nil
}

// AddGSH adds the configuration of gsh itself, from the first of the folders that has one. All
// other files override it, and only its table [context] counts (docs/policies.md 2.1).
func (c *Config) AddGSH(disk sessionfmt.Disk, dirs ...string) error {
	for _, dir := range dirs {
		name := filepath.Join(dir, "gsh", "config.toml")
		if !filepath.IsAbs(name) {
			continue
		}
		data, err := read(disk, name, false)
		if err != nil {
			continue
		}
		var file struct{ Context map[string]any }
		if err := toml.Unmarshal(data, &file); err != nil {
			return broken(name, err)
		}
		l := &layer{name: name, text: data, settings: viper.New(), policy: compact.GSHPolicy.Name}
		c.files = append([]*layer{l}, c.files...)
		return l.settings.MergeConfigMap(map[string]any{"context": file.Context})
	}
	return nil
}

// broken returns the error for a file that cannot be read, with its line if the error has one.
func broken(name string, err error) error {
	pos := sessionfmt.Pos{File: name}
	if own, ok := errors.AsType[*sessionfmt.Error](err); ok {
		pos.Line, err = own.Pos.Line, own.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	var at interface{ Position() (row, column int) }
	if errors.As(err, &at) {
		pos.Line, _ = at.Position()
	}
	return &sessionfmt.Error{Pos: pos, Err: err}
}

func readLayer(disk sessionfmt.Disk, name string, named bool) (l *layer, err error) {
	l = &layer{name: name, settings: viper.New()}
	if l.text, err = read(disk, name, named); err != nil {
		return nil, err
	}
	var file map[string]any
	if err := toml.Unmarshal(l.text, &file); err != nil {
		return nil, err
	}
	for key, v := range file {
		switch strings.ToLower(key) {
		case "models":
			err = l.readModels(v)
		case "policies":
			err = l.readPolicies(v)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		file[key] = ""
	}
	return l, l.settings.MergeConfigMap(file)
}

// line returns the line of a key, or of the table that it is in, 0 for one that the file does not have. Only messages
// need it, so the file is read again for it.
func (l *layer) line(key string) int {
	lines := map[string]int{} // by key in lower case
	// of keys that the target does not have, the decoder reports the places
	for _, target := range []any{new(struct{ Models, Policies map[string]struct{} }), new(struct{})} {
		d := toml.NewDecoder(bytes.NewReader(l.text))
		d.DisallowUnknownFields()
		var missing *toml.StrictMissingError
		if !errors.As(d.Decode(target), &missing) {
			continue
		}
		for _, of := range missing.Errors {
			line, _ := of.Position()
			for k := range of.Key() {
				name := strings.ToLower(strings.Join(of.Key()[:k+1], "."))
				lines[name] = cmp.Or(lines[name], line)
			}
		}
	}
	for key = strings.ToLower(key); key != "" && lines[key] == 0; {
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
	return lines[key]
}

// Lookup returns the value of a setting in the syntax of flags, and the variable or file that
// sets it. from is empty if none does.
func (c *Config) Lookup(key string) (value, from string) {
	if text := c.getenv(envName(key)); text != "" {
		return text, envName(key)
	}
	for _, l := range slices.Backward(c.files) {
		if v, set := l.get(key); set {
			return settingText(v), l.name
		}
	}
	return "", ""
}

// Pos returns where a setting is set: the variable, or the file and the line in it.
func (c *Config) Pos(key string) sessionfmt.Pos {
	_, from := c.Lookup(key)
	pos := sessionfmt.Pos{File: from}
	for _, l := range c.files {
		if l.name == from {
			pos.Line = cmp.Or(l.line(key), l.line(gshKey(key)))
		}
	}
	return pos
}

// A Set is a setting that a file or a variable sets, or something else that stands there.
type Set struct {
	Key      string // as in the file; that of a variable in the syntax of flags
	From     string // the variable or file
	Variable bool   // of the environment
	layer    *layer // the file
}

// Pos returns where the setting is.
func (s *Set) Pos() sessionfmt.Pos {
	pos := sessionfmt.Pos{File: s.From}
	if s.layer != nil {
		pos.Line = s.layer.line(s.Key)
	}
	return pos
}

// prefix begins the names of all variables that set something.
const prefix = "CTXTOOL_"

// Sets returns what the files and the environment set, but for tables whose keys are names.
func (c *Config) Sets(environ []string) (all []Set) {
	for _, l := range c.files {
		if l.policy != "" {
			continue // the file of another program
		}
		for _, key := range slices.Sorted(maps.Keys(l.settings.AllSettings())) {
			switch key {
			case "models", "policies":
			case "context":
				for _, name := range slices.Sorted(maps.Keys(l.settings.GetStringMap(key))) {
					of := key + "." + name
					if setting := strings.ReplaceAll(name, "_", "-"); gshKey(setting) == of {
						continue
					}
					all = append(all, Set{Key: of, From: l.name, layer: l})
				}
			default:
				all = append(all, Set{Key: key, From: l.name, layer: l})
			}
		}
	}
	for _, v := range slices.Sorted(slices.Values(environ)) {
		if name, text, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) && text != "" {
			key := strings.ToLower(strings.ReplaceAll(name[len(prefix):], "_", "-"))
			all = append(all, Set{Key: key, From: name, Variable: true})
		}
	}
	return all
}

// get returns the value of a key in the file, or of gsh's name for it.
func (l *layer) get(key string) (v any, set bool) {
	if own := gshKey(key); own != "" && !l.settings.IsSet(key) {
		key = own
	}
	return l.settings.Get(key), l.settings.IsSet(key)
}

// gshKey returns gsh's name for a setting (docs/policies.md 2.1), or "".
func gshKey(key string) string {
	switch key {
	case "max-iterations", "max-tool-output-bytes", "prune-protect-tokens", "compact-threshold", "ambient-commands":
		return "context." + strings.ReplaceAll(key, "-", "_")
	}
	return ""
}

// settingText returns a setting in the syntax of flags: lists have commas.
func settingText(v any) string {
	var texts []string
	switch v := v.(type) {
	case []any:
		for _, el := range v {
			texts = append(texts, fmt.Sprint(el))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, fmt.Sprintf("%s=%v", key, v[key]))
		}
	default:
		return fmt.Sprint(v)
	}
	return strings.Join(texts, ",")
}

// envName returns the name of the environment variable for a key.
func envName(key string) string {
	return prefix + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

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
		if k := slices.IndexFunc(c.files, func(l *layer) bool { return l.name == from }); k >= 0 &&
			name != "ambient-commands" {
			row.Policy = c.files[k].policy
		}
		rows = append(rows, row)
	}
	for _, l := range c.files {
		for _, key := range slices.Sorted(maps.Keys(l.settings.AllSettings())) {
			_, known := defaults[key]
			switch {
			case key == "models":
				for _, model := range slices.Sorted(maps.Keys(l.models)) {
					rows = append(rows, Row{Key: fmt.Sprintf("models.%q", model), Value: settingText(l.models[model]),
						From: l.name})
				}
			case key == "policies":
				for _, name := range slices.Sorted(maps.Keys(l.policies)) {
					rows = append(rows, Row{Key: "policies." + name, Value: l.policies[name].String(), From: l.name})
				}
			case key == "context":
				rows = append(rows, l.contextRows(defaults)...)
			case !known:
				rows = append(rows, Row{Key: key, Value: settingText(l.settings.Get(key)), From: l.name, Unknown: true})
			}
		}
	}
	return rows
}

// contextRows returns the keys of a file's table [context] that no command reads.
func (l *layer) contextRows(defaults map[string]string) (rows []Row) {
	table := l.settings.GetStringMap("context")
	for _, key := range slices.Sorted(maps.Keys(table)) {
		name := strings.ReplaceAll(key, "_", "-")
		if _, known := defaults[name]; !known || gshKey(name) != "context."+key {
			rows = append(rows, Row{Key: "context." + key, Value: settingText(table[key]), From: l.name,
				Policy: l.policy, Unknown: true})
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
