package markdown_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/base/markdown"
)

// as hands the text to one of the functions of the package.
func as(f func(dst, text []byte) []byte, text string) string { return string(f(nil, []byte(text))) }

func TestInline(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"plain", "Nothing to do here, is there?", "Nothing to do here, is there?"},
		{"names keep their lines", "snake_case and a.b-c in x/y.go:12:5", "snake_case and a.b-c in x/y.go:12:5"},
		{"C:\\", `C:\Users\me`, `C:\\Users\\me`},
		{"white space", " a \t b\r\nc\n\nd ", "a b c d"},
		{"only white space", " \n\t", ""},
		{"mention", "thanks @octocat!", "thanks `@octocat`!"},
		{"team", "ask @org/team.", "ask `@org/team`."},
		{"mail", "<jane@example.org>", "`<jane@example.org>`"},
		{"issue", "fixes #12, really", "fixes `#12`, really"},
		{"issue of a repository", "(owner/repo#1)", "(`owner/repo#1`)"},
		{"GH-", "see GH-12", "see `GH-12`"},
		{"merge request", "see !12", "see `!12`"},
		{"label", "~bug and ~ about ~/x", `\~bug and \~ about \~/x`},
		{"milestone", "%1.0 of 100%", "`%1.0` of 100%"},
		{"commit", "in abc1234.", "in `abc1234`."},
		{"no commit", "abc123 and abcdefg", "abc123 and abcdefg"},
		{"commits", "0123456..789abcd", "`0123456..789abcd`"},
		{"a commit of signs only", "a/deadbeef", "`a/deadbeef`"},
		{"link", "at https://example.org/a_b_c?x=1&y=2.", "at `https://example.org/a_b_c?x=1&y=2`."},
		{"www", "WWW.example.org", "`WWW.example.org`"},
		{"emoji", ":+1: 12:30:45 a::b::c", "`:+1:` 12:30:45 `a::b::c`"},
		{"math", "$x$ costs $5", "`$x$` costs `$5`"},
		{"math around code", "$`x`$", "``$`x`$``"},
		{"element", "<script>a < b</script>", `&lt;script>a &lt; b&lt;/script>`},
		{"comment", "<!-- x -->", "&lt;!-- x -->"},
		{"entity", "&#64;x &lt; AT&T a & b", "`&#64;x` &amp;lt; AT&amp;T a &amp; b"},
		{"emphasis", "*a* **b** 2 * 3", `\*a\* \*\*b\*\* 2 \* 3`},
		{"link of Markdown", "[a](b)", `\[a\](b)`},
		{"image", "![a](b)", `!\[a\](b)`},
		{"heading", "## a", `\## a`},
		{"no heading", "#a C#", `#a C\#`},
		{"end of a heading", "a ##", `a #\#`},
		{"item", "- a", `\- a`},
		{"number", "12. a", `12\. a`},
		{"ruler", "---", `\---`},
		{"setext", "===", `\===`},
		{"quote", "> [!NOTE]", `\> \[!NOTE\]`},
		{"fence", "```x", "\\`\\`\\`x"},
		{"cell", "a|b|@c|d", "a\\|b\\|`@c`\\|d"},
		{"cell with backslash", `a\|b`, `a\\\|b`},
		{"command", "/close now", "`/close` now"},
		{"backslash at the end", `a\`, `a\\`},
		{"escape", "a\x1b[31mb", "a\uFFFD\\[31mb"},
		{"bidi", "a\u202eb\u2066", "a\uFFFDb\uFFFD"},
		{"no width", "@\u200boctocat", "@\uFFFDoctocat"},
		{"joined emoji stays", "\U0001F468\u200D\U0001F4BB", "\U0001F468\u200D\U0001F4BB"},
		{"broken", "a\xff\xfeb\xe2\x80", "a\uFFFD\uFFFDb\uFFFD\uFFFD"},
		{"other scripts", "naïve 日本語 #12号", "naïve 日本語 `#12`号"},
		{"line separator", "a\u2028b", "a\uFFFDb"},
	} {
		if got := as(markdown.AppendInline, test.text); got != test.want {
			t.Errorf("%s: %q\ngot  %s\nwant %s", test.name, test.text, got, test.want)
		}
	}
}

