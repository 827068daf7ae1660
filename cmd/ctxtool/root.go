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
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/redact"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// env is what a command runs in, and what it has been told. Tests give their own, so that
// many can run at a time.
type env struct {
	stdin          *os.File
	stdout, stderr io.Writer
	disk           sessionfmt.Disk
	environ        []string // NAME=VALUE; the last one of a name counts
	home           string   // the user's folder, empty where there is none
	configDir      string   // the folder of the user's configuration, likewise
	now            func() time.Time
	wait           time.Duration // for a lock that somebody else has; as sessionfmt says when 0

	config      *config
	sessionsDir string
	color       string           // see style
	redactor    *redact.Redactor // what every session goes through first; nil without --redact
}

// processEnv is what the process runs in.
func processEnv() env {
	e := env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now}
	e.disk.Temporary = (&interrupts{}).note
	e.home, _ = os.UserHomeDir()
	e.configDir, _ = os.UserConfigDir()
	return e
}

// getenv is the value of an environment variable, empty where there is none.
func (e *env) getenv(name string) (value string) {
	for _, v := range e.environ {
		if key, text, _ := strings.Cut(v, "="); key == name {
			value = text
		}
	}
	return value
}

// run is the program: main without the process around it. It leaves its env as it was.
func (in env) run(args []string) int {
	e := &in
	root := newRoot(e, asked(args))
	root.SetArgs(args)
	err := root.Execute()
	if exitStatus(err) > exitFound {
		report(e.stderr, err)
	}
	return exitStatus(err)
}

// commands are the commands. A new one is a line here.
var commands = []struct {
	name   string
	new    func(e *env) *cobra.Command
	points int // after its SESSION
}{
	{"branch", newBranchCommand, 1},
	{"cache", newCacheCommand, manySessions},
	{"check", newCheckCommand, manySessions},
	{"compact", newCompactCommand, manySessions},
	{"compactions", newCompactionsCommand, 0},
	{"config", newConfigCommand, otherArgs},
	{"count", newCountCommand, otherArgs},
	{"diff", newDiffCommand, 2},
	{"edit", newEditCommand, 1},
	{"label", newLabelCommand, 1},
	{"log", newLogCommand, 0},
	{"ls", newLsCommand, otherArgs},
	{"migrate", newMigrateCommand, manySessions},
	{"models", newModelsCommand, otherArgs},
	{"name", newNameCommand, 0},
	{"policies", newPoliciesCommand, otherArgs},
	{"prune", newPruneCommand, manySessions},
	{"redact", newRedactCommand, manySessions},
	{"reduce", newReduceCommand, manySessions},
	{"repair", newRepairCommand, manySessions},
	{"render", newRenderCommand, 0},
	{"replay", newReplayCommand, 0},
	{"show", newShowCommand, math.MaxInt},
	{"stats", newStatsCommand, manySessions},
	{"strip", newStripCommand, manySessions},
	{"trace", newTraceCommand, 1},
	{"tree", newTreeCommand, 0},
	{"truncate", newTruncateCommand, manySessions},
	{"undo", newUndoCommand, 0},
	{"version", newVersionCommand, otherArgs},
}

// asked is the command that a command line begins with; empty for none, or for what
// concerns all of them: help, completion, and the settings, which are flags.
func asked(args []string) string {
	for _, c := range commands {
		if len(args) > 0 && args[0] == c.name && c.name != "config" {
			return c.name
		}
	}
	return ""
}

// newRoot builds the command tree, or as much of it as one command needs: flags of all of
// them would take longer than most answers.
func newRoot(e *env, only string) *cobra.Command {
	root := &cobra.Command{
		Use:   "ctxtool",
		Short: "Show what a coding agent's model saw, from the session file alone",
		Long: "ctxtool rebuilds what a coding agent's model saw from the session file alone:\n" +
			"offline, at any entry, with compactions, edits, patches, prompt sections and\n" +
			"branches applied in order. It never changes a file that it only reads.",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(noEmptyFlags(cmd), e.configure(cmd)); err != nil {
				return err
			}
			return oneOf("unknown --color", colorNames, e.color) // which configure may have set
		},
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.PersistentFlags().StringVar(&e.sessionsDir, "sessions-dir", "", "`FOLDER` in which sessions are looked up by id (default: pi's own)")
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "`WHEN` answers for people are coloured: "+strings.Join(colorNames, ", "))
	complete(root, "color", colorNames)
	for _, c := range commands {
		if only == "" || c.name == only {
			command := c.new(e)
			if c.points != otherArgs {
				command.ValidArgsFunction = e.completeArgs(c.points)
			}
			run := command.RunE
			command.RunE = func(cmd *cobra.Command, args []string) error { return noAnswer(run(cmd, args)) }
			command.Flags().VisitAll(func(f *pflag.Flag) {
				if name, _ := pflag.UnquoteUsage(f); name == "POINT" {
					command.RegisterFlagCompletionFunc(f.Name, e.completePoint)
				}
			})
			root.AddCommand(command)
		}
	}
	root.InitDefaultCompletionCmd()
	return root
}

