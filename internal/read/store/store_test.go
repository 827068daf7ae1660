package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"

	"github.com/klauspost/compress/zstd"
)

// TestNewest: the session that was written last, of those of the folder.
func TestNewest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, cwd string, age time.Duration) string {
		name = filepath.Join(dir, name)
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		line := fmt.Sprintf(`{"type":"session","version":3,"id":"x","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`+"\n", cwd)
		must.Do(os.WriteFile(name, []byte(line), 0o600))
		at := time.Unix(1767225600, 0).Add(-age)
		must.Do(os.Chtimes(name, at, at))
		return name
	}
	write("--a--/2026_old.jsonl", "/a", 3*time.Hour)
	want := write("--a--/2025_late.jsonl", "/a", time.Hour)
	write("--b--/2026_other.jsonl", "/b", time.Minute)
	write("--a--/notes.txt", "/a", 0)
	if got, err := In(sessionfmt.Disk{}, dir).Newest("/a"); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := In(sessionfmt.Disk{}, dir).Newest("/c"); err == nil || !strings.Contains(err.Error(), "no session of this folder") {
		t.Error(err)
	}
	if _, err := In(sessionfmt.Disk{}, filepath.Join(dir, "nowhere")).Newest("/a"); err == nil {
		t.Error("a store that is not there has a newest session")
	}
}

