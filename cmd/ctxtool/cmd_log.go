package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"time"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/lens/entry"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

type logOptions struct {
	readFlags
	leaf        string
	all, follow bool
	tree, fold  bool
	request     int
	grep        string
	kind        []string
	period      // or points

	pattern *regexp.Regexp
}

func (o *logOptions) define(f *flagSet) {
	o.readFlags.flags(f, "text", "jsonl", "swe-cli")
	f.StringVar(&o.leaf, "leaf", "", "list the branch that ends at `POINT`")
	f.BoolVar(&o.all, "all", false, "list all entries in the order of the file; ○ are not on the path")
	f.IntVar(&o.request, "request", noRequest, "list what request `N` added, by kind")
	f.StringVar(&o.grep, "grep", "", "only entries with a string that matches `PATTERN`")
	f.choices(&o.kind, "kind", nil, "only entries of `KINDS`: user, assistant, compaction, ...", "unknown kind",
		jsonl.KindNames())
	f.StringVar(&o.since, "since", "", "only entries since `POINT` or TIME")
	f.StringVar(&o.until, "until", "", "only entries until `POINT` or TIME")
	f.BoolVar(&o.follow, "follow", false, "follow new entries")
	f.BoolVar(&o.tree, "tree", false, "draw the tree of the session, a line an entry")
	f.BoolVar(&o.fold, "fold", true, "fold long runs into one line")
	f.only([]string{"tree"}, "fold")
	f.exclude("tree", "request", "all", "follow", "grep", "since", "until")
	f.Lookup("request").DefValue = "0" // shows no default
	f.exclude("follow", "output")
	f.exclude("request", "all", "follow", "grep", "kind", "since", "until")
	f.before(func() (err error) {
		if o.follow && f.leakless {
			return errors.New("--follow conflicts with --fail-on-secret")
		}
		if o.grep != "" {
			o.pattern, err = regexp.Compile(o.grep)
		}
		return withFlag("--grep", err)
	})
}

func runLog(e *env, o *logOptions, args []string) error {
	switch {
	case o.tree:
		return o.draw(e, args)
	case o.format == "swe-cli":
		return o.sweLog(e, args)
	}
	name, point, err := e.session(args)
	if err != nil {
		return err
	}
	o.leaf = cmp.Or(o.leaf, point)
	l := &logger{o: o, e: e, on: e.screen(o.output)}
	o.unpaged = o.follow
	return e.answer(&o.answer, []string{name}, func(w *bufio.Writer) error {
		l.w = w
		err := l.list(name)
		if o.follow && err == nil {
			e.conclude() // only a signal ends it
		}
		for o.follow && err == nil {
			if err = l.await(name); err == nil {
				err = l.list(name)
			}
		}
		return err
	})
}

// A logger writes the rows of a session, and with --follow those of new entries.
type logger struct {
	o  *logOptions
	e  *env
	w  *bufio.Writer
	on show.Screen

	listed int   // number of records listed so far
	size   int64 // size of the file when they were read, bytes

	s            *sessionfmt.Session
	r            *replay.Replay
	walk         *replay.Walk
	meter        *ledger.Meter
	done         []int        // the path that was replayed last
	counts       weigh.Counts // tokens of its context
	stopped      bool
	since, until limit
	short        func(id string) string // see sessionfmt.Session.ShortIDs
	width        int
}

// open opens the session, or reads what has been appended to it.
func (l *logger) open(name string) (err error) {
	l.size, _ = l.e.fileSize(name) // before reading: anything appended meanwhile is listed next time
	if l.s != nil {
		if l.s.Grow() {
			return nil
		}
		l.s.Close()
	}
	if l.s, err = l.e.open(name); err == nil {
		l.r = nil
	}
	return err
}

