package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"ctxtool/internal/base/abbrev"
	"ctxtool/internal/lens/state"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/store"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/stats"

	"golang.org/x/term"
)

type lsOptions struct {
	answer
	redaction
	filter
	sort        string
	reverse     bool
	noSubAgents bool
	limit       int
	strict      bool
	known       *models.Table
}

// A sortKey is an order that a list may have.
type sortKey struct {
	name    string
	compare func(a, b *stats.Summary) int
}

// sortKeys are the orders of a list, the default first. The newest, largest or most expensive
// session comes first; names are in alphabetical order.
var sortKeys = []sortKey{
	{"time", func(a, b *stats.Summary) int { return strings.Compare(b.Time, a.Time) }},
	{"size", func(a, b *stats.Summary) int { return cmp.Compare(b.Size, a.Size) }},
	{"cost", func(a, b *stats.Summary) int { return cmp.Compare(b.Cost, a.Cost) }},
	{"context", func(a, b *stats.Summary) int { return cmp.Compare(b.Context, a.Context) }},
	{"entries", func(a, b *stats.Summary) int { return cmp.Compare(b.Entries, a.Entries) }},
	{"name", func(a, b *stats.Summary) int { return strings.Compare(a.Name+a.First, b.Name+b.First) }},
	{"project", func(a, b *stats.Summary) int { return strings.Compare(a.CWD, b.CWD) }},
	{"file", func(a, b *stats.Summary) int { return strings.Compare(a.File, b.File) }},
}

func sortNames() []string { return namesOf(sortKeys, func(k sortKey) string { return k.name }) }

func (o *lsOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "jsonl")
	f.choice(&o.sort, "sort", "time", "sort by `KEY`:", "--sort", sortNames())
	f.models(&o.known)
	f.BoolVar(&o.reverse, "reverse", false, "reverse the order")
	o.filter.flags(f, "sessions whose model contains")
	f.noSubAgents(&o.noSubAgents)
	f.Var(countFlag(&o.limit), "limit", "only the first `N`")
	f.BoolVar(&o.strict, "strict", false, "fail on a session that cannot be read")
	o.redaction.flags(f)
}

// check checks the flags, before any file is opened.
func (o *lsOptions) check(e *env) (order sortKey, opt stats.Options, err error) {
	at := slices.IndexFunc(sortKeys, func(k sortKey) bool { return k.name == o.sort })
	opt.Only, err = o.filter.check(e)
	opt.Only.Model = "" // the row's, which is that of the last answer
	opt.Replay.Models = o.known
	opt.Open = e.opening(0) // redacted
	opt.Open.Opened = nil   // rows report what was found
	opt.NoSubAgents = o.noSubAgents
	return sortKeys[at], opt, err
}

func runLs(e *env, o *lsOptions, args []string) error {
	order, opt, err := o.check(e)
	if err != nil {
		return usage(err)
	}
	files, err := e.families(args)
	if err != nil {
		return err
	}
	var rows []*stats.Summary
	for _, r := range inParallel(e, files,
		func(f listedFile, _ func(done, size int64)) *stats.Summary { return o.row(e, f, &opt) }) {
		if r != nil {
			rows = append(rows, r)
		}
	}
	rows = slices.DeleteFunc(opt.GatherSummaries(rows), func(r *stats.Summary) bool {
		return r.Error == "" && !(strings.Contains(r.CWD, o.project) && strings.Contains(r.Model, o.model))
	})
	slices.SortStableFunc(rows, func(a, b *stats.Summary) int {
		c := cmp.Or(order.compare(a, b), strings.Compare(a.File, b.File))
		if o.reverse {
			return -c
		}
		return c
	})
	all := len(rows)
	if o.limit > 0 && all > o.limit {
		rows = rows[:o.limit]
	}
	stats.MarkCopies(rows)
	e.tellApart(rows)
	broken := brokenOf(rows, func(r *stats.Summary) string { return r.Error })
	if err := noneBroken(o.strict, broken, len(rows), "cannot be read"); err != nil {
		return err
	}
	if len(args) == 0 && o.filter == (filter{}) {
		for _, f := range e.store().Unread() {
			f.Folder = e.fileName(f.Folder)
			of := stats.Store{Agent: f.Agent, Sessions: f.Sessions, Hint: f.Hint}
			rows = append(rows, stats.Unreadable(f.Folder, of))
		}
	}
	err = e.print(&o.answer, paths(files), show.SessionsForms.Of(show.Sessions{Rows: rows, Of: all, Only: opt.Only}))
	return cmp.Or(err, noneRead(broken, len(files)))
}

// tellApart adds the beginnings of their ids to sessions outside of stores, and the file names to sessions with
// equal ids.
func (e *env) tellApart(rows []*stats.Summary) {
	ids := namesOf(rows, func(r *stats.Summary) string { return r.ID })
	short, _ := abbrev.Of(ids, store.LeastShort)
	same := map[string]int{}
	for _, id := range ids {
		same[id]++
	}
	for _, r := range rows {
		switch {
		case r.Ref != "", r.ID == "":
		case same[r.ID] > 1:
			r.Ref = e.homeless(r.File)
		default:
			r.Ref = short(r.ID)
		}
	}
}

