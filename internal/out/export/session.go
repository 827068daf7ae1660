package export

import (
	"cmp"
	"path/filepath"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/read/store"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// A maker makes the rows of a session from its facts.
type maker struct {
	*stats.Facts
	account *cache.Report // of all branches
	out     Rows
	key     string
	o       *Options
	emit    func(r *Rows) error // takes rows as soon as there are many; nil to keep them all
	many    int                 // rows of out
	err     error               // the first

	contents map[string]bool // hashes of the texts so far; nil if they are not wanted
	load     *replay.Reader
	rows     []int32 // by request of the ledger, its number in the table; -1 for none
	onPath   []bool  // by record
	requests []carried
	messages []life           // by number of the message
	own      map[int32]int32  // the numbers of the messages of entries, by record
	made     []ledger.Message // messages that entries made, in the order in which requests had them
}

// rowsOf makes the rows of a session, and returns those that emit has not got.
func rowsOf(f *stats.Facts, o *Options, key string, emit func(r *Rows) error) (*Rows, error) {
	m := &maker{
		Facts: f, key: key, o: o, emit: emit, load: f.Replay.NewReader(),
		own: map[int32]int32{}, onPath: make([]bool, f.Session.Len()),
	}
	if o.Contents {
		m.contents = map[string]bool{}
	}
	path, _ := f.Session.Path(f.Session.Leaf())
	for _, rec := range path {
		m.onPath[rec] = true
	}
	m.out.bases = f.Session.Bases()
	began := cmp.Or(f.About.Began, f.Report.Session.Time.First)
	m.out.Agent, m.out.Date = partitionOf(store.HeaderInfo{Agent: f.Report.Agent, Timestamp: began})
	if m.account, m.err = accountOf(f); m.err != nil {
		return nil, m.err
	}
	m.number()
	m.carry()
	m.requestRows()
	m.messageRows()
	m.toolRows()
	m.compactionRows()
	m.findingRows()
	m.sessionRow()
	if m.err == nil {
		m.err = m.account.Err()
	}
	return &m.out, m.err
}

// accountOf returns the use of the cache in all branches.
func accountOf(f *stats.Facts) (*cache.Report, error) {
	return cache.Account(f.Book, cache.Options{Leaf: f.Point, All: true, Copied: f.Copied})
}

// text returns a text as it is written.
func (m *maker) text(text string) string {
	text = m.o.redacted(text)
	if m.o.Search != nil && m.err == nil {
		m.err = m.o.Search([]byte(text))
	}
	return text
}

// rowsKept is how many rows of a large session are in memory.
const rowsKept = 1024

// added counts a row, and passes rows on if there are many.
func (m *maker) added() {
	if m.many++; m.emit == nil || m.many < rowsKept || m.err != nil {
		return
	}
	m.err, m.many = m.emit(&m.out), 0
	out := &m.out
	clear(out.Contents) // whose texts may be long
	out.Requests, out.Messages, out.ToolCalls = out.Requests[:0], out.Messages[:0], out.ToolCalls[:0]
	out.Compactions, out.Findings, out.Contents = out.Compactions[:0], out.Findings[:0], out.Contents[:0]
}

// some returns a value that is not null.
func some[T any](v T) *T { return &v }

// unless0 returns a value, null if it is zero.
func unless0[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// from0 returns a number from 0, null if there is none.
func from0[N int | int32](n N) *int64 {
	if n < 0 {
		return nil
	}
	return some(int64(n))
}

// at returns the time of a record.
func (m *maker) at(rec int) *int64 {
	if ms, ok := m.Session.Time(rec); ok && rec >= 0 {
		return &ms
	}
	return nil
}

// since returns the milliseconds from one record to another, null where they are not in order.
func (m *maker) since(from, to int) *int64 {
	if from < 0 || to < 0 {
		return nil
	}
	was, is := m.at(from), m.at(to)
	if was == nil || is == nil || *is < *was {
		return nil
	}
	return some(*is - *was)
}

// id returns the id of a record, null for none.
func (m *maker) id(rec int) *string {
	if rec < 0 {
		return nil
	}
	return unless0(m.Session.ID(rec))
}

// sessionRow makes the row of the session from its other rows and the lenses' sums.
func (m *maker) sessionRow() {
	s, r := m.Session, m.Report
	cost, total := &m.Own, m.account.Total
	one := Session{
		Session: m.key, SessionID: r.ID, Path: m.text(filepath.ToSlash(s.Name)), AgentVersion: unless0(s.WrittenBy()),
		Fidelity: "exact", Project: m.text(m.About.CWD), Title: m.text(m.About.Title()), Bytes: s.OwnSize(),
		Entries: int64(s.Coverage.Entries), Messages: int64(r.Session.Messages), Prompts: int64(r.Session.Turns),
		Requests: int64(r.Session.Requests),
		Calls:    int64(len(m.Calls)), Copies: int64(len(m.Calls)) - cost.Calls.Total, ToolCalls: int64(r.Session.Calls.Calls),
		ToolErrors: int64(r.Session.Calls.Error),
		Branches:   int64(r.Session.Branches), Compactions: int64(r.Session.Compactions),
		Model: unless0(m.About.Model), ContextTokens: some(int64(m.About.Context)),
		WindowTokens: unless0(m.About.Window),
		InputTokens:  cost.Tokens.Input, CacheReadTokens: cost.Tokens.CacheRead,
		CacheWriteTokens: cost.Tokens.CacheWrite,
		OutputTokens:     cost.Tokens.Output,
		CostUSD:          cost.Cost.Total, UnpricedCalls: cost.Calls.Unpriced,
		PromptTokens: total.Prompt, CouldReadTokens: total.Expected.Read, RebilledTokens: total.Rebilled.Tokens,
		RebilledUSD: total.Rebilled.Cost,
		HitRate:     total.HitRate.Achieved, Errors: int64(r.Check.Errors), Warnings: int64(r.Check.Warnings),
		Damaged: r.Check.Errors > 0 || r.Stopped != "", Error: unless0(m.text(r.Stopped)),
	}
	if r.Certainty != nil {
		one.Fidelity = r.Certainty.Messages
	}
	if s.Header() >= 0 {
		if line, err := s.HeaderLine(); err == nil {
			one.Parent = unless0(m.text(line.Get("parentSession").Text()))
		}
	}
	one.StartedAt = millis(cmp.Or(r.Session.Time.First, m.About.Began))
	one.EndedAt = millis(cmp.Or(r.Session.Time.Last, m.About.Began))
	m.out.Sessions = []Session{one}
}

// millis returns a time in milliseconds, null if it is invalid.
func millis(stamp string) *int64 {
	if ms, ok := jsonl.Value(jsonl.AppendQuoted(nil, stamp)).Millis(); ok {
		return &ms
	}
	return nil
}

// compactionRows makes the rows of the compactions of all branches.
func (m *maker) compactionRows() {
	costs := map[int]float64{}
	for i := range m.Calls {
		if c := &m.Calls[i]; c.Source != "" && !c.Copied {
			costs[c.Record] += c.Cost
		}
	}
	sizes := map[int]int64{}
	for i := range m.made {
		if p := &m.made[i]; p.Kind() == jsonl.CompactionMessage {
			sizes[p.Origin().Record] = int64(p.Bytes)
		}
	}
	measured := map[int]int{} // those of the path, by line
	for i := range m.Report.Compactions.List {
		measured[m.Report.Compactions.List[i].Line] = i
	}
	for _, rec := range m.Compacts {
		row := Compaction{
			Session: m.key, EntryID: m.Session.ID(rec), Line: int64(m.Session.Line(rec)),
			Kind: m.Session.Kind(rec).Type(), At: m.at(rec), OnPath: m.onPath[rec],
		}
		if size, ok := sizes[rec]; ok {
			row.SummaryBytes = &size
		}
		if dollars, ok := costs[rec]; ok {
			row.CostUSD = &dollars
		}
		if i, ok := measured[m.Session.Line(rec)]; ok {
			m.measured(&row, &m.Report.Compactions.List[i])
		}
		m.out.Compactions = append(m.out.Compactions, row)
		m.added()
	}
}

// measured sets what the lens compactions says of one of the path.
func (m *maker) measured(row *Compaction, c *stats.Compacting) {
	lost := &c.Survival
	why := c.Why()
	row.RequestNo, row.Trigger, row.Hook = from0(c.Request), &why, &c.Hook
	row.RecordedTokens, row.NextTokens = unless0(c.Recorded), unless0(c.Next)
	row.BeforeTokens, row.AfterTokens = from0(c.Before), from0(c.After)
	row.Summarized, row.Kept, row.KeptFrom = from0(c.Summarized), from0(c.Kept), unless0(c.FirstKept)
	row.Split, row.Loop = &c.Split, some(len(c.Loops) > 0)
	row.Constraints, row.LostConstraints = from0(lost.Constraints.Of), from0(lost.Constraints.Of-lost.Constraints.Found)
	row.LostFailures, row.LostPaths = from0(lost.Errors.Of-lost.Errors.Found), from0(lost.Paths.Of-lost.Paths.Found)
	row.LostCommands = from0(lost.Commands.Of - lost.Commands.Found)
	if len(lost.Constraints.Lost) > 0 {
		row.Lost = some(m.text(lost.Constraints.Lost[0]))
	}
}

// findingRows makes the rows of the findings.
func (m *maker) findingRows() {
	for _, f := range m.Findings {
		m.out.Findings = append(m.out.Findings, Finding{
			Session: m.key, Rule: f.Code, Severity: f.Severity, Line: unless0(int64(f.Line)),
			EntryID: unless0(f.Entry),
			Text:    m.text(f.Text), Fix: m.text(f.Fix),
		})
		m.added()
	}
}