// list lists the records that are not listed yet.
func (l *logger) list(name string) error {
	if err := l.open(name); err != nil {
		return err
	}
	leaf, err := findLeaf(l.s, cmp.Or(l.o.leaf, "leaf"), l.s.Leaf())
	if err != nil {
		return err
	}
	l.since, l.until, err = l.o.limits(func(text string) (limit, error) { return l.e.newLimit(l.s, text, leaf) })
	if err != nil {
		return err
	}
	if l.o.format == "text" {
		l.short, l.width = l.s.ShortIDs()
	}
	if rules := l.o.by.Decide(l.s, leaf); l.r == nil || l.r.Rules != rules {
		l.r = replay.New(l.s, replay.Options{Rules: rules})
		l.walk = nil
	}
	if l.o.request != noRequest {
		err = l.request(leaf)
	} else {
		err = l.entries(leaf)
	}
	if err != nil {
		return err
	}
	if l.listed == 0 {
		err = l.e.strictly(l.s, l.r.AllFindings(), l.o.strict)
	}
	l.listed = l.s.Len()
	if failed := l.w.Flush(); err == nil {
		err = failed
	}
	return err
}

// await waits until the file grows.
func (l *logger) await(name string) error {
	for {
		time.Sleep(300 * time.Millisecond)
		size, err := l.e.fileSize(name)
		if err != nil || size > l.size {
			return err
		}
		if size < l.size {
			return sessionfmt.Errorf("the file was truncated").In(name)
		}
	}
}

