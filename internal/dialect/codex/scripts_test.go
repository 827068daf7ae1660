package codex_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/dialect/codex"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/testenv"
)

// TestScripts plays the scripts of testdata/scripts through the real program, offline, and
// compares what it sent with what its rollouts replay to, as TestRequests does.
func TestScripts(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it plays scripts through Codex, which takes 20 s; CTXTOOL_WHOLE=1 runs it")
	}
	program, drive := installed(t), driver(t)
	scripts, _ := filepath.Glob("testdata/scripts/*.json")
	all, tally := compared{}, claims.New(t, codex.Rules, "rules.go")
	for _, name := range scripts {
		n := compare(t, play(t, drive, name, program), tally)
		t.Logf("%s: %s", filepath.Base(name), n)
		all.add(n)
	}
	tally.Hold(t, *update, "compared_scripts.go", "codex", "comparedScripts")
	if all.turns < 100 || all.summaries < 12 || all.lost > 2 {
		t.Error(all)
	}
	t.Log(all)
}

// installed is the binary of Codex, which make codex installs.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CTXTOOL_CODEX")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "ctxtool-codex")
	}
	found, _ := filepath.Glob(filepath.Join(dir, "package/vendor/*/bin/codex"))
	if len(found) == 0 {
		testenv.Skip(t, "no package of Codex; make codex installs it")
	}
	return found[0]
}

var repeated = regexp.MustCompile(`\{\{(\d+)\*([^}]*)\}\}`)

// repeat replaces {{N*text}} by N times that text, so that scripts with long prompts are short.
func repeat(script []byte) []byte {
	return repeated.ReplaceAllFunc(script, func(m []byte) []byte {
		sub := repeated.FindSubmatch(m)
		n, _ := strconv.Atoi(string(sub[1]))
		return []byte(strings.Repeat(string(sub[2]), n))
	})
}
