package migrate_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/migrate"
	"ctxtool/sessionfmt"
)

// TestSamples: what a migration does to each line, in each form of compactions.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		for _, form := range migrate.Compactions {
			p, err := migrate.New(s.Copy(), migrate.Options{Compaction: migrate.Compaction(form)})
			if err != nil {
				lines = append(lines, fmt.Sprintf("%s: %v", form, err))
				continue
			}
			changes := ""
			for c, err := range p.Changes {
				if err != nil || !c.Same {
					changes += fmt.Sprintf("; %d %q %s %q %v", c.Number, c.Notes, c.New, c.Out, err)
				}
			}
			lines = append(lines, fmt.Sprintf("%s: %d to %d, %s, rules %v, turned %d, native %d, grown %d, current %t, %s", form, p.From,
				p.To, p.Compaction, p.Rules, p.Turned, len(p.Native), p.Grown, p.Current(), golden.Digest(changes)))
		}
		return lines
	})
}
