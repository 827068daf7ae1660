package origin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestInert: nothing that a repository configures is run, and nothing in it is changed.
func TestInert(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.writes("one", "price.go", shop)
	l.file(".gitattributes", "*.go filter=bad diff=bad text\n")
	l.commit("add a price")
	l.edits("one", "price.go", "in pence", "in euro cents")
	ran := filepath.Join(l.dir, "ran")
	program := filepath.Join(l.dir, "program.sh")
	must.Do(os.WriteFile(program, []byte("#!/bin/sh\ntouch "+ran+"\ncat\n"), 0o755))
	for _, hook := range []string{"post-index-change", "post-checkout", "reference-transaction"} {
		must.Do(os.WriteFile(filepath.Join(l.repo, ".git/hooks", hook), []byte("#!/bin/sh\ntouch "+ran+"\n"), 0o755))
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "pager.blame", "pager.log", "diff.external", "diff.bad.command",
		"diff.bad.textconv", "filter.bad.clean", "filter.bad.smudge", "filter.bad.process", "gpg.program", "core.sshCommand",
		"credential.helper", "core.editor", "core.alternateRefsCommand", "core.askPass"} {
		l.git("config", key, program)
	}
	l.git("config", "log.showSignature", "true")
	l.git("config", "blame.ignoreRevsFile", "missing")
	os.Remove(ran)
	before := listed(t, l.repo)
	l.expect("price.go", shopLines("exact one", map[int]string{3: "exact one // Price returns what a basket costs, in euro cents."})...)
	r := must.Get(Open(l.repo, append(os.Environ(), "GIT_EXTERNAL_DIFF="+program, "GIT_PAGER="+program)))
	must.Get(r.OfCommit(l.options(), "HEAD"))
	must.Get(r.OfSession(l.options(), filepath.Join(l.dir, "store/one.jsonl")))
	if _, err := os.Stat(ran); err == nil {
		t.Error("git ran a program of the repository")
	}
	if after := listed(t, l.repo); after != before {
		t.Errorf("the repository has changed: %s", after)
	}
}

// listed lists the files of a folder with their sizes and times.
func listed(t *testing.T, dir string) string {
	var b strings.Builder
	must.Do(filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		return err
	}))
	return b.String()
}

// TestBadInput: what has no lines with commits is an error with a hint.
func TestBadInput(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	open := func(dir string) error { _, err := Open(dir, os.Environ()); return err }
	of := func(name string, first, last int) error {
		_, err := must.Get(Open(l.repo, os.Environ())).OfFile(l.options(), filepath.Join(l.repo, name), first, last)
		return err
	}
	errs := map[string]error{"no commit yet": open(l.repo), "not in a git checkout": open(l.dir)}
	l.file("price.go", shop)
	l.file("image", "\x00\x01")
	l.file(".gitignore", "ignored\n")
	l.commit("add a price")
	l.file("ignored", "a\n")
	l.file("untracked", "a\n")
	errs["none of 0 sessions is of this repository"] = of("price.go", 0, 0)
	l.writes("one", "other.go", shop)
	errs["a binary file has no lines"] = of("image", 0, 0)
	errs["git ignores this file"] = of("ignored", 0, 0)
	errs["git does not track this file"] = of("untracked", 0, 0)
	errs["no such file"] = of("nowhere", 0, 0)
	errs["not a file"] = of(".", 0, 0)
	errs["line 12: the file has 10 lines"] = of("price.go", 11, 12)
	errs["not in the checkout"] = of("../store/one.jsonl", 0, 0)
	_, errs["no such file, commit or session"] = must.Get(Open(l.repo, os.Environ())).OfCommit(l.options(), "nowhere")
	l.gitIn(l.dir, "clone", "-q", "--bare", l.repo, "bare")
	errs["a bare repository has no files"] = open(filepath.Join(l.dir, "bare"))
	l.commit("more")
	l.gitIn(l.dir, "clone", "-q", "--depth", "1", "file://"+l.repo, "shallow")
	errs["a shallow clone lacks commits"] = open(filepath.Join(l.dir, "shallow"))
	for want, err := range errs {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if e := new(sessionfmt.Error); want != "line 12: the file has 10 lines" && (!errors.As(err, &e) || e.Hint == "") {
			t.Errorf("%v has no hint", err)
		}
	}
	t.Run("without git", func(t *testing.T) {
		if err := func() error { _, err := openWith("git-that-is-missing", l.repo, nil); return err }(); err == nil ||
			!strings.Contains(err.Error(), "git is needed") {
			t.Error(err)
		}
	})
}

