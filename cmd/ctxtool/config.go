package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"ctxtool/internal/models"
	"ctxtool/sessionfmt"
)

// A config is what configuration files and the environment say. Flags win over
// the environment (CTXTOOL_...), that over ./.ctxtool.toml, that over
// ctxtool/config.toml in the user's configuration folder.
type config struct {
	v *viper.Viper
}

// configure reads the configuration and fills the flags that were not given.
func (e *env) configure(cmd *cobra.Command) error {
	v := viper.New()
	v.SetConfigType("toml")
	v.SetEnvPrefix("CTXTOOL")
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_", ".", "_"))
	v.AutomaticEnv()
	for _, name := range configFiles() {
		f, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = v.MergeConfig(f)
			f.Close()
		}
		if err != nil {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: lineOf(err)}, Err: err}
		}
	}
	e.config = &config{v}
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err == nil && !f.Changed && v.IsSet(f.Name) && f.Name != "help" {
			if err = f.Value.Set(v.GetString(f.Name)); err != nil {
				err = fmt.Errorf("configuration: %s: %w", f.Name, err)
			}
		}
	})
	return err
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

// configFiles are the configuration files, the weakest first.
func configFiles() []string {
	var files []string
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, filepath.Join(dir, "ctxtool", "config.toml"))
	}
	return append(files, ".ctxtool.toml")
}

// models is the models table with the configuration's own models: each a table
// models."provider/id" with the keys of the built-in one.
func (c *config) models() (*models.Table, error) {
	t := models.Builtin()
	for name := range c.v.GetStringMap("models") {
		provider, id, ok := strings.Cut(name, "/")
		if !ok {
			return nil, fmt.Errorf("configuration: models.%q: want provider/id", name)
		}
		var m models.Model
		// A model's id may hold dots, which are viper's separators.
		sub, _ := c.v.GetStringMap("models")[name].(map[string]any)
		if err := decodeModel(sub, &m); err != nil {
			return nil, fmt.Errorf("configuration: models.%q: %w", name, err)
		}
		m.Provider, m.ID = provider, id
		t = t.With(m)
	}
	return t, nil
}

// decodeModel reads the keys of one configured model.
func decodeModel(from map[string]any, m *models.Model) error {
	number := func(v any) (float64, error) {
		switch n := v.(type) {
		case int64:
			return float64(n), nil
		case float64:
			return n, nil
		}
		return 0, fmt.Errorf("%v is no number", v)
	}
	for key, v := range from {
		n, err := number(v)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		switch key {
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
