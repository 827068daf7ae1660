package codex_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/dialect"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var update = flag.Bool("update", false, "write what was compared to compared.txt")

// TestVersions plays the scripts of testdata/versions through versions of the real program, and holds
// compared.txt to how many of their requests are replayed as they were sent.
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
	compared := 0
	for c := range dialect.Compared {
		programs, _ := filepath.Glob(filepath.Join(dir, "codex-"+c.Version, "package/vendor/x86_64-unknown-linux-musl/*/codex"))
		if c.Agent != "codex" || len(programs) == 0 {
			continue
		}
		t.Run(c.Version, func(t *testing.T) {
			now := dialect.Comparison{Agent: c.Agent, Version: c.Version}
			for _, script := range scripts {
				out := play(t, drive, script, programs[0])
				equal, all := byOrder(t, out)
				now.Equal, now.Requests = now.Equal+equal, now.Requests+all
			}
			if compared++; *update {
				record(t, c, now)
			} else if now != c {
				t.Errorf("compared %+v, and compared.txt has %+v; -update writes it", now, c)
			}
		})
	}
	if compared == 0 {
		testenv.Skip(t, "no versions of Codex; make codex-versions installs them")
	}
}

// record replaces a line of compared.txt.
func record(t *testing.T, was, now dialect.Comparison) {
	t.Helper()
	line := func(c dialect.Comparison) string { return fmt.Sprintln(c.Agent, c.Version, c.Requests, c.Equal) }
	data := string(must.Get(os.ReadFile("../compared.txt")))
	must.Do(os.WriteFile("../compared.txt", []byte(strings.Replace(data, line(was), line(now), 1)), 0o644))
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
func byOrder(t *testing.T, folder string) (equal, all int) {
	t.Helper()
	var got [][]any
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
		is := func(one []any) bool { return reflect.DeepEqual(one, want) }
		if at := slices.IndexFunc(got, is); at >= 0 {
			equal++
			got = got[at+1:]
			continue
		}
		near := []any{}
		for _, one := range got {
			if reflect.DeepEqual(one[len(one)-1], want[len(want)-1]) {
				near = one
				break
			}
		}
		t.Logf("%s: request %d: %d items, and %d were sent%s", filepath.Base(folder), q.N, len(near), len(want), unlike(near, want))
	}
	return equal, all
}

// replayed are the requests of a rollout.
func replayed(t *testing.T, file string) (all [][]any) {
	t.Helper()
	s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
	defer s.Close()
	r := replay.New(s, replay.Options{})
	for rec := range s.Len() {
		if s.Answers(rec) {
			e := must.Get(r.At(sessionfmt.Before(rec)))
			all = append(all, recorded(corpus.Decoded[any](t, e.Native())))
		}
	}
	return all
}

// isSummary reports whether a request asks for a summary.
func isSummary(items []any) bool {
	last := string(must.Get(json.Marshal(items[len(items)-1])))
	return strings.Contains(last, "compaction_trigger") || strings.Contains(last, "CONTEXT CHECKPOINT COMPACTION")
}
