package activity

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ctxtool/sessionfmt/jsonl"
)

// File splits a path from a range of lines after its last colon (docs/policies.md 4.9).
func File(path string) (file, lines string) {
	if at := strings.LastIndexByte(path, ':'); at > 0 && strings.Trim(path[at+1:], "0123456789-,") == "" {
		return path[:at], path[at+1:]
	}
	return path, ""
}

var trouble = []string{"error", "fail", "cannot", "not found"}

// ErrorLine returns the line of an error output that best describes the error: the first one
// that mentions an error, else the first one with text.
func ErrorLine(text string) string {
	const looked = 256 << 10 // bytes
	first := ""
	for line := range strings.Lines(text[:min(len(text), looked)]) {
		if line = strings.TrimSpace(line); line == "" || line == "(no output)" {
			continue
		}
		if first == "" {
			first = line
		}
		lower := strings.ToLower(line[:min(len(line), 1000)])
		if slices.ContainsFunc(trouble, func(w string) bool { return strings.Contains(lower, w) }) {
			return line
		}
	}
	return first
}

// An Outcome is the outcome of a tool call.
type Outcome uint8

const (
	OK Outcome = iota
	Error
	Blocked
	Skipped
	Aborted
	Unanswered
)

// String returns the name of the outcome.
func (o Outcome) String() string {
	return [...]string{"ok", "error", "blocked", "skipped", "aborted", "unanswered"}[o]
}

// OutcomeOf returns the outcome of a call from its result. Files do not record why a result is an error, so it
// depends on pi's texts: pi skips calls after a queued user message, reports a hook's reason or its own words
// for a blocked call, and its tools end with a note when aborted. A result that only reports its own absence
// was made up for an unanswered call. Claude Code has a sentence for a call that the user rejected.
func OutcomeOf(isError bool, text string) Outcome {
	if !isError {
		return OK
	}
	text = strings.TrimSpace(text)
	start := strings.ToLower(strings.TrimLeftFunc(text[:min(len(text), 64)],
		func(r rune) bool { return !unicode.IsLetter(r) }))
	end := text[strings.LastIndexByte(text, '\n')+1:]
	switch {
	case text == "No result provided":
		return Unanswered
	case strings.HasPrefix(start, "skipped due to queued user message"):
		return Skipped
	case strings.HasPrefix(start, "blocked"), strings.HasPrefix(start, "tool execution was blocked"),
		strings.HasPrefix(start, "the user doesn't want to proceed with this tool use"):
		return Blocked
	case end == "Command aborted", end == "Operation aborted", end == "Request was aborted":
		return Aborted
	}
	return Error
}

// Prose yields the lines of a text, except fenced, quoted, or in a block that pi adds to
// prompts (<skill ...>, <file ...>).
func Prose(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		fenced, block := false, ""
		for line := range strings.Lines(text) {
			t := strings.TrimSpace(line)
			switch {
			case block != "":
				if strings.Contains(t, block) {
					block = ""
				}
			case strings.HasPrefix(t, "```"):
				fenced = !fenced
			case fenced || t == "" || t[0] == '>':
			case strings.HasPrefix(t, "<skill "), strings.HasPrefix(t, "<file "):
				name, _, _ := strings.Cut(t[1:], " ")
				if block = "</" + name + ">"; strings.Contains(t, block) {
					block = ""
				}
			case !yield(t):
				return
			}
		}
	}
}

// Sentences yields the sentences of a line, which end at a mark followed by a space.
func Sentences(line string) iter.Seq[string] {
	return func(yield func(string) bool) {
		from := 0
		for i := range len(line) {
			if end := i + 1; end == len(line) || strings.IndexByte(".!?;", line[i]) >= 0 && line[end] == ' ' {
				if s := strings.TrimSpace(line[from:end]); s != "" && !yield(s) {
					return
				}
				from = end
			}
		}
	}
}

// English words and pairs of words by which a sentence demands or forbids something, and words of
// weaker wishes.
var (
	demands = strings.Fields("must mustn't never always don't dont only prefer avoid shouldn't cannot can't " +
		"without ensure forbidden exactly stop")
	demandPairs = [][2]string{
		{"do", "not"}, {"should", "not"}, {"make", "sure"}, {"no", "need"}, {"instead", "of"}, {"rather", "than"},
		{"can", "not"},
		{"not", "allowed"}, {"has", "to"}, {"have", "to"},
	}
	wishes = strings.Fields("keep want wants should instead needs please remember")
)

