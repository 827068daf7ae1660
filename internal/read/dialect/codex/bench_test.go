package codex_test

import (
	"testing"

	"ctxtool/internal/read/dialect/codex"
	"ctxtool/internal/test/agents"
)

var bench = agents.Bench{Agent: agents.Codex, Dialect: &codex.Dialect}

func TestMain(m *testing.M) { agents.Main(m, &bench) }

func TestRecorded(t *testing.T) { bench.Recorded(t) }

func TestPlayed(t *testing.T) { bench.Played(t) }
