package reuse

import (
	"slices"
	"strings"

	"ctxtool/internal/survival"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/outline"
)

// A Compaction is what a compaction dropped from the context that mattered: what its summary
// does not tell, and what answers used again. It is a line of schema ctxtool/compactions/1.
type Compaction struct {
	Schema  string   `json:"schema"`
	Entry   string   `json:"entry"`          // the compaction, or the transform that compacts
	Line    int      `json:"line"`           // of that entry, from 1
	Time    string   `json:"time,omitempty"` // of that entry, as it stands in the file
	Request int      `json:"request"`        // the next request, from 0
	Before  int      `json:"before"`         // tokens of the context before it, as pi's `/context` counts them
	After   int      `json:"after"`          // and after it
	Dropped int      `json:"dropped"`        // messages that left the context
	Kept    int      `json:"kept"`           // messages after it, its summary included
	Lost    []Lost   `json:"lost"`           // what the dropped messages told and the summary does not, what matters most first; paths that are in `used` are not in it
	Used    []Reused `json:"used"`           // what answers after it used of the dropped messages, and neither the summary nor a kept message says; the least likely chance first
}

// A Lost is a fact that the summary does not tell.
type Lost struct {
	Kind  string `json:"kind"`  // `constraint` (a demand of the user), `failure` (a call that failed and did not succeed later), `path` (of a file that a tool was called with), `command` (that did something)
	What  string `json:"what"`  // the sentence, path or command, or what failed and how
	Entry string `json:"entry"` // that told it
	Line  int    `json:"line"`  // of that entry
}

// A Reused is something that was dropped and used again.
type Reused struct {
	Kind  Kind     `json:"kind"`  // `call` (the same call again), `path`, `line` (of at least 24 bytes), `identifier`
	What  string   `json:"what"`  // the path, word or line, or the call in a few words
	Entry string   `json:"entry"` // the last dropped message that says it
	Line  int      `json:"line"`  // of that entry
	By    []usedBy `json:"by"`    // the answers, in order
}

// A usedBy is an answer that used it.
type usedBy struct {
	Request int    `json:"request"`
	Entry   string `json:"entry"`
}

// A drop is a compaction while the walk goes on.
type drop struct {
	record, request int
	before, after   *replay.Envelope
}

// Compactions are those of the path to record leaf, each with what it dropped that was used
// again. stopped is the broken patch after which nothing is known.
func Compactions(r *replay.Replay, leaf int, c *tokens.Counter) (all []Compaction, stopped, err error) {
	u := New(r)
	before, err := r.At(sessionfmt.After(-1))
	if err != nil {
		return nil, nil, err
	}
	var drops []drop
	for step, err := range r.Walk(leaf, u) {
		if replay.Stopped(err) {
			stopped = err
			break
		}
		if err != nil {
			return nil, nil, err
		}
		now := step.Envelope()
		compacted, err := u.compacts(step)
		if err != nil {
			return nil, nil, err
		}
		if compacted {
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

// compacts reports whether a step is a compaction: by its effect, or as a patch by its name.
func (u *Uses) compacts(step replay.Step) (bool, error) {
	if step.Did != replay.Patched {
		return step.Did == replay.Compacted, nil
	}
	line, err := u.load.Line(step.Record)
	return line.Get("transformerName").Is("compaction"), err
}

// compaction is a drop with what was used of it.
func (u *Uses) compaction(r *replay.Replay, d drop, c *tokens.Counter) (one Compaction, err error) {
	s := r.Session
	kept := map[replay.Piece]bool{}
	left, gone := sent(d.after), sent(d.before)
	for _, p := range left {
		kept[p.Identity()] = true
	}
	gone = slices.DeleteFunc(gone, func(p *replay.Piece) bool { return kept[p.Identity()] })
	var n []weigh.Counts
	if n, err = replay.CountAll(c, d.before, d.after); err != nil {
		return one, err
	}
	line, err := u.load.Line(d.record)
	if err != nil {
		return one, err
	}
	one = Compaction{
		Schema: "ctxtool/compactions/1", Entry: s.ID(d.record), Line: s.Line(d.record), Time: line.Get("timestamp").Text(), Request: d.request,
		Before: n[0].Total, After: n[1].Total, Dropped: len(gone), Kept: len(left), Used: []Reused{},
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

// sent are the messages of a request.
func sent(e *replay.Envelope) (all []*replay.Piece) {
	for i := range e.Len() {
		if p := e.Piece(i); p.Sent() {
			all = append(all, p)
		}
	}
	return all
}

// lost adds what the summary does not tell.
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
