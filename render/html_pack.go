package render

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"

	"ctxtool/sessionfmt/jsonl"
)

// How hard data is compressed: that of sessions up to smallSession bytes as hard as can
// be; of larger ones harder costs more than it saves.
const (
	smallSession = 4 << 20
	hardest      = 9
	hard         = 5
)

// A packer compresses data and spells it as text that can stand in a page: 7 bits a
// byte, in ASCII, without the three bytes that HTML would change or obey. Those are
// spelled as packMark and a digit.
type packer struct {
	rows []byte
	said []byte // what is looked through for secrets
	buf  bytes.Buffer
	comp [hardest + 1]*flate.Writer // by level
}

const packMark = 0x7f

var packers = sync.Pool{New: func() any { return new(packer) }}

// A packed is a packed chunk.
type packed struct{ text []byte }

var packedTexts = sync.Pool{New: func() any { return new(packed) }}

// level is how hard the data of the page is compressed.
func (h *HTML) level() int {
	if h.Session.Size() <= smallSession {
		return hardest
	}
	return hard
}

// chunk packs a chunk of a page.
func (p *packer) chunk(h *HTML, k int) (*packed, error) {
	var see func(int, jsonl.Value)
	if h.Scan != nil {
		see = func(record int, row jsonl.Value) {
			p.said = p.said[:0]
			for text := range row.Strings {
				p.said = append(text.AppendText(p.said), '\n')
			}
			h.Scan(record, p.said)
		}
	}
	var err error
	if p.rows, err = h.Report.Rows(p.rows[:0], h.chunks[k], see); err != nil {
		return nil, err
	}
	out := packedTexts.Get().(*packed)
	out.text, err = p.data(out.text[:0], fmt.Sprintf("c%d", k), h.level(), bytes.TrimSuffix(p.rows, []byte{'\n'}))
	return out, err
}

// data appends data, packed, in its element.
func (p *packer) data(dst []byte, id string, level int, data []byte) ([]byte, error) {
	return p.written(dst, id, level, func(w io.Writer) error { _, err := w.Write(data); return err })
}

// written is data of what write writes.
func (p *packer) written(dst []byte, id string, level int, write func(w io.Writer) error) ([]byte, error) {
	dst = fmt.Appendf(dst, `<script type="text/plain" id="%s">`, id)
	dst, err := p.pack(dst, level, write)
	return append(dst, "</script>\n"...), err
}

// pack appends what write writes, packed.
func (p *packer) pack(dst []byte, level int, write func(w io.Writer) error) ([]byte, error) {
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
	if err := write(comp); err != nil {
		return dst, err
	}
	if err := comp.Close(); err != nil {
		return dst, err
	}
	return spell7(dst, p.buf.Bytes()), nil
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
	var have uint32 // the last n bits of it wait
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

// packMarked are the codes that are spelled as packMark and a digit, with that digit.
var packMarked = [128]byte{0: '0', '\r': '1', '<': '2', packMark: '3'}

func appendCode(dst []byte, c byte) []byte {
	if digit := packMarked[c&0x7f]; digit != 0 {
		return append(dst, packMark, digit)
	}
	return append(dst, c)
}