// TestSums: a commit, a merge and a session.
func TestSums(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.file("README", "a shop\n")
	l.commit("begin")
	l.git("switch", "-q", "-c", "side")
	l.asked("one", "add a price")
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	l.edits("two", "price.go", "in pence", "in euro cents")
	l.edits("two", "README", "a shop", "a large shop, with prices")
	l.commit("other money")
	l.git("switch", "-q", "main")
	l.git("merge", "-q", "--no-ff", "--no-edit", "side")
	r := must.Get(Open(l.repo, os.Environ()))
	for revision, want := range map[string]string{
		"HEAD":   "3 commits, {11 0 0 0 0}: README {1 0 0 0 0}, price.go {10 0 0 0 0}, one {9 0 0 0 0}, two {2 0 0 0 0}",
		"HEAD^2": "1 commits, {2 0 0 0 0}: README {1 0 0 0 0}, price.go {1 0 0 0 0}, two {2 0 0 0 0}",
		"side~2": "1 commits, {0 0 0 1 0}: README {0 0 0 1 0}",
	} {
		c := must.Get(r.OfCommit(l.options(), revision))
		got := fmt.Sprintf("%d commits, %v:", len(c.Commits), c.Counts)
		for _, f := range c.Files {
			got += fmt.Sprintf(" %s %v,", f.File, f.Counts)
		}
		for _, s := range c.Sessions {
			got += fmt.Sprintf(" %s %v,", s.ID, s.Counts)
		}
		if got = strings.TrimSuffix(got, ","); got != want {
			t.Errorf("%s: %s\nwant %s", revision, got, want)
		}
	}
	l.git("mv", "price.go", "cost.go")
	l.file("cost.go", strings.Replace(strings.Replace(shop, "in pence", "in francs", 1), "\ttotal := 0\n", "", 1))
	l.commit("rename")
	l.git("rm", "-q", "README")
	l.commit("no README")
	r = must.Get(Open(l.repo, os.Environ()))
	for name, want := range map[string]string{
		"one": "{8 0 0 0 2}: cost.go {8 0 0 0 2}",
		"two": "{0 1 0 0 1}: README {0 0 0 0 1} cost.go {0 1 0 0 0}",
	} {
		s := must.Get(r.OfSession(l.options(), filepath.Join(l.dir, "store", name+".jsonl")))
		got := fmt.Sprintf("%v:", s.Counts)
		for _, f := range s.Files {
			got += fmt.Sprintf(" %s %v", f.File, f.Counts)
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
}

// TestNotes: what git-ai and Entire noted stands beside the lines, and where they name another session.
func TestNotes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.file("README", "a shop\n")
	l.commit("begin")
	l.git("switch", "-q", "--orphan", "entire/checkpoints/v1")
	l.file("ab/cdef012345/0/metadata.json", `{"session_id":"one"}`)
	l.commit("a checkpoint")
	l.git("rm", "-q", "-r", "ab")
	l.file("0/metadata.json", `{"session_id":"two"}`)
	l.commit("a checkpoint with a ref of its own")
	l.git("update-ref", "refs/entire/checkpoints/2Y/01KX37KN6NXDTV10FKNCBPTP2Y", "HEAD")
	l.git("update-ref", "refs/remotes/upstream/entire/checkpoints/v1", "HEAD~1")
	l.git("switch", "-q", "main")
	l.git("branch", "-q", "-D", "entire/checkpoints/v1")
	l.writes("one", "price.go", shop)
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "add a price\n\nEntire-Checkpoint: abcdef012345")
	l.git("notes", "--ref=ai", "add", "-m", "price.go\n  k1 1-3,5\n  k2 4\nother.go\n  k2 6-9\n---\n"+
		`{"schema_version":"authorship/3.0.0","prompts":{"k1":{"agent_id":{"tool":"pi","id":"one"}},"k2":{"agent_id":{"id":"two"}}}}`)
	l.writes("one", "item.go", "package shop\n\ntype Item struct{ Pence, Count int }\n")
	l.git("add", "-A")
	l.git("commit", "-q", "-m", "add items\n\nEntire-Checkpoint: 01KX37KN6NXDTV10FKNCBPTP2Y")
	if n := fmt.Sprint(l.report("item.go").Lines[2].Notes); n != "[{Entire two names another session}]" {
		t.Error(n)
	}
	f := must.Get(must.Get(Open(l.repo, os.Environ())).OfFile(l.options(), filepath.Join(l.repo, "price.go"), 3, 6))
	for i, want := range []string{"{git-ai one agrees}", "{git-ai two names another session}", "{git-ai one agrees}",
		"{git-ai  names no session}"} {
		if got := fmt.Sprint(f.Lines[i].Notes); got != "["+want+" {Entire one agrees}]" {
			t.Errorf("line %d: %s, want %s", f.Lines[i].Number, got, want)
		}
	}
}

