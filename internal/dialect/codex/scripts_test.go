package codex_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
)

// TestScripts plays the scripts of testdata/scripts through the real program, offline, and
// compares what it sent with what its rollouts replay to, as TestRequests does.
func TestScripts(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it plays scripts through Codex, which takes 20 s; CTXTOOL_WHOLE=1 runs it")
	}
	codex, drive := program(t), filepath.Join(corpus.Root(t), "../shared/oracles/codex/drive.mjs")
	if _, err := os.Stat(drive); err != nil {
		t.Skip("left out: no kit at ../shared/oracles/codex")
	}
	if err := exec.Command("unshare", "-n", "-m", "-u", "-p", "-f", "true").Run(); err != nil {
		t.Skip("left out: no namespaces to run Codex in: unshare: ", err)
	}
	scripts, _ := filepath.Glob("testdata/scripts/*.json")
	var all compared
	for _, name := range scripts {
		dir := t.TempDir()
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "script.json"), repeat(data), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("node", drive, filepath.Join(dir, "script.json"), filepath.Join(dir, "out"), "--codex", codex).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
			continue
		}
		n := compare(t, filepath.Join(dir, "out"))
		t.Logf("%s: %s", filepath.Base(name), n)
		all.add(n)
	}
	if all.turns < 100 || all.summaries < 12 || all.lost > 2 {
		t.Error(all)
	}
	t.Log(all)
}

// program is the binary of Codex, which make codex installs.
func program(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("CTXTOOL_CODEX")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "ctxtool-codex")
	}
	found, _ := filepath.Glob(filepath.Join(dir, "package/vendor/*/bin/codex"))
	if len(found) == 0 {
		t.Skip("left out: no package of Codex; make codex installs it")
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
