package survival

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// facts are those of messages, whose records are their places.
func facts(messages ...string) *Facts {
	f := &Facts{}
	for i, m := range messages {
		msg := jsonl.Value(m)
		told := Tell(msg.Get("role").RoleKind(), msg.Message(), i)
		f.take(&told)
	}
	return f
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%s}`, quote(text)) }

func answer(calls ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(calls, ",") + `]}`
}

func made(id, name, args string) string {
	return fmt.Sprintf(`{"type":"toolCall","id":%q,"name":%q,"arguments":%s}`, id, name, args)
}

func result(call, text, fields string) string {
	return fmt.Sprintf(`{"role":"toolResult","toolCallId":%q,"toolName":"t","content":[{"type":"text","text":%s}]%s}`, call, quote(text), fields)
}

const failed = `,"isError":true`

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func bash(command string) string {
	return answer(made("c", "bash", `{"command":`+quote(command)+`}`))
}

// whats are facts in a line.
func whats(facts []Fact) string {
	var all []string
	for _, f := range facts {
		all = append(all, f.What)
	}
	return strings.Join(all, "|")
}

// told are facts of those words.
func told(whats ...string) (facts []Fact) {
	for _, w := range whats {
		facts = append(facts, Fact{What: w})
	}
	return facts
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
		"git status && git diff --stat; ls /w": "",
		"":                                     "",
		"'":                                    "",
	} {
		if got := whats(facts(bash(command)).commands); got != want {
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
		"Always on. Always do it.":                          "",
		"```\nyou must never\n```\nrun it":                  "",
		"> you must never do that\nrun it":                  "",
		"<skill name=\"x\">\nalways do y\n</skill>\nrun it": "",
		strings.Repeat("you must see this ", 40):            "",
	} {
		if got := whats(facts(user(text)).constraints); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if told := Tell(jsonl.Custom, jsonl.Value(`{"role":"user","content":"you must obey the extension"}`).Message(), 0); len(told.constraints) > 0 {
		t.Errorf("not the user's words: %v", told.constraints)
	}
}

// TestErrorsOfFacts: a failure counts until the same went well.
func TestErrorsOfFacts(t *testing.T) {
	try := func(id, name, args, text, fields string) []string {
		return []string{answer(made(id, name, args)), result(id, text, fields)}
	}
	test, file := `{"command":"go test ./a"}`, `{"path":"./a.go"}`
	for name, c := range map[string]struct {
		session []string
		want    string
	}{
		"failed":         {try("1", "bash", test, "ok b\nFAIL a\nexit", failed), "1 go test: FAIL a"},
		"passed later":   {append(try("1", "bash", test, "FAIL", failed), try("2", "bash", test, "ok", "")...), ""},
		"in a script":    {try("1", "bash", `{"command":"for d in a; do (cd $d && go test ./...); done"}`, "FAIL", failed), "1 go test: FAIL"},
		"first of two":   {try("1", "bash", `{"command":"go vet && tsc"}`, "go: vet error", failed), "1 go vet: go: vet error"},
		"passed in two":  {append(try("1", "bash", test, "FAIL", failed), try("2", "bash", `{"command":"go test && go build"}`, "ok", "")...), ""},
		"failed again":   {append(try("1", "bash", test, "FAIL a", failed), try("2", "bash", test, "FAIL b", failed)...), "3 go test: FAIL b"},
		"another passed": {append(try("1", "edit", file, "no match", failed), try("2", "bash", test, "ok", "")...), "1 a.go: no match"},
		"only looked":    {try("1", "bash", `{"command":"ls /x"}`, "(no output)\nls: no such", failed), "1 bash: ls: no such"},
		"was blocked":    {try("1", "bash", test, "Blocked: no", failed), ""},
		"no call":        {[]string{result("x", "broken", failed)}, "0 t: broken"},
	} {
		var got []string
		for _, e := range facts(c.session...).failures {
			if e.What != "" {
				got = append(got, fmt.Sprint(e.Record, " ", e.What, ": ", e.why))
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestPathsOfFacts: each file once, those of calls within calls too.
func TestPathsOfFacts(t *testing.T) {
	f := facts(
		answer(made("1", "read", `{"path":"@src/a.go"}`), made("2", "edit", `{"file_path":"./src/a.go"}`), made("3", "ls", `{"path":"."}`), made("4", "x", `{"path":7}`)),
		result("1", "", `,"nestedCalls":{"calls":[{"id":"n","name":"read","arguments":{"path":"/abs/b.go/"}}]}`),
	)
	if want := []Fact{{"src/a.go", 0}, {"/abs/b.go", 1}}; !slices.Equal(f.paths, want) {
		t.Errorf("%v", f.paths)
	}
}

// TestSurvive: what of the facts a summary tells.
func TestSurvive(t *testing.T) {
	for _, c := range []struct {
		name, summary, want string
		facts               Facts
	}{
		{"a path by its last name", "Changed `a.go`.", "paths 1/1", Facts{paths: told("/w/src/a.go")}},
		{"not within another name", "Changed data.go and a.gox and my-a.go", "paths 0/1", Facts{paths: told("/w/src/a.go")}},
		{"two of one name need more", "Changed x/a.go", "paths 1/2", Facts{paths: told("/w/x/a.go", "/w/y/a.go")}},
		{"one that another ends with", "Changed w/x/a.go", "paths 2/2", Facts{paths: told("/w/x/a.go", "a.go")}},
		{"a command as it is spelled", "ran `go test`,\nthen git\npush", "commands 2/3", Facts{commands: told("go test", "git push", "go vet")}},
		{"an error in its words", "It says: undefined: Foo in x", "errors 1/1", Facts{failures: []failure{{Fact: Fact{What: "go build"}, why: "undefined: Foo in x"}}}},
		{"an error by what failed", "- go build is still broken", "errors 1/1", Facts{failures: []failure{{Fact: Fact{What: "go build"}, why: "undefined: Foo in x"}}}},
		{"an error by what it names", "TestCloseDrains is flaky", "errors 1/1", Facts{failures: []failure{{Fact: Fact{What: "go test"}, why: "--- FAIL: TestCloseDrains (0.01s)"}}}},
		{"what failed, but not that it did", "ran go build", "errors 0/1", Facts{failures: []failure{{Fact: Fact{What: "go build"}, why: "undefined: Foo in x"}}}},
		{"an error of few words, in them", "It says: undefined: x.", "errors 1/1", Facts{failures: []failure{{Fact: Fact{What: "go build"}, why: "undefined: x"}}}},
		{"one that any text may have", "It says: undefined x.", "errors 0/1", Facts{failures: []failure{{Fact: Fact{What: "go build"}, why: "undefined x"}}}},
		{"a constraint in other words", "## Constraints\n- User wants no new dependencies added", "constraints 1/1", Facts{constraints: told("please don't add a new dependency")}},
		{"half of its words, but in two lines", "a new file\nits dependencies", "constraints 0/1", Facts{constraints: told("don't add a new dependency, says Bob")}},
		{"nothing in nothing", "", "constraints 0/1", Facts{constraints: told("you must not")}},
	} {
		s, _ := c.facts.survive(c.summary)
		got := ""
		for _, k := range []struct {
			name string
			Kept
		}{{"paths", s.Paths}, {"commands", s.Commands}, {"errors", s.Errors}, {"constraints", s.Constraints}} {
			if k.Of > 0 {
				got += fmt.Sprintf("%s %d/%d", k.name, k.Found, k.Of)
			}
			if len(k.Lost) != k.Of-k.Found {
				t.Errorf("%s: lost %v", c.name, k.Lost)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	var many Facts
	for i := range 30 {
		many.commands = append(many.commands, Fact{fmt.Sprint("run ", i), i})
	}
	if s, _ := many.survive(""); s.Commands.Of != 30 || len(s.Commands.Lost) != 30 || s.Commands.Lost[29] != (Fact{"run 29", 29}) {
		t.Errorf("%+v", s.Commands)
	}
}
