package main

import (
	"bufio"
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/base/help"
	"ctxtool/internal/out/config"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type configOptions struct {
	answer
	explain string
	root    func() *cobra.Command
}

func (o *configOptions) define(f *flagSet) {
	o.root = f.cmd.Root
	o.answer.flags(f, "text", "json")
	f.StringVar(&o.explain, "explain", "", "explain the setting `KEY`")
	f.before(func() error { return o.textOnly("explain", o.explain) })
	f.completeBy("explain", func(cmd *cobra.Command, _ []string, _ string) ([]string,
		cobra.ShellCompDirective) {
		return slices.Sorted(maps.Keys(settingsOf(cmd.Root()))), cobra.ShellCompDirectiveNoFileComp
	})
}

// A setting is a value that configuration can set, usually of a flag, and the commands that have it.
type setting struct {
	def, about string
	commands   []string
}

// flagless are settings without a flag: gsh's own numbers, most of them options of its policy.
var flagless = []struct{ name, option, def, about, commands string }{
	{"max-tool-output-bytes", "max", "30000", "policy gsh: shorten tool results to N bytes (0: no limit)",
		"reduce simulate"},
	{"prune-protect-tokens", "protect", "40000", "policy gsh: keep the results of the last N tokens",
		"reduce simulate"},
	{"archive", "", "", "keep sessions in DIR, and look them up there too", "keep"},
	{"ambient-commands", "", "5", "search --recent -1: the number of commands", "search"},
	{"compact-threshold", "share", "0.85", "policy gsh: summarize above this share of the window", "reduce simulate"},
}

// setting returns the value of a setting that the command has no flag for, "" if it is not set.
func (e *env) setting(name string) (string, error) {
	value, from := e.config.Lookup(name)
	return value, tooDangerous(name, value, from)
}

// notSettings are flags that no configuration can set: those that select what to answer, and those with another
// meaning in another command ("COMMAND FLAG"). Above all, a file in the current folder must not make a command
// write.
var notSettings = []string{
	"append-message", "each", "exec", "file", "op", "reason", "remove-part", "remove-tool", "schema", "set",
	"set-part", "why",
	"quarantine", "to", "entries",
	"help", "config", "prompt", "output", "format", "json", "at", "before", "leaf", "request", "explain", "since",
	"until", "grep", "kind", "filter",
	"open", "follow", "all", "tail", "model", "agent", "cost", "project", "digest", "update", "limit", "reverse",
	"view", "target", "files", "assets",
	"regexp", "fixed", "ignore-case", "blame", "fail-over", "min",
	// a file in the current folder must not make a gate pass
	"require", "lens", "by", "only-model", "check", "against", "drift", "broken", "unpriced", "allow-empty",
	"write", "now", "answer-calls", "omit", "restore", "replace", // the files to change are named on each command line
	"reduce counter", // options of a policy, which have their own settings
	"source", "rank", "role", "tool", "cwd", "exit-code", "event", "path-only", "in-context", "for",
	"embed", "no-cache",
	"version", "coverage", "dry-run", "session", "tree", "recent", "resume", "force", "as", "no-mark", "emit",
	"apply", "if-over",
	"pass",
}

// isSetting reports whether a configuration may set a flag of a command.
func isSetting(c *cobra.Command, flag string) bool {
	return !slices.Contains(notSettings, flag) && !slices.Contains(notSettings, c.Name()+" "+flag)
}

// settingsOf returns the settings of all commands, by name.
func settingsOf(root *cobra.Command) map[string]*setting {
	all := map[string]*setting{}
	for _, f := range flagless {
		all[f.name] = &setting{f.def, f.about, strings.Fields(f.commands)}
	}
	for _, c := range append(root.Commands(), root) {
		if c != root && !c.IsAvailableCommand() || c.Name() == "completion" {
			continue
		}
		add := func(f *pflag.Flag) {
			if !isSetting(c, f.Name) {
				return
			}
			if all[f.Name] == nil {
				_, about := pflag.UnquoteUsage(f)
				all[f.Name] = &setting{def: f.DefValue, about: about}
			}
			all[f.Name].commands = append(all[f.Name].commands, c.Name())
		}
		c.LocalNonPersistentFlags().VisitAll(add)
		root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
			if help.Takes(c, f.Name) && (c == root || slices.Contains(help.OfSome, f.Name)) {
				add(f)
			}
		})
	}
	return all
}

func runConfig(e *env, o *configOptions, _ []string) error {
	settings := settingsOf(o.root())
	if err := oneOf("unknown setting", slices.Sorted(maps.Keys(settings)), o.explain); o.explain != "" && err != nil {
		return usage(err)
	}
	defaults := map[string]string{}
	for name, s := range settings {
		defaults[name] = s.def
	}
	rows := e.config.Rows(defaults)
	return e.answer(&o.answer, e.configFiles(), func(w *bufio.Writer) error {
		switch {
		case o.explain != "":
			settings[o.explain].explain(w, o.explain, e.config)
			return nil
		case o.format == "json":
			return show.WriteJSON(w, struct {
				Schema   string       `json:"schema"`
				Settings []config.Row `json:"settings"`
			}{"ctxtool/config/1", rows})
		}
		writeConfig(w, rows, e.screen(o.output))
		return nil
	})
}

