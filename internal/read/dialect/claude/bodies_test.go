package claude_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/diff"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestBodiesPart: what ends a prefix is read from the recorded bodies of two requests, also where the session gives
// something else.
func TestBodiesPart(t *testing.T) {
	t.Parallel()
	tool := func(name string) object { return object{"name": name, "input_schema": object{}} }
	shape := func(text string, tools ...any) object {
		return object{"system": []any{textOf("You are it."), textOf(text)}, "tools": tools}
	}
	user := turnOf("user", textOf("one"))
	now := object{"role": "system", "content": []any{textOf("now")}, "output_config": object{"effort": "low"}}
	later := object{"role": "system", "content": []any{textOf("later")}}
	plain := shape("Be brief.", tool("A"), tool("B"))
	rest := []any{turnOf("assistant", textOf("1")), turnOf("user", textOf("two"))}
	params := func(of object) object { return object{"model": "claude-x", "max_tokens": 10, "thinking": of} }
	for _, test := range []struct {
		about string
		shape object
		first any // messages of the second request
		more  object
		read  int
		want  string
	}{
		{"it only adds", plain, []any{user, now}, nil, 30000, ""},
		{"it only adds, and nothing was read", plain, []any{user, now}, nil, 0, ""},
		{"a tool", shape("Be brief.", tool("A"), tool("C")), []any{user, now}, nil, 0, "tools at 0 [tool B tool C], 24800 again"},
		{"a block of the prompt", shape("Be long.", tool("A"), tool("B")), []any{user, now}, nil, 0, "system at 0 [prompt], 24800 again"},
		{"the thinking", plain, []any{user, now}, object{"params": params(object{"type": "enabled", "budget_tokens": 1})}, 0, "thinking at 0 [], 30000 again"},
		{"how thinking is shown", plain, []any{user, now}, object{"params": params(object{"display": "omitted"})}, 0, ""},
		{"a message", plain, []any{user, later}, nil, 0, "rewritten at 1 [], 30000 again"},
		{"a message, and the provider read on", plain, []any{user, later}, nil, 30000, ""},
	} {
		t.Run(test.about, func(t *testing.T) {
			second := append(slices.Clone(test.first.([]any)), rest...)
			answer := func(id, text string, read, write int) string {
				return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"role":"assistant","model":"claude-x","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":0,"output_tokens":1,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}`, id, text, read, write)
			}
			asText := func(v any) string { return string(must.Get(json.Marshal(v))) + "\n" }
			var text strings.Builder
			for _, of := range []object{plain, test.shape} {
				text.WriteString(asText(object{"type": "api-request-shape", "sessionId": "s1", "shapeHash": hashed(of), "shape": of}))
			}
			text.WriteString(newer([3]string{"u1", "", said("one")}) + asText(recordOf("r1", "", 0, plain, []any{user, now}, nil)) +
				newer([3]string{"a1", "u1", answer("m1", "1", 0, 30000)}, [3]string{"u2", "a1", said("two")}) +
				asText(recordOf("r2", "", 0, test.shape, second, test.more)) +
				newer([3]string{"a2", "u2", answer("m2", "2", test.read, 31000-test.read)}))
			s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(text.String()), sessionfmt.Options{}))
			defer s.Close()
			l := must.Get(ledger.Read(replay.New(s, replay.Options{}), ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
			r := must.Get(cache.Account(l, cache.Options{Leaf: s.Leaf()}))
			got := ""
			for row := range r.Rows {
				if b := row.Break; b != nil {
					got += fmt.Sprintf("%s at %d %v, %d again", b.Cause, b.At, b.Sections, b.Rebilled.Tokens)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestBodiesDiffer: two recorded requests are compared in all fields that their records have.
func TestBodiesDiffer(t *testing.T) {
	t.Parallel()
	all := newRecordedSession()
	more := object{"model": "claude-x", "max_tokens": 10, "thinking": object{"type": "adaptive"}, "betas": []any{"b"}}
	body := object{"system": all[0]["shape"].(object)["system"], "tools": []any{}, "messages": []any{turnOf("user", textOf("one")), all[1]["message"],
		turnOf("assistant", textOf("1")), turnOf("user", textOf("two"))}}
	for name, v := range more {
		body[name] = v
	}
	all[6] = with(all[6], object{"params": more, "requestDigest": hashed(body)})
	var text strings.Builder
	for _, o := range all {
		text.WriteString(string(must.Get(json.Marshal(o))) + "\n")
	}
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(text.String()), sessionfmt.Options{}))
	defer s.Close()
	r := replay.New(s, replay.Options{})
	at := func(point string) *replay.Envelope { return must.Get(r.At(must.Get(s.Point(point, s.Leaf())))) }
	d := must.Get(diff.Envelopes(&tokens.Pi, at("request:0"), at("request:1")))
	var got []string
	for _, o := range d.Options {
		got = append(got, fmt.Sprintf("%s %s to %s", o.Name, o.A, o.B))
	}
	if want := []string{`betas  to ["b"]`, `thinking  to {"type":"adaptive"}`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSummaryCall: a compaction whose call is in no file says so, and one of an older version does not.
func TestSummaryCall(t *testing.T) {
	t.Parallel()
	text := newer([3]string{"u1", "", said("one")}, [3]string{"a1", "u1", answered("m1", `{"type":"text","text":"1"}`, "")},
		[3]string{"b1", "", `"type":"system","subtype":"compact_boundary","logicalParentUuid":"a1","compactMetadata":{"trigger":"manual"}`},
		[3]string{"s1", "b1", `"isCompactSummary":true,"type":"user","message":{"role":"user","content":"What was said."}`})
	for version, want := range map[string]bool{"2.1.290": true, "2.1.42": false} {
		s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(strings.ReplaceAll(text, "2.1.290", version)), sessionfmt.Options{}))
		r := outline.NewReader(s)
		said := ""
		for i := range s.Len() {
			if s.Kind(i) == jsonl.Transform {
				said = r.Row(i, must.Get(r.Line(i))).Text
			}
		}
		if strings.HasSuffix(said, "no file has the call for its summary") != want {
			t.Errorf("%s: %q", version, said)
		}
		s.Close()
	}
}
