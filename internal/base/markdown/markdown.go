// Package markdown writes untrusted text as Markdown that does
// nothing: it adds no structure, links nothing, pings nobody and closes no
// issue on GitHub and GitLab, and what it hides is made visible.
//
// Whatever a host could take for a reference goes into a code span, since hosts
// link nothing in code: https://docs.github.com/en/get-started/writing-on-github
// and https://docs.gitlab.com/user/markdown/ say what that is. Everything else
// is escaped where Markdown would act on it, after the CommonMark 0.31 and GFM
// 0.29 specifications.
//
// Every function appends to dst and returns it. None of them keeps text, and
// none of them fails: all bytes are allowed.
package markdown

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// form is what is written around and inside the words of a text.
type form int

const (
	cell  form = iota // inline Markdown that may stand in a link, a heading or a table cell
	plain             // inline Markdown of a paragraph
	html              // raw HTML
)

// AppendInline appends text as inline Markdown on one line, for a paragraph, a
// heading, a list item, a link's text or a table cell. It may open the line.
// All of the text is shown, Markdown in it as it was typed; white space is one
// space, and none at the ends.
func AppendInline(dst, text []byte) []byte {
	text = trim(text)
	dst, n := appendStart(dst, text, cell)
	return appendWords(dst, text[n:], cell)
}

// AppendHTML appends text for the inside of an HTML element that opens and
// closes on one line, such as <summary>. References are put into <code>.
func AppendHTML(dst, text []byte) []byte {
	return appendWords(dst, trim(text), html)
}

// mostTicks is the longest run of backticks that opens code: hosts recognize up to 80.
const mostTicks = 63

// AppendCode appends text as a code span. Line ends and tabs become spaces, and
// all other white space stays. Not for table cells.
func AppendCode(dst, text []byte) []byte {
	if len(text) == 0 {
		return append(dst, "<code></code>"...)
	}
	ticks := longestRun(text, '`') + 1
	if ticks > mostTicks && len(text) > 1 {
		half := len(text) / 2
		for half > 1 && !utf8.RuneStart(text[half]) {
			half--
		}
		return AppendCode(AppendCode(dst, text[:half]), text[half:])
	}
	if joined(dst, text) {
		dst = append(dst, "<span></span>"...)
	}
	dst = appendRun(dst, '`', ticks)
	// One space is taken off both ends if both have one, unless there is nothing else.
	first, last := text[0], text[len(text)-1]
	pad := first == '`' || last == '`' || isSpace(first) && isSpace(last) && len(trim(text)) > 0
	if pad {
		dst = append(dst, ' ')
	}
	start := len(dst)
	dst = appendShown(dst, text)
	for i, c := range dst[start:] {
		if c == '\n' || c == '\r' || c == '\t' {
			dst[start+i] = ' '
		}
	}
	if pad {
		dst = append(dst, ' ')
	}
	return appendRun(dst, '`', ticks)
}

// joined reports whether a code span of text would be taken together with what
// stands before it: backticks make one run, and some hosts look for addresses
// before they look for code, and take a backtick for a letter of an address.
func joined(dst, text []byte) bool {
	n := len(dst)
	if n == 0 || dst[n-1] == '`' {
		return n > 0
	}
	return bytes.IndexByte(text, '@') >= 0 && (isWord(dst[n-1]) || inAddress(dst[n-1]) && n > 1 && inAddress(dst[n-2]))
}

func inAddress(c byte) bool {
	return isWord(c) || bytes.IndexByte([]byte("!#$%&'*+-./=?^_{|}~"), c) >= 0
}

// runLen returns the length of the run of c at the start of text.
func runLen(text []byte, c byte) int { return len(text) - len(bytes.TrimLeft(text, string(rune(c)))) }

func appendRun(dst []byte, c byte, n int) []byte {
	for range n {
		dst = append(dst, c)
	}
	return dst
}

func trim(text []byte) []byte { return trimEnd(bytes.TrimLeft(text, " \t\r\n")) }

