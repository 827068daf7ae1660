package export

import (
	"cmp"
	"io"
	"math"
	"reflect"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// unpacker decompresses pages.
var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil) // which has no options
	return d
})

// A parquetFile is one that a parquetTable wrote.
type parquetFile struct {
	*table
	io.ReaderAt
	size int64
}

// part reads a part of the file.
func (f *parquetFile) part(at, n int64) *cursor {
	c := &cursor{}
	if at < 0 || n < 0 || n > f.size || at > f.size-n {
		c.fail()
		return c
	}
	c.data = make([]byte, n)
	_, c.err = f.ReadAt(c.data, at)
	return c
}

// each yields the rows, without the columns before. A row is valid until the next one.
func (f *parquetFile) each(yield func(row []any) error) error {
	const end = 4 + int64(len(parquetMagic))
	tail := f.part(f.size-end, end)
	n := int64(tail.number(4))
	if string(tail.data) != parquetMagic {
		return errForeign
	}
	foot := f.part(f.size-end-n, n)
	about := foot.record(8)
	if foot.err != nil {
		return foot.err
	}
	for _, group := range about.list(4) {
		if err := f.eachOf(group, yield); err != nil {
			return err
		}
	}
	return nil
}

// eachOf yields the rows of a row group.
func (f *parquetFile) eachOf(group record, yield func(row []any) error) error {
	columns, chunks := f.columns[len(before):], group.list(1)
	if len(chunks) != len(columns) {
		return errForeign
	}
	pages, row := make([]pages, len(columns)), make([]any, len(columns))
	for i := range pages {
		c, about := &columns[i], chunks[i].record(3)
		begin := about.number(9)
		if c.recurs {
			begin = about.number(11)
		}
		pages[i].column, pages[i].cursor = c, f.part(begin, about.number(7))
		if names, _ := about[3].([]any); len(names) != 1 || names[0] != c.name {
			return errForeign
		}
	}
	for range group.number(3) {
		for i := range pages {
			if row[i] = pages[i].next(); pages[i].err != nil {
				return pages[i].err
			}
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

// pages are those of a chunk.
type pages struct {
	*column
	*cursor          // of what follows the page
	words   []string // of the dictionary
	page    cursor   // other values of the page that follow
	levels  []uint32 // likewise, of those that may be null
	codes   []uint32 // likewise, numbers of words, and booleans
	left    int      // values of the page that follow
}

// next returns the next value.
func (p *pages) next() any {
	for p.left == 0 && p.err == nil {
		p.open()
	}
	if p.left--; p.err != nil {
		return nil
	}
	if p.optional {
		level := p.levels[0]
		p.levels = p.levels[1:]
		if level == 0 {
			return nil
		}
	}
	code := 0
	if p.recurs || p.kind == reflect.Bool {
		code = int(p.codes[0])
		p.codes = p.codes[1:]
	}
	var v any
	switch {
	case p.recurs && code < len(p.words):
		v = p.words[code]
	case p.recurs:
		p.fail()
	case p.kind == reflect.Bool:
		v = code == 1
	case p.kind == reflect.String:
		v = p.page.text()
	case p.kind == reflect.Float64:
		v = math.Float64frombits(p.page.number(8))
	default:
		v = int64(p.page.number(8))
	}
	p.err = cmp.Or(p.err, p.page.err)
	return v
}

// open reads a page.
func (p *pages) open() {
	head := p.record(4)
	body, err := unpacker().DecodeAll(p.take(uint64(head.number(3))), nil)
	if p.page = (cursor{body, err}); p.err != nil || err != nil {
		p.fail()
		return
	}
	if head.number(1) == pageOfWords {
		for n := head.record(7).number(1); n > 0 && p.page.err == nil; n-- {
			p.words = append(p.words, p.page.text())
		}
		p.err = p.page.err
		return
	}
	n := head.record(5).number(1)
	p.left = int(n)
	if p.optional {
		p.page.number(4)
		p.levels, n = p.page.runs(n, 1), 0
		for _, level := range p.levels {
			n += int64(level)
		}
	}
	switch {
	case p.recurs:
		width := p.page.number(1)
		p.codes = p.page.runs(n, width)
	case p.kind == reflect.Bool:
		p.codes = p.page.bits(n, 1)
	}
	p.err = p.page.err
}

// text reads what appendText wrote.
func (c *cursor) text() string { return string(c.take(c.number(4))) }

// runs reads what appendRuns wrote.
func (c *cursor) runs(n int64, width uint64) []uint32 {
	if c.uvarint() != uint64(n+7)/8<<1|1 {
		c.fail()
	}
	return c.bits(n, width)
}

// bits reads what appendBits wrote.
func (c *cursor) bits(n int64, width uint64) (codes []uint32) {
	if n < 0 || width < 1 || width > 32 {
		c.fail()
		return nil
	}
	waiting, have := uint64(0), uint64(0)
	for _, b := range c.take(uint64(n+7) / 8 * width) {
		waiting |= uint64(b) << have
		for have += 8; have >= width && int64(len(codes)) < n; have -= width {
			codes = append(codes, uint32(waiting&(1<<width-1)))
			waiting >>= width
		}
	}
	return codes
}
