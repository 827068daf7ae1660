package cline_test

import (
	"testing"

	"ctxtool/internal/read/dialect/cline"
	"ctxtool/internal/test/agents"
)

var bench = agents.Bench{Agent: agents.Cline, Dialect: &cline.Dialect}

func TestMain(m *testing.M) { agents.Main(m, &bench) }

func TestRecorded(t *testing.T) { bench.Recorded(t) }

func TestPlayed(t *testing.T) { bench.Played(t) }
