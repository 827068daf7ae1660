// Package stats computes numbers of sessions: content, cost, and use of the context window.
//
// Options.Summarize returns the summary that a listing shows. For more, Options name Lenses:
// Options.Read returns the Report of a session with a part for each lens, Options.Add adds up
// several, Options.Sheets returns them as tables. All lenses share one reading of the file and
// one walk of the path.
//
// The rows of a report are JSON, and described in docs/formats.md. Package gate compares its
// numbers with limits.
package stats

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// A Lens is one kind of statistics. It adds a part to the report of a session; the parts of
// several sessions add up to one.
type Lens struct {
	Name    string
	About   string // one line for help
	Default bool   // used if none is requested

	read   func(l *lensRun)              // registers what the lens reads of a session
	add    func(sum, one *Report)        // adds the part of one session to a sum
	finish func(r *Report)               // completes the part for display; may be nil
	sheets func(r *Report) []table.Sheet // the part as tables
}

// Lenses are all lenses, in the order in which they are shown.
var Lenses = []*Lens{
	&sessionLens, &contextLens, &growthLens, &costLens, &compactionsLens, &bytesLens, &cacheLens, &checkLens,
	&calibrationLens,
}

// Options configure statistics. The zero value has no lenses.
type Options struct {
	Lenses  []*Lens
	Counter *tokens.Counter // tokens.Pi if nil
	Asked   bool            // Counter was requested explicitly, and overrides that of Targets
	Targets bool            // measure the targets of SWE-CLI with the lens context
	Replay  replay.Options  // rules, window, model, baseline, table of models; the leaf is the session's
	At      string          // the point for the context; the leaf if empty

	// MaxIterations is the maximum number of requests of a prompt, like gsh's max_iterations;
	// 25 as in gsh if 0.
	MaxIterations int
	By            []string       // groups of the lens cost, of CostGroups; model if empty
	Zone          *time.Location // of its days, weeks and months; nil for UTC
	Only          Only           // which sessions and calls

	// Family returns the files of a session's sub-agents, whose calls the lens cost adds to its own; nil to read
	// the session alone. See Gather for sessions that are read together.
	Family func(name string) []string
	// NoSubAgents leaves calls of sub-agents out of the lens cost, also those that the session's own file has.
	NoSubAgents bool

	// Entries returns ids of entries whose lines the report must contain; may be nil.
	Entries func(r *Report) []string
	Now     time.Time // time for the lens check: a line that broke off a moment ago is still being written
	// Check replaces the lens check: it returns the options with which to open the named session, and a
	// function that then examines it. The report lacks the part of the lens. May be nil.
	Check func(name string, open sessionfmt.Options) (sessionfmt.Options, func(*sessionfmt.Session))

	// End is called while the session is open, with the ledger of all branches and the context at the
	// point. The report then lacks the lens check. May be nil.
	End func(r *Report, l *ledger.Ledger, e *replay.Envelope) error
	// Step is called for each step of the path to the point, and set with End.
	Step func(r *replay.Replay, s replay.Step)

	// Open configures how the session file is opened; Visit is ignored.
	Open sessionfmt.Options
}

// A Report is the result for a session, schema ctxtool/stats.session/3, or for several
// together.
type Report struct {
	Schema string `json:"schema"`
	File   string `json:"file,omitempty"`
	ID     string `json:"session,omitempty"`
	Owner  string `json:"subagentOf,omitempty"` // id of the session whose sub-agent this one is
	dialect.Reading
	Error    string               `json:"error,omitempty"`   // why it could not be read; no other keys follow
	Stopped  string               `json:"stopped,omitempty"` // why its replay stopped: the lenses saw what came before
	Files    []ReportFile         `json:"files,omitempty"`   // of several, or of a sum
	Version  int                  `json:"version,omitempty"` // of the format
	Rules    replay.Rules         `json:"rules,omitempty"`
	Coverage *sessionfmt.Coverage `json:"coverage,omitempty"`
	Findings []sessionfmt.Finding `json:"findings,omitempty"` // of one session
	Gate     any                  `json:"gate,omitempty"`     // of a sum: the gate.Report on it
	Parts    `json:"lenses"`

	Path    string         `json:"-"` // of the file from the current folder
	Lines   map[string]int `json:"-"` // from 1, of the entries that were asked for
	Project string         `json:"-"` // the header's folder
	fits    bool           // it matches the selection; see Fits
	placed  bool           // its project and agent do
}

