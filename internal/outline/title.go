package outline

import (
	"cmp"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An About is what a session is, by its header, its name and its first prompt.
type About struct {
	ID        string `json:"id,omitempty"`            // of the header
	Name      string `json:"name,omitempty"`          // the last one given
	First     string `json:"first,omitempty"`         // first words of the first prompt of the path
	CWD       string `json:"project,omitempty"`       // the header's folder
	Began     string `json:"-"`                       // the header's time, as in the file
	Continued string `json:"continuedIn,omitempty"`   // the id of the session in which its agent went on
	Bridge    string `json:"bridgeSession,omitempty"` // the id by which the agent's service knows it
}

// Title returns the title of a session that is entitled, empty where it has neither name nor prompt.
func (a *About) Title() string { return cmp.Or(a.Name, a.First) }

// Header sets what the header of a session tells.
func (a *About) Header(line jsonl.Value) {
	a.ID, a.CWD, a.Began = line.Get("id").Text(), line.Get("cwd").Text(), line.Get("timestamp").Text()
	a.Continued, a.Bridge = line.Get("continuedIn").Text(), line.Get("bridgeSession").Text()
	a.Name = cmp.Or(a.Name, FirstWords(line.Get("title").Text()))
}

// Headed returns what the header of a session tells.
func Headed(s *sessionfmt.Session) (a About, err error) {
	line, err := s.HeaderLine()
	a.Header(line)
	return a, err
}

// Entitle sets the name of a session or, where it has none, its first prompt on the path to the leaf.
func (a *About) Entitle(s *sessionfmt.Session, leaf int) (err error) {
	for i := s.Len() - 1; i >= 0; i-- {
		if kind := s.Kind(i); kind == jsonl.SessionInfo || kind == jsonl.Retitled || kind == jsonl.Slot {
			line, err := s.NewReader().Line(i)
			if a.Name = Gist(kind, line); err != nil || a.Name != "" {
				return err
			}
			break
		}
	}
	a.First, err = FirstPrompt(s, leaf)
	return err
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
