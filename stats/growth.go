package stats

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// growthLens follows the size of the context by request.
var growthLens = Lens{
	Name:  "growth",
	About: "context size request by request, with compactions, truncations and edits",
	read: func(l *lensRun) {
		w := &growthWalk{l: l, model: -1, g: Growth{Requests: []GrowthRow{}}}
		l.Report.Growth = &GrowthPart{Sessions: []Growth{}}
		l.Requests, l.Sizes = true, true
		l.Ends = append(l.Ends, w.end)
	},
	add: func(sum, one *Report) {
		p := partOf(&sum.Growth, &GrowthPart{Sessions: []Growth{}})
		p.Sessions = filed(p.Sessions, one.Growth.Sessions, one.File, func(g *Growth) *string { return &g.File })
	},
	sheets: func(r *Report) []table.Sheet { return cmp.Or(r.Growth, &GrowthPart{}).sheets() },
}

// A GrowthPart is the growth of the contexts of sessions. Contexts do not add up, so several
// sessions are a list.
type GrowthPart struct {
	Sessions []Growth `json:"sessions"` // each the path of a session to the point; sizes are tokens
}

// A Growth is how the context of a session grew along its path.
type Growth struct {
	File        string      `json:"file,omitempty"`
	Peak        int64       `json:"peak"`            // the largest request
	PeakRequest int         `json:"peakRequest"`     // its number
	Share       float64     `json:"share,omitempty"` // the largest of any window; absent where none is known
	Compactions int         `json:"compactions"`     // how many, as the next two of what marks stand for
	Truncations int         `json:"truncations"`
	Edits       int         `json:"edits"`
	Requests    []GrowthRow `json:"requests"` // in order
	// the same of the next request, without `entry`; its `size` is `context` of `ctxtool ls`
	Now GrowthRow `json:"now"`
	// with `--calibrate`, the model's factor: see lens `calibration`
	Calibrated *Calibrated `json:"calibrated,omitempty"`
}

// A GrowthRow is a request with the size of its context in tokens (docs/figures.md): the recorded
// size of its prompt, or an estimate. That of the next request is the size of the context now.
type GrowthRow struct {
	Request int    `json:"request"`         // from 0
	Entry   string `json:"entry,omitempty"` // its answer
	// the recorded prompt; else the context after the last recorded answer plus an estimate of the rest
	Size      int64 `json:"size"`
	Estimated bool  `json:"estimated"` // nothing is recorded of the prompt itself
	Tokens    int   `json:"tokens"`    // prompt, tools and messages as counted
	// the provider's: input, cache reads and writes; absent if none
	Recorded int64   `json:"recorded,omitempty"`
	Window   int64   `json:"window,omitempty"` // of the model; absent if unknown
	Share    float64 `json:"share,omitempty"`  // `size` of `window`
	// since the previous request: `C` a compaction, `T` a tool result was shortened, `E` an edit
	Marks string `json:"marks,omitempty"`
}

// A growthWalk follows the path.
type growthWalk struct {
	l     *lensRun
	g     Growth
	marks string

	model  int32 // record of the model that window belongs to; negative for none
	window int64
}

func (w *growthWalk) mark(letter string, count *int) {
	*count++
	if !strings.Contains(w.marks, letter) {
		w.marks += letter
	}
}

func (w *growthWalk) step(a *pathEntry, before int) {
	g := &w.g
	kind := w.l.Session.Kind(int(a.Record))
	switch kind {
	case jsonl.Compaction, jsonl.Transform, jsonl.ContextEdit, jsonl.ToolResult, jsonl.Bash:
	default:
		return
	}
	if a.Did == replay.Nothing {
		return
	}
	line := w.l.line(int(a.Record))
	if a.Did == replay.Added && !mayBeCut(line) {
		return
	}
	from := line.Get("message")
	switch {
	case a.Did == replay.Compacted:
		w.mark("C", &g.Compactions)
		return
	case a.Did == replay.Patched:
		if int(a.Tokens) < before {
			w.mark("T", &g.Truncations)
		}
		return
	case a.Did == replay.Edited:
		w.mark("E", &g.Edits)
		from = line.Get("replacement")
	}
	cut := from.Get("details").Get("truncation").Get("truncated").Truthy() ||
		kind == jsonl.Bash && from.Get("truncated").Truthy()
	if cut || isCut(from.Get("content").ContentText()) {
		w.mark("T", &g.Truncations)
	}
}

