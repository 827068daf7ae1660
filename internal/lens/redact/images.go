package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"slices"
)

// pixel is an image of one pixel: a PNG in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="

// smallImage is the least length of an image in base64 that nothing says to be one.
const smallImage = shortestLine

// isBase64 reports whether a text, which may have the escapes of JSON, is binary data in base64.
func isBase64(text []byte) bool { return codeEnd(text, 0) == len(text) }

// isPicture reports whether base64 begins like PNG, JPEG, GIF, WebP, BMP, HEIC or AVIF.
func isPicture(code []byte) bool {
	for len(code) > 0 && code[0] == '\\' { // of a slash
		code = code[1:]
	}
	if len(code) == 0 {
		return false
	}
	switch code[0] {
	case 'i':
		return bytes.HasPrefix(code, []byte("iVBORw0KGgo"))
	case '/':
		return bytes.HasPrefix(code, []byte("/9j"))
	case 'R':
		return bytes.HasPrefix(code, []byte("R0lGOD"))
	case 'U':
		return bytes.HasPrefix(code, []byte("UklGR"))
	case 'Q':
		return isBitmap(code)
	}
	return isHEIF(code)
}

// codeEnd returns the end of the base64 that has text[i]. Long lines continue in the next one. In
// JSON, also within JSON, slashes and ends of lines have backslashes.
func codeEnd(text []byte, i int) int {
	for line := i; i < len(text); {
		if inCode[text[i]] != 0 && (i == line || text[i-1] != '=' || text[i] == '=') {
			i++
			continue
		}
		next := i
		for next < len(text) && next-i < 8 && text[next] == '\\' {
			next++
		}
		switch {
		case next == len(text):
			return i
		case next > i && text[next] == '/':
			i = next
			continue
		case i-line < shortestLine || text[i-1] == '=' || !isBreak(text[next], next > i):
			return i
		}
		if next++; next == len(text) || inCode[text[next]] == 0 && text[next] != '\\' {
			return i
		}
		i, line = next, next
	}
	return len(text)
}

// isBreak reports whether a character ends a line, alone or after a backslash.
func isBreak(c byte, escaped bool) bool {
	return escaped && (c == 'n' || c == 'r') || !escaped && (c == '\n' || c == '\r')
}

// pictures calls found with the place of each image in base64 in a text, which may have the escapes
// of JSON.
func pictures(text []byte, found func(start, end int)) {
	for i := smallImage - 1; i < len(text); i += smallImage {
		if inCode[text[i]] == 0 || !besideImage(text, i) || !mayReach(text, i) {
			continue
		}
		start := i
		for start > 0 && text[start-1] != '=' && (inCode[text[start-1]] != 0 ||
			text[start-1] == '\\' && (text[start] == '/' || text[start] == '\\')) {
			start--
		}
		if start > 0 && text[start-1] == '\\' { // the rest of another escape
			if start++; text[start-1] == 'u' {
				start = min(start+4, i)
			}
		}
		end := i
		for end < len(text) && inCode[text[end]] != 0 {
			end++
		}
		goes := end < len(text) && text[end] == '\\' && (byteAt(text, end+1) == '/' || byteAt(text, end+1) == '\\')
		if (end-start >= smallImage || goes) && isPicture(text[start:]) {
			if end = codeEnd(text, start); end-start >= smallImage {
				found(start, end)
			}
		}
		i = max(i, end)
	}
}

// besideImage reports whether the eight bytes before text[i], or those from it on, may be of an image: 60 in a row have
// more than that on one side.
func besideImage(text []byte, i int) bool {
	in := func(b []byte) uint8 {
		_ = b[7]
		return inImage[b[0]] & inImage[b[1]] & inImage[b[2]] & inImage[b[3]] &
			inImage[b[4]] & inImage[b[5]] & inImage[b[6]] & inImage[b[7]]
	}
	return in(text[i-8:i:i]) != 0 || i+8 <= len(text) && in(text[i:i+8:i+8]) != 0
}

