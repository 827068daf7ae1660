package simulate

import (
	"reflect"
	"strings"
	"testing"
)

// run returns the figures of a policy that decide.
func run(name string, over int, cost float64, peak int64, regrets int) *Run {
	return &Run{Policy: name, Overflows: over, Cost: Cost{Total: cost}, Peak: peak, Regrets: regrets, Acts: 1, Requests: 9}
}

// TestDecide: requests over the window decide first, and the sentences say what did.
func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name string
		goal Goal
		runs []*Run
		best string
		why  string
	}{
		{"alone", LeastCost, []*Run{run("a", 3, 2, 10, 1)}, "a", ""},
		{"equal", LeastCost, []*Run{run("a", 0, 2, 10, 1), run("b", 0, 2, 10, 1)}, "a", "all policies have the same cost, peak and regrets"},
		{"cheaper", LeastCost, []*Run{run("a", 0, 2, 10, 1), run("b", 0, 1.5, 10, 1)}, "b", "b is best for the least cost: $1.50, 25.0% less than a"},
		{"two of the same", LeastCost, []*Run{run("a", 0, 2, 10, 1), run("b", 0, 2, 10, 1), run("c", 0, 4, 10, 1)}, "a", "a and b are best for the least cost: $2.00, 50.0% less than c"},
		{"three of the same", LeastCost, []*Run{run("a", 0, 2, 10, 1), run("b", 0, 2, 10, 1), run("c", 0, 4, 10, 1), run("d", 0, 2, 10, 1)}, "a", "a and 2 others are best for the least cost: $2.00, 50.0% less than c"},
		{"cents", LeastCost, []*Run{run("a", 0, 0.02, 10, 1), run("b", 0, 0.01, 10, 1)}, "b", "b is best for the least cost: $0.0100, 50.0% less than a"},
		{"overflows decide", LeastCost, []*Run{run("a", 1, 1, 10, 1), run("b", 0, 2, 10, 1)}, "b", "b is best for the least cost without requests over the window: $2.00; a costs $1.00, but with 1 request over the window"},
		{"the fewest overflows", LeastCost, []*Run{run("a", 5, 1, 10, 1), run("b", 3, 2, 10, 1)}, "b", "b is best: it has the fewest requests over the window, 3, and costs $2.00; a costs $1.00, but with 5 requests over the window"},
		{"overflows of the cheapest", LeastCost, []*Run{run("a", 3, 1, 10, 1), run("b", 3, 2, 10, 1)}, "a", "a is best for the least cost: $1.00, 50.0% less than b; even so, 3 requests over the window"},
		{"what it gives away", LeastCost, []*Run{run("a", 0, 1, 10, 4), run("b", 0, 2, 10, 1), run("c", 1, 3, 10, 0)}, "a", "a is best for the least cost: $1.00, 50.0% less than b; b has 1 regret instead of 4, and costs $2.00"},
		{"peak", LeastPeak, []*Run{run("a", 0, 1, 2000, 4), run("b", 0, 2, 1500, 5)}, "b", "b is best for the smallest peak: 1.5k tokens, 25.0% less than a; a has 4 regrets instead of 5, and has a peak of 2k tokens"},
		{"regrets", LeastRegrets, []*Run{run("a", 0, 1, 10, 4), run("b", 0, 2, 10, 1)}, "b", "b is best for the fewest regrets: 1, 3 fewer than a; a costs $1.00 instead of $2.00, and has 4 regrets"},
		{"no prices", LeastCost, []*Run{{Policy: "a", Unpriced: 2, Regrets: 3}, {Policy: "b", Unpriced: 2, Regrets: 2}}, "b", "b is best: no model has a price, and no policy has fewer regrets"},
	} {
		r := &Report{Runs: test.runs}
		r.Decide(test.goal)
		if got := strings.Join(r.Why, "; "); r.Best != test.best || got != test.why {
			t.Errorf("%s: %s\ngot  %s\nwant %s", test.name, r.Best, got, test.why)
		}
	}
}

// TestDistribution: every value is one of a session.
func TestDistribution(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   Distribution
	}{
		{nil, Distribution{}},
		{[]float64{7}, Distribution{1, 7, 7, 7, 7, 7, 7}},
		{[]float64{4, 1, 3, 2}, Distribution{4, 1, 1, 2, 3, 4, 4}},
		{[]float64{20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, Distribution{20, 1, 5, 10, 15, 19, 20}},
	} {
		if got := distribution(test.values); got != test.want {
			t.Errorf("%v: %+v, want %+v", test.values, got, test.want)
		}
	}
}

// TestStore: sums have all sessions, spreads those in which a policy acted, without the prices
// that are not known, and the sessions are in the order of their differences.
func TestStore(t *testing.T) {
	still := run("b", 0, 1, 5, 0)
	still.Acts = 0
	idle := run("a", 0, 1, 5, 0)
	idle.Acts = 0
	unpriced := run("a", 0, 0, 70, 2)
	unpriced.Unpriced = 1
	s := NewStore([]*Report{
		{File: "idle", Runs: []*Run{idle, still}},
		{File: "small", Runs: []*Run{run("a", 0, 1, 50, 1), run("b", 0, 2, 60, 0)}},
		{File: "broken", Error: "no"},
		{File: "large", Runs: []*Run{run("a", 0, 9, 90, 3), run("b", 1, 3, 80, 0)}},
		{File: "unpriced", Runs: []*Run{unpriced, run("b", 0, 0, 60, 0)}},
	}, LeastCost)
	a := s.Total.Runs[0]
	if s.Acted != 3 || a.Sessions != 4 || a.Peak != 90 || a.Regrets != 6 || a.Cost.Total != 11 || s.Total.Best != "a" {
		t.Errorf("%d acted, %+v, best %s", s.Acted, a, s.Total.Best)
	}
	if got := a.Spread; got.Cost != (Distribution{2, 1, 1, 1, 9, 9, 9}) || got.Regrets != (Distribution{3, 1, 1, 2, 3, 3, 3}) || got.Peak.Sessions != 3 || got.HitRate.Sessions != 0 {
		t.Errorf("%+v", got)
	}
	want := []Difference{{"large", 9, Extreme{"b", 3, 1, 0}, Extreme{"a", 9, 0, 3}}, {"small", 9, Extreme{"a", 1, 0, 1}, Extreme{"b", 2, 0, 0}}}
	if !reflect.DeepEqual(s.Differing, want) {
		t.Errorf("%+v", s.Differing)
	}
}