func trimEnd(text []byte) []byte {
	for len(text) > 0 && isSpace(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

// What a byte can mean to the writers of this package.
const (
	space  = 1 << iota // white space, line ends among it
	hex                // a hex digit
	letter             // a letter that is no hex digit
	quiet              // punctuation that matters together with others only
	active             // punctuation that Markdown acts on
	odd                // a control character, or a part of a character beyond ASCII
)

// class says what each byte is.
var class = func() (all [256]uint8) {
	for i := range all {
		switch c := byte(i); {
		case bytes.IndexByte([]byte(" \t\n\r"), c) >= 0:
			all[c] = space
		case isDigit(c), 'a' <= c|0x20 && c|0x20 <= 'f':
			all[c] = hex
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			all[c] = letter
		case bytes.IndexByte([]byte("'()+,-./:;=?^{}!@$%"), c) >= 0:
			all[c] = quiet
		case ' ' < c && c < 0x7f:
			all[c] = active
		default:
			all[c] = odd
		}
	}
	return all
}()

func isSpace(c byte) bool { return class[c] == space }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isWord(c byte) bool  { return class[c]&(hex|letter) != 0 }

// shown returns the character of text at i as it is shown, and its size in bytes.
// U+FFFD stands for what a reader would not see or be misled by: control
// characters, marks that change the direction of text, characters without width,
// and bytes that are not UTF-8.
func shown(text []byte, i int) (rune, int) {
	r, size := utf8.DecodeRune(text[i:])
	if (r == 0x200c || r == 0x200d) && joins(text, i) {
		return r, size
	}
	if hidden(r) {
		r = utf8.RuneError
	}
	return r, size
}

// joins reports whether the joiner at i has a purpose: it stands between two
// characters of a script that needs it, or of an emoji.
func joins(text []byte, i int) bool {
	before, _ := utf8.DecodeLastRune(text[:i])
	after, _ := utf8.DecodeRune(text[i+3:])
	return before >= 0x600 && after >= 0x600 && !hidden(before) && !hidden(after) &&
		before != utf8.RuneError && after != utf8.RuneError
}

// hidden reports whether a character is invisible or changes the direction of its surroundings.
func hidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160,
		r == 0x17b4, r == 0x17b5, r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f,
		r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0x3164, r >= 0xfe00 && r <= 0xfe0d,
		r == 0xfeff, r == 0xffa0, r >= 0xfff0 && r <= 0xfffb, r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 &&
			r <= 0xe0fff:
		return true
	}
	return false
}

// AppendShown appends text in which nothing is hidden: control characters, marks that turn the
// direction of text, characters without width and bytes that are not UTF-8 are U+FFFD. Tabs and
// line feeds stay, and are all that ends a line.
func AppendShown(dst, text []byte) []byte { return appendShown(dst, lineFeeds(text)) }

// appendShown appends text as it is shown. Tabs stay tabs.
func appendShown(dst, text []byte) []byte {
	start := 0
	for i := 0; i < len(text); {
		for i+8 <= len(text) && printable(binary.LittleEndian.Uint64(text[i:])) {
			i += 8
		}
		if i == len(text) {
			break
		}
		c := text[i]
		if class[c] != odd {
			i++
			continue
		}
		r, size := shown(text, i)
		if r == utf8.RuneError {
			dst = append(dst, text[start:i]...)
			dst = utf8.AppendRune(dst, r)
			start = i + size
		}
		i += size
	}
	return append(dst, text[start:]...)
}

// printable tells whether 8 bytes are ASCII characters, no control characters
// among them. The high bit of a byte gets set where it is below 0x20, where it
// is 0x7f, and where it is set; what is carried beyond comes after one of these.
func printable(x uint64) bool {
	const ones = 0x0101010101010101
	return (x|(x-0x20*ones)|(x+ones))&(0x80*ones) == 0
}

// AppendFence appends text as a fenced code block at the start of a line. The
// fence is longer than any run of its character in text. info is written if it
// is an ordinary language, see Language; text without a last line end gets one.
// All line ends become line feeds.
func AppendFence(dst []byte, info string, text []byte) []byte {
	return appendFence(dst, info, lineFeeds(text), 0, 0)
}

