package export

import (
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"os"
	"reflect"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Numbers of the format. What it has beyond these, flat tables do not need.
const (
	typeBool, typeInt64, typeDouble, typeText    = 0, 2, 5, 6
	encodingPlain, encodingRuns, encodingWords   = 0, 3, 8
	pageOfData, pageOfWords                      = 0, 2
	required, optional                           = 0, 1
	convertedText, convertedTime                 = 0, 9
	logicalText, logicalTime, logicalMillis      = 1, 8, 1
	formatVersion, compressedByZstd, orderOfType = 1, 6, 1
)

// parquetMagic begins and ends a Parquet file.
const parquetMagic = "PAR1"

// The most that a row group has, which engines give to a thread each and a writer holds in memory, and
// the bytes from which a page is compressed.
const (
	rowsPerGroup  = 1 << 16
	bytesPerGroup = 8 << 20
	bytesPerPage  = 128 << 10
)

// packer compresses pages.
var packer = sync.OnceValue(func() *zstd.Encoder {
	e, _ := zstd.NewWriter(nil, zstd.WithWindowSize(bytesPerPage), zstd.WithLowerEncoderMem(true)) // these are valid
	return e
})

// A parquetTable writes a table to a Parquet file.
type parquetTable struct {
	t      *table
	out    io.Writer
	at     int64 // in the file
	chunks []*chunk
	groups []record
	rows   int64 // of this row group
	held   int   // bytes of it
	total  int64 // rows of the file
	err    error
}

func newParquetTable(t *table, out io.Writer) rowWriter {
	p := &parquetTable{t: t, out: out}
	for i := range t.columns[len(before):] {
		p.chunks = append(p.chunks, &chunk{column: &t.columns[len(before)+i], words: map[string]uint32{}})
	}
	p.write([]byte(parquetMagic))
	return p
}

func (p *parquetTable) take(from *os.File, sessions map[string]bool) (n int64, err error) {
	info, err := from.Stat()
	if err != nil {
		return 0, err
	}
	whole := make([]any, len(before)) // which the partition has
	err = (&parquetFile{p.t, from, info.Size()}).each(func(row []any) error {
		if key, _ := row[0].(string); !sessions[key] {
			return nil
		}
		n++
		return p.put(append(whole, row...))
	})
	return n, err
}

// A chunk is a column of a row group, of which the last page is not complete.
type chunk struct {
	*column
	words    map[string]uint32 // numbers of words, where these recur
	wordList []byte
	pages    []byte // complete
	plain    int64  // size of these before compression
	values   int64
	nulls    int64
	min, max int64 // of numbers

	levels []byte   // of an optional column, by value: 0 for null, 1 for others
	codes  []uint32 // of values that are words or booleans
	data   []byte   // all other values
	n      int32    // values of the page
}

func (p *parquetTable) put(row []any) error {
	for i, c := range p.chunks {
		p.held -= c.size()
		if c.add(row[len(before)+i]); len(c.data)+4*len(c.codes) >= bytesPerPage {
			c.endPage()
		}
		p.held += c.size()
	}
	if p.rows++; p.rows == rowsPerGroup || p.held >= bytesPerGroup {
		p.endGroup()
	}
	return p.err
}

// size returns the bytes that a chunk holds.
func (c *chunk) size() int { return len(c.pages) + len(c.wordList) + len(c.data) }

// add adds a value.
func (c *chunk) add(v any) {
	c.n++
	c.values++
	if c.optional {
		level := byte(1)
		if v == nil {
			level = 0
			c.nulls++
		}
		c.levels = append(c.levels, level)
	}
	switch v := v.(type) {
	case bool:
		code := uint32(0)
		if v {
			code = 1
		}
		c.codes = append(c.codes, code)
	case int64:
		if c.values-c.nulls == 1 {
			c.min, c.max = v, v
		}
		c.min, c.max = min(c.min, v), max(c.max, v)
		c.data = binary.LittleEndian.AppendUint64(c.data, uint64(v))
	case float64:
		c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(v))
	case string:
		if !c.recurs {
			c.data = appendText(c.data, v)
			break
		}
		code, ok := c.words[v]
		if !ok {
			code = uint32(len(c.words))
			c.words[v], c.wordList = code, appendText(c.wordList, v)
		}
		c.codes = append(c.codes, code)
	}
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(text))), text...)
}

// endPage completes the page.
func (c *chunk) endPage() {
	var body []byte
	if c.optional {
		body = appendText(body, appendRuns(nil, c.levels, 1))
	}
	encoding := int32(encodingPlain)
	switch {
	case c.recurs:
		encoding = encodingWords
		width := max(1, bits.Len(uint(max(1, len(c.words))-1)))
		body = appendRuns(append(body, byte(width)), c.codes, width)
	case c.kind == reflect.Bool:
		body = appendBits(body, c.codes, 1)
	}
	c.pages = c.appendPage(c.pages, append(body, c.data...), record{1: int32(pageOfData), 5: record{
		1: c.n, 2: encoding, 3: int32(encodingRuns), 4: int32(encodingRuns),
	}})
	c.levels, c.codes, c.data, c.n = c.levels[:0], c.codes[:0], c.data[:0], 0
}

