package pi_test

import (
	"testing"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/test/agents"
)

var (
	bench = agents.Bench{Agent: agents.Pi, Rules: pi.Rules, Format: "3", Compared: "recorded.go"}
	// oh-my-pi's sessions are read by the same rules, in another table.
	variant = agents.Bench{Agent: agents.OhMyPi, Rules: pi.OhMyPi, Format: "3", Dir: "testdata/ohmypi", Package: "pi",
		Compared: "recorded_ohmypi.go"}
)

func TestMain(m *testing.M) { agents.Main(m, &bench, &variant) }

func TestRecorded(t *testing.T) {
	t.Run("pi", bench.Recorded)
	t.Run("oh-my-pi", variant.Recorded)
}

func TestPlayed(t *testing.T) {
	t.Run("pi", bench.Played)
	t.Run("oh-my-pi", variant.Played)
}
