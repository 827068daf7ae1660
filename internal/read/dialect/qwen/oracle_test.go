package qwen_test

import (
	"testing"

	"ctxtool/internal/read/dialect/qwen"
	"ctxtool/internal/test/agents"
)

var bench = agents.Bench{Agent: agents.Qwen, Dialect: &qwen.Dialect}

func TestMain(m *testing.M) { agents.Main(m, &bench) }

func TestRecorded(t *testing.T) { bench.Recorded(t) }

func TestPlayed(t *testing.T) { bench.Played(t) }
