package markdown_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt"
)

// nasty are texts that have broken what renders Markdown, here or elsewhere.
var nasty = []string{
	"", " ", "\n\n", "x", "a  \n", "a\\", "a\\\n", "```", "````\n```", "~~~", "~~~~\n~~~", "```mermaid\ngraph", "```suggestion\nx\n```", "``` `x`\n", "   ```\nx\n ```",
	strings.Repeat("`", 200), "`" + strings.Repeat("a`b``c```", 30), "`a``b`", "` `` `", "`` ` ``", "`\\`", "\\`a`", "a`\n`b", "$`x`$", "$$x$$", "`a`@b`c`",
	"> a\n> > b\n>> > c", ">", "> - a\n>   b", "- > a", "> ```\n> x", "> [!NOTE]\n> x", "[!WARNING]",
	"</details>", "</details>\n\n# x", "<!--", "-->", "<!-- x -->", "]]>", "<![CDATA[", "<?php", "<script>\nx\n</script>", "<b>", "</b>", "<b", "<br>", "<code>", "</code>", "<span>\n\n</span>", "<pre>", "</summary>",
	"<http://x.y>", "<a@b.c>", "<x-y:z>", "http://x.y", "HTTPS://x.y/(a)b", "www.x.y", "WWW.x.y.", "ftp://a.b", "mailto:a@b.c", "a@b.c", "a.b-c_d@e.f", "(www.x.y)", "*www.x.y*", "_http://x.y_", "~www.x.y~", "\"http://x.y\"", "www.\u200bx.y", "ahttp://x.y",
	"@a", "@a/b", "(@a)", "@@a", "a@", "@\u200ba", "é@a", "日@a", "#1", "##1", "a/b#1", "GH-1", "gh-1", "!1", "&1", "&#64;a", "&commat;a", "fixes #1", "abcdef0", "0123456789abcdef0123456789abcdef01234567", "_abcdef0_", "abcdef0..1234567", "a-abcdef0", ":+1:", ":a", ":100:", "::a::",
	"| a | b |\n|---|---|\n| 1 | 2 |", "a|b\n-|-", "a\n-", "a\n:-", "a\n:-:\nb", "|", "||\n|-", "\\|", "a\\|b", "a|`b|c`|d", "`a|b`", "|a|\n|:-:|\n|b", "a\n|-|\nb",
	"[a]: http://x.y", "[a]:\nx", "[a]", "[a][b]", "[a](b)", "[a](<b>)", "![a](b)", "![a][b]", "[^1]: a", "[^1]", "[[a]]", "[", "]", "](", "[]()", "[x]", "[a @b]:c", "[a\n`b]:c`", "[a](b `c]:d`", "@a]:b", "/a`@b]:c", "[a](http://x.y/z)", "[ ] a", "- [ ] a", "- [x] a", "1. [ ] a", "\\[a](b)", "[a\\](b)",
	"a\r\nb\r\n", "a\rb", "\r", "a\u2028b\u2029c", "a\u0085b", "a\vb\fc", "\t", "\ta", "a\n\tb", "     a", "a\n     b", "- a\n\n      b", "- a\n\n  \tb", "1. a\n\n       b", "\t- a\n\t\t- b",
	"# a", "#", "####### a", "# a #", "#\ta", " # a", "    # a", "# `", "# **", "# # a", "a\n=", "a\n===", "a\n---", "a\n--", "=", "---", "---\na: b\n---", "+++", "***", "* * *", "- - -", "___", "_ _ _", "--- -", "-\t-\t-",
	"- a", "-", "- ", "-a", "+ a", "* a", "*", "* *", "1. a", "1.", "1)", "2. a", "0. a", "999999999. a", "1234567890. a", "1.a", "a\n2. b", "- a\n  2. b", "- a\n-\n", "- -", "- 1. a", "10) a\n  - b\n    - c\n     - d\n      - e\n       - f\n        - g\n         - h",
	"- a\n - b\n  - c\n   - d\n    - e", "- a\n\n\n- b", "* a\n+ b\n- c\n1. d", ": a", "a\n: b", "a\n\n: b", ":-", "::: a",
	"*a*", "**a**", "***a***", "_a_", "__a__", "___a___", "a_b_c", "a__b__c", "_a", "a_", "_ a _", "* a *", "**a", "a**", "** a **", "**a\n**", "**a**b**c**", "*a**b*", "**`a**`", "`**a`**", "__a `__`", "**a__b**c__", "__init__", "**<b>**", "**&**", "**[a](b)**", "***", "****", "**\\**",
	"~a~", "~~a~~", "~~~a~~~", "a~b~c", "~ a ~", "~", "~~", "a ~~", "~/a ~/b~",
	"&lt;", "&#60;", "&#x3c;", "&nbsp;", "&", "&&", "&;", "&a", "&lt", "a&b;c", "\\&lt;", "\\", "\\\\", "\\<", "\\*a\\*", "<\\", "&\\#1",
	"/close", "/ a", "a\n/close\n", "/a/b", "/a|b", "/`", "\x00", "a\x00b", "\x1b[31m", "\x1b]8;;http://x.y\x07", "\xff", "\xc3", "\xe2\x80", "\xed\xa0\x80", "\u202e", "\u200d", "\ufeff# a", "\u00a0# a", "*\u00a0a*", "\u3000- a", "#\u3000a",
	strings.Repeat("> ", 100) + "a", strings.Repeat("- ", 100) + "a", strings.Repeat("[", 100), strings.Repeat("*", 100) + "a", strings.Repeat("  ", 50) + "- a", strings.Repeat("<b>", 50),
}

