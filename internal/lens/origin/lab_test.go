package origin

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/read/store"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
)

// A lab is a repository and a store of sessions, which a test makes step by step. Each step takes a minute.
type lab struct {
	t         *testing.T
	dir, repo string
	minute    int
	calls     int
	last      map[string]string // the last entry of each session
}

var began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// newLab returns a repository without commits.
func newLab(t *testing.T) *lab {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		testenv.LeftOut(t, "no git(1)")
		t.SkipNow()
	}
	l := &lab{t: t, dir: t.TempDir(), last: map[string]string{}}
	l.dir = must.Get(filepath.EvalSymlinks(l.dir))
	l.repo = filepath.Join(l.dir, "shop")
	must.Do(os.MkdirAll(filepath.Join(l.dir, "store"), 0o755))
	must.Do(os.MkdirAll(l.repo, 0o755))
	l.git("init", "-q", "-b", "main")
	l.git("config", "user.name", "Mara")
	l.git("config", "user.email", "mara@example.org")
	return l
}

func (l *lab) now() time.Time { l.minute++; return began.Add(time.Duration(l.minute) * time.Minute) }

// git runs git in the repository, with the time of the lab.
func (l *lab) git(args ...string) string { return l.gitIn(l.repo, args...) }

func (l *lab) gitIn(dir string, args ...string) string {
	l.t.Helper()
	cmd := exec.Command("git", args...)
	at := l.now().Format(time.RFC3339)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at, "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// file writes a file of the repository, as a person does.
func (l *lab) file(name, text string) {
	name = filepath.Join(l.repo, name)
	must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(os.WriteFile(name, []byte(text), 0o644))
}

// commit commits all files.
func (l *lab) commit(subject string) {
	l.t.Helper()
	l.git("add", "-A")
	l.git("commit", "-q", "-m", subject)
}

// line appends a line to a session of the store.
func (l *lab) line(session string, v map[string]any) {
	f := must.Get(os.OpenFile(filepath.Join(l.dir, "store", session+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644))
	defer f.Close()
	must.Get(f.Write(append(must.Get(json.Marshal(v)), '\n')))
}

// entry appends an entry of a session of pi, which it begins if there is none.
func (l *lab) entry(session string, message map[string]any) {
	stamp := l.now().Format("2006-01-02T15:04:05.000Z")
	if l.last[session] == "" {
		l.line(session, map[string]any{"type": "session", "version": 3, "id": session, "timestamp": stamp, "cwd": l.cwd(session)})
	}
	l.calls++
	id := fmt.Sprintf("e%07d", l.calls)
	v := map[string]any{"type": "message", "id": id, "parentId": nil, "timestamp": stamp, "message": message}
	if l.last[session] != "" {
		v["parentId"] = l.last[session]
	}
	l.last[session] = id
	l.line(session, v)
}

// cwd is where a session runs: in the repository, or with a name like "tree@s" in the folder tree beside it.
func (l *lab) cwd(session string) string {
	if tree, _, ok := strings.Cut(session, "@"); ok {
		return filepath.Join(l.dir, tree)
	}
	return l.repo
}

// asked appends a prompt to a session of pi.
func (l *lab) asked(session, text string) {
	l.entry(session, map[string]any{"role": "user", "content": text})
}

// called appends a call of a tool with its result.
func (l *lab) called(session, tool string, args map[string]any, failed bool, result string) {
	id := fmt.Sprintf("call%d", l.calls)
	l.entry(session, map[string]any{"role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5",
		"stopReason": "toolUse", "content": []any{map[string]any{"type": "toolCall", "id": id, "name": tool, "arguments": args}},
		"usage": map[string]any{"input": 100, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 110,
			"cost": map[string]any{"input": 0.25, "output": 0.25, "cacheRead": 0, "cacheWrite": 0, "total": 0.5}}})
	l.entry(session, map[string]any{"role": "toolResult", "toolCallId": id, "toolName": tool, "isError": failed,
		"content": []any{map[string]any{"type": "text", "text": result}}})
}

// writes is a call of pi's write tool that succeeds, and edits one of its edit tool.
func (l *lab) writes(session, name, text string) {
	l.called(session, "write", map[string]any{"path": name, "content": text}, false, "Successfully wrote")
	must.Do(os.WriteFile(filepath.Join(l.cwd(session), name), []byte(text), 0o644))
}

func (l *lab) edits(session, name, old, new string) {
	l.called(session, "edit", map[string]any{"path": name, "oldText": old, "newText": new}, false, "Successfully replaced")
	file := filepath.Join(l.cwd(session), name)
	text := string(must.Get(os.ReadFile(file)))
	if !strings.Contains(text, old) {
		l.t.Fatalf("%s: no %q", name, old)
	}
	must.Do(os.WriteFile(file, []byte(strings.Replace(text, old, new, 1)), 0o644))
}

// options are those of the store.
func (l *lab) options() Options {
	files := must.Get(store.In(sessionfmt.Disk{}, filepath.Join(l.dir, "store")).Parts())
	return Options{Files: files}
}

// origins returns the origin of each line of a file as `certainty session text`.
func (l *lab) origins(name string) string {
	l.t.Helper()
	f := l.report(name)
	var b strings.Builder
	for _, line := range f.Lines {
		by := "-"
		if line.Call != nil {
			by = f.Sessions[f.Calls[*line.Call].Session].ID
		}
		fmt.Fprintf(&b, "%s %s %s\n", line.Certainty, by, strings.TrimSuffix(line.Text, "\r"))
	}
	return b.String()
}

// expect compares the origins of a file.
func (l *lab) expect(name string, want ...string) {
	l.t.Helper()
	if got := l.origins(name); got != strings.Join(want, "\n")+"\n" {
		l.t.Errorf("%s:\n%swant\n%s", name, got, strings.Join(want, "\n"))
	}
}
