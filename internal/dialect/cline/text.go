package cline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"ctxtool/sessionfmt/jsonl"
)

// How long a text of a result, and a file in a prompt, can be before Cline shortens it in its middle, UTF-16 units.
const (
	mostOfResult = 8000
	mostOfFile   = 50_000
)

// shorten returns a text as Cline shortens it to a length, UTF-16 units.
func shorten(text jsonl.Value, most int) (short jsonl.Value, cut bool) {
	if len(text) <= most || text.Units() <= most {
		return text, false
	}
	units := utf16.Encode([]rune(text.Exact()))
	marked := func(n int) string { return fmt.Sprintf("\n\n...[truncated %d chars]...\n\n", n) }
	side := func(mark string) int { return max(0, (most-len(mark))/2) }
	mark := marked(max(0, len(units)-2*side(marked(len(units)-most))))
	n := side(mark)
	all := string(utf16.Decode(units[:n])) + mark + string(utf16.Decode(units[len(units)-n:]))
	return jsonl.AppendQuoted(nil, all), true
}

// isLonger reports whether a text is longer than most, UTF-16 units.
func isLonger(text jsonl.String, most int) bool { return len(text.Value) > most && text.Units() > most }

// An image is its data and its media type.
type image [2]jsonl.Value

// sentResult returns the text that is sent for a result, which is JSON if it is none, with texts that are too long
// shortened, and the pictures that it holds, which are sent after it.
func sentResult(content jsonl.Value) (text jsonl.String, images []image) {
	if content.IsString() {
		short, _ := shorten(content, mostOfResult)
		return short.Spelled(), nil
	}
	out := appendSent(nil, content, &images)
	if images == nil {
		out = appendSent(nil, content, nil)
	}
	return jsonl.Value(jsonl.AppendQuoted(nil, out)).Spelled(), images
}

// appendSent appends the JSON that is sent of a value. With images, it takes out pictures, and a block with a text
// becomes the text.
func appendSent(dst []byte, v jsonl.Value, images *[]image) []byte {
	switch {
	case v.IsString():
		short, cut := shorten(v, mostOfResult)
		if cut {
			return append(dst, short...)
		}
		return v.AppendMinified(dst)
	case v.IsArray():
		dst = append(dst, '[')
		open := len(dst)
		for e := range v.Elements {
			from := len(dst)
			if from > open {
				dst = append(dst, ',')
			}
			f := e.All("type", "data", "mediaType", "text")
			switch {
			case images != nil && isPicture(f):
				*images = append(*images, image{slices.Clone(f[1]), slices.Clone(f[2])})
				dst = dst[:from]
			case images != nil && f[0].Is("text") && f[3].IsString():
				dst = appendSent(dst, f[3], images)
			default:
				dst = appendSent(dst, e, images)
			}
		}
		return append(dst, ']')
	case v.IsObject():
		if f := v.All("type", "data", "mediaType"); images != nil && isPicture(f) {
			*images = append(*images, image{slices.Clone(f[1]), slices.Clone(f[2])})
			return append(dst, `"[image attached]"`...)
		}
		dst = append(dst, '{')
		open := len(dst)
		for key, e := range v.Members {
			if len(dst) > open {
				dst = append(dst, ',')
			}
			dst = appendSent(append(append(append(dst, '"'), key...), `":`...), e, images)
		}
		return append(dst, '}')
	}
	return v.AppendMinified(dst)
}

func isPicture(f []jsonl.Value) bool { return f[0].Is("image") && f[1].IsString() && f[2].IsString() }

// A wrapper finds what a tag is around, and such tags.
type wrapper struct{ whole, open *regexp.Regexp }

func wrapperOf(tag string) wrapper {
	return wrapper{regexp.MustCompile(`(?s)<` + tag + `\b[^>]*>(.*?)</` + tag + `>`),
		regexp.MustCompile(`<` + tag + `[^>]*>`)}
}

var wrappers = []wrapper{wrapperOf("user_input"), wrapperOf("user_command")}

// normalized returns a text of a prompt as it is sent: without the tags around it, and white space around that.
func normalized(text jsonl.String) jsonl.String {
	t := text.Exact()
	is := trimmed(t)
	if strings.Contains(is, "<user_") {
		for _, w := range wrappers {
			inner := w.whole.ReplaceAllString(is, "$1")
			if inner == is {
				inner = w.open.ReplaceAllString(is, "")
			}
			is = trimmed(inner)
		}
	}
	if is == t {
		return text
	}
	return jsonl.Value(jsonl.AppendQuoted(nil, is)).Spelled()
}

// trimmed returns a text without what JavaScript takes for white space at its ends.
func trimmed(text string) string {
	return strings.TrimFunc(text, func(c rune) bool { return c == '\ufeff' || c != '\u0085' && unicode.IsSpace(c) })
}
