package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/stats/table"
)

// calibrationLens fits the ratio between a model's tokens and the counter's.
var calibrationLens = Lens{
	Name:  "calibration",
	About: "how the counter's tokens compare with those that each model's provider recorded",
	read:  readCalibration,
	add: func(sum, one *Report) {
		p := partOf(&sum.Calibration, newCalibrationPart(one.Calibration.Counter))
		for _, m := range one.Calibration.Models {
			rowOf(&p.Models, p.known, m.key(), m)
		}
		p.sort()
	},
	sheets: func(r *Report) []table.Sheet { return cmp.Or(r.Calibration, &CalibrationPart{}).sheets() },
}

// A CalibrationPart has the factors of the models that answered on the paths of the sessions, fitted on all
// sessions together.
type CalibrationPart struct {
	Counter string        `json:"counter"`       // that is calibrated
	Least   int           `json:"leastRequests"` // minimum for a factor; sessions with fewer than 3 are ignored
	Models  []Calibration `json:"models"`        // that answered, those with the most requests first

	groups []*calibrationGroup // of one session
	path   models.Ref          // its model at the point
	known  map[models.Ref]int  // places of groups, or of models before they are sorted
}

func newCalibrationPart(counter string) *CalibrationPart {
	return &CalibrationPart{Counter: counter, Least: leastRequests, Models: []Calibration{},
		known: map[models.Ref]int{}}
}

// A Calibration is the factor of a model: the number of its tokens per token of the counter.
type Calibration struct {
	Provider string   `json:"provider"` // as the answers name it
	Model    string   `json:"model"`    // as the answers name it
	Factor   *float64 `json:"factor"`   // null where there is none
	// of the requests: the deviation of the fit, as a share of the recorded prompt; null as above
	Error    *ErrorRange `json:"error"`
	Requests int         `json:"requests"` // that it rests on
	Sessions int         `json:"sessions"` // that it rests on
	// `cl100k` or `o200k`, for `--counter`: the tokenizer is public, so nothing is fitted
	Vocabulary string `json:"vocabulary,omitempty"`
	Reason     string `json:"reason,omitempty"` // why there is no factor
}

// An ErrorRange is the distance of fitted from recorded prompts, as a share of the recorded
// ones.
type ErrorRange struct {
	Median float64 `json:"median"`
	P90    float64 `json:"p90"`
}

// Calibrated describes tokens that are scaled by a per-model factor.
type Calibrated struct {
	Model    string     `json:"model"`    // `provider/id`
	Factor   float64    `json:"factor"`   // its tokens for one of the counter
	Error    ErrorRange `json:"error"`    // of the fit, as a share of the recorded prompt
	Requests int        `json:"requests"` // that it rests on
}

func readCalibration(l *lensRun) {
	p := newCalibrationPart(l.Counter.Name)
	l.Report.Calibration = p
	l.Requests, l.Sizes = true, true
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		for i := range l.Path {
			if q := l.answered(&l.Path[i]); q != nil && l.Path[i].Request >= 0 && !q.Failed {
				p.take(l.Book.Models[q.Model].Ref, l.before(i), q.Size())
			}
		}
		ref, err := e.ModelRef()
		p.path = ref
		l.fail(err)
	})
}

// take records an answered request whose prompt was counted.
func (p *CalibrationPart) take(model models.Ref, counted int, recorded int64) {
	if recorded <= 0 || counted <= 0 {
		return
	}
	g := *rowOf(&p.groups, p.known, model, &calibrationGroup{model: model})
	g.requests = append(g.requests, fitRequest{float64(counted), float64(recorded)})
}

func (c *Calibration) key() models.Ref {
	return models.Ref{Provider: c.Provider, ID: c.Model}
}

// of returns the calibration of a model, nil for none.
func (p *CalibrationPart) of(model models.Ref) *Calibration {
	for i := range p.Models {
		if p.Models[i].key() == model {
			return &p.Models[i]
		}
	}
	return nil
}

