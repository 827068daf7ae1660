package compact_test

import (
	"fmt"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestSamples: what each pass and each policy, with a small window, changes in the context at the leaf, and in which
// entries it is stored.
func TestSamples(t *testing.T) {
	now := time.UnixMilli(1.8e12)
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		if s.Leaf() < 0 {
			return nil
		}
		for _, p := range contenders() {
			e, err := replay.New(s, replay.Options{Lenient: true, Window: 3000}).At(sessionfmt.After(s.Leaf()))
			if err != nil {
				return append(lines, err.Error())
			}
			job := compact.Job{Command: "test", Policy: p, Time: now, Summarize: func(r compact.Request) (string, error) {
				return "a summary of " + golden.Digest(r), nil
			}}
			plan, err := job.Plan(e)
			if err != nil {
				lines = append(lines, fmt.Sprintf("%s: %v", p.Name, err))
				continue
			}
			line := fmt.Sprintf("%s: %s %d to %d of %d, %d changes %d cannot, skipped %q, %s", p.Name, plan.Form, plan.Before,
				plan.After, plan.Window, len(plan.Changes), len(plan.Cannot), plan.Skipped, golden.Digest(plan))
			b := s.NewBatch(s.Leaf(), now)
			if err := job.Store(b, plan, ""); err != nil {
				line += fmt.Sprintf(", not stored: %v", err)
			} else {
				line += fmt.Sprintf(", %d entries", b.Len())
			}
			lines = append(lines, line)
		}
		return lines
	})
}

// contenders returns each pass as a policy by itself, and the policies.
func contenders() (all []*compact.Policy) {
	for _, pass := range compact.Passes() {
		layer := compact.Layer{Pass: pass, Options: pass.Defaults}
		all = append(all, &compact.Policy{Name: pass.Name, Counter: &tokens.Pi, Layers: []compact.Layer{layer}})
	}
	for _, p := range compact.Policies {
		all = append(all, must.Get(p.With("")))
	}
	return all
}
