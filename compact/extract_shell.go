package compact

import (
	"strings"

	"ctxtool/internal/shell"
)

// commands are those of a shell line that did something, each on a line.
func commands(line string) []string {
	all := shell.Commands(line)
	for i, name := range all {
		all[i] = oneLine(name, 120)
	}
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

// telling is the line of an error that tells best what went wrong.
func telling(text string) string { return oneLine(shell.Telling(text), 200) }

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
