package replay_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
)

// accounted is the cache account of a session, by envelope rules.
func accounted(t *testing.T, entries ...string) *cache.Report {
	t.Helper()
	s := openSession(t, session(3, entries...))
	l := must.Get(ledger.Read(replay.New(s, replay.Options{Rules: replay.ByEnvelope}), ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
	report, err := cache.Account(l, cache.Options{Leaf: s.Leaf()})
	if err != nil || report.Stopped != nil {
		t.Fatal(err, report.Stopped)
	}
	return report
}

// TestTrapT38SamePromptIsServed: pi declares its cache invalid, and the prompt is the
// same: a provider serves all of it. A part that exists breaks the cache.
func TestTrapT38SamePromptIsServed(t *testing.T) {
	for name, served := range map[string]bool{"z": true, "a": false} {
		rows := slices.Collect(accounted(t, "p patch "+cached("system_part_set", `"partName":"a","text":"prompt"`), "u1 user U1", "a1 answer A1",
			"q patch "+cached("system_part_remove", `"partName":"`+name+`"`), "u2 user U2", "a2 answer A2").Rows)
		if b := rows[1].Break; (b == nil) != served || (rows[1].Shared.Messages == 1) != served {
			t.Errorf("without part %s: %d messages shared, break %+v", name, rows[1].Shared.Messages, b)
		}
	}
}

// TestTrapT39ReasonsOfOnePatch: one patch breaks the caches of three models, each by
// another op. The totals list its reasons trimmed, and each once.
func TestTrapT39ReasonsOfOnePatch(t *testing.T) {
	because := func(reason, op, fields string) string {
		return strings.Replace(cached(op, fields), `"invalidateCacheReason":"r"`, `"invalidateCacheReason":"`+reason+`"`, 1)
	}
	by := func(model, id string) string {
		return id + " " + strings.Replace(verbs["answer"]("A"), `"m1"`, `"`+model+`"`, 1)
	}
	prompt := because("q", "system_part_set", `"partName":"a","text":"the prompt"`)
	high := because("q", "options_set", `"reasoning":"high"`)
	total := accounted(t, "p patch "+because("p", "system_part_set", `"partName":"a","text":"a longer prompt, which is another"`), "u1 user U1", by("m1", "a1"),
		"q1 patch "+prompt, by("m2", "a2"),
		"q2 patch "+high, by("m3", "a3"),
		"k patch "+strings.Join([]string{
			strings.Replace(prompt, `"q"`, `" b "`, 1), strings.Replace(high, `"q"`, `"a"`, 1),
			because("b", "messages_cached_replace", `"messages":[{"role":"user","content":"U"}]`),
		}, ","),
		"u2 user U2", by("m1", "b1"), by("m2", "b2"), by("m3", "b3")).Total
	ops := map[int]string{}
	for _, l := range total.Breaks {
		if l.Break.Op >= 0 {
			ops[int(l.Break.Op)] = l.Break.Reason
		}
	}
	var reasons []string
	for _, l := range total.ByReason {
		if l.Name != string(cache.CauseModel) { // the first requests to m2 and m3
			reasons = append(reasons, l.Name)
		}
	}
	if !maps.Equal(ops, map[int]string{0: "b", 1: "a", 2: "b"}) || !slices.Equal(reasons, []string{"b", "a"}) {
		t.Errorf("reasons by op %v, of all %q", ops, reasons)
	}
}
