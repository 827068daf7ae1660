package cline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// How long a text of a result, and a file in a prompt, can be before Cline shortens it in its middle, UTF-16 units.
const (
	mostOfResult = 8000
	mostOfFile   = 50_000
)

// shorten returns a text as Cline shortens it to a length, UTF-16 units.
func shorten(text jsonl.Value, most int) jsonl.Value {
	if !isLonger(text.Spelled(), most) {
		return text
	}
	units := utf16.Encode([]rune(text.Exact()))
	marked := func(n int) string { return fmt.Sprintf("\n\n...[truncated %d chars]...\n\n", n) }
	side := func(mark string) int { return max(0, (most-len(mark))/2) }
	mark := marked(max(0, len(units)-2*side(marked(len(units)-most))))
	n := side(mark)
	all := string(utf16.Decode(units[:n])) + mark + string(utf16.Decode(units[len(units)-n:]))
	return jsonl.AppendQuoted(nil, all)
}

// isLonger reports whether a text is longer than most, UTF-16 units.
func isLonger(text jsonl.String, most int) bool { return len(text.Value) > most && text.Units() > most }

// sentResult returns the text that is sent for a result, which is JSON if it is none, with texts that are too long
// shortened, and the pictures that it holds, which are sent after it.
func sentResult(content jsonl.Value) (text jsonl.String, pictures []jsonl.Block) {
	if content.IsString() {
		return shorten(content, mostOfResult).Spelled(), nil
	}
	out := sentValue(content, &pictures)
	if pictures == nil {
		out = sentValue(content, nil)
	}
	return chat.Quoted(out), pictures
}

// sentValue returns the JSON that is sent of a value. With pictures, it takes them out, and a block with a text becomes
// the text.
func sentValue(v jsonl.Value, pictures *[]jsonl.Block) jsonl.Value {
	switch {
	case v.IsString():
		return shorten(v, mostOfResult).AppendMinified(nil)
	case v.IsArray():
		var all []jsonl.Value
		for e := range v.Elements {
			if takePicture(e, pictures) {
				continue
			}
			if f := e.All("type", "text"); pictures != nil && f[0].Is("text") && f[1].IsString() {
				e = f[1]
			}
			all = append(all, sentValue(e, pictures))
		}
		return dialect.List(all...)
	case takePicture(v, pictures):
		return jsonl.Value(`"[image attached]"`)
	case v.IsObject():
		var all []jsonl.Field
		for name, e := range v.Ordered {
			all = append(all, jsonl.Field{Name: name, Value: sentValue(e, pictures)})
		}
		return jsonl.AppendObject(nil, all...)
	}
	return v.AppendMinified(nil)
}

// takePicture adds a picture to the pictures, if they are asked for and the value is one.
func takePicture(v jsonl.Value, pictures *[]jsonl.Block) bool {
	f := v.All("type", "data", "mediaType")
	if pictures == nil || !f[0].Is("image") || !f[1].IsString() || !f[2].IsString() {
		return false
	}
	data, mime := slices.Clone(f[1]), slices.Clone(f[2])
	*pictures = append(*pictures, jsonl.Block{Kind: jsonl.ImageBlock, Data: data, Mime: mime})
	return true
}

// A wrapper finds what a tag is around, and such tags.
type wrapper struct{ whole, open func() *regexp.Regexp }

func wrapperOf(tag string) wrapper {
	return wrapper{lazy.Regexp(`(?s)<` + tag + `\b[^>]*>(.*?)</` + tag + `>`),
		lazy.Regexp(`<` + tag + `[^>]*>`)}
}

var wrappers = []wrapper{wrapperOf("user_input"), wrapperOf("user_command")}

// normalized returns a text of a prompt as it is sent: without the tags around it, and white space around that.
func normalized(text jsonl.String) jsonl.String {
	t := text.Exact()
	is := trimmed(t)
	if strings.Contains(is, "<user_") {
		for _, w := range wrappers {
			inner := w.whole().ReplaceAllString(is, "$1")
			if inner == is {
				inner = w.open().ReplaceAllString(is, "")
			}
			is = trimmed(inner)
		}
	}
	if is == t {
		return text
	}
	return chat.Quoted([]byte(is))
}

// trimmed returns a text without what JavaScript takes for white space at its ends.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(c rune) bool { return c == '\ufeff' || c != '\u0085' && unicode.IsSpace(c) })
}
