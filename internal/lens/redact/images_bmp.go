package redact

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// isBitmap reports whether base64 begins like BMP: its sign, four bytes that are zero, and the size of a header.
func isBitmap(code []byte) bool {
	if !bytes.HasPrefix(code, []byte("Qk")) || len(code) < smallImage {
		return false
	}
	data, _ := decodedImage(code[:smallImage])
	return bitmapHead(data) > 0
}

// bitmapHead returns the size of the second header of BMP, 0 for what is none
// (learn.microsoft.com/windows/win32/gdi/bitmap-header-types).
func bitmapHead(b []byte) int {
	if len(b) < 18 || string(b[:2]) != "BM" || binary.LittleEndian.Uint32(b[6:]) != 0 {
		return 0
	}
	size := int(binary.LittleEndian.Uint32(b[14:]))
	if !slices.Contains([]int{12, 40, 52, 56, 64, 108, 124}, size) {
		return 0
	}
	return size
}

// The sides and places in the headers of BMP.
const (
	longestSide    = 1 << 20
	bitmapSpace    = 14 + 56 // of the name of the color space
	bitmapProfile  = 14 + 112
	linkedProfile  = "KNIL" // a profile that is the path of a file
	ownProfile     = "DEBM"
	standardColors = "BGRs"
)

// bareBMP keeps headers, colors, pixels and an embedded profile. All else is zero, and what follows is cut.
func bareBMP(b []byte) []byte {
	head := bitmapHead(b)
	if len(b) < 14+head {
		return slices.Clone(b)
	}
	number := func(at int) int { return int(int32(binary.LittleEndian.Uint32(b[at:]))) }
	short := func(at int) int { return int(binary.LittleEndian.Uint16(b[at:])) }
	start, wide, high, bits, packing, size := number(10), short(18), short(20), short(24), 0, 0
	palette, color := 0, 3
	if head > 12 {
		wide, high, bits, packing, size = number(18), number(22), short(28), number(30), number(34)
		palette, color = number(46), 4
	}
	if high = max(high, -high); wide <= 0 || wide > longestSide || high <= 0 || high > longestSide || bits > 64 {
		return nil
	}
	switch packing {
	case 0, 3, 6:
		size = (bits*wide + 31) / 32 * 4 * high
	case 1, 2:
	default:
		return nil
	}
	if palette == 0 && bits <= 8 {
		palette = 1 << bits
	}
	used := 14 + head + max(0, min(palette, 1<<16))*color
	if head == 40 && packing > 2 {
		used += 16 // masks
	}
	if start < 14+head || size <= 0 {
		return nil
	}
	out := make([]byte, len(b))
	end := min(len(b), start+size)
	keep := func(from, to int) {
		if to = min(to, len(b)); from >= 0 && from < to {
			copy(out[from:to], b[from:to])
			end = max(end, to)
		}
	}
	keep(0, min(used, start))
	keep(start, start+size)
	if head == 124 {
		switch string(b[bitmapSpace : bitmapSpace+4]) {
		case ownProfile:
			if at, n := number(bitmapProfile), number(bitmapProfile+4); at >= head && n > 0 {
				keep(14+at, 14+at+n)
			}
		case linkedProfile:
			copy(out[bitmapSpace:], standardColors)
			clear(out[bitmapProfile : bitmapProfile+8])
		}
	}
	if out = out[:end]; len(out) < len(b) {
		binary.LittleEndian.PutUint32(out[2:], uint32(len(out)))
	}
	return out
}
