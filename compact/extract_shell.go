package compact

import (
	"slices"
	"strings"
)

// chores are commands that only look, say where, or move files about: that they were
// run is no news.
var chores = strings.Fields("ls cat head tail grep rg egrep fgrep find fd wc cd pwd echo printf which type file stat sort uniq cut tr awk sed tree less more diff du df ps date whoami jq xargs tee " +
	"mkdir touch chmod ln cp mv rm source . kill pkill sleep true false test [ [[ export set unset read for while do done if then else fi case esac { } (")

var wrappers = strings.Fields("sudo time nohup exec npx env timeout")

// commands are those of a shell line that did something, by the words with which one
// speaks of them: the program and up to two words behind it.
func commands(line string) (all []string) {
	const longest = 64 << 10 // bytes; what is behind is text for a program
	for _, ws := range shellWords(line[:min(len(line), longest)]) {
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
		if name := oneLine(strings.Join(ws[:n], " "), 120); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// isName says that a word is no flag, and that a shell takes it as it stands.
func isName(w string) bool {
	return len(w) <= 80 && w[0] != '-' && !strings.ContainsAny(w, "\"'`$\\<>(){}*?!#=,;")
}

// shellWords are the words of each command of a line, as far as spaces, quotes and
// separators tell; quotes stay. What a command reads from the lines behind it is none.
func shellWords(line string) (all [][]string) {
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

// tests says that a command judges the work.
func tests(command string) bool {
	return !strings.HasPrefix(command, "git ") && !strings.HasPrefix(command, "gh ") &&
		containsAny(command, "test", "check", "lint", "vet", "tsc", "build", "jest", "mypy", "ruff", "clippy", "verify", "make", "gradle", "mvn")
}

// A commit is one that a result tells of.
type commit struct{ branch, hash, subject string }

// commitsIn are the commits that git tells of in the output of a command: lines of the
// form [branch hash] subject.
func commitsIn(output string) (all []commit) {
	for line := range strings.Lines(output[:min(len(output), 64<<10)]) {
		if line[0] != '[' {
			continue
		}
		head, subject, ok := strings.Cut(line[1:], "] ")
		words := strings.Fields(head)
		if n := len(words); ok && n >= 2 && isHash(words[n-1]) {
			all = append(all, commit{words[0], words[n-1], oneLine(subject, 120)})
		}
	}
	return all
}

// isHash says that a word is the beginning of a hash as git shortens them, or all of it.
func isHash(w string) bool {
	return len(w) >= 7 && len(w) <= 64 && strings.Trim(w, "0123456789abcdef") == ""
}

// exitOf is what the end of an output says of how a command ended, empty for nothing.
func exitOf(output string) string {
	end := strings.TrimSpace(output[max(0, len(output)-200):])
	last := end[strings.LastIndexByte(end, '\n')+1:]
	if _, code, ok := strings.Cut(last, "exited with code "); ok {
		return "exit " + oneLine(code, 8)
	}
	if strings.Contains(last, "timed out") {
		return "timed out"
	}
	return ""
}

// telling is the line of an error that tells best what went wrong: the first that
// speaks of an error, else the first that says anything.
func telling(text string) string {
	const looked = 256 << 10 // bytes
	first := ""
	for line := range strings.Lines(text[:min(len(text), looked)]) {
		if line = strings.TrimSpace(line); line == "" || line == "(no output)" {
			continue
		}
		if first == "" {
			first = line
		}
		if containsAny(strings.ToLower(line[:min(len(line), 1000)]), "error", "fail", "cannot", "not found") {
			return oneLine(line, 200)
		}
	}
	return oneLine(first, 200)
}

// verdict is the last line of a test's output that has a number and speaks of outcomes,
// empty for none.
func verdict(output string) string {
	output = output[max(0, len(output)-(8<<10)):]
	for output != "" {
		at := strings.LastIndexByte(strings.TrimRight(output, "\n"), '\n') + 1
		line := strings.TrimSpace(output[at:])
		output = output[:at]
		if strings.ContainsAny(line, "0123456789") && containsAny(strings.ToLower(line), "pass", "fail", "error", " ok") && !strings.Contains(line, "exited with code") {
			return oneLine(line, 120)
		}
	}
	return ""
}
