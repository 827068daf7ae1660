package copilot_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/dialect/copilot"
	"ctxtool/internal/test/agents"
	"ctxtool/internal/test/must"
)

// The versions that make copilot installs. The pinned one plays all scripts, others the common ones.
const pinned = "1.0.102"
const others = "1.0.71 1.0.92"

var bench = agents.Bench{
	Dialect: &copilot.Dialect, Binary: "node_modules/.bin/copilot", Versions: append(strings.Fields(others), pinned),
	Common: strings.Fields("prompts failures compactions models images agents"),
}

// TestMain plays a script where the test's binary is asked to.
func TestMain(m *testing.M) {
	agents.Main(agents.Copilot)
	flag.BoolVar(&bench.Update, "update", false, "write what was compared to compared.go and docs/session-format.md")
	flag.BoolVar(&bench.Record, "record", false, "write what is played to testdata/recorded")
	flag.StringVar(&bench.Through, "through", "", "play scripts through these versions alone, separated by commas")
	flag.StringVar(&bench.Only, "played", "", "play these scripts alone, separated by commas")
	flag.Parse()
	os.Exit(m.Run())
}

// TestRecorded compares the requests of testdata/recorded with what their sessions replay to.
func TestRecorded(t *testing.T) { bench.Recorded(t) }

// TestPlayed plays the scripts of testdata/scripts through the programs that are installed.
func TestPlayed(t *testing.T) {
	dir := os.Getenv("CTXTOOL_COPILOT")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "ctxtool-copilot")
	}
	must.Do(os.Setenv(agents.CopilotCache, filepath.Join(dir, "cache")))
	bench.Played(t, dir)
}