// appendPage appends a page that begins with a head.
func (c *chunk) appendPage(to, body []byte, head record) []byte {
	packed := packer().EncodeAll(body, nil)
	head[2], head[3] = int32(len(body)), int32(len(packed))
	begin := len(to)
	to = head.appendTo(to)
	c.plain += int64(len(to) - begin + len(body))
	return append(to, packed...)
}

// appendRuns appends numbers as a run of bits, which the format can have between runs of equal ones:
// these are left to the compression.
func appendRuns[T byte | uint32](b []byte, codes []T, width int) []byte {
	return appendBits(binary.AppendUvarint(b, uint64(len(codes)+7)/8<<1|1), codes, width)
}

// appendBits appends numbers of so many bits each, the lowest ones first, and zeros up to a multiple
// of eight numbers.
func appendBits[T byte | uint32](b []byte, codes []T, width int) []byte {
	end := len(b) + (len(codes)+7)/8*width
	waiting, n := uint64(0), 0
	for _, code := range codes {
		waiting |= uint64(code) << n
		for n += width; n >= 8; n -= 8 {
			b = append(b, byte(waiting))
			waiting >>= 8
		}
	}
	for len(b) < end {
		b = append(b, byte(waiting))
		waiting = 0
	}
	return b
}

// endGroup writes a row group.
func (p *parquetTable) endGroup() {
	if p.rows == 0 {
		return
	}
	var chunks []record
	begin, plain := p.at, int64(0)
	for _, c := range p.chunks {
		if c.n > 0 {
			c.endPage()
		}
		chunks = append(chunks, record{2: p.at, 3: p.writeChunk(c)})
		plain += c.plain
		clear(c.words)
		*c = chunk{
			column: c.column, words: c.words, wordList: c.wordList[:0], pages: c.pages[:0],
			levels: c.levels, codes: c.codes, data: c.data,
		}
	}
	p.groups = append(p.groups, record{1: chunks, 2: plain, 3: p.rows, 6: p.at - begin})
	p.total += p.rows
	p.rows, p.held = 0, 0
}

// writeChunk writes a chunk, and returns its metadata.
func (p *parquetTable) writeChunk(c *chunk) record {
	begin, statistics := p.at, record{3: c.nulls}
	about := record{1: c.physical(), 3: []string{c.name}, 4: int32(compressedByZstd), 5: c.values, 12: statistics}
	about[2] = []int32{encodingPlain, encodingRuns}
	if c.recurs {
		about[2], about[11] = []int32{encodingPlain, encodingRuns, encodingWords}, begin
		p.write(c.appendPage(nil, c.wordList, record{1: int32(pageOfWords), 7: record{
			1: int32(len(c.words)), 2: int32(encodingPlain),
		}}))
	}
	about[9] = p.at
	p.write(c.pages)
	about[6], about[7] = c.plain, p.at-begin
	if c.kind == reflect.Int64 && c.nulls < c.values {
		statistics[5] = string(binary.LittleEndian.AppendUint64(nil, uint64(c.max)))
		statistics[6] = string(binary.LittleEndian.AppendUint64(nil, uint64(c.min)))
	}
	return about
}

func (p *parquetTable) write(b []byte) {
	if p.err == nil {
		_, p.err = p.out.Write(b)
		p.at += int64(len(b))
	}
}

// physical returns the type of a column's values.
func (c *column) physical() int32 {
	return map[reflect.Kind]int32{
		reflect.Bool: typeBool, reflect.Int64: typeInt64, reflect.Float64: typeDouble, reflect.String: typeText,
	}[c.kind]
}

// element returns a column as the schema has it.
func (c *column) element() record {
	e := record{1: c.physical(), 3: int32(required), 4: c.name}
	if c.optional {
		e[3] = int32(optional)
	}
	switch {
	case c.kind == reflect.String:
		e[6], e[10] = int32(convertedText), record{logicalText: record{}}
	case c.time:
		inUTC := true
		e[6], e[10] = int32(convertedTime), record{logicalTime: record{1: inUTC, 2: record{logicalMillis: record{}}}}
	}
	return e
}

// close writes what waits and the metadata.
func (p *parquetTable) close() error {
	p.endGroup()
	schema := []record{{4: "schema", 5: int32(len(p.chunks))}}
	var orders []record
	for _, c := range p.chunks {
		schema = append(schema, c.element())
		orders = append(orders, record{orderOfType: record{}})
	}
	foot := record{
		1: int32(formatVersion), 2: schema, 3: p.total, 4: p.groups, 6: "ctxtool " + program(), 7: orders,
	}.appendTo(nil)
	p.write(append(binary.LittleEndian.AppendUint32(foot, uint32(len(foot))), parquetMagic...))
	return p.err
}
