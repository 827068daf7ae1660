package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/stats"
)

// TestWorkerCountDoesNotMatter: over a store with copies, numbers are the same bytes
// however many workers read it, though sums of dollars depend on their order.
func TestWorkerCountDoesNotMatter(t *testing.T) {
	dir := t.TempDir()
	for k := range 24 {
		data := gen.Session(gen.Shape{Seed: uint64(k % 16), Entries: 400 - 10*k, Text: 40, MaxText: 400})
		data = bytes.ReplaceAll(data, []byte(`"total":0.002187`), fmt.Appendf(nil, `"total":0.%d1`, k%16+1))
		must.Do(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.jsonl", k)), data, 0o600))
	}
	var want []byte
	for _, procs := range []int{1, 2, 3, 8} {
		old := runtime.GOMAXPROCS(procs)
		r := ranIn("", "stats", dir, "--lens", "cost", "--by", "session,model", "-f", "jsonl")
		runtime.GOMAXPROCS(old)
		if r.status != 0 {
			t.Fatalf("status %d: %s", r.status, &r.stderr)
		}
		if want == nil {
			want = r.stdout.Bytes()
		}
		if !bytes.Equal(r.stdout.Bytes(), want) {
			t.Errorf("%d processors:\n%s\nwant\n%s", procs, &r.stdout, want)
		}
	}
	if bytes.Count(want, []byte("\n")) != 25 {
		t.Errorf("%d lines, want one a session and one for all", bytes.Count(want, []byte("\n")))
	}
}

// TestMayFit: what the time of change and the header rule out, and nothing else.
func TestMayFit(t *testing.T) {
	t.Parallel()
	e := testEnv("")
	write := func(name, text string, changed time.Time) string {
		name = filepath.Join(t.TempDir(), name)
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		must.Do(os.Chtimes(name, changed, changed))
		return name
	}
	noon := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	session := write("a.jsonl", `{"type":"session","version":3,"id":"s","timestamp":"2026-01-31T10:00:00.000Z","cwd":"/home/u/parcel"}`+"\n", noon)
	fork := write("f.jsonl", `{"type":"session","version":3,"id":"f","timestamp":"2026-01-31T10:00:00.000Z","cwd":"/","parentSession":"a.jsonl"}`+"\n", noon)
	odd := write("b.jsonl", "{}\n", noon)
	for flags, want := range map[filter][2]bool{
		{}:                                    {true, true},
		{period: period{since: "2026-01-31"}}: {true, true},
		{period: period{since: "2026-01-31T12:00:00Z"}}:          {true, true},
		{period: period{since: "2026-01-31T12:00:01Z"}}:          {false, false},
		{period: period{until: "2026-01-31"}}:                    {true, true},
		{period: period{until: "2026-01-31T09:59:59Z"}}:          {false, true},
		{period: period{until: "2026-01-30"}}:                    {false, true},
		{project: "parcel"}:                                      {true, true},
		{project: "other"}:                                       {false, true},
		{project: "parcel", period: period{since: "2026-02-01"}}: {false, false},
		{model: "any", project: "/home/u/parcel"}:                {true, true},
	} {
		only := must.Get(flags.check(&env{machine: e}))
		if got := [2]bool{only.MayFit(e.disk, session), only.MayFit(e.disk, odd)}; got != want {
			t.Errorf("%+v: %v, want %v", flags, got, want)
		}
	}
	if !(&stats.Only{Until: 1}).MayFit(e.disk, fork) {
		t.Error("what a fork took over is older than its header")
	}
	if !(&stats.Only{Since: 1}).MayFit(e.disk, "-") || !(&stats.Only{Project: "p"}).MayFit(e.disk, filepath.Join(t.TempDir(), "none")) {
		t.Error("what cannot be looked at is left to reading")
	}
}

// TestNothingToCount: without a session, or with one that is none, all forms say so,
// and none fails.
func TestNothingToCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	must.Do(os.MkdirAll(broken, 0o700))
	must.Do(os.WriteFile(filepath.Join(broken, "a.jsonl"), []byte("nonsense\n"), 0o600))
	session := filepath.Join(dir, "s.jsonl")
	must.Do(os.WriteFile(session, gen.Session(gen.Shape{Seed: 1, Entries: 10}), 0o600))
	for _, command := range []string{"stats", "cost"} { // nothing but a broken file
		r := ranIn("", command, broken)
		if r.status != exitNothing || r.stdout.Len() > 0 || !strings.Contains(r.stderr.String(), "a.jsonl: not a session") {
			t.Errorf("%s of a broken file: status %d, %s", command, r.status, &r.stderr)
		}
	}
	for _, args := range [][]string{{session, "--only-model", "nobody's"}, {session, "--since", "2199-01-01"}} {
		for _, l := range stats.Lenses {
			for _, form := range []string{"text", "json", "jsonl", "csv", "markdown"} {
				r := ranIn("", append([]string{"stats", "--lens", l.Name, "-f", form}, args...)...)
				if r.status != 0 || !strings.Contains(r.stderr.String(), "no session matches") {
					t.Errorf("%v, %s as %s: status %d, %s", args, l.Name, form, r.status, &r.stderr)
				}
			}
		}
	}
}
