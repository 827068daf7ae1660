// Command ctxtool shows what a coding agent's model saw, from the session file
// alone.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"ctxtool/compact"
	"ctxtool/internal/base/help"
	"ctxtool/internal/lens/gate"
	"ctxtool/internal/out/page"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/ops"
	"ctxtool/internal/read/phrase"
	"ctxtool/internal/read/store"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	_ "ctxtool/sessionfmt/sqlite" // for sessions in databases
	"ctxtool/stats"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// run runs a command line and returns its exit status.
func (m machine) run(args []string) int { return m.runWith(setup{}, args) }

// runWith runs a command line, given what is already known about it.
func (m machine) runWith(known setup, args []string) int {
	e := &env{machine: m, setup: known, args: args, aside: &aside{}, again: machine.runWith}
	e.store = sync.OnceValue(func() store.Store { return e.newStore().Once() })
	var drop func()
	if e.disk.Skipped == nil { // serve has it for its commands
		e.disk.Skipped = e.noteSkipped()
		e.disk.Taken = func(name string) { e.note("%s: cannot keep its owner or group: it now belongs to you", name) }
	}
	e.disk, drop = e.disk.KeepCopies()
	defer drop()
	defer func() {
		for _, s := range e.opened {
			s.Close()
		}
	}()
	root := newRoot(e, commandOf(args))
	root.SetArgs(args)
	err := root.Execute()
	if exitStatus(err) <= exitFound {
		e.conclude()
	}
	if exitStatus(err) > exitFound {
		e.fault(err)
	}
	return exitStatus(err)
}

// groups are the groups of commands, in the order in which help lists them.
var groups = []string{"Inspect", "Explain", "Change", "Files"}

// commands lists the commands. A new one needs a line here, and a text in internal/base/help/commands.
var commands = []struct {
	name   string
	new    func(e *env) *cobra.Command
	points int      // arguments after its SESSION
	group  string   // one of groups, or none: then only listed by name
	also   []string // its other names
}{
	{"branch", made(runBranch), 1, "Files", nil},
	{"browse", made(runBrowse), otherArgs, "Inspect", nil},
	{"cache", made(runCache), manySessions, "Explain", nil},
	{"check", made(runCheck), manySessions, "Files", []string{"fsck"}},
	{"export", made(runExport), manySessions, "Files", nil},
	{"config", made(runConfig), otherArgs, "", nil},
	{"import", made(runImport), 0, "Files", nil},
	{"cost", made(runCost), manySessions, "Inspect", nil},
	{"count", made(runCount), otherArgs, "", nil},
	{"diff", made(runDiff), 2, "Explain", nil},
	{"doctor", made(runDoctor), manySessions, "Explain", nil},
	{"edit", made(runEdit), 1, "Change", nil},
	{"label", made(runLabel), 1, "Change", nil},
	{"keep", made(runKeep), otherArgs, "Files", nil},
	{"log", made(runLog), 0, "Inspect", nil},
	{"lost", made(runLost), 0, "Explain", nil},
	{"ls", made(runLs), otherArgs, "Inspect", nil},
	{"migrate", made(runMigrate), manySessions, "", nil},
	{"models", made(runModels), otherArgs, "", nil},
	{"notes", made(runNotes), 0, "Explain", nil},
	{"origin", made(runOrigin), otherArgs, "Explain", nil},
	{"patch", made(runPatch), 0, "Change", nil},
	{"policies", made(runPolicies), otherArgs, "", nil},
	{"redact", made(runRedact), manySessions, "Files", nil},
	{"reduce", made(runReduce), manySessions, "Change", []string{"compact", "prune"}},
	{"repair", made(runRepair), manySessions, "Files", nil},
	{"render", made(runRender), 0, "Inspect", nil},
	{"replay", made(runReplay), 0, "Inspect", nil},
	{"search", made(runSearch), otherArgs, "Inspect", nil},
	{"mcp", made(runMCP), otherArgs, "", nil},
	{"show", made(runShow), math.MaxInt, "Inspect", nil},
	{"simulate", made(runSimulate), manySessions, "Explain", nil},
	{"stats", made(runStats), manySessions, "Explain", nil},
	{"status", made(runStatus), 0, "", nil},
	{"trace", made(runTrace), 1, "Explain", nil},
	{"undo", made(runUndo), manySessions, "Change", nil},
	{"version", newVersionCommand, otherArgs, "", nil},
}

