package sessionfmt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// notSession is ErrNotSession, with the agent that wrote the file if its format is known and not read.
func (s *Session) notSession() error {
	agent := ""
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(s.Name)), "/")
	first, _ := firstLine(s.src)
	switch {
	case slices.Contains(dirs, "antigravity"):
		agent = "Antigravity"
	case first.Get("uuid").IsString() && first.First("message", "parts").IsArray():
		agent = "Qwen Code"
	default:
		return ErrNotSession
	}
	return fmt.Errorf("%w: %s wrote it, whose format is not read", ErrNotSession, agent)
}
