// Package reuse finds what answers use of earlier messages: a path, an identifier, a call with
// its result, or an exact line.
package reuse

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A Kind is what an answer used of a message.
type Kind string

// The kinds, from the least to the most likely to be chance.
const (
	Call       Kind = "call"       // the same call was made again
	Path       Kind = "path"       // a file or folder was named; only the last two elements of its path count
	Line       Kind = "line"       // a line of at least 24 bytes was repeated
	Identifier Kind = "identifier" // a made-up word was repeated: one with a capital, a digit or an underscore inside
)

// A Use is a term of a message that answers used.
type Use struct {
	Kind    Kind
	Name    string        // the path, word or line, or the call in a few words
	From    *replay.Piece // the last of the given messages that has it
	Answers []Answer      // in order
}

// An Answer is an answer: its entry, and the request that it answers.
type Answer struct{ Record, Request int }

// Uses are what the answers of a path use.
type Uses struct {
	load    *replay.Reader
	answers []Answer
	uses    []use
	last    map[uint64]int32 // the last use of each term
	calls   map[string]call  // by id
	buf     []byte
}

// A use is an answer that uses a term.
type use struct{ answer, before int32 } // before is the previous use of the term, -1 for none

// A call is the call of a result.
type call struct {
	term uint64
	name string
}

func newUses(r *replay.Replay) *Uses {
	return &Uses{load: r.NewReader(), last: map[uint64]int32{}, calls: map[string]call{}}
}

// answer records the terms that an answer uses, if the step is one.
func (u *Uses) answer(r *replay.Replay, step replay.Step) error {
	p := r.Own(step.Record)
	if step.Did != replay.Added || p.Kind() != jsonl.Assistant {
		return nil
	}
	u.answers = append(u.answers, Answer{step.Record, step.Requests() - 1})
	return u.terms(&p, func(term uint64, _ Kind, _ []byte) { u.use(term) })
}

// use records that the last answer uses a term.
func (u *Uses) use(term uint64) {
	answer, before := int32(len(u.answers)-1), int32(-1)
	if at, ok := u.last[term]; ok {
		if before = at; u.uses[at].answer == answer {
			return
		}
	}
	u.last[term] = int32(len(u.uses))
	u.uses = append(u.uses, use{answer, before})
}

// Of returns what the answers to request from and later ones used of messages that are gone,
// unless a message that is left has it too. Uses are sorted by kind, the most used first.
func (u *Uses) Of(gone, left iter.Seq[*replay.Piece], from int) ([]Use, error) {
	found := map[uint64]*Use{}
	for p := range gone {
		err := u.terms(p, func(term uint64, kind Kind, name []byte) {
			if f := found[term]; f != nil {
				f.From = p
			} else if by := u.since(term, from); by != nil {
				found[term] = &Use{kind, string(name), p, by}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for p := range left {
		if len(found) == 0 {
			break
		}
		if err := u.terms(p, func(term uint64, _ Kind, _ []byte) { delete(found, term) }); err != nil {
			return nil, err
		}
	}
	all := make([]Use, 0, len(found))
	for _, f := range found {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(
			slices.Index(order, a.Kind)-slices.Index(order, b.Kind),
			len(b.Answers)-len(a.Answers), a.Answers[0].Record-b.Answers[0].Record, strings.Compare(a.Name, b.Name),
		)
	})
	return all, nil
}

// since returns the answers to request from and later ones that use a term.
func (u *Uses) since(term uint64, from int) (by []Answer) {
	at, ok := u.last[term]
	for ok && at >= 0 && u.answers[u.uses[at].answer].Request >= from {
		by = append(by, u.answers[u.uses[at].answer])
		at = u.uses[at].before
	}
	slices.Reverse(by)
	return by
}

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

// terms calls tell with each term of a message. It records the calls of an answer, for their
// results.
func (u *Uses) terms(p *replay.Piece, tell func(term uint64, kind Kind, name []byte)) error {
	m, _, err := u.load.Message(p)
	if err != nil {
		return err
	}
	texts(m, &u.buf, tell)
	for b := range m.Calls {
		u.call(b, tell)
	}
	if c, ok := u.calls[m.CallID.Text()]; ok && m.Kind == jsonl.ToolResult {
		tell(c.term, Call, []byte(c.name))
	}
	return nil
}

// texts calls tell with the terms of a message's texts.
func texts(m *jsonl.Message, buf *[]byte, tell func(term uint64, kind Kind, name []byte)) {
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == jsonl.TextBlock || b.Kind == jsonl.ThinkingBlock {
			scan(b.Text.Bytes(buf), tell)
		}
	}
}

// call calls tell with the terms of a call: the call itself, and those of its arguments.
func (u *Uses) call(b *jsonl.Block, tell func(term uint64, kind Kind, name []byte)) {
	c := call{callTerm(b.Name.Text(), b.Args), b.Name.Text()}
	for text := range b.Args.Strings {
		if c.name == b.Name.Text() {
			c.name = outline.FirstWords(c.name + " " + text.Text())
		}
		u.buf = text.AppendText(u.buf[:0])
		scan(u.buf, tell)
	}
	u.calls[b.ID.Text()] = c
	tell(c.term, Call, []byte(c.name))
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
		for word := range words(line, inName|inPath) {
			if path := trimmed(word); isPath(path) {
				tell(hash(Path, lastTwo(path)), Path, path)
				continue
			}
			for name := range words(word, inName) {
				if isIdentifier(name) {
					tell(hash(Identifier, name), Identifier, name)
				}
			}
		}
	}
}

// unnumbered returns a line without the path, the number or the sign that a search, a listing of
// a file or a diff puts before it.
func unnumbered(line []byte) []byte {
	rest := bytes.TrimLeft(withoutPath(line), "+-")
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
			if after := bytes.TrimLeft(line[i+1:], "0123456789"); len(after) < len(line)-i-1 && bytes.HasPrefix(after, []byte{'-'}) {
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

// words returns the longest words of a text whose bytes are all of these classes.
func words(text []byte, in uint8) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < len(text); i++ {
			if classes[text[i]]&in == 0 {
				continue
			}
			from := i
			for i++; i < len(text) && classes[text[i]]&in != 0; i++ {
			}
			if !yield(text[from:i]) {
				return
			}
		}
	}
}

// The classes of bytes: in a name, and besides that in a path.
const (
	inName = 1 << iota
	inPath
)

var classes = func() (all [256]uint8) {
	for c := range all {
		switch b := byte(c); {
		case isLower(b) || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_':
			all[c] = inName
		case b == '/' || b == '.' || b == '-':
			all[c] = inPath
		}
	}
	return all
}()

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// endings are the file extensions. Other words with a dot are code: a selector.
var endings = strings.Fields("c cc cpp css csv go h hpp html java js json jsonl jsx kt lock log md mjs mod php proto py rb rs sh sql sum swift toml ts tsx txt xml yaml yml")

// isPath reports whether a word is a path: below two folders, or a name with a file extension.
func isPath(word []byte) bool {
	if len(word) < shortestPath || !hasLower(word) {
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
	if len(word) < shortestIdentifier || !hasLower(word) {
		return false
	}
	for _, c := range bytes.TrimRight(word, "0123456789")[1:] {
		if !isLower(c) {
			return true
		}
	}
	return false
}

// hasLower reports whether a word has a small letter.
func hasLower(word []byte) bool {
	for _, c := range word {
		if isLower(c) {
			return true
		}
	}
	return false
}
