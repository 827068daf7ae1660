package stats

import (
	"cmp"
	"ctxtool/internal/lens/check"
	"iter"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/store"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// SummarySchema is the schema of a Summary.
const SummarySchema = "ctxtool/ls/2"

// A Summary is a session in a list, a line of schema ctxtool/ls/2. One that could not be read has an error and
// little else.
type Summary struct {
	Schema string `json:"schema"`
	File   string `json:"file"` // as a command takes it
	Ref    string `json:"-"`    // the beginning of its id by which commands find it; may be empty
	dialect.Reading
	sessionfmt.About
	Model     string `json:"model,omitempty"`     // `provider/id`, that the path was on last
	Entries   int    `json:"entries"`             // of all branches
	Context   int    `json:"context"`             // size of the context at the leaf in tokens ([figures](figures.md))
	Estimated bool   `json:"estimated,omitempty"` // no usage has told all of it
	Window    int64  `json:"window,omitempty"`    // tokens of the model's window; absent where it is not known
	// US dollars ([figures](figures.md)), as `cost.total` of the lens `cost`: answers, summaries, cache
	// warming and calls inside tools, on all branches; with `--since` or `--until`, within the period
	Cost     float64 `json:"cost"`
	Recorded float64 `json:"recorded"` // the part of it that is recorded
	// US dollars of `cost` for calls of sub-agents
	SubAgents float64 `json:"subagents,omitempty"`
	// calls of sub-agents are not in `cost`: `--no-subagents`
	NoSubAgents bool   `json:"noSubagents,omitempty"`
	Unread      int    `json:"unreadSubagents,omitempty"` // sub-agents that could not be read: they are not in `cost`
	Owner       string `json:"subagentOf,omitempty"`      // id of the session whose sub-agent this one is
	// US dollars of `cost` that another listed session has too; sums of `cost` less `copied` count each
	// call once
	Copied   float64 `json:"copied,omitempty"`
	Unpriced int64   `json:"unpriced,omitempty"` // calls without a recorded cost or a price
	Size     int64   `json:"size"`               // bytes
	// of the last message ([figures](figures.md)), else of the header
	Time string `json:"time,omitempty"`
	// `error` or `warning`, the highest severity found while reading; `ctxtool check` lists all findings
	Found string `json:"found,omitempty"`
	Error string `json:"error,omitempty"` // why the session cannot be read
	// instead of a session: a folder or file of an agent whose sessions are not read
	Store *Store `json:"store,omitempty"`

	Calls *Calls `json:"-"` // what tells copies of them, for MarkCopies
}

// A Store is a folder or file in which an agent keeps its sessions.
type Store struct {
	Agent    string `json:"agent"`
	Sessions int    `json:"sessions,omitempty"` // absent where it takes more than names of files to count them
	Hint     string `json:"hint"`               // what can be done
}

// Unreadable returns the line of a store whose format is not supported.
func Unreadable(folder string, of Store) *Summary {
	return &Summary{Schema: SummarySchema, File: folder, Store: &of,
		Error: "sessions of " + of.Agent + ", in a format that is not read"}
}

// gravest returns the highest severity of findings, empty if that is info.
func gravest(found []sessionfmt.Finding) string {
	if worst := check.Gravest(found); worst > check.Info {
		return worst.String()
	}
	return ""
}

// MarkCopies sets the part of each session's cost that belongs to calls of another session.
func MarkCopies(all []*Summary) {
	for _, sum := range all {
		sum.Copied = 0
	}
	for sum, one := range calls(all) {
		if !one.first {
			sum.Copied += one.dollars
		}
	}
}

// Calls are the calls of a session, with what each cost.
type Calls struct{ of *Report }

// Sum returns the number of calls, and their usage.
func (c *Calls) Sum() CostSum { return c.of.Cost.CostSum }

// Spent is the cost of the calls with the same keys, US dollars.
type Spent struct {
	CostKeys
	Cost float64 `json:"cost"`
}

// SpentBy returns the cost of sessions together by the groups of Options.By, each call once, like the rows of
// the lens cost.
func SpentBy(all []*Summary) []Spent {
	at, rows := map[CostKeys]int{}, []Spent{}
	for sum, one := range calls(all) {
		if keys := sum.Calls.of.Cost.Rows[one.row].CostKeys; one.first {
			rowOf(&rows, at, keys, Spent{CostKeys: keys}).Cost += one.dollars
		}
	}
	return rows
}

// A placedCall is a call of a session.
type placedCall struct {
	*call
	first bool // no earlier session has it
}

// calls yields the calls of sessions: first those of sessions that made them, by file name, then copies.
func calls(all []*Summary) iter.Seq2[*Summary, placedCall] {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b *Summary) int { return strings.Compare(a.File, b.File) })
	return func(yield func(*Summary, placedCall) bool) {
		var seen models.CallSet
		for _, copies := range []bool{false, true} {
			for _, sum := range all {
				if sum.Calls == nil {
					continue
				}
				cost := sum.Calls.of.Cost
				cost.addSessions(&seen)
				for i := range cost.calls {
					one := &cost.calls[i]
					if !one.again && one.id.Copy == copies && !yield(sum, placedCall{one, seen.Add(one.id)}) {
						return
					}
				}
			}
		}
	}
}

