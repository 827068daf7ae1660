// Package stats counts: what a session holds, what it cost, how full its context is.
//
// Summarize reads what a listing shows of a session. For more, Options name Lenses:
// Options.Read returns the Report of a session with a part for each lens, Options.Add
// adds up several, Options.Sheets returns them as tables. The file is read once, and the
// path walked once, for all lenses.
//
// The rows of a report are JSON, and in docs/formats.md. Package gate holds its numbers
// to limits.
package stats

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Lens is one way to look at sessions. What it sees of one is a part of that
// session's report; parts of several add up to one.
type Lens struct {
	Name    string
	About   string // one line for help
	Default bool   // used where none is asked for

	look   func(l *lensRun)        // gets ready to look at a session
	add    func(sum, one *Report)  // adds the part of one session to that of several
	finish func(r *Report)         // readies the part for showing; may be nil
	sheets func(r *Report) []Sheet // the part as tables
}

// Lenses are all lenses, in the order in which they are shown.
var Lenses = []*Lens{
	&sessionLens, &contextLens, &growthLens, &costLens, &compactionsLens, &bytesLens, &cacheLens, &checkLens, &calibrationLens,
}

// Options say how to look at sessions. The zero value has no lenses.
type Options struct {
	Lenses  []*Lens
	Counter *tokens.Counter // chars4 when nil
	Asked   bool            // Counter is what somebody wants also where a system of Like has its own
	// Recorded takes the providers' usage where there is one for the size of a context,
	// and the counter for the rest, as pi does.
	Recorded bool
	Like     *like          // another system that the context is counted like; may be nil
	Replay   replay.Options // rules, window, model, baseline, models table; the leaf is the session's
	At       string         // the point whose context is looked at; the leaf when empty

	// MaxIterations is from how many requests on a prompt's next one is too many, as
	// gsh's max_iterations has it; gsh's own 25 when 0.
	MaxIterations int
	// CompactThreshold is above which share of the window gsh compacts; its own default
	// when nil.
	CompactThreshold *float64
	By               []string // what the rows of the lens cost are by: CostGroups; model when empty
	Only             Only     // which sessions and calls

	// Entries are those whose lines a report has to say; may be nil.
	Entries func(r *Report) []string
	// Check counts what is wrong with a session file; the lens check needs it.
	Check func(name string) (*CheckPart, error)

	// Open is how the session file is opened; Visit is not heeded.
	Open sessionfmt.Options
}

// A Report is what the lenses saw of a session, schema ctxtool/stats.session/2, or
// of several together.
type Report struct {
	Schema   string               `json:"schema"`
	File     string               `json:"file,omitempty"`
	ID       string               `json:"session,omitempty"`
	Error    string               `json:"error,omitempty"`   // why it could not be read: then there is nothing else
	Stopped  string               `json:"stopped,omitempty"` // why its replay stopped: the lenses saw what came before
	Files    []reportFile         `json:"files,omitempty"`   // of several, or of a sum
	Version  int                  `json:"version,omitempty"` // of the format
	Rules    replay.Rules         `json:"rules,omitempty"`
	Coverage *sessionfmt.Coverage `json:"coverage,omitempty"`
	Findings []sessionfmt.Finding `json:"findings,omitempty"` // of one session
	Gate     any                  `json:"gate,omitempty"`     // of a sum: the gate.Report on it
	parts    `json:"lenses"`

	Path    string         `json:"-"` // of the file from the current folder
	Lines   map[string]int `json:"-"` // from 1, of the entries that were asked for
	project string         // the folder that the session belongs to
	fits    bool           // see Fits
}

// The schemas of a report: of several sessions together, and of one.
const (
	Schema        = "ctxtool/stats/2"
	SessionSchema = "ctxtool/stats.session/2"
)

// A reportFile is a session file that a report is about.
type reportFile struct {
	File    string `json:"file"`
	ID      string `json:"session,omitempty"`
	Error   string `json:"error,omitempty"`
	Stopped string `json:"stopped,omitempty"`
}

