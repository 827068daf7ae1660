package compact

import (
	"slices"

	"ctxtool/replay/tokens"
)

// RetryPrune removes tool calls that failed and were made again, with their results and the
// answers in between, as y-agent does (docs/policies.md 4.4). Calls
// and results stay together.
var RetryPrune = Pass{
	Name:     "retry-prune",
	About:    "drop failed tool calls that were tried again",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes},
	reads:    "intraTurn minTokens",
	run:      retryPrune,
}

// notWorth is the skip reason when the candidates are too small.
const notWorth = "the candidates have fewer tokens than are worth a run"

// A candidate is messages to be removed together, and why.
type candidate struct {
	messages []int
	why      string
}

func retryPrune(w *work) {
	found := w.retried()
	if w.IntraTurn {
		found = w.intraTurn(found)
	}
	total := 0
	rows := map[int]string{}
	for _, c := range found {
		for _, i := range c.messages {
			total += w.Messages[i].Tokens(&tokens.YBytes)
			if _, ok := rows[i]; !ok {
				rows[i] = c.why
			}
		}
	}
	if len(rows) > 0 && total < w.MinTokens {
		w.skip = notWorth
		return
	}
	for i := range w.Messages {
		if _, ok := rows[i]; ok && !w.may(Omit, i) {
			delete(rows, i)
		}
	}
	if len(rows) == 0 {
		return
	}
	w.keepPaired(rows)
	for i := range w.Messages {
		if why, ok := rows[i]; ok {
			w.omit(i, why)
		}
	}
}

// keepPaired removes from rows, the messages to be removed, every group that is not in them
// as a whole: a call would lose its result, or a result its call.
func (w *work) keepPaired(rows map[int]string) {
	groups, _ := w.groups()
	for _, g := range groups {
		all := g.all()
		if !slices.ContainsFunc(all, func(i int) bool { return rows[i] == "" }) {
			continue
		}
		for _, i := range all {
			delete(rows, i)
		}
	}
}

// retried returns the candidates: groups of a user turn whose results all
// failed and whose calls are all made again later in the turn, and the answers without calls
// up to the next group.
func (w *work) retried() (found []candidate) {
	start := 0
	if w.IntraTurn {
		start = w.lastTurn()
	}
	if !slices.ContainsFunc(w.Messages[start:], func(m message) bool { return m.mayFail() }) {
		return nil
	}
	groups, of := w.groups()
	for i := start; i <= len(w.Messages); i++ {
		if i == len(w.Messages) || w.Live(i) && w.Messages[i].startsTurn() {
			found = w.retriedIn(found, groups, of, start, i)
			start = i
		}
	}
	return found
}

// lastTurn returns the index of the message that begins the last turn, 0 without one.
func (v *View) lastTurn() int {
	for i := len(v.Messages) - 1; i > 0; i-- {
		if v.Live(i) && v.Messages[i].startsTurn() {
			return i
		}
	}
	return 0
}

// mayFail reports whether a message is a result that is not known to be a success.
func (m *message) mayFail() bool {
	k := m.result()
	return k >= 0 && m.Blocks[k].IsError != noError
}

// retriedIn appends the candidates of the turn of messages [from, to).
func (w *work) retriedIn(found []candidate, groups []group, of []int, from, to int) []candidate {
	var turn []int // its groups
	for i := from; i < to; i++ {
		if of[i] >= 0 && groups[of[i]].call == i {
			turn = append(turn, of[i])
		}
	}
	var calls *tries // read at the first failure
	for k, g := range turn {
		if k == len(turn)-1 || !w.allFailed(&groups[g]) {
			continue
		}
		if calls == nil {
			calls = w.tries(groups, turn)
		}
		if !calls.again(k) {
			continue
		}
		found = append(found, candidate{groups[g].all(), "failed, and tried again"})
		for i := groups[g].call + 1; i < groups[turn[k+1]].call; i++ {
			if w.Live(i) && w.Messages[i].isAssistant() {
				found = append(found, candidate{[]int{i}, "led from a failure to the next try"})
			}
		}
	}
	return found
}

// allFailed reports whether a group has results, one for each call, and all are errors.
func (w *work) allFailed(g *group) bool {
	return len(g.results) > 0 && !g.open() && !slices.ContainsFunc(g.results, func(i int) bool { return !w.failed(i) })
}

// intraTurn returns the candidates in the last turn before its last group.
func (w *work) intraTurn(found []candidate) (few []candidate) {
	if len(found) == 0 {
		return nil
	}
	start, last := w.lastTurn(), -1
	groups, _ := w.groups()
	for _, g := range groups {
		if len(g.results) > 0 {
			last = g.call
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.messages[0] - b.messages[0] })
	for _, c := range found {
		if c.messages[0] < start || c.messages[len(c.messages)-1] >= last {
			continue
		}
		few = append(few, c)
	}
	return few
}
