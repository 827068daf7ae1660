package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestImageThatIsNone: a secret instead of an image's data is found, and a picture is
// unchanged.
func TestImageThatIsNone(t *testing.T) {
	const value = "supersecretvalue123"
	r := must.Get(New(Options{Values: []string{value}}))
	for _, line := range []string{
		`{"type":"message","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"` + value + `"}]}}`,
		`{"type":"custom","data":{"data":"` + value + `","type":"image"}}`,
	} {
		x := r.NewRun()
		out, err := x.line([]byte(line))
		if err != nil || bytes.Contains(out, []byte(value)) || x.Tally.Images != 0 {
			t.Errorf("%s: %d images, %v", out, x.Tally.Images, err)
		}
		x.Close()
	}
	single := must.Get(New(Options{DropImages: true}))
	for _, head := range []string{"", "data:image/jpeg;base64,"} { // wherever one is
		big := "/9j/" + strings.Repeat("A", 96)
		if out := string(redacted(single, []byte(`{"toolUseResult":{"file":{"base64":"`+head+big+`"}}}`))); out != `{"toolUseResult":{"file":{"base64":"`+head+pixel+`"}}}` {
			t.Error(out)
		}
	}
	x := r.NewRun()
	defer x.Close()
	picture := `{"type":"message","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"` + pixel + `"}]}}`
	if out, err := x.line([]byte(picture)); err != nil || string(out) != picture || x.Tally.Images != 1 {
		t.Errorf("%s: %d images, %v", out, x.Tally.Images, err)
	}
}

const planted = "zq7mkx9wvtr4lb8p"