// entries lists the path, or with --all the file. Entries are read and measured on all CPUs before they
// are replayed. If the path extends the last one, the replay continues.
func (l *logger) entries(leaf int) error {
	path, found := l.s.Path(leaf)
	k := len(l.done)
	if l.walk == nil || k > len(path) || !slices.Equal(l.done, path[:k]) {
		l.meter = ledger.New(l.r, ledger.Options{Counter: &tokens.Pi, Sizes: true}).Meter()
		l.walk, k, l.counts, l.stopped = l.r.Start(), 0, weigh.Counts{}, false
		l.r.Findings = append(l.r.Findings, found...)
	}
	l.done = path
	records, rows := path[k:], map[int]entry.Row{}
	if l.o.all {
		for records = nil; k < len(path); k++ {
			row, err := l.next(path, k)
			if err != nil {
				return err
			}
			rows[path[k]] = row
		}
		for rec := l.listed; rec < l.s.Len(); rec++ {
			records = append(records, rec)
		}
	}
	workers := runtime.GOMAXPROCS(0)
	for batch := range parallel.Map(slices.Chunk(records, batchSize), workers, 2*workers, l.reader) {
		for _, one := range batch {
			if one.err != nil {
				return one.err
			}
			row, err := rows[one.rec], error(nil)
			if !l.o.all {
				l.meter.Hear(one.rec, one.told)
				row, err = l.next(path, k)
				k++
			}
			if err == nil && one.shown {
				err = l.write(row, &one.Row)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// A logEntry is an entry as it was read.
type logEntry struct {
	rec int
	outline.Row
	shown bool        // the flags select it
	told  ledger.Told // tokens of its message
	err   error
}

const batchSize = 128

// reader returns a function that reads entries. The function is not safe for concurrent use.
func (l *logger) reader() func(records []int) []logEntry {
	lines, weigher := outline.NewReader(l.s), new(weigh.Weigher).Reset(&tokens.Pi)
	return func(records []int) []logEntry {
		all := make([]logEntry, len(records))
		for i := range all {
			one := &all[i]
			one.rec = records[i]
			if one.shown, one.err = l.read(lines, one); one.shown && l.s.Kind(one.rec).IsTurn() {
				one.told.Tell(weigher, lines.Message())
			}
		}
		return all
	}
}

// read reads an entry, and reports whether the flags select it.
func (l *logger) read(lines *outline.Reader, one *logEntry) (shown bool, err error) {
	if one.rec < l.listed || len(l.o.kind) > 0 && !slices.Contains(l.o.kind, l.s.Kind(one.rec).String()) {
		return false, nil
	}
	line, err := lines.Line(one.rec)
	if err != nil || !l.since.from(one.rec, line) || !l.until.to(one.rec, line) ||
		l.o.pattern != nil && !matches(l.o.pattern, line) {
		return false, err
	}
	one.Row = lines.Row(one.rec, line)
	return true, nil
}

// next replays the entry at an index of the path, and returns its row. After a broken patch it has no size.
func (l *logger) next(path []int, k int) (row entry.Row, err error) {
	if l.stopped {
		return entry.Row{Active: true}, nil
	}
	before := l.counts
	step, err := l.walk.Next(path[k])
	var size weigh.Size
	if err == nil {
		l.counts, size, err = l.meter.Count(step)
	}
	if err != nil {
		l.e.note("%s: the entries after it are listed without their size", err)
		l.stopped = true
		return entry.Row{Active: true}, nil
	}
	return entry.RowOf(l.s, step, before, l.counts, size, path, k)
}

// write writes a row with what was read of its entry.
func (l *logger) write(row entry.Row, own *outline.Row) error {
	row.Schema, row.ID, row.Line, row.Time, row.Kind, row.Text = "ctxtool/log/1", own.ID, own.Line, own.Time,
		own.Kind, own.Text
	if l.o.format == "jsonl" {
		return show.WriteJSON(l.w, &row)
	}
	return show.WriteLogText(l.w, &row, l.short, l.width, l.on)
}

// matches reports whether a string of the entry matches the pattern.
func matches(p *regexp.Regexp, line jsonl.Value) bool {
	for s := range line.Strings {
		if p.MatchString(s.Text()) {
			return true
		}
	}
	return false
}

// request lists what entered the context between two requests: messages in the roles that
// the provider gets, and the entries that they come from.
func (l *logger) request(leaf int) error {
	got := func(point string) (env *replay.Envelope, size weigh.Size, err error) {
		at, err := findLeaf(l.s, point, leaf)
		if err == nil {
			env, err = l.r.At(sessionfmt.After(at))
		}
		if err != nil {
			return nil, size, err
		}
		m, err := entry.MetaOf(env, &tokens.Pi)
		return env, m.Usage.Or(m.Tokens), err
	}
	now, is, err := got(pointOfRequest(l.o.request))
	if err != nil {
		return err
	}
	previous := "root"
	if now.RequestIndex > 0 {
		previous = pointOfRequest(now.RequestIndex - 1)
	}
	before, was, err := got(previous)
	if err != nil {
		return err
	}
	all, err := entry.NewItems(now, before)
	if err != nil {
		return err
	}
	return show.EnteringForms.Of(show.Entering{Items: all, Request: now.RequestIndex, Before: was, After: is}).
		Write(l.w, l.o.format, l.on)
}

func pointOfRequest(n int) string { return fmt.Sprintf("request:%d", n) }

// draw draws the tree of a session.
func (o *logOptions) draw(e *env, args []string) error {
	if o.format == "swe-cli" {
		return usagef("-f swe-cli conflicts with --tree")
	}
	read, leaf, err := o.reading(e, args, o.leaf)
	if err != nil {
		return err
	}
	s := read.Session
	_, found := s.Path(leaf)
	found = append(slices.Clone(s.Findings), found...)
	if err := e.strictly(s, found, o.strict); err != nil {
		return err
	}
	short, _ := s.ShortIDs()
	r := show.Tree{Nodes: outline.Of(s, leaf), Only: o.kind, Fold: o.fold, Coverage: s.Coverage, Reading: s.Reading(),
		Found: found, Short: short}
	if leaf >= 0 {
		id := s.ID(leaf)
		r.Leaf = &id
	}
	if o.format == "jsonl" {
		o.format = "json"
	}
	return e.print(&o.answer, []string{s.Name}, show.TreeForms.Of(r))
}
