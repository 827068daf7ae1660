package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// A config is what configuration files and the environment say. Flags win over
// the environment (CTXTOOL_...), that over ./.ctxtool.toml, that over
// ctxtool/config.toml in the user's configuration folder.
type config struct {
	getenv func(key string) string
	files  []layer // the weakest first
}

// A layer is one configuration file. Viper puts names in lower case; those of
// models and policies keep theirs.
type layer struct {
	name string
	v    *viper.Viper
	tables
}

// The tables of a configuration file have names of their own.
type tables struct {
	Models   map[string]map[string]any
	Policies map[string]policyTable
}

// configure reads the configuration and fills the flags that were not given.
func (e *env) configure(cmd *cobra.Command) error {
	e.config = &config{getenv: e.getenv}
	for _, name := range e.configFiles() {
		l, err := readLayer(e.disk, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: lineOf(err)}, Err: err}
		}
		e.config.files = append(e.config.files, l)
	}
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || !isSetting(cmd, f.Name) {
			return
		}
		if value, from := e.config.lookup(f.Name); from == hereFile && f.Name == "summarizer" && strings.HasPrefix(value, "exec:") {
			err = &sessionfmt.Error{
				Pos:  sessionfmt.Pos{File: from},
				Err:  errors.New("summarizer: a file in the current folder does not say what is run"),
				Hint: "--summarizer does, or the configuration in the user's own folder",
			}
		} else if from != "" {
			if err = f.Value.Set(value); err != nil {
				err = fmt.Errorf("configuration: %s: %w", f.Name, err)
			}
		}
	})
	return err
}

func readLayer(disk sessionfmt.Disk, name string) (l layer, err error) {
	data, err := disk.ReadFile(name)
	var file map[string]any
	if err = cmp.Or(err, toml.Unmarshal(data, &file)); err != nil {
		return l, err
	}
	var keys mapstructure.Metadata
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{Result: &l.tables, Metadata: &keys, DecodeHook: wholeNumbers})
	if err != nil {
		return l, err
	}
	unknown := func(key string) bool { return strings.HasPrefix(key, "Policies[") } // other keys are settings
	if err := d.Decode(file); err != nil || slices.ContainsFunc(keys.Unused, unknown) {
		return l, cmp.Or(mistake(data), err)
	}
	for key := range file {
		if key == "models" || key == "policies" {
			file[key] = "" // viper would put their names in lower case
		}
	}
	l.name, l.v = name, viper.New()
	return l, l.v.MergeConfigMap(file)
}

// wholeNumbers refuses to make whole numbers of others.
func wholeNumbers(from, to reflect.Kind, v any) (any, error) {
	if from == reflect.Float64 && (to == reflect.Int || to == reflect.Int64) {
		return nil, fmt.Errorf("%v is no whole number", v)
	}
	return v, nil
}

// mistake is what is wrong with the tables of a file, as the parser says it, who knows the
// line.
func mistake(data []byte) error {
	d := toml.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(new(tables))
	var strict *toml.StrictMissingError
	if !errors.As(err, &strict) {
		return err
	}
	for _, missing := range strict.Errors {
		if key := missing.Key(); key[0] == "policies" {
			return fmt.Errorf("unknown key %s", strings.Join(key, "."))
		}
	}
	return nil
}

// lookup is the value of a key and where it comes from; nowhere if from is empty.
func (c *config) lookup(key string) (value, from string) {
	if text := c.getenv(envName(key)); text != "" {
		return text, envName(key)
	}
	for i := len(c.files) - 1; i >= 0; i-- {
		if v, set := c.files[i].get(key); set {
			return settingText(v), c.files[i].name
		}
	}
	return "", ""
}

// get is what the file says of a key, or of gsh's own name for it.
func (l layer) get(key string) (v any, set bool) {
	if own := gshKey(key); own != "" && !l.v.IsSet(key) {
		key = own
	}
	return l.v.Get(key), l.v.IsSet(key)
}

// gshKey is gsh's own name for a setting (docs/policies.md 2.1), empty where it has
// none.
func gshKey(key string) string {
	switch key {
	case "max-iterations", "max-tool-output-bytes", "prune-protect-tokens", "compact-threshold":
		return "context." + strings.ReplaceAll(key, "-", "_")
	}
	return ""
}

// settingText is a setting as a flag would have it: a list with commas.
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

// envName is the variable that sets a key.
func envName(key string) string {
	return "CTXTOOL_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

// lineOf is the line of a configuration file at which reading it failed, 0 where
// the error does not say.
func lineOf(err error) (row int) {
	var at interface{ Position() (row, column int) }
	if errors.As(err, &at) {
		row, _ = at.Position()
	}
	return row
}

// hereFile is the configuration of the current folder. It may have come with what somebody
// else has written, so it runs no command.
const hereFile = ".ctxtool.toml"

// configFiles are the configuration files, the weakest first.
func (e *env) configFiles() []string {
	if e.configDir == "" {
		return []string{hereFile}
	}
	return []string{filepath.Join(e.configDir, "ctxtool", "config.toml"), hereFile}
}

// models is the models table with the configuration's own models: each a table
// models."provider/id" with the keys of the built-in one.
func (c *config) models() (*models.Table, error) {
	t := models.Builtin()
	for _, l := range c.files {
		for _, name := range slices.Sorted(maps.Keys(l.Models)) {
			provider, id, ok := strings.Cut(name, "/")
			if !ok {
				return nil, fmt.Errorf("configuration: models.%q: want provider/id", name)
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
			return fmt.Errorf("%s: %v is no number", key, v)
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