// TestSubAgents: what a sub-agent wrote belongs to its session.
func TestSubAgents(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	dir := filepath.Join(l.dir, "store", "s1")
	must.Do(os.MkdirAll(filepath.Join(dir, "subagents"), 0o755))
	head := func(uuid, parent, more string) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s1","cwd":%q,"version":"2.1.39","timestamp":%q,%s}`+"\n", uuid, parent,
			l.repo, l.now().Format("2006-01-02T15:04:05.000Z"), more)
	}
	answer := func(id, tool, input string) string {
		return fmt.Sprintf(`"type":"assistant","requestId":"r%s","message":{"id":"m%s","type":"message","role":"assistant","model":"claude-sonnet-4-5","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t%s","name":%q,"input":%s}],"usage":{"input_tokens":10,"output_tokens":1}}`,
			id, id, id, tool, input)
	}
	must.Do(os.WriteFile(dir+".jsonl", []byte(head("u1", "null", `"type":"user","message":{"role":"user","content":"add a price"}`)+
		head("u2", "u1", answer("1", "Task", `{"prompt":"write it"}`))), 0o644))
	side := `"isSidechain":true,"agentId":"a1",`
	must.Do(os.WriteFile(filepath.Join(dir, "subagents/agent-a1.jsonl"), []byte(
		head("v1", "null", side+`"type":"user","message":{"role":"user","content":"write it"}`)+
			head("v2", "v1", side+answer("2", "Write", fmt.Sprintf(`{"file_path":%q,"content":%q}`, l.repo+"/price.go", shop)))+
			head("v3", "v2", side+`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]}`)), 0o644))
	l.file("price.go", shop)
	l.commit("add a price")
	l.expect("price.go", shopLines("exact s1", nil)...)
	f := must.Get(must.Get(Open(l.repo, os.Environ())).OfFile(l.options(), filepath.Join(l.repo, "price.go"), 1, 1))
	if c := f.Calls[0]; c.Agent == "" || filepath.Base(c.File) != "agent-a1.jsonl" || f.Sessions[0].File != dir+".jsonl" ||
		c.Prompt != "add a price" {
		t.Errorf("%+v\n%+v", c, f.Sessions[0])
	}
	s := must.Get(must.Get(Open(l.repo, os.Environ())).OfSession(l.options(), dir+".jsonl"))
	if s.Counts != (Counts{Exact: 10}) || s.Sessions[0].Calls != 1 {
		t.Errorf("%+v", s)
	}
}
