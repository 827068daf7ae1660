package check_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/sessionfmt"
)

// TestSamples: what each session is told by the checks, by the rules of each provider, and by its repair.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		name := "../../../testdata/" + s.Name
		if strings.HasPrefix(s.Name, "gen/") {
			return nil // it is in no file
		}
		for _, provider := range append([]string{"", check.OwnProvider}, check.Providers...) {
			r := check.File(name, check.Options{Provider: provider, Weigh: true})
			line := fmt.Sprintf("by %q: %s, opens %q, context %s repaired %s, %s:", provider, r.Verdict, r.Opens,
				golden.Digest(r.Context), golden.Digest(r.Repaired), golden.Digest(r.Findings))
			for _, f := range r.Findings {
				line += fmt.Sprintf(" %s %d", f.Code, f.Line)
			}
			lines = append(lines, line)
		}
		return append(lines, repaired(s))
	})
}

// repaired describes what a repair does to the lines of a session.
func repaired(s *sessionfmt.Session) string {
	r, err := check.NewRepair(s)
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	if err := errors.Join(r.AnswerCalls(time.UnixMilli(1.8e12)), r.Accept("anthropic", time.UnixMilli(1.8e12))); err != nil {
		return err.Error()
	}
	changes, n := "", 0
	for c, err := range r.Changes {
		if err != nil || !c.Same {
			changes += fmt.Sprintf("%d %q %s %q %v;", c.Number, c.Notes, c.New, c.Out, err)
			n++
		}
	}
	before, after, left, err := r.Proof(check.Options{})
	return fmt.Sprintf("repair: %d changes %s, sound %t, %s to %s, %d left, %v", n, golden.Digest(changes), r.Sound(),
		golden.Digest(before), golden.Digest(after), len(left), err)
}
