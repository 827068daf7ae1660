package export

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
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

// A record is a struct of Thrift's compact protocol, in which Parquet has its metadata: values by the
// numbers of their fields. These are bool, int32, int64, string, record, and slices of them.
type record map[int]any

// The numbers of types in the protocol.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftInt32  = 5
	thriftInt64  = 6
	thriftText   = 8
	thriftList   = 9
	thriftRecord = 12
)

// appendTo appends the encoded record.
func (r record) appendTo(b []byte) []byte {
	last := 0
	for _, id := range slices.Sorted(maps.Keys(r)) {
		kind, value := thrift(r[id])
		b = append(b, byte(id-last)<<4|kind) // ids are less than 16 apart
		b = append(b, value...)
		last = id
	}
	return append(b, 0)
}

// thrift returns the type of a value, and the value as it is encoded.
func thrift(v any) (kind byte, value []byte) {
	switch v := v.(type) {
	case bool:
		if v {
			return thriftTrue, nil
		}
		return thriftFalse, nil
	case int32:
		return thriftInt32, binary.AppendVarint(nil, int64(v))
	case int64:
		return thriftInt64, binary.AppendVarint(nil, v)
	case string:
		return thriftText, append(binary.AppendUvarint(nil, uint64(len(v))), v...)
	case []int32:
		return thriftList, thriftSlice(thriftInt32, v)
	case []string:
		return thriftList, thriftSlice(thriftText, v)
	case []record:
		return thriftList, thriftSlice(thriftRecord, v)
	}
	return thriftRecord, v.(record).appendTo(nil)
}

func thriftSlice[T any](kind byte, list []T) []byte {
	b := []byte{byte(len(list))<<4 | kind}
	if len(list) >= 15 {
		b = binary.AppendUvarint([]byte{15<<4 | kind}, uint64(len(list)))
	}
	for _, v := range list {
		_, value := thrift(v)
		b = append(b, value...)
	}
	return b
}

// A cursor reads bytes, until something is wrong with them.
type cursor struct {
	data []byte
	err  error
}

// errForeign is the error about a file that cannot be read.
var errForeign = errors.New("damaged, or not written by ctxtool")

func (c *cursor) fail() { c.data, c.err = nil, errForeign }

// take returns the next bytes.
func (c *cursor) take(n uint64) (b []byte) {
	if n > uint64(len(c.data)) {
		c.fail()
		return nil
	}
	b, c.data = c.data[:n], c.data[n:]
	return b
}

// number returns the next bytes as a number, the lowest ones first.
func (c *cursor) number(size uint64) (n uint64) {
	for i, b := range c.take(size) {
		n |= uint64(b) << (8 * i)
	}
	return n
}

func (c *cursor) uvarint() uint64 {
	n, size := binary.Uvarint(c.data)
	if size <= 0 {
		c.fail()
		return 0
	}
	c.data = c.data[size:]
	return n
}

// record reads a record: of its values, all numbers are int64, and lists []any.
func (c *cursor) record(deepest int) record {
	r, id := record{}, 0
	for deepest > 0 && c.err == nil {
		head := c.number(1)
		if head == 0 {
			return r
		}
		id += int(head >> 4)
		r[id] = c.value(head&15, deepest-1)
	}
	c.fail()
	return nil
}

// value reads a value of a type.
func (c *cursor) value(kind uint64, deepest int) any {
	switch kind {
	case thriftTrue, thriftFalse:
		return kind == thriftTrue
	case thriftInt32, thriftInt64:
		n := c.uvarint()
		return int64(n>>1) ^ -int64(n&1)
	case thriftText:
		return string(c.take(c.uvarint()))
	case thriftRecord:
		return c.record(deepest)
	case thriftList:
		head := c.number(1)
		n := head >> 4
		if n == 15 {
			n = c.uvarint()
		}
		var list []any
		for ; n > 0 && c.err == nil; n-- {
			list = append(list, c.value(head&15, deepest))
		}
		return list
	}
	c.fail()
	return nil
}

// number returns a number of a record that was read, 0 for none.
func (r record) number(id int) int64 {
	n, _ := r[id].(int64)
	return n
}

// record returns a record of one that was read.
func (r record) record(id int) record {
	one, _ := r[id].(record)
	return one
}

// list returns the records of a list that was read.
func (r record) list(id int) (all []record) {
	list, _ := r[id].([]any)
	for _, v := range list {
		one, _ := v.(record)
		all = append(all, one)
	}
	return all
}
