package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/phrase"
	"ctxtool/render"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configOptions are the flags of ctxtool config.
type configOptions struct {
	answer
	explain string
}

func newConfigCommand(e *env) *cobra.Command {
	o := &configOptions{}
	cmd := &cobra.Command{
		Use:   "config [flags]",
		Short: "Print every setting that is in effect, and where it comes from",
		Long: "Print every setting that is in effect, and where it comes from. A setting is a\n" +
			"flag by its name; the same name in different commands is one setting. Flags win\n" +
			"over the environment (CTXTOOL_WINDOW for window), that over ./.ctxtool.toml, that\n" +
			"over ctxtool/config.toml in the user's configuration folder, that over defaults.\n" +
			"Models of one's own are tables models.\"provider/id\", policies of one's own tables\n" +
			"policies.NAME (docs/config.toml), and gsh's table context is read as gsh reads it.\n\n" +
			"Exit status: 0 the settings were printed, 2 the command line or a configuration\n" +
			"file is wrong, 3 the output could not be written.",
		Example: "  ctxtool config\n" +
			"  ctxtool config --explain rules",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runConfig(e, o, cmd.Root()) },
	}
	o.answer.flags(cmd, "text", "json")
	cmd.Flags().StringVar(&o.explain, "explain", "", "say all about one `KEY`")
	cmd.RegisterFlagCompletionFunc("explain", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return slices.Sorted(maps.Keys(settingsOf(cmd.Root()))), cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// A setting is a flag that configuration can set, and the commands that have it.
type setting struct {
	flag     *pflag.Flag
	commands []string
}

// notSettings are flags that no configuration sets: they say what is asked, not
// how, or mean something to one command only, which is named before some. Above all
// that a session is written to has to be said each time: a file in the current folder
// must not say it.
var notSettings = []string{
	"quarantine", "to", "entries",
	"help", "output", "format", "json", "at", "before", "leaf", "request", "explain", "since", "until", "grep", "kind", "filter",
	"follow", "all", "tail", "model", "project", "limit", "reverse", "view", "target", "files", "assets",
	"regexp", "fixed", "ignore-case", "blame", "fail-over",
	"require", "lens", "by", "only-model", "like", "check", "against", "drift", "broken", "unpriced", "allow-empty", // a file in the current folder must not let a gate pass
	"write", "now", "answer-calls", "omit", "restore", "replace", // what changes a file is said each time
	"force", "as", "no-mark", "emit", "apply", "events", "if-over", "keep", "pass", "strip thinking", "strip images",
}

// isSetting reports that a configuration may set the flag of a command.
func isSetting(c *cobra.Command, flag string) bool {
	return !slices.Contains(notSettings, flag) && !slices.Contains(notSettings, c.Name()+" "+flag)
}

// settingsOf are the settings of all commands, by name.
func settingsOf(root *cobra.Command) map[string]*setting {
	all := map[string]*setting{}
	for _, c := range append(root.Commands(), root) {
		if c != root && !c.IsAvailableCommand() || c.Name() == "completion" {
			continue
		}
		add := func(f *pflag.Flag) {
			if !isSetting(c, f.Name) {
				return
			}
			if all[f.Name] == nil {
				all[f.Name] = &setting{flag: f}
			}
			all[f.Name].commands = append(all[f.Name].commands, c.Name())
		}
		c.LocalNonPersistentFlags().VisitAll(add)
		if c == root {
			c.PersistentFlags().VisitAll(add)
		}
	}
	return all
}

func runConfig(e *env, o *configOptions, root *cobra.Command) error {
	if err := o.answer.check(); err != nil {
		return usage(err)
	}
	settings := settingsOf(root)
	if err := oneOf("unknown setting", slices.Sorted(maps.Keys(settings)), o.explain); o.explain != "" && err != nil {
		return usage(err)
	}
	rows := e.config.rows(settings)
	return e.answer(&o.answer, e.configFiles(), func(w *bufio.Writer) error {
		switch {
		case o.explain != "":
			return e.config.explain(w, o.explain, settings[o.explain])
		case o.format == "json":
			return render.WriteJSON(w, struct {
				Schema   string      `json:"schema"`
				Settings []configRow `json:"settings"`
			}{"ctxtool/config/1", rows})
		}
		return writeConfig(w, rows, e.screen(o.output).Width)
	})
}

// A configRow is a setting, with the value in effect and where it comes from.
type configRow struct {
	Key     string `json:"key"`
	Value   string `json:"value"`             // in effect, as a flag would have it
	From    string `json:"from"`              // the variable or file that says so, or `default`
	Unknown bool   `json:"unknown,omitempty"` // a file says it, and nothing reads it
}

func writeConfig(w *bufio.Writer, rows []configRow, width int) error {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		from := r.From + phrase.If(r.Unknown, " (unknown setting)")
		cells[i] = []string{sessionfmt.Clean(r.Key), sessionfmt.Clean(r.Value), sessionfmt.Clean(from)}
	}
	return render.WriteTable(w, []render.Column{{Name: "setting"}, {Name: "value", Flex: true}, {Name: "from"}}, cells, width)
}