func TestHTML(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"element", "</summary>\n\n# x", "&lt;/summary&gt; # x"},
		{"mention", `"@a's"`, `&quot;<code>@a&#39;s</code>&quot;`},
		{"label", "~bug", "<code>~bug</code>"},
		{"entity", "&lt;", "&amp;lt;"},
		{"Markdown is none", "**a** `b`", "**a** `b`"},
	} {
		if got := as(markdown.AppendHTML, test.text); got != test.want {
			t.Errorf("%s: %q\ngot  %s\nwant %s", test.name, test.text, got, test.want)
		}
	}
}

func TestCode(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", "<code></code>"}, {" ", "` `"}, {"a", "`a`"}, {" a", "` a`"}, {" a ", "`  a  `"},
		{"`", "`` ` ``"}, {"a`b", "``a`b``"}, {"``a`", "``` ``a` ```"}, {"a\r\n\tb", "`a   b`"}, {"a|b", "`a|b`"},
	} {
		if got := as(markdown.AppendCode, test.text); got != test.want {
			t.Errorf("%q: got %s, want %s", test.text, got, test.want)
		}
	}
	// Two spans do not become one.
	if got, want := string(markdown.AppendCode([]byte("`a`"), []byte("b"))), "`a`<span></span>`b`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestManyTicks has more runs of backticks than an opening can differ from.
func TestManyTicks(t *testing.T) {
	var text []byte
	for n := range 200 {
		text = append(append(text, "a"...), strings.Repeat("`", n)...)
	}
	out := markdown.AppendCode(nil, text)
	if got := strings.TrimSpace(visible(render(string(out)))); got != string(text) {
		t.Errorf("got %s", got)
	}
}

