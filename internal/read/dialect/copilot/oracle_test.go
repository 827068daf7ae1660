package copilot_test

import (
	"testing"

	"ctxtool/internal/read/dialect/copilot"
	"ctxtool/internal/test/agents"
)

var bench = agents.Bench{Agent: agents.Copilot, Dialect: &copilot.Dialect}

func TestMain(m *testing.M) { agents.Main(m, &bench) }

// TestPlayed comes first: what it records is compared.
func TestPlayed(t *testing.T) { bench.Played(t) }

func TestRecorded(t *testing.T) { bench.Recorded(t) }
