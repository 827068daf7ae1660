package reuse

import (
	"bytes"
	"ctxtool/internal/lens/survival"
	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
	"slices"
	"strings"
)

// An answer is the terms of an answer: what it uses of earlier messages, and what it has that later
// ones can use. The lines that it says are often phrases: they are only of use while somebody else
// has given them.
type answer struct{ uses, has, says []uint64 }

// read adds the terms of an answer to the scanner's, and records those of its calls by id. It
// reports whether a call may change something.
//
// A line is quoted in what an agent says and in the text that an edit replaces; other arguments are
// its own. Folders, and files that it names without one in a sentence, are known from elsewhere.
// Commands that only look are no calls.
func (s *scanner) read(m *jsonl.Message, calls map[string]uint64) (acts bool) {
	texts(m, &s.buf, func(term uint64, kind Kind, name []byte) { s.tell(term, kind, name, true, true, false) })
	for c := range activity.Calls(m) {
		looks, quotes := false, c.Replacements()
		for text := range c.Args.Strings {
			s.buf = text.AppendText(s.buf[:0])
			looks = looks || survival.OnlyLooks(string(s.buf))
			alone := !bytes.ContainsAny(s.buf, " \n")
			quote := slices.ContainsFunc(quotes, func(r activity.Replacement) bool { return r.Old == string(s.buf) })
			scan(s.buf, func(term uint64, kind Kind, name []byte) { s.tell(term, kind, name, quote, false, alone) })
		}
		acts = acts || !looks && !c.Action.Looks() && c.Action != activity.Ask
		if !looks { // only a result has what a call gave
			term := callTerm(c.Tool, c.Args)
			s.answer.uses = append(s.answer.uses, term)
			calls[c.ID] = term
		}
	}
	return acts
}

// tell adds a term of a text. quote is set if the text uses its lines, says if it is what the agent
// says, and alone if it is a single word.
func (s *scanner) tell(term uint64, kind Kind, name []byte, quote, says, alone bool) {
	term = indexed(term, kind, name)
	if kind == Line && says {
		s.answer.says = append(s.answer.says, term)
	} else {
		s.answer.has = append(s.answer.has, term)
	}
	if kind == Identifier || kind == Line && quote || kind == Path && isFile(name, alone) {
		s.answer.uses = append(s.answer.uses, term)
	}
}

// indexed returns a term as an index has it: a file is known by its name alone, which a listing has
// without its folders, and a short identifier is a word.
func indexed(term uint64, kind Kind, name []byte) uint64 {
	switch {
	case kind == Path:
		return hash(Path, name[bytes.LastIndexByte(name, '/')+1:])
	case kind == Identifier && len(name) < longIdentifier:
		return hash(word, name)
	}
	return term
}

// isFile reports whether a path is that of a file, by its extension, and has a folder or is alone.
func isFile(path []byte, alone bool) bool {
	i := bytes.LastIndexByte(path, '/')
	return (alone || i > 0) && bytes.IndexByte(path[i+1:], '.') > 0
}

// everywhere are the terms of files that an agent expects in a project without having seen them.
var everywhere = func() map[uint64]bool {
	all := map[uint64]bool{}
	for _, name := range strings.Fields("README.md CHANGELOG.md CONTRIBUTING.md LICENSE.md AGENTS.md CLAUDE.md " +
		"go.mod go.sum main.go package.json package-lock.json tsconfig.json index.ts index.js index.html Cargo.toml " +
		"pyproject.toml requirements.txt setup.py __init__.py") {
		all[hash(Path, []byte(name))] = true
	}
	return all
}()

// callTerm returns the term of a call.
func callTerm(tool string, args jsonl.Value) uint64 {
	return hash(Call, args.AppendMinified([]byte(tool+"\x00")))
}
