package migrate

import (
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A candidate is a compaction that may become a patch.
type candidate struct {
	replay.Cut
	stays string // why it stays; empty if it becomes a patch
}

// decide finds the compactions that can be converted.
func (p *Plan) decide() error {
	r := replay.New(p.s, replay.Options{Rules: replay.ByEnvelope})
	cuts, err := r.Cuts()
	if err != nil {
		return err
	}
	edited, err := p.edited()
	if err != nil {
		return err
	}
	all := make([]candidate, len(cuts))
	known := map[int]bool{}
	for i, cut := range cuts {
		all[i] = candidate{cut, cut.Why}
		known[cut.Record] = true
		if edited[cut.Record] {
			all[i].stays = "an edit targets it, which cannot apply to a patch"
		}
		if err := p.clashes(&all[i]); err != nil {
			return err
		}
	}
	p.settle(all)
	for _, t := range all {
		if t.stays == "" {
			p.turn[t.Record] = t.Index
		} else {
			p.native(t.Record, t.stays)
		}
	}
	if err := p.unreached(r, known); err != nil {
		return err
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
		Code: "native-compaction", Line: p.s.Line(rec), Entry: sessionfmt.Quote(p.s.ID(rec)), Text: "the compaction is not converted: " + why,
	})
}

// edited returns the records that are the target of an edit anywhere in the file.
func (p *Plan) edited() (map[int]bool, error) {
	aimed := map[int]bool{}
	lines := p.s.NewReader()
	for i := range p.s.Len() {
		if p.s.Kind(i) != jsonl.ContextEdit {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return nil, err
		}
		if target := p.s.Find(line.Get("targetId").Text()); target >= 0 && p.s.Kind(target) == jsonl.Compaction {
			aimed[target] = true
		}
	}
	return aimed, nil
}

// clashes keeps a compaction whose line has fields with another meaning in a transform. In a
// pair the line stays.
func (p *Plan) clashes(t *candidate) error {
	if p.Compaction != Transform || t.stays != "" {
		return nil
	}
	line, err := p.s.NewReader().Line(t.Record)
	for key := range line.Members {
		if slices.Contains(own, string(key)) {
			t.stays = "it has a field with another meaning in a patch"
		}
	}
	return err
}

// unreached reports the compactions that no replay reaches, except those that only repeat a
// transform.
func (p *Plan) unreached(r *replay.Replay, known map[int]bool) error {
	for rec := range p.s.Len() {
		if p.s.Kind(rec) != jsonl.Compaction || known[rec] {
			continue
		}
		shadow, err := r.Shadows(rec)
		if err != nil {
			return err
		}
		if !shadow {
			p.native(rec, "no replay reaches it: after a broken patch or in a parent cycle")
		}
	}
	return nil
}

// settle keeps further compactions because of those that stay. One that stays cuts the history
// without compactions, so an earlier patch may remain only if it cut nothing that this one
// keeps. A patch below one that stays changes both histories, with and without compactions, at
// an index counted in only one of them: so no compaction after it may stay.
func (p *Plan) settle(all []candidate) {
	type neighbours struct{ above, below, revived, shadows bool } // that stay: where, and what they do
	for again := true; again; {
		again = false
		around := make([]neighbours, len(all))
		for i := range all { // cuts come after those before them
			if up := all[i].Above; up >= 0 {
				around[i].above = around[up].above || all[up].stays != ""
			}
		}
		for i := len(all) - 1; i >= 0; i-- {
			t, k := &all[i], around[i]
			if t.stays == "" {
				switch {
				case k.above && k.below:
					t.stays = "it is between compactions that are not converted"
				case k.revived:
					t.stays = "a later compaction that is not converted restores what it cut"
				case k.shadows && p.Compaction == Transform:
					t.stays = "the next compaction is not converted, and would be read as its shadow"
				}
				again = again || t.stays != ""
			}
			if t.Above >= 0 {
				up, stays := &around[t.Above], t.stays != ""
				up.below = up.below || k.below || stays
				up.revived = up.revived || k.revived || stays && t.Revives
				up.shadows = up.shadows || stays && t.Direct
			}
		}
	}
}

// grow computes by how much the context grows for readers that do not see patches.
func (p *Plan) grow() error {
	turned := make(map[int]bool, len(p.turn))
	for rec := range p.turn {
		turned[rec] = true
	}
	var sizes [2]int
	for i, without := range []map[int]bool{nil, turned} {
		e, err := replay.New(p.s, replay.Options{Rules: replay.ByPi, Without: without}).At(sessionfmt.After(p.s.Leaf()))
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
