package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/base/work"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
)

// workLines are command lines whose work is held.
var workLines = []string{
	"ls", "status", "replay", "replay -f llm", "replay -f json", "log", "log -f jsonl", "log --tree", "show leaf",
	"stats", "stats --lens cost", "stats --lens session,context,growth,cost,compactions,bytes,cache,check,calibration", "cache", "simulate", "lost", "notes",
	"trace -e .", "diff root leaf", "search -e .", "search -e . --in-context", "render", "render -f html -o -", "prune", "check", "redact -o -",
}

// TestWork: how many steps of walks, line reads and decodes of messages each command takes for a
// session of each agent, beyond indexing. One walk is as many steps as the session has entries.
func TestWork(t *testing.T) {
	root := corpus.Root(t)
	files := []string{"testdata/sessions/demo.jsonl"}
	for _, pattern := range []string{"testdata/dialects/*.json*", "testdata/dialects/gemini/chats/*", "testdata/agents/claude/*.jsonl", "testdata/agents/codex/*.jsonl"} {
		found, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, name := range found {
			rel, _ := filepath.Rel(root, name)
			files = append(files, rel)
		}
	}
	t.Chdir(root)
	t.Setenv("GOMAXPROCS", "1")
	var out strings.Builder
	fmt.Fprintf(&out, "%-88s %7s %7s %7s\n", "", "steps", "lines", "decodes")
	for _, file := range files {
		fmt.Fprintf(&out, "%s\n", file)
		for _, line := range workLines {
			words := strings.Fields(line)
			args := append([]string{words[0]}, append([]string{file}, words[1:]...)...)
			work.Now = &work.Count{}
			ranIn("", args...)
			n := work.Now
			work.Now = nil
			fmt.Fprintf(&out, "  %-86s %7d %7d %7d\n", line, n.Steps.Load(), n.Lines.Load(), n.Decodes.Load())
		}
	}
	golden.Equal(t, filepath.Join(root, "cmd/ctxtool/testdata/work.txt"), []byte(out.String()))
}
