package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"ctxtool/internal/read/phrase"
)

// A Goal is the figure that the best policy minimizes.
type Goal string

// The goals.
const (
	LeastCost    Goal = "cost"
	LeastPeak    Goal = "peak"
	LeastRegrets Goal = "regret"
)

// Goals are the names of all goals.
var Goals = []string{string(LeastCost), string(LeastPeak), string(LeastRegrets)}

// Least returns the goal in words.
func (g Goal) Least() string {
	switch g {
	case LeastPeak:
		return "the smallest peak"
	case LeastRegrets:
		return "the fewest regrets"
	}
	return "the least cost"
}

// Decide sets the best of the runs for a goal, and why it is. A run that exceeds the window in
// more requests is worse, since those requests would have failed. Of equal ones, the one with
// fewer regrets, then the cheaper, then the first is the best. The recorded path and None take
// part like the others.
func (r *Report) Decide(goal Goal) {
	r.Optimize, r.Best, r.Why = goal, "", nil
	if len(r.Runs) == 0 {
		return
	}
	order := slices.Clone(r.Runs)
	slices.SortStableFunc(order, func(a, b *Run) int {
		x, y := a.figures(goal), b.figures(goal)
		return slices.Compare(x[:], y[:])
	})
	r.Best = order[0].Policy
	if len(order) > 1 {
		r.Why = why(order, goal)
	}
}

// figures returns what decides for a goal, the most important first: requests over the window,
// the goal, and the two others.
func (r *Run) figures(goal Goal) [4]float64 {
	over, cost, peak, regrets := float64(r.Overflows), r.Cost.Total, float64(r.Peak), float64(r.Regrets)
	switch goal {
	case LeastPeak:
		return [4]float64{over, peak, regrets, cost}
	case LeastRegrets:
		return [4]float64{over, regrets, cost, peak}
	}
	return [4]float64{over, cost, regrets, peak}
}

// of returns the figure that a goal is about.
func (g Goal) of(r *Run) float64 { return r.figures(g)[1] }

// value returns the figure that a goal is about, as text.
func (g Goal) value(r *Run) string {
	switch c := r.Cost.Total; {
	case g == LeastPeak:
		return phrase.Short(r.Peak) + " tokens"
	case g == LeastRegrets:
		return fmt.Sprint(r.Regrets)
	case c < 1:
		return fmt.Sprintf("$%.4f", c)
	default:
		return fmt.Sprintf("$%.2f", c)
	}
}

// has returns that a run has the figure that a goal is about, as a predicate.
func (g Goal) has(r *Run) string {
	switch g {
	case LeastPeak:
		return "has a peak of " + g.value(r)
	case LeastRegrets:
		return "has " + phrase.Count(r.Regrets, "regret")
	}
	return "costs " + g.value(r)
}

// why returns why the first of several runs, the best one first, is the best.
func why(order []*Run, goal Goal) (sentences []string) {
	best := order[0]
	if order[len(order)-1].figures(goal) == best.figures(goal) {
		return []string{"all policies have the same cost, peak and regrets"}
	}
	var next, rival *Run // the next larger figure; a smaller one, which does not fit the window as well
	for _, one := range order[1:] {
		switch n := goal.of(one); {
		case n > goal.of(best) && (next == nil || n < goal.of(next)):
			next = one
		case n < goal.of(best) && rival == nil:
			rival = one
		}
	}
	is := best.Policy + " is"
	if n := slices.IndexFunc(order, func(r *Run) bool { return r.figures(goal) != best.figures(goal) }); n > 1 {
		is = fmt.Sprintf("%s and %s are", best.Policy, cmp.Or(phrase.If(n == 2, "%s", order[1].Policy),
			fmt.Sprintf("%d others", n-1)))
	}
	first := fmt.Sprintf("%s best for %s: %s", is, goal.Least(), goal.value(best))
	switch {
	case goal == LeastCost && best.Cost.Total == 0 && best.Unpriced > 0:
		first = is + " best: no model has a price, and no policy has fewer regrets"
	case rival != nil && best.Overflows > 0:
		first = fmt.Sprintf("%s best: it has the fewest requests over the window, %d, and %s", is, best.Overflows,
			goal.has(best))
	case rival != nil:
		first = fmt.Sprintf("%s best for %s without requests over the window: %s", is, goal.Least(), goal.value(best))
	case next != nil:
		first += ", " + less(best, next, goal)
	}
	sentences = append(sentences, first)
	if rival != nil {
		sentences = append(sentences, fmt.Sprintf("%s %s, but with %s", rival.Policy, goal.has(rival), over(rival)))
	} else if best.Overflows > 0 {
		sentences = append(sentences, "even so, "+over(best))
	}
	return append(sentences, instead(order, goal)...)
}

// less returns by how much a run has less than another.
func less(r, than *Run, goal Goal) string {
	if n := than.Regrets - r.Regrets; goal == LeastRegrets {
		return fmt.Sprintf("%d fewer than %s", n, than.Policy)
	}
	return fmt.Sprintf("%s less than %s", phrase.Percent(1-goal.of(r)/goal.of(than)), than.Policy)
}

// over returns how many requests of a run exceed the window.
func over(r *Run) string { return phrase.Count(r.Overflows, "request") + " over the window" }

// instead returns what the best run gives away: the policy with the fewest regrets, or for that
// goal the cheapest, of those that fit the window as well.
func instead(order []*Run, goal Goal) []string {
	best, other := order[0], LeastRegrets
	if goal == LeastRegrets {
		other = LeastCost
	}
	one := slices.MinFunc(order, func(a, b *Run) int {
		return cmp.Or(max(a.Overflows, best.Overflows)-max(b.Overflows, best.Overflows),
			cmp.Compare(other.of(a), other.of(b)), cmp.Compare(goal.of(a), goal.of(b)))
	})
	if other.of(one) >= other.of(best) {
		return nil
	}
	return []string{fmt.Sprintf("%s %s instead of %s, and %s", one.Policy, other.has(one), other.value(best),
		goal.has(one))}
}
