package html

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"ctxtool/internal/base/parallel"
	"ctxtool/sessionfmt/jsonl"
)

// Levels of compression: sessions up to smallSession bytes get the highest. For larger ones that costs
// more than it saves: level 4 would take a tenth off a page, and add a tenth to the time that it takes.
const (
	smallSession = 4 << 20
	hardest      = 9
	fastest      = 1
)

// A packer compresses data and encodes it as text for a page: 7 bits a byte, in ASCII, without
// the three bytes that HTML would change or interpret. Those are packMark and a digit.
type packer struct {
	rows []byte
	text []byte // to search for secrets
	out  []byte // what was packed last
	buf  bytes.Buffer
	comp [hardest + 1]*flate.Writer // by level
}

const packMark = 0x7f

var packers = sync.Pool{New: func() any { return new(packer) }}

// level returns the compression level of the page's data.
func (h *Page) level() int {
	if h.Session.Size() <= smallSession {
		return hardest
	}
	return fastest
}

// packAll packs each of all, on all CPUs, and writes them in order.
func packAll[T any](w io.Writer, all []T, pack func(p *packer, one T) error) error {
	return parallel.Ordered(all, func(one T) (*packer, error) {
		p := packers.Get().(*packer)
		return p, pack(p, one)
	}, func(p *packer, _ bool) error {
		_, err := w.Write(p.out)
		packers.Put(p)
		return err
	})
}

// chunk packs a chunk of a page.
func (p *packer) chunk(h *Page, k int) (err error) {
	var see func(int, jsonl.Value)
	if h.Scan != nil {
		see = func(record int, row jsonl.Value) {
			p.text = p.text[:0]
			for text := range row.Strings {
				p.text = append(text.AppendText(p.text), '\n')
			}
			h.Scan(record, p.text)
		}
	}
	if p.rows, err = h.Report.Rows(p.rows[:0], h.chunks[k], see); err != nil {
		return err
	}
	return p.data(fmt.Sprintf("c%d", k), h.level(), bytes.TrimSuffix(p.rows, []byte{'\n'}))
}

// value packs a value as JSON.
func (p *packer) value(level int, v part) error {
	data, err := json.Marshal(v.value)
	if err != nil {
		return fmt.Errorf("packing the data: %w", err)
	}
	return p.data(v.id, level, data)
}

// data packs data, in its element.
func (p *packer) data(id string, level int, data []byte) (err error) {
	p.buf.Reset()
	if p.comp[level] == nil {
		if p.comp[level], err = flate.NewWriter(nil, level); err != nil {
			return err
		}
	}
	comp := p.comp[level]
	comp.Reset(&p.buf)
	if _, err := comp.Write(data); err != nil {
		return err
	}
	if err := comp.Close(); err != nil {
		return err
	}
	p.out = spell7(fmt.Appendf(p.out[:0], `<script type="text/plain" id="%s">`, id), p.buf.Bytes())
	p.out = append(p.out, "</script>\n"...)
	return nil
}

// spell7 appends bits, seven a byte, the highest first.
func spell7(dst, bits []byte) []byte {
	dst = slices.Grow(dst, len(bits)*6/5+16)
	for ; len(bits) >= 7; bits = bits[7:] {
		v := uint64(binary.BigEndian.Uint32(bits))<<24 | uint64(binary.BigEndian.Uint32(bits[3:]))&0xffffff
		for shift := 49; shift >= 0; shift -= 7 {
			dst = appendCode(dst, byte(v>>shift)&0x7f)
		}
	}
	var have uint32 // its last n bits are not written yet
	n := 0
	for _, b := range bits {
		have, n = have<<8|uint32(b), n+8
		for n >= 7 {
			n -= 7
			dst = appendCode(dst, byte(have>>n)&0x7f)
		}
	}
	if n > 0 {
		dst = appendCode(dst, byte(have<<(7-n))&0x7f)
	}
	return dst
}

// packMarked are the codes that are encoded as packMark and a digit, with that digit.
var packMarked = [128]byte{0: '0', '\r': '1', '<': '2', packMark: '3'}

func appendCode(dst []byte, c byte) []byte {
	if digit := packMarked[c&0x7f]; digit != 0 {
		return append(dst, packMark, digit)
	}
	return append(dst, c)
}
