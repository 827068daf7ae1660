package origin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/cachefile"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
)

// report returns the report of a file, without a cache and with one, which must not make a difference: the first
// time, and when it has all.
func (l *lab) report(name string) *Report {
	l.t.Helper()
	r, opt := must.Get(Open(l.repo, os.Environ())), l.options()
	f, err := r.OfFile(opt, filepath.Join(l.repo, name), 0, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	cache := filepath.Join(l.dir, "cache")
	for _, state := range []string{"empty", "full"} {
		opt.Cache = cachefile.Open(sessionfmt.Disk{}, cache, CacheVersion)
		cached := must.Get(r.OfFile(opt, filepath.Join(l.repo, name), 0, 0))
		if want, got := must.Get(json.Marshal(f)), must.Get(json.Marshal(cached)); !bytes.Equal(want, got) {
			l.t.Errorf("%s, %s cache:\n%s\nwant\n%s", name, state, got, want)
		}
		must.Do(opt.Cache.Save())
	}
	return f
}

// codex adds a session of Codex that adds a file by a patch.
func (l *lab) codex(session, cwd, git, file, text string) {
	add := func(typ string, payload map[string]any) {
		stamp := l.now().Format("2006-01-02T15:04:05.000Z")
		l.line(session, map[string]any{"timestamp": stamp, "type": typ, "payload": payload})
	}
	head := map[string]any{"id": session, "cwd": cwd, "timestamp": l.now().Format("2006-01-02T15:04:05.000Z")}
	if git != "" {
		head["git"] = json.RawMessage(git)
	}
	add("session_meta", head)
	add("turn_context", map[string]any{"model": "gpt-5.5"})
	patch := "*** Begin Patch\n*** Add File: " + cwd + "/" + file + "\n"
	for line := range strings.Lines(text) {
		patch += "+" + line
	}
	add("response_item", map[string]any{"type": "custom_tool_call", "call_id": "c" + session, "name": "apply_patch",
		"input": patch + "*** End Patch\n"})
	add("response_item", map[string]any{"type": "custom_tool_call_output", "call_id": "c" + session,
		"output": `{"output":"Success. Updated the following files:\nA price.go\n","metadata":{"exit_code":0}}`})
}

// TestFoldersGone: of sessions whose folder is gone, those of the repository are told apart.
func TestFoldersGone(t *testing.T) {
	t.Parallel()
	const ours, others = "https://example.org/mara/shop.git", "https://example.org/tom/shop.git"
	for name, c := range map[string]struct {
		cwd, remote string
		known       bool // the commit
		want        string
	}{
		"moved":                             {"/gone/shop", "", false, "exact one"},
		"a working tree beside it":          {"/gone/shop-fix", "", false, "exact one"},
		"a working tree with a long name":   {"/gone/shop/.worktrees/mara/fix/all", "", false, "exact one"},
		"one of this checkout":              {"HERE/.worktrees/mara/fix", "", false, "exact one"},
		"another name":                      {"/gone/mill", "", false, ""},
		"the remote":                        {"/gone/mill", "git@example.org:mara/shop.git", false, "exact one"},
		"the name of another's":             {"/gone/shop", others, false, ""},
		"a fork, or a remote that moved":    {"/gone/shop", others, true, "exact one"},
		"a fork in a folder with any name":  {"/gone/mill", others, true, "exact one"},
		"in a folder of it, by the remote":  {"/gone/shop/cmd", ours, false, ""}, // it wrote cmd/price.go
		"the name, and no folder":           {"", "", false, ""},
		"a folder whose name begins so too": {"/gone/shopping", "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			l.git("remote", "add", "origin", ours)
			l.file("price.go", shop)
			l.file("README", "a shop\n")
			l.file("cmd/main.go", "package main\n")
			l.commit("begin")
			l.git("rm", "-q", "--cached", "price.go")
			l.git("commit", "-q", "--amend", "--no-edit")
			commit := strings.Repeat("0", 40)
			if c.known {
				commit = l.git("rev-parse", "HEAD")
			}
			git := ""
			if c.remote != "" {
				git = fmt.Sprintf(`{"commit_hash":%q,"branch":"main","repository_url":%q}`, commit, c.remote)
			}
			l.codex("one", strings.Replace(c.cwd, "HERE", l.repo, 1), git, "price.go", shop)
			l.writes("two", "README", "a shop\n") // of the repository, whatever the other is
			l.commit("add a price")
			want := shopLines("unknown -", nil)
			if c.want != "" {
				want = shopLines(c.want, nil)
			}
			l.expect("price.go", want...)
		})
	}
}

