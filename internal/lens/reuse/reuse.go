// Package reuse finds what answers use of earlier messages: a path, an identifier, a call with
// its result, or an exact line.
package reuse

import (
	"bytes"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"ctxtool/internal/read/outline"
	"ctxtool/sessionfmt/jsonl"
)

// A Kind is a kind of content that an answer used.
type Kind string

// The kinds, from the least to the most likely to be chance.
const (
	Call       Kind = "call"       // the same call was made again
	Path       Kind = "path"       // a file or folder was named; only the last two elements of its path count
	Line       Kind = "line"       // a line of at least 24 bytes was repeated
	Identifier Kind = "identifier" // a made-up word was repeated: one with a capital, a digit or an underscore inside
)

var seed = maphash.MakeSeed()

// order are the kinds, the least likely to be chance first.
var order = []Kind{Call, Path, Line, Identifier, word}

// A word is an identifier of an index of fewer than longIdentifier bytes: alone it may be chance.
const word Kind = "word"

const longIdentifier = 16

// hash returns the term for a text of a kind: its first three bits are the rank of the kind.
func hash(kind Kind, text []byte) uint64 {
	return uint64(slices.Index(order, kind))<<61 | maphash.Bytes(seed, text)>>3
}

// rank returns the index in order of the kind of a term.
func rank(term uint64) int { return int(term >> 61) }

// terms calls tell with each term of an answer. A call is one, in a few words.
func terms(m *jsonl.Message, buf *[]byte, tell func(term uint64, kind Kind, name []byte)) {
	texts(m, buf, tell)
	for b := range m.Calls {
		tool := b.Name.Text()
		name := tool
		for text := range b.Args.Strings {
			if name == tool {
				name = outline.FirstWords(name + " " + text.Text())
			}
			*buf = text.AppendText((*buf)[:0])
			scan(*buf, tell)
		}
		tell(callTerm(tool, b.Args), Call, []byte(name))
	}
}

// texts calls tell with the terms of a message's texts.
func texts(m *jsonl.Message, buf *[]byte, tell func(term uint64, kind Kind, name []byte)) {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == jsonl.TextBlock || b.Kind == jsonl.ThinkingBlock {
			scan(b.Text.Bytes(buf), tell)
		}
	}
}

// The minimum length of a line, and of a path or an identifier, bytes. Shorter ones repeat by
// chance.
const shortestLine, shortestPath, shortestIdentifier = 24, 4, 6

// scan calls tell with the lines, paths and identifiers of a text.
func scan(text []byte, tell func(term uint64, kind Kind, name []byte)) {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if bare := unnumbered(line); len(bare) >= shortestLine && bytes.IndexByte(bare, ' ') >= 0 {
			tell(hash(Line, bare), Line, bare)
		}
		for word, has := range words(line, inName|inPath) {
			if path := trimmed(word); has&inPath != 0 && isPath(path) {
				tell(hash(Path, lastTwo(path)), Path, rooted(word, path))
				continue
			}
			if has&made == 0 {
				continue // as most words
			}
			for name, has := range words(word, inName) {
				if has&made != 0 && isIdentifier(name) {
					tell(hash(Identifier, name), Identifier, name)
				}
			}
		}
	}
}

// unnumbered returns a line without the path, the number or the sign that a search, a listing of
// a file or a diff puts before it.
func unnumbered(line []byte) []byte {
	rest := withoutPath(line)
	if len(rest) == 0 || rest[0] != '+' && rest[0] != '-' && rest[0]-'0' > 9 {
		return bytes.TrimSpace(rest)
	}
	rest = bytes.TrimLeft(rest, "+-")
	number := bytes.TrimLeft(rest, "0123456789")
	for _, mark := range []string{"→", ":", "\t", "|", " ", "-"} {
		if after, ok := bytes.CutPrefix(number, []byte(mark)); ok && len(number) < len(rest) {
			rest = after
			break
		}
	}
	return bytes.TrimSpace(rest)
}

// withoutPath returns a line without the path that grep puts before it: with a colon, or in a line
// beside the one that it has found with dashes around the number.
func withoutPath(line []byte) []byte {
	for i, c := range line {
		switch {
		case c == ' ' || c == '\t':
			return line
		case c == ':' && isPath(line[:i]):
			return line[i+1:]
		case c == '-' && isPath(line[:i]):
			if after := bytes.TrimLeft(line[i+1:], "0123456789"); len(after) < len(line)-i-1 &&
				bytes.HasPrefix(after, []byte{'-'}) {
				return after
			}
		}
	}
	return line
}

// trimmed returns a word without the bytes at its ends that are in paths only.
func trimmed(word []byte) []byte {
	for len(word) > 0 && classes[word[0]] == inPath {
		word = word[1:]
	}
	for len(word) > 0 && classes[word[len(word)-1]] == inPath {
		word = word[:len(word)-1]
	}
	return word
}

// rooted returns a path with the slash that it has in the word it was trimmed from.
func rooted(word, path []byte) []byte {
	if i := bytes.Index(word, path); i > 0 && word[i-1] == '/' {
		return word[i-1 : i+len(path)]
	}
	return path
}

// words returns the longest words of a text whose bytes are all of these classes, and the classes that
// they have.
func words(text []byte, in uint8) iter.Seq2[[]byte, uint8] {
	return func(yield func([]byte, uint8) bool) {
		for i := 0; i < len(text); i++ {
			has := classes[text[i]]
			if has&in == 0 {
				continue
			}
			from := i
			for i++; i < len(text) && classes[text[i]]&in != 0; i++ {
				has |= classes[text[i]]
			}
			if !yield(text[from:i], has) {
				return
			}
		}
	}
}

// The classes of bytes: in a name, and besides that in a path; and in a name, but no small letter.
const (
	inName = 1 << iota
	inPath
	made
)

var classes = func() (all [256]uint8) {
	for c := range all {
		switch b := byte(c); {
		case isLower(b):
			all[c] = inName
		case b-'A' < 26 || b-'0' < 10 || b == '_':
			all[c] = inName | made
		case b == '/' || b == '.' || b == '-':
			all[c] = inPath
		}
	}
	return all
}()

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// endings are the file extensions. Other words with a dot are code: a selector.
var endings = strings.Fields("c cc cpp css csv go h hpp html java js json jsonl jsx kt lock log md mjs mod php proto " +
	"py rb rs sh sql sum swift toml ts tsx txt xml yaml yml")

// isPath reports whether a word is a path: below two folders, or a name with a file extension.
func isPath(word []byte) bool {
	if len(word) < shortestPath || !slices.ContainsFunc(word, isLower) {
		return false
	}
	dot := bytes.LastIndexByte(word, '.')
	return bytes.Count(word, []byte{'/'}) > 1 || dot > 0 && slices.Contains(endings, string(word[dot+1:]))
}

// lastTwo returns the last two elements of a path, which relative and absolute paths share.
func lastTwo(path []byte) []byte {
	if i := bytes.LastIndexByte(path, '/'); i > 0 {
		return path[bytes.LastIndexByte(path[:i], '/')+1:]
	}
	return path
}

// isIdentifier reports whether a word is a made-up name, not one of a language. A number at the
// end makes no name.
func isIdentifier(word []byte) bool {
	if len(word) < shortestIdentifier || !slices.ContainsFunc(word, isLower) {
		return false
	}
	end := len(word)
	for word[end-1]-'0' < 10 {
		end--
	}
	return slices.ContainsFunc(word[1:end], func(c byte) bool { return !isLower(c) })
}
