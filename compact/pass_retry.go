package compact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// RetryPrune removes tool calls that failed and were made again, with their results and the
// answers in between, as y-agent does (docs/policies.md 4.4). Calls
// and results stay together.
var RetryPrune = Pass{
	Name:     "retry-prune",
	About:    "drop failed tool calls that were tried again",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes},
	reads:    "intra-turn min-tokens",
	run:      retryPrune,
}

// notWorth is the skip reason when the candidates are too small.
const notWorth = "the candidates have fewer tokens than are worth a run"

// A candidate is messages to be removed together, and why.
type candidate struct {
	messages []int
	why      string
}

func retryPrune(w *Work) {
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
	for _, i := range slices.Sorted(maps.Keys(rows)) {
		if !w.may(Omit, i) {
			delete(rows, i)
		}
	}
	w.keepPaired(rows)
	for _, i := range slices.Sorted(maps.Keys(rows)) {
		w.Omit(i, rows[i])
	}
}

// keepPaired removes from rows, the messages to remove, every group that is not complete in it: a call would
// lose its result, or a result its call.
func (w *Work) keepPaired(rows map[int]string) {
	for i := range rows {
		call := w.headOf(i)
		if call < 0 {
			continue
		}
		g := w.group(call)
		all := g.all()
		if !slices.ContainsFunc(all, func(i int) bool { return rows[i] == "" }) {
			continue
		}
		for _, i := range all {
			delete(rows, i)
		}
	}
}

// A turn is the pass's memory of the last turn. A failed group waits until each of its calls is repeated.
type turn struct {
	start   int
	calls   []int          // its messages with calls
	made    map[int][]made // by message: the calls in it
	waiting []waiting      // its groups that failed
	again   []int          // calls of groups that were repeated, including those of earlier turns
}

// A waiting is a group that failed.
type waiting struct {
	call int
	left []made // its calls that were not repeated yet
}

// retried returns the candidates: groups of a user turn whose results all
// failed and whose calls are all made again later in the turn, and the answers without calls
// up to the next group.
func (w *Work) retried() (found []candidate) {
	t := recall[turn](w)
	var earlier, answered []int
	if t.start > 0 && w.Messages[t.start].Removed {
		*t = turn{start: w.turnOf(w.settled), again: t.again}
		w.settled = t.start
	}
	for i := range w.news {
		switch {
		case i < t.start:
			earlier = append(earlier, w.turnOf(i))
			continue
		case i > t.start && w.Live(i) && w.Messages[i].startsTurn():
			w.wait(t, answered)
			*t, answered = turn{start: i, again: t.again}, nil
		}
		answered = w.extend(t, answered, i)
	}
	w.wait(t, answered)
	if !w.IntraTurn {
		slices.Sort(earlier)
		for _, start := range slices.Compact(earlier) {
			t.again = w.retriedIn(start, t.start, t.again)
		}
	}
	slices.Sort(t.again)
	t.again = slices.DeleteFunc(slices.Compact(t.again), func(call int) bool { return w.headOf(call) < 0 })
	for _, call := range t.again {
		found = w.candidates(found, call)
	}
	if !w.IntraTurn && w.MinTokens == 0 { // they are removed now, or cannot be
		t.again = nil
	}
	return found
}

// retriedIn appends the groups of an earlier turn whose calls were repeated.
func (w *Work) retriedIn(start, end int, again []int) []int {
	t, answered := turn{start: start, again: again}, []int(nil)
	for i := start; i < end && (i == start || !w.Live(i) || !w.Messages[i].startsTurn()); i++ {
		answered = w.extend(&t, answered, i)
	}
	w.wait(&t, answered)
	return t.again
}

// extend adds a message to a turn: its calls may be those that groups wait for. It appends the call of a
// result.
func (w *Work) extend(t *turn, answered []int, i int) []int {
	at, had := slices.BinarySearch(t.calls, i)
	switch call := w.headOf(i); {
	case had && call < 0: // the message that others waited for may be gone
		t.calls = slices.Delete(t.calls, at, at+1)
		for _, q := range t.waiting {
			answered = append(answered, q.call)
		}
		answered, t.waiting, t.again = append(answered, t.again...), nil, nil
	case call == i:
		if !had {
			t.calls = slices.Insert(t.calls, at, i)
			w.madeAgain(t, t.waiting, i)
		} else if _, changed := slices.BinarySearch(w.changed, i); changed {
			delete(t.made, i)
		}
	case call >= t.start && (len(answered) == 0 || answered[len(answered)-1] != call):
		answered = append(answered, call)
	}
	return answered
}

// wait lets failed groups wait, and moves those that need not wait to again.
func (w *Work) wait(t *turn, answered []int) {
	slices.Sort(answered)
	known := t.waiting
	for _, call := range slices.Compact(answered) {
		if w.headOf(call) < 0 || slices.ContainsFunc(known, func(q waiting) bool { return q.call == call }) {
			continue
		}
		if g := w.group(call); !w.allFailed(&g) {
			continue
		}
		t.waiting = append(t.waiting, waiting{call, slices.Clone(w.tries(t, call))})
		n, _ := slices.BinarySearch(t.calls, call+1)
		for _, later := range t.calls[n:] {
			w.madeAgain(t, t.waiting[len(t.waiting)-1:], later)
		}
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(q waiting) bool {
		if len(q.left) == 0 {
			t.again = append(t.again, q.call)
		}
		return len(q.left) == 0
	})
}

