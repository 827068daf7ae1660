package hook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// tried are results of hooks, with WHY for a reason to invalidate the cache.
var tried = []string{
	`{"patch":[{"op":"system_part_set","scope":"cached","partName":"policy","text":"Be brief.",WHY}]}`,
	`{"patch":[{"op":"system_part_set","scope":"cached","partName":"policy","text":"Be brief."}]}`,
	`{"patch":[{"op":"options_set","scope":"cached","reasoning":"low",WHY}]}`,
	`{"patch":[{"op":"messages_cached_replace","scope":"cached","messages":[{"role":"user","content":"Go on.","timestamp":5}],WHY}]}`,
	`{"patch":[{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":1,"timestamp":5,WHY}]}`,
	`{"patch":[{"op":"messages_uncached_append","scope":"uncached","messages":[{"role":"user","content":"Remember.","timestamp":5}]}]}`,
	`{"patch":[{"op":"tools_set","scope":"cached","tools":[{"name":"read","description":"d","parameters":{}}],WHY}]}`,
	`{"patch":[{"op":"tools_remove","scope":"cached","toolNames":["read","none"],WHY},{"op":"tools_replace","scope":"cached",` +
		`"tools":[{"name":"write","description":"w","parameters":{}}],WHY}]}`,
	`{"patch":[{"op":"system_part_remove","scope":"cached","partName":"none",WHY},{"op":"options_set","scope":"cached",WHY}]}`,
	`{"patch":[{"op":"compaction_apply","scope":"cached","summary":"s","firstKeptMessageIndex":99,"timestamp":5,WHY},` +
		`{"op":"messages_cached_replace","scope":"uncached","messages":[],WHY}]}`,
	`{"patch":[{"op":"unknown","scope":"cached",WHY}]}`,
}

// TestSamples: the verdicts on results at each boundary, and what they change in a context and its bill.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		if s.Leaf() < 0 {
			return nil
		}
		for k, text := range tried {
			results := must.Get(hook.Read("r.json", []byte(strings.ReplaceAll(text, "WHY", `"invalidateCacheReason":"r"`))))
			for _, reason := range []hook.Reason{hook.BeforeRequest, hook.TurnEnd, hook.Ephemeral} {
				path, _ := s.Path(s.Leaf())
				for _, at := range []int{s.Leaf(), path[len(path)/2]} {
					trial, err := hook.New(s, results, hook.Options{
						Replay: replay.Options{Lenient: true}, Leaf: s.Leaf(), At: at, Reason: reason,
						Counters: []*tokens.Counter{&tokens.Pi, &tokens.GSH}, Now: time.UnixMilli(1e12),
					})
					if err != nil {
						lines = append(lines, fmt.Sprintf("%d %s %d: %v", k, reason, at, err))
						continue
					}
					line := fmt.Sprintf("%d %s %d: request %d form %q, sizes %s, prefix %s, bill %s, findings %s, %s", k, reason,
						at, trial.Request, trial.Form, golden.Digest(trial.Sizes), golden.Digest(trial.Prefix),
						golden.Digest(trial.Bill), golden.Digest(trial.Findings()), golden.Digest(trial))
					for _, v := range trial.Verdicts {
						line += fmt.Sprintf("; %s %s %s", v.Name, v.Ruling, v.Rule)
					}
					lines = append(lines, line)
				}
			}
		}
		return lines
	})
}