func TestFence(t *testing.T) {
	for _, test := range []struct{ name, info, text, want string }{
		{"empty", "go", "", "```go\n```\n"},
		{"no line end", "", "a", "```\na\n```\n"},
		{"longer", "", "```\n````\n", "`````\n```\n````\n`````\n"},
		{"tildes for very long ones", "", strings.Repeat("`", 9) + "~~~", "~~~~\n`````````~~~\n~~~~\n"},
		{"not a language", "suggestion", "a\n", "```\na\n```\n"},
		{"mermaid", "Mermaid", "a\n", "```\na\n```\n"},
		{"more than a language", "go title=\"x\"", "a\n", "```go\na\n```\n"},
		{"line ends", "", "a\r\nb\rc\n\rd", "```\na\nb\nc\n\nd\n```\n"},
		{"escapes", "", "\tok \x1b[1m\x00\u202e\xff\n", "```\n\tok \uFFFD[1m\uFFFD\uFFFD\uFFFD\n```\n"},
	} {
		if got := string(markdown.AppendFence(nil, test.info, []byte(test.text))); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestInfo(t *testing.T) {
	for name, want := range map[string]string{
		"a/b.go": "go", `a\b.TSX`: "tsx", "Makefile": "makefile", "x.h": "c", "x.rs": "rust", "x.mermaid": "", "x.geojson": "",
		"x.topojson": "", "x.stl": "", "x.mmd": "", "noext": "", "x.svg": "xml", "x.yml": "yaml", "x.txt": "text", "": "", ".suggestion": "",
	} {
		if got := markdown.Info(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"blank", " \n\r\n\t", ""},
		{"paragraphs", "\n\na\nb\n\n\nc", "a  \nb\n\nc\n"},
		{"spans", "**b** __c d__ `code` *i* __init__", "<b>b</b> \\_\\_c d\\_\\_ `code` \\*i\\* \\_\\_init\\_\\_\n"},
		{"code in bold", "**a `**` b**", "<b>a `**` b</b>\n"},
		{"mention in bold", "**@a**", "<b>`@a`</b>\n"},
		{"mention beside code", "`a`@b", "`a`<span></span>`@b`\n"},
		{"open spans", "**a `b __c", "\\*\\*a \\`b \\_\\_c\n"},
		{"heading", "# a #\nb\n## `c`", "<b>a</b>\n\nb\n\n<b>`c`</b>\n"},
		{"setext", "a\n===\nb\n---", "a  \n\\===  \nb  \n\\---\n"},
		{"rulers", "***\n\n- - -\n\n_ _ _", "\\*\\*\\*\n\n\\- - -\n\n\\_ \\_ \\_\n"},
		{"fence", "a\n```go\nx\n```\nb", "a\n\n```go\nx\n```\n\nb\n"},
		{"open fence", "~~~mermaid\nx\n```", "````text\nx\n```\n````\n"},
		{"longer fence", "````\n```\n````", "````text\n```\n````\n"},
		{"list", "a\n* b\n  c\n    + d\n\n  e\n\nf", "a\n\n- b  \n  c\n  - d\n\n  e\n\nf\n"},
		{"numbers", "3) a\n10. b\n    - c", "3. a\n10. b\n    - c\n"},
		{"fence in a list", "1. a\n   ```sh\n   ls\n     -l\n   ```\n2. b", "1. a\n\n   ```sh\n   ls\n     -l\n   ```\n2. b\n"},
		{"kinds of lists", "- a\n1. b", "- a\n\n1. b\n"},
		{"empty item", "a\n-\n- b", "a  \n\\-\n\n- b\n"},
		{"item in an item", "- - a", "- \\- a\n"},
		{"task", "- [ ] a\n- [x] b", "- \\[ \\] a\n- \\[x\\] b\n"},
		{"table", "| a | @b |\n|---|---|\n| 1 | 2 |\nc", "```text\n| a | @b |\n|---|---|\n| 1 | 2 |\n```\n\nc\n"},
		{"bare table", "a | b\n--- | ---\n1 | 2\nc", "```text\na | b\n--- | ---\n1 | 2\n```\n\nc\n"},
		{"no table", "a | b\n\n| c |", "a | b\n\n\\| c |\n"},
		{"table of one column", "a\n:-:", "a  \n\\:-:\n"},
		{"indented code", "    @a\n\n      b\n\nc", "```text\n@a\n\n  b\n```\n\nc\n"},
		{"quote", "> a\n> > b", "\\> a  \n\\> > b\n"},
		{"alert", "> [!NOTE]\n> a", "\\> \\[!NOTE\\]  \n\\> a\n"},
		{"definition", "[a]: https://x.y\n[^1]: b", "\\[a\\]: `https://x.y`  \n\\[^1\\]: b\n"},
		{"definition that ends in code", "[a `b]: c`\n[d](e `f]: g`", "\\[a `b]: c`  \n\\[d\\](e `f]: g`\n"},
		{"no definition", "[INFO] a: [b]", "\\[INFO\\] a: \\[b\\]\n"},
		{"details", "</details>\n<!--", "&lt;/details>  \n&lt;!--\n"},
		{"link", "See [the docs](https://x.y/z(1)) or [b](c).", "See \\[the docs\\](`https://x.y/z(1)`) or \\[b\\](c).\n"},
		{"brackets", "$(pwd) {\"a\":\"@b\"} (@a) \"${x}\"", "`$(pwd)` `{\"a\":\"@b\"}` (`@a`) \"`${x}`\"\n"},
		{"command before a colon", "/a/b: c", "`/a/b`: c\n"},
		{"command", "/close", "`/close`\n"},
		{"hard break", "a\\\nb", "a\\\\  \nb\n"},
	} {
		if got := as(markdown.AppendText, test.text); got != test.want {
			t.Errorf("%s: %q\ngot  %q\nwant %q", test.name, test.text, got, test.want)
		}
	}
}

// TestLinear has texts that make writers of Markdown look at everything again
// and again. Writing a quarter of a megabyte takes milliseconds; were it quadratic, it
// would take more than the limit, which leaves room for a machine that is busy.
func TestLinear(t *testing.T) {
	for _, unit := range []string{
		"`", "``a", "**a ", "__a *", "**a`", "[", "](", "<", "&a", "~", "_", "*", "\\", "\r", "\n", "- \n", "|\n", "a|b\n", "| a\n\n", "```\n",
		"  - a\n", "    a\n\n", "(", "(@", ":a", "[a", "#1", "@", "\x00", "\u200d", "0", "> ", "/", "1. ", "\r\n", "~~~\n", "a**__`b`__**",
	} {
		text := bytes.Repeat([]byte(unit), 1<<16/len(unit))
		for _, f := range []func(dst, text []byte) []byte{markdown.AppendInline, markdown.AppendText, markdown.AppendHTML, markdown.AppendCode} {
			fastest := time.Hour
			for try := 0; try < 5 && fastest > 500*time.Millisecond; try++ { // the machine may be busy
				began := time.Now()
				if out := f(nil, text); len(out) > 20*len(text) {
					t.Errorf("%q: %d bytes became %d", unit, len(text), len(out))
				}
				fastest = min(fastest, time.Since(began))
			}
			if fastest > 500*time.Millisecond {
				t.Fatalf("%q: %d bytes took %v", unit, len(text), fastest)
			}
		}
	}
}
