package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// A config holds the configuration files and the environment. Flags override the
// environment (CTXTOOL_...), which overrides the file of --config, which overrides
// ./.ctxtool.toml, which overrides ctxtool/config.toml in the user's configuration folder. For
// the policy gsh its own file comes last.
type config struct {
	getenv func(key string) string
	files  []layer // later ones override
}

// A layer is one configuration file. Viper changes keys to lower case; tables keeps the
// names of models and policies as they are.
type layer struct {
	name   string
	v      *viper.Viper
	policy string // whose own file it is: it counts where that policy is asked for
	tables
}

// tables are the tables of a configuration file whose keys are names.
type tables struct {
	Models   map[string]map[string]any
	Policies map[string]policyTable
}

// configure reads the configuration and sets the flags that are not on the command line.
func (e *env) configure(cmd *cobra.Command) error {
	var err error
	if e.config == nil { // serve has read it for its calls
		if err = e.readConfig(cmd); err != nil {
			return err
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || !isSetting(cmd, f.Name) {
			return
		}
		if value, from := e.config.lookup(f.Name); from == hereFile && runsCommand(f.Name, value) {
			err = &sessionfmt.Error{
				Pos:  sessionfmt.Pos{File: from},
				Err:  fmt.Errorf("%s: a file in the current folder must not set a command", f.Name),
				Hint: "set it with --" + f.Name + " or in the user's configuration folder",
			}
		} else if from != "" {
			if err = f.Value.Set(value); err != nil {
				err = fmt.Errorf("configuration: %s: %w", f.Name, err)
			}
		}
	})
	return err
}

// readConfig reads the configuration of a command.
func (e *env) readConfig(cmd *cobra.Command) error {
	e.config = &config{getenv: e.getenv}
	for _, name := range e.configFiles() {
		l, err := readLayer(e.disk, name)
		if errors.Is(err, fs.ErrNotExist) && name != e.configFile {
			continue
		}
		if err != nil {
			return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: lineOf(err)}, Err: err}
		}
		e.config.files = append(e.config.files, l)
	}
	gsh, err := e.gshLayer(cmd)
	if err != nil {
		return err
	}
	e.config.files = append(gsh, e.config.files...)
	return nil
}

// runsCommand reports whether a setting has a command run.
func runsCommand(key, value string) bool {
	return key == "pager" || key == "summarizer" && strings.HasPrefix(value, "exec:") || key == "policy" && strings.Contains(value, "exec:")
}

func readLayer(disk sessionfmt.Disk, name string) (l layer, err error) {
	data, err := disk.ReadFile(name)
	var file map[string]any
	if err = cmp.Or(err, toml.Unmarshal(data, &file)); err != nil {
		return l, err
	}
	d := toml.NewDecoder(bytes.NewReader(data)) // again: viper would change names to lower case
	d.DisallowUnknownFields()
	var strict *toml.StrictMissingError
	if err = d.Decode(&l.tables); errors.As(err, &strict) {
		err = nil
		for _, missing := range strict.Errors { // other keys are settings
			if key := missing.Key(); key[0] == "policies" {
				return l, fmt.Errorf("unknown key %s", strings.Join(key, "."))
			}
		}
	}
	if err != nil {
		return l, err
	}
	for key := range file {
		if key == "models" || key == "policies" {
			file[key] = "" // they are in the tables
		}
	}
	l.name, l.v = name, viper.New()
	return l, l.v.MergeConfigMap(file)
}

// lookup returns the value of a key and its source; from is empty if the key is not set.
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

// get returns the value of a key in the file, or of gsh's name for it.
func (l layer) get(key string) (v any, set bool) {
	if own := gshKey(key); own != "" && !l.v.IsSet(key) {
		key = own
	}
	return l.v.Get(key), l.v.IsSet(key)
}

// gshKey returns gsh's name for a setting (docs/policies.md 2.1), or "".
func gshKey(key string) string {
	switch key {
	case "max-iterations", "max-tool-output-bytes", "prune-protect-tokens", "compact-threshold":
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
	return "CTXTOOL_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(key))
}

// lineOf returns the line of a configuration file that an error is about, 0 if unknown.
func lineOf(err error) (row int) {
	var at interface{ Position() (row, column int) }
	if errors.As(err, &at) {
		row, _ = at.Position()
	}
	return row
}

// hereFile is the configuration of the current folder. Somebody else may have written it, so
// it must not set a command to run.
const hereFile = ".ctxtool.toml"

// configFiles returns the names of the configuration files; later ones override.
func (e *env) configFiles() (names []string) {
	if e.configDir != "" {
		names = append(names, filepath.Join(e.configDir, "ctxtool", "config.toml"))
	}
	names = append(names, hereFile)
	if e.configFile != "" {
		names = append(names, e.configFile)
	}
	return names
}

// models returns the table of models with those of the configuration: each is a table
// models."provider/id" with the keys of the built-in table.
func (c *config) models() (*models.Table, error) {
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
	Profile   *string
	MinTokens *int `toml:"min_tokens"`
	Style     *string
	Keep      *int
	Patterns  []string
	Over      string // it runs above this amount: tokens, or a share of the window with %
	Reserve   int64  // or if fewer tokens than this are left of the window
}

// policies returns the policies of the configuration files; of one name, that of the last
// file.
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
