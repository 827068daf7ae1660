package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/sessionfmt"
)

// TestNewest: the session that was written last, of those of the folder.
func TestNewest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, cwd string, age time.Duration) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf(`{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`+"\n", cwd)
		if err := os.WriteFile(name, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1767225600, 0).Add(-age)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("--a--/2026_old.jsonl", "/a", 3*time.Hour)
	want := write("--a--/2025_late.jsonl", "/a", time.Hour)
	write("--b--/2026_other.jsonl", "/b", time.Minute)
	write("--a--/notes.txt", "/a", 0)
	if got, err := (Store{Dir: dir}).Newest("/a"); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := (Store{Dir: dir}).Newest("/c"); err == nil || !strings.Contains(err.Error(), "no session of this folder") {
		t.Error(err)
	}
	if _, err := (Store{Dir: filepath.Join(dir, "nowhere")}).Newest("/a"); err == nil {
		t.Error("a store that is not there has a newest session")
	}
}

// TestSplitPoint: at the last @, unless the whole names a file.
func TestSplitPoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a@b.jsonl")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string][2]string{
		"s.jsonl":        {"s.jsonl", ""},
		"s.jsonl@leaf":   {"s.jsonl", "leaf"},
		"a@b@turn:1":     {"a@b", "turn:1"},
		file:             {file, ""},
		file + "@root":   {file, "root"},
		"-@request:0":    {"-", "request:0"},
		"@label":         {"@label", ""},
		"s.jsonl@":       {"s.jsonl", ""},
		"0199aa@deadbee": {"0199aa", "deadbee"},
	} {
		if s, p := SplitPoint(sessionfmt.Disk{}, arg); s != want[0] || p != want[1] {
			t.Errorf("%q: %q, %q", arg, s, p)
		}
	}
}
