package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// recordings are what docs/recordings shows, each on a terminal of its own.
var recordings = []struct {
	name     string
	commands []string
}{
	{"replay", []string{"ctxtool replay testdata/sessions/demo.jsonl", "ctxtool replay testdata/sessions/demo.jsonl@race-fixed", "ctxtool replay testdata/sessions/demo.jsonl --request 7 --ephemeral"}},
	{"tree", []string{"ctxtool log --tree testdata/sessions/demo.jsonl", "ctxtool log testdata/sessions/demo.jsonl --tree --kind user,compaction"}},
	{"log", []string{"ctxtool log testdata/sessions/demo.jsonl --since race-fixed --until regression-test", "ctxtool log testdata/sessions/demo.jsonl --request -1"}},
	{"show", []string{"ctxtool show testdata/sessions/demo.jsonl regression-test"}},
	{"trace", []string{"ctxtool trace testdata/sessions/demo.jsonl race", "ctxtool trace testdata/sessions/demo.jsonl --blame request:5"}},
	{"ls", []string{"ctxtool ls testdata/sessions/good", "ctxtool ls testdata/sessions --sort size --limit 3"}},
	{"check", []string{"ctxtool check testdata/sessions/bad/orphan.jsonl testdata/sessions/bad/glued.jsonl", "ctxtool check --explain orphan"}},
	{"repair", []string{"ctxtool repair testdata/sessions/bad/malformed.jsonl", "ctxtool repair testdata/sessions/bad/malformed.jsonl -f json"}},
	{"migrate", []string{"ctxtool migrate testdata/sessions/good/v1.jsonl --compaction pair", "ctxtool migrate testdata/sessions/good"}},
	{"redact", []string{"ctxtool redact testdata/sessions/demo.jsonl", "ctxtool log testdata/sessions/demo.jsonl --redact --until turn:1"}},
	{"edit", []string{"ctxtool edit testdata/sessions/demo.jsonl 504b55d4 --omit --now 2026-11-03", "ctxtool edit testdata/sessions/demo.jsonl leaf --restore"}},
	{"reduce", []string{"ctxtool reduce testdata/sessions/demo.jsonl --pass truncate:max=300", "ctxtool reduce testdata/sessions/demo.jsonl --policy gsh --window 3000", "ctxtool compact testdata/sessions/good/cache.jsonl testdata/sessions/good/edited.jsonl --pass compact:style=gsh"}},
	{"simulate", []string{"ctxtool simulate testdata/sessions/demo.jsonl --window 20000", "ctxtool simulate testdata/sessions/demo.jsonl --policy gsh --sweep protect=500,2000,8000"}},
	{"search", []string{"ctxtool search 'flaky test fix' testdata/sessions --limit 3", "ctxtool search -F CloseDrains testdata/sessions/demo.jsonl --kind toolResult --in-context"}},
	{"config", []string{"ctxtool config", "ctxtool config --explain rules"}},
}

// TestRecordings plays the commands on a terminal of 110 columns and compares
// docs/recordings/NAME.cast (asciicast version 2) with what it shows. go test
// -update records them again.
func TestRecordings(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		testenv.Skip(t, "no script(1) to give a terminal")
	}
	root := corpus.Root(t)
	t.Parallel()
	home := t.TempDir()
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			var cast bytes.Buffer
			e := json.NewEncoder(&cast)
			e.SetEscapeHTML(false)
			at := 0.5
			frame := func(text string, lasts float64) {
				must.Do(e.Encode([]any{at, "o", text}))
				at += lasts
			}
			must.Do(e.Encode(map[string]any{"version": 2, "width": 110, "height": 40, "title": "ctxtool " + r.name}))
			for _, command := range r.commands {
				frame("$ "+command+"\r\n", 0.5)
				cmd := exec.Command(script, "-qec", "stty cols 110 rows 40; "+command, "/dev/null")
				cmd.Dir = root
				cmd.Env = append(cmd.Environ(), "XDG_CONFIG_HOME="+home, "HOME="+home, "TERM=xterm", "PAGER=cat")
				out, err := cmd.Output()
				if err != nil && len(out) == 0 {
					testenv.Skip(t, "script(1) gives no terminal here: %v", err)
				}
				var exit *exec.ExitError
				if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == exitFound) {
					t.Fatalf("%s: %v: %s", command, err, out)
				}
				frame(progressLine.ReplaceAllString(string(out), ""), 2.5)
			}
			golden.Equal(t, filepath.Join(root, "docs", "recordings", r.name+".cast"), cast.Bytes())
		})
	}
}

// progressLine is what progress writes again and again, and erases at the end: how
// often depends on how busy the machine is.
var progressLine = regexp.MustCompile("\r[^\r\n]*\x1b\\[K")
