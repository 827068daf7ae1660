package plan_test

import (
	"fmt"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/out/plan"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/migrate"
	"ctxtool/replay"
	"ctxtool/replay/hook"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestSamples: the plans of a reduction, a patch, a migration and a repair, in full and in brief.
func TestSamples(t *testing.T) {
	now := time.UnixMilli(1.8e12)
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		if s.Leaf() < 0 {
			return nil
		}
		planned := func(name string, p *plan.Plan, err error) {
			if err != nil {
				lines = append(lines, name+": "+err.Error())
				return
			}
			p.Session.File = name // a name in a folder that changes
			line := fmt.Sprintf("%s: %d entries, changes %t, skipped %q, unstored %q, next %q, guarded %t, in words %s, %s", name,
				p.Entries, p.Changes(), p.Skipped, p.Unstored, p.Next, p.Guarded, golden.Digest(p.Lines), golden.Digest(p))
			for _, form := range []string{"jsonl", "json", "text"} {
				p.Brief(form)
				line += " " + golden.Digest(p)
			}
			p.Close()
			lines = append(lines, line)
		}
		opt := replay.Options{Lenient: true, Window: 3000}
		for _, name := range []string{"pi", "gsh"} {
			e, err := replay.New(s, opt).At(sessionfmt.After(s.Leaf()))
			if err != nil {
				return append(lines, err.Error())
			}
			job := &compact.Job{Command: "reduce", Policy: must.Get(compact.FindPolicy(name))}
			p, err := plan.Reduce("s.jsonl", e, s.Leaf(), job, now, opt)
			planned("reduce by "+name, p, err)
		}
		for k, text := range patches[:2] {
			results := must.Get(hook.Read("r.json", []byte(text)))
			p, err := plan.Patch("s.jsonl", s.Copy(), results, hook.Options{
				Replay: opt, Leaf: s.Leaf(), At: s.Leaf(), Reason: hook.BeforeRequest, Counters: []*tokens.Counter{&tokens.Pi}, Now: now,
			}, &compact.Job{Command: "patch", Form: compact.AsAuto})
			planned(fmt.Sprint("patch ", k), p, err)
		}
		p, err := plan.Migrate("s.jsonl", s.Copy(), migrate.Options{})
		planned("migrate", p, err)
		p, err = plan.Repair("s.jsonl", s.Copy(), check.Options{}, func(*check.Repair) error { return nil })
		planned("repair", p, err)
		return lines
	})
}
