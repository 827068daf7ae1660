package stats

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/said"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// sweEstimate is the name of SWE-CLI's estimator without a tokenizer.
const sweEstimate = "chars4"

// sweMessages counts messages as SWE-CLI does: content, and calls and results as Python prints them,
// each separately.
type sweMessages struct {
	chars             bool // without the tokenizer, as in older versions
	n, tokens, images int
	calls             map[string]sweCall
	results           []sweResult
}

func newSWEMessages(chars bool) *sweMessages {
	return &sweMessages{chars: chars, calls: map[string]sweCall{}}
}

// of returns the tokens of a text: by GPT-4's vocabulary, or a quarter of its characters, rounded
// down.
func (s *sweMessages) of(text string) int {
	if s.chars {
		return utf8.RuneCountInString(text) / 4
	}
	return tokens.CL100K.Count([]byte(text))
}

// SWETokens returns the tokens of a message of a request as SWE-CLI counts them, SWEText those of a
// single text.
func SWETokens(m *jsonl.Message) int {
	s := newSWEMessages(false)
	s.add(m)
	return s.tokens
}

func SWEText(text string) int { return newSWEMessages(false).of(text) }

// SWEPercent returns a number of tokens in percent of SWE-CLI's own limit.
func SWEPercent(total int) float64 { return sweUsage(total, sweLimit).Percent }

// A sweCall is a tool call; one identifies equal calls, which can have different ids.
type sweCall struct {
	one        string
	file, part string // that it reads; an empty part is the whole file
}

// A sweResult is a tool result.
type sweResult struct {
	sweCall
	text   string
	tokens int
	failed bool
}

// add counts a message of a request.
func (s *sweMessages) add(msg *jsonl.Message) {
	s.n++
	for i := range msg.Blocks {
		switch b := &msg.Blocks[i]; b.Kind {
		case jsonl.ImageBlock:
			s.images++
		case jsonl.CallBlock:
			s.call(b)
		}
	}
	text := string(msg.AppendText(nil, ""))
	n := s.of(text)
	s.tokens += n
	if msg.Kind == jsonl.ToolResult {
		s.results = append(s.results, sweResult{s.calls[msg.CallID.Text()], text, n, msg.IsError.Truthy()})
	}
}

// call counts a call: its name and its arguments, or only the arguments if it counts characters
// (docs/policies.md 3.1).
func (s *sweMessages) call(b *jsonl.Block) {
	name, printed := b.Name.Text(), pythonText(b.Args)
	if s.chars {
		s.tokens += s.of(printed)
	} else {
		s.tokens += s.of(name + printed)
	}
	call := sweCall{one: name + " " + printed}
	if p := replay.ReadPath(b.Name, b.Args); p != "" {
		file, lines := said.File(p)
		call.file = path.Clean(file)
		members := 0
		for range b.Args.Members {
			members++
		}
		if members > 1 || lines != "" {
			call.part = call.one
		}
	}
	s.calls[b.ID.Text()] = call
}

// waste counts results without new content. From the end backwards, these are results whose calls
// were repeated, and files or results that were read again. A read supersedes an older one of the
// same lines, and one of all lines supersedes every older one (docs/policies.md 4.9).
func (s *sweMessages) waste() (w sweWaste) {
	called, said, read := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for i := len(s.results) - 1; i >= 0; i-- {
		r := &s.results[i]
		saying := r.one + "\x00" + r.text
		switch {
		case r.failed && r.one != "" && called[r.one]:
			w.Retried += r.tokens
		case r.failed:
			w.Errors += r.tokens
		case r.file != "" && (read[[2]string{r.file}] || read[[2]string{r.file, r.part}]):
			w.Superseded += r.tokens
		case r.one != "" && said[saying]:
			w.Duplicate += r.tokens
		}
		called[r.one], said[saying] = true, true
		if !r.failed {
			read[[2]string{r.file, r.part}] = true
		}
	}
	w.sweTarget = measure(w.Retried+w.Errors+w.Superseded+w.Duplicate, s.tokens, 0, 0.1)
	return w
}

// pythonText returns a JSON value as Python prints it, in one pass without recursion.
func pythonText(v jsonl.Value) string {
	var b strings.Builder
	for v = v.AppendMinified(nil); len(v) > 0; {
		n := 1
		switch v[0] {
		case ',':
			b.WriteString(", ")
		case ':':
			b.WriteString(": ")
		case 't':
			b.WriteString("True")
			n = len("true")
		case 'f':
			b.WriteString("False")
			n = len("false")
		case 'n':
			b.WriteString("None")
			n = len("null")
		case '"':
			n, _ = jsonl.ValueLen(v)
			printPython(&b, v[:n].Text())
		default:
			b.WriteByte(v[0])
		}
		v = v[n:]
	}
	return b.String()
}

// pythonEscapes are the characters that Python escapes with a letter.
var pythonEscapes = map[rune]string{'\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// printPython prints a string: in double quotes only if that saves escaping single ones.
func printPython(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, r := range s {
		switch escape := pythonEscapes[r]; {
		case escape != "":
			b.WriteString(escape)
		case r == quote:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
}
