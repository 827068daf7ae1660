package activity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestTexts: the words of outputs and prompts, at the limits of each rule.
func TestTexts(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"(no output)\n\n  done \n", "done"}, {"one\n  Error: two\nthree failed", "Error: two"}, {"one\nNOT FOUND", "NOT FOUND"}, {"one\ntwo cannot", "two cannot"},
		{"one\n" + strings.Repeat("x", 1000) + "error", "one"}, {strings.Repeat("x", 995) + "error", strings.Repeat("x", 995) + "error"},
		{"a\n" + strings.Repeat("b\n", 128<<10) + "error", "a"},
	} {
		if got := ErrorLine(c[0]); got != c[1] {
			t.Errorf("%.20q: %.40q, want %.40q", c[0], got, c[1])
		}
	}
	for _, c := range []struct {
		failed bool
		text   string
		want   Outcome
	}{
		{false, "Command aborted", OK}, {true, "x", Error}, {true, " No result provided ", Unanswered}, {true, "> Skipped due to queued user message.", Skipped}, {true, "[Blocked] by", Blocked},
		{true, "Tool execution was blocked by", Blocked}, {true, "The user doesn't want to proceed with this tool use. The", Blocked}, {true, "out\nCommand aborted", Aborted},
		{true, "Operation aborted", Aborted}, {true, "Request was aborted\n", Aborted}, {true, "Command aborted\nx", Error}, {true, "not blocked", Error},
	} {
		if got := OutcomeOf(c.failed, c.text); got != c.want {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
	if got := fmt.Sprint(OK, Error, Blocked, Skipped, Aborted, Unanswered); got != "ok error blocked skipped aborted unanswered" {
		t.Error(got)
	}
	for _, c := range [][2]string{
		{"a\n\n b \n> quoted\n```\ncode\n```\nc", "a|b|c"}, {"<skill name=\"x\">\nin\n</skill>\nafter", "after"}, {"<file f>in</file>\nafter", "after"}, {"<file f>\nin </file>\nafter", "after"},
		{"<files>\nx", "<files>|x"}, {"```\nnever ends", ""}, {"<skill x>\n```\n</skill>\ny", "y"},
	} {
		if got := strings.Join(slices.Collect(Prose(c[0])), "|"); got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
	for _, c := range [][2]string{
		{"One. Two! Three? Four; five", "One.|Two!|Three?|Four;|five"}, {"v1.2 is out. ", "v1.2 is out."}, {"", ""}, {" ", ""}, {"a.b", "a.b"}, {"End.", "End."}, {"x. ", "x."}, {"é. ü", "é.|ü"},
	} {
		if got := strings.Join(slices.Collect(Sentences(c[0])), "|"); got != c[1] {
			t.Errorf("%q: %s, want %s", c[0], got, c[1])
		}
	}
	for range Prose("a\nb") {
		break
	}
	for range Sentences("a. b") {
		break
	}
}

func TestDemands(t *testing.T) {
	for _, c := range []struct {
		text string
		want Demand
	}{
		{"Never do it", Insists}, {"Never do.", Tells}, {"Never do it?", Tells}, {"Never " + strings.Repeat("x", 594), Insists}, {"Never " + strings.Repeat("x", 595), Tells},
		{"Go on with this", Tells}, {"Please go on with it", Wants}, {"You should go on", Wants}, {"You should not go on", Insists}, {"I never go there", Tells}, {"I only want the list", Insists},
		{"They can not go on", Tells}, {"You can not go on", Insists}, {"It has to be there", Insists}, {"We have to be there", Insists}, {"Don\u2019t touch the file", Insists}, {"the tool is not allowed", Insists},
		{"please, and never again", Insists}, {"Keep it as it stands", Wants}, {"make sure that it runs", Insists}, {"this is the last only", Insists},
	} {
		if got := DemandOf(c.text); got != c.want {
			t.Errorf("%.40q (%d bytes): %d, want %d", c.text, len(c.text), got, c.want)
		}
	}
	for _, c := range [][3]string{{"a/b:10-20,30", "a/b", "10-20,30"}, {"a:", "a", ""}, {":5", ":5", ""}, {"a:b", "a:b", ""}, {"a", "a", ""}, {"a:1:2", "a:1", "2"}} {
		if file, lines := File(c[0]); file != c[1] || lines != c[2] {
			t.Errorf("%s: %s, %s", c[0], file, lines)
		}
	}
}

func TestSkill(t *testing.T) {
	if code, out, ok := Exit(jsonl.Value(`{"exitCode":3}`), []byte("out"), false); code != 3 || string(out) != "out" || !ok {
		t.Errorf("%d %s %v", code, out, ok)
	}
	for _, c := range [][4]string{
		{`<skill name="x" a="b">` + "\n do \n</skill>\n rest ", " do ", "x", "rest"}, {"<skill >do</skill>", "do", "", ""}, {"<skill x", "", "", "<skill x"}, {"<skill x>do", "", "", "<skill x>do"}, {" <skill x>", "", "", " <skill x>"},
	} {
		if skill, name, rest := CutSkill([]byte(c[0])); string(skill) != c[1] || name != c[2] || string(rest) != c[3] {
			t.Errorf("%q: %q %q %q", c[0], skill, name, rest)
		}
	}
}

// TestDeeds: a call in words: the last path, else the last command, else the tool.
func TestDeeds(t *testing.T) {
	clean := func(path string) string { return strings.TrimPrefix(path, "/w/") }
	for _, c := range []struct{ tool, args, what, paths, done, failed string }{
		{"bash", `{"command":"cd x && go test ./..."}`, "go test", "", "go test", ""},
		{"bash", `{"command":"make all; go vet ./a"}`, "go vet", "", "make all,go vet", ""},
		{"read", `{"path":"/w/a.go"}`, "a.go", "a.go", "a.go", "a.go"}, {"read", `{"path":"/w/"}`, "read", "", "read", "read"}, {"odd", `{}`, "odd", "", "odd", "odd"},
	} {
		args := jsonl.Value(c.args)
		m := jsonl.Value(fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":"i","name":%q,"arguments":%s}]}`, c.tool, args)).Message()
		for call := range Calls(m) {
			d := call.Deed(clean)
			done := strings.Join(slices.Collect(d.Done), ",")
			if d.What != c.what || strings.Join(d.Paths, ",") != c.paths || done != c.done || c.failed != "" && d.Failed("no") != c.failed {
				t.Errorf("%s %s: what %q, paths %q, done %q, failed %q", c.tool, c.args, d.What, d.Paths, done, d.Failed("no"))
			}
			if path := call.Path(); (path == "") != (len(call.Paths) == 0) {
				t.Errorf("%s: path %q of %q", c.args, path, call.Paths)
			}
		}
	}
	for _, c := range [][4]string{{"read", `{"path":"a"}`, "path", ""}, {"bash", `{"command":"ls"}`, "command", ""}, {"grep", `{"pattern":"x"}`, "pattern", ""}, {"odd", `{}`, "", ""}} {
		if name, text := About(c[0], jsonl.Value(c[1])); name != c[2] || string(text) != c[3] {
			t.Errorf("%s %s: %q %s", c[0], c[1], name, text)
		}
	}
	for a, want := range map[Action]string{Other: "", Read: "read looks", Search: "search looks", Edit: "edit changes", Write: "write changes", Run: "run", Ask: "ask"} {
		got := a.String()
		if a.Looks() {
			got += " looks"
		}
		if a.Changes() {
			got += " changes"
		}
		if got != want {
			t.Errorf("%d: %s, want %s", a, got, want)
		}
	}
}
