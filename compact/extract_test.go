package compact

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// extractOf is the extract of a request, which has to work.
func extractOf(t testing.TB, r Request, most int) string {
	t.Helper()
	text, err := r.extract(most)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// daysWork is a session with something for every heading. It is long enough for an
// extract to have room.
func daysWork() []testMessage {
	padding := strings.Repeat("and so on, as the file goes\n", 2000)
	bash := func(id, command string) testMessage { return call(id, "bash", fmt.Sprintf(`{"command":%q}`, command)) }
	return []testMessage{
		user("Please make the parser accept trailing commas in lists. Never change the public API! See https://example.com/issue/7."),
		answer("", call("r1", "read", `{"path":"parse.go"}`), call("r2", "read", `{"path":"doc.md"}`)),
		failed("r1", padding, false), failed("r2", padding, false),
		answer("I'll use a small lookahead instead of a second pass, because the lexer cannot go back.", call("e1", "edit", `{"path":"parse.go"}`)),
		failed("e1", "Successfully replaced", false),
		answer("", bash("t1", "cd /w && go test ./... 2>&1 | tail -50")),
		failed("t1", "--- FAIL: TestComma\nFAIL\n\nCommand exited with code 1", true),
		user("keep the old error texts, and use tabs only"),
		answer("", call("e2", "edit", `{"path":"parse.go"}`), call("w1", "write", `{"path":"parse_test.go"}`)),
		failed("e2", "ok", false), failed("w1", "ok", false),
		answer("", bash("t2", "go test ./...")),
		failed("t2", "ok  \tw\t12 passed", false),
		answer("", bash("c1", "git add -A && git commit -m 'Accept trailing commas'")),
		failed("c1", "[main 1a2b3c4] Accept trailing commas\n 2 files changed", false),
		answer("", call("w2", "write", `{"path":"notes.md"}`), bash("l1", "golint ./...")),
		failed("w2", "ok", false), failed("l1", "sh: golint: command not found\n\nCommand exited with code 127", true),
		answer("The parser takes trailing commas now.\n\nNext steps:\n1. Install golint\n2. Write the changelog\n\n- [x] trailing commas\n- [ ] changelog entry"),
	}
}

const daysExtract = `## Goal
Please make the parser accept trailing commas in lists. Never change the public API! See https://example.com/issue/7.
- Last asked: keep the old error texts, and use tabs only

## Constraints & Preferences
- Never change the public API!
- keep the old error texts, and use tabs only

## Progress
### Done
- [x] trailing commas
- [x] Changed ` + "`notes.md`" + `: 1 write
- [x] Changed ` + "`parse.go`" + `: 2 edits
- [x] Changed ` + "`parse_test.go`" + `: 1 write
- [x] Ran ` + "`go test`" + `: 2 runs, the last ok: ok w 12 passed
- [x] Commit ` + "`1a2b3c4`" + ` on ` + "`main`" + `: Accept trailing commas

### In Progress
- [ ] changelog entry
- [ ] Not in a commit yet: ` + "`notes.md`" + `

### Blocked
- ` + "`golint`" + ` failed (exit 127): sh: golint: command not found

## Key Decisions
- I'll use a small lookahead instead of a second pass, because the lexer cannot go back.

## Next Steps
1. Install golint
2. Write the changelog

## Critical Context
- Extracted from 20 messages, without a model: what stands here is quoted or counted.
- Last answer: The parser takes trailing commas now. Next steps: 1. Install golint 2. Write the changelog - [x] trailing commas - [ ] changelog entry
- Also ran: ` + "`git add`, `git commit`, `golint`" + `
- Addresses: https://example.com/issue/7

<read-files>
doc.md
</read-files>

<modified-files>
notes.md
parse.go
parse_test.go
</modified-files>`

// TestExtract: everything has its heading.
func TestExtract(t *testing.T) {
	v := of(t, daysWork()...)
	if got := extractOf(t, wholeOf(v, StyleGSH, historyPart), 2000); got != daysExtract {
		t.Errorf("got\n%s", got)
	}
	prefix := extractOf(t, wholeOf(v, StylePi, turnPrefixPart), 2000)
	for _, want := range []string{"## Original Request\nPlease make", "\n## Progress So Far\n- [x] ", "\n## Context Needed to Continue\n- Never change"} {
		if !strings.Contains(prefix, want) {
			t.Errorf("no %q in\n%s", want, prefix)
		}
	}
	if strings.Contains(prefix, "## Goal") {
		t.Errorf("headings of a history in\n%s", prefix)
	}
}

// TestExtractTodos: the lists that tools keep are read, whatever they call a task.
func TestExtractTodos(t *testing.T) {
	messages := append(daysWork(), answer("", call("p1", "todo_write", `{"todos":[{"content":"rename the lexer","status":"completed"},{"title":"bump the version","status":"pending"}]}`)), failed("p1", "ok", false))
	text := extractOf(t, wholeOf(of(t, messages...), StyleGSH, historyPart), 2000)
	for _, want := range []string{"rename the lexer", "bump the version"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestExtractTools: tools of other agents change files too.
func TestExtractTools(t *testing.T) {
	x := newExtractor(nil)
	for _, tool := range []string{"read_file", "Edit", "MultiEdit", "write_file"} {
		x.worked(deed{Deed: activity.Deed{Action: activity.Named(tool)}, path: "a.go"}, "")
	}
	if f := x.file("a.go"); f.Uses != 4 || f.edits != 2 || f.writes != 1 {
		t.Errorf("%+v", f)
	}
}

// TestExtractFolds: an earlier extract goes on: what went well since is done, counts add
// up, and the next steps are those that were said last.
func TestExtractFolds(t *testing.T) {
	long := strings.Repeat("x ", 8000)
	v := of(t, user("Now the changelog, and install golint while you are there"),
		answer("", call("l", "bash", `{"command":"golint ./..."}`), call("e", "edit", `{"path":"parse.go"}`), call("r", "read", `{"path":"CHANGELOG.md"}`)),
		failed("l", "fine", false), failed("e", "ok", false), failed("r", long, false),
		answer("- [x] changelog entry\n\nNext:\n- release it"))
	r := wholeOf(v, StylePi, historyPart)
	r.Previous = daysExtract
	got := extractOf(t, r, 2000)
	for _, want := range []string{
		"## Goal\nPlease make the parser", "- Asked: keep the old error texts", "- Last asked: Now the changelog",
		"- Never change the public API!", "- [x] changelog entry", "`parse.go`: 3 edits", "`parse_test.go`: 1 write", "Commit `1a2b3c4`",
		"### Blocked\n(none)", "## Next Steps\n1. release it\n\n", "I'll use a small lookahead", "<read-files>\nCHANGELOG.md\ndoc.md\n</read-files>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"- [ ] changelog", "golint` failed", "Install golint"} {
		if strings.Contains(got, no) {
			t.Errorf("%q in\n%s", no, got)
		}
	}
}

// TestExtractFoldsOthers: a summary that somebody else has written goes in by its
// headings, and what has none of ours says which it had.
func TestExtractFoldsOthers(t *testing.T) {
	previous := "# Checkpoint\n\n## Goal\n- Ship it\n\n## Constraints & Preferences\n- (none)\n\n## Progress\n### Done\n- [x] Read `a.go`:\n  - twice\n\n### Blocked\n- The network is down\n\n" +
		"## Key Decisions\n- **Use tabs**: the user asked\n\n## Commands\n- `make` builds\n```sh\nmake -j\n```\n\n## Next Steps\n1. Test\n\n<modified-files>\na.go\n</modified-files>"
	r := wholeOf(of(t, user(strings.Repeat("go on as before. ", 600))), StylePi, historyPart)
	r.Previous = previous
	got := extractOf(t, r, 2000)
	for _, want := range []string{
		"## Goal\nShip it\n", "- [x] Read `a.go`:\n  - twice\n", "### Blocked\n- The network is down\n", "- **Use tabs**: the user asked\n",
		"- Commands: `make` builds\n  ```sh\n  make -j\n  ```\n", "## Next Steps\n1. Test\n", "<modified-files>\na.go\n</modified-files>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestExtractCut: what has no room is counted.
func TestExtractCut(t *testing.T) {
	all := daysWork()
	for i := range 40 {
		all = append(all, user(fmt.Sprintf("You must never forget rule number %d of the house, which is about %s", i, strings.Repeat("x", i))))
	}
	got := extractOf(t, wholeOf(of(t, all...), StyleGSH, historyPart), 500)
	if !strings.Contains(got, "- "+leftOutMark) || !strings.Contains(got, " constraints") {
		t.Errorf("what was left out is not counted in\n%s", got)
	}
	for _, want := range []string{"## Goal\nPlease make", "golint` failed", "rule number 39 ", "</modified-files>"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestExtractLaws: on every session an extract keeps its budget and a quarter of what
// it stands for, is valid, is the same twice, and loses no file when it is folded in.
// Sessions outside of the sample have one budget for each part.
func TestExtractLaws(t *testing.T) {
	seen := 0
	small := map[string]bool{}
	for _, s := range corpus.Sample(t) {
		small[s.Name] = true
	}
	for _, s := range corpus.All(t) {
		v := viewOf(t, s, replay.Options{})
		if v == nil || len(v.live()) == 0 {
			continue
		}
		for _, part := range []SummaryPart{historyPart, turnPrefixPart, sequencePart} {
			budgets := []int{1, 40, 300, 2000, 1 << 20}
			if !small[s.Name] {
				budgets = []int{2000}
			}
			for _, most := range budgets {
				r := wholeOf(v, StyleGSH, part)
				text, err := r.extract(most)
				if err == errNothingSaid {
					continue
				}
				seen++
				if err != nil {
					t.Fatalf("%s: %v", s.Name, err)
				}
				if n := tokens.Pi.Of(jsonl.Units(text)); n > most || n > r.room() || !utf8.ValidString(text) {
					t.Errorf("%s: %s of %d tokens, %d and %d are the most; valid: %t", s.Name, part, n, most, r.room(), utf8.ValidString(text))
				}
				if most != 2000 {
					continue
				}
				if again := extractOf(t, wholeOf(v, StyleGSH, part), most); again != text {
					t.Errorf("%s: %s of %d tokens is another the second time", s.Name, part, most)
				}
			}
		}
		keepsFiles(t, s.Name, v)
	}
	if seen < 100 {
		t.Errorf("%d extracts", seen)
	}
}

// keepsFiles folds an extract into the next one.
func keepsFiles(t *testing.T, name string, v *View) {
	t.Helper()
	x := newExtractor(v)
	for _, i := range v.live() {
		x.message(i)
	}
	x.end(len(v.live()))
	const plenty = 1 << 30
	_, files := cutFiles(x.fit(plenty, historyPart))
	want := x.files.files()
	odd := func(path string) bool { return path != cleanPath(path) }
	want.Read, want.Modified = slices.DeleteFunc(want.Read, odd), slices.DeleteFunc(want.Modified, odd)
	if files.String() != want.String() {
		t.Errorf("%s: an extract names %v, want %v", name, files, want)
	}
	y := newExtractor(v)
	y.fold(x.fit(plenty, historyPart))
	y.end(0)
	next := y.fit(plenty, historyPart)
	if _, again := cutFiles(next); again.String() != files.String() {
		t.Errorf("%s: folded in, %v became %v", name, files, again)
	}
	for path, f := range x.uses {
		if f.named && !strings.Contains(next, path) {
			t.Errorf("%s: %s is lost", name, path)
		}
	}
	for _, f := range [][]string{x.files.files().Read, x.files.files().Modified} {
		for _, path := range f {
			if odd(path) && !strings.Contains(next, spelled(path)) {
				t.Errorf("%s: %q is lost", name, path)
			}
		}
	}
}

func TestDemands(t *testing.T) {
	for _, test := range []struct {
		sentence string
		want     activity.Demand
	}{
		{"You must not change the API.", activity.Insists},
		{"use npm only, no yarn", activity.Insists},
		{"Don’t touch the tests", activity.Insists},
		{"make sure it builds on Windows", activity.Insists},
		{"please keep the old names", activity.Wants},
		{"I don't know what happened here", activity.Tells},
		{"I only want the first one", activity.Insists},
		{"they never answer my mails", activity.Tells},
		{"should we never do that?", activity.Tells},
		{"never", activity.Tells},
		{"what a nice day it is", activity.Tells},
	} {
		if got := activity.DemandOf(test.sentence); got != test.want {
			t.Errorf("%q: %d, want %d", test.sentence, got, test.want)
		}
	}
}

// TestExtractScripts: what failed in a script is open until the same succeeds, on any line.
func TestExtractScripts(t *testing.T) {
	ran := func(id, command, output string, bad bool) []testMessage {
		args := must.Get(json.Marshal(map[string]string{"command": command}))
		return []testMessage{answer("", call(id, "bash", string(args))), failed(id, output, bad)}
	}
	messages := []testMessage{user("Make it pass, and deploy it to the staging cluster")}
	for _, m := range [][]testMessage{
		ran("1", "if ! npm test; then echo broken; exit 1; fi", "1 failing\n\nCommand exited with code 1", true),
		ran("2", "sudo -u ci timeout -k 5 60 bash -c 'cd w && make lint'", "make: *** [lint] Error 1", true),
		ran("3", "docker exec web sh -c 'php artisan migrate'", "SQLSTATE error", true),
		ran("4", "make lint && make docs", "ok", false),
	} {
		messages = append(messages, m...)
	}
	text := extractOf(t, wholeOf(of(t, messages...), StylePi, historyPart), 2000)
	for want, is := range map[string]bool{
		"- `npm test` failed (exit 1): 1 failing": true, "- `php artisan migrate` failed: SQLSTATE error": true, "`make lint` failed": false,
	} {
		if strings.Contains(text, want) != is {
			t.Errorf("%q: not %v in\n%s", want, is, text)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{" a\n b\tc ", 10, "a b c"},
		{"one two three four", 10, "one two …"},
		{"onetwothreefour", 10, "onetwothre …"},
		{"日本語日本語", 10, "日本語 …"},
		{"a\xffb", 10, "a\uFFFDb"},
	} {
		if got := oneLine(test.text, test.most); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.text, test.most, got, test.want)
		}
	}
}

// FuzzExtract: whatever is said, or was in an earlier summary, an extract keeps its
// budget, is valid, and is taken in by the next one.
func FuzzExtract(f *testing.F) {
	f.Add("fix it; never ask", "I'll use tabs because\n\nNext:\n1. a\n- [ ] b", "FAIL x\n\nCommand exited with code 1", "git commit -m x && make", daysExtract)
	f.Add("```\nx", "- [x] \n**a**\n", "[main 1234567] s", "cat <<E\n", "- Also ran: `a`, `b\n- [x] Ran `c`: 3 runs, the last said: x\n<read-files>\n\n</read-files>")
	f.Fuzz(func(t *testing.T, prompt, text, output, command, previous string) {
		args, err := json.Marshal(map[string]string{"command": command, "path": previous})
		if err != nil {
			t.Fatal(err)
		}
		v := of(t, user(prompt), answer(text, call("1", "bash", string(args)), call("2", "edit", string(args))), failed("1", output, true), failed("2", output, false), user(text))
		for _, most := range []int{10, 200, 1 << 20} {
			r := wholeOf(v, StyleGSH, historyPart)
			for range 2 {
				r.Previous = previous
				text, err := r.extract(most)
				if err == errNothingSaid {
					return
				}
				if err != nil || !utf8.ValidString(text) || tokens.Pi.Of(jsonl.Units(text)) > most {
					t.Fatalf("%q, %v", text, err)
				}
				previous = text
			}
		}
	})
}

// TestExtractLongPrompt: what somebody has pasted costs as much as it is long, also where
// its lines look like one paragraph.
func TestExtractLongPrompt(t *testing.T) {
	allocated := func(lines int) uint64 {
		text := strings.Repeat("this is a line of a log that goes on and on without any end, see the next one\n", lines)
		r := wholeOf(of(t, user(text), answer(text)), StyleGSH, historyPart)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		extractOf(t, r, 2000)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(1000), allocated(10_000); many > 20*few {
		t.Errorf("%d bytes for 1,000 lines, %d for ten times as many", few, many)
	}
}

// TestThread: what the user asked for is the last prompt that says much, with those after it.
func TestThread(t *testing.T) {
	t.Parallel()
	const much = "move the parser to a package of its own and test it"
	for _, test := range []struct{ prompts, want []string }{
		{[]string{"yo", much}, []string{much}},
		{[]string{much, "ok", "yeah, do it all"}, []string{much, "yeah, do it all"}},
		{[]string{much, "minor, this is a big change", "let's do 1+2 next"}, []string{much, "minor, this is a big change", "let's do 1+2 next"}},
		{[]string{"add a flag to the parser, and name it in the help", much}, []string{much}},
		{[]string{much, "use tabs for all of it", "use spaces for the rest", "and test both of them", "yes, please do"},
			[]string{much, "use spaces for the rest", "and test both of them", "yes, please do"}},
		{[]string{"why?", "ls"}, nil},
	} {
		x := newExtractor(nil)
		for _, p := range test.prompts {
			x.prompt(p)
		}
		if !slices.Equal(x.thread, test.want) {
			t.Errorf("%q: %q, want %q", test.prompts, x.thread, test.want)
		}
	}
}
