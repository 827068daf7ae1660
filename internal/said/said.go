// Package said takes apart what people write in prompts, what they run in a shell, and what
// that prints.
package said

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Names of arguments of tool calls that say which file a call is about, and which command
// it runs.
var (
	PathArguments    = []string{"path", "file_path", "filePath", "filename", "file"}
	CommandArguments = []string{"command", "cmd", "script"}
)

// Lookups are the names of tools that look something up and change nothing, each with the
// argument besides a path that says what; empty where there is none.
var Lookups = map[string]string{"read": "", "ls": "", "grep": "pattern", "multi_grep": "patterns", "find": "pattern", "glob": "pattern"}

// File is a path without the lines that it may name behind its last colon, and those
// (docs/policies.md 4.9).
func File(path string) (file, lines string) {
	if at := strings.LastIndexByte(path, ':'); at > 0 && strings.Trim(path[at+1:], "0123456789-,") == "" {
		return path[:at], path[at+1:]
	}
	return path, ""
}

// chores are commands that only look, say where, or move files about: that they were
// run is no news.
var chores = strings.Fields("ls cat head tail grep rg egrep fgrep find fd wc cd pwd echo printf which type file stat sort uniq cut tr awk sed tree less more diff du df ps date whoami jq xargs tee " +
	"mkdir touch chmod ln cp mv rm source . kill pkill sleep true false test [ [[ export set unset read for while do done if then else fi case esac { } (")

var wrappers = strings.Fields("sudo time nohup exec npx env timeout")

// Commands are those of a line that did something, by the words with which one speaks of
// them: the program and up to two words behind it.
func Commands(line string) (all []string) {
	const longest = 64 << 10 // bytes; what is behind is text for a program
	for _, ws := range words(line[:min(len(line), longest)]) {
		for len(ws) > 0 && (strings.Contains(ws[0], "=") || slices.Contains(wrappers, ws[0]) || strings.Trim(ws[0], "0123456789.sm") == "") {
			ws = ws[1:]
		}
		if len(ws) == 0 || slices.Contains(chores, ws[0]) || !isName(ws[0]) {
			continue
		}
		n := 1
		for n < min(len(ws), 3) && isName(ws[n]) && !strings.Contains(ws[n], "/") {
			n++
		}
		if name := strings.Join(ws[:n], " "); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// isName reports that a word is no flag, and that a shell takes it as it stands.
func isName(w string) bool {
	return len(w) <= 80 && w[0] != '-' && !strings.ContainsAny(w, "\"'`$\\<>(){}*?!#=,;")
}

// words are the words of each command of a line, as far as spaces, quotes and
// separators tell; quotes stay. What a command reads from the lines behind it is none.
func words(line string) (all [][]string) {
	var (
		ws    []string
		start = -1
		quote byte
	)
	word := func(end int) {
		if start >= 0 && start < end {
			ws = append(ws, line[start:end])
		}
		start = -1
	}
	command := func(end int) {
		word(end)
		if len(ws) > 0 {
			all = append(all, ws)
		}
		ws = nil
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		if start < 0 && strings.IndexByte(" \t\n;|&", c) < 0 {
			start = i
		}
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' {
				i++
			}
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			quote = c
		case c == '<' && strings.HasPrefix(line[i:], "<<"):
			command(i)
			return all
		case c == '#' && start == i:
			start = -1
			for i+1 < len(line) && line[i+1] != '\n' {
				i++
			}
		case c == '&' && (i > 0 && line[i-1] == '>' || strings.HasPrefix(line[i:], "&>")):
		case c == '\n' || c == ';' || c == '|' || c == '&':
			command(i)
		case c == ' ' || c == '\t':
			word(i)
		}
	}
	command(len(line))
	return all
}

var trouble = []string{"error", "fail", "cannot", "not found"}

// Telling is the line of an error that tells best what went wrong: the first that
// speaks of an error, else the first that says anything.
func Telling(text string) string {
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

// An Outcome is what became of a tool call.
type Outcome uint8

const (
	OK Outcome = iota
	Error
	Blocked
	Skipped
	Aborted
	Unanswered
)

// OutcomeOf tells the outcome from a result. A file does not say why a result is an
// error, so pi's words have to: it skips the calls behind a message that the user has
// queued, and gives a hook's reason, or its own words, for what the hook blocks; its
// tools say that they were aborted at the end. A result that only says that there is
// none was made up for a call that nobody answered.
func OutcomeOf(isError bool, text string) Outcome {
	if !isError {
		return OK
	}
	text = strings.TrimSpace(text)
	start := strings.ToLower(strings.TrimLeftFunc(text[:min(len(text), 64)], func(r rune) bool { return !unicode.IsLetter(r) }))
	end := text[strings.LastIndexByte(text, '\n')+1:]
	switch {
	case text == "No result provided":
		return Unanswered
	case strings.HasPrefix(start, "skipped due to queued user message"):
		return Skipped
	case strings.HasPrefix(start, "blocked"), strings.HasPrefix(start, "tool execution was blocked"):
		return Blocked
	case end == "Command aborted", end == "Operation aborted", end == "Request was aborted":
		return Aborted
	}
	return Error
}

// Prose is a text line by line without what is fenced, quoted, or in a block that pi
// puts into prompts (<skill ...>, <file ...>): what somebody says himself.
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

// Sentences are those of a line: it is cut behind a mark that ends a sentence and has a
// space behind it.
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

// Words and pairs of words by which a sentence demands or forbids something, in English.
var (
	demands     = strings.Fields("must mustn't never always don't dont only prefer avoid shouldn't cannot without ensure")
	demandPairs = [][2]string{{"do", "not"}, {"should", "not"}, {"make", "sure"}, {"no", "need"}, {"instead", "of"}, {"rather", "than"}, {"can", "not"}, {"not", "allowed"}}
)

// Who says of himself or of others that they never do something forbids nothing; who says
// that he only wants something does.
var (
	speakers = strings.Fields("i they it he she that who which this still actually really users")
	habits   = strings.Fields("don't dont do cannot can can't never always only")
	wanting  = strings.Fields("want need like expect prefer")
)

// Demanding are the words of a sentence, each with the one behind it, that tell of no
// habit, and whether they demand or forbid something.
func Demanding(sentence string) iter.Seq2[[2]string, bool] {
	return func(yield func([2]string, bool) bool) {
		lower := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
		all := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
		for i, w := range all {
			pair := [2]string{w}
			if i+1 < len(all) {
				pair[1] = all[i+1]
			}
			if i > 0 && slices.Contains(speakers, all[i-1]) && slices.Contains(habits, w) && !slices.Contains(wanting, pair[1]) {
				continue
			}
			if !yield(pair, slices.Contains(demands, w) || slices.Contains(demandPairs, pair)) {
				return
			}
		}
	}
}
