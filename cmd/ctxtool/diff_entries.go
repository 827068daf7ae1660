package main

import (
	"bufio"

	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
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
		row, err := entryRow(x.a.s, x.a.s.NewReader(), pathA[shared-1])
		if err != nil {
			return err
		}
		out.Ancestor = &row
	}
	var err error
	if out.OnlyA, err = entryRows(x.a.s, pathA[shared:]); err != nil {
		return err
	}
	if out.OnlyB, err = entryRows(x.b.s, pathB[shared:]); err != nil {
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

func entryRows(s *sessionfmt.Session, path []int) (rows []sessionfmt.Row, err error) {
	lines := s.NewReader()
	rows = []sessionfmt.Row{} // a list, also where there is none
	for _, rec := range path {
		row, err := entryRow(s, lines, rec)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func entryRow(s *sessionfmt.Session, lines *sessionfmt.Reader, rec int) (sessionfmt.Row, error) {
	line, err := lines.Line(rec)
	if err != nil {
		return sessionfmt.Row{}, err
	}
	return s.Row(rec, line), nil
}
