package opencode_test

import (
	"testing"

	"ctxtool/internal/read/dialect/opencode"
	"ctxtool/internal/test/agents"
)

var (
	bench = agents.Bench{Agent: agents.OpenCode, Dialect: &opencode.Dialect}
	kilo  = agents.Bench{Agent: agents.Kilo, Dialect: &opencode.Kilo, Dir: "testdata/kilo",
		Scripts: "testdata/scripts", Compared: "compared_kilo.go", Package: "opencode"}
)

func TestMain(m *testing.M) { agents.Main(m, &bench, &kilo) }

func TestRecordedOpenCode(t *testing.T) { bench.Recorded(t) }

func TestRecordedKilo(t *testing.T) { kilo.Recorded(t) }

func TestPlayedOpenCode(t *testing.T) { bench.Played(t) }

func TestPlayedKilo(t *testing.T) { kilo.Played(t) }
