package simulate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/outline"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Goal is what the best policy has least of.
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

// sampled is the number of sessions of a sample, or a few less.
const sampled = 12

// Sample returns the places of sessions, given their bytes, whose time says how long all of them
// take: by size, those in the middle of each twelfth of all bytes, so that the sizes that take
// most of the time have most of the sample. A session with more than a fiftieth of the bytes is
// only in it if there is no other. The largest are first, so that they do not end last.
func Sample(sizes []int64) (places []int) {
	bySize := make([]int, len(sizes))
	var total int64
	for k, n := range sizes {
		bySize[k] = k
		total += n
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	var bytes int64
	middle := total / (2 * sampled)
	for _, k := range bySize {
		if bytes += sizes[k]; bytes <= middle {
			continue
		}
		if sizes[k] <= total/50 || len(places) == 0 {
			places = append(places, k)
		}
		for middle < bytes {
			middle += max(1, total/sampled)
		}
	}
	slices.Reverse(places)
	return places
}

// Sweep returns the policies with each value of an option: KEY=A,B,C. Policies without that option
// stay as they are; it is an error if none has it.
func Sweep(all []Contender, spec string) (out []Contender, err error) {
	key, list, ok := strings.Cut(spec, "=")
	if !ok {
		return nil, fmt.Errorf("%q: must be KEY=A,B,C", spec)
	}
	if !slices.ContainsFunc(all, func(c Contender) bool { return c.Policy != nil && c.Policy.Has(key) }) {
		return nil, fmt.Errorf("%q: no policy has the option %s", spec, key)
	}
	for _, one := range all {
		if one.Policy == nil || !one.Policy.Has(key) {
			out = append(out, one)
			continue
		}
		for text := range strings.SplitSeq(list, ",") {
			next := Contender{Name: one.Name + " " + key + "=" + text, Policy: one.Policy.Copy()}
			if err := next.Policy.Set(key, text); err != nil {
				return nil, fmt.Errorf("%q: %w", spec, err)
			}
			if !slices.ContainsFunc(out, func(c Contender) bool { return c.Name == next.Name }) {
				out = append(out, next)
			}
		}
	}
	return out, nil
}

// A Decision is why a policy kept or changed each message before a request.
//
// It is schema ctxtool/simulate.explain/1.
type Decision struct {
	Schema  string    `json:"schema"`
	Policy  string    `json:"policy"`
	Request int       `json:"request"`
	Window  int64     `json:"window"`
	Counter string    `json:"counter"`
	Layers  []Judged  `json:"layers"`
	Items   []Decided `json:"messages"` // the newest first; only tool results if the policy prunes
}

// A Judged is a layer and its trigger.
type Judged struct {
	Pass    string  `json:"pass"`
	Trigger string  `json:"trigger,omitempty"` // absent if the layer always runs
	Limit   float64 `json:"limit,omitempty"`   // tokens
	Used    int64   `json:"used"`              // tokens of the context before the layer
	Fired   bool    `json:"fired"`
	Changes int     `json:"changes"`
}

// A Decided is a message and what the policy did to it.
type Decided struct {
	Entry  string `json:"entry"`
	Line   int    `json:"line"`
	What   string `json:"what"` // the call of a result, else the role and the first words
	Tokens int    `json:"tokens"`
	// tokens of this message and all newer ones; only of tool results if the policy prunes
	Running int    `json:"running"`
	Action  string `json:"action"` // keep, or that of the change
	Now     int    `json:"nowTokens,omitempty"`
	Why     string `json:"why,omitempty"`
}

// A decided is a message that the policy judges.
type decided struct {
	message, tokens, result int
	what                    string // of a result, its call
}

// before records the messages that the policy judges, and that are not recorded yet.
func (w *walk) before() error {
	all, err := w.keeper.Items()
	for _, it := range all {
		if n := len(w.items); n > 0 && it.Message <= w.items[n-1].message {
			continue
		}
		one := decided{message: it.Message, tokens: it.Tokens, result: it.Result}
		if it.Result >= 0 {
			one.what = called(it.Tool, it.Args)
		}
		w.items = append(w.items, one)
	}
	return err
}

// layers returns the layers of the last moment, with their changes.
func (w *walk) layers(changes []compact.Change) (all []Judged) {
	for _, l := range w.keeper.Layers {
		one := Judged{l.Pass, l.Trigger, l.Limit, l.Used, l.Fired, 0}
		for i := range changes {
			if changes[i].Pass == l.Pass {
				one.Changes++
			}
		}
		all = append(all, one)
	}
	return all
}

// explain records the decisions of a policy before request k.
func (w *walk) explain(k int, window int64, changes []Change) error {
	d := &Decision{Schema: "ctxtool/simulate.explain/1", Policy: w.Name, Request: k, Window: window,
		Counter: w.Policy.Counter.Name, Layers: w.judged, Items: []Decided{}}
	changed := map[int]*Change{}
	for i := range changes {
		changed[changes[i].Message] = &changes[i]
		for _, m := range changes[i].Gone {
			changed[m] = &changes[i]
		}
	}
	prune, cut := w.Policy.Layer(&compact.Prune), false
	for _, c := range changes {
		cut = cut || len(c.Gone) > 0
	}
	records := make([]int, len(w.items))
	for i, it := range w.items {
		records[i] = w.path.Messages[it.message].Origin.Record
	}
	rows, err := outline.Rows(w.s, records)
	if err != nil {
		return err
	}
	for i, it := range slices.Backward(w.items) {
		if prune == nil || it.result >= 0 || changed[it.message] != nil {
			d.add(it, &rows[i], changed[it.message], prune, cut)
		}
	}
	w.run.Decision = d
	return nil
}

// add adds a message, newer ones first. For a policy that prunes, results have the tokens that it
// counts, and only they are in the running total. cut is set if a summary replaces messages.
func (d *Decision) add(it decided, row *outline.Row, c *Change, prune *compact.Layer, cut bool) {
	one := Decided{Entry: sessionfmt.Quote(row.ID), Line: row.Line,
		What: cmp.Or(it.what, strings.TrimSpace(row.Kind+" "+row.Text)), Tokens: it.tokens, Action: "keep"}
	if n := len(d.Items); n > 0 {
		one.Running = d.Items[n-1].Running
	}
	if prune != nil && it.result >= 0 {
		one.Tokens = it.result
	}
	if prune == nil || it.result >= 0 {
		one.Running += one.Tokens
	}
	switch {
	case c != nil:
		one.Action, one.Why, one.Now = c.Action, c.Why, c.Now
		if c.Message != it.message || len(c.Gone) > 0 {
			one.Now = 0
		}
	case cut:
		one.Why = "outside the summary"
	case prune == nil:
	case it.result <= prunable:
		one.Why = fmt.Sprintf("at most %d tokens", prunable)
	default:
		one.Why = fmt.Sprintf("within %d tokens", prune.Protect)
	}
	d.Items = append(d.Items, one)
}

// prunable is the size of the results, in tokens, that gsh never prunes.
const prunable = 100

// called returns a call in a few words, with the last two elements of an absolute path.
func called(tool string, args jsonl.Value) string {
	for arg := range args.Strings {
		text := arg.Text()
		if dir, file := path.Split(text); strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n") {
			text = path.Join(path.Base(dir), file)
		}
		return outline.FirstWords(tool + " " + text)
	}
	return cmp.Or(tool, jsonl.ToolResult.String())
}
