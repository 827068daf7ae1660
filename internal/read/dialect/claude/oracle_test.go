package claude_test

import (
	"strings"
	"testing"

	"ctxtool/internal/read/dialect/claude"
	"ctxtool/internal/test/agents"
)

var bench = agents.Bench{Agent: agents.ClaudeCode, Dialect: &claude.Dialect,
	Models: strings.Fields("claude-sonnet-4-5-20250929 claude-haiku-4-5-20251001")}

func TestMain(m *testing.M) { agents.Main(m, &bench) }

// TestPlayed comes first: what it records is compared.
func TestPlayed(t *testing.T) { bench.Played(t) }

func TestRecorded(t *testing.T) {
	bench.Recorded(t)
	if n := len(claude.Rules.Versions()); n < 7 {
		t.Errorf("only %d versions were compared", n)
	}
}