// Summarize opens a session file and summarizes it; the summary is nil if o.Only does not select the session.
// It reads the file once, while indexing. Besides Only it uses the models table, By and Zone, and from Open
// Stdin, Disk and Through.
func (o Options) Summarize(name string) (*Summary, error) {
	sum := &Summary{Schema: SummarySchema}
	own := Options{
		Lenses: []*Lens{&costLens, {read: sum.look}}, Only: o.Only, By: o.By, Zone: o.Zone,
		Family: o.Family, NoSubAgents: o.NoSubAgents,
		Replay: replay.Options{Models: o.Replay.Models},
		Open: sessionfmt.Options{Stdin: o.Open.Stdin, Disk: o.Open.Disk, Through: o.Open.Through,
			Called: o.Open.Called},
	}
	r, err := own.Read(name)
	if err != nil || !r.Fits() {
		return nil, err
	}
	sum.Calls, sum.Owner = &Calls{r}, r.Owner
	sum.settle()
	return sum, nil
}

// settle sets the cost of the session from its report.
func (sum *Summary) settle() {
	cost := sum.Calls.of.Cost
	sum.NoSubAgents, sum.Unread = cost.NoSubAgents, len(cost.Unread)
	sum.Cost, sum.Recorded, sum.Unpriced = cost.Cost.Total, cost.Cost.Recorded, cost.Calls.Unpriced
	sum.SubAgents = cost.Kinds.SubAgents.Cost.Total
}

// look takes what a summary says of a session.
func (sum *Summary) look(l *lensRun) {
	l.Times = true
	l.Indexed = append(l.Indexed, func() {
		s := l.Session
		sum.Reading = s.Reading()
		sum.Entries, sum.Size, sum.Found = s.Coverage.Entries, s.OwnSize(), gravest(s.Findings)
		sum.lines(l)
		first, err := outline.FirstPrompt(s, s.Leaf())
		sum.First = first
		l.fail(err)
	})
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		u, err := e.Size()
		l.fail(err)
		sum.Context, sum.Estimated = u.Tokens, u.Estimated > 0
		model, window, _, err := e.Model()
		l.fail(err)
		sum.Model, sum.Window = model.Name(), window
	})
}