// TestNewestPacked: the newest session may be packed, unless the plain file is beside it.
func TestNewestPacked(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".codex", "sessions")
	enc, err := zstd.NewWriter(nil)
	must.Do(cmp.Or(err, os.MkdirAll(dir, 0o755)))
	write := func(id, end string, day int) {
		line := []byte(fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,"cwd":"/w"}}`, id) + "\n")
		if end == ".zst" {
			line = enc.EncodeAll(line, nil)
		}
		name, at := filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+id+".jsonl"+end), time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		must.Do(os.WriteFile(name, line, 0o600))
		must.Do(os.Chtimes(name, at, at))
	}
	newest := func(want string) {
		t.Helper()
		st := Default(sessionfmt.Disk{}, func(string) string { return "" }, home)
		if got, err := st.Newest("/w"); err != nil || filepath.Base(got) != "rollout-2026-01-01T00-00-00-"+want {
			t.Errorf("%q, %v; want %s", got, err, want)
		}
	}
	write("a", "", 1)
	write("b", ".zst", 2)
	newest("b.jsonl.zst")
	write("b", "", 1)
	newest("b.jsonl")
	write("a", "", 3)
	newest("a.jsonl")
}

// TestAgents: the folders of all agents are one store, in which the newest session of a folder
// may be anyone's.
func TestAgents(t *testing.T) {
	home := t.TempDir()
	for name, file := range map[string]struct{ line, time string }{
		".pi/agent/sessions/--w--/2026_p.jsonl":                        {`{"type":"session","version":3,"id":"p","cwd":"/w"}`, "2026-01-01"},
		".codex/sessions/2026/rollout-2026-01-01T00-00-00-c.jsonl":     {`{"type":"session_meta","payload":{"id":"c","cwd":"/w"}}`, "2026-01-02"},
		".claude/projects/-w/l.jsonl":                                  {`{"type":"summary","leafUuid":"u"}` + "\n" + `{"type":"user","parentUuid":null,"uuid":"u","sessionId":"l","cwd":"/w","message":{}}`, "2026-01-03"},
		".claude/projects/-w/l/subagents/agent-1.jsonl":                {`{"type":"user","parentUuid":null,"uuid":"u","sessionId":"l","cwd":"/w","message":{}}`, "2026-01-04"},
		".codex/archived_sessions/rollout-2026-01-01T00-00-00-d.jsonl": {`{"type":"session_meta","payload":{"id":"d","cwd":"/v"}}`, "2026-01-05"},
		".codex/archived_sessions/notes.jsonl":                         {`{"a":1}`, "2026-01-06"},
	} {
		name = filepath.Join(home, filepath.FromSlash(name))
		at, err := time.Parse(time.DateOnly, file.time)
		must.Do(err)
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(os.WriteFile(name, []byte(file.line+"\n"), 0o600))
		must.Do(os.Chtimes(name, at, at))
	}
	none := func(string) string { return "" }
	st := Default(sessionfmt.Disk{}, none, home)
	if got, err := st.Newest("/w"); err != nil || filepath.Base(got) != "l.jsonl" {
		t.Errorf("%q, %v", got, err)
	}
	if files, err := st.Files(); err != nil || len(files) != 5 {
		t.Errorf("%v, %v", files, err)
	}
	for id, want := range map[string]string{"p": "2026_p.jsonl", "c": "rollout-2026-01-01T00-00-00-c.jsonl", "d": "rollout-2026-01-01T00-00-00-d.jsonl", "l": "l.jsonl", "agent-1": "agent-1.jsonl"} {
		if got, err := st.Locate(id); err != nil || filepath.Base(got) != want {
			t.Errorf("%s: %q, %v", id, got, err)
		}
	}
	if _, err := Default(sessionfmt.Disk{}, none, "").Files(); err == nil {
		t.Error("without a home there are sessions")
	}
	for _, d := range sessionfmt.Dialects() {
		if got := st.Lookup(d, "d"); (len(got) == 1) != (d.Name == "codex") {
			t.Errorf("%s: %q", d.Name, got)
		}
	}
}

// TestSplitPoint: at the last @, unless the whole names a file.
func TestSplitPoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a@b.jsonl")
	must.Do(os.WriteFile(file, nil, 0o600))
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

// TestFound: an id that several sessions have names none of them; the error for one that no
// session has says where it was looked for. A document that its agent went on from is none.
func TestFound(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".pi/agent/sessions/--w--/1_same.jsonl":                  `{"type":"session","version":3,"id":"same","cwd":"/w"}`,
		".omp/agent/sessions/1_same.jsonl":                       `{"type":"session","version":3,"id":"same","cwd":"/w"}`,
		".gemini/tmp/p/chats/session-2026-01-01T00-00-one.json":  `{"sessionId":"one","projectHash":"h","messages":[]}`,
		".gemini/tmp/p/chats/session-2026-01-01T00-00-two.json":  `{"sessionId":"two","projectHash":"h","messages":[]}`,
		".gemini/tmp/p/chats/session-2026-01-01T00-00-two.jsonl": `{"sessionId":"two","projectHash":"h"}` + "\n" + `{"id":"1","type":"user","content":"a"}`,
	} {
		name = filepath.Join(home, filepath.FromSlash(name))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	none := func(string) string { return "" }
	absent := func(found ...string) string { // the agents with a folder of their own, but for these
		agents := []string{"pi"}
		for _, d := range sessionfmt.Dialects() {
			if len(d.Store.Folders) > 0 && !slices.Contains(agents, d.Name) {
				agents = append(agents, d.Name)
			}
		}
		return strings.Join(slices.DeleteFunc(agents, func(a string) bool { return slices.Contains(found, a) }), ", ")
	}
	st := Default(sessionfmt.Disk{}, none, home)
	chats := In(sessionfmt.Disk{}, filepath.Join(home, ".gemini"))
	for _, test := range []struct {
		st              Store
		id, want, fails string
	}{
		{st, "one", "session-2026-01-01T00-00-one.json", ""},
		{st, "two", "session-2026-01-01T00-00-two.jsonl", ""},
		{chats, "two", "session-2026-01-01T00-00-two.jsonl", ""},
		{st, "same", "", "same: 2 sessions have that id\nname one of same:1 (pi), same:2 (pi)"},
		{st, "same:2", ".omp/agent/sessions/1_same.jsonl", ""},
		{st, "none", "", "none: no such file, and no session's id begins with it\nsessions are looked up by id in " + strings.Join(st.Folders(), ", ") + "; there is no folder of " + absent("pi", "gemini") + "; --sessions-dir names another folder"},
		{chats, "none", "", "none: no such file, and no session's id begins with it\nsessions are looked up by id in " + chats.Folders()[0] + "; --sessions-dir names another folder"},
		{Default(sessionfmt.Disk{}, none, t.TempDir()), "none", "", "none: no such file, and no sessions to search for an id\nthere is no folder of " + absent() + "; --sessions-dir names another folder"},
	} {
		got, err := test.st.Locate(test.id)
		said := ""
		var e *sessionfmt.Error
		if errors.As(err, &e) {
			said = e.Error() + "\n" + e.Hint
		}
		if !strings.HasSuffix(filepath.ToSlash(got), test.want) || said != test.fails {
			t.Errorf("%s: %q, %s\nwant %s", test.id, got, said, test.fails)
		}
	}
	for about, st := range map[string]Store{"all": st, "chats": chats} {
		files, err := st.Files()
		if want := map[string]int{"all": 4, "chats": 2}[about]; err != nil || len(files) != want {
			t.Errorf("%s: %d files, %v; want %d", about, len(files), err, want)
		}
	}
}

// TestNewestReadable: a file that is no session, and a link that leads out of the folder, are never the newest
// session; a link has the time of its target.
func TestNewestReadable(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	write := func(name, text string, age time.Duration) {
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		at := time.Now().Add(-age)
		must.Do(os.Chtimes(name, at, at))
	}
	header := func(id string) string {
		return `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	}
	write(filepath.Join(dir, "a.jsonl"), header("a"), time.Hour)
	write(filepath.Join(dir, "b.jsonl"), header("b"), 2*time.Hour)
	write(filepath.Join(dir, "c.jsonl"), "not a session\n", 0)
	write(outside, header("o"), 0)
	for name, target := range map[string]string{"d.jsonl": outside, "e.jsonl": filepath.Join(dir, "b.jsonl")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	disk := sessionfmt.Disk{Within: []*os.Root{must.Get(os.OpenRoot(dir))}}
	for _, cwd := range []string{"", "/w"} {
		if name, err := In(disk, dir).Newest(cwd); err != nil || filepath.Base(name) != "a.jsonl" {
			t.Errorf("within the folder, cwd %q: %s, %v", cwd, name, err)
		}
	}
	if name, err := In(sessionfmt.Disk{}, dir).Newest(""); err != nil || filepath.Base(name) != "d.jsonl" {
		t.Errorf("%s, %v", name, err)
	}
}
