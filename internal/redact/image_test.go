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
		"animated": {riff(extended("\x0a"), frame(string(exif)), exif), riff(extended("\x02"), frame(""))},
	}
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
				if got := withoutMetadata(i[1][:n]); name != "webp" && name != "animated" && !bytes.Equal(got, i[1][:n]) {
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
