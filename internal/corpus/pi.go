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

// A PiAnswer is what pi's own code makes of a session file.
type PiAnswer struct {
	Read struct { // without touching the file
		Refused bool
		Endless bool // no end to the path: pi would not come back, and is not asked
		Throws  string
		Context json.RawMessage
		LLM     json.RawMessage
	}
	Open struct { // as the agent opens it
		Throws   string
		Messages json.RawMessage
		Leaf     string
		After    string // the file
	}
}

// Pi has pi's own code read and open copies of sessions, by name. Where node or
// pi's package is missing it skips the test; make pi installs the package.
func Pi(t *testing.T, sessions map[string][]byte) map[string]PiAnswer {
	t.Helper()
	root := piPackage(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "pi.mjs")
	if err := os.WriteFile(script, piScript, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{script, root}
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(sessions)) {
		file := filepath.Join(dir, fmt.Sprintf("%d.jsonl", len(names)))
		if err := os.WriteFile(file, sessions[name], 0o600); err != nil {
			t.Fatal(err)
		}
		names[file] = name
		args = append(args, file)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("node", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	all := map[string]PiAnswer{}
	for line := range bytes.Lines(out) {
		var a struct {
			File string
			PiAnswer
		}
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		all[names[a.File]] = a.PiAnswer
	}
	return all
}

// piPackage is the folder of pi's npm package.
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
	if _, err := os.Stat(filepath.Join(dir, "dist")); err != nil {
		t.Skip("left out: no package of pi; make pi installs it")
	}
	return dir
}
