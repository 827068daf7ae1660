package codex_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/dialect/codex"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var update = flag.Bool("update", false, "write what was compared to compared_*.go")

// versions are those that make codex-versions installs.
var versions = strings.Fields("0.80.0 0.107.0 0.123.0 0.128.0 0.140.0 0.146.0 0.150.0 0.160.0 0.169.0 0.171.0")

// TestVersions plays the scripts of testdata/versions through versions of the real program, and holds
// compared_versions.go to how many of their requests are replayed as they were sent.
func TestVersions(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it plays scripts through versions of Codex, which takes minutes; CTXTOOL_WHOLE=1 runs it")
	}
	dir := os.Getenv("CTXTOOL_CODEX_VERSIONS")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "ctxtool-codex-versions")
	}
	drive := driver(t)
	scripts, _ := filepath.Glob("testdata/versions/*.json")
	tally, n := claims.New(t, codex.Rules, "rules.go"), 0
	for _, version := range versions {
		programs, _ := filepath.Glob(filepath.Join(dir, "codex-"+version, "package/vendor/x86_64-unknown-linux-musl/*/codex"))
		if len(programs) == 0 {
			continue
		}
		n++
		t.Run(version, func(t *testing.T) {
			equal, all := 0, 0
			for _, script := range scripts {
				one, of := byOrder(t, play(t, drive, script, programs[0]), tally)
				equal, all = equal+one, all+of
			}
			t.Logf("%s: %d of %d requests", version, equal, all)
		})
	}
	if n == 0 {
		testenv.Skip(t, "no versions of Codex; make codex-versions installs them")
	}
	tally.Hold(t, *update, "compared_versions.go", "codex", "comparedVersions")
}

// driver is the kit that plays a script.
func driver(t *testing.T) string {
	t.Helper()
	drive := testenv.NeedShared(t, "oracles/codex/drive.mjs")[0]
	if err := exec.Command("unshare", "-n", "-m", "-u", "-p", "-f", "true").Run(); err != nil {
		testenv.Skip(t, "no namespaces to run Codex in: unshare: %v", err)
	}
	return drive
}

// play plays a script, and returns the folder with what the program wrote and sent. Steps that a
// version does not have fail, and the others count.
func play(t *testing.T, drive, script, codex string) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(os.WriteFile(filepath.Join(dir, "script.json"), repeat(must.Get(os.ReadFile(script))), 0o666))
	out, err := exec.Command("node", drive, filepath.Join(dir, "script.json"), filepath.Join(dir, "out"), "--codex", codex).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s", script, err, out)
	}
	return filepath.Join(dir, "out")
}

// byOrder compares the requests of a folder with those of the rollout, in their order: older versions
// do not name their answers. Requests that failed and those for summaries are left out, and outputs
// that are sent for calls without one.
func byOrder(t *testing.T, folder string, tally *claims.Tally) (equal, all int) {
	t.Helper()
	var got []native
	files, _ := filepath.Glob(filepath.Join(folder, "rollout*"))
	for _, file := range files {
		got = append(got, replayed(t, file)...)
	}
	for _, q := range corpus.Requests[sent](t, folder) {
		want := slices.DeleteFunc(recorded(q.Input), func(v any) bool { return v.(map[string]any)["output"] == "aborted" })
		if q.Ended != "completed" || isSummary(want) {
			continue
		}
		all++
		is := func(one native) bool { return reflect.DeepEqual(one.items, want) }
		if at := slices.IndexFunc(got, is); at >= 0 {
			equal++
			tally.Add(got[at].version, got[at].used, got[at].asked, true)
			got = got[at+1:]
			continue
		}
		var near native
		for _, one := range got {
			if reflect.DeepEqual(one.items[len(one.items)-1], want[len(want)-1]) {
				near = one
				break
			}
		}
		tally.Add(near.version, near.used, near.asked, false)
		t.Logf("%s: request %d: %d items, and %d were sent%s", filepath.Base(folder), q.N, len(near.items), len(want), unlike(near.items, want))
	}
	return equal, all
}

// replayed are the requests of a rollout.
func replayed(t *testing.T, file string) (all []native) {
	t.Helper()
	s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
	defer s.Close()
	r := replay.New(s, replay.Options{})
	for rec := range s.Len() {
		if s.Answers(rec) {
			e := must.Get(r.At(sessionfmt.Before(rec)))
			ref := must.Get(e.ModelRef())
			all = append(all, native{items: recorded(corpus.Decoded[any](t, e.Native())), version: s.WrittenBy(), used: e.Rules(),
				asked: rule.Asked{Host: ref.Provider, Model: ref.ID}})
		}
	}
	return all
}

// isSummary reports whether a request asks for a summary.
func isSummary(items []any) bool {
	last := string(must.Get(json.Marshal(items[len(items)-1])))
	return strings.Contains(last, "compaction_trigger") || strings.Contains(last, "CONTEXT CHECKPOINT COMPACTION")
}
