package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestUnreadFields: fields of the context that nothing knows are reported once each, at the first entry of the context
// that has them; those of omitted messages, and of entries that are not in the context, are not.
func TestUnreadFields(t *testing.T) {
	user := func(id, parent, more string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"message":{"role":"user","content":"x"%s}}`, id, parent, more)
	}
	lines := []string{
		`{"type":"session","version":3,"id":"s"}`, user("a", "null", `,"one":1`), user("b", `"a"`, `,"two":2,"one":1`), user("c", `"b"`, `,"three":{"four":4}`),
		`{"type":"context_edit","id":"d","parentId":"c","targetId":"a","replacement":null}`, user("e", `"d"`, `,"two":2,"five":5`), user("off", `"a"`, `,"six":6`),
		`{"type":"context_edit","id":"f","parentId":"e","targetId":"e","replacement":"y","seven":7}`,
	}
	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(strings.Join(lines, "\n")+"\n"), sessionfmt.Options{}))
	for leaf, want := range map[string]string{
		"a": "<message>.message<user>.one at a", "c": "<message>.message<user>.one at a <message>.message<user>.three at c <message>.message<user>.two at b",
		"e": "<message>.message<user>.five at e <message>.message<user>.one at b <message>.message<user>.three at c <message>.message<user>.two at b",
		"f": "<context_edit>.seven at f <message>.message<user>.five at e <message>.message<user>.one at b <message>.message<user>.three at c <message>.message<user>.two at b",
	} {
		r := replay.New(s, replay.Options{Leaf: s.Find(leaf)})
		e := must.Get(r.At(sessionfmt.After(s.Find(leaf))))
		r.Findings = nil
		must.Get(e.Reading())
		var got []string
		for _, f := range r.Findings {
			if f.Code == "unread-field" {
				_, name, _ := strings.Cut(f.Text, "its field ")
				name, _, _ = strings.Cut(name, ",")
				got = append(got, name+" at "+f.Entry)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at %s: %s, want %s", leaf, strings.Join(got, " "), want)
		}
	}
}
