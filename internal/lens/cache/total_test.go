package cache

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestShare: of nothing, nothing was served.
func TestShare(t *testing.T) {
	if share(0, 0) != 0 || share(1, 2) != 0.5 {
		t.Error("0 of 0, or 1 of 2")
	}
}

// accountOf returns the account of a replay.
func accountOf(r *replay.Replay, opt Options) (*Report, error) {
	l, err := ledger.Read(r, ledger.Options{Leaf: opt.Leaf, Counter: &tokens.Pi})
	if err != nil {
		return nil, err
	}
	return Account(l, opt)
}

func cacheOf(t *testing.T, name string, data []byte) *Report {
	t.Helper()
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		return nil // no session
	}
	t.Cleanup(func() { s.Close() }) // rows are read as they are used
	report, err := accountOf(replay.New(s, replay.Options{}), Options{Leaf: s.Leaf(), All: true})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return report
}

// TestCacheOutlived: what was read after a pause beyond the lifetime was not lost, and
// pauses after it are judged by the longer lifetime.
func TestCacheOutlived(t *testing.T) {
	data := must.Get(os.ReadFile("../../../testdata/sessions/good/outlived.jsonl"))
	report := cacheOf(t, "outlived", data)
	rows := slices.Collect(report.Rows)
	read, part, none := rows[1], rows[2], rows[3]
	if read.Break != nil || read.Unserved.Tokens > 0 || read.Outlived != 840 || read.Expected.Read != 126_324 {
		t.Errorf("read after a pause: %+v", read)
	}
	if part.Break != nil || part.Unserved.Tokens != 127_027-20_000 || part.Outlived != 0 {
		t.Errorf("read in part after a shorter one: %+v", part)
	}
	if !none.Estimated || none.Rebilled != (Rebilled{}) {
		t.Errorf("without usage: %+v", none)
	}
	total := report.Total
	if total.Prompt != 126_324+127_027+127_043 || total.Estimated != none.Prompt || total.Answered != 3 {
		t.Errorf("the total is %+v", total)
	}
	if len(total.Outlived) != 1 || total.Outlived[0].Table != 300 || total.Outlived[0].Seen != 840 {
		t.Errorf("lifetimes are %+v", total.Outlived)
	}
}

// TestCacheParts: what was billed again is the sum of its parts, whichever way it is
// parted; nothing of it was read; and caches could serve what they did.
func TestCacheParts(t *testing.T) {
	var sum Total
	var again Rebilled
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a)) }
	for _, c := range corpus.All(t) {
		report := cacheOf(t, c.Name, c.Data)
		if report == nil {
			continue
		}
		total := report.Total
		var rows, reasons Rebilled
		for row := range report.Rows {
			one := row.Rebilled
			if row.Recorded != nil && !row.Estimated && one.Tokens > row.Prompt-row.Recorded.CacheRead {
				t.Errorf("%s: request %d: %d tokens of %d were billed again, and %d read", c.Name, row.Request, one.Tokens, row.Prompt, row.Recorded.CacheRead)
			}
			if row.Expected != nil && row.Recorded != nil && row.Expected.Read < row.Recorded.CacheRead {
				t.Errorf("%s: request %d: could read less than it did: %+v", c.Name, row.Request, row)
			}
			if total.Answered == 0 || !row.Estimated && row.Prompt > 0 {
				rows.Plus(one)
			}
		}
		for _, l := range total.ByReason {
			reasons.Plus(l.Rebilled)
		}
		if total.Rebilled.Tokens != rows.Tokens || total.Rebilled.Tokens != reasons.Tokens || total.Rebilled.Tokens != total.Broken.Tokens+total.Unserved.Tokens {
			t.Errorf("%s: %+v were billed again, by rows %+v, by reasons %+v", c.Name, total.Rebilled, rows, reasons)
		}
		if !near(total.Rebilled.Cost, rows.Cost) || !near(total.Rebilled.Cost, reasons.Cost) {
			t.Errorf("%s: %+v were billed again, by rows %+v, by reasons %+v", c.Name, total.Rebilled, rows, reasons)
		}
		if rate := total.HitRate; rate.Achieved != nil && rate.Possible < *rate.Achieved {
			t.Errorf("%s: %g were possible, %g achieved", c.Name, rate.Possible, *rate.Achieved)
		}
		if total.Answered > 0 && total.Prompt != total.Recorded.Prompt() {
			t.Errorf("%s: prompts of %d, recorded are %d", c.Name, total.Prompt, total.Recorded.Prompt())
		}
		if sum.Plus(total); total.Answered > 0 {
			again.Plus(total.Rebilled)
		}
	}
	if sum.Rebilled.Tokens != again.Tokens || !near(sum.Rebilled.Cost, again.Cost) || again.Tokens == 0 || sum.Prompt != sum.Recorded.Prompt() {
		t.Errorf("together %+v, want %+v", sum, again)
	}
}

// TestCacheHides: what the file does not hold of the prompt is told by the first request
// that was answered, and not by failures before it or by what kept a cache warm.
func TestCacheHides(t *testing.T) {
	usage := func(n int) string { return fmt.Sprintf(`"usage":{"input":%d,"output":1}`, n) }
	message := func(id, parent, members string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-01T00:00:00.000Z","message":{` + members + "}}\n"
	}
	answer := func(id, parent, usage string) string {
		return message(id, parent, `"role":"assistant","provider":"p","model":"m","content":[],`+usage)
	}
	warmed := `{"type":"usage","id":"w","parentId":"u","timestamp":"2026-01-01T00:00:00.000Z","kind":"cache_warm","provider":"p","model":"m",` + usage(500) + "}\n"
	head := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" + message("u", "null", `"role":"user","content":"12345678"`)
	for name, more := range map[string]string{
		"an answer":         answer("a", `"u"`, usage(100)) + answer("b", `"a"`, usage(900)),
		"after a failure":   answer("f", `"u"`, `"stopReason":"error"`) + answer("a", `"f"`, usage(100)),
		"after none":        answer("f", `"u"`, usage(0)) + answer("a", `"f"`, usage(100)),
		"after a warming":   warmed + answer("a", `"w"`, usage(100)),
		"on another branch": answer("f", `"u"`, usage(700)) + answer("a", `"u"`, usage(100)),
	} {
		s := must.Get(sessionfmt.OpenReader(name, strings.NewReader(head+more), sessionfmt.Options{}))
		report, err := accountOf(replay.New(s, replay.Options{}), Options{Leaf: s.Leaf()})
		if err != nil || report.Total.Hidden != 98 {
			t.Errorf("%s: hidden %d, %v", name, report.Total.Hidden, err)
		}
		s.Close()
	}
}