// inImage has a 1 for the characters of base64, and for the backslash of an escape.
var inImage = func() (t [256]uint8) {
	t = inCode
	t['\\'] = 1
	return t
}()

// mayReach reports whether the base64 around text[i] may be as long as an image: half of it lies on one side.
func mayReach(text []byte, i int) bool {
	const half = smallImage / 2
	in := func(at int) bool { return at >= 0 && at < len(text) && (inCode[text[at]] != 0 || text[at] == '\\') }
	return in(i-half/2) && in(i-half+1) || in(i+half/2) && in(i+half-1)
}

// embedded adds the edits of images within a text that begins at an offset of the line.
func (x *Run) embedded(text []byte, at int, first bool) {
	pictures(text, func(start, end int) {
		if to := x.picture(text[start:end], false, first); to != string(text[start:end]) {
			x.edits = append(x.edits, hit{start: at + start, end: at + end, rule: -1, text: to})
		}
	})
}

// picture returns what replaces an image: the image without its metadata, or a single pixel. One
// that cannot be read is replaced by a pixel if the session calls it an image.
func (x *Run) picture(code []byte, said, first bool) (to string) {
	count := func(n *int) {
		if first && !x.later {
			*n++
		}
	}
	if x.r.known { // it was looked at
		return string(code)
	}
	data, encoding := decodedImage(code)
	bare := withoutMetadata(data)
	switch drop := x.r.opt.DropImages || x.r.opt.StructureOnly; {
	case drop, said && bare == nil:
		count(&x.Tally.Dropped)
		return pixel
	case bare == nil:
		count(&x.Tally.Unread)
	case !bytes.Equal(bare, data):
		count(&x.Tally.Bared)
		code = encoding.AppendEncode(nil, bare)
	}
	count(&x.Tally.Images)
	return string(code)
}

// decodedImage decodes an image, and returns its encoding. The last bytes of one that was cut are dropped.
func decodedImage(code []byte) ([]byte, *base64.Encoding) {
	plain := make([]byte, 0, len(code))
	for i, c := range code {
		escape := c == '\\' || (c == 'n' || c == 'r') && i > 0 && code[i-1] == '\\'
		if !escape && c != '\n' && c != '\r' {
			plain = append(plain, c)
		}
	}
	encoding := base64.StdEncoding
	if bytes.ContainsAny(plain, "-_") {
		encoding = base64.URLEncoding
	}
	if len(plain)&3 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	data, _ := encoding.AppendDecode(nil, plain)
	return data, encoding
}

// withoutMetadata returns an image without what its format keeps besides the picture: EXIF, XMP,
// IPTC, comments, texts, times, previews, and what follows its end. Color profiles stay. It returns
// nil for what is none of the formats of isPicture, or cannot be read to its end or to where it was cut.
func withoutMetadata(b []byte) []byte {
	switch {
	case bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return barePNG(b)
	case bytes.HasPrefix(b, []byte("\xff\xd8\xff")):
		return bareJPEG(b)
	case bytes.HasPrefix(b, []byte("GIF8")) && len(b) > 13:
		return bareGIF(b)
	case bytes.HasPrefix(b, []byte("RIFF")) && len(b) > 12 && string(b[8:12]) == "WEBP":
		b = b[:min(len(b), max(12, 8+int(binary.LittleEndian.Uint32(b[4:]))))]
		return bareWebP(b, 12)
	case bitmapHead(b) > 0:
		return bareBMP(b)
	case hasHEIFHead(b):
		return bareHEIF(b)
	}
	return nil
}

// The chunks of PNG and WebP that make the picture.
var pictureChunks = map[string]bool{
	"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true, "gAMA": true, "cHRM": true, "sRGB": true,
	"iCCP": true,
	"sBIT": true, "bKGD": true, "pHYs": true, "hIST": true, "cICP": true, "mDCV": true, "cLLI": true, "acTL": true,
	"fcTL": true, "fdAT": true,
	"VP8 ": true, "VP8L": true, "VP8X": true, "ALPH": true, "ANIM": true, "ANMF": true, "ICCP": true,
}

