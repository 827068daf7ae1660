package gate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/gate"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestParseBudget: budgets as read, written out again.
func TestParseBudget(t *testing.T) {
	for text, want := range map[string]string{
		"check.errors<=0":                    "check.errors max 0 error",
		"check.errors <= 3 ~ 1 : warning":    "check.errors max 3 ~1 warning",
		"check.errors<=1_500":                "check.errors max 1500 error",
		"check.errors<=1.5k":                 "check.errors max 1500 error",
		"check.errors>=2M":                   "check.errors min 2e+06 error",
		"check.errors<=1G":                   "check.errors max 1e+09 error",
		"cache.hit-rate>=60%":                "cache.hit-rate min 0.6 error",
		"cache.hit-rate>=0.6":                "cache.hit-rate min 0.6 error",
		"cache.hit-rate<=120%":               "cache.hit-rate max 1.2 error",
		"cache.rebilled<=1.20~5%":            "cache.rebilled max 1.2 ~5% error",
		"cache.rebilled<=$1.20~0.1:error":    "cache.rebilled max 1.2 ~0.1 error",
		"cache.session-hit-rate>=0:warning":  "cache.session-hit-rate min 0 warning",
		"cache.hit-rat>=1":                   `unknown figure "cache.hit-rat"; of that kind are cache.hit-rate, cache.session-hit-rate, cache.rebilled`,
		"cache>=1":                           `unknown figure "cache"; of that kind are cache.hit-rate, cache.session-hit-rate, cache.rebilled`,
		"check.errors":                       `"check.errors" is not a budget; write ` + gate.BudgetHelp,
		"check.errors<3":                     `"check.errors<3" is not a budget; write ` + gate.BudgetHelp,
		"check.errors<=":                     `check.errors: limit "": must be a number`,
		"check.errors<=x":                    `check.errors: limit "x": must be a number`,
		"check.errors<=NaN":                  `check.errors: limit "NaN": must be a number`,
		"check.errors<=Inf":                  `check.errors: limit "Inf": must be a number`,
		"check.errors<=1e308G":               `check.errors: limit "1e308G": must be a number`,
		"check.errors<=3~1e308G":             `tolerance "1e308G": must be a number or a percentage such as 5%`,
		"check.errors<=5%":                   `check.errors: limit "5%": must be a number`,
		"check.errors<=$5":                   `check.errors: limit "$5": must be a number`,
		"cache.rebilled<=5%":                 `cache.rebilled: limit "5%": must be dollars, such as 1.20`,
		"cache.hit-rate>=60":                 `cache.hit-rate: limit "60": must be between 0 and 1, or a percentage such as 60%`,
		"check.errors<=3:fatal":              `severity "fatal": must be error or warning`,
		"check.errors<=3~x":                  `tolerance "x": must be a number or a percentage such as 5%`,
		"check.errors<=3~-1":                 `tolerance "-1": must be a number or a percentage such as 5%`,
		"check.errors<=\x1b" + "]0;gotcha\a": "check.errors: limit \"\uFFFD]0;gotcha\uFFFD\": must be a number",
	} {
		b, err := gate.ParseBudget(text)
		if got := budgetText(b, err); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	if _, err := gate.ParseBudget("nothing.here<=1"); err == nil || !strings.Contains(hintOf(err), "figures are "+strings.Join(gate.FigureNames(), ", ")) {
		t.Errorf("%v, hint %s", err, hintOf(err))
	}
}

func budgetText(b gate.Budget, err error) string {
	if err != nil {
		return strings.TrimSuffix(err.Error()+"; "+hintOf(err), "; ")
	}
	text := b.Figure.Name
	if b.Max != nil {
		text += fmt.Sprintf(" max %g", *b.Max)
	}
	if b.Min != nil {
		text += fmt.Sprintf(" min %g", *b.Min)
	}
	switch {
	case b.Tolerance.Share:
		text += fmt.Sprintf(" ~%g%%", 100*b.Tolerance.N)
	case b.Tolerance.N > 0:
		text += fmt.Sprintf(" ~%g", b.Tolerance.N)
	}
	return text + " " + string(b.Severity)
}

func hintOf(err error) string {
	var at *sessionfmt.Error
	if errors.As(err, &at) {
		return at.Hint
	}
	return ""
}

// report returns the report of a session in which a cache served a share of 1,000 tokens,
// dollars were rebilled, and errors were found.
func report(file string, share, dollars float64, found int) *stats.Report {
	r := &stats.Report{Schema: stats.SessionSchema, File: file, ID: "id of " + file}
	r.Cache = &stats.CachePart{
		Requests: 1, Answered: 1, Prompt: 1000, Read: int64(1000 * share), HitRate: &share,
		Rebilled: cache.Rebilled{Cost: dollars}, Broken: cache.Rebilled{Cost: dollars},
	}
	r.Check = &stats.CheckPart{Errors: found}
	worst := fmt.Sprintf(`{"cache":{"worst":{"entry":"e1","cost":%g}},"check":{"worst":{"severity":"error","code":"orphan","line":7,"entry":"e2"}}}`, dollars)
	if err := json.Unmarshal([]byte(worst), &struct {
		Cache *stats.CachePart
		Check *stats.CheckPart
	}{r.Cache, r.Check}); err != nil {
		panic(err)
	}
	return r
}

// together adds up reports with the lenses of report.
func together(reports ...*stats.Report) *stats.Report {
	o := stats.Options{Lenses: lensesNamed("cache", "check")}
	sum := &stats.Report{Schema: stats.Schema}
	for _, r := range reports {
		o.Add(sum, r)
	}
	return sum
}

func lensesNamed(names ...string) (all []*stats.Lens) {
	for _, name := range names {
		for _, l := range stats.Lenses {
			if l.Name == name {
				all = append(all, l)
			}
		}
	}
	return all
}

// judged returns the result of a gate for reports.
func judged(g *gate.Gate, reports ...*stats.Report) (*gate.Report, error) {
	must.Do(g.Start([]string{"cache", "check"}))
	for _, r := range reports {
		g.Add(r)
	}
	return g.Judge(together(reports...))
}

// told returns a verdict in a short form.
func told(r *gate.Report) string {
	var words []string
	for _, v := range r.Verdicts {
		text := fmt.Sprintf("%s %s %s", v.State, v.Severity, v.Figure)
		if v.Value != nil {
			text += fmt.Sprintf(" %.4g", *v.Value)
		}
		if v.Over > 0 {
			text += fmt.Sprintf(" over %.4g", v.Over)
		}
		if v.File != "" {
			text += " " + v.File
		}
		if v.Line > 0 {
			text += fmt.Sprintf(":%d", v.Line)
		}
		if v.Entry != "" {
			text += " " + v.Entry
		}
		if v.Reason != "" {
			text += ": " + v.Reason
		}
		words = append(words, text)
	}
	return fmt.Sprintf("%v", r.Passed) + "; " + strings.Join(words, "; ")
}

// TestBudgets: limits, tolerances and severities of one session in which the cache
// served half, 0.3 dollars were billed again, and 4 errors were found.
func TestBudgets(t *testing.T) {
	for budget, want := range map[string]string{
		"check.errors<=4":              "true; kept error check.errors 4 s:7 e2",
		"check.errors>=4":              "true; kept error check.errors 4 s:7 e2",
		"check.errors<=3":              "false; crossed error check.errors 4 over 1 s:7 e2",
		"check.errors>=5":              "false; crossed error check.errors 4 over 1 s:7 e2",
		"check.errors<=3:warning":      "true; crossed warning check.errors 4 over 1 s:7 e2",
		"check.errors<=3~1":            "true; tolerated error check.errors 4 over 1 s:7 e2",
		"check.errors<=3~0.9":          "false; crossed error check.errors 4 over 1 s:7 e2",
		"check.errors>=5~1:warning":    "true; tolerated warning check.errors 4 over 1 s:7 e2",
		"check.errors>=5~20%":          "true; tolerated error check.errors 4 over 1 s:7 e2",
		"check.errors>=5~19%":          "false; crossed error check.errors 4 over 1 s:7 e2",
		"check.errors<=0~50%":          "false; crossed error check.errors 4 over 4 s:7 e2",
		"check.errors<=-8~25%":         "false; crossed error check.errors 4 over 12 s:7 e2",
		"cache.hit-rate>=50%":          "true; kept error cache.hit-rate 0.5 s e1",
		"cache.hit-rate>=60%~20%":      "true; tolerated error cache.hit-rate 0.5 over 0.1 s e1",
		"cache.hit-rate>=60%~0.05":     "false; crossed error cache.hit-rate 0.5 over 0.1 s e1",
		"cache.rebilled<=0.3":          "true; kept error cache.rebilled 0.3 s e1",
		"cache.rebilled<=0.2~50%":      "true; tolerated error cache.rebilled 0.3 over 0.1 s e1",
		"cache.rebilled<=0.2~0.1":      "true; tolerated error cache.rebilled 0.3 over 0.1 s e1",
		"cache.session-hit-rate<=0.25": "false; crossed error cache.session-hit-rate 0.5 over 0.25 s e1",
	} {
		b := must.Get(gate.ParseBudget(budget))
		// 0.1+0.2 is more than 0.3, and no more than 0.3 dollars.
		tenth, fifth := 0.1, 0.2
		r := must.Get(judged(&gate.Gate{Budgets: []gate.Budget{b}}, report("s", 0.5, tenth+fifth, 4)))
		if got := told(r); got != want {
			t.Errorf("%s:\n got %s\nwant %s", budget, got, want)
		}
	}
}

// TestToleranceEdge: a value exactly at the end of its tolerance is within it, even if the
// difference of two large sums is not a whole cent.
func TestToleranceEdge(t *testing.T) {
	for budget, want := range map[string]gate.State{
		"cache.rebilled<=1000000~0.01":    gate.Tolerated,
		"cache.rebilled<=1000000~0.009":   gate.Crossed,
		"cache.rebilled>=1000000.03~0.02": gate.Tolerated,
		"cache.rebilled>=1000000.03~0.01": gate.Crossed,
	} {
		b := must.Get(gate.ParseBudget(budget))
		r := must.Get(judged(&gate.Gate{Budgets: []gate.Budget{b}}, report("s", 0.5, 1000000.01, 0)))
		if got := r.Verdicts[0].State; got != want {
			t.Errorf("%s is %s, want %s", budget, got, want)
		}
	}
}

// TestBudgetOfSeveral: a figure of each session is judged for each, a figure of all only for
// all together, and crossed limits come first.
func TestBudgetOfSeveral(t *testing.T) {
	g := &gate.Gate{}
	must.Do(g.Load("b.toml", []byte("[[budget]]\nfigure = \"check.errors\"\nmax = 2\nmin = 1\n[[budget]]\nfigure = \"cache.hit-rate\"\nmin = \"55%\"\n")))
	r, err := judged(g, report("a", 1, 0, 2), report("b", 0.5, 0.5, 3), report("c", 0, 0, 0))
	want := "false; crossed error check.errors 3 over 1 b:7 e2; crossed error check.errors 0 over 1 c:7 e2; crossed error cache.hit-rate 0.5 over 0.05 b e1; kept error check.errors 2 a:7 e2"
	if got := told(r); err != nil || got != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
	if r.Sessions != 3 || r.Crossed != 3 || r.Kept != 1 {
		t.Errorf("%+v", r)
	}
}

// TestGateUnreadable: a session without figures fails, or warns; without any session there is
// an error.
func TestGateUnreadable(t *testing.T) {
	budget := must.Get(gate.ParseBudget("check.errors<=4"))
	broken := &stats.Report{File: "x", Error: "no session"}
	stopped := report("y", 1, 0, 0)
	stopped.Stopped = "op 0: unknown op"
	for _, c := range []struct {
		name    string
		gate    gate.Gate
		reports []*stats.Report
		want    string
		err     error
	}{
		{"one of two", gate.Gate{}, []*stats.Report{broken, report("s", 1, 0, 4)},
			"false; crossed error readable x: no session; kept error check.errors 4 s:7 e2", nil},
		{"warned", gate.Gate{WarnBroken: true}, []*stats.Report{broken, report("s", 1, 0, 4)},
			"true; crossed warning readable x: no session; kept error check.errors 4 s:7 e2", nil},
		{"stopped", gate.Gate{}, []*stats.Report{stopped},
			"false; crossed error readable y: op 0: unknown op; kept error check.errors 0 y:7 e2", nil},
		{"all", gate.Gate{WarnBroken: true}, []*stats.Report{broken}, "true; crossed warning readable x: no session", gate.ErrEmpty},
		{"none", gate.Gate{}, nil, "true; ", gate.ErrEmpty},
	} {
		c.gate.Budgets = []gate.Budget{budget}
		r, err := judged(&c.gate, c.reports...)
		if got := told(r); got != c.want || err != c.err {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

// TestGateWithoutValue: a limit on a figure without value is neither kept nor crossed.
func TestGateWithoutValue(t *testing.T) {
	b := must.Get(gate.ParseBudget("cache.hit-rate>=50%"))
	silent := report("s", 0, 0, 0)
	silent.Cache = &stats.CachePart{Requests: 1}
	r, err := judged(&gate.Gate{Budgets: []gate.Budget{b}}, silent)
	if got := told(r); err != nil || got != "true; unknown error cache.hit-rate s: nothing to judge" {
		t.Errorf("%v %s", err, got)
	}
	if err := (&gate.Gate{}).Start(nil); err == nil || hintOf(err) == "" {
		t.Errorf("a gate that asks for nothing: %v", err)
	}
}

// TestUnpricedBudgets: calls without a price make a cost a lower bound. Without such calls, or
// if they are ignored, it is exact.
func TestUnpricedBudgets(t *testing.T) {
	for _, c := range []struct {
		budget   string
		unpriced int64
		ignore   bool
		want     string
	}{
		{"cost.total<=2", 0, false, "true; kept error cost.total 1.2 s"},
		{"cost.total<=2", 2, false, "false; crossed error cost.total 1.2 s"},
		{"cost.total<=2:warning", 2, false, "true; crossed warning cost.total 1.2 s"},
		{"cost.total<=2", 2, true, "true; kept error cost.total 1.2 s"},
		{"cost.total<=1~1", 2, false, "false; crossed error cost.total 1.2 over 0.2 s"},
		{"cost.total<=1~1", 2, true, "true; tolerated error cost.total 1.2 over 0.2 s"},
		{"cost.total>=1", 2, false, "true; kept error cost.total 1.2 s"},
		{"cost.total>=2", 2, false, "false; crossed error cost.total 1.2 over 0.8 s"},
		{"cost.recorded<=2", 1, false, "false; crossed error cost.recorded 0.9 s"},
		{"cost.recorded<=2", 0, false, "true; kept error cost.recorded 0.9 s"},
	} {
		b := must.Get(gate.ParseBudget(c.budget))
		g := &gate.Gate{Budgets: []gate.Budget{b}, IgnoreUnpriced: c.ignore}
		g.Add(report("s", 1, 0, 0))
		sum := together(report("s", 1, 0, 0))
		sum.Cost = &stats.CostPart{}
		calls, cost := &sum.Cost.Calls, &sum.Cost.Cost
		calls.Total, calls.Unpriced = 4, c.unpriced
		cost.Total, cost.Recorded = 1.2, 0.9
		r := must.Get(g.Judge(sum))
		if got := told(r); got != c.want {
			t.Errorf("%s, %d unpriced:\n got %s\nwant %s", c.budget, c.unpriced, got, c.want)
		}
	}
}

// TestUnpricedRebilled: rebilled tokens without a price make cache.rebilled a lower bound.
func TestUnpricedRebilled(t *testing.T) {
	for _, c := range []struct {
		unpriced int64
		ignore   bool
		want     gate.State
	}{{0, false, gate.Kept}, {7, false, gate.Crossed}, {7, true, gate.Kept}} {
		g := &gate.Gate{Budgets: []gate.Budget{must.Get(gate.ParseBudget("cache.rebilled<=2"))}, IgnoreUnpriced: c.ignore}
		g.Add(report("s", 1, 0, 0))
		sum := together(report("s", 1, 0, 0))
		sum.Cache = &stats.CachePart{Rebilled: cache.Rebilled{Tokens: 9, Cost: 1, Unpriced: c.unpriced}}
		v := must.Get(g.Judge(sum)).Verdicts[0]
		if v.State != c.want || v.Unpriced != int(c.unpriced) {
			t.Errorf("%+v: %s with %d unpriced", c, v.State, v.Unpriced)
		}
	}
}

// TestGateCalibrated: calibrated values are marked.
func TestGateCalibrated(t *testing.T) {
	b := must.Get(gate.ParseBudget("context.tokens<=1"))
	one := report("s", 1, 0, 0)
	one.Context = &stats.ContextPart{}
	must.Do(json.Unmarshal([]byte(`{"counter":"chars4","sessions":[{"tokens":9,"calibrated":{"model":"p/m"}}]}`), one.Context))
	r, err := judged(&gate.Gate{Budgets: []gate.Budget{b}}, one)
	if v := r.Verdicts[0]; err != nil || !v.Calibrated || *v.Value != 9 || v.State != gate.Crossed {
		t.Errorf("%v %+v", err, v)
	}
}