// TestUnread: a session that cannot be read is listed; what is none is not.
func TestUnread(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	must.Do(os.WriteFile(filepath.Join(l.dir, "store", "torn.jsonl.zst"), []byte("\x28\xb5\x2f\xfd\x04torn"), 0o644))
	must.Do(os.WriteFile(filepath.Join(l.dir, "store", "other.jsonl"), []byte(`{"price":1}`+"\n"), 0o644))
	f := l.report("price.go")
	if len(f.Unread) != 1 || filepath.Base(f.Unread[0].File) != "torn.jsonl.zst" ||
		!strings.Contains(f.Unread[0].Error, "zstd") {
		t.Errorf("%+v", f.Unread)
	}
	must.Do(os.Remove(filepath.Join(l.dir, "store", "one.jsonl")))
	_, err := must.Get(Open(l.repo, os.Environ())).OfFile(l.options(), filepath.Join(l.repo, "price.go"), 0, 0)
	if err == nil || !strings.Contains(err.Error(), "none of 2 sessions is of this repository; 1 cannot be read") {
		t.Error(err)
	}
}

// TestCache: what the cache has of a session that goes on is not used, and other files are found with it.
func TestCache(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	l.report("price.go")
	l.writes("one", "late.go", strings.Replace(shop, "Price", "Late", 2))
	l.writes("two", "Makefile", "price: shop\n\tgo build -o price ./shop\n")
	l.commit("more")
	for name, want := range map[string]string{"late.go": "one", "Makefile": "two", "price.go": "one"} {
		f := l.report(name)
		if f.Counts.Unknown > 0 || f.Sessions[0].ID != want {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestChangedBy: another session that wrote to the file may have changed a line, too.
func TestChangedBy(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	l.file("price.go", strings.Replace(shop, "in pence", "in euro cents", 1))
	l.commit("other money")
	if f := l.report("price.go"); f.Lines[2].Changed != "Mara" {
		t.Errorf("%+v", f.Lines[2])
	}
	l.file("price.go", strings.Replace(shop, "in pence", "in francs", 1))
	l.edits("two", "price.go", "total := 0", "total := 1")
	if f := l.report("price.go"); f.Lines[2].Changed != "not committed, session two" || f.Lines[4].Certainty != Exact {
		t.Errorf("%+v", f.Lines[2:5])
	}
}

// TestMentions: the names that a file mentions are found as JSON spells them, wherever a read ends.
func TestMentions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"path":"/a/b/main.go"}`:                          "main.go",
		`{"path":"main.go"}`:                               "main.go",
		`{"command":"cat >lru_test.go <<EOF\nx"}`:          "lru_test.go",
		`{"command":"cat \u003elru.go"}`:                   "lru.go",
		`{"command":"cd a\nsed -i s/a/b/ x.d.ts;"}`:        "x.d.ts",
		`{"command":"tee\nx.py"}`:                          "x.py",
		`{"command":"tee\tnotes.md"}`:                      "notes.md",
		`{"input":"*** Update File: a/b.rs\n@@"}`:          "b.rs",
		`{"arguments":"{\"path\":\"C:\\\\a\\\\b.cs\"}"}`:   "b.cs",
		`{"arguments":"{\"command\":\"tee\\nbash.sh\"}"}`:  "bash.sh",
		`{"text":"It is in main.go. Then"}`:                "main.go",
		`{"path":".github/workflows/ci.yml"}`:              "ci.yml",
		`{"path":"` + strings.Repeat("a", 100) + `.json"}`: strings.Repeat("a", 100) + ".json",
	} {
		for _, before := range []int{0, 100, 511, 1000, 1010, 1020, 1024, 1100} {
			name := filepath.Join(t.TempDir(), "a.jsonl")
			must.Do(os.WriteFile(name, []byte(strings.Repeat(" ", before)+text), 0o644))
			all, ok := mentions(sessionfmt.Disk{}, name, make([]byte, 1024))
			d := digest{Known: mentioned, names: all}
			if !ok || !d.mayHave(map[string]string{"a/" + want: ""}) || d.mayHave(map[string]string{"a/x" + want: ""}) {
				t.Errorf("%d spaces before %s: %v", before, text, ok)
			}
		}
	}
}

// TestMentionsAll: whatever a call of a real session writes to is mentioned in its file.
func TestMentionsAll(t *testing.T) {
	t.Parallel()
	written := 0
	hold := func(s *sessionfmt.Session) {
		all, ok := mentions(sessionfmt.Disk{}, s.Name, make([]byte, 4096))
		if !ok {
			return
		}
		d, lines := digest{Known: mentioned, names: all}, s.NewReader()
		for i := range s.Len() {
			line, err := lines.Line(i)
			if err != nil {
				continue
			}
			for c := range activity.Calls(line.Get("message").Message()) {
				for _, ch := range c.Changes() {
					written++
					if name := path.Base(slashed(ch.Path)); !d.mayHave(map[string]string{name: ""}) {
						t.Errorf("%s: no mention of %s", s.Name, name)
					}
				}
			}
		}
	}
	for _, name := range testenv.Shared(t, "corpus/*.jsonl", "vectors/*/*.jsonl") {
		if s, err := sessionfmt.Open(name, sessionfmt.Options{}); err == nil {
			hold(s)
			s.Close()
		}
	}
	t.Logf("%d writes", written)
}
