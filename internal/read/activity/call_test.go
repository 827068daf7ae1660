package activity

import (
	"fmt"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestCalls: what calls do to which files, what describes them, and what they show of a file.
func TestCalls(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		action     Action
		paths      string
		subject    string
		part       string
	}{
		// pi
		{"read", `{"limit":3,"path":"a.go","offset":1}`, Read, "[a.go]", "a.go", " limit 3 offset 1"},
		{"read", `{"path":"a.go:3-5","limit":null}`, Read, "[a.go:3-5]", "a.go:3-5", "3-5"},
		{"edit", `{"path":"a.go","edits":[{"oldText":"x","newText":"y"}]}`, Edit, "[a.go]", "a.go", ""},
		{"write", `{"content":"x","path":"a.go"}`, Write, "[a.go]", "a.go", ""},
		{"bash", `{"timeout":3,"command":"ls"}`, Run, "[]", "ls", ""},
		{"grep", `{"path":"src","pattern":"x"}`, Search, "[src]", "x", ""},
		{"ls", `{"path":"src"}`, Search, "[src]", "src", ""},
		{"multi_grep", `{"patterns":["a","b"],"limit":2}`, Search, "[]", `["a","b"]`, ""},
		// Claude Code
		{"Read", `{"file_path":"a.go"}`, Read, "[a.go]", "a.go", ""},
		{"Edit", `{"replace_all":false,"file_path":"a.go","old_string":"x","new_string":"y"}`, Edit, "[a.go]", "a.go", ""},
		{"NotebookEdit", `{"notebook_path":"a.ipynb","new_source":"x"}`, Edit, "[a.ipynb]", "a.ipynb", ""},
		{"Bash", `{"command":"ls","description":"d"}`, Run, "[]", "ls", ""},
		{"AskUserQuestion", `{"questions":[]}`, Ask, "[]", "[]", ""},
		{"mcp__files__read_file", `{"path":"a.go"}`, Read, "[a.go]", "a.go", ""},
		// Codex
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Add File: b.go\n+z\n*** End Patch"}`, Edit, "[a.go b.go]", "a.go b.go", ""},
		{"exec_command", `{"cmd":"ls","workdir":"/w"}`, Run, "[]", "ls", ""},
		{"shell", `{"command":["bash","-lc","ls -l"]}`, Run, "[]", "ls -l", ""},
		{"local_shell", `{"type":"exec","command":["ls","-l"]}`, Run, "[]", "ls -l", ""},
		{"write_stdin", `{"session_id":1,"chars":"q"}`, Other, "[]", "1", ""},
		{"request_user_input", `{"questions":[]}`, Ask, "[]", "[]", ""},
		// Gemini CLI
		{"read_file", `{"absolute_path":"/a.go"}`, Read, "[/a.go]", "/a.go", ""},
		{"read_many_files", `{"paths":["a.go","b.go"]}`, Read, "[a.go b.go]", "[\"a.go\",\"b.go\"]", ""},
		{"replace", `{"file_path":"a.go","instruction":"i","old_string":"x","new_string":"y"}`, Edit, "[a.go]", "a.go", ""},
		{"search_file_content", `{"pattern":"x","dir_path":"src"}`, Search, "[src]", "x", ""},
		{"run_shell_command", `{"command":"ls","dir_path":"src"}`, Run, "[]", "ls", ""},
		// gsh, SWE-CLI and OpenDev
		{"view_file", `{"file_path":"a.go"}`, Read, "[a.go]", "a.go", ""},
		{"exec", `{"command":"ls"}`, Run, "[]", "ls", ""},
		{"edit_file", `{"file_path":"a.go","old_content":"x","new_content":"y"}`, Edit, "[a.go]", "a.go", ""},
		{"list_files", `{"path":".","pattern":"*.go"}`, Search, "[.]", "*.go", ""},
		{"run_command", `{"command":"ls","background":false}`, Run, "[]", "ls", ""},
		// y-agent, opencode and OpenClaw
		{"FileRead", `{"path":"a.go"}`, Read, "[a.go]", "a.go", ""},
		{"ShellExec", `{"command":"ls"}`, Run, "[]", "ls", ""},
		{"edit", `{"filePath":"a.go","oldString":"x","newString":"y"}`, Edit, "[a.go]", "a.go", ""},
		{"patch", `{"patchText":"*** Delete File: a.go"}`, Edit, "[a.go]", "a.go", ""},
		// Tools that are not known
		{"t", `{"cmd":"ls"}`, Run, "[]", "ls", ""},
		{"t", `{"path":"a.go"}`, Other, "[a.go]", "a.go", ""},
		{"t", `{"path":"a.go","content":"x"}`, Write, "[a.go]", "a.go", ""},
		{"t", `{"path":"a.go","content":"x","new_str":"y"}`, Edit, "[a.go]", "a.go", ""},
		{"t", `{"content":"x"}`, Other, "[]", "x", ""},
		{"t", `{"deep":{"a":1}}`, Other, "[]", `{"a":1}`, ""},
		{"t", `{"path":"","query":"q"}`, Other, "[]", "q", ""},
		{"t", `{"path":["",7]}`, Other, "[]", `["",7]`, ""},
		{"edit", `{"command":"insert","path":"a.go"}`, Edit, "[a.go]", "a.go", ""},
		{"t", `{}`, Other, "[]", "", ""},
		{"t", `[]`, Other, "[]", "", ""},
	} {
		got := New(c.tool, "1", jsonl.Value(c.args))
		_, part := got.Reads()
		if got.Action != c.action || fmt.Sprint(got.Paths) != c.paths || got.Subject() != c.subject || part != c.part {
			t.Errorf("%s%s: %q %q %q %q", c.tool, c.args, got.Action, got.Paths, got.Subject(), part)
		}
		if got.Runs() != (got.Command != "") {
			t.Errorf("%s%s: %q", c.tool, c.args, got.Command)
		}
	}
	for args, want := range map[string]string{
		`{"path":"a","edits":[{"oldText":"x","newText":"y"},{"old_str":"p"}]}`: "[{x y false} {p  false}]",
		`{"path":"a","old_content":"x","new_content":"y"}`:                     "[{x y false}]",
		`{"path":"a","content":"x"}`:                                           "[]",
	} {
		call := New("edit", "1", jsonl.Value(args))
		if got := fmt.Sprint(call.Replacements()); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}
