// Package reuse says what of a context was used again later: a path, an identifier, a call
// with its result, or an exact line. Uses observes a walk; when that is done it answers
// which answers used what messages that left the context had said.
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

// A Kind is what of a message an answer used.
type Kind string

// The kinds, those first that are the least likely to be chance.
const (
	Call       Kind = "call"       // the same call was made again
	Path       Kind = "path"       // a file or folder was named, by the last two of its names
	Line       Kind = "line"       // a line of at least 24 bytes was repeated
	Identifier Kind = "identifier" // so was a word that somebody made up: with a capital, a digit or a line inside
)

// A Use is something that answers used of a message.
type Use struct {
	Kind    Kind
	Name    string        // the path, word or line, or the call in a few words
	From    *replay.Piece // the last of the messages that said it
	Answers []Answer      // in order
}

// An Answer is an answer by its entry, and the request that it answers.
type Answer struct{ Record, Request int }

// Uses observes a walk along one path.
type Uses struct {
	replay.NopObserver
	load    *replay.Reader
	answers []Answer
	uses    []use
	last    map[uint64]int32 // of each term its last use
	calls   map[string]call  // by the ids of calls
	buf     []byte
}

// A use is an answer that uses a term.
type use struct{ answer, before int32 } // before is the use before it, -1 for none

// A call is what a result answers.
type call struct {
	term uint64
	name string
}

// New returns an observer for a walk of r.
func New(r *replay.Replay) *Uses {
	return &Uses{load: r.NewReader(), last: map[uint64]int32{}, calls: map[string]call{}}
}

// Changed records what an answer uses.
func (u *Uses) Changed(step replay.Step, c *replay.Change) error {
	p := c.Appended()
	if p == nil || p.Kind() != jsonl.Assistant || !p.Sent() {
		return nil
	}
	u.answers = append(u.answers, Answer{step.Record, step.Requests() - 1})
	return u.terms(p, func(term uint64, _ Kind, _ []byte) { u.use(term) })
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

// Of is what the answers to request from and later ones used of messages that are gone,
// and that none of those left says: the most used first, of each kind by itself.
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
	order := []Kind{Call, Path, Line, Identifier}
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(
			slices.Index(order, a.Kind)-slices.Index(order, b.Kind),
			len(b.Answers)-len(a.Answers), a.Answers[0].Record-b.Answers[0].Record, strings.Compare(a.Name, b.Name),
		)
	})
	return all, nil
}

// since are the answers to request from and later ones that use a term.
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

// hash is a term of a kind.
func hash(kind Kind, text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(string(kind))
	h.Write(text)
	return h.Sum64()
}

// terms tells what a message says that can be used. What an answer calls is known from then
// on to the results.
func (u *Uses) terms(p *replay.Piece, tell func(term uint64, kind Kind, name []byte)) error {
	m, _, err := u.load.Message(p)
	if err != nil {
		return err
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		switch b.Kind {
		case jsonl.TextBlock, jsonl.ThinkingBlock:
			scan(b.Text.Bytes(&u.buf), tell)
		case jsonl.CallBlock:
			u.call(b, tell)
		}
	}
	if c, ok := u.calls[m.CallID.Text()]; ok && m.Kind == jsonl.ToolResult {
		tell(c.term, Call, []byte(c.name))
	}
	return nil
}

// call tells what a call says: itself, and the texts that it is made with.
func (u *Uses) call(b *jsonl.Block, tell func(term uint64, kind Kind, name []byte)) {
	spelled := append(append(bytes.Clone(b.Name), 0), b.Args.AppendMinified(nil)...)
	c := call{hash(Call, spelled), b.Name.Text()}
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

// How short a line may be and still be no chance, and a path or an identifier, in bytes.
const shortestLine, shortestPath, shortestIdentifier = 24, 4, 6

// scan tells the lines, paths and identifiers of a text.
func scan(text []byte, tell func(term uint64, kind Kind, name []byte)) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) >= shortestLine && bytes.IndexByte(line, ' ') >= 0 {
			tell(hash(Line, line), Line, line)
		}
		for word := range bytes.FieldsFuncSeq(line, func(r rune) bool { return !inPath(r) }) {
			if path := bytes.Trim(word, "./-"); isPath(path) {
				tell(hash(Path, lastTwo(path)), Path, path)
				continue
			}
			for name := range bytes.FieldsFuncSeq(word, func(r rune) bool { return r == '/' || r == '.' || r == '-' }) {
				if isIdentifier(name) {
					tell(hash(Identifier, name), Identifier, name)
				}
			}
		}
	}
}

func inPath(r rune) bool {
	return isLower(r) || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '/' || r == '.' || r == '-'
}

func isLower(r rune) bool { return r >= 'a' && r <= 'z' }

// endings are those of files. What else has a dot in it is code: a member of something.
var endings = strings.Fields("c cc cpp css csv go h hpp html java js json jsonl jsx kt lock log md mjs mod php proto py rb rs sh sql sum swift toml ts tsx txt xml yaml yml")

// isPath reports whether a word is a path: below two folders, or a name with the ending of
// a file.
func isPath(word []byte) bool {
	if len(word) < shortestPath || !bytes.ContainsFunc(word, isLower) {
		return false
	}
	dot := bytes.LastIndexByte(word, '.')
	return bytes.Count(word, []byte{'/'}) > 1 || dot > 0 && slices.Contains(endings, string(word[dot+1:]))
}

// lastTwo are the last two names of a path: so it is the same from wherever it is named.
func lastTwo(path []byte) []byte {
	if i := bytes.LastIndexByte(path, '/'); i > 0 {
		return path[bytes.LastIndexByte(path[:i], '/')+1:]
	}
	return path
}

// isIdentifier reports whether a word is one that somebody has made up for something.
func isIdentifier(word []byte) bool {
	return len(word) >= shortestIdentifier && bytes.ContainsFunc(word, isLower) &&
		bytes.ContainsFunc(word[1:], func(r rune) bool { return !isLower(r) })
}
