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

	"ctxtool/internal/help"
	"ctxtool/internal/times"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
	"ctxtool/sessionfmt/store"
	"ctxtool/stats/gate"

	"github.com/spf13/cobra"
)

// A numberFlag is a flag with a number above 0. The number stays 0 if the flag is not set.
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

// mostTokensAsked is more than any window has: 2^53, up to which a float64 is exact.
const mostTokensAsked = 1 << 53

// tokensFlag returns a flag with a number of tokens, such as 200000, 200k, 1M or 1e6.
func tokensFlag(n *int64) numberFlag[int64] {
	return numberFlag[int64]{n, func(text string) (int64, error) {
		n, err := gate.ParseNumber(text)
		if err != nil || n < 1 || n > mostTokensAsked || n != float64(int64(n)) {
			return 0, errors.New("must be a number of tokens above 0, such as 200000, 200k or 1M")
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

// oneOf returns an error for the first value that is not one of the names, else nil.
func oneOf(what string, names []string, values ...string) error {
	for _, v := range values {
		if !slices.Contains(names, v) {
			return fmt.Errorf("%s %q: expected one of %s", what, sessionfmt.Quote(v), strings.Join(names, ", "))
		}
	}
	return nil
}

// complete registers the values that completion offers for a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// choice registers a flag whose values completion offers.
func choice(cmd *cobra.Command, to *string, flag, value, usage string, values []string) {
	cmd.Flags().StringVar(to, flag, value, usage)
	complete(cmd, flag, values)
}

// maxCompletions is how many ids completion offers at most.
const maxCompletions = 100

// pointWords are the beginnings of a POINT that are not ids or labels.
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
	if here, _ := filepath.Glob(e.disk.Path(typed) + "*"); len(here) > 0 && typed != "" || strings.ContainsRune(typed, filepath.Separator) {
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
		if h := store.ReadHeader(e.disk, f.Name); h.ID != "" && strings.HasPrefix(h.ID, typed) && len(ids) < maxCompletions {
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

// points returns the points of a session that begin with the text typed: words, labels and
// ids, each with its first words.
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
	offer := func(point, about string) {
		if strings.HasPrefix(point, typed) && len(all) < maxCompletions && !strings.ContainsAny(point, "\t\n") {
			all = append(all, cobra.CompletionWithDesc(point, about))
		}
	}
	for _, p := range pointWords {
		offer(p, "")
	}
	lines := s.NewReader()
	about := func(i int) string {
		line, err := lines.Line(i)
		if err != nil {
			return ""
		}
		return sessionfmt.Quote(s.Kind(i).String() + " " + outline.Gist(s.Kind(i), line))
	}
	labels, err := s.Labels()
	if err != nil {
		return all
	}
	var names []string
	for name := range labels {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, typed) {
			offer(name, about(labels[name]))
		}
	}
	path, _ := s.Path(s.Leaf())
	for _, i := range slices.Backward(path) {
		if id := s.ID(i); strings.HasPrefix(id, typed) && len(all) < maxCompletions {
			offer(id, about(i))
		}
	}
	return all
}

// A period are the flags that select a span of time.
type period struct{ since, until string }

func (o *period) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "only sessions and calls since `TIME`")
	f.StringVar(&o.until, "until", "", "only sessions and calls until `TIME`")
	help.Group(f, "Selection", "since", "until")
}

// check returns the first and the last millisecond of the period, since 1970; 0 for a flag
// that is not set.
func (o *period) check(e *env) (since, until int64, err error) {
	from, err := e.timeFlag("since", o.since)
	to, wrong := e.timeFlag("until", o.until)
	switch err = cmp.Or(err, wrong); {
	case err != nil || o.until == "":
		return from.From, 0, err
	case to.To <= from.From:
		return 0, 0, o.reversed()
	}
	return from.From, to.To - 1, nil
}

// reversed returns the error for a period that ends before it begins.
func (o *period) reversed() error {
	return fmt.Errorf("--until %s is before --since %s", sessionfmt.Quote(o.until), sessionfmt.Quote(o.since))
}

// timeFlag returns the TIME of a flag, or the zero span if it is not set.
func (e *env) timeFlag(name, text string) (times.Span, error) {
	if text == "" {
		return times.Span{}, nil
	}
	at, err := times.Parse(text, e.now())
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
	at, err := e.timeFlag("now", text)
	return time.UnixMilli(at.From), err
}

// A limit is one end of a part of a session: a point or a time. The zero value does not
// limit.
type limit struct {
	sessionfmt.Point // used if time is zero
	time             times.Span
	set              bool
}

// newLimit resolves a TIME or a POINT. Text that can be both is a time: an entry whose label
// looks like one can be named by its id.
func (e *env) newLimit(s *sessionfmt.Session, text string, leaf int) (limit, error) {
	if text == "" {
		return limit{}, nil
	}
	if at, err := times.Parse(text, e.now()); err == nil {
		return limit{time: at, set: true}, nil
	}
	at, err := findPoint(s, text, leaf)
	if errors.As(err, new(*sessionfmt.PointError)) {
		err = usage(&sessionfmt.Error{Err: err, Hint: "must be a point or a time: " + times.Forms})
	}
	return limit{Point: at, set: true}, err
}

// before reports whether a limit is before the limit from which a part begins. It is false
// for a time and a point, which cannot be compared.
func (l limit) before(from limit) bool {
	switch timed := l.time != (times.Span{}); {
	case !l.set || !from.set || timed != (from.time != (times.Span{})):
		return false
	case timed:
		return l.time.To <= from.time.From
	}
	return l.Record < from.Record
}

// from reports whether a record is not before the limit.
func (l limit) from(rec int, line jsonl.Value) bool {
	if l.time == (times.Span{}) {
		return rec >= l.Record
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms >= l.time.From
}

// to reports whether a record is not after the limit.
func (l limit) to(rec int, line jsonl.Value) bool {
	if l.time == (times.Span{}) {
		return !l.set || rec < l.Record || rec == l.Record && !l.Before
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms < l.time.To
}
