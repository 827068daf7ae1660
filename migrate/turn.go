package migrate

import (
	"cmp"
	"ctxtool/internal/base/sorting"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"slices"
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
	edited, err := p.s.Edited()
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
	settle(all)
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
	sorting.By(p.Native, func(a, b sessionfmt.Finding) int { return a.Line - b.Line })
	if p.Compaction == Transform && p.Turned > 0 {
		return p.grow()
	}
	return nil
}

// native reports a compaction that stays as it is.
func (p *Plan) native(rec int, why string) {
	p.Native = append(p.Native, sessionfmt.Finding{
		Code: "native-compaction", Line: p.s.Line(rec), Entry: sessionfmt.Quote(p.s.ID(rec)),
		Text: "the compaction is not converted: " + why,
	})
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

// unreached reports the compactions that no replay reaches, except those that only repeat a transform.
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

// settle keeps all compactions that share a path with one that stays: it may restore what they cut, and whether
// it is a shadow depends on what precedes it.
func settle(all []candidate) {
	const why = "another compaction on its path is not converted"
	for _, t := range slices.Backward(all) { // cuts come after those before them
		if t.stays != "" && t.Above >= 0 {
			all[t.Above].stays = cmp.Or(all[t.Above].stays, why)
		}
	}
	for i, t := range all {
		if t.Above >= 0 && all[t.Above].stays != "" {
			all[i].stays = cmp.Or(t.stays, why)
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
