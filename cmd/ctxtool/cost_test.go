package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/stats"
)

// costOf returns what a command says of costs.
func costOf(t *testing.T, e machine, line string) *stats.CostPart {
	t.Helper()
	r := e.ran(strings.Fields(line)...)
	var report struct {
		Lenses struct{ Cost *stats.CostPart }
	}
	if err := json.Unmarshal(r.stdout.Bytes(), &report); err != nil || report.Lenses.Cost == nil {
		t.Fatalf("%s: status %d, %v: %s", line, r.status, err, &r.stderr)
	}
	return report.Lenses.Cost
}

// TestCostIsStats: cost says what the lens of stats says of the same calls, whatever the groups, and
// what the list of sessions adds up to.
func TestCostIsStats(t *testing.T) {
	t.Parallel()
	e := testEnv(corpus.Root(t))
	for _, dir := range append(testenv.Shared(t, "corpus"), "testdata/sessions", "testdata/agents") {
		want := costOf(t, e, "stats --lens cost --json --by agent "+dir)
		for _, by := range []string{"agent", "day,model", "project", "month"} {
			got := costOf(t, e, "cost --json --since 2000 --by "+by+" "+dir)
			if got.CostSum != want.CostSum || got.Calls.Total == 0 {
				t.Errorf("%s by %s: %+v, stats says %+v", dir, by, got.CostSum, want.CostSum)
			}
		}
		var sum float64
		rows := json.NewDecoder(&e.ran("ls", "--json", dir).stdout)
		for rows.More() {
			var s stats.Summary
			must.Do(rows.Decode(&s))
			sum += s.Cost - s.Copied
		}
		if diff := sum - want.Cost.Total; diff > 1e-6 || diff < -1e-6 {
			t.Errorf("%s: the list adds up to %f, cost to %f", dir, sum, want.Cost.Total)
		}
	}
}

// TestCostDays: the last 30 days of local time, unless a period or a single session is named.
func TestCostDays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	for k, at := range []string{"2026-02-28T22:30:00.000Z", "2026-02-28T23:30:00.000Z", "2026-03-29T12:00:00.000Z"} {
		lines += strings.NewReplacer("ID", string(rune('a'+k)), "TIME", at).Replace(
			`{"type":"message","id":"ID","parentId":null,"timestamp":"TIME","message":{"role":"assistant","content":[],"provider":"p",` +
				`"model":"m","usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"total":1}},"stopReason":"stop","timestamp":1}}` + "\n")
	}
	must.Do(os.Mkdir(filepath.Join(dir, "d"), 0o700))
	must.Do(os.WriteFile(filepath.Join(dir, "d/s.jsonl"), []byte(lines), 0o600))
	e := testEnv(dir)
	e.zone = time.FixedZone("east", 3600)
	e.now = func() time.Time { return time.Date(2026, 3, 30, 9, 0, 0, 0, time.UTC) }
	for line, want := range map[string]string{
		"cost --by day d":                                         "2026-03-01:1 2026-03-29:1",
		"cost --by day --utc d":                                   "2026-03-29:1",
		"cost --by day d/s.jsonl":                                 "2026-02-28:1 2026-03-01:1 2026-03-29:1",
		"cost --by day --utc d/s.jsonl":                           "2026-02-28:2 2026-03-29:1",
		"cost --by month --since last_month d":                    "2026-02:1 2026-03:2",
		"cost --by month --since last_month --until last_month d": "2026-02:1",
		"cost --by day --until 2026-02-28 d":                      "2026-02-28:1",
	} {
		args := strings.Fields(line + " --json")
		r := e.ran(strings.Split(strings.ReplaceAll(strings.Join(args, "\n"), "_", " "), "\n")...)
		var report struct {
			Lenses struct{ Cost *stats.CostPart }
		}
		must.Do(json.Unmarshal(r.stdout.Bytes(), &report))
		var got []string
		for _, row := range report.Lenses.Cost.Rows {
			if row.Calls.Total > 0 {
				got = append(got, row.Month+row.Day+":"+string(rune('0'+row.Calls.Total)))
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", line, s, want)
		}
	}
}