// rows are all settings, and what files say that is none.
func (c *config) rows(settings map[string]*setting) (rows []configRow) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value, from := c.lookup(name)
		if from == "" {
			value, from = settings[name].flag.DefValue, "default"
		}
		rows = append(rows, configRow{Key: name, Value: value, From: from})
	}
	for _, l := range c.files {
		for _, key := range slices.Sorted(maps.Keys(l.v.AllSettings())) {
			if key == "models" {
				for _, model := range slices.Sorted(maps.Keys(l.Models)) {
					rows = append(rows, configRow{Key: fmt.Sprintf("models.%q", model), Value: settingText(l.Models[model]), From: l.name})
				}
			} else if key == "policies" {
				for _, name := range slices.Sorted(maps.Keys(l.Policies)) {
					rows = append(rows, configRow{Key: "policies." + name, Value: l.Policies[name].String(), From: l.name})
				}
			} else if key == "context" && known(settings, l.v.GetStringMap(key)) {
				continue
			} else if settings[key] == nil {
				rows = append(rows, configRow{Key: key, Value: settingText(l.v.Get(key)), From: l.name, Unknown: true})
			}
		}
	}
	return rows
}

// known reports that all keys of gsh's table are names of settings.
func known(settings map[string]*setting, table map[string]any) bool {
	for key := range table {
		if name := strings.ReplaceAll(key, "_", "-"); settings[name] == nil || gshKey(name) != "context."+key {
			return false
		}
	}
	return true
}

// explain says what a setting is, where it can be set, and what is said there.
func (c *config) explain(w *bufio.Writer, key string, s *setting) error {
	_, usage := pflag.UnquoteUsage(s.flag)
	slices.Sort(s.commands)
	fmt.Fprintf(w, "%s: %s\nof: %s\n\n", key, usage, strings.Join(s.commands, ", "))
	env := envName(key)
	value, effective := c.lookup(key)
	effective = cmp.Or(effective, "default")
	say := func(where, value string, set bool) {
		mark := " "
		if where == effective {
			mark = "*"
		}
		if !set {
			value = "-"
		}
		fmt.Fprintf(w, "%s %s: %s\n", mark, where, sessionfmt.Clean(value))
	}
	say(env, value, effective == env)
	for i := len(c.files) - 1; i >= 0; i-- {
		l := c.files[i]
		v, set := l.get(key)
		say(l.name, settingText(v), set)
	}
	say("default", fmt.Sprintf("%q", s.flag.DefValue), true)
	return nil
}

func newPoliciesCommand(e *env) *cobra.Command {
	o := &answer{}
	cmd := &cobra.Command{
		Use:   "policies [flags]",
		Short: "List the policies of reduce, with their numbers",
		Long: "List the policies of reduce: their layers in order, each a pass with its numbers and\n" +
			"with what makes it run; their presets; and those of the configuration. A policy of\n" +
			"one's own is a table [policies.NAME] (docs/config.toml).\n\n" +
			"Exit status: 0 they were listed, 2 the command line or a configuration file is\n" +
			"wrong, 3 the output could not be written.",
		Example: "  ctxtool policies\n" +
			"  ctxtool policies -f json | jq '.policies[].name'",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			own, err := e.config.policies()
			if err = cmp.Or(o.check(), err); err != nil {
				return usage(err)
			}
			return e.print(o, nil, render.Policies{Schema: "ctxtool/policies/2", Policies: append(own, compact.Policies...)})
		},
	}
	o.flags(cmd, "text", "json")
	return cmd
}

// version is set by make dist.
var version = ""

func newVersionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(e.stdout, "ctxtool %s (%s, models of %s)\n", versionName(), runtime.Version(), models.Date)
			return err
		},
	}
}

// versionName is the release, or the commit that the binary was built from.
func versionName() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return cmp.Or(version, "unreleased")
}

func newModelsCommand(e *env) *cobra.Command {
	o := &answer{}
	cmd := &cobra.Command{
		Use:   "models [flags] [PATTERN]",
		Short: "List models with their windows and prices",
		Long: "List the models of the table that windows, prices and cache lifetimes are taken from:\n" +
			"the one in the binary, which has a date, and those of the configuration. With PATTERN,\n" +
			"list those whose provider/id contains it, ignoring case. Where none does, list the one\n" +
			"whose figures reports use for a model of that name.\n\n" +
			"Exit status: 0 they were listed, 2 the command line or a configuration file is\n" +
			"wrong, 3 no model fits PATTERN.",
		Example: "  ctxtool models claude-opus\n" +
			"  ctxtool models anthropic/ -f jsonl | jq -r 'select(.contextWindow > 200000).id'",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return usage(err)
			}
			table, err := e.config.models()
			if err != nil {
				return usage(err)
			}
			list, err := e.config.modelLines(table, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return e.print(o, nil, render.Models{Schema: "ctxtool/models/1", Date: models.Date, Source: models.Source, Models: list})
		},
	}
	o.flags(cmd, "text", "json", "jsonl")
	return cmd
}

// modelLines are the models whose names contain the pattern, else the one that is found for
// a model of that name.
func (c *config) modelLines(table *models.Table, pattern string) (list []render.ModelLine, err error) {
	add := func(m models.Model) {
		list = append(list, render.ModelLine{Model: m, Date: models.Date, Configured: c.hasModel(m)})
	}
	part := strings.ToLower(pattern)
	for m := range table.All() {
		if strings.Contains(strings.ToLower(m.Provider+"/"+m.ID), part) {
			add(m)
		}
	}
	if m, _, ok := table.Lookup("", pattern); ok && len(list) == 0 {
		add(m)
	}
	if len(list) > 0 {
		return list, nil
	}
	failed := &sessionfmt.Error{Err: fmt.Errorf("no model fits %q", sessionfmt.Clean(pattern))}
	if provider, id, ok := strings.Cut(pattern, "/"); ok {
		failed.Hint = "to configure it: " + models.Ref{Provider: provider, ID: id}.Setting()
	}
	return nil, failed
}

// hasModel reports whether a configuration file sets some of a model.
func (c *config) hasModel(m models.Model) bool {
	for _, l := range c.files {
		if l.Models[m.Provider+"/"+m.ID] != nil {
			return true
		}
	}
	return false
}
