package claude_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// shown is what an attachment says to a role.
func shown(kind, role, text string) string {
	return attached(fmt.Sprintf(`"type":%q`, kind), fmt.Sprintf(`,"rendered":[{"content":%q}],"renderedRole":%q`,
		"<system-reminder>\n"+text+"\n</system-reminder>", role))
}

// asked is an answer of a model to a turn with an effort.
func asked(id, model, effort, block string) string {
	return strings.Replace(answered(id, block, fmt.Sprintf(`,"perTurnEffort":%s`, effort)), "claude-x", model, 1)
}

func returned(call, content string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, call, content)
}

// in is the text as an attachment has it in a message of the user.
func in(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>" }

// TestOrder: what stands between two answers is sent in the order of the program, by the model that is asked. The
// rules were found in requests of Claude Code 2.1.332, and hold in all that were compared.
func TestOrder(t *testing.T) {
	t.Parallel()
	const call, text, thought = `{"type":"tool_use","id":"t1","name":"T","input":{}}`, `{"type":"text","text":"done"}`,
		`{"type":"thinking","thinking":"hm","signature":"s"}`
	plain := [3]string{"p1", "u1", snapshotOf("x", "T")}
	turns := [3]string{"p1", "u1", strings.Replace(snapshotOf("x", "T"), `"tools":`, `"systemTurns":true,"toolChangeHeader":true,"tools":`, 1)}
	for _, test := range []struct {
		name  string
		lines [][3]string
		want  []string
	}{
		{"a reminder becomes a part of the result", [][3]string{{"u1", "", said("hi")}, plain,
			{"a1", "p1", answered("m1", call, "")}, {"r1", "a1", returned("t1", `" out \n"`)},
			{"n1", "r1", shown("task_reminder", "system", "one")}, {"n2", "n1", shown("date", "system", "two")}},
			[]string{"user: hi", "assistant: -", "user: out\n\n" + in("one") + "\n\n" + in("two")}},
		{"and of its parts", [][3]string{{"u1", "", said("hi")}, plain,
			{"a1", "p1", answered("m1", call, "")}, {"r1", "a1", returned("t1", `[{"type":"text","text":"out"}]`)},
			{"n1", "r1", shown("task_reminder", "system", "one")}},
			[]string{"user: hi", "assistant: -", "user: out\n+" + in("one")}},
		{"reminders come before prompts, and the last one ends its line", [][3]string{{"u1", "", said("hi")}, plain,
			{"n1", "p1", shown("model", "system", "one")}, {"n2", "n1", shown("date", "system", "two")},
			{"u2", "n2", said("on")}}, []string{"user: " + in("one") + "|" + in("two") + "\n|hi\n|on"}},
		{"a model of system turns gets them as one message", [][3]string{{"u1", "", said("hi")}, turns,
			{"n1", "p1", shown("model", "system", "one")}, {"n2", "n1", shown("instructions", "user", "two")},
			{"n3", "n2", shown("date", "system", "three")}, {"a1", "n3", asked("m1", "claude-x", `"low"`, text)}, {"u2", "a1", said("on")},
			{"a2", "u2", asked("m2", "claude-x", `"high"`, text)}, {"u3", "a2", said("end")}, {"a3", "u3", asked("m3", "claude-x", `"high"`, text)}},
			[]string{"user: " + in("two") + "\n|hi", "system low: one\n\nthree", "assistant: done", "user: on", "system high: ", "assistant: done", "user: end"}},
		{"the first part of an attachment is a message where nothing comes before it", [][3]string{{"u1", "", said("hi")}, plain,
			{"n1", "p1", attached(`"type":"file"`, `,"rendered":[{"content":"a"},{"content":"b"}],"renderedRole":"user"`)}},
			[]string{"user: a", "user: b\n|hi"}},
		{"another model gets neither thinking nor system turns", [][3]string{{"u1", "", said("hi")}, turns,
			{"n1", "p1", shown("model", "system", "one")}, {"a1", "n1", asked("m1", "claude-opus-5-5", `"low"`, thought)},
			{"a2", "a1", asked("m1", "claude-opus-5-5", `"low"`, text)}, {"u2", "a2", said("on")},
			{"a3", "u2", asked("m2", "claude-sonnet-4-5", "null", text)}, {"u3", "a3", said("end")}, {"a4", "u3", asked("m3", "claude-sonnet-4-5", "null", text)}},
			[]string{"user: " + in("one") + "\n|hi", "assistant: done", "user: on", "assistant: done", "user: end"}},
		{"calls come last in an answer, and blank texts are left out", [][3]string{{"u1", "", said("hi")}, plain,
			{"a1", "p1", answered("m1", call+`,{"type":"text","text":" \n"},`+text, "")}, {"r1", "a1", returned("t1", `"out"`)}},
			[]string{"user: hi", "assistant: done|-", "user: out"}},
		{"a picture that the user named", [][3]string{{"u1", "", said("hi")}, plain, {"n1", "p1", attached(`"type":"file","filename":"/p.png",`+
			`"content":{"type":"image","file":{"base64":"AA==","type":"image/png"}}`, "")}},
			[]string{"user: " + in(`Called the Read tool with the following input: {"file_path":"/p.png"}`), "user: -|hi"}},
		{"frames", [][3]string{{"u1", "", said("hi")}, plain, {"a1", "p1", answered("m1", text, "")},
			{"h1", "a1", said("feedback") + `,"isMeta":true,"hookTextLead":"From a hook."`}, {"o1", "h1", said("limit") + `,"isMeta":true,"ownNote":true`},
			{"c1", "o1", `"type":"system","subtype":"local_command","content":"<local-command-stdout>cost</local-command-stdout>"`}},
			[]string{"user: hi", "assistant: done", "user: " + in("From a hook.\nfeedback") + "\n|" + in("limit") + "\n|<local-command-stdout>cost</local-command-stdout>"}},
		{"a tool that a search found", [][3]string{{"u1", "", said("hi")}, plain, {"a1", "p1", answered("m1", call, "")},
			{"r1", "a1", returned("t1", `[{"type":"tool_reference","tool_name":"X"}]`)}, {"n1", "r1", shown("date", "system", "one")}},
			[]string{"user: hi", "assistant: -", "user: -|Tool loaded.|" + in("one")}},
		{"what the user typed meanwhile is no system turn", [][3]string{{"u1", "", said("hi")}, turns, {"a1", "p1", answered("m1", call, "")},
			{"r1", "a1", returned("t1", `"out"`)}, {"q1", "r1", strings.Replace(shown("queued_command", "system", "said: on"), `"type":"queued_command"`, `"type":"queued_command","commandMode":"prompt"`, 1)}},
			[]string{"user: hi", "assistant: -", "user: out|said: on"}},
		{"without a snapshot no context is announced", [][3]string{{"u1", "", said("hi")}, {"n1", "u1", shown("date", "system", "one")},
			{"n2", "n1", shown("remote_session_change", "user", "two")}, {"n3", "n2", shown("file", "user", "three")}},
			[]string{"user: " + in("three") + "\n|hi"}},
	} {
		if got := order(t, newer(test.lines...)); strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s:\n%q\nwant:\n%q", test.name, got, test.want)
		}
	}
}

