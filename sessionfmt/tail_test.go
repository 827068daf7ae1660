package sessionfmt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestOpenTail: the end of a session is as long as its context needs, and what it cannot tell is an
// error, whatever leads the path astray.
func TestOpenTail(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	entry := func(id, parent string, size int) string {
		return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"` +
			strings.Repeat("x", size) + `"}}` + "\n"
	}
	compaction := `{"type":"compaction","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:02.000Z","summary":"S","firstKeptEntryId":"b","tokensBefore":1}` + "\n"
	long := header + entry("a", "null", 2*tailWindow) + "broken\n" + entry("b", `"a"`, 10)
	for _, c := range []struct {
		name, data string
		need       Need
		err        error
		entries    int
	}{
		{"header", header, 0, nil, 0},
		{"whole path", long, 0, nil, 2},
		{"cut", long + compaction, 0, nil, 2},
		{"cut, with all", long + compaction, NeedPath, nil, 3},
		{"self", header + entry("a", `"a"`, 10), 0, ErrTail, 0},
		{"cycle", header + entry("a", `"b"`, 10) + entry("b", `"a"`, 10) + entry("c", `"b"`, 10), 0, ErrTail, 0},
		{"cycle apart", header + entry("a", `"b"`, 10) + entry("b", `"a"`, 2*tailWindow) + entry("c", `"b"`, 10), 0, ErrTail, 0},
		{"forward", header + entry("a", `"b"`, 10) + entry("b", "null", 10) + entry("c", `"a"`, 10), 0, ErrTail, 0},
		{"orphan", header + entry("a", `"z"`, 10), 0, ErrTail, 0},
		{"no header", entry("a", "null", 10), 0, ErrTail, 0},
		{"old", strings.Replace(header, `"version":3`, `"version":2`, 1) + entry("a", "null", 10), 0, ErrTail, 0},
	} {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, []byte(c.data), 0o600))
		s, err := OpenTail(name, c.need, Options{})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.name, err, c.err)
		}
		if err != nil {
			continue
		}
		if s.Coverage.Entries != c.entries || !s.Coverage.Partial || len(s.Findings) > 0 || s.OwnSize() != int64(len(c.data)) {
			t.Errorf("%s: %+v of %d bytes, findings %v", c.name, s.Coverage, s.OwnSize(), s.Findings)
		}
		s.Close()
	}
}