// parts are the lenses' parts of a report; those that were not asked for are nil.
type parts struct {
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

// A lensRun is a session while the lenses look at it. A lens hangs on to what it wants
// to see, so that the file is read once and the path walked once for all of them.
type lensRun struct {
	*Options
	Report  *Report
	Session *sessionfmt.Session // once it has been read
	Replay  *replay.Replay
	Point   int // the last record of the context that is looked at, -1 for none

	lines *sessionfmt.Reader

	// Records are called with every record in the order of the file, while it is
	// read: where its line begins, in bytes, and the line, which is valid during the
	// call.
	Records []func(off int64, kind jsonl.Kind, line jsonl.Value)
	// Calls are called with what every record says of a call of a model, likewise, but
	// for no more than it took to validate the line.
	Calls []func(f *callRecord)
	// Indexed are called once the file has been read, before the path is walked.
	Indexed []func() error
	// Steps are called with every step of the path to the point.
	Steps []func(a *replay.Account) error
	// Answers are called with every answer of the path, and what it says.
	Answers []func(a *replay.Account, m *jsonl.Message, u *jsonl.Usage) error
	// Messages are called with every message of the request at the point, in order,
	// those that were logged for this request alone included.
	Messages []func(m *replay.Weighed)
	// Ends are called when all has been seen, with the context at the point.
	Ends []func(e *replay.Envelope) error

	checked bool       // the lens check looks
	fields  callRecord // of the record that is being read
}

// Read looks at a session file. What cannot be read at all is an error; a replay
// that stops is not: see Report.Stopped.
func (o *Options) Read(name string) (*Report, error) {
	l := &lensRun{Options: o, Report: &Report{Schema: SessionSchema}, Point: -1}
	l.Counter = cmp.Or(o.Counter, &tokens.Pi)
	for _, lens := range o.Lenses {
		lens.look(l)
	}
	if l.Report.fits = o.Only == (Only{Project: o.Only.Project}); !l.Report.fits {
		l.Calls = append(l.Calls, l.fit)
	}
	open := o.Open
	if len(l.Records)+len(l.Calls) > 0 {
		open.Workers = 1 // sums of dollars depend on the order
		open.Visit = func() func(*jsonl.Picked) { return l.record }
	}
	if len(l.Calls) > 0 {
		open.Pick = callPick
	}
	s, err := sessionfmt.Open(name, open)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	l.Session = s
	l.Report.Coverage, l.Report.Version = &s.Coverage, s.Version
	if s.Header() >= 0 {
		line, err := l.line(s.Header())
		if err != nil {
			return nil, err
		}
		l.Report.ID, l.Report.project = line.Get("id").Text(), line.Get("cwd").Text()
	}
	l.Report.fits = l.Report.fits && strings.Contains(l.Report.project, o.Only.Project)
	opt := o.Replay
	opt.Leaf = s.Leaf()
	l.Replay = replay.New(s, opt)
	for _, see := range l.Indexed {
		if err := see(); err != nil {
			return nil, err
		}
	}
	// What has read the lines may hold a long one.
	l.Records, l.Calls, l.Indexed, l.fields = nil, nil, nil, callRecord{}
	err = cmp.Or(l.walk(), l.check(name))
	if l.Entries != nil {
		l.Report.Lines = map[string]int{}
		for _, entry := range l.Entries(l.Report) {
			if k := s.Find(entry); k >= 0 {
				l.Report.Lines[entry] = s.Line(k)
			}
		}
	}
	l.Report.Rules, l.Report.Findings = l.Replay.Rules, l.Replay.AllFindings()
	return l.Report, err
}

// line is the line of a record, valid until the next one is asked for.
func (l *lensRun) line(rec int) (jsonl.Value, error) {
	if l.lines == nil {
		l.lines = l.Session.NewReader()
	}
	return l.lines.Line(rec)
}

func (l *lensRun) record(p *jsonl.Picked) {
	for _, see := range l.Records {
		see(p.Off, p.Kind, p.Line)
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

// walk replays the path, where a lens wants to see it.
func (l *lensRun) walk() (err error) {
	if len(l.Steps)+len(l.Answers)+len(l.Messages)+len(l.Ends) == 0 {
		return nil
	}
	at, err := l.Session.Point(cmp.Or(l.At, "leaf"), l.Session.Leaf())
	if err != nil {
		return err
	}
	l.Point = l.Session.LeafAt(at)
	e, stopped, err := l.steps()
	if err != nil {
		return err
	}
	if stopped != nil {
		l.Report.Stopped = inFile(stopped)
	}
	if err := l.messages(e); err != nil {
		return err
	}
	for _, end := range l.Ends {
		if err := end(e); err != nil {
			return err
		}
	}
	return nil
}

// inFile is an error without the name of the file, which its report has.
func inFile(err error) string {
	var at *sessionfmt.Error
	if !errors.As(err, &at) {
		return err.Error()
	}
	return fmt.Sprintf("line %d%s: %s", at.Pos.Line, sessionfmt.Pos{Entry: at.Pos.Entry}, at.Err)
}

// messages shows the messages of the request at the point to the lenses.
func (l *lensRun) messages(e *replay.Envelope) error {
	if len(l.Messages) == 0 {
		return nil
	}
	whole, err := e.WithEphemeral()
	if err != nil {
		return err
	}
	own := e.Cached() + e.Uncached()
	for m, err := range whole.Weighed(l.Counter) {
		if err != nil {
			return err
		}
		m.Once = own == 0
		own = max(0, own-1)
		for _, see := range l.Messages {
			see(m)
		}
	}
	return nil
}

// steps shows the path to the lenses, and returns the context at its end; where a
// broken patch stops it, that before the patch and the patch's error.
func (l *lensRun) steps() (e *replay.Envelope, stopped, err error) {
	if len(l.Steps)+len(l.Answers) == 0 {
		return l.Replay.Reach(sessionfmt.After(l.Point))
	}
	for a, err := range l.Replay.Accounts(l.Point, l.Counter) {
		switch {
		case replay.Stopped(err):
			return l.Replay.Reach(sessionfmt.After(l.Point))
		case err != nil:
			return nil, nil, err
		}
		if err := l.step(&a); err != nil {
			return nil, nil, err
		}
		if a.Record == l.Point {
			e = a.Envelope()
		}
	}
	if e == nil { // no entry is on the path
		e, err = l.Replay.At(sessionfmt.After(-1))
	}
	return e, nil, err
}

// step shows a step of the path to the lenses.
func (l *lensRun) step(a *replay.Account) error {
	for _, see := range l.Steps {
		if err := see(a); err != nil {
			return err
		}
	}
	if len(l.Answers) == 0 || !l.Session.Answers(a.Record) {
		return nil
	}
	line, err := l.line(a.Record)
	if err != nil {
		return err
	}
	m := line.Get("message").Message()
	usage := m.Usage.Usage()
	for _, see := range l.Answers {
		if err := see(a, m, &usage); err != nil {
			return err
		}
	}
	return nil
}

// Add adds the report of one more session to that of several. Sessions are added in
// the order of their files, which decides whose copy of a call counts.
func (o *Options) Add(sum, one *Report) {
	sum.Files = append(sum.Files, reportFile{one.File, one.ID, one.Error, one.Stopped})
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

// Finish readies a report for showing, once all that belongs to it has been added.
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

// Sheets are the tables of the lenses.
func (o *Options) Sheets(r *Report) (all []Sheet) {
	for _, lens := range o.Lenses {
		for _, sheet := range lens.sheets(r) {
			sheet.Lens = lens.Name
			all = append(all, sheet)
		}
	}
	return all
}

// recordedCounter is the name of the counter that believes providers: see Options.Recorded.
const recordedCounter = "recorded"

// CounterNames are the names that SetCounter takes, the default first.
func CounterNames() []string { return append(tokens.Names(), recordedCounter) }

// SetCounter sets the counter of that name.
func (o *Options) SetCounter(name string) (err error) {
	if o.Recorded = name == recordedCounter; o.Recorded {
		o.Counter = &tokens.Pi
		return nil
	}
	if o.Counter, err = tokens.Find(name); err != nil {
		return fmt.Errorf("unknown counter %q: one of %s", name, strings.Join(CounterNames(), ", "))
	}
	return nil
}
