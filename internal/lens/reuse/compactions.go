package reuse

import (
	"cmp"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/lens/survival"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A Compaction lists what mattered of the messages that a compaction dropped: facts that its
// summary lacks, and terms that later answers used. It is a line of schema
// ctxtool/lost/1.
type Compaction struct {
	Schema  string `json:"schema"`
	Entry   string `json:"entry"`           // the compaction, or the transform that compacts
	Line    int    `json:"line"`            // of that entry, from 1
	Reset   bool   `json:"reset,omitempty"` // it is a reset: a compaction without a summary
	Time    string `json:"time,omitempty"`  // of that entry, as in the file
	Request int    `json:"request"`         // the next request, from 0
	Before  int    `json:"before"`          // tokens of the context before it, as pi's `/context` counts them
	After   int    `json:"after"`           // and after it
	Dropped int    `json:"dropped"`         // messages that left the context
	Kept    int    `json:"kept"`            // messages after it, its summary included
	// dropped facts that the summary lacks, the most important first
	Lost []Lost `json:"lost"`
	// dropped content that later answers used while no message had it, as the regrets of `simulate`;
	// the least likely to be chance first
	Used []Reused `json:"used"`
}

// A Lost is a fact that the summary lacks.
type Lost struct {
	// `constraint` (a demand of the user), `failure` (of a call, without later success), `path` (used in a
	// tool call), `command` (with an effect)
	Kind  string `json:"kind"`
	What  string `json:"what"`           // the sentence, path or command, or the call that failed and its error
	Entry string `json:"entry"`          // the entry with the fact
	Line  int    `json:"line"`           // of that entry
	Used  bool   `json:"used,omitempty"` // a path that `used` has too
}

// A Reused is a term of dropped messages that later answers used.
type Reused struct {
	Kind  Kind     `json:"kind"`  // `call` (the same call again), `path`, `line` (of at least 24 bytes), `identifier`
	What  string   `json:"what"`  // the path, word or line, or the call in a few words
	Entry string   `json:"entry"` // the entry of the last dropped message that has it
	Line  int      `json:"line"`  // of that entry
	By    []usedBy `json:"by"`    // the answers, in order; an answer that uses it brings it back
}

// A usedBy is an answer that used it.
type usedBy struct {
	Request int    `json:"request"`
	Entry   string `json:"entry"`
}

// A drop is a compaction during the walk.
type drop struct {
	*survival.Boundary
	record, request int
	before, after   int // tokens
	used            []Reused
}

// A tracing finds what the answers of a path use of what its compactions dropped.
type tracing struct {
	r        *replay.Replay
	drops    []drop
	leavings []leaving
	answers  []answered      // from the first drop on
	messages replay.Messages // the last ones of the walk, which know all
	known    int32           // messages so far
}

// An answered is an answer: its entry, its message, and the request that it answers.
type answered struct {
	record  int
	number  int32
	request int
}

// A leaving is what a step took from the context and what it brought back, before an answer.
type leaving struct {
	answer     int // index in answers
	drop       int // of the step, -1 for none
	gone, back []int32
}

// Compactions returns the compactions of the path to record leaf. stopped is the error of the
// broken patch that ended the replay, if any.
func Compactions(r *replay.Replay, leaf int, c *tokens.Counter) (all []Compaction, stopped, err error) {
	t := &tracing{r: r}
	if stopped, err = t.walk(leaf, c); err != nil || len(t.drops) == 0 {
		return []Compaction{}, stopped, err
	}
	if err := t.uses(); err != nil {
		return nil, nil, err
	}
	for i := range t.drops {
		one, err := t.compaction(&t.drops[i])
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	return all, stopped, nil
}

// walk finds the compactions and the answers after the first of them.
func (t *tracing) walk(leaf int, c *tokens.Counter) (stopped, err error) {
	meter := ledger.New(t.r, ledger.Options{Counter: c, Sizes: true}).Meter()
	path, size, found := 0, 0, survival.Follower{}
	way, _ := t.r.Session.Path(leaf)
	for step, err := range t.r.Walk(leaf) {
		if replay.Stopped(err) {
			return err, nil
		}
		if err != nil {
			return nil, err
		}
		now := step.Messages()
		b, err := found.Step(t.r, step)
		if err != nil {
			return nil, err
		}
		if b != nil {
			n, _, err := meter.Count(step)
			if err != nil {
				return nil, err
			}
			t.drops = append(t.drops, drop{
				Boundary: b, record: step.Record, request: step.Requests(), before: size, after: n.Total,
			})
		}
		t.leave(now, step.Record)
		if step.Did == replay.Added && t.r.Session.Kind(step.Record) == jsonl.Assistant && len(t.drops) > 0 {
			t.answers = append(t.answers, answered{step.Record, now.Number(now.Listed() - 1), step.Requests() - 1})
		}
		t.messages = now
		if path++; path < len(way) && survival.MayCompact(t.r.Session.Kind(way[path])) {
			n, _, err := meter.Count(step)
			if err != nil {
				return nil, err
			}
			size = n.Total
		}
	}
	return nil, nil
}

// leave records what the step of a record took from the context.
func (t *tracing) leave(now replay.Messages, record int) {
	one := leaving{answer: len(t.answers), drop: -1, gone: t.messages.Without(now)}
	if n := len(t.drops) - 1; n >= 0 && t.drops[n].record == record {
		one.drop = n
	}
	known := t.known
	for _, number := range now.Without(t.messages) {
		if t.known = max(t.known, number+1); number < known {
			one.back = append(one.back, number)
		}
	}
	if len(one.gone)+len(one.back) > 0 {
		t.leavings = append(t.leavings, one)
	}
}

// uses finds what answers use of each drop.
func (t *tracing) uses() error {
	pieces := make([]replay.Piece, t.known)
	for number := range pieces {
		pieces[number] = t.messages.Numbered(int32(number))
	}
	x, err := newIndex(t.r, pieces)
	if err != nil {
		return err
	}
	var all []Regret // each of one term
	removals, next := x.Removals(), 0
	for i, a := range t.answers {
		for ; next < len(t.leavings) && t.leavings[next].answer <= i; next++ {
			one := &t.leavings[next]
			for _, number := range one.gone {
				removals.Remove(int(number), one.drop+1, false)
			}
			for _, number := range one.back {
				removals.Restore(int(number))
			}
		}
		for _, one := range removals.missed(i, int(a.number)) {
			// What was read again was forgotten, even if it has changed; a command run again after a change was not.
			stale := one.Kind == Call && x.acts[one.Answer] && x.stale(one.Message, one.Answer)
			if one.Removed > 0 && !stale { // and not by an edit
				all = append(all, one)
			}
		}
	}
	names, err := x.Names(all)
	t.use(all, names)
	return err
}

// use adds what answers used to the drops.
func (t *tracing) use(all []Regret, names []string) {
	type thing struct {
		drop int
		kind Kind
		name string
	}
	s, at := t.r.Session, map[thing]int{}
	for i := range all {
		one := &all[i]
		d, answer, is := &t.drops[one.Removed-1], &t.answers[one.Request], thing{one.Removed, one.kind(), names[i]}
		k, known := at[is]
		if !known {
			from := t.messages.Numbered(int32(one.Message)).Origin().Record
			k = len(d.used)
			at[is], d.used = k,
				append(d.used, Reused{Kind: is.kind, What: is.name, Entry: s.ID(from), Line: s.Line(from)})
		}
		u, by := &d.used[k], usedBy{answer.request, s.ID(answer.record)}
		if n := len(u.By); n == 0 || u.By[n-1] != by {
			u.By = append(u.By, by)
		}
	}
}

// compaction returns the Compaction of a drop.
func (t *tracing) compaction(d *drop) (one Compaction, err error) {
	s := t.r.Session
	line, err := s.NewReader().Line(d.record)
	if err != nil {
		return one, err
	}
	one = Compaction{
		Schema: "ctxtool/lost/1", Entry: s.ID(d.record), Line: s.Line(d.record),
		Reset: s.Kind(d.record) == jsonl.Reset, Time: line.Get("timestamp").Text(), Request: d.request,
		Before: d.before, After: d.after, Dropped: len(d.Gone), Kept: d.Kept + len(d.Summary),
		Lost: []Lost{}, Used: append([]Reused{}, d.used...),
	}
	sorting.By(one.Used, func(a, b Reused) int {
		return cmp.Or(
			slices.Index(order, a.Kind)-slices.Index(order, b.Kind),
			len(b.By)-len(a.By), a.By[0].Request-b.By[0].Request, strings.Compare(a.What, b.What),
		)
	})
	paths := map[string]bool{}
	for _, u := range one.Used {
		if u.Kind == Path {
			paths[string(lastTwo([]byte(u.What)))] = true
		}
	}
	for _, of := range []struct {
		kind string
		survival.Kept
	}{{"constraint", d.Constraints}, {"failure", d.Errors}, {"path", d.Paths}, {"command", d.Commands}} {
		for _, f := range of.Lost {
			used := of.kind == "path" && paths[string(lastTwo([]byte(f.What)))]
			one.Lost = append(one.Lost, Lost{of.kind, outline.FirstWords(f.What), s.ID(f.Record),
				s.Line(f.Record), used})
		}
	}
	return one, nil
}
