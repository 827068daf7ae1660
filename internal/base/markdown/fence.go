package markdown

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
)

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

// Language returns the name of a language as it may stand after a fence, from what somebody wrote there: empty
// unless hosts only highlight it.
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

// Info returns the language for the content of a file, from its name: empty if the name does not tell.
func Info(name string) string {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	return cmp.Or(Language(base), Language(strings.TrimPrefix(path.Ext(base), ".")))
}
