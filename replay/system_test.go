package replay_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/replay"
	"ctxtool/replay/models"
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

// TestZeroOptions: without options a session is replayed as the command does, by the rules that its
// own path decides, and every option has its default.
func TestZeroOptions(t *testing.T) {
	byRules := map[replay.Rules]int{}
	for _, c := range corpus.All(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer s.Close()
		zero, full := replay.New(s, replay.Options{}), replay.New(s, replay.Options{Leaf: s.Leaf(), Models: models.Builtin()})
		if zero.Rules != full.Rules || zero.Options.Leaf != full.Options.Leaf || replay.Auto.Decide(s, 0) != full.Rules {
			t.Errorf("%s: rules %v and %v", c.Name, zero.Rules, full.Rules)
		}
		byRules[zero.Rules]++
	}
	if byRules[replay.ByPi] < 20 || byRules[replay.ByEnvelope] < 5 {
		t.Errorf("too few: %v", byRules)
	}
}
