package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// TestSummaryInAnotherFrame: the summary that a patch puts in place is still that of its
// compaction, in whatever frame the patch then has it, and no other message is.
func TestSummaryInAnotherFrame(t *testing.T) {
	given := func(role, text string) string { return `{"role":"` + role + `","content":"` + text + `"}` }
	replace := func(all ...string) string {
		return cached("messages_cached_replace", `"messages":[`+strings.Join(all, ",")+`]`)
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  string // the messages: kind, op of the origin, summary
	}{
		{"framed", []string{"a user A", "b user B", "t patch " + applyS + "," + replace(given("system", "= P ="), given("user", "B"))}, "compactionSummary 0 P|user 1 "},
		{"kept by a later patch", []string{"a user A", "t patch " + applyS + "," + replace(given("user", "= P =")), "u patch " + replace(given("user", "= P ="), given("user", "C"))}, "compactionSummary 0 P|user 0 "},
		{"another message", []string{"a user A", "t patch " + applyS + "," + replace(given("user", "other"))}, "user 1 "},
		{"not the first", []string{"a user A", "t patch " + applyS + "," + replace(given("user", "other"), given("user", "= P ="))}, "user 1 |user 1 "},
		{"of another patch", []string{"a user A", "t patch " + applyS, "u patch " + replace(given("user", "= P ="))}, "user 0 "},
		{"an empty summary", []string{"a user A", "t patch " + strings.Replace(applyS, `"P"`, `""`, 1) + "," + replace(given("user", "x"))}, "user 1 "},
	} {
		e, err := replayed(t, session(3, test.lines...), replay.Options{Rules: replay.ByEnvelope})
		if err != nil {
			t.Fatal(test.name, err)
		}
		var got []string
		for i := range e.Len() {
			m := e.Piece(i)
			text, err := e.Replay().NewReader().Summary(m)
			if err != nil {
				t.Fatal(test.name, err)
			}
			got = append(got, fmt.Sprint(m.Kind(), " ", m.Origin().Op, " ", text))
		}
		if got := strings.Join(got, "|"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestFramedSummaryCounts: pi's estimate of a framed summary is that of the message that is sent.
func TestFramedSummaryCounts(t *testing.T) {
	text := strings.Repeat("frame ", 20) + "P"
	e := must.Get(replayed(t, session(3, "a user A", "t patch "+applyS+","+cached("messages_cached_replace", `"messages":[{"role":"user","content":"`+text+`"}]`)), replay.Options{Rules: replay.ByEnvelope}))
	n, err := e.Replay().NewReader().Estimate(&tokens.Pi, e.Piece(0))
	if want := tokens.Pi.Of(len(text)); err != nil || n != want || e.Piece(0).Kind() != jsonl.CompactionMessage {
		t.Errorf("%d tokens, want %d: %v", n, want, err)
	}
}
