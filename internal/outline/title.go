package outline

import (
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Title returns the title of a session: its last name, else the first words
// of the first prompt, as FirstPrompt. It is empty where there is neither.
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

// FirstPrompt returns the first words of the first prompt on the path to the leaf, or of the file
// where damage leaves none on it, empty where there is none. A prompt that calls a command of the
// agent does not count.
func FirstPrompt(s *sessionfmt.Session, leaf int) (string, error) {
	lines := s.NewReader()
	path, _ := s.Path(leaf)
	for k := range len(path) + s.Len() {
		i := k - len(path)
		if i < 0 {
			i = path[k]
		}
		if s.Kind(i) != jsonl.User {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return "", err
		}
		if words := Gist(jsonl.User, line); words != "" && !s.Dialect().Commands(words) {
			return words, nil
		}
	}
	return "", nil
}
