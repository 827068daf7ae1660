package replay

import (
	"slices"

	"ctxtool/replay/prompt"
)

// A Prompting follows prompt, tools and options along a walk. It folds only what has
// been added since it was last asked. A compaction brings back all ops: what they do to
// any prompt is kept, and they are not read again.
type PromptTracker struct {
	LeadingOnly bool          // system messages after the first message change nothing: they are sent where they stand
	Current     prompt.Prompt // as of the last Follow, not Compiled

	load  *Reader
	f     prompt.Fold
	seen  []delta
	own   bool
	begun bool
	tools bool // only tools are asked for: texts are left alone
	front leadingDeltas

	ops  []delta     // folded into over
	over prompt.Fold // what ops make of any prompt; see prompt.Fold.Onto
}

// Follow continues to where a step is, and reports whether that changed anything.
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

// follow brings it to where the deltas of the state in force are, and says
// whether that has changed anything.
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

// refold folds all deltas: a checkpoint, the ops after it, and what came then.
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
		p.ops = nil // some of them are folded
		return err
	}
	p.ops = ops
	p.over.Onto(&p.f)
	return p.load.fold(&p.f, deltas[lead+len(ops):])
}

// Fork is the same for another way that continues from where from stands, as to.
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

// Tools are the tools of the request that the step answers, or of the next one,
// and whether the session or a baseline knows them. The slice is the same, and
// changed false, as long as nothing has changed since the last time it was asked
// for on the walk.
func (s Step) Tools() (tools []prompt.Tool, known, changed bool, err error) {
	p := &s.m.prompt
	p.tools = p.tools || !p.begun
	changed, err = p.follow(s.m.r, s.m.current().deltas)
	return p.f.Tools, p.own || s.m.r.Options.Baseline != nil, changed, err
}

// An inFront leaves out what system messages after the first message change.
type leadingDeltas struct {
	deltas []delta // without those of later system messages
	seen   []delta // what they have been taken from
	lead   int     // system messages in front, when they were
	all    int     // system messages
}

// follow reports whether there are later system messages, and gives the deltas without
// them. The slice continues where it was as long as nothing but more deltas has come,
// so that each is folded once.
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

// countLeadingSystems is how many system messages stand before all messages.
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