func (p *CalibrationPart) sort() {
	sorting.By(p.Models, func(a, b Calibration) int {
		return cmp.Or(b.Requests-a.Requests, cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
}

// Calibrate fits the factors of all models on the reports with the lens calibration, and adds
// them there. With apply it converts the counts of the lenses context and growth to tokens of
// the path's model, if that has a factor. Call it once, before reports are added up.
func Calibrate(reports []*Report, apply bool) {
	reports = slices.DeleteFunc(slices.Clone(reports), func(r *Report) bool { return r.Calibration == nil })
	byModel := map[models.Ref][]*calibrationGroup{}
	for _, r := range reports {
		for _, g := range r.Calibration.groups {
			byModel[g.model] = append(byModel[g.model], g)
		}
	}
	fits := map[models.Ref]Calibration{}
	for model, groups := range byModel {
		fits[model] = calibrate(model, groups)
	}
	for _, r := range reports {
		p := r.Calibration
		for _, g := range p.groups {
			p.Models = append(p.Models, fits[g.model])
		}
		if c, ok := fits[p.path]; ok && p.of(p.path) == nil {
			p.Models = append(p.Models, c)
		}
		p.sort()
		if apply {
			r.calibrate()
		}
	}
}

// calibrate returns the calibration of a model, from its requests in each session.
func calibrate(model models.Ref, groups []*calibrationGroup) Calibration {
	c := Calibration{Provider: model.Provider, Model: model.ID, Vocabulary: models.Vocabulary(model.ID)}
	usable := slices.DeleteFunc(slices.Clone(groups), func(g *calibrationGroup) bool {
		return c.Vocabulary == "" &&
			!g.usable()
	})
	c.Sessions = len(usable)
	for _, g := range usable {
		c.Requests += len(g.requests)
	}
	switch {
	case c.Vocabulary != "":
		c.Reason = "its tokenizer is public: --counter " + c.Vocabulary
		return c
	case c.Requests < leastRequests:
		c.Reason = fmt.Sprintf("%d of %d required requests", c.Requests, leastRequests)
		return c
	}
	factor, errs, ok := fit(usable)
	if !ok {
		c.Reason = "recorded prompts do not grow with what is counted"
		return c
	}
	c.Factor, c.Error = &factor, &errs
	return c
}

// calibrate converts the session's counts to tokens of the path's model.
func (r *Report) calibrate() {
	p := r.Calibration
	c := p.of(p.path)
	if c == nil || c.Factor == nil {
		return
	}
	by := &Calibrated{Model: modelName(p.path), Factor: *c.Factor, Error: *c.Error, Requests: c.Requests}
	if r.Context != nil {
		r.Context.calibrate(by)
	}
	if r.Growth != nil {
		for i := range r.Growth.Sessions {
			r.Growth.Sessions[i].calibrate(by)
		}
	}
}

// tokens converts tokens of the counter.
func (c *Calibrated) tokens(n int) int { return int(math.Round(c.Factor * float64(n))) }

// String describes the calibration in a sentence.
func (c *Calibrated) String() string {
	return fmt.Sprintf("Calibrated for %s: counted × %.3f, half of %s within %.1f%% of the recorded prompt, 90%% of "+
		"them within %.1f%%.",
		c.Model, c.Factor, phrase.Count(c.Requests, "request"), 100*c.Error.Median, 100*c.Error.P90)
}

func (p *CalibrationPart) sheets() []table.Sheet {
	note := fmt.Sprintf("A factor is how many tokens of the model one of %s is.", cmp.Or(p.Counter, "the counter"))
	return []table.Sheet{{
		Notes: []string{note},
		Table: table.Of(p.Models, []col[*Calibration]{
			{
				Name: "model", Unit: table.Path, Value: func(c *Calibration) any { return modelName(c.key()) },
				Flex: true,
			},
			{Name: "factor", Unit: table.Number, Value: func(c *Calibration) any { return c.Factor }},
			{Name: "error, median", Unit: table.Share, Value: func(c *Calibration) any {
				if c.Error == nil {
					return nil
				}
				return c.Error.Median
			}},
			{Name: "90%", Unit: table.Share, Value: func(c *Calibration) any {
				if c.Error == nil {
					return nil
				}
				return c.Error.P90
			}},
			{Name: "requests", Unit: table.Number, Value: func(c *Calibration) any { return c.Requests }},
			{Name: "sessions", Unit: table.Number, Value: func(c *Calibration) any { return c.Sessions }},
			{Name: "note", Flex: true, Value: func(c *Calibration) any { return c.Reason }},
		}),
	}}
}

// calibrate converts the counts of one session's context. Its size stays.
func (p *ContextPart) calibrate(by *Calibrated) {
	c := &p.Sessions[0]
	c.Calibrated, c.Counted, p.Estimates = by, 0, true
	for i := range p.Categories {
		if k := &p.Categories[i]; k.Category != inRest {
			k.Tokens = by.tokens(k.Tokens)
			if k.Category != inEphemeral {
				c.Counted += k.Tokens
			}
		}
	}
	p.category(inRest, "").Tokens = c.Tokens - c.Counted
	for i := range p.Largest {
		p.Largest[i].Tokens = by.tokens(p.Largest[i].Tokens)
	}
	r := &p.Rereads
	r.Tokens = by.tokens(r.Tokens)
	for i := range r.Largest {
		r.Largest[i].Tokens = by.tokens(r.Largest[i].Tokens)
	}
	p.order()
}

// Calibrated reports whether any of the contexts is calibrated.
func (p *ContextPart) Calibrated() bool {
	return slices.ContainsFunc(p.Sessions, func(c SessionContext) bool { return c.Calibrated != nil })
}

// calibrate converts the counts of each request. Their sizes stay.
func (g *Growth) calibrate(by *Calibrated) {
	g.Calibrated = by
	for r := range g.rows {
		r.Tokens = by.tokens(r.Tokens)
	}
}

// calibratedNotes returns notes on the models by which several sessions are calibrated, and the
// number of uncalibrated ones.
func calibratedNotes(sessions int, by func(i int) *Calibrated) (notes []string) {
	without := 0
	for i := range sessions {
		c := by(i)
		if c == nil {
			without++
		} else if note := c.String(); !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	if len(notes) > 0 && without > 0 {
		notes = append(notes, fmt.Sprintf("Not calibrated: %s.", phrase.Count(without, "session")))
	}
	return notes
}

// A fitRequest is a request of a calibration: tokens of its prompt as counted, and as recorded
// by the provider.
type fitRequest struct{ counted, recorded float64 }

// A calibrationGroup is the requests that a model answered on the path of a session. What the
// file does not record is the same for all of them: prompt and tools, or if it has these, what
// a provider adds.
type calibrationGroup struct {
	model    models.Ref
	requests []fitRequest
	hidden   float64 // fitted tokens that the file does not record
	none     bool    // nothing is hidden: the fit was below 0
}

const (
	// leastRequests is the minimum number of requests for a factor.
	leastRequests = 10
	// leastOfSession is the minimum number of requests of a session: two requests fit any
	// factor together with any constant.
	leastOfSession = 3
)

// usable reports whether the group contributes to the factor.
func (g *calibrationGroup) usable() bool {
	least, most := math.Inf(1), 0.0
	for _, r := range g.requests {
		least, most = min(least, r.counted), max(most, r.counted)
	}
	return len(g.requests) >= leastOfSession && least < most
}

// A slope is how much the recorded size grows per counted token between two requests, weighted
// by their distance.
type slope struct{ slope, weight float64 }

// slopes appends the group's slopes. If nothing is hidden that is the ratio of each request.
// Otherwise only differences count: sorted by size, each request of the smaller half is paired
// with one of the larger half (Theil's incomplete method), so that the hidden constant cancels
// out, pairs are far apart, and a million requests are half a million pairs.
func (g *calibrationGroup) slopes(all []slope) []slope {
	if g.none {
		for _, r := range g.requests {
			all = append(all, slope{r.recorded / r.counted, r.counted})
		}
		return all
	}
	by := slices.Clone(g.requests)
	sorting.By(by, func(a, b fitRequest) int { return cmp.Compare(a.counted, b.counted) })
	half := (len(by) + 1) / 2
	for i := range len(by) - half {
		a, b := by[i], by[i+half]
		if d := b.counted - a.counted; d > 0 {
			all = append(all, slope{(b.recorded - a.recorded) / d, d})
		}
	}
	return all
}

// middle returns the weighted median.
func middle(all []slope) float64 {
	sorting.By(all,
		func(a, b slope) int { return cmp.Or(cmp.Compare(a.slope, b.slope), cmp.Compare(a.weight, b.weight)) })
	whole := 0.0
	for _, s := range all {
		whole += s.weight
	}
	below := 0.0
	for _, s := range all {
		if below += s.weight; 2*below >= whole {
			return s.slope
		}
	}
	return math.NaN()
}

// quantile returns the smallest number that is at least as large as that share of the numbers.
func quantile(sorted []float64, share float64) float64 {
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// fit solves recorded = factor * counted + hidden over all sessions of a model, with one factor
// and a constant per session. The median is robust against the few requests that providers
// count differently, while least squares would follow the largest of them. Since sizes cannot
// be negative, sessions with a constant below 0 are refitted with nothing hidden. ok is false
// if the requests do not determine a factor.
func fit(groups []*calibrationGroup) (factor float64, errs ErrorRange, ok bool) {
	for again := true; again; {
		again = false
		var all []slope
		for _, g := range groups {
			all = g.slopes(all)
		}
		factor = middle(all)
		if math.IsNaN(factor) || math.IsInf(factor, 0) || factor <= 0 {
			return 0, errs, false
		}
		for _, g := range groups {
			if g.none {
				continue
			}
			if g.hidden = g.rest(factor); g.hidden < 0 {
				g.none, g.hidden, again = true, 0, true
			}
		}
	}
	var off []float64
	for _, g := range groups {
		for _, r := range g.requests {
			off = append(off, math.Abs(factor*r.counted+g.hidden-r.recorded)/r.recorded)
		}
	}
	slices.Sort(off)
	return factor, ErrorRange{quantile(off, 0.5), quantile(off, 0.9)}, true
}

// rest returns the median of what the requests have beyond the factor.
func (g *calibrationGroup) rest(factor float64) float64 {
	rests := make([]float64, len(g.requests))
	for i, r := range g.requests {
		rests[i] = r.recorded - factor*r.counted
	}
	slices.Sort(rests)
	return quantile(rests, 0.5)
}
