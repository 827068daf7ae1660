package render

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"strconv"

	"ctxtool/internal/models"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A CacheRow is a request in the account for a prompt cache, schema ctxtool/cache/1.
// What is not known is left out: the expectation behind a broken patch, the record
// where an answer has no usage.
type CacheRow struct {
	Schema   string                `json:"schema"`
	Request  *int                  `json:"request,omitempty"`
	Entry    string                `json:"entry"`
	Model    string                `json:"model,omitempty"`
	Prompt   int64                 `json:"prompt"` // tokens
	Shared   *CacheShared          `json:"shared,omitempty"`
	Break    *CacheBreak           `json:"break,omitempty"`
	Expected *replay.CacheExpected `json:"expected,omitempty"`
	Recorded *CacheRecorded        `json:"recorded,omitempty"`
	Rebilled *replay.CacheAgain    `json:"rebilled,omitempty"`
	Endless  bool                  `json:"endless,omitempty"` // the lifetime is not known, pauses are not judged
}

// CacheShared is what a request begins with that an earlier one began with.
type CacheShared struct {
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
}

// A CacheBreak is what ended it.
type CacheBreak struct {
	At          int                `json:"at"` // messages before it
	Cause       replay.CacheCause  `json:"cause"`
	Entry       string             `json:"entry,omitempty"`
	Op          *int               `json:"op,omitempty"`
	Reason      string             `json:"reason,omitempty"`
	Transformer string             `json:"transformer,omitempty"`
	Again       *replay.CacheAgain `json:"again,omitempty"`
}

// CacheRecorded is what a provider recorded, tokens.
type CacheRecorded struct {
	Read    int64 `json:"read"`
	Write   int64 `json:"write"`
	Write1h int64 `json:"write1h,omitempty"`
}

// A CacheTotal is the last line, and in the account of several sessions, schema
// ctxtool/cache.session/1, each line but the last.
type CacheTotal struct {
	Schema   string                `json:"schema,omitempty"`
	File     string                `json:"file,omitempty"`
	Sessions int                   `json:"sessions,omitempty"`
	Error    string                `json:"error,omitempty"`
	Requests int                   `json:"requests"`
	Answered int                   `json:"answered"`
	Hidden   int64                 `json:"hidden,omitempty"`
	Prompt   int64                 `json:"prompt"`
	Expected *replay.CacheExpected `json:"expected,omitempty"`
	Recorded *CacheRecorded        `json:"recorded,omitempty"`
	HitRate  CacheHitRate          `json:"hitRate"`
	Rebilled replay.CacheAgain     `json:"rebilled"`
	Broken   replay.CacheAgain     `json:"broken"`
	Breaks   []CacheLoss           `json:"breaks,omitempty"`
	ByName   []CacheLoss           `json:"transformers,omitempty"`
	ByReason []CacheLoss           `json:"reasons,omitempty"`
	Prices   string                `json:"prices,omitempty"` // the day of the table of prices

	base     replay.CacheExpected // of which HitRate.Possible is a share
	answered int64                // tokens, of which HitRate.Achieved is one
}

// CacheHitRate are shares of the prompts' tokens, 0 to 1.
type CacheHitRate struct {
	Possible float64  `json:"possible"`
	Achieved *float64 `json:"achieved,omitempty"`
}

// A CacheLoss is what a break cost, or all with one name.
type CacheLoss struct {
	Name    string            `json:"name,omitempty"`
	Times   int               `json:"times,omitempty"`
	Request *int              `json:"request,omitempty"`
	Entry   string            `json:"entry,omitempty"`
	Op      *int              `json:"op,omitempty"`
	Cause   replay.CacheCause `json:"cause,omitempty"`
	Tokens  int64             `json:"tokens"`
	Cost    float64           `json:"cost"`
}

// Again is what was billed once more, whoever is to blame.
func (t *CacheTotal) Again() replay.CacheAgain {
	return replay.CacheAgain{Tokens: t.Rebilled.Tokens + t.Broken.Tokens, Cost: t.Rebilled.Cost + t.Broken.Cost}
}

