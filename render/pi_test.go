package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// piPackage is the folder of pi's npm package: see make pi.
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

// TestPiItself compares every session with what pi's own code builds of it, the
// generated and the damaged ones too.
func TestPiItself(t *testing.T) {
	root := piPackage(t)
	dir := t.TempDir()
	args := []string{"testdata/pi.mjs", root}
	names := map[string]string{}
	for i, c := range corpus.All(t) {
		file := filepath.Join(dir, string(rune('a'+i%26))+filepath.Base(filepath.Dir(c.Name))+"-"+filepath.Base(c.Name))
		if names[file] != "" || loops(t, c) {
			continue // pi hangs on it
		}
		if err := os.WriteFile(file, c.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		names[file] = c.Name
		args = append(args, file)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("node", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	same, refused, throws := 0, 0, 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var pi struct {
			File    string
			Refused bool
			Throws  string
			Context json.RawMessage
			LLM     json.RawMessage
		}
		if err := json.Unmarshal(lines.Bytes(), &pi); err != nil {
			t.Fatal(err)
		}
		name := names[pi.File]
		switch {
		case pi.Refused:
			refused++
		case pi.Throws != "":
			throws++
			t.Logf("%s: pi fails on it: %s", name, pi.Throws)
		case !likePi(t, name, pi.File, pi.Context, pi.LLM):
		default:
			same++
		}
	}
	if same == 0 || throws > 8 {
		t.Errorf("%d sessions compared, pi fails on %d: is it another pi?", same, throws)
	}
	t.Logf("%d sessions replay as pi builds them; it refuses %d and fails on %d", same, refused, throws)
}

func loops(t *testing.T, c corpus.Session) bool {
	s := open(t, c)
	if s == nil {
		return false
	}
	_, found := s.Path(s.Leaf())
	return len(found) > 0 || hasCode(s, "self-parent")
}

// likePi compares context and llm with pi's, spelled the way JavaScript would.
func likePi(t *testing.T, name, file string, context, llm json.RawMessage) bool {
	t.Helper()
	e := envelopeOf(t, file, replay.Options{Rules: replay.ByPi})
	if hasCode(e.Replay().Session, "scalar-leaf") { // docs/design.md: decision 2
		if !bytes.HasPrefix(context, []byte(`{"messages":[],`)) {
			t.Errorf("%s: pi no longer takes a scalar line for the leaf", name)
		}
		return false
	}
	for _, want := range []struct {
		format string
		json   json.RawMessage
	}{{"context", context}, {"llm", llm}} {
		v, err := sessionfmt.ParseValue(printed(t, want.format, Report{Envelope: e}))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.AppendCompact(nil); !bytes.Equal(got, want.json) {
			at := 0
			for at < min(len(got), len(want.json)) && got[at] == want.json[at] {
				at++
			}
			from := max(0, at-100)
			t.Errorf("%s, %s differs at byte %d:\n got ...%.300s\n  pi ...%.300s", name, want.format, at, got[from:], want.json[from:])
			return false
		}
	}
	return true
}