// appendFence indents the block by indent columns, and takes up to outdent
// columns off each line of text.
func appendFence(dst []byte, info string, text []byte, indent, outdent int) []byte {
	c, n := byte('`'), longestRun(text, '`')
	if n > 8 {
		if tildes := longestRun(text, '~'); tildes < n {
			c, n = '~', tildes
		}
	}
	n = max(n+1, 3)
	dst = appendRun(dst, ' ', indent)
	dst = appendRun(dst, c, n)
	dst = append(dst, Language(info)...)
	dst = append(dst, '\n')
	if indent == 0 && outdent == 0 {
		dst = appendShown(dst, text)
	} else {
		for line := range bytes.Lines(text) {
			if line = cutIndent(line, outdent); len(line) > 0 && line[0] != '\n' {
				dst = appendRun(dst, ' ', indent)
			}
			dst = appendShown(dst, line)
		}
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		dst = append(dst, '\n')
	}
	dst = appendRun(dst, ' ', indent)
	dst = appendRun(dst, c, n)
	return append(dst, '\n')
}

// longestRun returns the length of the longest run of c in text.
func longestRun(text []byte, c byte) int {
	longest := 0
	for {
		i := bytes.IndexByte(text, c)
		if i < 0 {
			return longest
		}
		n := runLen(text[i:], c)
		longest = max(longest, n)
		text = text[i+n:]
	}
}

// lineFeeds returns text with each line end (LF, CR LF or CR, which Markdown takes alike) as a
// line feed.
func lineFeeds(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte{'\n'})
	return bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'})
}

// cutIndent takes up to n columns of white space off a line. A tab goes whole.
func cutIndent(line []byte, n int) []byte {
	for n > 0 && len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		if n--; line[0] == '\t' {
			n -= 3
		}
		line = line[1:]
	}
	return line
}

// languages are those that hosts only highlight. "suggestion", "mermaid", "math" and the like,
// which hosts act on or render, are not among them.
var languages = strings.Fields(`
	text diff json jsonl json5 jsonc yaml toml xml html css scss less ini csv log console
	markdown md go rust c cpp csharp java kotlin scala swift dart zig nim
	javascript js jsx typescript ts tsx vue svelte python py ruby rb php perl
	lua r julia haskell ocaml elixir erlang clojure lisp elm fsharp
	sh bash zsh fish shell powershell bat sql graphql proto protobuf http
	dockerfile makefile cmake nix terraform hcl vim awk asm patch`)

// aliases are other names that people write for them, and endings of files.
var aliases = map[string]string{
	"txt": "text", "plain": "text", "plaintext": "text", "yml": "yaml", "golang": "go", "rs": "rust",
	"c++": "cpp", "cxx": "cpp", "cc": "cpp", "hpp": "cpp", "h": "c", "c#": "csharp", "cs": "csharp",
	"python3":     "python",
	"shellscript": "sh", "shell-session": "sh", "sh-session": "sh", "bashrc": "sh", "profile": "sh", "zshrc": "sh",
	"mjs": "js", "cjs": "js", "mts": "ts", "cts": "ts", "hs": "haskell", "kt": "kotlin", "ex": "elixir",
	"exs": "elixir",
	"erl": "erlang", "clj": "clojure", "ml": "ocaml", "jl": "julia", "ps1": "powershell", "tf": "terraform",
	"mk": "makefile", "cmakelists.txt": "cmake", "htm": "html", "svg": "xml", "cfg": "ini", "conf": "ini",
}

// Language is the name of a language as it may stand after a fence, from what
// somebody wrote there: empty unless hosts only highlight it.
func Language(info string) string {
	if i := strings.IndexAny(info, " \t,{:"); i >= 0 {
		info = info[:i]
	}
	info = strings.ToLower(info)
	if name := aliases[info]; name != "" {
		return name
	}
	if !slices.Contains(languages, info) {
		return ""
	}
	return info
}

// Info is the language for the content of a file, from its name: empty if the
// name does not tell.
func Info(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return cmp.Or(Language(base), Language(strings.TrimPrefix(path.Ext(base), ".")))
}
