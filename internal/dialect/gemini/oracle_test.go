package gemini_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ctxtool/internal/dialect/gemini"
	"ctxtool/internal/rule"
	"ctxtool/internal/test/claims"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var update = flag.Bool("update", false, "write what was compared to compared.go")

// A content is a turn as it is sent.
type content struct {
	Role  string
	Parts []map[string]any
}

// plan is what the model answers, and prompts are what the user asks, each in a process of its own
// that resumes the session.
const plan = `[{"text":"Hello."},
{"thought":"**Look** I should look.","text":"Looking.","calls":[{"name":"list_directory","args":{"dir_path":"."}},{"name":"read_file","args":{"file_path":"notes.md"}}]},
{"text":"One file."},
{"calls":[{"name":"run_shell_command","args":{"command":"echo hi","description":"say"}}]},
{"calls":[{"name":"read_file","args":{"file_path":"gone.md"}}]},
{"text":"Said."},{"text":"Bye."},{"text":"Bye again."}]`

var prompts = []string{"Say hello.", "List the files.", "Say hi by shell.", "Bye.", "And again.", "Bye."}

// TestRequests plays a conversation through the real program, and compares what it sent with what is
// replayed. What no file holds is left out: signatures of thoughts.
func TestRequests(t *testing.T) {
	if !corpus.Whole() {
		t.Skip("left out: it plays a conversation through Gemini CLI, which takes 15 s; CTXTOOL_WHOLE=1 runs it")
	}
	dir := os.Getenv("CTXTOOL_GEMINI")
	if cache, err := os.UserCacheDir(); dir == "" && err == nil {
		dir = filepath.Join(cache, "ctxtool-gemini")
	}
	program := filepath.Join(dir, "node_modules/@google/gemini-cli/bundle/gemini.js")
	if _, err := os.Stat(program); err != nil {
		testenv.Skip(t, "no package of Gemini CLI; make gemini installs it")
	}
	home := t.TempDir()
	file := played(t, home, program)
	var want [][]content
	sc := bufio.NewScanner(must.Get(os.Open(filepath.Join(home, "requests.jsonl"))))
	for sc.Buffer(nil, 1<<24); sc.Scan(); {
		var q struct{ Contents []content }
		must.Do(json.Unmarshal(sc.Bytes(), &q))
		want = append(want, joined(q.Contents))
	}
	s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
	defer s.Close()
	r, n, tally := replay.New(s, replay.Options{}), 0, claims.New(t, gemini.Rules, "rules.go")
	for rec := range s.Len() {
		if !s.Answers(rec) {
			continue
		}
		e := must.Get(r.At(sessionfmt.Before(rec)))
		got := joined(corpus.Decoded[content](t, e.Native()))
		tally.Add(s.WrittenBy(), e.Rules(), rule.Asked{}, n < len(want) && reflect.DeepEqual(got, want[n]))
		if n < len(want) && !reflect.DeepEqual(got, want[n]) {
			k := 0
			for k < min(len(got), len(want[n])) && reflect.DeepEqual(got[k], want[n][k]) {
				k++
			}
			t.Errorf("request %d, turn %d: replayed as %.2000v, and sent as %.2000v", n, k, got[k:], want[n][k:])
		}
		n++
	}
	if n != len(want) {
		t.Errorf("%d requests are replayed, and %d were sent", n, len(want))
	}
	tally.Hold(t, *update, "compared.go", "gemini", "compared")
}

// played plays the conversation, and returns the session.
func played(t *testing.T, home, program string) string {
	t.Helper()
	project := filepath.Join(home, "project")
	must.Do(os.MkdirAll(filepath.Join(home, ".gemini"), 0o700))
	must.Do(os.Mkdir(project, 0o700))
	must.Do(os.WriteFile(filepath.Join(project, "notes.md"), []byte("# Notes\n"), 0o600))
	must.Do(os.WriteFile(filepath.Join(home, "plan.json"), []byte(plan), 0o600))
	const settings = `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},
"general":{"enableAutoUpdate":false},"telemetry":{"enabled":false},"privacy":{"usageStatisticsEnabled":false}}`
	must.Do(os.WriteFile(filepath.Join(home, ".gemini/settings.json"), []byte(settings), 0o600))
	stub := exec.Command("node", must.Get(filepath.Abs("testdata/stub.mjs")), filepath.Join(home, "plan.json"), filepath.Join(home, "requests.jsonl"))
	out := must.Get(stub.StdoutPipe())
	if err := stub.Start(); err != nil {
		testenv.Skip(t, "no node: %v", err)
	}
	defer stub.Process.Kill()
	port := strings.TrimSpace(must.Get(bufio.NewReader(out).ReadString('\n')))
	for k, prompt := range prompts {
		args := []string{program, "--skip-trust", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt}
		if k > 0 {
			args = append(args, "--resume", "latest")
		}
		cmd := exec.Command("node", args...)
		cmd.Dir = project
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GEMINI_API_KEY=x", "GEMINI_CLI_NO_RELAUNCH=1",
			"GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:" + port}
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", prompt, err, said)
		}
	}
	files, _ := filepath.Glob(filepath.Join(home, ".gemini/tmp/*/chats/*.jsonl"))
	if len(files) == 0 {
		t.Fatal("no session")
	}
	return files[0] // a resume in a later minute begins another, of its environment alone, and goes on in this one
}

// joined are turns as the program joins them: those of one role in a row, without signatures.
func joined(turns []content) (all []content) {
	for _, c := range turns {
		for _, p := range c.Parts {
			delete(p, "thoughtSignature")
		}
		if last := len(all) - 1; last >= 0 && all[last].Role == c.Role {
			all[last].Parts = append(all[last].Parts, c.Parts...)
		} else {
			all = append(all, c)
		}
	}
	return all
}
