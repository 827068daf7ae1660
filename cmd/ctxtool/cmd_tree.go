package main

import (
	"slices"

	"ctxtool/internal/outline"
	"ctxtool/render"
)

// draw draws the tree of a session.
func (o *logOptions) draw(e *env, args []string) error {
	if o.format == "swe-cli" {
		return usagef("-f swe-cli conflicts with --tree")
	}
	read, leaf, err := o.reading(e, args, o.leaf)
	if err != nil {
		return err
	}
	s := read.Session
	_, found := s.Path(leaf)
	found = append(slices.Clone(s.Findings), found...)
	if err := e.strictly(s, found, o.strict); err != nil {
		return err
	}
	short, _ := s.ShortIDs()
	r := render.Tree{Nodes: outline.Of(s, leaf), Only: o.kind, Fold: o.fold, Coverage: s.Coverage, Reading: s.Reading(), Found: found, Short: short}
	if leaf >= 0 {
		id := s.ID(leaf)
		r.Leaf = &id
	}
	if o.format == "jsonl" {
		o.format = "json"
	}
	return e.print(&o.answer, []string{s.Name}, r)
}
