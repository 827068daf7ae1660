package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestContentJoinsPatchedPart: a later system message adds to the part content by
// its name, whoever made it.
func TestContentJoinsPatchedPart(t *testing.T) {
	got := prompt(t, replay.ByEnvelope, `s system "content":"one"`,
		"p patch "+cached("system_parts_replace", `"parts":[{"name":"x","text":"X"},{"name":"content","text":"NEW"}]`),
		`r system "content":"two"`)
	if want := "x=X content=NEW\n\ntwo"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHintQuotesIDs: what a hint says of an id, no terminal obeys.
func TestHintQuotesIDs(t *testing.T) {
	data := bytes.ReplaceAll(session(3, "a_"+strings.Repeat("b", 200)+" user U", `p patch {"op":"teleport"}`), []byte("a_"), []byte(`a\u001b[31m`))
	_, err := replayed(t, data, replay.Options{Rules: replay.ByEnvelope})
	var at *sessionfmt.Error
	if !errors.As(err, &at) {
		t.Fatal(err)
	}
	if strings.Contains(at.Hint, "\x1b") || len(at.Hint) > 200 {
		t.Errorf("hint %q", at.Hint)
	}
}
