package replay

import (
	"strings"
	"testing"

	"ctxtool/sessionfmt"
)

// TestEnteredAgain: a message that a newer compaction keeps as the one before had it is
// no new one, whatever edit of it both have forgotten.
func TestEnteredAgain(t *testing.T) {
	line := func(typ, id, parent, rest string) string {
		return `{"type":"` + typ + `","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-01T00:00:00.000Z",` + rest + "}\n"
	}
	user := func(id, parent string) string {
		return line("message", id, parent, `"message":{"role":"user","content":"`+id+`"}`)
	}
	cut := func(id, parent string) string {
		return line("compaction", id, parent, `"summary":"`+id+`","firstKeptEntryId":"b","tokensBefore":1`)
	}
	s, err := sessionfmt.OpenReader("s", strings.NewReader(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}`+"\n"+
		user("a", "null")+line("context_edit", "e", `"a"`, `"targetId":"m","replacement":{"content":"other"}`)+
		user("b", `"e"`)+cut("k", `"b"`)+user("m", `"k"`)+cut("l", `"m"`)), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := New(s, Options{})
	var at [2]*Envelope
	for i, id := range []string{"m", "l"} {
		if at[i], err = r.At(sessionfmt.After(s.Find(id))); err != nil {
			t.Fatal(err)
		}
	}
	var entered []string
	for m, err := range at[1].Entered(at[0]) {
		if err != nil {
			t.Fatal(err)
		}
		entered = append(entered, s.ID(m.Origin.Record))
	}
	if got := strings.Join(entered, " "); got != "l" {
		t.Errorf("entered: %s", got)
	}
}
