package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
	"ctxtool/sessionfmt/store"
	"ctxtool/stats/gate"

	"github.com/spf13/cobra"
)

// A numberFlag is a number above 0, with what reads it. It is 0 where it was not given.
type numberFlag[N int | int64] struct {
	n    *N
	read func(text string) (N, error)
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

// mostTokensAsked is more than any window has: 2^53, up to which numbers are whole.
const mostTokensAsked = 1 << 53

// tokensFlag is a number of tokens as people write it: 200000, 200k, 1M or 1e6.
func tokensFlag(n *int64) numberFlag[int64] {
	return numberFlag[int64]{n, func(text string) (int64, error) {
		n, err := gate.ParseNumber(text)
		if err != nil || n < 1 || n > mostTokensAsked || n != float64(int64(n)) {
			return 0, errors.New("want a number of tokens from 1 on, as 200000, 200k or 1M")
		}
		return int64(n), nil
	}}
}

// countFlag is a number of things.
func countFlag(n *int) numberFlag[int] {
	return numberFlag[int]{n, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return 0, errors.New("want a whole number from 1 on")
		}
		return n, nil
	}}
}

// oneOf is the error of the first value that is none of the names.
func oneOf(what string, names []string, values ...string) error {
	for _, v := range values {
		if !slices.Contains(names, v) {
			return fmt.Errorf("%s %q: one of %s", what, sessionfmt.Quote(v), strings.Join(names, ", "))
		}
	}
	return nil
}

// complete offers fixed values for a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// choice gives a command a flag for which fixed values are offered.
func choice(cmd *cobra.Command, to *string, flag, value, usage string, values []string) {
	cmd.Flags().StringVar(to, flag, value, usage)
	complete(cmd, flag, values)
}

// maxCompletions is how many ids are offered at once: a person picks from few.
const maxCompletions = 100

// pointWords are the words that a POINT may begin with.
var pointWords = []string{"leaf", "root", "request:", "turn:"}

// manySessions is in the place of a number of POINTs: as many sessions and folders as
// are wanted.
const manySessions = -1

// otherArgs is likewise for arguments that are no sessions, or none.
const otherArgs = -2

// completeArgs completes a SESSION, and after it so many POINTs of it.
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

// completeSession completes a SESSION: files, ids of the store, and after an @
// the points of the session named.
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
		if h := store.ReadHeader(e.disk, f); h.ID != "" && strings.HasPrefix(h.ID, typed) && len(ids) < maxCompletions {
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

// points are the points of a session that begin with what is typed: names,
// labels, ids; each with what it says.
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

// A limit is one end of a stretch of a session: a point, or a time. The zero
// value limits nothing.
type limit struct {
	sessionfmt.Point // where at is zero
	at               int64
	set              bool
}

// newLimit reads a POINT, or a date with or without a time.
func newLimit(s *sessionfmt.Session, text string, leaf int) (limit, error) {
	if text == "" {
		return limit{}, nil
	}
	if at, ok := parseTime(text); ok {
		return limit{at: at, set: true}, nil
	}
	at, err := findPoint(s, text, leaf)
	return limit{Point: at, set: true}, err
}

// before reports whether a limit ends what another begins before it has begun, as far as
// the two can be compared.
func (l limit) before(from limit) bool {
	switch {
	case !l.set || !from.set || (l.at == 0) != (from.at == 0):
		return false
	case l.at == 0:
		return l.Record < from.Record
	}
	return l.at < from.at
}

// untilTime is the last millisecond of a time that was read from text: a date means that
// day too.
func untilTime(text string, ms int64) int64 {
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		ms += 24*60*60*1000 - 1
	}
	return ms
}

// parseTime reads a date with or without a time, UTC where it does not say, as
// milliseconds since 1970.
func parseTime(text string) (ms int64, ok bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UnixMilli(), true
		}
	}
	return 0, false
}

// from reports that a record is not before the limit.
func (l limit) from(rec int, line jsonl.Value) bool {
	if l.at == 0 {
		return rec >= l.Record
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms >= l.at
}

// to reports whether a record is not after the limit.
func (l limit) to(rec int, line jsonl.Value) bool {
	if !l.set || l.at == 0 {
		return !l.set || rec < l.Record || rec == l.Record && !l.Before
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms <= l.at
}
