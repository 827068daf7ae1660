package reuse

import (
	"slices"
	"strings"

	"ctxtool/internal/survival"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A Compaction lists what mattered of the messages that a compaction dropped: facts that its
// summary lacks, and terms that later answers used. It is a line of schema
// ctxtool/compactions/1.
type Compaction struct {
	Schema  string   `json:"schema"`
	Entry   string   `json:"entry"`           // the compaction, or the transform that compacts
	Line    int      `json:"line"`            // of that entry, from 1
	Reset   bool     `json:"reset,omitempty"` // it is a reset: a compaction without a summary
	Time    string   `json:"time,omitempty"`  // of that entry, as in the file
	Request int      `json:"request"`         // the next request, from 0
	Before  int      `json:"before"`          // tokens of the context before it, as pi's `/context` counts them
	After   int      `json:"after"`           // and after it
	Dropped int      `json:"dropped"`         // messages that left the context
	Kept    int      `json:"kept"`            // messages after it, its summary included
	Lost    []Lost   `json:"lost"`            // facts of the dropped messages that the summary lacks, the most important first, without paths that are in `used`
	Used    []Reused `json:"used"`            // what later answers used of the dropped messages and neither the summary nor a kept message has, the least likely to be chance first
}

// A Lost is a fact that the summary lacks.
type Lost struct {
	Kind  string `json:"kind"`  // `constraint` (a demand of the user), `failure` (a call that failed and did not succeed later), `path` (of a file that a tool was called with), `command` (one with an effect)
	What  string `json:"what"`  // the sentence, path or command, or the call that failed and its error
	Entry string `json:"entry"` // the entry with the fact
	Line  int    `json:"line"`  // of that entry
}

// A Reused is a term of dropped messages that later answers used.
type Reused struct {
	Kind  Kind     `json:"kind"`  // `call` (the same call again), `path`, `line` (of at least 24 bytes), `identifier`
	What  string   `json:"what"`  // the path, word or line, or the call in a few words
	Entry string   `json:"entry"` // the entry of the last dropped message that has it
	Line  int      `json:"line"`  // of that entry
	By    []usedBy `json:"by"`    // the answers, in order
}

// A usedBy is an answer that used it.
type usedBy struct {
	Request int    `json:"request"`
	Entry   string `json:"entry"`
}

// A drop is a compaction during the walk.
type drop struct {
	record, request int
	before, after   *replay.Envelope
}

// Compactions returns the compactions of the path to record leaf. stopped is the error of the
// broken patch that ended the replay, if any.
func Compactions(r *replay.Replay, leaf int, c *tokens.Counter) (all []Compaction, stopped, err error) {
	u := newUses(r)
	before, err := r.At(sessionfmt.After(-1))
	if err != nil {
		return nil, nil, err
	}
	var drops []drop
	for step, err := range r.Walk(leaf) {
		if replay.Stopped(err) {
			stopped = err
			break
		}
		if err != nil {
			return nil, nil, err
		}
		if err := u.answer(r, step); err != nil {
			return nil, nil, err
		}
		now := step.Envelope()
		if step.Did == replay.Compacted {
			drops = append(drops, drop{step.Record, step.Requests(), before, now})
		}
		before = now
	}
	all = make([]Compaction, 0, len(drops))
	var carried survival.Facts
	for _, d := range drops {
		one, err := u.compaction(r, d, c)
		if err == nil {
			err = one.lost(r.Session, d, &carried)
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	return all, stopped, nil
}

// compaction returns the Compaction of a drop, with the uses of what it dropped.
func (u *Uses) compaction(r *replay.Replay, d drop, c *tokens.Counter) (one Compaction, err error) {
	s := r.Session
	kept := map[replay.Piece]bool{}
	left, gone := sent(d.after), sent(d.before)
	for _, p := range left {
		kept[p.Identity()] = true
	}
	gone = slices.DeleteFunc(gone, func(p *replay.Piece) bool { return kept[p.Identity()] })
	before, err := d.before.Count(c)
	if err != nil {
		return one, err
	}
	after, err := d.after.Count(c)
	if err != nil {
		return one, err
	}
	line, err := u.load.Line(d.record)
	if err != nil {
		return one, err
	}
	one = Compaction{
		Schema: "ctxtool/compactions/1", Entry: s.ID(d.record), Line: s.Line(d.record), Reset: s.Kind(d.record) == jsonl.Reset, Time: line.Get("timestamp").Text(), Request: d.request,
		Before: before.Total, After: after.Total, Dropped: len(gone), Kept: len(left), Used: []Reused{},
	}
	uses, err := u.Of(slices.Values(gone), slices.Values(left), d.request)
	for _, use := range uses {
		if _, command, _ := strings.Cut(use.Name, " "); use.Kind == Call && survival.OnlyLooks(command) {
			continue
		}
		from := use.From.Origin().Record
		re := Reused{Kind: use.Kind, What: use.Name, Entry: s.ID(from), Line: s.Line(from)}
		for _, a := range use.Answers {
			re.By = append(re.By, usedBy{a.Request, s.ID(a.Record)})
		}
		one.Used = append(one.Used, re)
	}
	return one, err
}

// sent returns the messages of a request.
func sent(e *replay.Envelope) (all []*replay.Piece) {
	for i := range e.Len() {
		if p := e.Piece(i); p.Sent() {
			all = append(all, p)
		}
	}
	return all
}

// lost adds the facts that the summary lacks.
func (one *Compaction) lost(s *sessionfmt.Session, d drop, carried *survival.Facts) error {
	b, err := survival.Across(d.before, d.after, d.record, carried)
	if err != nil {
		return err
	}
	used := map[string]bool{} // paths
	for _, u := range one.Used {
		if u.Kind == Path {
			used[string(lastTwo([]byte(u.What)))] = true
		}
	}
	one.Lost = []Lost{}
	for _, of := range []struct {
		kind  string
		facts []survival.Fact
	}{{"constraint", b.Survival.Constraints.Lost}, {"failure", b.Survival.Errors.Lost}, {"path", b.Survival.Paths.Lost}, {"command", b.Survival.Commands.Lost}} {
		for _, f := range of.facts {
			if of.kind != "path" || !used[string(lastTwo([]byte(f.What)))] {
				one.Lost = append(one.Lost, Lost{of.kind, outline.FirstWords(f.What), s.ID(f.Record), s.Line(f.Record)})
			}
		}
	}
	return nil
}
