package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

func openData(t testing.TB, name string, data []byte) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func conversation(s *sessionfmt.Session, all bool) *Conversation {
	return must.Get(NewConversation(replay.New(s, replay.Options{}), s.Leaf(), all))
}

// told is all that chapters say, a line a block, and the story of it.
func told(t *testing.T, chapters []Blocks, texts bool) (lines []string, story string) {
	t.Helper()
	whole := NewStory(nil)
	for _, blocks := range chapters {
		for b, err := range blocks(whole, texts) {
			if err != nil {
				t.Fatal(err)
			}
			c := b.Call
			lines = append(lines, fmt.Sprintf("%v %d %d %d %q %q %v %v %q %v %v %d %q", b.Kind, b.Record, b.Turn, b.By, b.Title, b.Text, b.Hidden, b.Cut, c.Subject(), c.Answered, c.Failed, c.Exit, c.Result))
		}
	}
	last, before := whole.Last()
	story = fmt.Sprintf("%q %d %d %d %q %q %v %q %q %+v %v %d", whole.Goal(), whole.Turns, whole.Requests, whole.Calls, last, before, whole.Models, whole.From, whole.To(), whole.Usage.Input, whole.Cuts, whole.Failures)
	for _, f := range whole.Files {
		story += fmt.Sprintf("\n%+v", *f)
	}
	for _, c := range whole.Commands {
		story += fmt.Sprintf("\n%+v", *c)
	}
	return lines, story
}

// TestChapters: however a conversation is cut into chapters, they say the same, and
// tell the same story, with texts or without.
func TestChapters(t *testing.T) {
	for _, c := range corpus.All(t) {
		s := openData(t, c.Name, c.Data)
		if s == nil {
			continue
		}
		for _, all := range []bool{false, true} {
			conv := conversation(s, all)
			want, story := told(t, conv.chapters(1<<30), true)
			sizes := []int{1, 7}
			if len(c.Data) > 300<<10 && !corpus.Whole() {
				sizes = sizes[1:]
			}
			for _, size := range sizes {
				got, other := told(t, conv.chapters(size), true)
				if !slices.Equal(got, want) {
					t.Errorf("%s: in chapters of %d there are %d blocks, in one %d, or they differ", c.Name, size, len(got), len(want))
				}
				if other != story {
					t.Errorf("%s: the story in chapters of %d\n%s\nin one\n%s", c.Name, size, other, story)
				}
			}
			if _, other := told(t, conv.chapters(1<<30), false); other != story {
				t.Errorf("%s: the story without texts\n%s\nwith them\n%s", c.Name, other, story)
			}
		}
	}
}

// TestAll: all branches have each entry once, the path's first.
func TestAll(t *testing.T) {
	for _, c := range corpus.All(t) {
		s := openData(t, c.Name, c.Data)
		if s == nil {
			continue
		}
		path, _ := s.Path(s.Leaf())
		seen := map[int32]bool{}
		conv := conversation(s, true)
		for k, rec := range conv.records {
			if seen[rec] {
				t.Errorf("%s: line %d is there twice", c.Name, s.Line(int(rec)))
			}
			if seen[rec] = true; k < len(path) && path[k] != int(rec) {
				t.Errorf("%s: the path does not come first", c.Name)
			}
		}
		for i := range s.Len() {
			if s.Kind(i).IsEntry() && !seen[int32(i)] {
				t.Errorf("%s: line %d is not there", c.Name, s.Line(i))
			}
		}
	}
}

// TestCommands: a command that passes later is the one that failed, however its
// output is cut.
func TestCommands(t *testing.T) {
	run := func(line string, failed bool) *ToolCall {
		return &ToolCall{Call: activity.Typed(jsonl.AppendQuoted(nil, line)), Answered: true, Failed: failed, Exit: 1}
	}
	s := NewStory(nil)
	s.ran(run("go test ./... 2>&1 | tail -5", true))
	s.ran(run("make lint", false))
	s.ran(run("make lint", true))
	s.ran(run("rm  x", true))
	s.ran(run("go test ./...", false))
	s.ran(run("rm x", true))
	var got []string
	for _, c := range s.Commands {
		got = append(got, fmt.Sprint(c.Line, " ", c.Times, " ", c.Passed))
	}
	if want := []string{"go test ./... 2>&1 | tail -5 1 true", "make lint 1 false", "rm  x 2 false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAnswers: how a command ended is in its output, or in the details.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		text, details string
		failed        bool
		wantFailed    bool
		exit          int
		result        string
	}{
		{"out\n\nCommand exited with code 2", "", true, true, 2, "out"},
		{"out\n\nCommand exited with code 2", "", false, false, -1, "out\n\nCommand exited with code 2"},
		{"(no output)", "", false, false, -1, ""},
		{"out", `{"exitCode":1}`, false, true, 1, "out"},
		{"out", `{"exitCode":0}`, false, false, 0, "out"},
		{"Command aborted", "", true, true, -1, "Command aborted"},
	} {
		call := ToolCall{Call: activity.Call{Action: activity.Run}, Exit: -1, Details: value(c.details)}
		call.answer([]byte(c.text), c.failed)
		if call.Failed != c.wantFailed || call.Exit != c.exit || string(call.Result) != c.result {
			t.Errorf("%q: %v %d %q", c.text, call.Failed, call.Exit, call.Result)
		}
	}
}

// TestSkill: the instructions of a skill are no words of the user.
func TestSkill(t *testing.T) {
	for _, c := range []struct{ text, skill, name, rest string }{
		{"<skill name=\"a\" location=\"/x\">\nbody\n</skill>\n\nplease", "body", "a", "please"},
		{"<skill name=\"a\" location=\"/x\">\nbody\n</skill>", "body", "a", ""},
		{"say <skill name=\"a\">x</skill>", "", "", "say <skill name=\"a\">x</skill>"},
		{"<skill name=\"a\">never closed", "", "", "<skill name=\"a\">never closed"},
		{"plain", "", "", "plain"},
	} {
		skill, name, rest := activity.CutSkill([]byte(c.text))
		if string(skill) != c.skill || name != c.name || string(rest) != c.rest {
			t.Errorf("%q: %q %q %q", c.text, skill, name, rest)
		}
	}
}

// TestStands: which files a name stands for.
func TestStands(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       bool
	}{
		{"a.go", "a.go", true}, {"a.go", "/w/src/a.go", true}, {"a.go", "/w/ba.go", false}, {"src", "src/a.go", true}, {"src/", "/w/src/x/a.go", true},
		{"*.go", "/w/a.go", true}, {"src/*.go", "src/a.go", true}, {"./a.go", "a.go", true}, {"b", "a/bc", false}, {`a.go`, `C:\w\a.go`, true},
	} {
		if got := matchesFile([]string{c.name}, c.file); got != c.want {
			t.Errorf("%s for %s: %v", c.name, c.file, got)
		}
	}
}