// NewCacheRow is a row of a session's account.
func NewCacheRow(s *sessionfmt.Session, r *replay.CacheRow) CacheRow {
	row := CacheRow{
		Schema: "ctxtool/cache/1", Entry: s.ID(r.Record), Model: modelName(r.Model), Prompt: r.Prompt,
		Expected: r.Expected, Rebilled: r.Rebilled, Endless: r.Endless,
	}
	if r.Request >= 0 {
		row.Request = &r.Request
	}
	if r.Expected != nil {
		row.Shared = &CacheShared{r.SharedMessages, r.SharedTokens}
	}
	if u := r.Recorded; u != nil {
		row.Recorded = &CacheRecorded{u.CacheRead, u.CacheWrite, u.CacheWrite1h}
	}
	if b := r.Break; b != nil {
		row.Break = &CacheBreak{At: b.At, Cause: b.Cause, Reason: b.Reason, Transformer: b.Transformer}
		row.Break.Entry, row.Break.Op = breakEntry(s, b)
		if b.Again.Tokens > 0 {
			row.Break.Again = &b.Again
		}
	}
	return row
}

func breakEntry(s *sessionfmt.Session, b *replay.CacheBreak) (id string, op *int) {
	if b.Entry >= 0 {
		id = s.ID(b.Entry)
	}
	if b.Op >= 0 {
		op = &b.Op
	}
	return id, op
}

func modelName(m replay.ModelRef) string {
	if m == (replay.ModelRef{}) {
		return ""
	}
	return m.Provider + "/" + m.ID
}

// NewCacheTotal is the total of a session's account.
func NewCacheTotal(s *sessionfmt.Session, r *replay.CacheReport) CacheTotal {
	t := &r.Total
	out := CacheTotal{
		Requests: t.Requests, Answered: t.Answered, Hidden: r.Hidden, Prompt: t.Prompt, Expected: &t.Expected,
		HitRate: CacheHitRate{Possible: t.Possible}, Rebilled: t.Rebilled, Broken: t.Broken, Prices: models.Date,
		base: t.Base, answered: t.Recorded.Prompt(),
	}
	if t.Answered > 0 {
		out.Recorded = &CacheRecorded{t.Recorded.CacheRead, t.Recorded.CacheWrite, t.Recorded.CacheWrite1h}
		out.HitRate.Achieved = &t.Achieved
	}
	for i := range t.Breaks {
		l := &t.Breaks[i]
		one := CacheLoss{Request: &l.Request, Cause: l.Break.Cause, Tokens: l.Tokens, Cost: l.Cost}
		one.Entry, one.Op = breakEntry(s, l.Break)
		out.Breaks = append(out.Breaks, one)
	}
	out.ByName, out.ByReason = namedLosses(t.ByName), namedLosses(t.ByReason)
	return out
}

func namedLosses(all []replay.CacheLoss) (out []CacheLoss) {
	for _, l := range all {
		out = append(out, CacheLoss{Name: l.Name, Times: l.Times, Tokens: l.Tokens, Cost: l.Cost})
	}
	return out
}

// A Cache is the account of one session.
type Cache struct {
	Rows  []CacheRow
	Total CacheTotal
}

// WriteCacheJSON writes rows, an object a line, and the total as the last line.
func WriteCacheJSON(w *bufio.Writer, c *Cache) error {
	for _, r := range c.Rows {
		if err := writeLine(w, r); err != nil {
			return err
		}
	}
	return writeCacheTotal(w, &c.Total)
}

func writeCacheTotal(w *bufio.Writer, t *CacheTotal) error {
	return writeLine(w, struct {
		Total *CacheTotal `json:"total"`
	}{t})
}

// cacheColumns are the columns of a CSV file; tokens, and dollars.
var cacheColumns = []string{
	"request", "entry", "model", "prompt", "shared_messages", "shared_tokens", "break_at", "cause", "break_entry", "break_op", "reason", "transformer",
	"again_tokens", "again_cost", "expected_read", "expected_write", "read", "write", "write1h", "rebilled_tokens", "rebilled_cost", "endless",
}

