package claude_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// newer makes a transcript of a version with snapshots: each line is a uuid, its parent and the rest.
func newer(lines ...[3]string) string {
	var b strings.Builder
	for n, l := range lines {
		parent := `"` + l[1] + `"`
		if l[1] == "" {
			parent = "null"
		}
		fmt.Fprintf(&b, `{"parentUuid":%s,"sessionId":"s1","version":"2.1.290","uuid":%q,"timestamp":"2026-01-01T00:00:%02d.000Z",%s}`+"\n", parent, l[0], n, l[2])
	}
	return b.String()
}

func said(text string) string {
	return fmt.Sprintf(`"type":"user","message":{"role":"user","content":%q}`, text)
}

func answered(id, block, more string) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"role":"assistant","model":"claude-x","content":[%s],"stop_reason":"end_turn","usage":{"input_tokens":1}}%s`, id, block, more)
}

func attached(attachment, more string) string {
	return fmt.Sprintf(`"type":"attachment","attachment":{%s}%s`, attachment, more)
}

// snapshotOf is a prompt snapshot of a changing text, with tools of those names.
func snapshotOf(changing, tools string) string {
	var all []string
	for name := range strings.FieldsSeq(tools) {
		all = append(all, fmt.Sprintf(`{"name":%q,"description":"not sent","schema":{"name":%q,"description":"d","input_schema":{"type":"object"}}}`, name, name))
	}
	more := ""
	if all != nil {
		more = `,"cliPrefix":"You are it.","tools":[` + strings.Join(all, ",") + `]`
	}
	return attached(fmt.Sprintf(`"type":"prompt_snapshot","systemPrompt":["Be brief.","Be kind.","__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__",%q],"echoWireToolInputs":true%s`, changing, more), "")
}

// TestSnapshots: the later of two snapshots around the first answer is what that was asked with, one
// after that answer changes only what differs, and calls are as the model wrote them.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	call := `{"type":"tool_use","id":"t1","name":"T","input":{"command":"ls"}}`
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(newer(
		[3]string{"u1", "", said("hi")},
		[3]string{"p1", "u1", snapshotOf("before", "")},
		[3]string{"a1", "p1", answered("m1", call, `,"wireToolInputs":{"t1":{"command":"cd /w && ls"}}`)},
		[3]string{"p2", "a1", snapshotOf("first", "mcp__x T Edit")},
		[3]string{"r1", "a1", `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}`},
		[3]string{"a2", "r1", answered("m2", `{"type":"text","text":"done"}`, "")},
		[3]string{"p3", "a2", snapshotOf("second", "T Edit Read")},
		[3]string{"u2", "p3", said("on")},
		[3]string{"a3", "u2", answered("m3", `{"type":"text","text":"yes"}`, "")},
	)), sessionfmt.Options{}))
	defer s.Close()
	for _, test := range []struct{ at, prompt, tools string }{
		{"a1", "You are it. | Be brief.\n\nBe kind. | first", "Edit T mcp__x"},
		{"a2", "You are it. | Be brief.\n\nBe kind. | first", "Edit T mcp__x"},
		{"a3", "You are it. | Be brief.\n\nBe kind. | second", "Edit Read T"},
	} {
		e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.Before(s.Find(test.at))))
		p := must.Get(e.Prompt())
		var parts, tools []string
		for _, part := range p.Parts {
			parts = append(parts, part.Text)
		}
		for _, tool := range p.Tools {
			tools = append(tools, tool.Name)
		}
		slices.Sort(tools)
		if got := strings.Join(parts, " | "); got != test.prompt || strings.Join(tools, " ") != test.tools {
			t.Errorf("%s: prompt %q, tools %q; want %q, %q", test.at, got, tools, test.prompt, test.tools)
		}
	}
	if c := s.Reading().Certainty; c.System != "rule" || c.Tools != "rule" {
		t.Errorf("certainty %+v", c)
	}
	line := must.Get(s.NewReader().Line(s.Find("a1")))
	for block := range line.Get("message").Get("content").Elements {
		if got := block.Get("arguments").Get("command").Text(); got != "cd /w && ls" {
			t.Errorf("the model wrote %q", got)
		}
	}
}

// TestAttachments: what an attachment says is what was sent, and nothing where nothing was; none of
// them leaves a call without its result.
func TestAttachments(t *testing.T) {
	t.Parallel()
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(newer(
		[3]string{"u1", "", said("hi")},
		[3]string{"n1", "u1", attached(`"type":"date","date":"today"`, `,"rendered":[{"content":"It is today."},{"content":[{"type":"text","text":"Or so."}]}],"renderedRole":"system"`)},
		[3]string{"n2", "n1", attached(`"type":"todo","content":"not sent"`, "")},
		[3]string{"a1", "n2", answered("m1", `{"type":"tool_use","id":"t1","name":"T","input":{}}`, "")},
		[3]string{"h1", "a1", attached(`"type":"hook_success","hookEvent":"PreToolUse","stdout":"fine"`, "")},
		[3]string{"r1", "a1", `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}`},
		[3]string{"h2", "r1", attached(`"type":"hook_success","hookEvent":"PostToolUse","stdout":"fine"`, "")},
		[3]string{"q1", "h2", attached(`"type":"queued_command","prompt":"and then?","origin":{"kind":"human"}`, `,"rendered":[{"content":"They ask: and then?"}]`)},
		[3]string{"a2", "q1", answered("m2", `{"type":"text","text":"done"}`, "")},
	)), sessionfmt.Options{}))
	defer s.Close()
	e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
	var sent []string
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, m.Kind.Role()+": "+m.Raw.Get("content").ContentText())
	}
	want := []string{"user: hi", "custom: It is today.\nOr so.", "assistant: ", "toolResult: out", "user: They ask: and then?", "assistant: done"}
	if !slices.Equal(sent, want) {
		t.Errorf("sent %q\nwant %q", sent, want)
	}
}

// TestIterations: where a response is several calls of the model, the last one's count is the size of
// the context, and all of them cost.
func TestIterations(t *testing.T) {
	t.Parallel()
	used := `"input_tokens":30,"output_tokens":6,"iterations":[{"type":"message","input_tokens":10,"output_tokens":2},{"type":"compaction","input_tokens":99},{"type":"message","input_tokens":20,"output_tokens":4}]`
	answer := strings.Replace(answered("m1", `{"type":"text","text":"x"}`, ""), `"input_tokens":1`, used, 1)
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(newer([3]string{"u1", "", said("hi")}, [3]string{"a1", "u1", answer})), sessionfmt.Options{}))
	u := must.Get(s.NewReader().Line(s.Leaf())).Get("message").Get("usage").Usage()
	if u.Input != 30 || u.Output != 6 || u.Context() != 24 {
		t.Errorf("usage %+v", u)
	}
}