// isChunk reports whether b begins with the name of a chunk.
func isChunk(b []byte) bool {
	for _, c := range b[:4] {
		if !isAlnum(c) && c != ' ' {
			return false
		}
	}
	return true
}

func barePNG(b []byte) []byte {
	out := slices.Clone(b[:8])
	for i := 8; i < len(b); {
		if i+8 > len(b) {
			return append(out, b[i:]...)
		}
		name := string(b[i+4 : i+8])
		end := i + 12 + int(binary.BigEndian.Uint32(b[i:]))
		if !isChunk(b[i+4:]) {
			return nil
		}
		if pictureChunks[name] {
			out = append(out, b[i:min(end, len(b))]...)
		}
		i = end
		if name == "IEND" {
			break
		}
	}
	return out
}

// bareWebP does it for a file or a frame, whose chunks follow a head.
func bareWebP(b []byte, head int) []byte {
	out := slices.Clone(b[:head])
	for i := head; i < len(b); {
		if i+8 > len(b) {
			return append(out, b[i:]...)
		}
		n := int(binary.LittleEndian.Uint32(b[i+4:]))
		chunk := b[i:min(i+8+n+n&1, len(b))]
		i += len(chunk)
		switch name := string(chunk[:4]); {
		case !isChunk(chunk):
			return nil
		case name == "VP8X" && len(chunk) > 8:
			chunk = slices.Clone(chunk)
			chunk[8] &^= 0x0c // it announces EXIF and XMP
		case name == "ANMF" && len(chunk) >= 24:
			if chunk = bareWebP(chunk, 24); chunk == nil {
				return nil
			}
		case !pictureChunks[name]:
			continue
		}
		out = append(out, chunk...)
	}
	if len(out) < len(b) {
		binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	}
	return out
}

func bareJPEG(b []byte) []byte {
	out := slices.Clone(b[:2])
	i := 2
	for i+4 <= len(b) {
		marker, n := b[i+1], int(binary.BigEndian.Uint16(b[i+2:]))
		switch {
		case b[i] == 0xff && marker == 0xff: // it fills
			i++
			continue
		case b[i] == 0xff && marker == 0xd9:
			return append(out, 0xff, 0xd9)
		case b[i] != 0xff || marker < 0xc0 || n < 2:
			return nil
		}
		end := min(i+2+n, len(b))
		body := b[i+4 : end]
		for marker == 0xda && end < len(b) { // the picture: up to the next marker that is none in it
			if b[end] == 0xff && end+1 < len(b) && b[end+1] != 0 && b[end+1]&0xf8 != 0xd0 {
				break
			}
			end++
		}
		if marker < 0xe0 || marker == 0xe0 && bytes.HasPrefix(body, []byte("JFIF\x00")) ||
			marker == 0xe2 && bytes.HasPrefix(body, []byte("ICC_PROFILE\x00")) ||
			marker == 0xee && bytes.HasPrefix(body, []byte("Adobe")) {
			out = append(out, b[i:end]...)
		}
		i = end
	}
	return append(out, b[i:]...)
}

func bareGIF(b []byte) []byte {
	i := 13 + colors(b[10])
	out := slices.Clone(b[:min(i, len(b))])
	for i+1 < len(b) {
		start, keep := i, true
		switch b[i] {
		case '!':
			i += 2
			loop := bytes.HasPrefix(b[i:], []byte("\x0bNETSCAPE2.0")) ||
				bytes.HasPrefix(b[i:], []byte("\x0bICCRGBG1012"))
			keep = b[i-1] == 0xf9 || b[i-1] == 0xff && loop
		case ',':
			if i+10 > len(b) {
				return append(out, b[i:]...)
			}
			i += 11 + colors(b[i+9])
		case ';':
			return append(out, ';')
		default:
			return nil
		}
		for i < len(b) && b[i] != 0 {
			i += 1 + int(b[i])
		}
		if i++; keep {
			out = append(out, b[start:min(i, len(b))]...)
		}
	}
	return append(out, b[min(i, len(b)):]...)
}

// colors returns the size of a color table, by the flags before it.
func colors(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}
