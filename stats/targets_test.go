package stats

import (
	"fmt"
	"slices"
	"testing"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
)

// targetsOf returns what a session has of SWE-CLI's targets.
func targetsOf(t *testing.T, data []byte, opt Options) SWETargets {
	t.Helper()
	opt.Targets = true
	return lookAt(t, data, opt).Like.SWE[0].Targets
}

// TestSWETargets: the outcomes of requests, compactions and prompts.
func TestSWETargets(t *testing.T) {
	answer := func(id, stop string, input int) string {
		return message(id, fmt.Sprintf(`"role":"assistant","stopReason":%q,"content":[{"type":"text","text":"12345678"}],"usage":{"input":%d,"cacheRead":1}`, stop, input))
	}
	user := func(id string) string { return message(id, `"role":"user","content":"12345678"`) }
	data := chain(
		user("u1"), answer("a1", "stop", 78),
		user("u2"), answer("a2", "toolUse", 79), user("u3"), answer("a3", "stop", 10), // steered
		user("u4"), answer("a4", "error", 0),
		user("u5"), answer("a5", "error", 900), answer("a6", "stop", 99), // tried again
		`k "type":"compaction","summary":"1","firstKeptEntryId":"k","tokensBefore":1`,
		user("u6"))
	s := targetsOf(t, data, Options{Replay: replay.Options{Window: 100}, Counter: &tokens.Pi, Asked: true})
	for _, test := range []struct {
		name     string
		got      SWETarget
		part, of int
		met      bool
	}{
		{"efficiency", s.Efficiency, 4, 6, false}, // a2 has 80 tokens, a6 100
		{"autonomy", s.Autonomy, 2, 4, false},
		{"waste", s.Waste.SWETarget, 0, 29, true},
	} {
		if test.got.Part != test.part || test.got.Of != test.of || *test.got.Met != test.met || *test.got.Value != float64(test.part)/float64(test.of) {
			t.Errorf("%s: %s", test.name, asJSON(test.got))
		}
	}
	if c := s.Compaction; c.Of != 22 || c.Part != 22-27 || *c.Met { // eleven messages, and one summary
		t.Errorf("compaction: %s", asJSON(c))
	}
	none := targetsOf(t, chain(), Options{})
	if none.Autonomy.Value != nil || none.Waste.Met != nil {
		t.Errorf("an empty session: %s", asJSON(none))
	}
}

// TestSWEWaste: each result counts once, with the first reason that applies.
func TestSWEWaste(t *testing.T) {
	data := chain(slices.Concat(
		reads("1", "bash", "x", "123456789012", true),      // made again: retried, 3 tokens
		reads("2", "bash", "x", "12345678", false),         // said again: duplicate, 2
		reads("3", "bash", "x", "12345678", false),         // the newest
		reads("4", "bash", "y", "1234", true),              // never made again: an error, 1
		reads("5", "read", "a", "1234567890123456", false), // read again: superseded, 4
		reads("6", "read", "a", "1234", false),
		reads("8", "read", "b:1-2", "1234", false), // other lines than those read later
		reads("9", "read", "b:3-4", "1234", false),
		reads("7", "read", "a", "12345678", true), // an error: supersedes nothing, 2
	)...)
	w := targetsOf(t, data, Options{Counter: &tokens.Pi, Asked: true}).Waste
	if w.Retried != 3 || w.Duplicate != 2 || w.Errors != 3 || w.Superseded != 4 || w.Part != 12 || *w.Met {
		t.Errorf("%s", asJSON(w))
	}
}

// TestPolicyT15SWEThreshold: at exactly 80% SWE-CLI compacts.
func TestPolicyT15SWEThreshold(t *testing.T) {
	for total, want := range map[int]bool{204_799: true, 204_800: false} {
		if got := sweFits(total, 256_000); got != want {
			t.Errorf("%d: %v", total, got)
		}
	}
}
