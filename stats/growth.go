package stats

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// growthLens follows the size of the context from request to request.
var growthLens = Lens{
	Name:  "growth",
	About: "context size request by request, with compactions, truncations and edits",
	look: func(l *lensRun) {
		w := &growthWalk{l: l, g: growth{Requests: []growthRow{}}}
		l.Report.Growth = &GrowthPart{Sessions: []growth{}}
		l.Steps = append(l.Steps, w.step)
		l.Ends = append(l.Ends, w.end)
	},
	add: func(sum, one *Report) {
		if sum.Growth == nil {
			sum.Growth = &GrowthPart{Sessions: []growth{}}
		}
		for _, g := range one.Growth.Sessions {
			g.File = one.File
			sum.Growth.Sessions = append(sum.Growth.Sessions, g)
		}
	},
	sheets: func(r *Report) []Sheet { return cmp.Or(r.Growth, &GrowthPart{}).sheets() },
}

// A GrowthPart is how the contexts of sessions grew. Contexts do not add up, so
// several sessions are a list.
type GrowthPart struct {
	Sessions []growth `json:"sessions"` // each the path of a session to the point; sizes are tokens
}

// A growth is how the context of a session grew along its path.
type growth struct {
	File        string      `json:"file,omitempty"`
	Peak        int64       `json:"peak"`            // the largest request
	PeakRequest int         `json:"peakRequest"`     // its number
	Share       float64     `json:"share,omitempty"` // the largest of any window; absent where none is known
	Compactions int         `json:"compactions"`     // how many, as the next two of what marks stand for
	Truncations int         `json:"truncations"`
	Edits       int         `json:"edits"`
	Requests    []growthRow `json:"requests"`             // in order
	Now         growthRow   `json:"now"`                  // the same of the next request, without `entry`
	Calibrated  *calibrated `json:"calibrated,omitempty"` // with `--calibrate`: the factor of the model, see the lens `calibration`
}

// A growthRow is a request: what the model got, in tokens. Size is what the provider
// recorded of its prompt. Where it did not, and Estimated says so, it is what we
// count, and besides what the recorded request before it had more than we count of that;
// behind a compaction, or before all of them, what the first recorded one had more.
type growthRow struct {
	Request   int     `json:"request"`            // from 0
	Entry     string  `json:"entry,omitempty"`    // its answer
	Size      int64   `json:"size"`               // what the provider recorded of the prompt; else an estimate from what is counted, and what the nearest recorded request had beyond that
	Estimated bool    `json:"estimated"`          // it is the latter
	Tokens    int     `json:"tokens"`             // prompt, tools and messages as counted
	Recorded  int64   `json:"recorded,omitempty"` // the provider's: input, cache reads and cache writes; absent without any
	Window    int64   `json:"window,omitempty"`   // of the model; absent where nobody knows
	Share     float64 `json:"share,omitempty"`    // `size` of `window`
	Marks     string  `json:"marks,omitempty"`    // what happened since the request before, each letter once: `C` a compaction, `T` a tool result that was cut or a transform that shortened, `E` an edit
}

// A growthWalk goes along the path.
type growthWalk struct {
	l     *lensRun
	g     growth
	marks string

	model  [2]string // of the answer that window belongs to
	window int64
	known  bool // window has been looked up
}

func (w *growthWalk) mark(letter string, count *int) {
	*count++
	if !strings.Contains(w.marks, letter) {
		w.marks += letter
	}
}

// step looks at one step.
func (w *growthWalk) step(a *replay.Account) error {
	g := &w.g
	if a.Request >= 0 {
		return w.request(a)
	}
	kind := w.l.Session.Kind(a.Record)
	switch kind {
	case jsonl.Compaction, jsonl.Transform, jsonl.ContextEdit, jsonl.ToolResult, jsonl.Bash:
	default:
		return nil
	}
	if a.Did == replay.Nothing {
		return nil
	}
	line, err := w.l.line(a.Record)
	if err != nil {
		return err
	}
	from := line.Get("message")
	switch {
	case compacts(a, line):
		w.mark("C", &g.Compactions)
		return nil
	case a.Did == replay.Patched:
		if a.After.Total < a.Before.Total {
			w.mark("T", &g.Truncations)
		}
		return nil
	case a.Did == replay.Edited:
		w.mark("E", &g.Edits)
		from = line.Get("replacement")
	}
	cut := from.Get("details").Get("truncation").Get("truncated").Truthy() || kind == jsonl.Bash && from.Get("truncated").Truthy()
	if cut || isCut(from.Get("content").ContentText()) {
		w.mark("T", &g.Truncations)
	}
	return nil
}

