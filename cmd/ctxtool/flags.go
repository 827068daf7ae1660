package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/internal/base/help"
	"ctxtool/internal/base/times"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/internal/read/store"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/stats"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A numberFlag is a flag with a number, which is 0 if the flag is not set.
type numberFlag[N int | int64] struct {
	n    *N
	read func(text string) (N, error) // parses the value
}

func (f numberFlag[N]) String() string {
	if f.n == nil {
		return "0"
	}
	return fmt.Sprint(*f.n)
}

func (f numberFlag[N]) Type() string { return "int" }

func (f numberFlag[N]) Set(text string) (err error) {
	n, err := f.read(text)
	if err == nil {
		*f.n = n
	}
	return err
}

// mostTokensAsked is 2^53, up to which a float64 is exact, and more than any window.
const mostTokensAsked = 1 << 53

// tokensFlag returns a flag with a number of tokens, such as 200000, 200k, 1M or 1e6.
func tokensFlag(n *int64) numberFlag[int64] {
	return numberFlag[int64]{n, func(text string) (int64, error) {
		n, err := phrase.ParseNumber(text)
		if err != nil || n < 1 || n > mostTokensAsked || n != float64(int64(n)) {
			return 0, errors.New("must be a number of tokens above 0, such as 200000, 200k or 1M")
		}
		return int64(n), nil
	}}
}

// sizeFlag returns a flag with a number of bytes above 0.
func sizeFlag(n *int64) numberFlag[int64] {
	return numberFlag[int64]{n, func(text string) (int64, error) {
		n, err := phrase.ParseNumber(strings.TrimSuffix(text, "B"))
		if err != nil || n < 1 || n > 1<<50 {
			return 0, errors.New("must be a number of bytes above 0, such as 500MB or 20GB")
		}
		return int64(n), nil
	}}
}

// countFlag returns a flag with a whole number above 0.
func countFlag(n *int) numberFlag[int] {
	return numberFlag[int]{n, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, errors.New("must be a whole number above 0")
		}
		return n, nil
	}}
}

// portFlag returns a flag with the number of a port, 0 for a free one.
func portFlag(n *int) numberFlag[int] {
	return numberFlag[int]{n, func(text string) (int, error) {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return 0, errors.New("must be a port from 1 to 65535, or 0 for a free one")
		}
		return int(port), nil
	}}
}

// oneOf returns an error for the first value that is not one of the names, nil if there is none.
func oneOf(what string, names []string, values ...string) error {
	for _, v := range values {
		if !slices.Contains(names, v) {
			return fmt.Errorf("%s %q: expected one of %s", what, sessionfmt.Quote(v), strings.Join(names, ", "))
		}
	}
	return nil
}

// namesOf returns the names of things.
func namesOf[T any](all []T, name func(T) string) (names []string) {
	for _, one := range all {
		names = append(names, name(one))
	}
	return names
}

// withFlag returns an error with the name of the flag it is about. It keeps the hint.
func withFlag(flag string, err error) error {
	if err == nil {
		return nil
	}
	if own, ok := errors.AsType[*sessionfmt.Error](err); ok && own.Pos == (sessionfmt.Pos{}) {
		return &sessionfmt.Error{Err: fmt.Errorf("%s: %w", flag, own.Err), Hint: own.Hint}
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// A flagSet collects the flags of a command while it is created.
type flagSet struct {
	*pflag.FlagSet
	*env
	cmd *cobra.Command
}

// made returns a constructor for a command, given its options, which define its flags, and the function that
// runs it.
func made[O any, P interface {
	*O
	define(f *flagSet)
}](run func(e *env, o P, args []string) error) func(e *env) *cobra.Command {
	return func(e *env) *cobra.Command {
		o, cmd := P(new(O)), &cobra.Command{}
		cmd.RunE = func(_ *cobra.Command, args []string) error { return run(e, o, args) }
		o.define(&flagSet{cmd.Flags(), e, cmd})
		return cmd
	}
}

// onlyWith is the annotation of a flag that has no effect without one of these flags.
const onlyWith = "ctxtool_only_with"

// only declares that flags have no effect without another one, or without a value of it, such
// as "like gsh". "summarizer exec:COMMAND" stands for all values that begin with exec:. Several
// are alternatives; a single one is named in the help.
func (f *flagSet) only(with []string, flags ...string) {
	for _, name := range flags {
		if flag := f.Lookup(name); len(with) == 1 {
			flag.Usage = "with --" + with[0] + ", " + flag.Usage
		}
		f.SetAnnotation(name, onlyWith, with)
	}
}

// noIdleFlags returns an error for a flag on the command line that has no effect on the command, or only with
// another one that is missing.
func noIdleFlags(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Changed && !help.Takes(cmd, f.Name) {
			err = sessionfmt.Errorf("--%s has no effect on %s", f.Name, cmd.CommandPath()).Hinted("leave it out")
			return
		}
		with := f.Annotations[onlyWith]
		if !f.Changed || len(with) == 0 || slices.ContainsFunc(with, func(w string) bool { return isGiven(cmd, w) }) {
			return
		}
		err = sessionfmt.Errorf("--%s requires --%s", f.Name, strings.Join(with, " or --")).
			Hinted("without it --" + f.Name + " has no effect")
	})
	return err
}