// renamed maps former names of commands to what replaces them.
var renamed = map[string]string{
	"ambient":     "search --recent 5",
	"compactions": "lost",
	"convert":     "import",
	"forgot":      "lost",
	"name":        "label --session",
	"serve":       "mcp",
	"strip":       "reduce --pass strip-thinking",
	"tree":        "log --tree",
	"truncate":    "reduce --pass truncate",
}

// unknownCommand returns the error for an unknown command, with suggestions.
func unknownCommand(root *cobra.Command, name string) error {
	hint := "ctxtool help lists them"
	if now := renamed[name]; now != "" {
		hint = "it is ctxtool " + now + " now"
	} else if close := root.SuggestionsFor(name); len(close) > 0 {
		hint = "ctxtool " + strings.Join(close, " or ctxtool ")
	}
	return usage(sessionfmt.Errorf("unknown command %q", sessionfmt.Quote(name)).Hinted(hint))
}

// unknownFlag returns the error of a command line, with the flags that an unknown one may mean.
func unknownFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden && help.Takes(cmd, f.Name) {
			names = append(names, "--"+f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	hint := "ctxtool help " + cmd.Name() + " lists them"
	name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // -json is read as -j -s -o -n
	if near := phrase.Nearest("--"+name, names); near != nil {
		hint = strings.Join(near, " or ")
	}
	return usage(&sessionfmt.Error{Err: err, Hint: hint})
}

// commandOf returns the command that a command line begins with. It is empty if there is
// none, or if the command line needs all of them: help, completion, and config, which lists
// their flags.
func commandOf(args []string) string {
	for _, c := range commands {
		if len(args) > 0 && (args[0] == c.name || slices.Contains(c.also, args[0])) && c.name != "config" {
			return c.name
		}
	}
	return ""
}

// startHere are the commands to try first.
const startHere = `  ctxtool ls                      # your sessions, of all agents
  ctxtool cost                    # what they cost
  ctxtool replay SESSION          # what the model saw
  ctxtool doctor SESSION          # what is wrong with it, and what fixes it
  ctxtool render --open SESSION   # read a session in the browser`

// newRoot builds the command tree, or only its part for one command: registering the flags of all commands
// would take longer than most answers.
func newRoot(e *env, only string) *cobra.Command {
	root := &cobra.Command{
		Use:           "ctxtool COMMAND [flags], or ctxtool help COMMAND|TOPIC",
		Short:         "Show what a coding agent's model saw, from the session file alone",
		Example:       startHere,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(noEmptyFlags(cmd), e.configure(cmd), noIdleFlags(cmd)); err != nil {
				return err
			}
			return oneOf("unknown --color", colorNames, e.color) // configure may have set it
		},
	}
	var version bool
	root.Args, root.SuggestionsMinimumDistance = cobra.ArbitraryArgs, 2
	root.SetFlagErrorFunc(unknownFlag)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case version:
			return e.printVersion()
		case len(args) > 0:
			return unknownCommand(root, args[0])
		}
		return cmd.Help()
	}
	root.Flags().BoolVarP(&version, "version", "v", false, "print the version")
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	f := &flagSet{root.PersistentFlags(), e, root}
	f.StringVar(&e.configFile, "config", "", "read settings from `FILE` too, above the other files")
	f.StringVar(&e.sessionsDir, "sessions-dir", "", "find sessions by id in `DIR` (default: of all agents)")
	f.StringVar(&e.color, "color", "auto", "colour text `WHEN`: "+strings.Join(colorNames, ", "))
	f.StringVar(&e.pager, "pager", "", "page text by `COMMAND`, cat for none (default: $PAGER, or less)")
	f.BoolVar(&e.json, "json", false, "short for -f json, or of a command without it for -f jsonl")
	f.BoolVar(&e.redact, "redact", false, "redact what is read; of a command that writes, what it prints")
	f.BoolVar(&e.leakless, "fail-on-secret", false, "exit with 1, and print nothing, if there is a likely secret")
	f.BoolVarP(&e.quiet, "quiet", "q", false, "print nothing but the answer and errors")
	f.BoolVar(&e.noPager, "no-pager", false, "do not page text")
	f.Var(sizeFlag(&e.disk.MaxSize), "max-size",
		"read at most `SIZE` of a compressed session (default: 100 times its file, 8GB)")
	f.complete("color", colorNames)
	e.addHelp(root)
	for _, c := range commands {
		if only == "" || c.name == only {
			e.checks, e.taken = nil, nil
			command := c.new(e)
			help.Take(command, e.taken...)
			help.Describe(command, c.name)
			command.GroupID, command.Aliases = c.group, c.also
			if c.points != otherArgs {
				command.ValidArgsFunction = e.completeArgs(c.points)
			}
			check := command.Args
			if check == nil {
				check = argsOf(command.Use)
			}
			command.Args = func(cmd *cobra.Command, args []string) error {
				if check(cmd, args) != nil {
					return usagef("wrong number of arguments: %d; usage: ctxtool %s", len(args), cmd.Use)
				}
				return nil
			}
			run, checks := command.RunE, e.checks
			command.RunE = func(cmd *cobra.Command, args []string) error {
				for _, check := range checks {
					if err := check(); err != nil {
						return usage(err)
					}
				}
				return noAnswer(run(cmd, args))
			}
			command.Flags().VisitAll(func(f *pflag.Flag) {
				if name, _ := pflag.UnquoteUsage(f); name == "POINT" {
					(&flagSet{command.Flags(), e, command}).completeBy(f.Name, e.completePoint)
				}
			})
			root.AddCommand(command)
		}
	}
	root.InitDefaultCompletionCmd()
	if script, _, err := root.Find([]string{"completion"}); err == nil {
		script.Hidden = true // only for installation, see README
	}
	return root
}

