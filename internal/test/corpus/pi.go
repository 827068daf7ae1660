package corpus

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

//go:embed pi.mjs
var piScript []byte

//go:embed picuts.mjs
var piCutsScript []byte

//go:embed pitexts.mjs
var piTextsScript []byte

//go:embed pisends.mjs
var piSendsScript []byte

// A PiAnswer is the result of pi's own code for a session file.
type PiAnswer struct {
	Read struct { // without changing the file
		Refused bool
		Endless bool // a parent cycle: pi would not return, and is not called
		Throws  string
		Context json.RawMessage
		LLM     json.RawMessage
		System  struct { // what the system messages in the context say
			Prompt, Tools json.RawMessage
			Throws        string
		}
	}
	Open struct { // as the agent opens it
		Throws   string
		Messages json.RawMessage
		Leaf     string
		After    string // the file
	}
}

// Pi runs pi's own code to read and open copies of sessions, by name. It skips the test without
// node or pi's package; make pi installs the package.
func Pi(t *testing.T, sessions map[string][]byte) map[string]PiAnswer {
	t.Helper()
	return runPi[PiAnswer](t, piScript, sessions)
}

// PiReads is Pi without Open.
func PiReads(t *testing.T, sessions map[string][]byte) map[string]PiAnswer {
	t.Helper()
	return runPi[PiAnswer](t, piScript, sessions, "PI_ASKED=read")
}

// PiOpens is Pi without the messages of Read.
func PiOpens(t *testing.T, sessions map[string][]byte) map[string]PiAnswer {
	t.Helper()
	return runPi[PiAnswer](t, piScript, sessions, "PI_ASKED=open")
}

// A PiCut is how pi would compact a session, keeping that many tokens at its end. Kept is empty
// if it would do nothing.
type PiCut struct {
	Keep            int
	Kept            string          // the id of the first kept entry
	History, Prefix int             // messages to be summarised
	Tokens          int             // of the context before
	Previous        json.RawMessage // summary
	ReadFiles       []string
	ModifiedFiles   []string
	Throws          string
}

// PiCuts runs pi's own code to find where it would cut sessions, by name. See Pi.
func PiCuts(t *testing.T, sessions map[string][]byte) map[string][]PiCut {
	t.Helper()
	all := map[string][]PiCut{}
	for name, a := range runPi[struct{ Cuts []PiCut }](t, piCutsScript, sessions) {
		all[name] = a.Cuts
	}
	return all
}

// PiTexts are the conversations that pi would summarize to compact a session and keep 200
// tokens, and the files that it would list after the summary.
type PiTexts struct {
	History, Prefix json.RawMessage // texts
	Appended        string
	Throws          string
}

// PiConversations runs pi's own code for the texts that it would summarize, by session name.
// See Pi.
func PiConversations(t *testing.T, sessions map[string][]byte) map[string]PiTexts {
	t.Helper()
	return runPi[PiTexts](t, piTextsScript, sessions)
}

// A PiRequest is what pi would send to go on with a session.
type PiRequest struct {
	Messages int
	Wrong    []string // what pi throws, leaves out, or what providers would refuse; by provider
}

// PiSends runs pi's own code to make requests of sessions for several providers, by session name.
// See Pi.
func PiSends(t *testing.T, sessions map[string][]byte) map[string]PiRequest {
	t.Helper()
	return runPi[PiRequest](t, piSendsScript, sessions)
}

//go:embed pibodies.mjs
var piBodiesScript []byte

// PiBodies runs pi's own code to send the requests of session files, by every interface, to a stand-in
// for the providers at that address (pibodies.mjs). It returns what pi did not send, and why. See Pi.
func PiBodies(t *testing.T, address string, files ...string) string {
	t.Helper()
	root := piPackage(t)
	if _, err := os.Stat(filepath.Join(root, "..", "..", "openai")); err != nil {
		t.Skip("left out: no clients of the providers; make pi installs them")
	}
	run := filepath.Join(t.TempDir(), "run.mjs")
	if err := os.WriteFile(run, piBodiesScript, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{run, root}, files...)...)
	cmd.Env = append(os.Environ(), "PI_SERVER="+address)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// runPi runs a script over copies of sessions. The script prints one JSON object per line for
// each, in order.
func runPi[Answer any](t *testing.T, script []byte, sessions map[string][]byte, env ...string) map[string]Answer {
	t.Helper()
	root := piPackage(t)
	dir := t.TempDir()
	run := filepath.Join(dir, "run.mjs")
	if err := os.WriteFile(run, script, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{run, root}
	names := slices.Sorted(maps.Keys(sessions))
	for k, name := range names {
		file := filepath.Join(dir, fmt.Sprintf("%d.jsonl", k))
		if err := os.WriteFile(file, sessions[name], 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("node", args...)
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	all := map[string]Answer{}
	for line := range bytes.Lines(out) {
		var a Answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		if len(all) < len(names) {
			all[names[len(all)]] = a
		}
	}
	if lines := bytes.Count(out, []byte{'\n'}); lines != len(names) {
		t.Fatalf("pi answers for %d of %d sessions", lines, len(names))
	}
	return all
}

// piVersion is the version of pi that tests compare with. The Makefile reads it here.
const piVersion = "1.5.2"

// piPackage returns the folder of pi's npm package.
func piPackage(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("left out: no node to run pi's own code with")
	}
	dir := os.Getenv("CTXTOOL_PI")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skip("left out: ", err)
		}
		dir = filepath.Join(cache, "ctxtool-pi")
	}
	dir = filepath.Join(dir, "node_modules", "@earendil-works", "pi-coding-agent")
	about, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		t.Skip("left out: no package of pi; make pi installs it")
	}
	var is struct{ Version string }
	if err := json.Unmarshal(about, &is); err != nil || is.Version != piVersion {
		t.Skipf("left out: pi %s is installed; make pi installs %s", is.Version, piVersion)
	}
	return dir
}
