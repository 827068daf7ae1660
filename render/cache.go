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

// A CacheRow is a request in the account for a prompt cache, schema ctxtool/cache/2.
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
	Rebilled *replay.CacheAgain    `json:"rebilled,omitempty"` // Break.Again and Unserved
	Unserved *replay.CacheAgain    `json:"unserved,omitempty"`
	Outlived int64                 `json:"outlived,omitempty"` // seconds after which the cache served it, beyond its lifetime
	Endless  bool                  `json:"endless,omitempty"`  // the lifetime is not known, pauses are not judged

	Estimated bool `json:"estimated,omitempty"` // nothing is recorded: Prompt is counted
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
// ctxtool/cache.session/2, each line but the last.
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
	Rebilled replay.CacheAgain     `json:"rebilled"` // Broken and Unserved
	Broken   replay.CacheAgain     `json:"broken"`
	Unserved replay.CacheAgain     `json:"unserved"`
	Breaks   []CacheLoss           `json:"breaks,omitempty"`
	ByName   []CacheLoss           `json:"transformers,omitempty"`
	ByReason []CacheLoss           `json:"reasons,omitempty"`
	Outlived []CacheLifetime       `json:"outlived,omitempty"`
	Prices   string                `json:"prices,omitempty"` // the day of the table of prices

	Estimated int64 `json:"estimated,omitempty"` // tokens of the requests without usage, by count

	total *replay.CacheTotal
}

// A CacheLifetime is how long a model's cache was seen to live beyond what the table says,
// seconds.
type CacheLifetime struct {
	Model string `json:"model"`
	Table int64  `json:"table"`
	Seen  int64  `json:"seen"`
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

// NewCacheRow is a row of a session's account.
func NewCacheRow(s *sessionfmt.Session, r *replay.CacheRow) CacheRow {
	row := CacheRow{
		Schema: "ctxtool/cache/2", Entry: s.ID(r.Record), Model: modelName(r.Model), Prompt: r.Prompt,
		Expected: r.Expected, Unserved: r.Unserved, Outlived: r.Outlived / 1000, Endless: r.Endless, Estimated: r.Estimated,
	}
	if again := r.Rebilled(); again.Tokens > 0 {
		row.Rebilled = &again
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
	t := r.Total
	out := newCacheTotal(t)
	out.Hidden = r.Hidden
	for i := range t.Breaks {
		l := &t.Breaks[i]
		one := CacheLoss{Request: &l.Request, Cause: l.Break.Cause, Tokens: l.Tokens, Cost: l.Cost}
		one.Entry, one.Op = breakEntry(s, l.Break)
		out.Breaks = append(out.Breaks, one)
	}
	out.ByName, out.ByReason = namedLosses(t.ByName), namedLosses(t.ByReason)
	for _, l := range t.Outlived {
		out.Outlived = append(out.Outlived, CacheLifetime{modelName(l.Model), l.Table / 1000, l.Seen / 1000})
	}
	return out
}

// newCacheTotal is the part that is the same of one session and of several.
func newCacheTotal(t *replay.CacheTotal) CacheTotal {
	out := CacheTotal{
		Requests: t.Requests, Answered: t.Answered, Prompt: t.Prompt, Expected: &t.Expected, Estimated: t.Estimated,
		HitRate: CacheHitRate{Possible: t.Possible}, Rebilled: t.Rebilled, Broken: t.Broken, Unserved: t.Unserved,
		Prices: models.Date, total: t,
	}
	if t.Answered > 0 {
		out.Recorded = &CacheRecorded{t.Recorded.CacheRead, t.Recorded.CacheWrite, t.Recorded.CacheWrite1h}
		out.HitRate.Achieved = &t.Achieved
	}
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
	"again_tokens", "again_cost", "expected_read", "expected_write", "read", "write", "write1h", "rebilled_tokens", "rebilled_cost",
	"unserved_tokens", "unserved_cost", "outlived", "endless", "estimated",
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
	cells = append(append(cells, again(r.Rebilled)...), again(r.Unserved)...)
	outlived := ""
	if r.Outlived > 0 {
		outlived = number(r.Outlived)
	}
	return append(cells, outlived, ifTrue(r.Endless), ifTrue(r.Estimated))
}

func ifTrue(is bool) string {
	if is {
		return "true"
	}
	return ""
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
		"file", "requests", "answered", "hidden", "prompt", "estimated", "expected_read", "expected_write", "read", "write", "write1h",
		"possible", "achieved", "rebilled_tokens", "rebilled_cost", "broken_tokens", "broken_cost", "unserved_tokens", "unserved_cost", "error",
	})
	for i := range all {
		t := &all[i]
		cells := []string{sessionfmt.Clean(t.File), strconv.Itoa(t.Requests), strconv.Itoa(t.Answered), number(t.Hidden), number(t.Prompt), number(t.Estimated)}
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
		for _, a := range []*replay.CacheAgain{&t.Rebilled, &t.Broken, &t.Unserved} {
			cells = append(cells, again(a)...)
		}
		out.Write(append(cells, t.Error))
	}
	out.Flush()
	return out.Error()
}

// SumCaches adds up the accounts of several sessions.
func SumCaches(all []CacheTotal) *CacheTotal {
	var sum replay.CacheTotal
	for i := range all {
		if all[i].Error == "" {
			sum.Plus(all[i].total)
		}
	}
	out := newCacheTotal(&sum)
	out.Sessions = len(all)
	return &out
}

// percent is a share for people.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