// lines reads the few lines that a summary needs: the first header that has a time, the last title, and the message
// with the latest time.
func (sum *Summary) lines(l *lensRun) {
	titled, last, newest := -1, -1, int64(0)
	for i := range l.Session.Len() {
		switch kind := l.Session.Kind(i); {
		case kind == jsonl.Header && sum.Time == "":
			outline.ReadHeader(&sum.About, l.line(i))
			sum.Time = sum.Began
		case kind == jsonl.SessionInfo, kind == jsonl.Retitled, kind == jsonl.Slot:
			titled = i
		case kind.IsMessage():
			if ms, ok := l.Session.Time(i); ok && (last < 0 || ms > newest) {
				last, newest = i, ms
			}
		}
	}
	if titled >= 0 {
		key := "title"
		if l.Session.Kind(titled) == jsonl.SessionInfo {
			key = "name"
		}
		sum.Name = outline.FirstWords(l.line(titled).Get(key).Text())
	}
	if last >= 0 {
		stamp, err := l.reader().Timestamp(last)
		l.fail(err)
		sum.Time = cmp.Or(stamp.Text(), sum.Time)
	}
}

// Only selects sessions and calls; the zero value selects all. A session matches if it is of the agent, belongs
// to the project and has an entry within the time, or, if a model is named, a call of it within the time. An
// entry without a time has that of the header. The lens cost only counts matching calls.
type Only struct {
	Since, Until int64  // milliseconds since 1970, both inclusive; 0 for no limit
	Project      string // text in the name of the project's folder
	Model        string // text in a model's name
	Agent        string // name of the agent that wrote the session
}

// time reports whether a time is within the limits; without limits every time is.
func (o *Only) time(ms int64, dated bool) bool {
	if o.Since == 0 && o.Until == 0 {
		return true
	}
	return dated && ms >= o.Since && (o.Until == 0 || ms <= o.Until)
}

// model reports whether the name of a model has the text.
func (o *Only) model(name string) bool { return strings.Contains(name, o.Model) }

// Fits reports whether the session matches Options.Only. The project and agent of a sub-agent are those of its
// session, once Gather has found that.
func (r *Report) Fits() bool { return r.fits && (r.placed || r.Owner != "") }

// fitCall searches for a call that matches.
func (l *lensRun) fitCall(f *callRecord) {
	ms, dated := f.Time.Millis()
	if f.Kind == jsonl.Header && dated {
		l.began = ms
	}
	if l.Report.fits || !f.Paid() || !l.Only.model(f.modelName()) {
		return
	}
	if !dated {
		ms, dated = l.began, l.began > 0
	}
	l.Report.fits = l.Only.time(ms, dated)
}

// fitTimes searches for an entry within the time.
func (l *lensRun) fitTimes() {
	s := l.Session
	began, begins := int64(0), false
	if s.Header() >= 0 {
		began, begins = l.line(s.Header()).Get("timestamp").Millis()
	}
	for i := 0; i < s.Len() && !l.Report.fits; i++ {
		ms, dated := s.Time(i)
		if !dated {
			ms, dated = began, begins
		}
		l.Report.fits = s.Kind(i).IsEntry() && l.Only.time(ms, dated)
	}
}

// MayFit reports whether a file may contain sessions or calls that o selects. It only reads its modification
// time and its header. The entries that a fork copied are older than its header.
func (o *Only) MayFit(disk sessionfmt.Disk, name string) bool {
	if o.Since != 0 {
		if info, err := disk.Stat(name); err == nil && info.Mode().IsRegular() && info.ModTime().UnixMilli() < o.Since {
			return false
		}
	}
	if o.Until == 0 && o.Project == "" && o.Agent == "" {
		return true
	}
	h := store.ReadHeader(disk, name)
	if h == (store.HeaderInfo{}) {
		return true // reading the file will tell
	}
	began, err := time.Parse(time.RFC3339, h.Timestamp)
	if o.Until != 0 && h.Parent == "" && err == nil && began.UnixMilli() > o.Until {
		return false
	}
	return h.Owner != "" || strings.Contains(h.CWD, o.Project) && (o.Agent == "" || o.Agent == h.Agent)
}
