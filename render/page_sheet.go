package render

import (
	"fmt"
	"io"
	"runtime"

	"ctxtool/internal/parallel"
	"ctxtool/internal/transcript"
)

// A sheet is what a part of a page is written on.
type sheet struct {
	p      *Page
	w      io.Writer
	units  []unit // what is to come, where there is a budget
	left   tally  // what was left out since the last line
	listed bool   // what was written last is a line of a list
	buf    []byte
}

// chapter writes what is not folded of a chapter.
func (s *sheet) chapter(blocks transcript.Blocks) error {
	for b, err := range blocks(nil, true) {
		if err != nil {
			return err
		}
		if !s.p.Parts.has(b) {
			continue
		}
		for part := range parts {
			if err := s.part(b, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// part writes a part of a block, in its shape.
func (s *sheet) part(b *transcript.Block, part int) (err error) {
	var u unit
	if s.p.Budget > 0 {
		u, s.units = s.units[0], s.units[1:]
	}
	s.buf = s.buf[:0]
	switch u.shape {
	case gone:
		s.left.add(u)
		return nil
	case brief:
		s.buf = s.p.brief(s.buf, b, part)
	default:
		s.buf, err = s.p.piece(s.buf, b, part)
	}
	if err != nil || len(s.buf) == 0 {
		return err
	}
	if err := s.mark(); err != nil {
		return err
	}
	return s.put(b.Record, s.buf, isItem(s.buf))
}

// isItem says that a piece of a page is a line of a list: they alone have no empty
// line behind them.
func isItem(piece []byte) bool {
	n := len(piece)
	return n < 2 || piece[n-2] != '\n'
}

// mark says that something was left out here. Thoughts alone are not worth it.
func (s *sheet) mark() error {
	t := s.left
	s.left = tally{}
	if t.n == t.kinds[transcript.Thinking] || s.p.fold.silent {
		return nil
	}
	return s.put(-1, s.p.pen.line(nil, fmt.Appendf(nil, "*… folded: %s*", &t)), false)
}

// put writes a piece. The lines of a list stand together, and something else begins
// behind an empty line.
func (s *sheet) put(record int, piece []byte, item bool) error {
	if s.p.Scan != nil {
		s.p.Scan(record, piece)
	}
	if err := s.leave(item); err != nil {
		return err
	}
	_, err := s.w.Write(piece)
	return err
}

func (s *sheet) leave(item bool) (err error) {
	if s.listed && !item {
		_, err = s.w.Write([]byte{'\n'})
	}
	s.listed = item
	return err
}

// end ends what has begun.
func (s *sheet) end() error {
	if err := s.mark(); err != nil {
		return err
	}
	return s.leave(false)
}

// inOrder works on each, on all processors, and uses what comes of it in their order;
// end is true for the last. It is no further ahead than there are processors.
func inOrder[T, R any](all []T, work func(T) (R, error), use func(r R, end bool) error) error {
	type made struct {
		r   R
		err error
	}
	workers, k := runtime.GOMAXPROCS(0), 0
	for m := range parallel.InOrder(len(all), workers, workers, func() func(int) made {
		return func(k int) made {
			r, err := work(all[k])
			return made{r, err}
		}
	}) {
		if m.err != nil {
			return m.err
		}
		k++
		if err := use(m.r, k == len(all)); err != nil {
			return err
		}
	}
	return nil
}

// pieces are bytes that wait to be written. They are never moved.
type pieces [][]byte

// pieceSize is how many bytes a piece has, or more where they came together.
const pieceSize = 64 << 10

// Write takes bytes in.
func (p *pieces) Write(b []byte) (int, error) {
	last := len(*p) - 1
	if last < 0 || len((*p)[last])+len(b) > cap((*p)[last]) {
		*p = append(*p, make([]byte, 0, max(pieceSize, len(b))))
		last++
	}
	(*p)[last] = append((*p)[last], b...)
	return len(b), nil
}

func (p *pieces) writeTo(w io.Writer) error {
	for _, b := range *p {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
