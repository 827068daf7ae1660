package replay

import "slices"

// A prompting is prompt, tools and options along a walk. It folds only what has
// been added since it was last asked.
type prompting struct {
	load  *loader
	f     folded
	seen  []delta
	own   bool
	begun bool
	tools bool // only tools are asked for: texts are left alone
}

// follow brings it to where the deltas of the state in force are, and says
// whether that has changed anything.
func (p *prompting) follow(r *Replay, deltas []delta) (changed bool, err error) {
	own := hasSystem(deltas)
	fresh := deltas
	extends := p.begun && own == p.own && len(deltas) >= len(p.seen) &&
		(len(p.seen) == 0 || &p.seen[0] == &deltas[0])
	if extends {
		fresh = deltas[len(p.seen):]
	}
	if extends && len(fresh) == 0 {
		return false, nil
	}
	if !extends {
		p.f = r.startingPrompt(own)
		p.f.textless = p.tools
	}
	if p.load == nil {
		p.load = r.newLoader()
	}
	p.seen, p.own, p.begun = deltas, own, true
	return true, p.load.fold(&p.f, fresh)
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