// cutMarks match what marks truncated text: by gsh and others that prune like it
// (docs/policies.md 2.3), and by y-agent (4.2).
var cutMarks = lazy.Regexp(
	`\n\n\.\.\. \(\d+ bytes omitted\) \.\.\.\n\n|\n\[\.\.\. truncated: \d+ chars total, showing first \d+\]$|\n\[truncated\]$`)

// mayBeCut reports whether a line may contain the text or the details of a cut: it has their words, or escaped
// letters. This is faster than reading the line.
func mayBeCut(line jsonl.Value) bool {
	return slices.ContainsFunc([]string{"truncated", " bytes omitted) ...", `\u00`}, func(sign string) bool {
		return bytes.Contains(line, []byte(sign))
	})
}

func isCut(text string) bool {
	return (strings.Contains(text, " bytes omitted) ...") || strings.HasSuffix(text, "]")) &&
		cutMarks().MatchString(text)
}

// request records a request by its answer.
func (w *growthWalk) request(a *pathEntry, q *ledger.Request, before int) {
	if q.Model != w.model {
		ref, err := cmp.Or(w.l.Replay.Options.Model, w.l.Book.Models[q.Model].Ref), error(nil)
		if ref == (models.Ref{}) {
			ref, err = w.l.Replay.ModelBy(-1)
		}
		w.l.fail(err)
		w.model = q.Model
		w.window, _, err = w.l.Replay.Window(ref)
		w.l.fail(err)
	}
	row := GrowthRow{Request: int(a.Request), Entry: w.l.Session.ID(int(a.Record)), Tokens: before, Window: w.window,
		Marks: w.marks}
	if row.Size = cmp.Or(int64(q.Context), int64(before)); !q.Failed && q.Size() > 0 {
		row.Recorded, row.Size = q.Size(), q.Size()
	}
	row.Estimated = row.Recorded == 0
	w.marks = ""
	w.g.Requests = append(w.g.Requests, row)
}

// end records the size at the end of the path.
func (w *growthWalk) end(e *replay.Envelope) {
	for i := range w.l.Path {
		a := &w.l.Path[i]
		w.step(a, w.l.before(i))
		if q := w.l.answered(a); q != nil && a.Request >= 0 {
			w.request(a, q, w.l.before(i))
		}
	}
	now := w.l.before(len(w.l.Path))
	if n := len(w.l.Path); n == 0 || int(w.l.Path[n-1].Record) != e.Leaf {
		counts, err := e.Count(w.l.Counter)
		w.l.fail(err)
		now = counts.Total
	}
	_, window, _, err := e.Model()
	w.l.fail(err)
	size, err := e.Size()
	w.l.fail(err)
	g := &w.g
	g.Now = GrowthRow{Request: e.RequestIndex, Tokens: now, Window: window, Marks: w.marks}
	g.Now.Size, g.Now.Estimated = int64(size.Tokens), size.Estimated > 0
	g.sum()
	w.l.Report.Growth.Sessions = append(w.l.Report.Growth.Sessions, *g)
}

// rows yields the requests, the next one last.
func (g *Growth) rows(yield func(r *GrowthRow) bool) {
	for i := range g.Requests {
		if !yield(&g.Requests[i]) {
			return
		}
	}
	yield(&g.Now)
}

// sum finds the peak, and the shares of windows.
func (g *Growth) sum() {
	for r := range g.rows {
		if r.Window > 0 {
			r.Share = float64(r.Size) / float64(r.Window)
		}
		if r == &g.Now {
			return
		}
		if r.Size > g.Peak {
			g.Peak, g.PeakRequest = r.Size, r.Request
		}
		g.Share = max(g.Share, r.Share)
	}
}

