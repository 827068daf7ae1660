package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/markdown"
	"ctxtool/internal/models"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Reduction is what a command takes out of a session's context, or has taken out:
// schema ctxtool/<command>/1.
type Reduction struct {
	Schema  string       `json:"schema"`
	Command string       `json:"command"`
	Session PlanSession  `json:"session"`
	Error   string       `json:"error,omitempty"`   // why there is nothing else
	Skipped string       `json:"skipped,omitempty"` // why nothing is done
	Rules   replay.Rules `json:"rules,omitempty"`
	As      compact.Form `json:"as,omitempty"`
	*compact.Plan
	Changes []ReductionRow       `json:"changes,omitempty"`
	Cannot  []ReductionRow       `json:"cannot,omitempty"` // what the form cannot store; in no sum
	Waits   []string             `json:"waits,omitempty"`  // for what summaries
	Cache   *compact.CacheEffect `json:"cache,omitempty"`
	Prices  string               `json:"prices,omitempty"` // the day of their table
	Notice  string               `json:"notice,omitempty"`
	Entries int                  `json:"entries"`           // to append
	Written string               `json:"written,omitempty"` // where they are now
	Append  []sessionfmt.Value   `json:"-"`
}

// A ReductionRow is one change.
type ReductionRow struct {
	Entry  string         `json:"entry"`
	Line   int            `json:"line,omitempty"`
	Pass   string         `json:"pass"`
	Action compact.Action `json:"action"`
	Block  *int           `json:"block,omitempty"` // of the message; absent for all of it
	Range  *RangeRow      `json:"range,omitempty"` // of a summary
	Was    int            `json:"was_tokens"`
	Now    int            `json:"now_tokens"`
	Why    string         `json:"why"`
	Could  compact.Form   `json:"could,omitempty"` // the form that can store it
}

// A RangeRow is what a summary stands for.
type RangeRow struct {
	Messages int    `json:"messages"`
	Kept     string `json:"firstKept,omitempty"` // the entry; absent where nothing stays
	Summary  int    `json:"summary_tokens"`
}

