package render

import (
	"bytes"
	"strings"
	"testing"

	"ctxtool/sessionfmt"
)

// sessionOf is a session of these lines behind a header, each entry below the one
// before it. In a line Q is the id of its entry and its parent's.
func sessionOf(t *testing.T, cwd string, lines ...string) *sessionfmt.Session {
	t.Helper()
	b := []byte(`{"type":"session","version":3,"id":"s","cwd":"` + cwd + `"}` + "\n")
	parent := "null"
	for k, line := range lines {
		id := `"` + strings.Repeat("0", 6) + string(rune('a'+k/26)) + string(rune('a'+k%26)) + `"`
		b = append(b, strings.Replace(line, "Q", `"id":`+id+`,"parentId":`+parent, 1)+"\n"...)
		parent = id
	}
	s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(b), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

const asked = `{"type":"message",Q,"message":{"role":"user","content":"go on with it, please"}}`

// TestDamageHasNoMaker: what is said of damage, and where a branch begins, comes from
// no entry that could have changed it.
func TestDamageHasNoMaker(t *testing.T) {
	s := sessionOf(t, "/app", asked, `{"type":"message","id":"x","parentId":"nosuch","message":{"role":"user","content":"lost"}}`)
	doc := string(page(t, s, nil))
	if want := `> **Damage**: line 3: entry x: its parent "nosuch"`; strings.Contains(doc, "made so by") || !strings.Contains(doc, want) {
		t.Errorf("no %q in\n%s", want, doc)
	}
	if !strings.Contains(doc, "\n## Branch") && !strings.Contains(doc, "\n## Another") {
		t.Errorf("no branch in\n%s", doc)
	}
}
