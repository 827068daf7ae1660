package stats_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestFacts: what tables have of the calls of models and tools of each session.
func TestFacts(t *testing.T) {
	var lines []string
	for _, c := range slices.Concat(corpus.Own(t), corpus.Agents(t)) {
		opt := stats.Options{Replay: replay.Options{Lenient: true}}
		err := opt.Facts(filepath.Join("..", "testdata", c.Name), func(f *stats.Facts) error {
			one := []string{fmt.Sprintf("%s: own %s, point %d, compactions %v, %d findings", c.Name, golden.Digest(f.Own), f.Point, f.Compacts, len(f.Findings))}
			for _, k := range f.Calls {
				one = append(one, fmt.Sprintf("call %d %s %q %s %.6f %v %q %q copied %t %q %q", k.Record, k.Kind, k.Source, k.Model, k.Cost, k.Usage, k.Stop, k.Missed, k.Copied, k.ResponseID, k.Provider))
				if k.Copied != f.Copied(k.Record) && f.Copied(k.Record) {
					t.Errorf("%s: call at record %d is copied: %v", c.Name, k.Record, k.Copied)
				}
			}
			for _, k := range f.Tools {
				used := "-"
				if k.Used != nil {
					used = fmt.Sprint(*k.Used)
				}
				one = append(one, fmt.Sprintf("tool %d %d %s %s %q %q %s used %s %d %d", k.Record, k.Result, k.ID, k.Tool, k.Action, k.Subject, k.Outcome, used, k.Asked, k.Got))
			}
			for _, number := range slices.Sorted(maps.Keys(f.Removed)) {
				one = append(one, fmt.Sprintf("removed %d by %d, %v", number, f.Removed[number].By, f.Removed[number].Did))
			}
			if strings.Contains(c.Name, "/bad/") || len(one) > 25 {
				one = []string{fmt.Sprintf("%s %s", one[0], golden.Digest(one))}
			}
			lines = append(lines, one...)
			return nil
		})
		if err != nil {
			lines = append(lines, c.Name+": no facts")
		}
	}
	golden.Lines(t, "testdata/facts.txt", lines)
	failed := fmt.Errorf("failed")
	if err := (stats.Options{}).Facts("../testdata/sessions/demo.jsonl", func(*stats.Facts) error { return failed }); err == nil || !strings.Contains(err.Error(), "failed") {
		t.Error(err)
	}
}

// TestMayFit: a file is left out by its time and its header alone, at the very limits, and a copy by neither.
func TestMayFit(t *testing.T) {
	began := must.Get(time.Parse(time.RFC3339, "2026-01-01T10:00:00Z")).UnixMilli()
	written := began + 5000
	head := func(more string) string {
		return `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T10:00:00.000Z","cwd":"/home/x/project"` + more + "}\n"
	}
	for _, c := range []struct {
		name, text string
		only       stats.Only
		want       bool
	}{
		{"anything", head(""), stats.Only{}, true},
		{"since it was written", head(""), stats.Only{Since: written}, true}, {"since later", head(""), stats.Only{Since: written + 1}, false},
		{"until it began", head(""), stats.Only{Until: began}, true}, {"until before", head(""), stats.Only{Until: began - 1}, false},
		{"a fork has older entries", head(`,"parentSession":"p"`), stats.Only{Until: began - 1}, true},
		{"its folder", head(""), stats.Only{Project: "x/project"}, true}, {"another folder", head(""), stats.Only{Project: "y"}, false},
		{"its agent", head(""), stats.Only{Agent: "pi"}, true}, {"another agent", head(""), stats.Only{Agent: "claude"}, false},
		{"its folder, another agent", head(""), stats.Only{Project: "x", Agent: "claude"}, false},
		{"no session", "no", stats.Only{Project: "y"}, true}, {"no time", `{"type":"session","version":3,"id":"s","timestamp":"x","cwd":"/y"}` + "\n", stats.Only{Until: 1}, true},
	} {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, []byte(c.text), 0o600))
		must.Do(os.Chtimes(name, time.UnixMilli(written), time.UnixMilli(written)))
		if got := c.only.MayFit(sessionfmt.Disk{}, name); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if !(&stats.Only{Since: 1 << 50}).MayFit(sessionfmt.Disk{}, filepath.Join(t.TempDir(), "gone")) {
		t.Error("a file that cannot be described is left out")
	}
}
