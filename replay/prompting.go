package replay

import "slices"

// A prompting is prompt, tools and options along a walk. It folds only what has
// been added since it was last asked. A compaction brings back all ops: what they do to
// any prompt is kept, and they are not read again.
type prompting struct {
	load  *loader
	f     folded
	seen  []delta
	own   bool
	begun bool
	tools bool // only tools are asked for: texts are left alone

	ops  []delta // folded into over
	over folded  // what ops make of any prompt; see folded.onto
}

// follow brings it to where the deltas of the state in force are, and says
// whether that has changed anything.
func (p *prompting) follow(r *Replay, deltas []delta) (changed bool, err error) {
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
		p.load = r.newLoader()
	}
	p.seen, p.own, p.begun = deltas, own, true
	if extends {
		return true, p.load.fold(&p.f, fresh)
	}
	p.f = r.startingPrompt(own)
	p.f.textless = p.tools
	return true, p.again(deltas)
}

// again folds all deltas: a checkpoint, the ops behind it, and what came then.
func (p *prompting) again(deltas []delta) error {
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
		p.ops, p.over = nil, folded{below: &below{parts: map[string]bool{}, tools: map[string]value{}}}
	}
	if err := p.load.fold(&p.over, ops[len(p.ops):]); err != nil {
		p.ops = nil // some of them are folded
		return err
	}
	p.ops = ops
	p.over.onto(&p.f)
	return p.load.fold(&p.f, deltas[lead+len(ops):])
}

// fork is the same for a machine that goes another way: had are the deltas that it
// follows, and have their copy there.
func (p *prompting) fork(had, have []delta) prompting {
	next := *p
	if !p.begun || len(p.seen) > len(had) || len(p.seen) > 0 && &p.seen[0] != &had[0] {
		return prompting{load: p.load, tools: p.tools}
	}
	next.seen = have[:len(p.seen)]
	next.f.parts = slices.Clone(p.f.parts)
	next.f.tools = slices.Clone(p.f.tools)
	next.ops, next.over = nil, folded{}
	return next
}

// Tools are the tools of the request that the step answers, or of the next one,
// and whether the session or a baseline knows them. The slice is the same, and
// changed false, as long as nothing has changed since the last time it was asked
// for on the walk.
func (s Step) Tools() (tools []Tool, known, changed bool, err error) {
	p := &s.m.prompt
	p.tools = p.tools || !p.begun
	changed, err = p.follow(s.m.r, s.m.now().deltas)
	return p.f.tools, p.own || s.m.r.opt.Baseline != nil, changed, err
}
