//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestAgents: the session of each agent is read as one of that agent, whole and without a finding.
func TestAgents(t *testing.T) {
	dir := t.TempDir()
	turns := map[string]int{}
	for _, agent := range append([]string{"pi"}, otherAgents...) {
		name := filepath.Join(dir, agent+".jsonl")
		must.Do(makeForeign(name, agent, 100_000))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		defer s.Close()
		for i := range s.Len() {
			if s.Kind(i).IsTurn() {
				turns[agent]++
			}
		}
		if len(s.Findings) > 0 {
			t.Errorf("%s: %+v", agent, s.Findings[0])
		}
	}
	for agent, n := range turns {
		if n < 50 || n < turns["pi"]*9/10 {
			t.Errorf("%s has %d messages, pi %d", agent, n, turns["pi"])
		}
	}
}