// Exceptions: a person's habit ("I never") forbids nothing, while a wish ("I only want") does.
var (
	speakers = strings.Fields("i they it he she that who which this still actually really users")
	habits   = strings.Fields("don't dont do cannot can can't never always only")
	wanting  = strings.Fields("want need like expect prefer")
)

// A Demand is how strongly a sentence of the user's asks for something.
type Demand uint8

// The demands.
const (
	Tells Demand = iota
	Wants
	Insists
)

// DemandOf returns how strongly a sentence of the user's asks for something.
func DemandOf(sentence string) Demand {
	if n := len(sentence); n < 10 || n > 600 || strings.HasSuffix(sentence, "?") {
		return Tells // too short or long for a demand, or a question
	}
	lower := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	all := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	d := Tells
	for i, w := range all {
		pair := [2]string{w}
		if i+1 < len(all) {
			pair[1] = all[i+1]
		}
		switch {
		case i > 0 && slices.Contains(speakers, all[i-1]) && slices.Contains(habits,
			w) && !slices.Contains(wanting, pair[1]):
		case slices.Contains(demands, w), slices.Contains(demandPairs, pair):
			return Insists
		case slices.Contains(wishes, w):
			d = Wants
		}
	}
	return d
}

// Exit returns the exit status in the details or the text of a command's result, and the output without it. A
// failed command of pi ends with it (docs/session-format.md 4.4), and one of Claude Code begins
// with it; Codex has it in the lines before the output, failed or not.
func Exit(details jsonl.Value, text []byte, failed bool) (code int, output []byte, ok bool) {
	if n := details.Get("exitCode"); n.IsNumber() {
		return int(n.Int()), text, true
	}
	for _, mark := range []string{"Exit code ", "Error: Exit code "} { // of Claude Code
		if rest, begins := bytes.CutPrefix(text, []byte(mark)); begins && failed {
			number, output, _ := bytes.Cut(rest, []byte("\n"))
			if code, err := strconv.Atoi(string(number)); err == nil {
				return code, output, true
			}
		}
	}
	const exited = "Command exited with code "
	end := bytes.TrimRight(text, "\n")
	if before := bytes.LastIndex(end, []byte(exited)); before >= 0 && failed {
		code, err := strconv.Atoi(string(end[before+len(exited):]))
		return code, bytes.TrimRight(text[:before], "\n"), err == nil
	}
	code, ok = codexExit(text)
	return code, text, ok
}

// codexExit returns the exit status in a result of Codex.
func codexExit(text []byte) (code int, ok bool) {
	const inJSON = `"metadata":{"exit_code":`
	if at := bytes.LastIndex(text, []byte(inJSON)); at >= 0 && bytes.HasPrefix(text, []byte(`{"output":`)) {
		number, _, _ := bytes.Cut(text[at+len(inJSON):], []byte(","))
		code, err := strconv.Atoi(string(number))
		return code, err == nil
	}
	head, _, ok := bytes.Cut(text[:min(len(text), 1<<10)], []byte("\nOutput:"))
	if !ok || !bytes.Contains(head, []byte("Wall time: ")) {
		return 0, false
	}
	for line := range bytes.Lines(head) {
		for _, mark := range []string{"Exit code: ", "Process exited with code "} {
			if number, begins := bytes.CutPrefix(line, []byte(mark)); begins {
				code, err := strconv.Atoi(string(bytes.TrimSpace(number)))
				return code, err == nil
			}
		}
	}
	return 0, false
}

// CutSkill takes the instructions of a skill off a prompt (docs/session-format.md 4.6).
func CutSkill(text []byte) (skill []byte, name string, rest []byte) {
	body, ok := bytes.CutPrefix(text, []byte("<skill "))
	if !ok {
		return nil, "", text
	}
	head, body, closed := bytes.Cut(body, []byte(">"))
	skill, rest, ended := bytes.Cut(body, []byte("</skill>"))
	if !closed || !ended {
		return nil, "", text
	}
	if _, after, ok := bytes.Cut(head, []byte(`name="`)); ok {
		quoted, _, _ := bytes.Cut(after, []byte(`"`))
		name = string(quoted)
	}
	return bytes.Trim(skill, "\r\n"), name, bytes.TrimSpace(rest)
}
