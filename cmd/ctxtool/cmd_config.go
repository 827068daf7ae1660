package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/help"
	"ctxtool/internal/phrase"
	"ctxtool/render"
	"ctxtool/render/page"
	"ctxtool/replay/models"
	"ctxtool/replay/ops"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
	"ctxtool/stats/gate"

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
		Short: "Print the settings and where they come from",
		Example: "  ctxtool config\n" +
			"  ctxtool config --explain rules\n" +
			"  ctxtool config --json | jq '.settings[] | select(.from != \"default\")'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runConfig(e, o, cmd.Root()) },
	}
	o.answer.flags(cmd, "text", "json")
	cmd.Flags().StringVar(&o.explain, "explain", "", "explain the setting `KEY`")
	cmd.MarkFlagsMutuallyExclusive("explain", "format", "json")
	cmd.RegisterFlagCompletionFunc("explain", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return slices.Sorted(maps.Keys(settingsOf(cmd.Root()))), cobra.ShellCompDirectiveNoFileComp
	})
	help.Group(cmd.Flags(), "Output", "explain")
	return cmd
}

// A setting is a flag that configuration can set, and the commands that have it.
type setting struct {
	flag     *pflag.Flag
	commands []string
}

// notSettings are flags that no configuration sets: those that select what to answer, and
// those that mean something else in another command ("COMMAND FLAG"). Above all, a file in
// the current folder must not let a command write.
var notSettings = []string{
	"append-message", "each", "exec", "file", "op", "reason", "remove-part", "remove-tool", "schema", "set", "set-part", "why",
	"quarantine", "to", "entries",
	"help", "config", "prompt", "output", "format", "json", "at", "before", "leaf", "request", "explain", "since", "until", "grep", "kind", "filter",
	"open", "follow", "all", "tail", "model", "agent", "cost", "project", "digest", "update", "limit", "reverse", "view", "target", "files", "assets",
	"regexp", "fixed", "ignore-case", "blame", "fail-over",
	"require", "lens", "by", "only-model", "like", "check", "against", "drift", "broken", "unpriced", "allow-empty", // a file in the current folder must not make a gate pass
	"write", "now", "answer-calls", "omit", "restore", "replace", // what changes a file is named each time
	"reduce counter", "compact counter", "prune counter", "truncate counter", "strip counter", // of a policy, which has its own
	"force", "as", "no-mark", "emit", "apply", "events", "if-over", "keep", "pass", "strip thinking", "strip images",
}

// isSetting reports whether a configuration may set a flag of a command.
func isSetting(c *cobra.Command, flag string) bool {
	return !slices.Contains(notSettings, flag) && !slices.Contains(notSettings, c.Name()+" "+flag)
}

// settingsOf returns the settings of all commands, by name.
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
		return writeConfig(w, rows, e.screen(o.output))
	})
}

// A configRow is a setting, with the value in effect and where it comes from.
type configRow struct {
	Key     string `json:"key"`
	Value   string `json:"value"`             // in effect, in the syntax of flags
	From    string `json:"from"`              // the variable or file that sets it, or `default`
	Policy  string `json:"policy,omitempty"`  // it counts only where that policy is asked for
	Unknown bool   `json:"unknown,omitempty"` // a file sets it, and no command reads it
}

func writeConfig(w *bufio.Writer, rows []configRow, on render.Screen) error {
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = []string{sessionfmt.Clean(r.Key), sessionfmt.Clean(r.Value), sessionfmt.Clean(r.from())}
	}
	return render.WriteTable(w, []render.Column{{Name: "setting"}, {Name: "value", Flex: true}, {Name: "from"}}, cells, on)
}

// rows returns all settings, and unknown keys of files.
func (c *config) rows(settings map[string]*setting) (rows []configRow) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value, from := c.lookup(name)
		if from == "" {
			value, from = settings[name].flag.DefValue, "default"
		}
		row := configRow{Key: name, Value: value, From: from}
		if k := slices.IndexFunc(c.files, func(l layer) bool { return l.name == from }); k >= 0 {
			row.Policy = c.files[k].policy
		}
		rows = append(rows, row)
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
			} else if key == "context" {
				rows = append(rows, l.contextRows(settings)...)
			} else if settings[key] == nil {
				rows = append(rows, configRow{Key: key, Value: settingText(l.v.Get(key)), From: l.name, Unknown: true})
			}
		}
	}
	return rows
}

