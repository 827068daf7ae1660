package activity

import "testing"

// TestExit: where agents put the exit status of a command, and what is left of its output.
func TestExit(t *testing.T) {
	for _, test := range []struct {
		text   string
		failed bool
		code   int
		output string
		ok     bool
	}{
		{"no\n\nCommand exited with code 2\n", true, 2, "no", true},
		{"no\n\nCommand exited with code 2", false, 0, "", false},
		{"Command exited with code 2 of 3", true, 0, "", false},
		{"Exit code 128\nfatal: x", true, 128, "fatal: x", true},
		{"Error: Exit code 1", true, 1, "", true},
		{"Exit code 128\nfatal: x", false, 0, "", false},
		{"Exit code is\nCommand exited with code 3", true, 3, "Exit code is", true},
		{"Exit code: 1\nWall time: 1.2 seconds\nOutput:\nno", false, 1, "Exit code: 1\nWall time: 1.2 seconds\nOutput:\nno", true},
		{"Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 0\nOutput:\n", false, 0, "Chunk ID: a\nWall time: 0 seconds\nProcess exited with code 0\nOutput:\n", true},
		{"Chunk ID: a\nWall time: 0 seconds\nProcess running with session ID 1\nOutput:\nExit code: 7\n", false, 0, "", false},
		{"Exit code: 1\nOutput:\n", false, 0, "", false},
		{`{"output":"a","metadata":{"exit_code":3,"duration_seconds":0.1}}`, false, 3, `{"output":"a","metadata":{"exit_code":3,"duration_seconds":0.1}}`, true},
		{`see "metadata":{"exit_code":3,`, false, 0, "", false},
		{"", true, 0, "", false},
	} {
		code, output, ok := Exit(nil, []byte(test.text), test.failed)
		if ok != test.ok || ok && (code != test.code || string(output) != test.output) {
			t.Errorf("%q: %d, %q, %v", test.text, code, output, ok)
		}
	}
}

// TestOutcomeOf: why a call has an error.
func TestOutcomeOf(t *testing.T) {
	for text, want := range map[string]Outcome{
		"no such file": Error, "No result provided": Unanswered, "x\n\nCommand aborted": Aborted, "Blocked by a hook": Blocked,
		"The user doesn't want to proceed with this tool use. The tool use was rejected": Blocked,
	} {
		if got := OutcomeOf(true, text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