// madeAgain removes from groups the calls that a message repeats.
func (w *Work) madeAgain(t *turn, groups []waiting, call int) {
	for k := range groups {
		groups[k].left = slices.DeleteFunc(groups[k].left, func(c made) bool {
			return slices.ContainsFunc(w.tries(t, call), c.again)
		})
	}
}

// tries returns the calls of a message of a turn.
func (w *Work) tries(t *turn, call int) []made {
	all, known := t.made[call]
	if !known {
		if t.made == nil {
			t.made = map[int][]made{}
		}
		all = w.made(call)
		t.made[call] = all
	}
	return all
}

// candidates appends a group and the answers before the next one, if it is not the last one of its
// turn.
func (w *Work) candidates(found []candidate, call int) []candidate {
	g := w.group(call)
	if !w.allFailed(&g) {
		return found
	}
	all := []candidate{{g.all(), "failed, and tried again"}}
	for i := call + 1; i < len(w.Messages); i++ {
		switch m := &w.Messages[i]; {
		case w.headOf(i) == i:
			return append(found, all...)
		case w.Live(i) && m.startsTurn():
			return found
		case w.Live(i) && m.isAssistant():
			all = append(all, candidate{[]int{i}, "led from a failure to the next try"})
		}
	}
	return found
}

// turnOf returns the index of the message that begins the turn of a message, 0 without one.
func (v *View) turnOf(i int) int {
	for i = min(i, len(v.Messages)-1); i > 0 && !(v.Live(i) && v.Messages[i].startsTurn()); {
		i--
	}
	return max(i, 0)
}

// allFailed reports whether a group has results, one for each call, and all are errors.
func (w *Work) allFailed(g *group) bool {
	return len(g.results) > 0 && !g.open() && !slices.ContainsFunc(g.results, func(i int) bool { return !w.failed(i) })
}

// intraTurn returns the candidates in the last turn before its last group.
func (w *Work) intraTurn(found []candidate) (few []candidate) {
	if len(found) == 0 {
		return nil
	}
	start, last := w.turnOf(len(w.Messages)), -1 // the last group with a result
	for i := range w.backward {
		if w.headOf(i) == i && len(w.group(i).results) > 0 {
			last = i
			break
		}
	}
	sorting.By(found, func(a, b candidate) int { return a.messages[0] - b.messages[0] })
	for _, c := range found {
		if c.messages[0] < start || c.messages[len(c.messages)-1] >= last {
			continue
		}
		few = append(few, c)
	}
	return few
}

// This file recognises failures and retries as y-agent does (docs/policies.md 4.4).

// isErrorText reports whether a result reads like a failure. Case and leading blanks matter.
func isErrorText(s string, patterns []string) bool {
	return strings.HasPrefix(s, "FAILED") || strings.HasPrefix(s, "failed to") || strings.HasPrefix(s, "not found") ||
		containsAny(s, `"error":`, `"error_type":`, "error:", "Error:", "parameter validation failed",
			"permission denied") ||
		containsAny(s, patterns...)
}

// repeats reports whether two texts have the same character at more than 90 % of the places.
func repeats(a, b string) bool { return similarity(a, b, 0.9) > 0.9 }

// similarity returns the number of places with the same character, divided by the bytes of
// the longer text, as y-agent computes it: a text that is not ASCII has less than 1 even with
// itself. It stops early with 0 if the result cannot exceed least.
func similarity(a, b string, least float64) float64 {
	switch {
	case a == "" && b == "":
		return 1
	case a == "" || b == "":
		return 0
	}
	same, long := 0, float64(max(len(a), len(b)))
	for a != "" && b != "" {
		if float64(same+min(len(a), len(b))) <= least*long {
			return 0
		}
		x, n := utf8.DecodeRuneInString(a)
		y, k := utf8.DecodeRuneInString(b)
		if x == y {
			same++
		}
		a, b = a[n:], b[k:]
	}
	return float64(same) / long
}

// failed reports whether a result is an error: by its isError, else by its text.
func (w *Work) failed(i int) bool {
	k := w.Messages[i].result()
	if known := w.Messages[i].Blocks[k].IsError; known != 0 {
		return known == isError
	}
	return isErrorText(w.Text(i, k), w.Patterns)
}

// A made is a call with what identifies its retries.
type made struct {
	name   string // in lower case
	args   string // as normalised JSON
	file   string // the file that it is for, "" for none
	leaves string // all strings in its arguments
}

// made returns the calls of a message.
func (w *Work) made(i int) (all []made) {
	for k, b := range w.Messages[i].Blocks {
		if b.Kind != jsonl.CallBlock {
			continue
		}
		text := w.Text(i, k)
		c := made{name: strings.ToLower(b.tool()), args: text}
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		var args any
		if d.Decode(&args) == nil {
			spelled, _ := json.Marshal(args) // decoded JSON can always be encoded
			c.args = string(spelled)
			c.leaves = strings.Join(leaves(nil, args), "\n")
		}
		for _, name := range []string{"path", "file_path", "filePath", "file"} { // names that y-agent checks
			if c.file, _ = activity.File(jsonl.Value(text).Get(name).Text()); c.file != "" {
				break
			}
		}
		all = append(all, c)
	}
	return all
}

// leaves returns the strings in a value, in the order of names.
func leaves(all []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(all, v)
	case []any:
		for _, el := range v {
			all = leaves(all, el)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = leaves(all, v[name])
		}
	}
	return all
}

// again reports whether a call is made again by another: with the same arguments, for the same file,
// or with similar strings.
func (c *made) again(d made) bool {
	return d.name == c.name &&
		(d.args == c.args || c.file != "" && d.file == c.file || c.leaves != "" && repeats(c.leaves, d.leaves))
}