// chunkOf is a chunk of PNG, or of WebP.
func chunkOf(name string, data string, webp bool) []byte {
	if webp {
		b := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
		return append(append(b, data...), make([]byte, len(data)&1)...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, name...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func segment(marker byte, data string) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

func riff(chunks ...[]byte) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"), slices.Concat(chunks...)...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// images are images with metadata in every place that their format has for it, and without.
func images() map[string][2][]byte {
	picture := image.NewPaletted(image.Rect(0, 0, 9, 7), palette.WebSafe)
	for i := range picture.Pix {
		picture.Pix[i] = uint8(i * 3)
	}
	var p, j, g bytes.Buffer
	must.Do(png.Encode(&p, picture))
	must.Do(jpeg.Encode(&j, picture, nil))
	must.Do(gif.EncodeAll(&g, &gif.GIF{Image: []*image.Paletted{picture, picture}, Delay: []int{3, 3}, LoopCount: 2}))
	with := map[string][]byte{}
	for _, name := range []string{"tEXt", "iTXt", "zTXt", "eXIf", "tIME", "prVt"} {
		with["png"] = append(with["png"], chunkOf(name, "Comment\x00"+planted, false)...)
	}
	for _, marker := range []byte{0xe0, 0xe1, 0xe2, 0xed, 0xec, 0xfe} {
		with["jpeg"] = append(with["jpeg"], segment(marker, "Exif\x00\x00"+planted)...)
	}
	text := string(rune(len(planted))) + planted + "\x00"
	with["gif"] = []byte("!\xfe" + text + "!\xff\x0bXMP DataXMP" + text + "!\x01" + text)
	in := func(b []byte, at int, name string) []byte { return slices.Insert(slices.Clone(b), at, with[name]...) }
	exif := chunkOf("EXIF", planted, true)
	extended := func(flags string) []byte { return chunkOf("VP8X", flags+"\x00\x00\x00\x08\x00\x00\x06\x00\x00", true) }
	lossy := chunkOf("VP8 ", "not really a picture", true)
	frame := func(more string) []byte { return chunkOf("ANMF", strings.Repeat("\x01", 16)+string(lossy)+more, true) }
	colors := 13 + colors(g.Bytes()[10])
	return map[string][2][]byte{
		"png":      {append(in(p.Bytes(), 33, "png"), planted...), p.Bytes()},
		"jpeg":     {append(in(j.Bytes(), 2, "jpeg"), planted...), j.Bytes()},
		"gif":      {append(in(g.Bytes(), colors, "gif"), planted...), g.Bytes()},
		"webp":     {append(riff(extended("\x0c"), lossy, exif, chunkOf("XMP ", planted, true)), planted...), riff(extended("\x00"), lossy)},
		"bmp":      bitmaps(),
		"heic":     {heic("mif1", true), heic("mif1", false)},
		"avif":     {append(heic("avif", true), planted...), heic("avif", false)},
		"animated": {riff(extended("\x0a"), frame(string(exif)), exif), riff(extended("\x02"), frame(""))},
	}
}

// bitmaps are a picture with a hidden text before its pixels, one after them and a profile that is a path, and that
// picture without them.
func bitmaps() (all [2][]byte) {
	for k, hidden := range []string{planted, strings.Repeat("\x00", len(planted))} {
		b := binary.LittleEndian.AppendUint32([]byte("BM"), 0)
		for _, x := range []uint32{0, uint32(14 + 124 + len(hidden)), 124, 5, 3, 24<<16 | 1, 0, 0, 2835, 2835, 0, 0} {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
		b = append(b, make([]byte, 14+124-len(b))...)
		copy(b[14+56:], "BGRs")
		b = append(append(b, hidden...), bytes.Repeat([]byte{17, 240, 9, 0x7f}, 16*3/4)...)
		if k == 0 {
			copy(b[14+56:], "KNIL")
			binary.LittleEndian.PutUint32(b[14+112:], uint32(len(b)-14))
			binary.LittleEndian.PutUint32(b[14+116:], uint32(len(planted)))
			b = append(b, planted...)
		} else {
			binary.LittleEndian.PutUint32(b[2:], uint32(len(b)))
		}
		all[k] = b
	}
	return all
}

// heic is a file with a picture, EXIF, XMP and boxes of texts, or with zeros instead.
func heic(brand string, filled bool) []byte {
	text, free := strings.Repeat("\x00", len(planted)), "free"
	if filled {
		text = planted
	}
	named := func(name string) string {
		if filled {
			return name
		}
		return free
	}
	box := func(name string, parts ...string) string {
		data := strings.Join(parts, "")
		return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(data)))) + name + data
	}
	entry := func(id, kind, rest string) string { return box("infe", "\x02\x00\x00\x00\x00"+id+"\x00\x00"+kind+rest) }
	head := box("ftyp", brand, "\x00\x00\x00\x00mif1heic")
	meta := func(at int) string {
		place := func(id, method string, at, n int) string {
			b := binary.BigEndian.AppendUint32([]byte("\x00"+id+"\x00"+method+"\x00\x00\x00\x01"), uint32(at))
			return string(binary.BigEndian.AppendUint32(b, uint32(n)))
		}
		return box("meta", "\x00\x00\x00\x00", box("hdlr", strings.Repeat("\x00", 24)),
			box("iinf", "\x00\x00\x00\x00\x00\x03", entry("\x01", "av01", "\x00"), entry("\x02", "Exif", "\x00"),
				entry("\x03", "mime", "\x00application/rdf+xml\x00")),
			box("iprp", box("ipco", box("ispe", strings.Repeat("\x01", 12)), box(named("udes"), "\x00\x00\x00\x00"+text))),
			box("idat", text),
			box("iloc", "\x01\x00\x00\x00\x44\x00\x00\x03", place("\x01", "\x00", at, 8),
				place("\x02", "\x00", at+8, len(text)), place("\x03", "\x01", 0, len(text))))
	}
	at := len(head) + len(meta(0)) + 8
	return []byte(head + meta(at) + box("mdat", "\x12pixels\x99", text) + box(named("uuid"), text))
}

// TestMetadata: an image loses all metadata and what follows its end, and nothing else; so does
// one that was cut.
func TestMetadata(t *testing.T) {
	for name, i := range images() {
		if got := withoutMetadata(i[0]); !bytes.Equal(got, i[1]) {
			t.Errorf("%s: %q, want %q", name, got, i[1])
		}
		if got := withoutMetadata(i[1]); !bytes.Equal(got, i[1]) {
			t.Errorf("%s changes without metadata: %q", name, got)
		}
		for n := range len(i[0]) {
			if got := withoutMetadata(i[0][:n]); bytes.Contains(got, []byte(planted[:8])) {
				t.Errorf("%s, %d bytes: %q", name, n, got)
			}
			if n < len(i[1]) && n > 40 {
				if got := withoutMetadata(i[1][:n]); !slices.Contains([]string{"webp", "animated", "heic", "avif"}, name) && !bytes.Equal(got, i[1][:n]) {
					t.Errorf("%s without metadata, %d bytes: %q, want %q", name, n, got, i[1][:n])
				}
			}
		}
	}
	for _, bad := range []string{"", "\x89PNG\r\n\x1a\n\x00\x00\x00\x01????", "\xff\xd8\xff\xe0\x00\x01??", "GIF89a1234567?????", "RIFF1234WAVEdata1234"} {
		if got := withoutMetadata([]byte(bad)); got != nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

// TestImagePlaces: images lose their metadata, or are replaced, in every place of a session of any
// agent, and in what stands in texts.
func TestImagePlaces(t *testing.T) {
	keep, drop := must.Get(New(Options{})), must.Get(New(Options{DropImages: true}))
	for name, i := range images() {
		with, bare := base64.StdEncoding.EncodeToString(i[0]), base64.StdEncoding.EncodeToString(i[1])
		quote := func(s string) string { return string(must.Get(json.Marshal(s))) }
		wrapped := func(s string) string {
			return strings.Join(slices.Collect(func(yield func(string) bool) {
				for line := range slices.Chunk([]byte(s), 76) {
					if !yield(string(line)) {
						return
					}
				}
			}), "\n")
		}
		slashes := strings.NewReplacer("/", `\/`)
		for place, in := range map[string]func(s string) string{
			"pi": func(s string) string {
				return `{"type":"message","id":"a","message":{"role":"toolResult","content":[{"type":"image","data":"` + s + `","mimeType":"image/png"}]}}`
			},
			"pi details": func(s string) string {
				return `{"type":"message","id":"a","message":{"role":"toolResult","content":[],"details":{"shot":{"raw":"` + s + `"}}}}`
			},
			"toolUseResult": func(s string) string {
				return `{"type":"user","uuid":"a","toolUseResult":{"type":"image","file":{"base64":"` + s + `","type":"image/png"}}}`
			},
			"codex": func(s string) string {
				return `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,` + s + `"}]}}`
			},
			"gemini": func(s string) string {
				return `{"id":"u","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":"` + s + `"}}]}`
			},
			"opencode": func(s string) string {
				return `{"table":"part","data":{"type":"file","mime":"image/png","url":"data:image/png;base64,` + s + `"}}`
			},
			"slashes": func(s string) string {
				return `{"type":"message","message":{"content":[{"type":"image","data":"` + slashes.Replace(s) + `"}]}}`
			},
			"url, slashes": func(s string) string { return `{"image_url":"data:image\/png;base64,` + slashes.Replace(s) + `"}` },
			"text": func(s string) string {
				return `{"content":` + quote("see\n![shot](data:image/png;base64,"+s+") and <b>") + `}`
			},
			"html": func(s string) string { return `{"content":` + quote(`<img src="data:image/png;base64,`+s+`">`) + `}` },
			"json": func(s string) string { return `{"arguments":` + quote(`{"image":"`+s+`"}`) + `}` },
			"json, slashes": func(s string) string {
				return `{"arguments":` + quote(quote(`{"image":"`+slashes.Replace(s)+`"}`)) + `}`
			},
			"lines":          func(s string) string { return `{"output":` + quote("$ base64 shot\n"+wrapped(s)+"\n$ exit") + `}` },
			"lines of bytes": func(s string) string { return "$ base64 shot\n" + s + " end" },
		} {
			for _, r := range []*Redactor{keep, drop} {
				want, said := bare, "1 1 0 0"
				if r == drop {
					want, said = pixel, "0 0 0 1"
				}
				x := r.NewRun()
				out, err := x.line([]byte(in(with)))
				got := strings.NewReplacer(`\`, "", "\n", "").Replace(string(out))
				expect := strings.NewReplacer(`\`, "", "\n", "").Replace(in("@"))
				if err != nil || got != strings.Replace(expect, "@", want, 1) {
					t.Errorf("%s, %s: %s, %v, want %s", name, place, out, err, want)
				}
				if got := fmt.Sprint(x.Tally.Images, x.Tally.Bared, x.Tally.Unread, x.Tally.Dropped); got != said {
					t.Errorf("%s, %s: counted %s, want %s", name, place, got, said)
				}
				x.Close()
			}
		}
	}
}

// TestBrokenImage: an image that cannot be read is replaced where the session names it as one,
// and stays elsewhere, where it may be a text.
func TestBrokenImage(t *testing.T) {
	broken := "/9j/4AAC" + strings.Repeat("Zm9v", 20)
	r := must.Get(New(Options{}))
	for line, want := range map[string]string{
		`{"type":"message","message":{"content":[{"type":"image","data":"` + broken + `"}]}}`: "0 0 0 1",
		`{"content":"` + broken + `"}`:                 "1 0 1 0",
		`{"content":"it is ` + broken + `, or is it"}`: "1 0 1 0",
	} {
		x := r.NewRun()
		out, err := x.line([]byte(line))
		kept := string(out) == line
		if got := fmt.Sprint(x.Tally.Images, x.Tally.Bared, x.Tally.Unread, x.Tally.Dropped); err != nil || got != want || kept != (want[0] == '1') {
			t.Errorf("%s: counted %s, want %s: %v", out, got, want, err)
		}
		x.Close()
	}
}

// TestImageAnywhere: an image within a text loses its metadata wherever it begins, and pictures whose lists say nonsense
// end.
func TestImageAnywhere(t *testing.T) {
	r := mustNew(Options{})
	for name, i := range images() {
		with, bare := base64.StdEncoding.EncodeToString(i[0]), base64.StdEncoding.EncodeToString(i[1])
		for n := range 2 * smallImage {
			lead := strings.Repeat(". ", n/2+1)[:n+1] + `\n`
			if got, want := string(redacted(r, []byte(`{"content":"`+lead+with+`"}`))), `{"content":"`+lead+bare+`"}`; got != want {
				t.Errorf("%s after %d bytes: %.200s, want %.200s", name, n, got, want)
				break
			}
		}
	}
	head := "\x00\x00\x00\x10ftypheic\x00\x00\x00\x00"
	for _, list := range []string{
		"\x01\x00\x00\x00\x00\x00\xff\xff" + strings.Repeat("\x00\x01\x00\x00\x00\x00\xff\xff", 1<<14),
		"\x00\x00\x00\x00\x44\x00\xff\xff" + strings.Repeat("\x00\x02\x00\x00\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff", 1<<14),
	} {
		infe := "\x00\x00\x00\x1cmeta\x00\x00\x00\x00\x00\x00\x00\x00iinf\x00\x00\x00\x00"
		withoutMetadata([]byte(head + "\x00\x00\x00\x00meta\x00\x00\x00\x00" + infe + "\x00\x00\x00\x00iloc" + list))
		withoutMetadata([]byte(head + strings.Repeat("\x00\x00\x00\x00meta\x00\x00\x00\x00", 1<<14)))
	}
}
