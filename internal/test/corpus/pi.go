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
	"strings"
	"testing"
)

//go:embed pi.mjs
var piScript []byte

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

// Pi runs pi's own code to read and open copies of sessions, by name, or with "read" or "open" to
// do the one, with "open" without the messages of Read. See OfPi.
func Pi(t *testing.T, sessions map[string][]byte, asked ...string) map[string]PiAnswer {
	t.Helper()
	return OfPi[PiAnswer](t, piScript, sessions, asked...)
}

// A PiRequest is what pi would send to go on with a session.
type PiRequest struct {
	Messages int
	Wrong    []string // what pi throws, leaves out, or what providers would refuse; by provider
}

// PiSends runs pi's own code to make requests of sessions for several providers, by session name.
// See OfPi.
func PiSends(t *testing.T, sessions map[string][]byte) map[string]PiRequest {
	t.Helper()
	return OfPi[PiRequest](t, piSendsScript, sessions)
}

//go:embed pibodies.mjs
var piBodiesScript []byte

// PiBodies runs pi's own code to send the requests of session files, by every interface, to a stand-in
// for the providers at that address (pibodies.mjs). It returns what pi did not send, and why. See OfPi.
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

// OfPi runs a script that calls pi's own code over copies of sessions, by name. The script prints a
// JSON object for each, on a line, in order. It skips the test without node or pi's package; make pi
// installs the package.
func OfPi[Answer any](t *testing.T, script []byte, sessions map[string][]byte, asked ...string) map[string]Answer {
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
	cmd.Env = append(os.Environ(), "PI_ASKED="+strings.Join(asked, ""))
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
