// Package samples holds packages to figures of the project's sessions. A package whose tests have such a file of
// figures notices a change in what it computes by itself, and not only by the commands that print it.
package samples

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/sessionfmt"
)

// Hold compares testdata/samples.txt with the figures of the project's sessions, one line each; go test -update writes
// it. Of a session that is damaged or generated, and of one with more than 40 lines, it has the number of lines and
// their hash.
func Hold(t *testing.T, figures func(s *sessionfmt.Session) []string) {
	t.Helper()
	var lines []string
	generated := slices.DeleteFunc(corpus.Generated(t), func(c corpus.Session) bool { return !strings.HasSuffix(c.Name, "-0") })
	for _, c := range slices.Concat(corpus.Own(t), corpus.Agents(t), generated) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue // it is no session, and the tests of sessionfmt say so
		}
		all := figures(s)
		s.Close()
		switch {
		case len(all) == 0:
		case strings.Contains(c.Name, "/bad/"), strings.HasPrefix(c.Name, "gen/"), len(all) > 40:
			lines = append(lines, fmt.Sprintf("%s: %d, %s", c.Name, len(all), golden.Digest(all)))
		default:
			lines = append(append(lines, c.Name), all...)
		}
	}
	golden.Lines(t, "testdata/samples.txt", lines)
}