func seed(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	for i := range nasty {
		f.Add(nasty[i] + nasty[(i*7+3)%len(nasty)])
		f.Add(nasty[i] + " " + nasty[(i*11+5)%len(nasty)])
		f.Add(nasty[i] + "\n" + nasty[(i*13+7)%len(nasty)])
		f.Add(nasty[i] + "\n\n" + nasty[(i*17+11)%len(nasty)])
	}
}

// sentinel follows every hostile text.
const sentinel = "\n\n# after\n\n[link](/x)\n"

// A frame is what a document in which texts are tested is without them.
type frame struct {
	outline       string
	before, after string // the characters that are shown around the text
}

var frames = map[string]frame{}

// framed is the frame of a shape: that of a document around a letter.
func framed(shape string) frame {
	f, known := frames[shape]
	if !known {
		f.outline, _ = inert(render(fmt.Sprintf(shape, "x")+sentinel), false)
		f.before, f.after, _ = strings.Cut(words(visible(render(fmt.Sprintf(shape, "\x01")+sentinel))), "\uFFFD")
		frames[shape] = f
	}
	return f
}

// same holds the outline of a document around a text to that around a letter, and what
// it shows to the text's characters.
func same(t *testing.T, text, shape, written string) {
	t.Helper()
	page := render(fmt.Sprintf(shape, written) + sentinel)
	f := framed(shape)
	if got, want := words(visible(page)), f.before+words(text)+f.after; got != want {
		t.Fatalf("%s\ntext    %q\nwritten %s\nshows %q\nwant  %q", shape, text, written, got, want)
	}
	got, err := inert(page, false)
	if want := f.outline; err != nil || got != want {
		t.Fatalf("text    %q\nwritten %s\npage %s\ngot  %s %v\nwant %s", text, fmt.Sprintf(shape, written), page, got, err, want)
	}
}

// words are the characters of a text without its white space, as they are shown.
func words(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError || r >= 0x200c && r <= 0x200d:
			out.WriteRune(utf8.RuneError)
		case r == '\t' || r == '\n' || r == '\r':
		case sessionfmt.Clean(text[i:i+utf8.RuneLen(r)]) != string(r), r != 0xfe0f && r != 0xfe0e && unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r) && r != 0xfe0f && r != 0xfe0e, r == 0x34f, r >= 0xfff0 && r <= 0xfffb:
			out.WriteRune(utf8.RuneError)
		case !unicode.IsSpace(r):
			out.WriteRune(r)
		}
	}
	return out.String()
}

// inlineShapes are places for inline text.
var inlineShapes = []string{
	"%s", "# %s", "a %s b", "- %s", "1. %s", "> %s", "> - %s", "**a:** %s", "a\n%s\nb", "[%s](/y)", "<b>%s</b>", "- a\n  - %s\n- b",
	"| a | b |\n|---|---|\n| %s | y |\n| z | z |", "| %s | b |\n|---|---|\n| x | y |", "<details>\n<summary>a</summary>\n\n%s\n\n</details>",
}

func checkInline(t *testing.T, text string) {
	written := as(markdown.AppendInline, text)
	if strings.ContainsAny(written, "\n\r\t") {
		t.Fatalf("%q: more than a line: %q", text, written)
	}
	if strings.Trim(text, " \t\r\n") == "" {
		if written != "" {
			t.Fatalf("%q: written %q", text, written)
		}
		return
	}
	for _, shape := range inlineShapes {
		same(t, text, shape, written)
	}
}

func FuzzInline(f *testing.F) {
	seed(f)
	f.Fuzz(checkInline)
}

func FuzzCode(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, shape := range inlineShapes {
			if !strings.ContainsAny(shape, "|[") { // no code stands in cells and links
				same(t, text, shape, as(markdown.AppendCode, text))
			}
		}
	})
}

func FuzzHTML(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		written := as(markdown.AppendHTML, text)
		for _, shape := range []string{
			"<details><summary>%s</summary>\n\nx\n\n</details>", "<details>\n<summary>%s</summary>\n\nx\n\n</details>",
			"> <details><summary>a %s</summary>\n>\n> x\n>\n> </details>", "- <details><summary>%s (1)</summary>\n\n  x\n\n  </details>",
		} {
			same(t, text, shape, written)
		}
	})
}

