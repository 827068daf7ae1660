package cline

import (
	"strings"
	"testing"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

func quoted(text string) jsonl.Value { return jsonl.AppendQuoted(nil, text) }

// TestShorten: the lengths of what stays on both sides follow from the length of the mark, in UTF-16 units.
func TestShorten(t *testing.T) {
	for _, test := range []struct {
		text       string
		head, tail int // UTF-16 units
		mark       string
	}{
		{strings.Repeat("a", 8000), 8000, 0, ""},
		{strings.Repeat("a", 8001), 3985, 3985, "\n\n...[truncated 31 chars]...\n\n"},
		{strings.Repeat("ab", 10000), 3983, 3983, "\n\n...[truncated 12034 chars]...\n\n"},
	} {
		short := shorten(quoted(test.text), mostOfResult)
		want := test.text[:test.head] + test.mark + test.text[len(test.text)-test.tail:]
		if test.mark == "" {
			want = test.text
		}
		if got := short.Exact(); got != want {
			t.Errorf("%d units: %d bytes, want %d: %.60q", len(test.text), len(got), len(want), got[min(len(got), 3970):])
		}
	}
	short := shorten(quoted("x"+strings.Repeat("😀", 5000)), mostOfResult) // half of a pair is left
	if got := short.Exact(); strings.Count(got, "\ufffd") != 1 {
		t.Errorf("%d characters are cut in half", strings.Count(got, "\ufffd"))
	}
}

// TestNormalized: what is sent of a prompt.
func TestNormalized(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", " \ufeff\n spaced\t": "spaced", "\u0085x": "\u0085x",
		`<user_input mode="act"> a <b> </user_input>`:                       "a <b>",
		`x <user_input mode="act">a</user_input><user_input>b</user_input>`: "x ab",
		`<user_input mode="plan">open`:                                      "open",
		`<user_command slash="team">go</user_command>`:                      "go",
		`<user_inputs>a</user_inputs>`:                                      "a</user_inputs>",
	} {
		if got := normalized(quoted(text).Spelled()).Exact(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSentResult: pictures are taken out of the JSON of a result, where there are any.
func TestSentResult(t *testing.T) {
	const picture = `{"type":"image","data":"AA","mediaType":"image/png"}`
	for content, want := range map[string]string{
		`"as it is"`: "as it is", `[{"query":"a", "result":"b"}]`: `[{"query":"a","result":"b"}]`,
		`[{"result":[{"type":"text","text":"ok"},` + picture + `]}]`: `[{"result":["ok"]}] and 1`,
		`{"shot":` + picture + `}`:                                   `{"shot":"[image attached]"} and 1`,
		`{"b":1.50,"a\"b":` + picture + `,"10":[ ]}`:                 `{"10":[],"b":1.5,"a\"b":"[image attached]"} and 1`,
		`[{"result":[{"type":"text","text":"ok"}]}]`:                 `[{"result":[{"type":"text","text":"ok"}]}]`,
	} {
		text, images := sentResult(jsonl.Value(content))
		got := text.Exact()
		if len(images) > 0 {
			got += " and 1"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", content, got, want)
		}
	}
}

// TestReturned: what is known of a result once it was read.
func TestReturned(t *testing.T) {
	long := strings.Repeat("é", mostOfResult)
	for content, want := range map[string]returned{
		`"image"`: {}, `["image"]`: {media: true}, `[{"result":"b","success":true}]`: {}, `{"a":{"type":"image"}}`: {media: true},
		`[{"query":"a"},{"result":"b","success" : false}]`: {unsuccessful: true}, `[{"r":{"success": false}}]`: {unsuccessful: true},
		`[{"type":"text","text":"a"}]`: {listed: true}, `[{"a":1},{"type":"text"}]`: {}, `[{"type":"image"}]`: {media: true, listed: true},
		`"{\"error\":\"x\",\"success\":false}"`: {unsuccessful: true}, `[{"result":"\"success\":false"}]`: {},
		`"` + long + `"`: {}, `"` + long + `x"`: {long: true}, `[{"r":["` + long + `x"]}]`: {long: true}, `["` + long + `x"]`: {long: true},
	} {
		var got returned
		if all := got.read(new(jsonl.Cursor).Reset(jsonl.Value(content))); got != want || string(all.Value) != content {
			t.Errorf("%.60s: %+v, want %+v", content, got, want)
		}
	}
}

// TestReads: what is read again is outdated, and lines of a file once all of it is.
func TestReads(t *testing.T) {
	var r reads
	key := func(query string, size int) { r.add(appendKey(nil, query, size)) }
	for _, step := range []struct {
		query    string
		size     int
		outdated int
	}{
		{"a.go", 100, 0}, {"a.go:1-5", 10, 0}, {"a.go:6-EOF", 20, 0}, {"a.go:1-5", 11, 10}, {"a.go", 50, 141}, {"b.go", 9, 141},
		{"a.go", 0, 191},
	} {
		if key(step.query, step.size); r.outdated != step.outdated {
			t.Errorf("%s: %d bytes are outdated, want %d", step.query, r.outdated, step.outdated)
		}
	}
	for range 3 {
		key("c.go", mostOutdated)
	}
	if key("c.go", 1); r.outdated != 191+3*3*mostOfResult || !r.add(nil) {
		t.Errorf("%d bytes are outdated", r.outdated)
	}
}

// TestComposer: a call without a result gets one, after the first result of its answer.
func TestComposer(t *testing.T) {
	c := (&composer{}).Copy(dialect.Request{})
	var out []string
	for _, item := range []string{
		`{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"x"}},{"id":"2","function":{"name":"y"}},{"id":"3","function":{"name":"z"}}]}`,
		`{"role":"tool","tool_call_id":"2"}`, `{"role":"tool","tool_call_id":"3"}`, `{"role":"user","content":"a"}`,
	} {
		for _, done := range c.Add(jsonl.Value(item)) {
			out = append(out, done.Get("role").Text()+done.Get("tool_call_id").Text())
		}
	}
	if got := strings.Join(out, " "); got != "assistant tool2 tool1 tool3 user" || len(c.End()) != 0 {
		t.Error(got)
	}
}
