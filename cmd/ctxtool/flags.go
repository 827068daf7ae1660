package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ctxtool/render"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
	"ctxtool/sessionfmt/store"
	"ctxtool/stats"
)

// A tokensFlag is a number of tokens as people write it: 200000, 200k, 1M or 1e6.
type tokensFlag struct{ n *int64 }

func (f tokensFlag) String() string {
	if f.n == nil {
		return "0"
	}
	return strconv.FormatInt(*f.n, 10)
}

func (f tokensFlag) Type() string { return "tokens" }

// mostTokensAsked is more than any window has: 2^53, up to which numbers are whole.
const mostTokensAsked = 1 << 53

func (f tokensFlag) Set(text string) error {
	n, err := stats.ParseNumber(text)
	if err != nil || n < 1 || n > mostTokensAsked || n != float64(int64(n)) {
		return errors.New("want a number of tokens from 1 on, as 200000, 200k or 1M")
	}
	*f.n = int64(n)
	return nil
}

// A countFlag is a number of things, at least one. It is 0 where it was not given.
type countFlag struct{ n *int }

func (f countFlag) String() string {
	if f.n == nil {
		return "0"
	}
	return strconv.Itoa(*f.n)
}

func (f countFlag) Type() string { return "int" }

func (f countFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want a whole number from 1 on")
	}
	*f.n = n
	return nil
}

// maxCompletions is how many ids are offered at once: a person picks from few.
const maxCompletions = 100

// completeSession completes a SESSION: files, ids of the store, and behind an @
// the points of the session named.
func (e *env) completeSession(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
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
		h := store.ReadHeader(e.disk, f)
		if h.ID != "" && strings.HasPrefix(h.ID, typed) && len(ids) < maxCompletions {
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
		return []string{"leaf", "root", "request:", "turn:"}, cobra.ShellCompDirectiveNoFileComp
	}
	session, _ := store.SplitPoint(e.disk, args[0])
	return e.points(cmd, session, typed), cobra.ShellCompDirectiveNoFileComp
}

// completeFiles completes sessions and folders, as many as are wanted.
func (e *env) completeFiles(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return e.completeSession(cmd, nil, typed)
}

// completeEntries completes a SESSION, and behind it so many POINTs of it.
func (e *env) completeEntries(most int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		switch n := len(args); {
		case n == 0:
			return e.completeSession(cmd, args, typed)
		case n <= most:
			return e.completePoint(cmd, args, typed)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
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
	for _, p := range []string{"leaf", "root", "request:", "turn:"} {
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

// colorNames are what --color may be.
var colorNames = []string{"auto", "always", "never"}

// colorFlag gives all commands the flag that says when answers for people are coloured.
func (e *env) colorFlag(root *cobra.Command) {
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "`WHEN` answers for people are coloured: "+strings.Join(colorNames, ", "))
	complete(root, "color", colorNames)
}

func (e *env) checkColor() error {
	if !slices.Contains(colorNames, e.color) {
		return fmt.Errorf("unknown --color %q: one of %s", sessionfmt.Quote(e.color), strings.Join(colorNames, ", "))
	}
	return nil
}

// style is how an answer for people that goes to output stands out: coloured where
// that was asked for, or on a terminal unless NO_COLOR is set to something
// (https://no-color.org) or the terminal is a dumb one.
func (e *env) style(output string) render.Style {
	if e.color != "auto" {
		return render.Style{Colour: e.color == "always"}
	}
	f, ok := e.stdout.(*os.File)
	plain := e.getenv("NO_COLOR") != "" || e.getenv("TERM") == "dumb"
	return render.Style{Colour: ok && !plain && (output == "" || output == "-") && term.IsTerminal(int(f.Fd()))}
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
	if !l.set || l.at == 0 {
		return !l.set || rec >= l.Record
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms >= l.at
}

// to reports that a record is not behind the limit.
func (l limit) to(rec int, line jsonl.Value) bool {
	if !l.set || l.at == 0 {
		return !l.set || rec < l.Record || rec == l.Record && !l.Before
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms <= l.at
}