// cutMarks are what is left in a text that was cut: by gsh and by what prunes like it
// (spec/policies.md 1.3), and by y-agent (3.3).
var cutMarks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n\n\.\.\. \(\d+ bytes omitted\) \.\.\.\n\n|\n\[\.\.\. truncated: \d+ chars total, showing first \d+\]$|\n\[truncated\]$`)
})

func isCut(text string) bool {
	return (strings.Contains(text, " bytes omitted) ...") || strings.HasSuffix(text, "]")) && cutMarks().MatchString(text)
}

// request records a request by its answer.
func (w *growthWalk) request(a *replay.Account) error {
	line, err := w.l.line(a.Record)
	if err != nil {
		return err
	}
	m := line.Get("message").Message()
	if model := [2]string{m.Provider.Text(), m.Model.Text()}; !w.known || model != w.model {
		w.model, w.known = model, true
		if _, w.window, _, err = a.Envelope().Model(); err != nil {
			return err
		}
	}
	row := growthRow{Request: a.Request, Entry: w.l.Session.ID(a.Record), Tokens: a.Before.Total, Window: w.window, Marks: w.marks}
	if !m.Failed() {
		usage := m.Usage.Usage()
		row.Recorded = usage.Prompt()
	}
	w.marks = ""
	w.g.Requests = append(w.g.Requests, row)
	return nil
}

// end completes what only the whole path shows.
func (w *growthWalk) end(e *replay.Envelope) error {
	counts, err := e.Count(w.l.Counter)
	if err != nil {
		return err
	}
	_, window, _, err := e.Model()
	if err != nil {
		return err
	}
	g := &w.g
	g.Now = growthRow{Request: e.RequestIndex, Tokens: counts.Total, Window: window, Marks: w.marks}
	g.complete()
	w.l.Report.Growth.Sessions = append(w.l.Report.Growth.Sessions, *g)
	return nil
}

// complete works out the sizes of all requests from what was counted and recorded.
func (g *growth) complete() {
	g.Peak, g.PeakRequest, g.Share = 0, 0, 0
	first := int64(0) // what the first recorded request had more than counted
	for i := range g.Requests {
		if r := &g.Requests[i]; r.Recorded > 0 {
			first = r.Recorded - int64(r.Tokens)
			break
		}
	}
	more := first
	for i := range g.Requests {
		r := &g.Requests[i]
		switch {
		case r.Recorded > 0:
			more = r.Recorded - int64(r.Tokens)
		case strings.Contains(r.Marks, "C"):
			more = first
		}
		r.complete(more)
		if r.Size > g.Peak {
			g.Peak, g.PeakRequest = r.Size, r.Request
		}
		g.Share = max(g.Share, r.Share)
	}
	if strings.Contains(g.Now.Marks, "C") {
		more = first
	}
	g.Now.complete(more)
}

// complete works out the size of a request; more is what the nearest recorded one had
// more than counted.
func (r *growthRow) complete(more int64) {
	r.Size, r.Estimated = r.Recorded, r.Recorded == 0
	if r.Estimated {
		r.Size = max(0, int64(r.Tokens)+more)
	}
	if r.Window > 0 {
		r.Share = float64(r.Size) / float64(r.Window)
	}
}

func (p *GrowthPart) sheets() []Sheet {
	if len(p.Sessions) == 1 {
		return []Sheet{p.Sessions[0].sheet()}
	}
	s := Sheet{Columns: []sheetColumn{
		{Name: "session", Flex: true}, {Name: "requests", Unit: Number}, {Name: "peak", Unit: Tokens}, {Name: "share", Unit: Share},
		{Name: "now", Unit: Tokens}, {Name: "C", Unit: Number}, {Name: "T", Unit: Number}, {Name: "E", Unit: Number}, {Name: "growth"},
	}}
	for i := range p.Sessions {
		g := &p.Sessions[i]
		row := []any{g.File, int64(len(g.Requests)), g.Peak, nil, About(g.Now.Size), orNil(int64(g.Compactions)), orNil(int64(g.Truncations)), orNil(int64(g.Edits)), Line(g.sizes())}
		if g.Share > 0 {
			row[3] = g.Share
		}
		s.Rows = append(s.Rows, row)
	}
	s.Notes = calibratedNotes(len(p.Sessions), func(i int) *calibrated { return p.Sessions[i].Calibrated })
	return []Sheet{s}
}

func (g *growth) sizes() (sizes []int64) {
	for i := range g.Requests {
		sizes = append(sizes, g.Requests[i].Size)
	}
	return append(sizes, g.Now.Size)
}

// sheet is one session: a row a request, and for people a chart.
func (g *growth) sheet() Sheet {
	counted := "tokens"
	if g.Calibrated != nil {
		counted = "calibrated"
	}
	s := Sheet{
		Columns: []sheetColumn{
			{Name: "request", Unit: Number}, {Name: "entry"}, {Name: "size", Unit: Tokens}, {Name: counted, Unit: Tokens},
			{Name: "recorded", Unit: Tokens}, {Name: "window", Unit: Tokens}, {Name: "share", Unit: Share}, {Name: "marks"},
		},
		Chart: &Chart{},
	}
	for i := range len(g.Requests) + 1 {
		r := &g.Now
		if i < len(g.Requests) {
			r = &g.Requests[i]
		}
		row := []any{int64(r.Request), r.Entry, r.Size, About(r.Tokens), orNil(r.Recorded), orNil(r.Window), nil, r.Marks}
		if r.Estimated {
			row[2] = About(r.Size)
		}
		if r.Window > 0 {
			row[6] = r.Share
		}
		s.Rows = append(s.Rows, row)
		s.Chart.Bars = append(s.Chart.Bars, Bar{r.Size, topMark(r.Marks)})
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

// topMark is the weightiest of a request's marks.
func topMark(marks string) byte {
	for _, c := range []byte("CTE") {
		if strings.IndexByte(marks, c) >= 0 {
			return c
		}
	}
	return 0
}

// note is the session in a sentence, and what the marks mean that it has.
func (g *growth) note() string {
	text := count(len(g.Requests), "request")
	if len(g.Requests) > 0 {
		peak := g.Requests[g.PeakRequest]
		text += fmt.Sprintf("; the largest, %d, %s%d tokens", g.PeakRequest, approximately(peak.Estimated), g.Peak)
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
			text += "; " + m.letter + " " + count(m.n, m.what)
		}
	}
	return text
}

func approximately(estimated bool) string {
	if estimated {
		return "~"
	}
	return ""
}
