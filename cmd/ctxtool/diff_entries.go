package main

import (
	"bufio"

	"ctxtool/render"
	"ctxtool/replay"
)

// listEntries lists what only one of the two paths has. Of two sessions entries are the
// same that have one id.
func (x *comparison) listEntries() error {
	pathA, _ := x.a.s.Path(x.a.rec)
	pathB, _ := x.b.s.Path(x.b.rec)
	shared := 0
	for shared < min(len(pathA), len(pathB)) && x.sameEntry(pathA[shared], pathB[shared]) {
		shared++
	}
	out := &replay.DiffEntries{Schema: "ctxtool/diff.entries/1"}
	out.A, out.B = x.sides()
	if shared > 0 {
		last, err := x.a.s.Rows(pathA[shared-1 : shared])
		if err != nil {
			return err
		}
		out.Ancestor = &last[0]
	}
	var err error
	if out.OnlyA, err = x.a.s.Rows(pathA[shared:]); err != nil {
		return err
	}
	if out.OnlyB, err = x.b.s.Rows(pathB[shared:]); err != nil {
		return err
	}
	if err := x.strictly(); err != nil {
		return err
	}
	style, width := x.e.style(x.o.output), x.e.width(x.o.output)
	x.o.cleaned = style.Colour && x.o.format == "text"
	err = x.e.answer(&x.o.answer, []string{x.a.s.Name, x.b.s.Name}, func(w *bufio.Writer) error {
		return render.WriteDiffEntries(w, out, x.o.format, style, width)
	})
	return x.finish(err, len(out.OnlyA)+len(out.OnlyB) == 0)
}

func (x *comparison) sameEntry(a, b int) bool {
	if x.a.s == x.b.s {
		return a == b
	}
	id := x.a.s.ID(a)
	return id != "" && id == x.b.s.ID(b)
}