// explain prints the meaning of a setting, its commands, and its value in each place that can set it.
func (c *config) explain(w *bufio.Writer, key string, s *setting) error {
	_, usage := pflag.UnquoteUsage(s.flag)
	slices.Sort(s.commands)
	fmt.Fprintf(w, "%s: %s\ncommands: %s\n\n", key, usage, strings.Join(s.commands, ", "))
	env := envName(key)
	value, effective := c.lookup(key)
	effective = cmp.Or(effective, "default")
	place := func(where, value string, set bool) {
		mark := " "
		if where == effective {
			mark = "*"
		}
		if !set {
			value = "-"
		}
		fmt.Fprintf(w, "%s %s: %s\n", mark, where, sessionfmt.Clean(value))
	}
	place(env, value, effective == env)
	for i := len(c.files) - 1; i >= 0; i-- {
		l := c.files[i]
		v, set := l.get(key)
		place(l.name, settingText(v), set)
	}
	place("default", fmt.Sprintf("%q", s.flag.DefValue), true)
	return nil
}

func newPoliciesCommand(e *env) *cobra.Command {
	o := &answer{}
	cmd := &cobra.Command{
		Use:   "policies [flags]",
		Short: "List the policies of reduce",
		Long: "List the policies of reduce: the layers of each with their numbers, the conditions\n" +
			"under which they run, and its presets. Policies of the configuration are included.",
		Example: "  ctxtool policies\n" +
			"  ctxtool policies -o policies.txt\n" +
			"  ctxtool policies --json | jq '.policies[].name'",
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

// addHelp gives the program its help, of commands and of topics.
func (e *env) addHelp(root *cobra.Command) {
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group, Title: group})
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { help.Command(e.stdout, cmd, e.screen("").Width) })
	root.SetHelpCommand(&cobra.Command{
		Use:               "help [COMMAND|TOPIC]",
		Short:             "Print the help of a command or a topic",
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // whatever the configuration
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
			if len(args) == 0 {
				names = help.Topics()
				for _, c := range commands {
					names = append(names, c.name)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if text, ok := help.Topic(strings.Join(args, " "), topicLists()); ok {
				_, err := io.WriteString(e.stdout, text)
				return noAnswer(err)
			}
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("unknown command or topic %q; ctxtool help lists them", sessionfmt.Quote(strings.Join(args, " ")))
			}
			return cmd.Help()
		},
	})
}

// topicLists returns the lists of topics that come from the code, by their names in the texts.
func topicLists() map[string]string {
	var lenses, figures, forms, counters, passes [][2]string
	for _, l := range stats.Lenses {
		lenses = append(lenses, [2]string{l.Name + phrase.If(l.Default, " *"), l.About})
	}
	for _, f := range render.Formats {
		forms = append(forms, [2]string{f.Name, f.About})
	}
	for _, name := range tokens.Names() {
		if c, err := tokens.Find(name); err == nil {
			counters = append(counters, [2]string{name, c.About})
		}
	}
	for _, command := range passCommands {
		if p, err := compact.FindPass(command.pass); err == nil {
			passes = append(passes, [2]string{command.line, p.About})
		}
	}
	for _, name := range gate.FigureNames() {
		if f, err := gate.FindFigure(name); err == nil {
			figures = append(figures, [2]string{name, f.About})
		}
	}
	return map[string]string{
		"lenses": help.List(lenses), "replay": help.List(forms), "counters": help.List(counters), "passes": help.List(passes),
		"figures": help.List(figures), "parts": strings.TrimRight(page.PartHelp(), "\n"), "ops": ops.Help(),
	}
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

// versionName returns the release, or the commit that the binary was built from.
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
		Long: "List the models of the table that windows, prices and cache lifetimes come from, and\n" +
			"those of the configuration. With PATTERN, list those whose provider/id contains it,\n" +
			"ignoring case; if none does, the one whose figures reports use for that name.",
		Example: "  ctxtool models claude-opus\n" +
			"  ctxtool models anthropic/\n" +
			"  ctxtool models -f jsonl | jq -r 'select(.contextWindow > 200000).id'",
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

// modelLines returns the models whose names contain the pattern, or else the one that reports
// use for that name.
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
	failed := &sessionfmt.Error{Err: fmt.Errorf("no model matches %q", sessionfmt.Clean(pattern))}
	if provider, id, ok := strings.Cut(pattern, "/"); ok {
		failed.Hint = "to configure it: " + models.Ref{Provider: provider, ID: id}.Setting()
	}
	return nil, failed
}

// hasModel reports whether a configuration file sets a field of a model.
func (c *config) hasModel(m models.Model) bool {
	for _, l := range c.files {
		if l.Models[m.Provider+"/"+m.ID] != nil {
			return true
		}
	}
	return false
}
