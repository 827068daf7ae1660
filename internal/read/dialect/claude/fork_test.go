package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestFork: a sub-agent that forks has the context of its parent as that was at a record, without the
// results that came later, and then its own; without its parent it has its own alone, and a finding.
func TestFork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "s1", "subagents", "agent-a1.jsonl")
	must.Do(os.MkdirAll(filepath.Dir(own), 0o700))
	parent := filepath.Join(dir, "s1.jsonl")
	result := `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"began"}]}`
	must.Do(os.WriteFile(parent, []byte(newer([3]string{"u1", "", said("hi")},
		[3]string{"a1", "u1", answered("m1", `{"type":"tool_use","id":"t1","name":"Agent","input":{}}`, "")},
		[3]string{"r1", "a1", result}, [3]string{"a2", "r1", answered("m2", `{"type":"text","text":"bye"}`, "")})), 0o600))
	head := `{"type":"fork-context-ref","agentId":"a1","parentSessionId":"s1","parentLastUuid":"a1","contextLength":2}` + "\n"
	must.Do(os.WriteFile(own, []byte(head+newer([3]string{"u8", "", `"isSidechain":true,` + said("your part")},
		[3]string{"a9", "u8", `"isSidechain":true,` + answered("m9", `{"type":"text","text":"done"}`, "")})), 0o600))
	context := func() string {
		s := must.Get(sessionfmt.Open(own, sessionfmt.Options{}))
		defer s.Close()
		var all []string
		for m, err := range must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))).Native() {
			must.Do(err)
			all = append(all, m.Get("role").Text()+" "+m.Get("content").ContentText())
		}
		codes := ""
		for _, f := range check.File(own, check.Options{}).Findings {
			codes += " " + f.Code
		}
		return strings.Join(all, "|") + codes
	}
	if got, want := context(), "user hi|assistant |user your part|assistant done"; got != want {
		t.Errorf("with its parent %q, want %q", got, want)
	}
	must.Do(os.Remove(parent))
	if got, want := context(), "user your part|assistant done incomplete"; got != want {
		t.Errorf("alone %q, want %q", got, want)
	}
}

// TestAbout: records about the session tell where it moved, what it began as a copy of, where it went on
// and by which id it is known elsewhere; the last one of a kind counts.
func TestAbout(t *testing.T) {
	t.Parallel()
	const began = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","cwd":"/old","message":{"role":"user","content":"Hi."}}`
	about := func(typ, of string) string { return `{"type":"` + typ + `","sessionId":"s1",` + of + `}` }
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{nil, "/old   "},
		{[]string{about("relocated", `"relocatedCwd":"/mid"`), about("relocated", `"relocatedCwd":"/new"`)}, "/new   "},
		{[]string{about("derived-from", `"v":1,"sessions":[{"id":"s0"}]`), about("continued-in", `"continuedInSessionId":"s2"`)}, "/old s0 s2 "},
		{[]string{about("bridge-session", `"bridgeSessionId":"b1"`), about("bridge-session", `"bridgeSessionId":"b2"`)}, "/old   b2"},
	} {
		text := strings.Join(append([]string{began}, test.lines...), "\n") + "\n"
		s := must.Get(sessionfmt.OpenReader("s1.jsonl", strings.NewReader(text), sessionfmt.Options{}))
		line := must.Get(s.HeaderLine())
		is := must.Get(outline.Headed(s))
		got := strings.Join([]string{is.CWD, line.Get("parentSession").Text(), is.Continued, is.Bridge}, " ")
		if got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
		s.Close()
	}
}