func (p *GrowthPart) sheets() []table.Sheet {
	if len(p.Sessions) == 1 {
		return []table.Sheet{p.Sessions[0].sheet()}
	}
	return []table.Sheet{{
		Notes: calibratedNotes(len(p.Sessions), func(i int) *Calibrated { return p.Sessions[i].Calibrated }),
		Table: table.Of(p.Sessions,
			[]col[*Growth]{
				{Name: "session", Unit: table.Path, Flex: true, Value: func(g *Growth) any { return g.File }},
				{Name: "requests", Unit: table.Number, Value: func(g *Growth) any { return len(g.Requests) }},
				{Name: "peak", Unit: table.Tokens, Value: func(g *Growth) any { return g.Peak }},
				{Name: "share", Unit: table.Share, Value: func(g *Growth) any { return table.Unless0(g.Share) }},
				{Name: "now", Unit: table.Tokens, Value: func(g *Growth) any { return table.About{Of: g.Now.Size} }},
				{Name: "C", Unit: table.Number, Value: func(g *Growth) any { return table.Unless0(g.Compactions) }},
				{Name: "T", Unit: table.Number, Value: func(g *Growth) any { return table.Unless0(g.Truncations) }},
				{Name: "E", Unit: table.Number, Value: func(g *Growth) any { return table.Unless0(g.Edits) }},
				{Name: "growth", Value: func(g *Growth) any { return g.sizes() }},
			}),
	}}
}

func (g *Growth) sizes() (sizes []int64) {
	for r := range g.rows {
		sizes = append(sizes, r.Size)
	}
	return sizes
}

// sheet returns the table of one session, one row per request, and a chart.
func (g *Growth) sheet() table.Sheet {
	counted := "tokens"
	if g.Calibrated != nil {
		counted = "calibrated"
	}
	s := table.Sheet{Chart: &table.Chart{}, Table: table.Stream(g.rows, []col[*GrowthRow]{
		{Name: "request", Unit: table.Number, Value: func(r *GrowthRow) any { return r.Request }},
		{Name: "entry", Unit: table.Entry, Value: func(r *GrowthRow) any { return r.Entry }},
		{Name: "size", Unit: table.Tokens, Value: func(r *GrowthRow) any { return table.Marked(r.Estimated, r.Size) }},
		{Name: counted, Unit: table.Tokens, Value: func(r *GrowthRow) any { return table.About{Of: r.Tokens} }},
		{Name: "recorded", Unit: table.Tokens, Value: func(r *GrowthRow) any { return table.Unless0(r.Recorded) }},
		{Name: "window", Unit: table.Tokens, Value: func(r *GrowthRow) any { return table.Unless0(r.Window) }},
		{Name: "share", Unit: table.Share, Value: func(r *GrowthRow) any { return table.If(r.Window > 0, r.Share) }},
		{Name: "marks", Value: func(r *GrowthRow) any { return r.Marks }},
	})}
	for r := range g.rows {
		mark := byte(0) // the most important one
		if k := strings.IndexAny("CTE", r.Marks); k >= 0 {
			mark = "CTE"[k]
		}
		s.Chart.Bars = append(s.Chart.Bars, table.Bar{Size: r.Size, Mark: mark})
	}
	s.Chart.Limit = g.Now.Window
	s.Notes = []string{g.note()}
	if g.Calibrated != nil {
		s.Notes = append(s.Notes, g.Calibrated.String())
	}
	if len(g.Requests) == 0 {
		s.Chart = nil
	}
	return s
}

// note describes the session in a sentence, and the marks that it has.
func (g *Growth) note() string {
	text := phrase.Count(len(g.Requests), "request")
	if len(g.Requests) > 0 {
		peak, about := g.Requests[g.PeakRequest], ""
		if peak.Estimated {
			about = "~"
		}
		text += fmt.Sprintf("; the largest, %d, %s%d tokens", g.PeakRequest, about, g.Peak)
		if peak.Share > 0 {
			text += fmt.Sprintf(", %.1f%% of the window", 100*peak.Share)
		}
	}
	text += fmt.Sprintf("; now ~%d", g.Now.Size)
	for _, m := range []struct {
		letter, what string
		n            int
	}{{"C", "compaction", g.Compactions}, {"T", "truncation", g.Truncations}, {"E", "edit", g.Edits}} {
		if m.n > 0 {
			text += "; " + m.letter + " " + phrase.Count(m.n, m.what)
		}
	}
	return text
}
