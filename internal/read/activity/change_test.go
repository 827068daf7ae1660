package activity

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestChanges: what calls write, of the tools and shells of several agents.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"write", `{"path":"a","content":"x\n"}`, `a whole "x\n"`},
		{"Write", `{"file_path":"/w/a","content":"x"}`, `/w/a whole "x"`},
		{"Edit", `{"file_path":"a","old_string":"x","new_string":"y","replace_all":true}`, `a edits [{x y true}]`},
		{"multi_edit", `{"file_path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"p","new_string":""}]}`,
			`a edits [{x y false} {p  false}]`},
		{"NotebookEdit", `{"notebook_path":"a.ipynb","new_source":"x = 1\ny"}`, "loose a.ipynb edits [{ \"x = 1\\n\",\n\"y\",\n false}]"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ f\n x\n-y\n+z\n@@\n+w\n*** Add File: c\n+1\n+2\n*** Delete File: d\n*** End Patch"}`,
			"a to b edits [{x\ny\n x\nz\n false} { w\n false}]; c whole \"1\\n2\\n\"; d whole \"\""},
		{"apply_patch", `{"input":"no patch"}`, ""},
		{"read", `{"path":"a","content":"x"}`, ""},
		{"bash", `{"command":"cat > a <<'E'\n$x \\n\nE"}`, `loose a whole "$x \\n\n"`},
		{"bash", `{"command":"cd /w && cat <<E >> a\n\\$x\nE"}`, `loose /w: a adds "$x\n"`},
		{"bash", `{"command":"echo a b > c; printf 'x\\n' > d; echo e > /dev/null; echo f > $g; ls > h"}`,
			`loose c whole "a b\n"; loose d whole "x\n"`},
		{"bash", `{"command":"tee -a c <<E\nx\nE"}`, `loose c adds "x\n"`},
		{"bash", `{"command":"sed -i -e 's/x/y/' -e 's,a/b,c,g' f g"}`, "loose f edits [{x y true} {a/b c true}]; loose g edits [{x y true} {a/b c true}]"},
		{"bash", `{"command":"sed 's/x/y/' f; sed -i 's/x.*/y/' f; sed -i d f"}`, ""},
		{"bash", `{"command":"for i in 1 2; do echo $i > f; done"}`, ""},
		{"bash", `{"command":"echo 'unbalanced > f"}`, ""},
		{"exec_command", `{"cmd":"apply_patch <<'E'\n*** Begin Patch\n*** Add File: c\n+1\n*** End Patch\nE","workdir":"/w"}`, `/w: c whole "1\n"`},
	} {
		call := New(c.tool, "1", jsonl.Value(c.args))
		var got []string
		for _, ch := range call.Changes() {
			text := ch.Path
			if ch.Dir != "" {
				text = ch.Dir + ": " + text
			}
			if ch.To != "" {
				text += " to " + ch.To
			}
			if ch.Loose {
				text = "loose " + text
			}
			switch {
			case ch.Whole:
				text += fmt.Sprintf(" whole %q", ch.Text)
			case ch.Adds:
				text += fmt.Sprintf(" adds %q", ch.Text)
			default:
				text += fmt.Sprintf(" edits %v", ch.Edits)
			}
			got = append(got, text)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s%s:\n%q\nwant\n%q", c.tool, c.args, s, c.want)
		}
	}
}

// TestSucceeded: a call whose result reports a failure has written nothing.
func TestSucceeded(t *testing.T) {
	for result, want := range map[string]bool{
		`{"role":"toolResult","content":"Successfully wrote"}`:                                                                true,
		`{"role":"toolResult","isError":true,"content":"no such text"}`:                                                       false,
		`{"role":"toolResult","content":"Exit code: 1\nWall time: 0 seconds\nOutput:\napply_patch verification failed"}`:      false,
		`{"role":"toolResult","content":"Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files"}`: true,
		`{"role":"toolResult","content":"patch rejected by user"}`:                                                            false,
		`{"role":"toolResult","content":"x","details":{"exitCode":2}}`:                                                        false,
	} {
		m := jsonl.Value(result).Message()
		if c := (&Call{Action: Run}); c.Succeeded(m) != want {
			t.Errorf("%s: %t", result, !want)
		}
	}
}
