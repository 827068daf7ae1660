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

	"ctxtool/internal/parallel"
	"ctxtool/sessionfmt/jsonl"
)

// Levels of compression: sessions up to smallSession bytes get the highest. For larger ones
// that costs more than it saves.
const (
	smallSession = 4 << 20
	hardest      = 9
	hard         = 4
)

// A packer compresses data and encodes it as text for a page: 7 bits a byte, in ASCII, without
// the three bytes that HTML would change or interpret. Those are packMark and a digit.
type packer struct {
	rows []byte
	text []byte // to search for secrets
	buf  bytes.Buffer
	comp [hardest + 1]*flate.Writer // by level
}

const packMark = 0x7f

var packers = sync.Pool{New: func() any { return new(packer) }}

// A packed is a packed chunk.
type packed struct{ text []byte }

var packedTexts = sync.Pool{New: func() any { return new(packed) }}

// level returns the compression level of the page's data.
func (h *Page) level() int {
	if h.Session.Size() <= smallSession {
		return hardest
	}
	return hard
}

// packAll packs each of all, on all CPUs, and writes them in order.
func packAll[T any](w io.Writer, all []T, pack func(p *packer, one T, dst []byte) ([]byte, error)) error {
	return parallel.Ordered(all, func(one T) (out *packed, err error) {
		p := packers.Get().(*packer)
		defer packers.Put(p)
		out = packedTexts.Get().(*packed)
		out.text, err = pack(p, one, out.text[:0])
		return out, err
	}, func(out *packed, _ bool) error {
		_, err := w.Write(out.text)
		packedTexts.Put(out)
		return err
	})
}

// chunk appends a chunk of a page, packed.
func (p *packer) chunk(dst []byte, h *Page, k int) ([]byte, error) {
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
	var err error
	if p.rows, err = h.Report.Rows(p.rows[:0], h.chunks[k], see); err != nil {
		return dst, err
	}
	return p.data(dst, fmt.Sprintf("c%d", k), h.level(), bytes.TrimSuffix(p.rows, []byte{'\n'}))
}

// value appends a value as JSON, packed.
func (p *packer) value(dst []byte, level int, v part) ([]byte, error) {
	data, err := json.Marshal(v.value)
	if err != nil {
		return dst, err
	}
	return p.data(dst, v.id, level, data)
}

// data appends data, packed, in its element.
func (p *packer) data(dst []byte, id string, level int, data []byte) ([]byte, error) {
	p.buf.Reset()
	comp := p.comp[level]
	if comp == nil {
		var err error
		if comp, err = flate.NewWriter(&p.buf, level); err != nil {
			return dst, err
		}
		p.comp[level] = comp
	}
	comp.Reset(&p.buf)
	if _, err := comp.Write(data); err != nil {
		return dst, err
	}
	if err := comp.Close(); err != nil {
		return dst, err
	}
	dst = fmt.Appendf(dst, `<script type="text/plain" id="%s">`, id)
	return append(spell7(dst, p.buf.Bytes()), "</script>\n"...), nil
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