// The schemas of a report: of several sessions together, and of one.
const (
	Schema        = "ctxtool/stats/3"
	SessionSchema = "ctxtool/stats.session/3"
)

// A ReportFile is a session file of a report.
type ReportFile struct {
	File  string `json:"file"`
	ID    string `json:"session,omitempty"`
	Owner string `json:"subagentOf,omitempty"` // id of the session whose sub-agent this one is
	dialect.Reading
	Error   string `json:"error,omitempty"`
	Stopped string `json:"stopped,omitempty"`
}

// Parts are the parts of a report by lens; nil for lenses not requested.
type Parts struct {
	Session     *SessionPart     `json:"session,omitempty"`
	Context     *ContextPart     `json:"context,omitempty"`
	Growth      *GrowthPart      `json:"growth,omitempty"`
	Cost        *CostPart        `json:"cost,omitempty"`
	Compactions *CompactionsPart `json:"compactions,omitempty"`
	Bytes       *BytesPart       `json:"bytes,omitempty"`
	Cache       *CachePart       `json:"cache,omitempty"`
	Check       *CheckPart       `json:"check,omitempty"`
	Calibration *CalibrationPart `json:"calibration,omitempty"`
}

// A lensRun reads one session. Lenses register callbacks, so that the file is read once and the path walked
// once for all of them.
type lensRun struct {
	*Options
	Report  *Report
	Session *sessionfmt.Session // set after the file has been read
	Replay  *replay.Replay
	Origins sessionfmt.Origins
	Point   int // the last record of the context, -1 for none

	lines *sessionfmt.Reader
	err   error // first error, which ends the reading
	began int64 // time of the header so far, in milliseconds; 0 for none

	// Records are called for every record in file order while the file is read. Its line is valid
	// during the call.
	Records []func(p *jsonl.Picked)
	// Calls are called for every record with its data about a model call, as far as validating
	// the line yields it.
	Calls []func(f *callRecord)
	// Indexed are called after the file has been read, before the walk.
	Indexed []func()
	// Times keeps the times of records, for Session.Time.
	Times bool
	// Each of these makes the walk record Path. Sizes also counts its contexts, Requests reads its requests
	// into Book, and Hashes those of all branches, with hashes of their messages.
	Requests, Sizes, Hashes bool
	Book                    *ledger.Ledger
	Path                    []pathEntry
	// Steps are called for every step of the path to the point.
	Steps []func(s replay.Step)
	// Messages are called for every message of the request at the point, in order, including
	// those logged for this request only.
	Messages []func(m *weighed)
	// Ends are called with the context at the point, Last after everything else.
	Ends []func(e *replay.Envelope)
	Last []func()

	each    *Facts        // collects what lenses add up; nil unless requested
	checked bool          // the lens check is used
	fields  callRecord    // of the record that is being read
	answer  jsonl.Message // the last entry read
}