func writeConfig(w *bufio.Writer, rows []config.Row, on show.Screen) {
	show.WriteTable(w, table.Of(rows, []table.Column[*config.Row]{
		{Name: "setting", Value: func(r *config.Row) any { return r.Key }},
		{Name: "value", Value: func(r *config.Row) any { return r.Value }, Flex: true},
		{Name: "from", Value: func(r *config.Row) any { return r.Source() }},
	}), on)
}

// explain prints the meaning of a setting, its commands, and its value in each place that can set it.
func (s *setting) explain(w *bufio.Writer, key string, c *config.Config) {
	slices.Sort(s.commands)
	fmt.Fprintf(w, "%s: %s\ncommands: %s\n\n", key, s.about, strings.Join(s.commands, ", "))
	for _, p := range c.Places(key, s.def) {
		fmt.Fprintf(w, "%s %s: %s\n", cmp.Or(phrase.If(p.Effective, "*"), " "), p.Name, sessionfmt.Clean(p.Value))
	}
}

// lenient are the commands that run even with an invalid configuration, which config lists.
var lenient = []string{"config", "version", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// configure reads the configuration and sets the flags that are not on the command line.
func (e *env) configure(cmd *cobra.Command) error {
	var err error
	if e.config == nil { // serve has read it for the commands that it runs
		if err = e.readConfig(cmd); err != nil {
			return err
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil || f.Changed || !isSetting(cmd, f.Name) {
			return
		}
		value, from := e.config.Lookup(f.Name)
		if err = tooDangerous(f.Name, value, from); err == nil && from != "" {
			err = e.set(f, value)
		}
	})
	if err == nil && !slices.Contains(lenient, cmd.Name()) {
		err = e.unknownSettings(cmd)
	}
	if err == nil {
		e.archive, err = e.setting("archive")
	}
	return err
}

// set sets a flag to a setting.
func (e *env) set(f *pflag.Flag, value string) error {
	err := f.Value.Set(value)
	if err == nil {
		return nil
	}
	why, shown := err.Error(), sessionfmt.Quote(value)
	switch f.Value.Type() {
	case "bool":
		why = fmt.Sprintf("must be true or false, not %q", shown)
	case "int", "int64":
		why = fmt.Sprintf("must be a whole number, not %q", shown)
	case "float64":
		why = fmt.Sprintf("must be a number, not %q", shown)
	case "duration":
		why = fmt.Sprintf("must be a time such as 30s or 5m, not %q", shown)
	}
	return &sessionfmt.Error{Pos: e.config.Pos(f.Name), Err: fmt.Errorf("%s: %s", f.Name, why),
		Hint: "ctxtool config --explain " + f.Name}
}

// unknownSettings returns an error for the first setting that no command has, or whose value has the wrong
// type.
func (e *env) unknownSettings(cmd *cobra.Command) error {
	var others []config.Set
	for _, s := range e.config.Sets(e.environ) {
		if f := cmd.Flags().Lookup(s.Key); f == nil || !isSetting(cmd, s.Key) {
			others = append(others, s)
		}
	}
	if others == nil {
		return nil
	}
	own := &env{machine: e.machine} // settings of flags that nothing reads
	own.config = e.config
	root := newRoot(own, "")
	settings := settingsOf(root)
	for _, s := range others {
		is := settings[s.Key]
		if is == nil {
			if err := notSetting(root, settings, s); err != nil {
				return err
			}
			continue
		}
		value, from := e.config.Lookup(s.Key)
		c, _, err := root.Find(is.commands[:1])
		if err != nil || from != s.From {
			continue
		}
		if f := c.Flags().Lookup(s.Key); f != nil && e.set(f, value) != nil {
			return e.set(f, value)
		}
	}
	return nil
}

// notSetting returns the error for a key that is not a setting. In gsh's table and in the environment, which
// other programs share, only keys that resemble a setting count.
func notSetting(root *cobra.Command, settings map[string]*setting, s config.Set) error {
	hint := "ctxtool config lists the settings"
	key, gsh := strings.CutPrefix(s.Key, "context.")
	near := phrase.Nearest(strings.ReplaceAll(key, "_", "-"), slices.Sorted(maps.Keys(settings)))
	has := func(c *cobra.Command) bool { return c.Flags().Lookup(s.Key) != nil }
	switch {
	case len(near) > 0:
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	case slices.ContainsFunc(root.Commands(), has):
		hint = "--" + s.Key + " is a flag that only a command line sets"
	case gsh || s.Variable:
		return nil
	}
	return &sessionfmt.Error{Pos: s.Pos(), Err: fmt.Errorf("unknown setting %q", sessionfmt.Quote(s.Key)), Hint: hint}
}

// readConfig reads the configuration of a command. Flags override the environment, which
// overrides the file of --config, which overrides ./.ctxtool.toml, which overrides
// ctxtool/config.toml in the user's configuration folder. The file of gsh itself comes last, if
// the command asks for that policy, prints gsh's summary or lists the settings.
func (e *env) readConfig(cmd *cobra.Command) (err error) {
	if e.config, err = config.Read(e.disk, e.getenv, e.configFiles(), e.configFile); err != nil {
		return err
	}
	if cmd.Name() == "config" || cmd.Flags().Changed("recent") || e.asks(cmd, compact.GSHPolicy.Name) {
		err = e.config.AddGSH(e.disk, filepath.Join(e.home, ".config"), e.configDir)
	}
	return err
}

// asks reports whether a command uses a policy, by its flags or the configuration.
func (e *env) asks(cmd *cobra.Command, policy string) bool {
	f := cmd.Flags().Lookup("policy")
	if f == nil {
		return false
	}
	value := strings.Trim(f.Value.String(), "[]") // of a list
	if set, from := e.config.Lookup("policy"); !f.Changed && from != "" && isSetting(cmd, "policy") {
		value = set
	}
	return slices.ContainsFunc(strings.Split(value, ","), func(v string) bool {
		name, _, _ := strings.Cut(v, ":")
		return name == policy
	})
}

// tooDangerous returns an error for a setting of the current folder that only the user's own configuration may
// make.
func tooDangerous(name, value, from string) error {
	what := dangerous(name, value)
	if from != hereFile || what == "" {
		return nil
	}
	return sessionfmt.Errorf("%s: a file in the current folder must not %s", name, what).In(from).
		Hinted("set it " + phrase.If(name != "archive", "with --%s or ", name) + "in the user's configuration folder")
}

// dangerous returns the effect of a setting that only the user's own configuration may have, "" for a harmless
// one.
func dangerous(key, value string) string {
	switch {
	case key == "pager", key == "summarizer" && strings.HasPrefix(value, "exec:"),
		key == "policy" && strings.Contains(value, "exec:"):
		return "set a command"
	case key == "baseline", key == "patterns", key == "values",
		key == "summarizer" && strings.HasPrefix(value, "file:"):
		return "name a file to read"
	case key == "max-size":
		return "set a limit of what is read"
	case key == "sessions-dir", key == "archive":
		return "name a folder to read"
	case key == "redact" || key == "structure-only" || key == "names" || key == "fail-on-secret":
		on, err := strconv.ParseBool(value)
		return phrase.If(err == nil && !on, "turn the search for secrets off")
	}
	return ""
}

// hereFile is the configuration of the current folder. Somebody else may have written it, so it must not make
// dangerous settings.
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

type policiesOptions struct{ answer }

func (o *policiesOptions) define(f *flagSet) { o.flags(f, "text", "json") }

func runPolicies(e *env, o *policiesOptions, _ []string) error {
	own, err := e.config.Policies()
	if err != nil {
		return usage(err)
	}
	return e.print(&o.answer, nil, show.PoliciesForms.Of(show.Policies{Schema: "ctxtool/policies/2",
		Policies: append(own, compact.Policies...)}))
}

// version is set by make dist.
var version = ""

func newVersionCommand(e *env) *cobra.Command {
	return &cobra.Command{RunE: func(*cobra.Command, []string) error { return e.printVersion() }}
}

func (e *env) printVersion() error {
	_, err := fmt.Fprintf(e.stdout, "ctxtool %s (%s, models of %s)\n", versionName(), runtime.Version(), models.Date)
	return err
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

type modelsOptions struct {
	answer
	known *models.Table
}

func (o *modelsOptions) define(f *flagSet) {
	o.flags(f, "text", "json", "jsonl")
	f.models(&o.known)
}

func runModels(e *env, o *modelsOptions, args []string) error {
	list, err := e.modelLines(o.known, strings.Join(args, ""))
	if err != nil {
		return err
	}
	return e.print(&o.answer, nil, show.ModelsForms.Of(show.Models{
		Schema: "ctxtool/models/1", Date: models.Date, Source: models.Source, Models: list,
	}))
}

// modelLines returns the models whose names contain the pattern, or else the one that reports
// use for that name.
func (e *env) modelLines(table *models.Table, pattern string) (list []show.ModelLine, err error) {
	add := func(m models.Model) {
		list = append(list, show.ModelLine{Model: m, Date: models.Date, Configured: e.config.HasModel(m)})
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
	failed := sessionfmt.Errorf("no model matches %q", sessionfmt.Clean(pattern))
	if provider, id, ok := strings.Cut(pattern, "/"); ok {
		failed.Hint = "to configure it: " + models.Ref{Provider: provider, ID: id}.Setting()
	}
	return nil, failed
}
