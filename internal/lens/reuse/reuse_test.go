package reuse

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestUses: of what a compaction dropped, there is what later answers used while no message of the
// context had it.
func TestUses(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n")
	parent := "null"
	add := func(id, rest string) {
		fmt.Fprintf(&file, `{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", id, parent, rest)
		parent = fmt.Sprintf("%q", id)
	}
	user := func(id, text string) {
		add(id, fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q}`, text))
	}
	call := func(id, callID, tool, args string) {
		add(id, fmt.Sprintf(`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":%q,"name":%q,"arguments":%s}]}`, callID, tool, args))
	}
	result := func(id, callID, tool, text string) {
		add(id, fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":%q,"toolName":%q,"content":[{"type":"text","text":%q}]}`, callID, tool, text))
	}
	user("u1", "look at src/outbox/queue.go and at src/outbox/never.go")
	call("a1", "c1", "read", `{"path":"src/outbox/queue.go"}`)
	result("r1", "c1", "read", "func (q *Queue) drainAll() {\n\tfor q.pending > 0 { q.flushOne() }\n}\nkeptWord1 droppedWord1 unusedWord1\n")
	call("b1", "c7", "bash", `{"command":"go test"}`)
	result("s1", "c7", "bash", "fails")
	call("e1", "c8", "edit", `{"path":"src/outbox/queue.go","old":"a","new":"b"}`)
	result("t1", "c8", "edit", "done")
	user("u2", "keptWord1 is here")
	add("k", `"type":"compaction","summary":"a summary","firstKeptEntryId":"u2","tokensBefore":1`)
	call("a2", "c2", "read", `{"path":"src/outbox/queue.go"}`)
	result("r2", "c2", "read", "nothing")
	call("b2", "c9", "bash", `{"command":"go test"}`)
	result("s2", "c9", "bash", "passes")
	call("a3", "c3", "edit", `{"path":"./outbox/queue.go","old":"\tfor q.pending > 0 { q.flushOne() }","new":"keptWord1 droppedWord1"}`)

	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(file.String()), sessionfmt.Options{}))
	all, _, err := Compactions(replay.New(s, replay.Options{}), s.Leaf(), &tokens.Pi)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d compactions, %v", len(all), err)
	}
	var got []string
	for _, use := range all[0].Used {
		by := ""
		for _, a := range use.By {
			by += fmt.Sprintf(" %s/%d", a.Entry, a.Request)
		}
		got = append(got, fmt.Sprintf("%s %s of %s:%s", use.Kind, use.What, use.Entry, by))
	}
	want := []string{
		"call read src/outbox/queue.go of r1: a2/3",
		"path src/outbox/queue.go of e1: a2/3",
		"line for q.pending > 0 { q.flushOne() } of r1: a3/5",
		"identifier droppedWord1 of r1: a3/5",
		"identifier flushOne of r1: a3/5",
	}
	if !slices.Equal(got, want) {
		t.Errorf("used:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
