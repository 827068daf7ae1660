package notes

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ctxtool/compact"
	"ctxtool/internal/read/outline"
)

// TestDigest: a digest keeps to its budget, and drops the ends of its lists for it.
func TestDigest(t *testing.T) {
	facts := &compact.Facts{Goal: "Sort the queue", Needs: []string{"a", "b", "c"}}
	s := &Session{Facts: facts, About: outline.About{CWD: "/w/app", Began: "2026-01-01T10:00:00Z"}, Ended: "2026-01-02T10:00:00Z"}
	words := func(text string) int { return len(strings.Fields(text)) }
	long := 0
	for _, most := range []int{1000, 40, 30} {
		text, err := Digest([]*Session{s}, most, words)
		if err != nil || words(text) > most || !strings.HasPrefix(text, "# Project: app\n\n## Overview\nFrom 1 session of 2026-01-01 to 2026-01-02 in `/w/app`.") {
			t.Errorf("%d words at most: %d, %v:\n%s", most, words(text), err, text)
		}
		if long > 0 && words(text) > long {
			t.Errorf("%d words of %d are more than of a larger budget", words(text), most)
		}
		long = words(text)
	}
	if _, err := Digest([]*Session{s}, 5, words); !errors.Is(err, ErrRoom) {
		t.Errorf("5 words: %v", err)
	}
}

// TestTree: folders that hold nothing but another stand in one line with it.
func TestTree(t *testing.T) {
	got := tree(nil, []string{"a.go", "cmd/tool/main.go", "docs/a.md", "docs/b/c.md", "docs/b/d.md"}, "")
	want := []string{"a.go", "cmd/tool/", "  main.go", "docs/", "  a.md", "  b/", "    c.md", "    d.md"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReason: why a file was changed is the subject of a small commit, else what was said with
// the change, else that of a large one, else what was asked for.
func TestReason(t *testing.T) {
	for _, test := range []struct {
		words, asked, commit string
		files                int
		want                 string
	}{
		{"Now add the flag:", "add a flag", "Add the flag", 2, "Add the flag"},
		{"Perfect! Now add the flag:", "add a flag", "Release 1.0", 20, "Add the flag"},
		{"Let me fix this properly. That makes more sense.", "add a flag", "Release 1.0", 20, "Release 1.0"},
		{"I see - it has no flag. I'll add one to the parser.", "add a flag", "", 0, "Add one to the parser"},
		{"Oops!", "add a flag", "Release 1.0", 20, "Release 1.0"},
		{"", "add a flag", "", 0, "asked: add a flag"},
		{"", "", "", 0, ""},
	} {
		if got := reason(test.words, test.asked, test.commit, test.files); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

// TestPlain: a text becomes one line without list, heading or comment marks.
func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"- **Bold**\n  and more":    "Bold and more",
		"## Head <!-- a -->":        "Head a -->",
		"left ──────────── `right`": "left `right`",
		"an `open mark":             "an",
		"abcdefghij zyxwvutsrq pon": "abcdefghij zyxwvutsr …",
		"<b> [a](b) # @c":           "&lt;b> \\[a\\](b) # `@c`",
	} {
		if got := plain(text, 20); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
