package outline

import (
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Title returns the title of a session: its last name, else the first words
// of the first prompt on the path to the leaf. It is empty where there is neither.
func Title(s *sessionfmt.Session, leaf int) (string, error) {
	lines := s.NewReader()
	for i := s.Len() - 1; i >= 0; i-- {
		if s.Kind(i) != jsonl.SessionInfo {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return "", err
		}
		if name := Gist(jsonl.SessionInfo, line); name != "" {
			return name, nil
		}
		break
	}
	return FirstPrompt(s, leaf)
}

// PromptWords returns the first words of a prompt; empty if it is a command of Claude Code, which
// no title should begin with.
func PromptWords(line jsonl.Value) string {
	words := Gist(jsonl.User, line)
	if strings.HasPrefix(words, "<command-") || strings.HasPrefix(words, "<local-command-") {
		return ""
	}
	return words
}

// FirstPrompt returns the first words of the first prompt on the path to the leaf, empty
// where there is none.
func FirstPrompt(s *sessionfmt.Session, leaf int) (string, error) {
	lines := s.NewReader()
	path, _ := s.Path(leaf)
	for _, i := range path {
		if s.Kind(i) != jsonl.User {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return "", err
		}
		if words := PromptWords(line); words != "" {
			return words, nil
		}
	}
	return "", nil
}
