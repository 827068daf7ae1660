package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestActivity: whatever agent's tools a session uses, all commands know the same of its calls:
// two reads of a file, a change of it, and a command that failed.
func TestActivity(t *testing.T) {
	for _, agent := range []struct {
		name                  string
		read, change, command string // a tool and its arguments
	}{
		{"pi", `read {"path":"/w/parse.go"}`, `edit {"path":"/w/parse.go","edits":[]}`, `bash {"command":"go vet ./..."}`},
		{"claude-code", `Read {"file_path":"/w/parse.go"}`, `Edit {"replace_all":false,"file_path":"/w/parse.go","old_string":"a","new_string":"b"}`, `Bash {"command":"go vet ./..."}`},
		{"codex", `view_image {"path":"/w/parse.go"}`, `apply_patch {"input":"*** Begin Patch\n*** Update File: /w/parse.go\n"}`, `shell {"command":["bash","-lc","go vet ./..."]}`},
		{"gemini", `read_file {"absolute_path":"/w/parse.go"}`, `replace {"file_path":"/w/parse.go","old_string":"a","new_string":"b"}`, `run_shell_command {"command":"go vet ./..."}`},
		{"gsh", `view_file {"file_path":"/w/parse.go"}`, `edit_file {"file_path":"/w/parse.go"}`, `exec {"command":"go vet ./..."}`},
		{"swe-cli", `read_file {"file_path":"/w/parse.go"}`, `write_file {"file_path":"/w/parse.go","content":"b"}`, `run_command {"command":"go vet ./..."}`},
		{"y-agent", `FileRead {"path":"/w/parse.go"}`, `FileWrite {"path":"/w/parse.go","content":"b"}`, `ShellExec {"command":"go vet ./..."}`},
		{"opencode", `read {"filePath":"/w/parse.go"}`, `edit {"filePath":"/w/parse.go","oldString":"a","newString":"b"}`, `shell {"command":"go vet ./..."}`},
		{"a server", `mcp__files__read_file {"path":"/w/parse.go"}`, `mcp__files__edit_file {"path":"/w/parse.go","edits":[]}`, `mcp__os__exec {"cmd":"go vet ./..."}`},
	} {
		dir := t.TempDir()
		must.Do(os.WriteFile(filepath.Join(dir, "parse.go"), []byte("package parse\n"), 0o644))
		must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(activitySession(agent.read, agent.read, agent.change, agent.command)), 0o644))
		for line, wants := range map[string]string{
			"stats s.jsonl --lens context --json":              `"path":"parse.go","times":2`,
			"trace s.jsonl parse.go":                           "/w/parse.go: read 2 times, ",
			"notes s.jsonl":                                    "- `parse.go` (updated)|`go vet` failed",
			"log s.jsonl -f swe-cli":                           `"context_retrieval","actions":["|"files_modified": [` + "\n" + `      "/w/parse.go"|"command":"go vet ./..."`,
			"log s.jsonl":                                      "(/w/parse.go)|(go vet ./...)",
			"reduce s.jsonl --pass superseded":                 "read again later",
			"search s.jsonl --for parse.go":                    "edited parse.go|failed go vet ./...",
			"search vet s.jsonl --source shell_history":        "go vet ./...",
			"search undefined s.jsonl --event bash_exec":       "1 hit in 1 session",
			"render s.jsonl -f markdown -o -":                  "**Changed**: 1 file: `parse.go`|**Failed**: `go vet ./...`",
			"render s.jsonl -f markdown -o - --files parse.go": "Turn 0",
		} {
			r := testEnv(dir).ran(strings.Fields(line)...)
			for want := range strings.SplitSeq(wants, "|") {
				if !strings.Contains(r.stdout.String(), want) {
					t.Errorf("%s: %s: %s is not in\n%s%s", agent.name, line, want, &r.stdout, &r.stderr)
				}
			}
		}
	}
}

// activitySession returns a session with a prompt and calls, the last of which fails.
func activitySession(calls ...string) string {
	s := `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	parent := "null"
	add := func(message string) {
		id := strconv.Quote(fmt.Sprintf("e%07d", strings.Count(s, "\n")))
		s += fmt.Sprintf(`{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}`+"\n", id, parent, message)
		parent = id
	}
	add(`{"role":"user","content":"The build is broken. Find out why in parse.go and repair it."}`)
	for i, call := range calls {
		tool, args, _ := strings.Cut(call, " ")
		text, failed := strings.Repeat("package parse ", 30), i == len(calls)-1
		if failed {
			text = "vet: undefined: x\n\nCommand exited with code 1"
		}
		add(fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"c%d","name":%q,"arguments":%s}],"stopReason":"toolUse"}`, i, tool, args))
		add(fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":%q,"content":[{"type":"text","text":%q}],"isError":%v}`, i, tool, text, failed))
	}
	add(`{"role":"assistant","content":[{"type":"text","text":"It is broken."}],"stopReason":"stop"}`)
	return s
}
