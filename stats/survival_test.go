package stats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// facts are those of the messages of a session in the making.
func facts(l *lines) *stats.Facts {
	f := &stats.Facts{}
	for _, line := range l.text[1:] {
		msg := jsonl.Value(line).Get("message")
		f.Take(msg.Get("role").RoleKind(), msg)
	}
	return f
}

func bash(command string) *lines {
	return newLines().answer("a", call("c", "bash", `{"command":`+quote(command)+`}`), "")
}

// TestCommandsOfFacts: of a command line, what one would speak of.
func TestCommandsOfFacts(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":                        "go test",
		"cd /w && go build -o x . && ls":       "go build",
		"npm run check 2>&1 | tail -20":        "npm run check",
		"FOO=1 sudo make install":              "make install",
		"timeout 60 npx vitest --run":          "vitest",
		"git commit -m 'a; b && c'":            "git commit",
		"git add -A && git push origin main":   "git add|git push origin",
		"cat > x <<'EOF'\nnpm install\nEOF":    "",
		"python3 - <<E\nimport os\nE":          "python3",
		"./scripts/release.sh --dry-run":       "./scripts/release.sh",
		"ls -la; cat x | grep y; rm z":         "",
		"find . -name '*.go' -exec cat {} \\;": "",
		"# go test\ngo vet":                    "go vet",
		"CI=1 npx; env":                        "",
		"":                                     "",
		"'":                                    "",
	} {
		if got := strings.Join(facts(bash(command)).Commands, "|"); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

// TestConstraintsOfFacts: which sentences of a user state constraints.
func TestConstraintsOfFacts(t *testing.T) {
	for text, want := range map[string]string{
		"Fix it. You must not touch the API.":               "You must not touch the API.",
		"Never push to main! Then go on.":                   "Never push to main!",
		"- always run the linter\n- nice weather":           "always run the linter",
		"please don't add dependencies; thanks":             "please don't add dependencies;",
		"Please don’t rename it":                            "Please don’t rename it",
		"I prefer tabs, only in Go files":                   "I prefer tabs, only in Go files",
		"use the v2 client instead of the old one":          "use the v2 client instead of the old one",
		"I only want unit tests here":                       "I only want unit tests here",
		"i don't understand this":                           "",
		"it never fails here":                               "",
		"must we do that?":                                  "",
		"mustard is fine, oneself too":                      "",
		"never":                                             "",
		"```\nyou must never\n```\nrun it":                  "",
		"> you must never do that\nrun it":                  "",
		"<skill name=\"x\">\nalways do y\n</skill>\nrun it": "",
		strings.Repeat("you must see this ", 40):            "",
	} {
		if got := strings.Join(facts(newLines().user("u", text)).Constraints, "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	f := &stats.Facts{}
	f.Take(jsonl.Custom, jsonl.Value(`{"role":"user","content":"you must obey the extension"}`))
	if len(f.Constraints) > 0 {
		t.Errorf("not the user's words: %q", f.Constraints)
	}
}

// TestErrorsOfFacts: a failure counts until the same went well.
func TestErrorsOfFacts(t *testing.T) {
	try := func(l *lines, id, name, args, text, fields string) *lines {
		return l.answer("a"+id, call(id, name, args), "").result("r"+id, id, text, fields)
	}
	test, file := `{"command":"go test ./a"}`, `{"path":"./a.go"}`
	for name, c := range map[string]struct {
		session *lines
		want    string
	}{
		"failed":         {try(newLines(), "1", "bash", test, "ok b\nFAIL a\nexit", failed), "go test: FAIL a"},
		"fixed":          {try(try(newLines(), "1", "bash", test, "FAIL", failed), "2", "bash", test, "ok", ""), ""},
		"failed again":   {try(try(newLines(), "1", "bash", test, "FAIL a", failed), "2", "bash", test, "FAIL b", failed), "go test: FAIL b"},
		"another passed": {try(try(newLines(), "1", "edit", file, "no match", failed), "2", "bash", test, "ok", ""), "a.go: no match"},
		"only looked":    {try(newLines(), "1", "bash", `{"command":"ls /x"}`, "(no output)\nls: no such", failed), "bash: ls: no such"},
		"was blocked":    {try(newLines(), "1", "bash", test, "Blocked: no", failed), ""},
		"no call":        {newLines().result("r", "x", "broken", failed), "t: broken"},
	} {
		var got []string
		for _, e := range facts(c.session).Errors {
			got = append(got, e.Subject+": "+e.Text)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPathsOfFacts: each file once, those of calls within calls too.
func TestPathsOfFacts(t *testing.T) {
	l := newLines().answer("a", call("1", "read", `{"path":"@src/a.go"}`)+","+call("2", "edit", `{"file_path":"./src/a.go"}`)+","+call("3", "ls", `{"path":"."}`)+","+call("4", "x", `{"path":7}`), "").
		result("r", "1", "", `,"nestedCalls":{"calls":[{"id":"n","name":"read","arguments":{"path":"/abs/b.go/"}}]}`)
	if got := facts(l).Paths; !slices.Equal(got, []string{"src/a.go", "/abs/b.go"}) {
		t.Errorf("%q", got)
	}
}

// TestSurvive: what of the facts a summary tells.
func TestSurvive(t *testing.T) {
	for _, c := range []struct {
		name, summary, want string
		facts               stats.Facts
	}{
		{"a path by its last name", "Changed `a.go`.", "paths 1/1", stats.Facts{Paths: []string{"/w/src/a.go"}}},
		{"not within another name", "Changed data.go and a.gox and my-a.go", "paths 0/1", stats.Facts{Paths: []string{"/w/src/a.go"}}},
		{"two of one name need more", "Changed x/a.go", "paths 1/2", stats.Facts{Paths: []string{"/w/x/a.go", "/w/y/a.go"}}},
		{"one that another ends with", "Changed w/x/a.go", "paths 2/2", stats.Facts{Paths: []string{"/w/x/a.go", "a.go"}}},
		{"a command as it is spelled", "ran `go test`,\nthen git\npush", "commands 2/3", stats.Facts{Commands: []string{"go test", "git push", "go vet"}}},
		{"an error in its words", "It says: undefined: Foo in x", "errors 1/1", stats.Facts{Errors: []stats.Failure{{Subject: "go build", Text: "undefined: Foo in x"}}}},
		{"an error by what failed", "- go build is still broken", "errors 1/1", stats.Facts{Errors: []stats.Failure{{Subject: "go build", Text: "undefined: Foo in x"}}}},
		{"an error by what it names", "TestCloseDrains is flaky", "errors 1/1", stats.Facts{Errors: []stats.Failure{{Subject: "go test", Text: "--- FAIL: TestCloseDrains (0.01s)"}}}},
		{"what failed, but not that it did", "ran go build", "errors 0/1", stats.Facts{Errors: []stats.Failure{{Subject: "go build", Text: "undefined: Foo in x"}}}},
		{"an error of few words, in them", "It says: undefined: x.", "errors 1/1", stats.Facts{Errors: []stats.Failure{{Subject: "go build", Text: "undefined: x"}}}},
		{"one that any text may have", "It says: undefined x.", "errors 0/1", stats.Facts{Errors: []stats.Failure{{Subject: "go build", Text: "undefined x"}}}},
		{"a constraint in other words", "## Constraints\n- User wants no new dependencies added", "constraints 1/1", stats.Facts{Constraints: []string{"please don't add a new dependency"}}},
		{"half of its words, but in two lines", "a new file\nits dependencies", "constraints 0/1", stats.Facts{Constraints: []string{"don't add a new dependency, says Bob"}}},
		{"nothing in nothing", "", "constraints 0/1", stats.Facts{Constraints: []string{"you must not"}}},
	} {
		s, _ := c.facts.Survive(c.summary)
		got := ""
		for _, k := range []struct {
			name string
			stats.Kept
		}{{"paths", s.Paths}, {"commands", s.Commands}, {"errors", s.Errors}, {"constraints", s.Constraints}} {
			if k.Of > 0 {
				got += fmt.Sprintf("%s %d/%d", k.name, k.Found, k.Of)
			}
			if len(k.Lost) != k.Of-k.Found {
				t.Errorf("%s: lost %q", c.name, k.Lost)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	var many stats.Facts
	for i := range 30 {
		many.Commands = append(many.Commands, fmt.Sprint("run ", i))
	}
	if s, _ := many.Survive(""); s.Commands.Of != 30 || len(s.Commands.Lost) != 30 || s.Commands.Lost[0] != "run 0" {
		t.Errorf("%+v", s.Commands)
	}
}

// TestLostAreCounted: a list that is cut says how many more there are.
func TestLostAreCounted(t *testing.T) {
	many := stats.Facts{}
	for i := range 33 {
		many.Commands = append(many.Commands, fmt.Sprint("run ", i))
	}
	s, _ := many.Survive("")
	r := &stats.Report{}
	r.Compactions = &stats.CompactionsPart{Count: 1, List: []stats.Compacting{{Entry: "a", Survival: s}}}
	seen := false
	for _, sheet := range (&stats.Options{Lenses: lenses(t, "compactions")}).Sheets(r) {
		if sheet.Title == "lost by the summary" {
			seen = true
			if n := len(sheet.Rows); n != 4 || sheet.Rows[3][2] != "and 30 more, which json has" {
				t.Errorf("%v", sheet.Rows)
			}
		}
	}
	if !seen {
		t.Error("nothing is lost")
	}
}
