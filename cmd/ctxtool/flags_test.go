package main

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/base/times"

	"github.com/spf13/pflag"
)

// TestPeriod: the two ends of a period, both within it.
func TestPeriod(t *testing.T) {
	t.Parallel()
	e := testEnv("")
	e.now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	const day = 24 * 60 * 60 * 1000
	first := time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC).UnixMilli()
	for o, want := range map[period][2]int64{
		{}:                                   {0, 0},
		{since: "yesterday"}:                 {first, 0},
		{until: "yesterday"}:                 {0, first + day - 1},
		{since: "yesterday", until: "today"}: {first, first + 2*day - 1},
		{since: "2026-02-28", until: "2026-02-28T00:00:00Z"}: {first, first},
	} {
		if since, until, err := o.check(&env{machine: e}); err != nil || since != want[0] || until != want[1] {
			t.Errorf("%v: %d %d %v", o, since, until, err)
		}
	}
	for o, want := range map[period]string{
		{since: "someday"}:                   `--since "someday": ` + times.Err.Error(),
		{until: "someday"}:                   `--until "someday": ` + times.Err.Error(),
		{since: "today", until: "yesterday"}: "--until yesterday is before --since today",
	} {
		if _, _, err := o.check(&env{machine: e}); err == nil || err.Error() != want {
			t.Errorf("%v: %v", o, err)
		}
	}
}

// TestIdleFlags: a flag that has no effect without another one is an error of the command line.
func TestIdleFlags(t *testing.T) {
	t.Parallel()
	e := testEnv("")
	others := map[string][]string{ // of flags that the default of the other one allows
		"policy gsh": {"--policy", "pi"}, "pass prune": {"--pass", "superseded"}, "summarizer extract": {"--summarizer", "exec:true"},
	}
	idle := 0
	for _, c := range newRoot(&env{machine: e}, "").Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			with := f.Annotations[onlyWith]
			if with == nil {
				return
			}
			idle++
			args := append([]string{c.Name(), "s.jsonl", "--" + f.Name}, others[with[0]]...)
			if f.NoOptDefVal == "" {
				args[2] += "=" + cmp.Or(map[string]string{"duration": "1s", "int": "1", "float64": "0.5"}[f.Value.Type()], "x")
			}
			r := ranIn("", args...)
			if r.status != exitUsage || !strings.Contains(r.stderr.String(), "--"+f.Name+" requires --"+with[0]) {
				t.Errorf("%v: status %d, %s", args, r.status, &r.stderr)
			}
		})
	}
	if idle < 13 {
		t.Errorf("%d flags that require another", idle)
	}
}
