package stats_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestSamples: what each lens reports of a session, its tables, and its line in a listing.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		name := "../testdata/" + s.Name
		if strings.HasPrefix(s.Name, "gen/") {
			return nil // it is in no file
		}
		for _, lens := range stats.Lenses {
			for _, by := range [][]string{{"model", "day"}, {"session", "tool"}} {
				opt := stats.Options{Lenses: []*stats.Lens{lens}, Targets: true, By: by, Replay: replay.Options{Lenient: true, Window: 20_000}}
				r, err := opt.Read(name)
				if err != nil {
					lines = append(lines, fmt.Sprintf("%s: %v", lens.Name, err))
					break
				}
				opt.Finish(r)
				line := fmt.Sprintf("%s: %s, tables", lens.Name, golden.Digest(r.Parts))
				for _, sheet := range opt.Sheets(r) {
					var rows []string
					for row := range sheet.Cells {
						rows = append(rows, golden.Digest(row))
					}
					line += fmt.Sprintf(" %d %s", len(rows), golden.Digest(rows))
				}
				if lines = append(lines, line); lens.Name != "cost" {
					break
				}
			}
		}
		sum, err := stats.Options{}.Summarize(name)
		return append(lines, fmt.Sprintf("summary %s %v", golden.Digest(sum), err))
	})
}
