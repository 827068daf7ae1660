package replay

import (
	"slices"

	"ctxtool/replay/prompt"
)

// A PromptTracker follows prompt, tools and options along a walk. It only applies deltas added
// since its last call. A compaction brings back all ops; the tracker keeps their combined
// effect and does not read them again.
type PromptTracker struct {
	LeadingOnly bool          // ignore system messages after the first message, since they are sent in place
	Current     prompt.Prompt // after the last Follow, not Compiled

	load  *Reader
	f     prompt.Fold
	seen  []delta
	own   bool
	begun bool
	tools bool // only tools are needed, texts are not read
	front leadingDeltas

	ops  []delta     // applied to over
	over prompt.Fold // the effect of ops on any prompt; see prompt.Fold.Onto
}

// Follow advances to a step, and reports whether the prompt, tools or options changed.
func (p *PromptTracker) Follow(s Step) (changed bool, err error) {
	now := s.m.current()
	deltas := now.deltas
	if p.LeadingOnly {
		if fewer, later := p.front.follow(now); later {
			deltas = fewer
		}
	}
	return p.follow(s.m.r, deltas)
}

// Made returns a function that reads the current prompt again, so that its texts need not be kept.
// Its result is not Compiled.
func (p *PromptTracker) Made() func() (prompt.Prompt, error) {
	r, deltas := p.load.r, slices.Clip(p.seen)
	return func() (p prompt.Prompt, err error) {
		own := hasSystem(deltas)
		f := r.startingPrompt(own)
		err = r.NewReader().fold(&f, deltas)
		p = prompt.Prompt{Parts: f.Parts, Options: f.Options, Known: own || r.Options.Baseline != nil}
		p.Tools, p.Omitted = r.implemented(f.Tools)
		return p, err
	}
}

// follow advances to the deltas of the state in force, and reports whether they changed
// anything.
func (p *PromptTracker) follow(r *Replay, deltas []delta) (changed bool, err error) {
	fresh := deltas
	extends := p.begun && len(deltas) >= len(p.seen) && (len(p.seen) == 0 || &p.seen[0] == &deltas[0])
	if extends {
		fresh = deltas[len(p.seen):]
	}
	own := hasSystem(fresh) || extends && p.own
	extends = extends && own == p.own
	if extends && len(fresh) == 0 {
		return false, nil
	}
	if p.load == nil {
		p.load = r.NewReader()
	}
	p.seen, p.own, p.begun = deltas, own, true
	if extends {
		err = p.load.fold(&p.f, fresh)
	} else {
		p.f = r.startingPrompt(own)
		p.f.Textless = p.tools
		err = p.refold(deltas)
	}
	p.Current = prompt.Prompt{Parts: p.f.Parts, Options: p.f.Options, Known: p.own || r.Options.Baseline != nil}
	p.Current.Tools, p.Current.Omitted = r.implemented(p.f.Tools)
	return true, err
}

// refold applies all deltas: a checkpoint, the ops after it, then the rest.
func (p *PromptTracker) refold(deltas []delta) error {
	isOp := func(d delta) bool { return d.op != nil }
	lead := slices.IndexFunc(deltas, isOp)
	if lead < 0 {
		return p.load.fold(&p.f, deltas)
	}
	if err := p.load.fold(&p.f, deltas[:lead]); err != nil {
		return err
	}
	ops := deltas[lead:]
	if next := slices.IndexFunc(ops, func(d delta) bool { return !isOp(d) }); next >= 0 {
		ops = ops[:next]
	}
	if n := len(p.ops); n == 0 || n > len(ops) || !slices.Equal(p.ops, ops[:n]) {
		p.ops, p.over = nil, prompt.OfOps()
	}
	if err := p.load.fold(&p.over, ops[len(p.ops):]); err != nil {
		p.ops = nil // some of them are now part of the fold
		return err
	}
	p.ops = ops
	p.over.Onto(&p.f)
	return p.load.fold(&p.f, deltas[lead+len(ops):])
}

// Fork returns a tracker for another branch, which continues from the state of from, at to.
func (p *PromptTracker) Fork(from, to Step) PromptTracker {
	had, have := from.m.current().deltas, to.m.current().deltas
	if !p.begun || len(p.seen) > len(had) || len(p.seen) > 0 && &p.seen[0] != &had[0] {
		return PromptTracker{LeadingOnly: p.LeadingOnly, load: p.load, tools: p.tools}
	}
	next := *p
	next.seen = have[:len(p.seen)]
	next.f.Parts = slices.Clone(p.f.Parts)
	next.f.Tools = slices.Clone(p.f.Tools)
	next.Current.Parts = next.f.Parts
	next.ops, next.over, next.front = nil, prompt.Fold{}, leadingDeltas{}
	return next
}

// Tools returns the tools of the request that the step answers, or of the next one. known
// reports whether the session or a baseline records them. Within a walk the slice stays the
// same, and changed is false, until the tools change.
func (s Step) Tools() (tools []prompt.Tool, known, changed bool, err error) {
	p := &s.m.prompt
	p.tools = p.tools || !p.begun
	changed, err = p.follow(s.m.r, s.m.current().deltas)
	return p.f.Tools, p.own || s.m.r.Options.Baseline != nil, changed, err
}

// A leadingDeltas filters out the effect of system messages after the first message.
type leadingDeltas struct {
	deltas []delta // without those of later system messages
	seen   []delta // the input of the last call
	lead   int     // leading system messages at that time
	all    int     // all system messages
}

// follow returns the deltas without those of later system messages, and whether there are any.
// As long as deltas are only appended, the returned slice grows the same way, so each delta is
// applied once.
func (p *leadingDeltas) follow(s *state) (deltas []delta, later bool) {
	lead := countLeadingSystems(&s.msgs)
	grown := len(p.seen) > 0 && lead == p.lead && len(s.deltas) >= len(p.seen) && &p.seen[0] == &s.deltas[0]
	if !grown {
		p.deltas, p.seen, p.lead, p.all = nil, nil, lead, 0
	}
	for _, d := range s.deltas[len(p.seen):] {
		if d.op == nil && d.m.System() {
			if p.all++; p.all > lead {
				continue
			}
		}
		p.deltas = append(p.deltas, d)
	}
	p.seen = s.deltas
	return p.deltas, p.all > lead
}

// countLeadingSystems returns the number of system messages before all other messages.
func countLeadingSystems(l *list) (n int) {
	for _, m := range l.all {
		if m.Sent() {
			break
		}
		if m.System() {
			n++
		}
	}
	return n
}
