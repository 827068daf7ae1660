package compact

import "fmt"

// A Verdict is what y-agent's guard says of a context (docs/policies.md 4.3).
type Verdict struct {
	Verdict string `json:"verdict"` // ok, warning, overflow, critical
	Percent int    `json:"percent"` // of the budget, rounded down
	Over    int    `json:"tokensOver"`
}

// The guard's total, in tokens, and its steps, in whole percent of that.
const (
	guardTotal = 8000 + 16000 + 80000 + 8000
	guardWarns = 70
	guardActs  = 85
	guardStops = 95
)

// guardLevels are what the guard says from so many percent on, and advises.
var guardLevels = []struct {
	percent         int
	verdict, advice string
}{
	{guardStops, "critical", "\nCRITICAL: the context is full"},
	{guardActs, "overflow", "\nWARNING: the context is nearly full"},
	{guardWarns, "warning", "\nconsider compress_experience"},
	{0, "ok", ""},
}

// Judge returns the guard's verdict on so many tokens of a budget.
func Judge(used, budget int) (v Verdict) {
	if v.Percent = 100; budget > 0 {
		v.Percent = used * 100 / budget
	}
	v.Verdict = guardLevels[v.level()].verdict
	switch v.Verdict {
	case "critical":
		v.Over = max(0, used-budget)
	case "overflow":
		v.Over = used - budget*guardActs/100
	}
	return v
}

// level is the place of the verdict among guardLevels.
func (v Verdict) level() (k int) {
	for k < len(guardLevels)-1 && v.Percent < guardLevels[k].percent {
		k++
	}
	return k
}

// Status returns the guard's line of status on so many tokens of a budget, with its advice on
// a second line.
func (v Verdict) Status(used, budget int) string {
	return fmt.Sprintf("[Context Status: working_tokens=%d, threshold=%d, utilization=%d%%]%s", used, budget, v.Percent, guardLevels[v.level()].advice)
}

// A guarding is the verdict of a guard that warns, with the line of status that the agent gets.
type guarding struct {
	Verdict
	Status string `json:"status"`
}

// guard judges the context before any layer runs.
func (r *Reduction) guard(p *Policy) {
	if p.Warns != nil && p.Warns.fires(int64(r.Before), r.Window) {
		v := Judge(r.Before, int(r.Window))
		r.Guard = &guarding{v, v.Status(r.Before, int(r.Window))}
	}
}