// WriteCacheCSV writes rows as a CSV file with the columns' names in its first line.
// What the file does not hold of the prompt is the row "hidden".
func WriteCacheCSV(w *bufio.Writer, c *Cache) error {
	out := csv.NewWriter(w)
	out.Write(cacheColumns)
	if c.Total.Hidden > 0 {
		cells := make([]string, len(cacheColumns))
		cells[0], cells[3] = "hidden", number(c.Total.Hidden)
		out.Write(cells)
	}
	for i := range c.Rows {
		out.Write(c.Rows[i].record())
	}
	out.Flush()
	return out.Error()
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func dollars(d float64) string { return strconv.FormatFloat(d, 'g', -1, 64) }

func orNothing(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// record is a row's cells in a CSV file.
func (r *CacheRow) record() []string {
	cells := []string{orNothing(r.Request), r.Entry, r.Model, number(r.Prompt)}
	if s := r.Shared; s != nil {
		cells = append(cells, strconv.Itoa(s.Messages), number(s.Tokens))
	} else {
		cells = append(cells, "", "")
	}
	if b := r.Break; b != nil {
		cells = append(cells, strconv.Itoa(b.At), string(b.Cause), b.Entry, orNothing(b.Op), b.Reason, b.Transformer)
		cells = append(cells, again(b.Again)...)
	} else {
		cells = append(cells, "", "", "", "", "", "", "", "")
	}
	if e := r.Expected; e != nil {
		cells = append(cells, number(e.Read), number(e.Write))
	} else {
		cells = append(cells, "", "")
	}
	if u := r.Recorded; u != nil {
		cells = append(cells, number(u.Read), number(u.Write), number(u.Write1h))
	} else {
		cells = append(cells, "", "", "")
	}
	cells = append(cells, again(r.Rebilled)...)
	endless := ""
	if r.Endless {
		endless = "true"
	}
	return append(cells, endless)
}

func again(a *replay.CacheAgain) []string {
	if a == nil {
		return []string{"", ""}
	}
	return []string{number(a.Tokens), dollars(a.Cost)}
}

// WriteCachesJSON writes the accounts of several sessions, a line each, and their sum.
func WriteCachesJSON(w *bufio.Writer, all []CacheTotal, sum *CacheTotal) error {
	for i := range all {
		if err := writeLine(w, all[i]); err != nil {
			return err
		}
	}
	return writeCacheTotal(w, sum)
}

// WriteCachesCSV writes the accounts of several sessions as a CSV file.
func WriteCachesCSV(w *bufio.Writer, all []CacheTotal) error {
	out := csv.NewWriter(w)
	out.Write([]string{
		"file", "requests", "answered", "hidden", "prompt", "expected_read", "expected_write", "read", "write", "write1h",
		"possible", "achieved", "rebilled_tokens", "rebilled_cost", "broken_tokens", "broken_cost", "error",
	})
	for i := range all {
		t := &all[i]
		cells := []string{t.File, strconv.Itoa(t.Requests), strconv.Itoa(t.Answered), number(t.Hidden), number(t.Prompt)}
		if e := t.Expected; e != nil {
			cells = append(cells, number(e.Read), number(e.Write))
		} else {
			cells = append(cells, "", "")
		}
		if u := t.Recorded; u != nil {
			cells = append(cells, number(u.Read), number(u.Write), number(u.Write1h))
		} else {
			cells = append(cells, "", "", "")
		}
		achieved := ""
		if t.HitRate.Achieved != nil {
			achieved = dollars(*t.HitRate.Achieved)
		}
		cells = append(cells, dollars(t.HitRate.Possible), achieved)
		cells = append(append(cells, again(&t.Rebilled)...), again(&t.Broken)...)
		out.Write(append(cells, t.Error))
	}
	out.Flush()
	return out.Error()
}

// SumCaches adds up the accounts of several sessions.
func SumCaches(all []CacheTotal) *CacheTotal {
	sum := &CacheTotal{Expected: &replay.CacheExpected{}, Sessions: len(all), Prices: models.Date}
	var recorded CacheRecorded
	for i := range all {
		t := &all[i]
		if t.Error != "" {
			continue
		}
		sum.Requests += t.Requests
		sum.Answered += t.Answered
		sum.Prompt += t.Prompt
		sum.answered += t.answered
		addExpected(sum.Expected, *t.Expected)
		addExpected(&sum.base, t.base)
		addAgain(&sum.Rebilled, t.Rebilled)
		addAgain(&sum.Broken, t.Broken)
		if t.Recorded != nil {
			recorded.Read += t.Recorded.Read
			recorded.Write += t.Recorded.Write
			recorded.Write1h += t.Recorded.Write1h
		}
	}
	if whole := sum.base.Read + sum.base.Write; whole > 0 {
		sum.HitRate.Possible = float64(sum.base.Read) / float64(whole)
	}
	if sum.answered > 0 {
		rate := float64(recorded.Read) / float64(sum.answered)
		sum.Recorded, sum.HitRate.Achieved = &recorded, &rate
	}
	return sum
}

func addExpected(to *replay.CacheExpected, e replay.CacheExpected) {
	to.Read += e.Read
	to.Write += e.Write
}

func addAgain(to *replay.CacheAgain, a replay.CacheAgain) {
	to.Tokens += a.Tokens
	to.Cost += a.Cost
}

// percent is a share for people.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
