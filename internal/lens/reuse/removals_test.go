package reuse

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestRemovals: what an answer uses is a regret from the moment at which no message and no text
// in its place has it, until one has it again. Words of many messages are none.
func TestRemovals(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n")
	n := 0
	add := func(message string) {
		parent := "null"
		if n > 0 {
			parent = fmt.Sprintf(`"e%d"`, n-1)
		}
		fmt.Fprintf(&file, `{"id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","type":"message","message":%s}`+"\n", n, parent, message)
		n++
	}
	text := func(role, text string) {
		add(fmt.Sprintf(`{"role":%q,"content":[{"type":"text","text":%q}]}`, role, text))
	}
	call := func(id string) {
		add(fmt.Sprintf(`{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":"fetch","arguments":{"of":"x"}}]}`, id))
	}
	text("user", "oneIdentifierName once, commonIdentifierName")
	text("user", "twoIdentifierName in the first, commonIdentifierName")
	text("user", "twoIdentifierName in the second, commonIdentifierName")
	call("c")
	add(`{"role":"toolResult","toolCallId":"c","toolName":"fetch","content":[{"type":"text","text":"long result"}]}`)
	for range 7 {
		text("user", "commonIdentifierName")
	}
	text("assistant", "oneIdentifierName, twoIdentifierName and commonIdentifierName")
	call("d")
	const says, calls = 12, 13

	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(file.String()), sessionfmt.Options{}))
	e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
	x := must.Get(NewIndex(e))
	r := x.Removals()
	for _, step := range []struct {
		what   string
		do     func()
		answer int
		want   string // names, with the message that had each and the first request without it
	}{
		{"nothing", func() {}, says, ""},
		{"one of two messages", func() { r.Remove(1, 3, false) }, says, ""},
		{"both, one again", func() { r.Remove(2, 4, false); r.Remove(1, 5, false) }, says, "twoIdentifierName 2 4"},
		{"all of the common", func() { r.Remove(0, 5, false) }, says, "oneIdentifierName 0 5, twoIdentifierName 2 4"},
		{"a text in place", func() { r.Stand("there", "all of it: oneIdentifierName") }, says, "twoIdentifierName 2 4"},
		{"another text", func() { r.Stand(7, "oneIdentifierName and twoIdentifierName") }, says, ""},
		{"the first withdrawn", func() { r.Withdraw("there") }, says, ""},
		{"both withdrawn", func() { r.Withdraw(7); r.Withdraw(7) }, says, "oneIdentifierName 0 5, twoIdentifierName 2 4"},
		{"one back", func() { r.Restore(1) }, says, "oneIdentifierName 0 5"},
		{"a result cut", func() { r.Remove(4, 6, true) }, calls, ""},
		{"and removed", func() { r.Remove(4, 7, false) }, calls, "fetch x 4 6"},
		{"and cut again", func() { r.Remove(4, 8, true) }, calls, "fetch x 4 6"},
	} {
		step.do()
		found := r.Regrets(9, step.answer)
		names := must.Get(x.Names(found))
		var got []string
		for i, one := range found {
			got = append(got, fmt.Sprint(names[i], " ", one.Message, " ", one.Removed))
		}
		if strings.Join(got, ", ") != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}