// NewReduction is what a plan appends by a batch.
func NewReduction(command, file string, plan *compact.Reduction, b *sessionfmt.Batch) *Reduction {
	s := plan.Before.Envelope.Replay().Session
	r := &Reduction{
		Schema: "ctxtool/" + command + "/1", Command: command,
		Session: PlanSession{File: file, Bytes: s.Size()},
		Skipped: plan.Skipped, Rules: plan.Before.Envelope.Replay().Rules, As: plan.Form, Plan: plan.Plan,
		Cache: plan.Cache, Notice: plan.Notice(), Entries: b.Len(),
	}
	if r.Cache != nil && r.Cache.Cost != nil {
		r.Prices = models.Date
	}
	if s.Leaf() >= 0 {
		r.Session.Leaf = sessionfmt.Quote(s.ID(s.Leaf()))
	}
	for _, c := range plan.Changes {
		r.Changes = append(r.Changes, changeRow(s, c))
	}
	for _, c := range plan.Plan.Cannot {
		r.Cannot = append(r.Cannot, ReductionRow{
			Entry: sessionfmt.Quote(s.ID(c.Record)), Line: s.Line(c.Record), Pass: c.Pass, Action: c.Action, Why: c.Why, Could: c.Could,
		})
	}
	for _, q := range plan.Requests {
		r.Waits = append(r.Waits, fmt.Sprintf("%s of %s", q.Part, count(len(q.Messages), "message")))
	}
	for line := range bytes.Lines(b.Lines()) {
		r.Append = append(r.Append, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	return r
}

func changeRow(s *sessionfmt.Session, c compact.Change) ReductionRow {
	row := ReductionRow{
		Entry: sessionfmt.Quote(s.ID(c.Record)), Line: s.Line(c.Record), Pass: c.Pass, Action: c.Action, Was: c.Was, Now: c.Now, Why: c.Why,
	}
	if c.Block >= 0 {
		row.Block = &c.Block
	}
	if c.Range != nil {
		row.Range = &RangeRow{Messages: c.Range.Messages, Summary: c.Range.Summary}
		if c.Range.Kept >= 0 {
			row.Range.Kept = sessionfmt.Quote(s.ID(c.Range.Kept))
		}
	}
	return row
}

// Brief leaves out what a list of many does not show; with rows, they stay.
func (r *Reduction) Brief(rows bool) {
	if r.Plan != nil {
		p := *r.Plan
		p.View, p.Events, p.Requests, p.Changes = nil, nil, nil, nil
		r.Plan = &p
	}
	if !rows {
		r.Changes, r.Append = nil, nil
	}
}

// mostChanges is how many changes the text lists.
const mostChanges = 60

// WriteReduction writes a plan for people: what changes, a sum for each layer, the
// whole, and what that does to the cache.
func WriteReduction(w *bufio.Writer, r *Reduction, width int) error {
	fmt.Fprintf(w, "%s: %s", sessionfmt.Clean(r.Session.File), r.doing())
	fmt.Fprintf(w, " (%s, window of %d tokens (%s), %s, as %s)\n", sessionfmt.Clean(r.Policy), r.Window, r.windowFrom(), r.Counter, r.As)
	var cells [][]string
	for k, c := range r.Changes {
		if k == mostChanges {
			break
		}
		cells = append(cells, []string{c.Entry, c.Pass, string(c.Action), fmt.Sprint(c.Was), fmt.Sprint(c.Now), c.Why})
	}
	for k, c := range r.Cannot {
		if k == mostChanges {
			break
		}
		why := c.Why
		if c.Could != "" {
			why += fmt.Sprintf("; --as %s could", c.Could)
		}
		cells = append(cells, []string{c.Entry, c.Pass, "cannot", "", "", why})
	}
	if len(cells) > 0 {
		w.WriteByte('\n')
		columns := []Column{{Name: "entry"}, {Name: "pass"}, {Name: "action"}, {Name: "was", Right: true}, {Name: "now", Right: true}, {Name: "why", Flex: true}}
		if err := WriteTable(w, columns, cells, width); err != nil {
			return err
		}
		if more := max(0, len(r.Changes)-mostChanges) + max(0, len(r.Cannot)-mostChanges); more > 0 {
			fmt.Fprintf(w, "and %d more, which json has\n", more)
		}
	}
	r.writeLayers(w)
	r.writeCache(w)
	if r.Notice != "" {
		fmt.Fprintf(w, "%s\n", r.Notice)
	}
	return nil
}

// windowFrom is who knows the window, in words.
func (r *Reduction) windowFrom() string {
	switch r.WindowFrom {
	case "given", "baseline":
		return r.WindowFrom
	case "policy":
		return "the policy's own"
	}
	return "models table, " + r.WindowFrom
}

// doing is what is done, in a few words.
func (r *Reduction) doing() string {
	switch {
	case r.Skipped != "":
		return "nothing is done: " + r.Skipped
	case r.Entries == 0:
		return "nothing to append"
	case r.Written == "":
		return "would append " + entries(r.Entries)
	case r.Written == r.Session.File:
		return "appended " + entries(r.Entries)
	case r.Written == "-":
		return "with " + entries(r.Entries) + " appended it is on standard output"
	}
	return fmt.Sprintf("with %s appended it is in %s", entries(r.Entries), sessionfmt.Clean(r.Written))
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// writeLayers writes a line for each layer, and the sum.
func (r *Reduction) writeLayers(w *bufio.Writer) {
	w.WriteByte('\n')
	for _, l := range r.Layers {
		fmt.Fprintf(w, "%-14s ", l.Pass)
		switch {
		case !l.Fired:
			fmt.Fprintf(w, "not yet: %d tokens (%s), runs %s (%.0f)\n", l.Used, l.By, l.Trigger, l.Limit)
		case l.Report.Skipped:
			fmt.Fprintf(w, "%s\n", l.Report.SkipReason)
		default:
			fmt.Fprintf(w, "%s, %d -> %d tokens", count(len(l.Report.Touched), "change"), l.Report.TokensBefore, l.Report.TokensAfter)
			if l.Trigger != "" {
				fmt.Fprintf(w, "; ran at %d (%s), %s (%.0f)", l.Used, l.By, l.Trigger, l.Limit)
			}
			w.WriteByte('\n')
		}
	}
	for _, what := range r.Waits {
		fmt.Fprintf(w, "  waits for a summary: %s\n", what)
	}
	saved := ""
	if r.Before > 0 && r.After < r.Before {
		saved = fmt.Sprintf(" (%s less)", percent(1-float64(r.After)/float64(r.Before)))
	}
	fmt.Fprintf(w, "%-14s %d -> %d tokens%s\n", "messages", r.Before, r.After, saved)
}

func (r *Reduction) writeCache(w *bufio.Writer) {
	c := r.Cache
	if c == nil {
		return
	}
	fmt.Fprintf(w, "%-14s broken at message %d of %d: ~%d tokens stay cached, ~%d are written once more", "prompt cache", c.Message, c.Of, c.Kept, c.Written)
	switch {
	case c.Cost == nil:
	case *c.Cost < 0.0001:
		fmt.Fprintf(w, ", less than $0.0001 (prices of %s)", r.Prices)
	default:
		fmt.Fprintf(w, ", about $%.4f (prices of %s)", *c.Cost, r.Prices)
	}
	w.WriteByte('\n')
}

// WriteReductions writes a row a session, and their sum.
func WriteReductions(w *bufio.Writer, all []*Reduction, width int) error {
	columns := []Column{
		{Name: "session", Flex: true}, {Name: "was", Right: true}, {Name: "now", Right: true}, {Name: "less", Right: true},
		{Name: "entries", Right: true}, {Name: "cannot", Right: true}, {Name: "what"},
	}
	var cells [][]string
	was, now, appended, changed := 0, 0, 0, 0
	for _, r := range all {
		name := sessionfmt.Clean(r.Session.File)
		if r.Error != "" {
			cells = append(cells, []string{name + ": " + sessionfmt.Clean(r.Error), "", "", "", "", "", "failed"})
			continue
		}
		if was += r.Before; r.Skipped != "" {
			now += r.Before
		} else if now += r.After; r.Entries > 0 {
			appended, changed = appended+r.Entries, changed+1
		}
		cells = append(cells, append([]string{name}, r.brief()...))
	}
	if len(cells) > 0 {
		if err := WriteTable(w, columns, cells, width); err != nil {
			return err
		}
		w.WriteByte('\n')
	}
	fmt.Fprintf(w, "%s, %d of them changed: %d -> %d tokens, %s\n", count(len(all), "session"), changed, was, now, entries(appended))
	return nil
}

func (r *Reduction) brief() []string {
	if r.Skipped != "" {
		return []string{fmt.Sprint(r.Before), fmt.Sprint(r.Before), "", "0", "", r.Skipped}
	}
	less, cannot, what := "", "", ""
	if r.After < r.Before {
		less = percent(1 - float64(r.After)/float64(r.Before))
	}
	if len(r.Cannot) > 0 {
		cannot = fmt.Sprint(len(r.Cannot))
	}
	switch {
	case len(r.Waits) > 0:
		what = "waits for " + strings.Join(r.Waits, ", ")
	case r.Written != "":
		what = "appended"
	}
	return []string{fmt.Sprint(r.Before), fmt.Sprint(r.After), less, fmt.Sprint(r.Entries), cannot, what}
}

// WriteReductionJSON writes a plan as one line, the entries as they are appended.
func WriteReductionJSON(w *bufio.Writer, r *Reduction) error {
	var b bytes.Buffer
	head := bufio.NewWriter(&b)
	if err := writeValue(head, r); err != nil {
		return err
	}
	head.Flush()
	w.Write(bytes.TrimSuffix(b.Bytes(), []byte{'}'}))
	return writeAppended(w, r.Append)
}

// writeAppended ends an object with the entries that are appended.
func writeAppended(w *bufio.Writer, lines []sessionfmt.Value) error {
	w.WriteString(`,"append":[`)
	for k, line := range lines {
		if k > 0 {
			w.WriteByte(',')
		}
		w.Write(line)
	}
	_, err := w.WriteString("]}\n")
	return err
}

// WriteReductionsJSON writes the plans of several sessions as one object.
func WriteReductionsJSON(w *bufio.Writer, command string, all []*Reduction) error {
	fmt.Fprintf(w, `{"schema":"ctxtool/%s.sessions/1","sessions":[`, command)
	for k, r := range all {
		if k > 0 {
			w.WriteByte(',')
		}
		if err := writeValue(w, r); err != nil {
			return err
		}
	}
	_, err := w.WriteString("]}\n")
	return err
}

// ReductionTable is what a reduction changes as a Markdown table, which a patch shows.
func ReductionTable(r *compact.Reduction) string {
	if r.Skipped != "" || len(r.Changes) == 0 {
		return ""
	}
	s := r.Before.Envelope.Replay().Session
	out := []byte("| entry | pass | action | tokens before | after |\n| --- | --- | --- | ---: | ---: |\n")
	for k, c := range r.Changes {
		if k == mostChanges {
			out = fmt.Appendf(out, "| and %d more | | | | |\n", len(r.Changes)-k)
			break
		}
		out = append(out, "| "...)
		out = markdown.AppendInline(out, []byte(sessionfmt.Quote(s.ID(c.Record))))
		out = fmt.Appendf(out, " | %s | %s | %d | %d |\n", c.Pass, c.Action, c.Was, c.Now)
	}
	return string(out)
}

// WriteEvents writes what happened as JSON lines, in one of compact.EventForms.
func WriteEvents(w io.Writer, r *Reduction, form string, at time.Time) error {
	if r.Plan == nil {
		return nil
	}
	var b bytes.Buffer
	for _, e := range r.EventsIn(form, r.Session.File, at) {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	_, err := w.Write(b.Bytes())
	return err
}