// noEmptyFlags refuses flags that were given nothing, as an unset variable of a
// shell gives them: they would answer another question.
func noEmptyFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if text := f.Value.String(); f.Changed && (text == "" && f.Value.Type() == "string" || text == "[]" && f.Value.Type() == "stringSlice") {
			err = fmt.Errorf("--%s is empty", f.Name)
		}
	})
	return err
}

// report prints an error, and what helps against it where we know. The form is
//
//	ctxtool: s.jsonl:12: entry a1b2c3d4: cause
//	hint: what helps
//
// in lower case, without a final period.
func report(w io.Writer, err error) {
	fmt.Fprintf(w, "ctxtool: %s\n", cleanLines(strings.TrimRight(err.Error(), "\n")))
	var at *sessionfmt.Error
	if errors.As(err, &at) && at.Hint != "" {
		fmt.Fprintf(w, "hint: %s\n", at.Hint)
	}
}

// cleanLines is sessionfmt.Clean for a text of several lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, "\t"))]
		lines[i] = indent + sessionfmt.Clean(line[len(indent):])
	}
	return strings.Join(lines, "\n")
}

// otherHint is an error with another hint: that of a replay names flags of ctxtool
// replay.
func otherHint(err error, hint string) error {
	var at *sessionfmt.Error
	if !errors.As(err, &at) || at.Hint == "" {
		return err
	}
	return &sessionfmt.Error{Pos: at.Pos, Err: at.Err, Hint: hint}
}

func main() {
	debug.SetTraceback("none") // who has no memory left is told so; GOTRACEBACK=all has the rest
	os.Exit(processEnv().run(os.Args[1:]))
}

// Exit statuses, the same for all commands.
const (
	exitOK      = 0
	exitFound   = 1 // the command found what it looks for: damage, a difference
	exitUsage   = 2 // the command line is wrong
	exitNothing = 3 // there is no answer: broken or missing input, a stopped replay, --strict, the disk
)

// A usageError is a command line that is wrong, also where that only shows once the
// session is open, such as a point that is not in it.
type usageError struct{ error }

// A foundError is the end of a command that has found something, and has said all of it.
type foundError struct{}

// A noAnswerError is what keeps a command from its answer.
type noAnswerError struct{ error }

var errFound = &foundError{}

func (e *usageError) Unwrap() error    { return e.error }
func (e *usageError) exit() int        { return exitUsage }
func (e *foundError) Error() string    { return "found" }
func (e *foundError) exit() int        { return exitFound }
func (e *noAnswerError) Unwrap() error { return e.error }
func (e *noAnswerError) exit() int     { return exitNothing }

// exitStatus is the exit status of an error: of those that carry none, which are cobra's,
// that of a wrong command line.
func exitStatus(err error) int {
	var known interface{ exit() int }
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &known):
		return known.exit()
	}
	return exitUsage
}

// usage makes an error one of the command line, unless it carries its status already.
func usage(err error) error { return carrying(err, &usageError{err}) }

// usagef is an error of the command line.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// noAnswer makes an error one that keeps a command from its answer, unless it carries
// its status already.
func noAnswer(err error) error { return carrying(err, &noAnswerError{err}) }

// carrying is an error that carries its status, or else what makes it one that does.
func carrying(err, with error) error {
	if err == nil || errors.As(err, new(interface{ exit() int })) {
		return err
	}
	return with
}

// interrupts remove the temporary files that there are when a signal ends the process.
// While there is none, signals do what they always do.
type interrupts struct {
	mu      sync.Mutex
	files   map[string]bool
	signals chan os.Signal // nil while there is no file
}

// ending are the signals that end a process unless it says otherwise.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// note records that there is a temporary file, or no longer is.
func (x *interrupts) note(name string, there bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !there {
		delete(x.files, name)
		if len(x.files) == 0 && x.signals != nil {
			signal.Stop(x.signals)
			close(x.signals)
			x.signals = nil
		}
		return
	}
	if x.signals == nil {
		x.files, x.signals = map[string]bool{}, make(chan os.Signal, 1)
		for _, s := range ending {
			if !signal.Ignored(s) { // nohup
				signal.Notify(x.signals, s)
			}
		}
		go x.wait(x.signals)
	}
	x.files[name] = true
}

// wait waits for a signal, removes the files, and has the signal do what it does.
func (x *interrupts) wait(signals chan os.Signal) {
	s, ok := <-signals
	if !ok {
		return
	}
	x.mu.Lock() // and never let go: no file gets its name any more
	for name := range x.files {
		os.Remove(name)
	}
	if s == syscall.SIGPIPE { // which Go's runtime heeds only where it comes from a write
		os.Exit(128 + int(syscall.SIGPIPE))
	}
	signal.Reset(s)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
		time.Sleep(time.Second) // it comes at once
	}
	os.Exit(exitNothing)
}
