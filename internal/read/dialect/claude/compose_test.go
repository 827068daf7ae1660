package claude_test

import (
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestCompose: messages as the program sends them, in the cases that its real runs decided.
func TestCompose(t *testing.T) {
	t.Parallel()
	system := func(texts ...string) string {
		var all []string
		for _, text := range texts {
			all = append(all, `{"content":"<system-reminder>\n`+text+`\n</system-reminder>"}`)
		}
		return `,"rendered":[` + strings.Join(all, ",") + `],"renderedRole":"system"`
	}
	turns := [3]string{"p1", "u1", strings.Replace(snapshotOf("x", "T"), `"tools":`, `"systemTurns":true,"toolChangeHeader":true,"tools":`, 1)}
	kept := `"type":"system","subtype":"compact_boundary","content":"","compactMetadata":{"preservedMessages":{"anchorUuid":"c1","uuids":["u1","a1"]}}`
	for _, test := range []struct {
		name, want string
		lines      [][3]string
	}{
		{"the texts of one attachment are lines, other attachments paragraphs", "user: hi\nsystem: called\nresult\t\n\nlate", [][3]string{
			{"u1", "", said("hi")}, turns, {"n1", "p1", attached(`"type":"file"`, system("called", `result\t`))},
			{"n2", "n1", attached(`"type":"date"`, system("late"))}}},
		{"an attachment stands before the one that is its parent", "user: hi\nsystem: one\n\ntwo\n\nthree", [][3]string{
			{"u1", "", said("hi")}, turns, {"n3", "n2", attached(`"type":"session_context"`, "")},
			{"n1", "p1", attached(`"type":"environment"`, system("one"))}, {"n2", "n1", attached(`"type":"model"`, system("two"))},
			{"n4", "n3", attached(`"type":"date"`, system("three"))}}},
		{"a rewind keeps what is before its summary", "user: hi\nassistant: done\nuser: so far\n\non", [][3]string{
			{"u1", "", said("hi")}, turns, {"a1", "p1", answered("m1", `{"type":"text","text":"done"}`, "")},
			{"u2", "a1", said("second")}, {"c1", "", kept},
			{"s1", "c1", `"type":"user","isCompactSummary":true,"message":{"role":"user","content":"so far"}`}, {"u3", "s1", said("on")}}},
	} {
		s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(newer(test.lines...)), sessionfmt.Options{}))
		e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
		var got []string
		for m, err := range e.Native() {
			must.Do(err)
			got = append(got, m.Get("role").Text()+": "+m.Get("content").ContentText())
		}
		if got := strings.Join(got, "\n"); got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, test.want)
		}
	}
}

// TestVersions: messages are exact by rule only if each version that wrote the session was compared by its rules.
func TestVersions(t *testing.T) {
	t.Parallel()
	turn := answered("m1", `{"type":"text","text":"done"}`, "")
	lines := strings.ReplaceAll(newer([3]string{"u1", "", said("hi")}, [3]string{"a1", "u1", turn}, [3]string{"u2", "a1", said("on")},
		[3]string{"a2", "u2", strings.Replace(turn, "m1", "m2", 1)}), "claude-x", "claude-opus-5-5")
	for _, test := range []struct{ first, last, want string }{
		{"2.1.332", "2.1.332", "exact"}, {"2.1.332", "2.1.999", "rule"}, {"2.1.999", "2.1.332", "rule"}, {"2.1.40", "2.1.40", "rule"},
	} {
		text := strings.Replace(strings.ReplaceAll(lines, "2.1.290", test.last), test.last, test.first, 1)
		s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(text), sessionfmt.Options{}))
		e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.Before(s.Leaf())))
		if got := must.Get(e.Reading()).Certainty; got.Messages != test.want {
			t.Errorf("%s, then %s: %+v; want %s", test.first, test.last, got, test.want)
		}
	}
}