// order is what the request gets before the last answer of a transcript, or at its leaf if it ends with none.
func order(t *testing.T, transcript string) (all []string) {
	t.Helper()
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(transcript), sessionfmt.Options{}))
	at := sessionfmt.After(s.Leaf())
	if s.Leaf() >= 0 && s.Answers(s.Leaf()) {
		at = sessionfmt.Before(s.Leaf())
	}
	e := must.Get(replay.New(s, replay.Options{}).At(at))
	for m, err := range e.Native() {
		must.Do(err)
		if !json.Valid(m) {
			t.Errorf("%q is not valid JSON", m)
		}
		role := m.Get("role").Text()
		if effort := m.Get("output_config").Get("effort"); effort.Exists() {
			role += " " + effort.Text()
		}
		all = append(all, role+": "+strings.Join(textsOf(m.Get("content"), "|"), "|"))
	}
	return all
}

func textsOf(content jsonl.Value, _ string) (texts []string) {
	if content.IsString() {
		return []string{content.Text()}
	}
	for b := range content.Elements {
		switch inner := b.Get("content"); {
		case b.Get("text").IsString():
			texts = append(texts, b.Get("text").Text())
		case inner.IsString():
			texts = append(texts, inner.Text())
		case inner.IsArray() && nthText(inner) != "":
			texts = append(texts, nthText(inner))
		default:
			texts = append(texts, "-")
		}
	}
	return texts
}

func nthText(parts jsonl.Value) string {
	var all []string
	for p := range parts.Elements {
		if text := p.Get("text"); text.IsString() {
			all = append(all, text.Text())
		}
	}
	return strings.Join(all, "+")
}

// TestHostile: whatever stands in attachments, results and frames, a request is made of it, and is valid JSON.
func TestHostile(t *testing.T) {
	t.Parallel()
	values := []string{`null`, `5`, `"x"`, `{}`, `[]`, `[null]`, `[5,"x",{}]`, `[{"content":null}]`, `[{"content":{"a":1}}]`,
		`[{"content":[{"type":"text"},5,null,{"type":"text","text":"\ud800"}]}]`, `[{"content":"<system-reminder>"}]`, `true`}
	turns := strings.Replace(snapshotOf("x", "T"), `"tools":`, `"systemTurns":true,"toolChangeHeader":true,"tools":`, 1)
	for _, v := range values {
		for _, p := range []string{turns, snapshotOf("x", "T"), attached(`"type":"prompt_snapshot","systemPrompt":`+v+`,"tools":`+v+`,"systemTurns":`+v, "")} {
			lines := [][3]string{{"u1", "", said("hi")}, {"p1", "u1", p},
				{"a1", "p1", answered("m1", `{"type":"tool_use","id":"t1","name":"T","input":`+v+`}`, `,"perTurnEffort":`+v)},
				{"r1", "a1", returned("t1", v)}, {"r2", "gone", returned("none", v)},
				{"n1", "r1", attached(`"type":"file"`, `,"rendered":`+v+`,"renderedRole":`+v+`,"renderedBesideToolResult":`+v)},
				{"n2", "n9", attached(`"type":`+v, `,"rendered":[{"content":"a"},{"content":`+v+`}],"renderedRole":"system"`)},
				{"n3", "n1", `"type":"attachment","attachment":` + v + `,"rendered":[{"content":` + v + `}],"renderedRole":"system"`},
				{"h1", "n3", `"type":"user","isMeta":true,"ownNote":` + v + `,"hookTextLead":` + v + `,"origin":` + v + `,"message":{"role":"user","content":` + v + `}`},
				{"c1", "h1", `"type":"system","subtype":"local_command","content":` + v}, {"u2", "c1", said("on")}}
			if got := order(t, newer(lines...)); len(got) < 3 {
				t.Errorf("%s: %q", v, got)
			}
		}
	}
}
