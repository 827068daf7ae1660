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
	Meter       *prompt.Meter // measures prompts and tools if set
	Current     prompt.Fold   // result of the last Follow, without texts of parts; see Reader.Texts

	load  *Reader
	seen  []delta
	own   bool
	begun bool
	tools bool // only tools are needed
	front leadingDeltas

	ops  []delta     // fold over the whole prompt
	over prompt.Fold // effect of the ops on any prompt; see prompt.Fold.Onto
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

// Later reports whether a step has system messages after the first message.
func (p *PromptTracker) Later(s Step) bool {
	_, later := p.front.follow(s.m.current())
	return later
}

// Reach advances to an envelope.
func (p *PromptTracker) Reach(e *Envelope) error {
	_, err := p.follow(e.r, e.state.deltas)
	return err
}

// Texts fills in the texts of parts that a PromptTracker omits.
func (l *Reader) Texts(parts []prompt.Part) error {
	return prompt.Texts(parts, func(f *prompt.Fold, from any) error { return l.apply(f, from.(*delta)) })
}

// Prompt returns a prompt that a PromptTracker has followed, with its texts, but not Compiled.
func (l *Reader) Prompt(f *prompt.State) (prompt.Prompt, error) {
	p := f.Prompt()
	return p, l.Texts(p.Parts)
}

// follow advances to the deltas of the state in force, and reports whether they changed
// anything.
func (p *PromptTracker) follow(r *Replay, deltas []delta) (changed bool, err error) {
	fresh := deltas
	extends := p.begun && begins(deltas, p.seen)
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
		return true, p.fold(&p.Current, fresh)
	}
	p.Current = r.startingPrompt(own, prompt.Fold{Meter: p.Meter, ToolsOnly: p.tools})
	return true, p.refold(deltas)
}

// begins reports whether deltas begin with those seen before. A list that has grown may have been copied.
func begins(deltas, seen []delta) bool {
	n := len(seen)
	return n == 0 || len(deltas) >= n && (&deltas[0] == &seen[0] || slices.Equal(deltas[:n], seen))
}

// fold applies deltas without keeping the texts of parts.
func (p *PromptTracker) fold(f *prompt.Fold, deltas []delta) error {
	for _, d := range deltas { // a copy: a prompt that is kept would otherwise keep all of them
		f.Begin(&d)
		if err := p.load.apply(f, &d); err != nil {
			return err
		}
	}
	return nil
}

// refold applies all deltas: a checkpoint, the ops after it, then the rest.
func (p *PromptTracker) refold(deltas []delta) error {
	isOp := func(d delta) bool { return d.op != nil }
	lead := slices.IndexFunc(deltas, isOp)
	if lead < 0 {
		return p.fold(&p.Current, deltas)
	}
	if err := p.fold(&p.Current, deltas[:lead]); err != nil {
		return err
	}
	ops := deltas[lead:]
	if next := slices.IndexFunc(ops, func(d delta) bool { return !isOp(d) }); next >= 0 {
		ops = ops[:next]
	}
	if n := len(p.ops); n == 0 || n > len(ops) || !slices.Equal(p.ops, ops[:n]) {
		p.ops, p.over = nil, prompt.OfOps(&p.Current)
	}
	if err := p.fold(&p.over, ops[len(p.ops):]); err != nil {
		p.ops = nil // some of these deltas are now part of the fold
		return err
	}
	p.ops = ops
	p.over.Onto(&p.Current)
	return p.fold(&p.Current, deltas[lead+len(ops):])
}

// Fork returns a tracker for another branch, which continues from the state of from, at to.
func (p *PromptTracker) Fork(from, to Step) PromptTracker {
	had, have := from.m.current().deltas, to.m.current().deltas
	if !p.begun || len(p.seen) > len(had) || len(p.seen) > 0 && &p.seen[0] != &had[0] {
		return PromptTracker{LeadingOnly: p.LeadingOnly, Meter: p.Meter, load: p.load, tools: p.tools}
	}
	next := *p
	next.seen = have[:len(p.seen)]
	next.Current.State = p.Current.Kept()
	next.ops, next.over, next.front = nil, prompt.Fold{}, leadingDeltas{}
	return next
}

// Tools follows the tools of the request that the step answers, or of the next one. known reports
// whether the session or a baseline records them.
func (s Step) Tools() (tools *prompt.Fold, known, changed bool, err error) {
	p := &s.m.prompt
	p.tools = p.tools || !p.begun
	changed, err = p.follow(s.m.r, s.m.current().deltas)
	return &p.Current, p.Current.Known, changed, err
}

// A leadingDeltas filters out the effect of system messages after the first message.
type leadingDeltas struct {
	deltas []delta // deltas without those of later system messages
	seen   []delta // the input of the last call
	lead   int     // number of leading system messages in it
	all    int     // number of all system messages in it
}

// follow returns the deltas without those of later system messages, and whether there are any.
// As long as deltas are only appended, the returned slice grows the same way, so each delta is
// applied once.
func (p *leadingDeltas) follow(s *state) (deltas []delta, later bool) {
	lead := countLeadingSystems(&s.msgs)
	grown := len(p.seen) > 0 && lead == p.lead && begins(s.deltas, p.seen)
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