// row returns a file's row, or nil if the flags do not select it. It does not read a file
// that its header and its modification time rule out.
func (o *lsOptions) row(e *env, f listedFile, opt *stats.Options) *stats.Summary {
	if f.part && o.noSubAgents || !opt.Only.MayFit(e.disk, f.path) {
		return nil
	}
	own := *opt
	if f.named {
		own.Family = e.family
	}
	r, err := own.Summarize(f.path)
	switch {
	case err != nil:
		r = &stats.Summary{Schema: stats.SummarySchema, Error: e.reason(err)}
		if info, err := e.disk.Stat(f.path); err == nil {
			r.Size = info.Size()
		}
	case r == nil:
		return nil
	}
	r.File = e.fileName(f.given)
	r.Ref = e.fileName(e.store().Short(f.path))
	return r
}

// reason returns the text of an error without its file, which the row names.
func (e *env) reason(err error) string {
	if at, ok := errors.AsType[*sessionfmt.Error](err); ok {
		err = at.Err
	}
	if path, ok := err.(*fs.PathError); ok {
		err = path.Err
	}
	return e.redacted(err.Error())
}

type statusOptions struct {
	answer
	redaction
	cost        bool
	noSubAgents bool
	known       *models.Table
}

func (o *statusOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "json")
	o.redaction.flags(f)
	f.models(&o.known)
	f.BoolVar(&o.cost, "cost", false, "read any file whole for the cost of the session")
	f.noSubAgents(&o.noSubAgents)
}

// A statusLine is what Claude Code passes to a status line command.
type statusLine struct {
	Transcript string `json:"transcript_path"`
	Model      struct {
		ID   string `json:"id"`
		Name string `json:"display_name"`
	} `json:"model"`
	Cost struct {
		Total *float64 `json:"total_cost_usd"`
	} `json:"cost"`
	Window struct {
		Size int64 `json:"context_window_size"`
	} `json:"context_window"`
}

// mostSummed is the size of a file up to which a status reads all of it without being asked, bytes: this takes
// about 10 ms.
const mostSummed = 2 << 20

// larger reports whether files together exceed a number of bytes, or one cannot be examined.
func (e *env) larger(bytes int64, names ...string) bool {
	for _, name := range names {
		info, err := e.disk.Stat(name)
		if err != nil {
			return true
		}
		bytes -= info.Size()
	}
	return bytes < 0
}

// mostStatusLine limits a statusLine, bytes.
const mostStatusLine = 1 << 20

func runStatus(e *env, o *statusOptions, args []string) error {
	opt := stats.Options{Open: e.opening(0), NoSubAgents: o.noSubAgents}
	opt.Replay.Models, opt.Open.Opened = o.known, nil
	var given statusLine
	if len(args) == 0 && !term.IsTerminal(int(e.stdin.Fd())) {
		data, err := io.ReadAll(io.LimitReader(e.stdin, mostStatusLine))
		if len(bytes.TrimSpace(data)) > 0 && err == nil {
			err = json.Unmarshal(data, &given)
			args = []string{given.Transcript}
		}
		if err != nil || len(args) > 0 && args[0] == "" {
			return usagef("standard input is not the JSON of a status line command: transcript_path is required")
		}
	}
	name, _, err := e.session(args)
	if err != nil {
		return err
	}
	st := &state.Status{Schema: state.Schema}
	if given.Transcript == "" || e.disk.Has(name) { // a new session has no file yet
		if st, err = o.status(e, &opt, name); err != nil {
			return err
		}
	}
	st.Model, st.Window = cmp.Or(given.Model.Name, given.Model.ID, st.Model), cmp.Or(given.Window.Size, st.Window)
	if given.Cost.Total != nil {
		st.Cost, st.Recorded, st.NoSubAgents, st.Unread = given.Cost.Total, nil, false, 0
	}
	return e.print(&o.answer, []string{name}, show.StatusForms.Of(st))
}

func (o *statusOptions) status(e *env, opt *stats.Options, name string) (*state.Status, error) {
	st, err := state.Of(name, e.now(), opt.Replay.Models, opt.Open)
	if err != nil {
		return nil, err
	}
	files := []string{name}
	if !o.noSubAgents {
		files = append(files, e.family(name)...)
	}
	if !o.cost && e.larger(mostSummed, files...) {
		return st, nil
	}
	opt.Family = func(string) []string { return files[1:] }
	sum, err := opt.Summarize(name)
	switch {
	case err == nil:
		if st.Model != "" || o.cost {
			st.Cost, st.Recorded = &sum.Cost, &sum.Recorded
			st.NoSubAgents, st.Unread = sum.NoSubAgents, sum.Unread
		}
		st.Model, st.Context, st.Estimated, st.Window = sum.Model, int64(sum.Context), sum.Estimated, sum.Window
	case !o.cost: // the tail has an answer, but the whole file none, such as a fork without its base
		err = nil
	}
	return st, err
}
