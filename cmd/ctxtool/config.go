package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"ctxtool/compact"
	"ctxtool/internal/models"
	"ctxtool/sessionfmt"
)

// A config is what configuration files and the environment say. Flags win over
// the environment (CTXTOOL_...), that over ./.ctxtool.toml, that over
// ctxtool/config.toml in the user's configuration folder.
type config struct {
	getenv   func(key string) string
	files    []layer           // the weakest first
	policies []*compact.Policy // of the strongest file where several define one
}

// A layer is one configuration file: its settings, whose names viper has in lower case,
// and the tables whose names keep their spelling.
type layer struct {
	name             string
	v                *viper.Viper
	models, policies map[string]any
}

// configure reads the configuration and fills the flags that were not given.
func (e *env) configure(cmd *cobra.Command) error {
	e.config = &config{getenv: e.getenv}
	for _, name := range e.configFiles() {
		err := e.config.read(e.disk, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: lineOf(err)}, Err: err}
		}
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

// read reads a configuration file, over those read before.
func (c *config) read(disk sessionfmt.Disk, name string) error {
	data, err := disk.ReadFile(name)
	var file map[string]any
	if err = cmp.Or(err, toml.Unmarshal(data, &file)); err != nil {
		return err
	}
	l := layer{name: name, v: viper.New()}
	for key, tables := range map[string]*map[string]any{"models": &l.models, "policies": &l.policies} {
		if v, is := file[key]; is {
			if *tables, is = v.(map[string]any); !is {
				return fmt.Errorf("%s = %v: want tables", key, v)
			}
			file[key] = "" // viper would put their names in lower case
		}
	}
	c.files = append(c.files, l)
	if c.policies, err = readPolicies(l.policies, c.policies); err != nil {
		return err
	}
	return l.v.MergeConfigMap(file)
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

// gshKey is gsh's own name for a setting (spec/policies.md 1.1), empty where it has
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
func lineOf(err error) int {
	var at interface{ Position() (row, column int) }
	if !errors.As(err, &at) {
		return 0
	}
	row, _ := at.Position()
	return row
}

// hereFile is the configuration of the current folder. It may have come with what somebody
// else has written, so it runs no command.
const hereFile = ".ctxtool.toml"

// configFiles are the configuration files, the weakest first.
func (e *env) configFiles() []string {
	var files []string
	if e.configDir != "" {
		files = append(files, filepath.Join(e.configDir, "ctxtool", "config.toml"))
	}
	return append(files, hereFile)
}

// models is the models table with the configuration's own models: each a table
// models."provider/id" with the keys of the built-in one.
func (c *config) models() (*models.Table, error) {
	t := models.Builtin()
	for _, l := range c.files {
		for _, name := range slices.Sorted(maps.Keys(l.models)) {
			provider, id, ok := strings.Cut(name, "/")
			if !ok {
				return nil, fmt.Errorf("configuration: models.%q: want provider/id", name)
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

// decodeModel reads the keys of one configured model.
func decodeModel(table any, m *models.Model) error {
	return readTable(table, func(key string, v any) error {
		n, ok := v.(float64)
		if whole, is := v.(int64); is {
			n, ok = float64(whole), true
		}
		if !ok {
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
			return errUnknownKey
		}
		return nil
	})
}
