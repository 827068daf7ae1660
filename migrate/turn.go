package migrate

import (
	"slices"

	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A chain is the compactions that count on one path, root first.
type chain []*turning

// A turning is a compaction, and whether it becomes a patch.
type turning struct {
	replay.Cut
	stays string // why it does not; empty where it does
}

// decide finds the compactions that can be turned. Each path that ends with a
// compaction is replayed once.
func (p *Plan) decide() error {
	r := replay.New(p.s, replay.Options{Rules: replay.ByEnvelope, Leaf: p.s.Leaf()})
	edited, err := p.edited()
	if err != nil {
		return err
	}
	known := map[int]*turning{}
	var chains []chain
	for _, leaf := range p.lastCompactions() {
		_, loops := p.s.Path(leaf)
		cuts, stopped := r.Cuts(leaf)
		var c chain
		for _, cut := range cuts {
			t := known[cut.Record]
			if t == nil {
				t = &turning{cut, cut.Why}
				known[cut.Record] = t
				if edited[cut.Record] {
					t.stays = "an edit aims at it, and would not reach a patch"
				}
				if err := p.clashes(t); err != nil {
					return err
				}
			}
			if len(loops) > 0 {
				t.stays = "the way up from it comes back to itself"
			}
			c = append(c, t)
		}
		chains = append(chains, c)
		if stopped != nil {
			p.unreached(leaf, known)
		}
	}
	p.settle(chains)
	for rec, t := range known {
		if t.stays == "" {
			p.turn[rec] = t.Index
		} else {
			p.native(rec, t.stays)
		}
	}
	p.Turned = len(p.turn)
	slices.SortFunc(p.Native, func(a, b sessionfmt.Finding) int { return a.Line - b.Line })
	if p.Compaction == Transform && p.Turned > 0 {
		return p.grow()
	}
	return nil
}

// native reports a compaction that stays as it is.
func (p *Plan) native(rec int, why string) {
	p.Native = append(p.Native, sessionfmt.Finding{
		Code: "native-compaction", Line: p.s.Line(rec), Entry: sessionfmt.Quote(p.s.ID(rec)), Text: "the compaction stays as it is: " + why,
	})
}

// lastCompactions are the compactions that have no other one below them: their
// paths hold all there are.
func (p *Plan) lastCompactions() (last []int) {
	above := make([]uint64, p.s.Len()/64+1)
	var all []int
	for i := range p.s.Len() {
		if p.s.Kind(i) != sessionfmt.Compaction {
			continue
		}
		all = append(all, i)
		for up := p.s.Parent(i); up >= 0 && above[up/64]>>(up%64)&1 == 0; up = p.s.Parent(up) {
			above[up/64] |= 1 << (up % 64)
		}
	}
	for _, i := range all {
		if above[i/64]>>(i%64)&1 == 0 {
			last = append(last, i)
		}
	}
	return last
}

// edited are the records that edits anywhere in the file aim at.
func (p *Plan) edited() (map[int]bool, error) {
	aimed := map[int]bool{}
	lines := p.s.NewReader()
	for i := range p.s.Len() {
		if p.s.Kind(i) != sessionfmt.ContextEdit {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return nil, err
		}
		if target := p.s.Find(line.Get("targetId").Text()); target >= 0 && p.s.Kind(target) == sessionfmt.Compaction {
			aimed[target] = true
		}
	}
	return aimed, nil
}

// clashes keeps a compaction whose line has members that mean something else in a
// transform. In a pair the line stays.
func (p *Plan) clashes(t *turning) error {
	if p.Compaction != Transform || t.stays != "" {
		return nil
	}
	line, err := p.s.NewReader().Line(t.Record)
	for key := range line.Members {
		if slices.Contains(own, string(key)) {
			t.stays = "it has a member that means something else in a patch"
		}
	}
	return err
}

// unreached reports the compactions behind a patch at which the replay stops, those
// aside that only repeat a transform.
func (p *Plan) unreached(leaf int, known map[int]*turning) {
	path, _ := p.s.Path(leaf)
	above := -1 // the entry before, labels aside
	for _, rec := range path {
		kind := p.s.Kind(rec)
		if kind == sessionfmt.Compaction && known[rec] == nil && (above < 0 || p.s.Kind(above) != sessionfmt.Transform) {
			known[rec] = &turning{replay.Cut{Record: rec}, "the replay stops at a patch before it"}
		}
		if kind != sessionfmt.Label {
			above = rec
		}
	}
}

// settle takes back what the compactions that stay do not allow. One that stays cuts
// the history without compactions, so that before it patches may stand only if they
// have cut nothing that it keeps. And a patch below one that stays changes both
// histories, with and without compactions, at places counted in only one of them:
// behind it no compaction may stay.
func (p *Plan) settle(chains []chain) {
	for again := true; again; {
		again = false
		for _, c := range chains {
			first := slices.IndexFunc(c, (*turning).isNative)
			last := len(c) - 1
			for last >= 0 && !c[last].isNative() {
				last--
			}
			for i := range max(0, last) {
				if c[i].isNative() {
					continue
				}
				if why := p.bound(c, i, first); why != "" {
					c[i].stays, again = why, true
				}
			}
		}
	}
}

func (t *turning) isNative() bool { return t.stays != "" }

// bound says why the compaction c[i], which has one that stays behind it, has to
// stay too. The first one that stays is c[first].
func (p *Plan) bound(c chain, i, first int) string {
	if i > first {
		return "it stands between compactions that stay"
	}
	for _, later := range c[i+1:] {
		if later.isNative() && later.Revives {
			return "a later compaction, which stays, brings back what it cut"
		}
	}
	if next := c[i+1]; p.Compaction == Transform && next.isNative() && next.Direct {
		return "the compaction right behind it stays, and would be taken for its shadow"
	}
	return ""
}

// grow counts by how much the context grows for who does not see patches.
func (p *Plan) grow() error {
	turned := make(map[int]bool, len(p.turn))
	for rec := range p.turn {
		turned[rec] = true
	}
	var sizes [2]int
	for i, without := range []map[int]bool{nil, turned} {
		e, err := replay.New(p.s, replay.Options{Rules: replay.ByPi, Leaf: p.s.Leaf(), Without: without}).At(p.s.Leaf(), false)
		if err != nil {
			return err
		}
		n, err := e.Count(&tokens.Pi)
		if err != nil {
			return err
		}
		sizes[i] = n.Total
	}
	p.Grown = sizes[1] - sizes[0]
	return nil
}
