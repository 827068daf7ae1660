package agents

import (
	"fmt"
	"path/filepath"

	"ctxtool/internal/test/golden"
	"ctxtool/sessionfmt"
)

// entries describes what the sessions of a recording are read as: how many entries, and their hash. A dialect whose
// tests have such a line for each recording notices by itself a change in an entry, also where no request shows it.
func entries(dir string) string {
	var all []string
	sessions := sessionsIn(filepath.Join(dir, homeDir))
	for _, file := range sessions {
		s, err := sessionfmt.Open(file, sessionfmt.Options{})
		if err != nil {
			all = append(all, "not read: "+filepath.Base(file))
			continue
		}
		r := s.NewReader()
		for i := range s.Len() {
			at, known := s.Time(i)
			line, err := r.Line(i)
			all = append(all, fmt.Sprintf("%d %q %d %v %d %t %t %s %v", s.Line(i), s.ID(i), s.Parent(i), s.Kind(i), at, known,
				s.Answers(i), line, err))
		}
		for _, f := range s.Findings {
			all = append(all, fmt.Sprintf("%s %d %s", f.Code, f.Line, f.Text))
		}
		s.Close()
	}
	return fmt.Sprintf("%s: %d sessions, %d entries, %s", filepath.Base(dir), len(sessions), len(all), golden.Digest(all))
}