// argsOf returns the check of the number of arguments that a command's usage names: any number if one of them
// may be repeated.
func argsOf(use string) cobra.PositionalArgs {
	least, most := 0, 0
	for _, word := range strings.Fields(use)[1:] {
		switch {
		case strings.Contains(word, "..."):
			return cobra.ArbitraryArgs
		case word == "-o":
			return cobra.RangeArgs(least, most)
		case word == "[flags]":
		case word[0] != '[':
			least++
			fallthrough
		default:
			most++
		}
	}
	return cobra.RangeArgs(least, most)
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
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // even if the configuration is invalid
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (names []string,
			_ cobra.ShellCompDirective) {
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
				return unknownCommand(root, strings.Join(args, " "))
			}
			return cmd.Help()
		},
	})
}

// topicLists returns the lists of topics that come from the code, by their names in the texts.
func topicLists() map[string]string {
	return map[string]string{
		"lenses": listOf(stats.Lenses, func(l *stats.Lens) (name, about string) {
			return l.Name + phrase.If(l.Default, " *"), l.About
		}),
		"replay": listOf(show.Formats, func(f show.Format) (name, about string) { return f.Name, f.About }),
		"counters": listOf(tokens.Names(), func(name string) (_, about string) {
			c, _ := tokens.Find(name)
			return name, c.About
		}),
		"passes": help.List(passRows()),
		"figures": listOf(gate.FigureNames(), func(name string) (_, about string) {
			f, _ := gate.FindFigure(name)
			return name, f.About
		}),
		"parts": strings.TrimRight(page.PartHelp(), "\n"),
		"ops":   ops.Help(),
	}
}

// passRows returns the passes, each with its options below it.
func passRows() (rows [][2]string) {
	for _, p := range compact.Passes() {
		rows = append(rows, [2]string{p.Name, p.About})
		for _, q := range p.Params() {
			rows = append(rows, [2]string{fmt.Sprintf("  %s=%v", q.Name, p.Default(q)), q.About})
		}
	}
	return rows
}

// listOf returns a list of things for a topic, one row each.
func listOf[T any](all []T, row func(T) (name, about string)) string {
	var rows [][2]string
	for _, one := range all {
		name, about := row(one)
		rows = append(rows, [2]string{name, about})
	}
	return help.List(rows)
}

// noEmptyFlags returns an error for a flag with an empty value, such as an unset shell
// variable gives: the command would answer another question.
func noEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		text, typ := f.Value.String(), f.Value.Type()
		if f.Changed && (text == "" && typ == "string" || text == "[]" && typ == "stringSlice") {
			err = fmt.Errorf("--%s is empty", f.Name)
		}
	})
	return err
}

func main() {
	debug.SetTraceback("none") // out of memory is reported on one line; GOTRACEBACK=all prints the rest
	os.Exit(thisMachine().run(os.Args[1:]))
}
