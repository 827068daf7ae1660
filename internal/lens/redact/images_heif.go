package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// heifBrands are the brands of HEIC and AVIF, whose files are boxes (ISO/IEC 23008-12, AV1 Image File Format).
var heifBrands = []string{"heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1", "avif", "avis"}

// isHEIF reports whether base64 begins like HEIC or AVIF.
func isHEIF(code []byte) bool {
	if len(code) < smallImage || !bytes.HasPrefix(code, []byte("AAAA")) || string(code[8:11]) != "eXB" {
		return false
	}
	var head [12]byte
	_, err := base64.StdEncoding.Decode(head[:], code[:16])
	return err == nil && hasHEIFHead(head[:])
}

func hasHEIFHead(b []byte) bool {
	return len(b) >= 12 && string(b[4:8]) == "ftyp" && slices.Contains(heifBrands, string(b[8:12]))
}

// A box is a part of HEIC: its name, and where it, its content and its end are.
type box struct {
	name             string
	start, body, end int
	cut              bool
}

// boxes returns the boxes in b[from:to], of which the last may be cut, and where what is none begins.
func boxes(b []byte, from, to int) (all []box, end int) {
	for from+8 <= to && isChunk(b[from+4:]) {
		size, body := int(binary.BigEndian.Uint32(b[from:])), from+8
		switch {
		case size == 0:
			size = to - from
		case size == 1 && body+8 <= to:
			size, body = int(binary.BigEndian.Uint64(b[body:])), body+8
		}
		if size < body-from {
			break
		}
		end := to
		if size < to-from {
			end = from + size
		}
		all = append(all, box{string(b[from+4 : from+8]), from, min(body, end), end, size > to-from})
		from = end
	}
	return all, from
}

// heifFile lists the boxes at the top of a file, heifBoxes the boxes that contain others, and heifMetadata the
// boxes whose content is not part of a picture.
var (
	heifFile  = []string{"ftyp", "meta", "moov", "moof", "mdat", "sidx"}
	heifBoxes = []string{"moov", "trak", "mdia", "minf", "stbl", "iprp", "ipco"}
)

// deepestBox is how many boxes are in one another at most, of those that are read.
const deepestBox = 8

var heifMetadata = []string{"uuid", "free", "skip", "wide", "udta", "xml ", "bxml", "udes", "altt"}

// A heif is a picture in HEIC or AVIF, of which metadata is blanked.
type heif struct {
	b       []byte
	blanked int // bytes
	places  int // lists of the places of items that were read
	data    box // of items, within meta
}

// bareHEIF blanks metadata in place, so that all offsets stay: boxes, and the items that are EXIF, XMP or other texts.
// What follows the last box is cut. It returns nil without a list of items: they may be metadata.
func bareHEIF(b []byte) []byte {
	h := &heif{b: slices.Clone(b)}
	all, end := boxes(h.b, 0, len(b))
	if len(b)-end < 8 { // it was cut
		end = len(b)
	}
	for _, x := range all {
		switch {
		case slices.Contains(heifFile, x.name):
			h.box(x, 0)
		case x.cut:
			end = x.start // it is no box
		default:
			h.free(x)
		}
	}
	sequence := slices.ContainsFunc(all, func(x box) bool { return x.name == "moov" })
	if h.places == 0 && !sequence || h.blanked > 4*len(b) {
		return nil
	}
	return h.b[:end]
}

// blank makes b[from:to] zeros.
func (h *heif) blank(from, to int) {
	from, to = max(from, 0), min(to, len(h.b))
	if h.blanked += max(0, to-from); from < to && h.blanked <= 4*len(h.b) {
		clear(h.b[from:to])
	}
}

// free makes a box one that has nothing.
func (h *heif) free(x box) {
	copy(h.b[x.start+4:x.end], "free")
	h.blank(x.body, x.end)
}

// box blanks the metadata in a box, which is in so many others.
func (h *heif) box(x box, depth int) {
	switch {
	case slices.Contains(heifMetadata, x.name) || depth == deepestBox:
		h.free(x)
	case x.name == "meta":
		h.items(x, depth)
	case slices.Contains(heifBoxes, x.name):
		in, _ := boxes(h.b, x.body, x.end)
		for _, y := range in {
			h.box(y, depth+1)
		}
	}
}

// items blanks the items of a box that are metadata: the box lists what each is, and where.
func (h *heif) items(meta box, depth int) {
	if meta.cut {
		return
	}
	in, _ := boxes(h.b, min(meta.body+4, meta.end), meta.end)
	texts := map[int]bool{}
	for _, x := range in {
		switch x.name {
		case "iinf":
			for _, id := range h.texts(x) {
				texts[id] = true
			}
		case "idat":
			h.data = x
		default:
			h.box(x, depth+1)
		}
	}
	for _, x := range in {
		if x.name == "iloc" {
			h.blankItems(x, texts)
			h.places++
		}
	}
}

// A fieldReader reads numbers of big-endian order. At the end they are zero.
type fieldReader struct{ b []byte }

func (r *fieldReader) read(n int) (x int) {
	if n > len(r.b) {
		r.b = nil
		return 0
	}
	for _, c := range r.b[:n] {
		x = x<<8 | int(c)
	}
	r.b = r.b[n:]
	return max(x, 0)
}

// texts returns the numbers of the items that are EXIF, XMP or other texts.
func (h *heif) texts(list box) (ids []int) {
	r := fieldReader{h.b[list.body:list.end]}
	count := 2
	if r.read(4)>>24 > 0 {
		count = 4
	}
	r.read(count)
	entries, _ := boxes(h.b, list.end-len(r.b), list.end)
	for _, x := range entries {
		e := fieldReader{h.b[x.body:x.end]}
		version := e.read(4) >> 24
		id := e.read(2 + 2*max(0, version-2))
		if e.read(2); version >= 2 && len(e.b) >= 4 {
			if kind := string(e.b[:4]); kind == "Exif" || kind == "mime" || kind == "uri " {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// blankItems blanks the items with these numbers, by the list of where they are.
func (h *heif) blankItems(list box, ids map[int]bool) {
	r := fieldReader{h.b[list.body:list.end]}
	version := r.read(4) >> 24
	sizes := r.read(2)
	offset, length, base, index := sizes>>12, sizes>>8&15, sizes>>4&15, sizes&15
	wide := 2
	if version == 2 {
		wide = 4
	}
	if version == 0 {
		index = 0
	}
	for range r.read(wide) {
		if len(r.b) == 0 {
			break
		}
		id, method := r.read(wide), 0
		if version > 0 {
			method = r.read(2) & 15
		}
		r.read(2)
		from := r.read(base)
		for range r.read(2) {
			if r.read(index); len(r.b) == 0 {
				break
			}
			at, n := r.read(offset), r.read(length)
			at, end := from+at, len(h.b)
			if method == 1 {
				at, end = h.data.body+at, h.data.end
			}
			if n > 0 && at >= 0 && n < end-at {
				end = at + n
			}
			if ids[id] && method < 2 {
				h.blank(at, end)
			}
			if index+offset+length == 0 {
				break // all are the same
			}
		}
	}
}