// isGiven reports whether a flag is set, or has a value: see only.
func isGiven(cmd *cobra.Command, with string) bool {
	name, value, one := strings.Cut(with, " ")
	f := cmd.Flags().Lookup(name)
	if f == nil || !one {
		return f != nil && f.Value.String() != f.DefValue
	}
	values := []string{f.Value.String()}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	}
	begin, _, open := strings.Cut(value, ":")
	return slices.ContainsFunc(values, func(v string) bool {
		return v == value || open && strings.HasPrefix(v, begin+":")
	})
}

// exclude declares that a flag excludes each of the others.
func (f *flagSet) exclude(flag string, others ...string) {
	for _, other := range others {
		f.cmd.MarkFlagsMutuallyExclusive(flag, other)
	}
}

// complete registers the values for the completion of a flag.
func (f *flagSet) complete(flag string, values []string) {
	f.completeBy(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completing reports whether a shell asks for completions.
func (e *env) completing() bool {
	return len(e.args) > 0 && (e.args[0] == cobra.ShellCompRequestCmd || e.args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeBy registers the function that completes a flag, only for a shell that asks: cobra keeps these
// functions in a global map, and through them all memory of a command, which a server would never free.
func (f *flagSet) completeBy(flag string, complete cobra.CompletionFunc) {
	if f.completing() {
		f.cmd.RegisterFlagCompletionFunc(flag, complete)
	}
}

// before registers a check of flags, which runs before the command. Its errors are errors of the
// command line. Groups of flags check themselves.
func (e *env) before(check func() error) { e.checks = append(e.checks, check) }

// models gives the command the table of models with those of the configuration.
func (e *env) models(to **models.Table) {
	e.before(func() (err error) {
		*to, err = e.config.Models()
		return err
	})
}

// noSubAgents registers the flag that leaves sub-agents out of costs.
func (f *flagSet) noSubAgents(to *bool) {
	f.BoolVar(to, "no-subagents", false, "leave sub-agents out of the cost of a session")
}

// listed joins a usage and the list of values.
func listed(usage string, values []string) string {
	return usage + phrase.If(strings.HasSuffix(usage, ":"), " %s", strings.Join(values, ", "))
}

// choice registers a flag with a list of values, which completion offers and help lists after the usage. what
// begins the error for another value; if it is empty, any value is allowed.
func (f *flagSet) choice(to *string, flag, value, usage, what string, values []string) {
	f.StringVar(to, flag, value, listed(usage, values))
	f.complete(flag, values)
	f.before(func() error {
		if *to == "" || what == "" {
			return nil
		}
		return oneOf(what, values, *to)
	})
}

// choices is choice for a flag with a list.
func (f *flagSet) choices(to *[]string, flag string, value []string, usage, what string, values []string) {
	f.StringSliceVar(to, flag, value, listed(usage, values))
	f.complete(flag, values)
	f.before(func() error { return oneOf(what, values, *to...) })
}

// maxCompletions is the maximum number of ids that completion offers.
const maxCompletions = 100

// pointWords are the forms of a POINT other than ids and labels.
var pointWords = []string{"leaf", "root", "request:", "turn:"}

// manySessions stands for a number of POINTs: the command takes any number of sessions and
// folders instead.
const manySessions = -1

// otherArgs stands for a number of POINTs of a command that takes no session as argument.
const otherArgs = -2

// completeArgs completes a SESSION, and after it that number of POINTs.
func (e *env) completeArgs(points int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch n := len(args); {
		case n == 0 || points == manySessions:
			return e.completeSession(cmd, typed)
		case n <= points:
			return e.completePoint(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSession completes a SESSION: files, ids of the store, and after an @ the points
// of the session.
func (e *env) completeSession(cmd *cobra.Command, typed string) ([]string, cobra.ShellCompDirective) {
	if at := strings.LastIndexByte(typed, '@'); at > 0 {
		var all []string
		for _, p := range e.points(cmd, typed[:at], typed[at+1:]) {
			all = append(all, typed[:at+1]+p)
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
	here, _ := filepath.Glob(e.disk.Path(typed) + "*")
	if len(here) > 0 && typed != "" || strings.ContainsRune(typed, filepath.Separator) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if e.configure(cmd) != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	files, err := e.store().Files()
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	slices.Reverse(files) // names begin with their time
	var ids []string
	for _, f := range files {
		if h := store.ReadHeader(e.disk, f.Name); h.ID != "" && strings.HasPrefix(h.ID, typed) &&
			len(ids) < maxCompletions {
			ids = append(ids, cobra.CompletionWithDesc(h.ID, sessionfmt.Quote(h.CWD+" "+h.Timestamp)))
		}
	}
	if len(ids) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completePoint completes a POINT of the session that the command line names.
func (e *env) completePoint(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return pointWords, cobra.ShellCompDirectiveNoFileComp
	}
	session, _ := store.SplitPoint(e.disk, args[0])
	return e.points(cmd, session, typed), cobra.ShellCompDirectiveNoFileComp
}

// points returns the points of a session that begin with the typed text, each with its first words.
func (e *env) points(cmd *cobra.Command, session, typed string) (all []string) {
	if e.configure(cmd) != nil {
		return nil
	}
	name, err := e.store().Locate(session)
	if err != nil || name == "-" {
		return nil
	}
	s, err := sessionfmt.Open(name, sessionfmt.Options{Disk: e.disk})
	if err != nil {
		return nil
	}
	defer s.Close()
	for _, word := range pointWords {
		if strings.HasPrefix(word, typed) {
			all = append(all, word)
		}
	}
	for p, about := range outline.Points(s, typed) {
		if len(all) == maxCompletions {
			break
		}
		if !strings.ContainsAny(p, "\t\n") {
			all = append(all, cobra.CompletionWithDesc(p, about))
		}
	}
	return all
}

// A period are the flags that select a span of time.
type period struct {
	since, until string
	zone         *time.Location // nil for UTC
}

func (o *period) flags(f *flagSet) {
	f.StringVar(&o.since, "since", "", "only sessions and calls since `TIME`")
	f.StringVar(&o.until, "until", "", "only sessions and calls until `TIME`")
}

// check returns the first and the last millisecond of the period, since 1970; 0 for a flag
// that is not set.
func (o *period) check(e *env) (since, until int64, err error) {
	zone := cmp.Or(o.zone, time.UTC)
	from, err := e.timeFlag("since", o.since, zone)
	to, wrong := e.timeFlag("until", o.until, zone)
	switch err = cmp.Or(err, wrong); {
	case err != nil || o.until == "":
		return from.From, 0, err
	case to.To <= from.From:
		return 0, 0, o.reversed()
	}
	return from.From, to.To - 1, nil
}

// limits returns the limits of the period, each as find finds it.
func (o *period) limits(find func(text string) (limit, error)) (since, until limit, err error) {
	since, err = find(o.since)
	until, wrong := find(o.until)
	if err = cmp.Or(err, wrong); err == nil && until.before(since) {
		err = usage(o.reversed())
	}
	return since, until, err
}

// reversed returns the error for a period that ends before it begins.
func (o *period) reversed() error {
	return fmt.Errorf("--until %s is before --since %s", sessionfmt.Quote(o.until), sessionfmt.Quote(o.since))
}

// timeFlag returns the TIME of a flag, in this zone unless it names another; the zero span if the flag is not
// set.
func (e *env) timeFlag(name, text string, in *time.Location) (times.Span, error) {
	if text == "" {
		return times.Span{}, nil
	}
	at, err := times.Parse(text, e.now().In(in))
	if err != nil {
		return times.Span{}, fmt.Errorf("--%s %q: %w", name, sessionfmt.Quote(text), err)
	}
	return at, nil
}

// nowFlag returns the time of --now, or the current time if it is not set.
func (e *env) nowFlag(text string) (time.Time, error) {
	if text == "" {
		return e.now(), nil
	}
	at, err := e.timeFlag("now", text, time.UTC)
	return time.UnixMilli(at.From), err
}

// filter are the flags that select sessions and calls.
type filter struct {
	period
	project, model, agent string
}

// flags registers the flags; models says what --only-model selects.
func (o *filter) flags(f *flagSet, models string) {
	o.period.flags(f)
	f.StringVar(&o.project, "project", "", "only sessions whose folder name contains `TEXT`")
	f.StringVar(&o.model, "only-model", "", "only "+models+" `TEXT`")
	f.choice(&o.agent, "agent", "", "only sessions of the agent `NAME`:", "unknown agent", agents())
}

func (o *filter) check(e *env) (stats.Only, error) {
	since, until, err := o.period.check(e)
	return stats.Only{Since: since, Until: until, Project: o.project, Model: o.model, Agent: o.agent}, err
}

func agents() []string {
	return append([]string{(*dialect.Dialect)(nil).Agent(), dialect.OhMyPi},
		slices.Compact(namesOf(sessionfmt.Dialects(), (*dialect.Dialect).Agent))...)
}