// prefixed is text with a prefix before each line, and without one before the first.
func prefixed(text, prefix string) string {
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix)
}

// blockFrames are the outlines of documents around blocks, by what is before those.
var blockFrames = map[string]string{}

// checkBlocks holds documents around blocks to the outline they should have.
func checkBlocks(t *testing.T, text, written string) {
	t.Helper()
	for _, shape := range []struct{ before, prefix, after string }{
		{"# before\n\n", "", "\n\n# after\n"},
		{"> # before\n>\n> ", "> ", "\n>\n> # after\n"},
		{"<details>\n<summary>a</summary>\n\n## before\n\n", "", "\n\n## after\n\n</details>\n"},
		{"- # before\n\n  ", "  ", "\n\n  # after\n"},
		{"> - # before\n>\n>   ", ">   ", "\n>\n>   # after\n"},
	} {
		doc := shape.before + prefixed(written, shape.prefix) + shape.after + sentinel
		got, err := inert(render(doc), true)
		want, known := blockFrames[shape.before]
		if !known {
			want, _ = inert(render(shape.before+"x"+shape.after+sentinel), true)
			blockFrames[shape.before] = want
		}
		if err != nil || got != want {
			t.Fatalf("text %q\n%s\npage %s\ngot  %s %v\nwant %s", text, doc, render(doc), got, err, want)
		}
	}
}

// TestMixtures puts nasty texts together in ways that fuzzing takes long to find.
func TestMixtures(t *testing.T) {
	seams := []string{"", " ", "\n", "\n\n", "\n  ", "\n\n    ", "x", "`", "**", "__", "\n- ", "\n1. ", "|", "\\", "\r", "("}
	random := rand.New(rand.NewPCG(1, 2))
	for range corpus.Pick(500, 1500) {
		text := nasty[random.IntN(len(nasty))]
		for range 1 + random.IntN(4) {
			text += seams[random.IntN(len(seams))] + nasty[random.IntN(len(nasty))]
		}
		checkInline(t, text)
		checkText(t, text)
	}
}

// letters are the letters of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, text)
}

func checkText(t *testing.T, text string) {
	written := as(markdown.AppendText, text)
	if strings.Trim(text, " \t\r\n") == "" {
		if written != "" {
			t.Fatalf("%q: written %q", text, written)
		}
		return
	}
	if strings.HasPrefix(written, "\n") || !strings.HasSuffix(written, "\n") || strings.HasSuffix(written, "\n\n") || strings.ContainsRune(written, '\r') {
		t.Fatalf("%q: line ends of %q", text, written)
	}
	checkBlocks(t, text, written)
	// The info of a fence is all that may be lost.
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		if got, want := letters(visible(render(written))), letters(words(text)); got != want {
			t.Fatalf("text %q\nwritten %s\ngot  %s\nwant %s", text, written, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	seed(f)
	f.Fuzz(checkText)
}

func FuzzFence(f *testing.F) {
	for i, s := range nasty {
		f.Add(nasty[(i*5+1)%len(nasty)], s)
		f.Add("go", s)
	}
	f.Fuzz(func(t *testing.T, info, text string) {
		written := string(markdown.AppendFence(nil, info, []byte(text)))
		checkBlocks(t, text, written)
		page := render(written)
		if strings.Count(page, "<pre>") != 1 || !strings.HasPrefix(page, "<pre><code") {
			t.Fatalf("%q: %s", text, page)
		}
		if got, want := words(visible(page)), words(text); got != want {
			t.Fatalf("%q: got %q, want %q", text, got, want)
		}
		first, _, _ := bytes.Cut([]byte(written), []byte("\n"))
		if name := strings.TrimLeft(string(first), "`~"); name != markdown.Language(name) {
			t.Fatalf("info %q became %q", info, name)
		}
	})
}

// TestSessions checks the texts of sessions, which are real texts: the
// first forty of each session that no session before it has, or a thousand.
func TestSessions(t *testing.T) {
	most := corpus.Pick(20, 1000)
	seen := map[string]bool{}
	left := 0
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		case []any:
			for _, of := range v {
				walk(of)
			}
		case string:
			if len(v) < 20 || len(v) > 2000 || seen[v] || left == 0 {
				return
			}
			seen[v] = true
			left--
			checkText(t, v)
			if len(v) < 80 {
				checkInline(t, v)
			}
		}
	}
	for _, s := range append(corpus.Shared(t), corpus.Own(t)...) {
		left = most
		for line := range bytes.Lines(s.Data) {
			var v any
			if left > 0 && json.Unmarshal(line, &v) == nil {
				walk(v)
			}
		}
	}
	t.Logf("%d texts", len(seen))
	if len(seen) < 100 {
		t.Errorf("only %d texts", len(seen))
	}
}