// Read computes the report of a session file. A file that cannot be read is an error. A replay
// that stops is not; see Report.Stopped.
func (o *Options) Read(name string) (*Report, error) {
	l := &lensRun{Options: o, Report: &Report{Schema: SessionSchema}, Point: -1}
	l.Counter = cmp.Or(o.Counter, &tokens.Pi)
	for _, lens := range o.Lenses {
		lens.read(l)
	}
	open := o.Open
	var damage func(*sessionfmt.Session)
	if l.checked {
		open, damage = l.damage(name)
	}
	open.Times = open.Times || l.Times
	switch l.Report.fits = o.Only == (Only{Project: o.Only.Project, Agent: o.Only.Agent}); {
	case l.Report.fits:
	case o.Only.Model != "":
		l.Calls = append(l.Calls, l.fitCall)
	default:
		open.Times, l.Indexed = true, append(l.Indexed, l.fitTimes)
	}
	if o.End != nil {
		l.Requests, l.Hashes = true, true
		l.Steps = append(l.Steps, func(s replay.Step) { o.Step(l.Replay, s) })
	}
	if len(l.Records)+len(l.Calls) > 0 {
		open.Ordered = true // sums of dollars depend on the order
		open.Usages = open.Visit == nil && len(l.Records) == 0
		open.Visit = l.visitor(open.Visit)
	}
	if len(l.Calls) > 0 {
		open.Pick, open.Origins = callPick, true
	}
	s, err := sessionfmt.Open(name, open)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l.Session = s
	coverage := s.Coverage // a copy, since the report outlives the session and its index
	l.Report.Coverage, l.Report.Version, l.Report.Reading = &coverage, s.Version, s.Reading()
	l.Report.Owner = s.Owner()
	if s.Header() >= 0 {
		line := l.line(s.Header())
		l.Report.ID, l.Report.Project = line.Get("id").Text(), line.Get("cwd").Text()
		l.Origins = s.Origins(line)
	}
	l.Report.placed = strings.Contains(l.Report.Project, o.Only.Project) &&
		(o.Only.Agent == "" || o.Only.Agent == s.Agent())
	opt := o.Replay
	opt.Leaf = s.Leaf()
	l.Replay = replay.New(s, opt)
	for _, see := range l.Indexed {
		see()
	}
	if l.err != nil {
		return nil, l.err
	}
	// The readers of lines may hold a long line.
	l.Records, l.Calls, l.Indexed, l.fields = nil, nil, nil, callRecord{}
	l.walk()
	if l.checked {
		damage(s)
	}
	if l.Entries != nil {
		l.Report.Lines = map[string]int{}
		for _, entry := range l.Entries(l.Report) {
			if k := s.Find(entry); k >= 0 {
				l.Report.Lines[entry] = s.Line(k)
			}
		}
	}
	l.Report.Rules, l.Report.Findings = l.Replay.Rules, l.Replay.AllFindings()
	for _, last := range l.Last {
		if l.err == nil {
			last()
		}
	}
	if l.err == nil && l.Report.Cost != nil {
		o.readFamily(name, l.Report)
		l.Report.Cost.once = models.CallSet{} // no longer needed
	}
	return l.Report, l.err
}

// fail ends the reading with an error, unless it is nil.
func (l *lensRun) fail(err error) { l.err = cmp.Or(l.err, err) }

// line returns the line of a record, valid until the next call; nil after an error.
func (l *lensRun) line(rec int) jsonl.Value {
	line, err := l.reader().Line(rec)
	l.fail(err)
	return line
}

func (l *lensRun) reader() *sessionfmt.Reader {
	if l.lines == nil {
		l.lines = l.Session.NewReader()
	}
	return l.lines
}

// visitor returns the function with which a worker reads records, also for the check.
func (l *lensRun) visitor(check func() func(*jsonl.Picked)) func() func(*jsonl.Picked) {
	return func() func(*jsonl.Picked) {
		if check == nil {
			return l.record
		}
		see := check()
		return func(p *jsonl.Picked) {
			l.record(p)
			see(p)
		}
	}
}

func (l *lensRun) record(p *jsonl.Picked) {
	for _, see := range l.Records {
		see(p)
	}
	if len(l.Calls) > 0 {
		l.call(p)
	}
}

func (l *lensRun) call(p *jsonl.Picked) {
	l.fields = callFields(p)
	for _, see := range l.Calls {
		see(&l.fields)
	}
}

// Add adds the report of one more session to that of several. Sessions are added in
// the order of their files, which decides whose copy of a call counts.
func (o *Options) Add(sum, one *Report) {
	sum.Files = append(sum.Files, ReportFile{one.File, one.ID, one.Owner, one.Reading, one.Error, one.Stopped})
	if one.Error != "" {
		return
	}
	sum.Coverage = sum.Coverage.Plus(one.Coverage)
	if sum.Version, sum.Rules, sum.Findings = 0, 0, nil; len(sum.Files) == 1 {
		sum.Version, sum.Rules, sum.Findings = one.Version, one.Rules, one.Findings
	}
	for _, lens := range o.Lenses {
		lens.add(sum, one)
	}
}

// Finish prepares a report for display, after everything has been added.
func (o *Options) Finish(r *Report) {
	if r.Coverage == nil {
		return // no session has been read
	}
	for _, lens := range o.Lenses {
		if lens.finish != nil {
			lens.finish(r)
		}
	}
}

// Sheets returns the tables of the lenses.
func (o *Options) Sheets(r *Report) (all []table.Sheet) {
	for _, lens := range o.Lenses {
		for _, sheet := range lens.sheets(r) {
			sheet.Lens = lens.Name
			all = append(all, sheet)
		}
	}
	return all
}

// SetCounter sets the counter of that name.
func (o *Options) SetCounter(name string) (err error) {
	if o.Counter, err = tokens.Find(name); err != nil {
		return fmt.Errorf("unknown counter %q: must be one of %s", name, strings.Join(tokens.Names(), ", "))
	}
	return nil
}
