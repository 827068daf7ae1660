package claude_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/out/body"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An object is one of JSON.
type object = map[string]any

// hashed is the SHA-256 of a value as package json spells it, which sorts the members of maps.
func hashed(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must.Do(e.Encode(v))
	return fmt.Sprintf("%x", sha256.Sum256(bytes.TrimSpace(b.Bytes())))
}

// recordOf is the line of a recorded request of turns, which builds on base and keeps as many of its
// messages.
func recordOf(id, base string, keep int, shape object, turns []any, more object) object {
	body := object{"model": "claude-x", "max_tokens": 10, "system": shape["system"], "tools": shape["tools"], "messages": turns}
	line := object{
		"type": "api-request", "sessionId": "s1", "id": id, "querySource": "repl_main_thread", "keep": keep,
		"params": object{"model": "claude-x", "max_tokens": 10}, "shapeHash": hashed(shape), "withheld": []any{},
		"requestDigest": hashed(body),
	}
	if base != "" {
		line["base"] = base
	}
	var tail []string
	for _, turn := range turns[keep:] {
		tail = append(tail, hashed(turn))
	}
	line["tail"] = tail
	for name, v := range more {
		line[name] = v
	}
	return line
}

func turnOf(role string, parts ...any) object { return object{"role": role, "content": parts} }
func textOf(text string) object               { return object{"type": "text", "text": text} }

// bodyOf is the request of an envelope as its own provider takes it.
func bodyOf(e *replay.Envelope) (v any) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	form := slices.IndexFunc(body.Forms, func(f *body.Form) bool { return f.Name == "anthropic" })
	must.Do(body.Forms[form].Write(w, e))
	w.Flush()
	d := json.NewDecoder(&b)
	d.UseNumber()
	must.Do(d.Decode(&v))
	return v
}

// TestRequests: recorded requests are rebuilt from records, their beginnings and blobs, their digests
// are checked, and each belongs to the answer after it.
func TestRequests(t *testing.T) {
	t.Parallel()
	shape := object{"system": []any{textOf("You are it."), textOf("Be brief.")}, "tools": []any{object{"name": "T", "input_schema": object{}}}}
	picture := object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "AA=="}}
	other := object{"system": []any{textOf("You are it."), textOf("Sum up.")}, "tools": []any{}}
	first := []any{turnOf("user", textOf("h\u00e9 <i>"), picture, textOf("more")),
		object{"role": "system", "content": []any{textOf("now")}, "output_config": object{"effort": "low"}, "a": 1}}
	call := object{"type": "tool_use", "id": "t1", "name": "T", "input": object{"b": 1.50, "a": []any{true}}}
	second := append(slices.Clone(first), turnOf("assistant", textOf("on"), call),
		turnOf("user", object{"type": "tool_result", "tool_use_id": "t1", "content": "done"}))
	asText := func(v any) string { return string(must.Get(json.Marshal(v))) }
	lines := func(one, two object) string {
		return strings.Join([]string{
			asText(object{"type": "api-request-shape", "sessionId": "s1", "shapeHash": hashed(shape), "shape": shape}),
			asText(object{"type": "api-request-shape", "sessionId": "s1", "shapeHash": hashed(other), "shape": other}),
			asText(object{"type": "api-request-blob", "sessionId": "s1", "hash": "", "message": first[1]}),
			newer([3]string{"u1", "", said("h\u00e9 <i>")}, [3]string{"u2", "u1", `"type":"user","message":{"role":"user","content":` + asText([]any{picture, textOf("more")}) + `}`}, [3]string{"u3", "u2", said("not yet sent")}) + asText(one),
			asText(recordOf("c1", "", 0, other, first[:1], object{"querySource": "compact"})),
			newer([3]string{"a1", "u2", answered("m1", `{"type":"text","text":"on"}`, "")},
				[3]string{"a2", "a1", answered("m1", asText(call), "")},
				[3]string{"r1", "a2", `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}`}) + asText(two),
			newer([3]string{"a3", "r1", answered("m2", `{"type":"text","text":"end"}`, "")}),
		}, "\n")
	}
	marked := append(slices.Clone(second[:3]), turnOf("user", object{"type": "tool_result", "tool_use_id": "t1", "content": "done", "cache_control": object{"type": "ephemeral"}}))
	mark := object{"path": []any{"messages", 3, "content", 0}, "value": object{"type": "ephemeral"}}
	digestOfMarked := recordOf("", "", 0, shape, marked, nil)["requestDigest"]
	for _, test := range []struct {
		about string
		more  object // of the second request
		want  dialect.Proof
	}{
		{"plain", nil, dialect.Proved},
		{"marked for the cache", object{"cacheControl": []any{mark}, "requestDigest": digestOfMarked}, dialect.Proved},
		{"another mark", object{"cacheControl": []any{mark}}, dialect.Unproved},
		{"a mark of nothing", object{"cacheControl": []any{object{"path": []any{"messages", 9, "x"}, "value": 1}}}, dialect.Proved},
		{"cut", object{"requestDigest": nil, "cut": true, "cutRequestDigest": recordOf("", "", 0, shape, second, nil)["requestDigest"]}, dialect.Cut},
		{"withheld", object{"requestDigest": "ff", "withheld": []any{"temperature"}}, dialect.Withheld},
		{"withheld, and not hashed", object{"requestDigest": "ff", "withheld": []any{"metadata"}}, dialect.Unproved},
		{"no base", object{"base": "gone"}, dialect.Gone},
		{"too much kept", object{"keep": 3}, dialect.Gone},
		{"an unknown message", object{"tail": []any{"ff"}}, dialect.Gone},
		{"an unknown shape", object{"shapeHash": "ff"}, dialect.Gone},
	} {
		t.Run(test.about, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "s.jsonl")
			text := lines(recordOf("r1", "", 0, shape, first, nil), recordOf("r2", "r1", 2, shape, second, test.more))
			must.Do(os.WriteFile(name, []byte(text), 0o600))
			s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
			defer s.Close()
			var got []string
			for r, err := range s.Requests {
				must.Do(err)
				got = append(got, fmt.Sprintf("%s %s %s", r.ID, r.Answer, must.Get(r.Proof())))
			}
			want := []string{"c1  proved", "r1 a1 proved", "r2 a3 " + string(test.want)}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			e := must.Get(replay.New(s, replay.Options{}).At(must.Get(s.Point("request:1", s.Leaf()))))
			if p := must.Get(e.Prompt()); test.want != dialect.Gone && string(p.Options.MaxTokens) != "10" {
				t.Errorf("%s tokens were asked for", p.Options.MaxTokens)
			}
			exact := test.want == dialect.Proved || test.want == dialect.Cut
			if c := must.Get(e.Reading()).Certainty; (c.System == "exact") != exact || (c.Messages == "exact") != exact {
				t.Errorf("certainty %v", *c)
			}
			if exact { // what is printed is the recorded body
				record := recordOf("", "", 0, shape, second, nil)
				if test.about == "marked for the cache" {
					record = recordOf("", "", 0, shape, marked, nil)
				}
				if got := hashed(bodyOf(e)); got != record["requestDigest"] {
					t.Errorf("the body has the digest %s, want %s", got, record["requestDigest"])
				}
			}
			var messages []string
			for m, err := range e.ContextMessages() {
				must.Do(err)
				if m.Kind != jsonl.System {
					messages = append(messages, m.Kind.Role()+" "+m.Raw.Get("content").ContentText()+string(m.Raw.Get("details")))
				}
			}
			told := []string{"user h\u00e9 <i>", "user more", "assistant on", "toolResult done"}
			if exact { // the message of the system is no attachment
				told = []string{"user h\u00e9 <i>\nmore", `custom now{"role":"system","a":1,"output_config":{"effort":"low"}}`, "assistant on", "toolResult done"}
			}
			if !slices.Equal(messages, told) {
				t.Errorf("messages %q, want %q", messages, told)
			}
			codes := map[string]bool{}
			for _, f := range check.File(name, check.Options{}).Findings {
				codes[f.Code] = true
			}
			if codes["request-unproved"] == exact || !codes["request-differs"] { // the first request, which is proved, differs too

				t.Errorf("check finds %v", codes)
			}
		})
	}
}

// TestRequestsInARow: requests that build on each other are proved by what is new in each, wherever
// the marks for the cache stand, and compared with the conversation likewise.
func TestRequestsInARow(t *testing.T) {
	t.Parallel()
	shape := object{"system": []any{textOf("You are it.")}, "tools": []any{}}
	var turns []any
	var lines strings.Builder
	asText := func(v any) string { return string(must.Get(json.Marshal(v))) + "\n" }
	lines.WriteString(asText(object{"type": "api-request-shape", "sessionId": "s1", "shapeHash": hashed(shape), "shape": shape}))
	parent, base := "", ""
	for k := range 12 {
		keep := max(0, len(turns)-1)
		u, a, asked, told := fmt.Sprint("u", k), fmt.Sprint("a", k), fmt.Sprint("ask ", k), fmt.Sprint("tell ", k)
		lines.WriteString(newer([3]string{u, parent, said(asked)}))
		turns = append(turns, turnOf("user", textOf(asked)))
		at := len(turns) - 1
		if k%4 == 3 {
			at = k // an early one
		}
		marked := slices.Clone(turns)
		of := marked[at].(object)
		part := object{"type": "text", "text": of["content"].([]any)[0].(object)["text"], "cache_control": object{"type": "ephemeral"}}
		marked[at] = turnOf(of["role"].(string), part)
		lines.WriteString(asText(recordOf(fmt.Sprint("r", k), base, keep, shape, turns, object{
			"cacheControl":  []any{object{"path": []any{"messages", at, "content", 0}, "value": object{"type": "ephemeral"}}},
			"requestDigest": recordOf("", "", 0, shape, marked, nil)["requestDigest"],
		})))
		if k == 5 { // a call beside the conversation
			lines.WriteString(asText(recordOf("side", "", 0, shape, turns[:1], object{"querySource": "compact"})))
		}
		lines.WriteString(newer([3]string{a, u, answered(fmt.Sprint("m", k), fmt.Sprintf(`{"type":"text","text":%q}`, told), "")}))
		turns = append(turns, turnOf("assistant", textOf(told)))
		parent, base = a, fmt.Sprint("r", k)
	}
	name := filepath.Join(t.TempDir(), "s.jsonl")
	for _, test := range []struct{ was, is, want string }{
		{"", "", ""},
		{`"content":"ask 4"`, `"content":"ask 4?"`, "request-differs 1"}, // and what the records name is gone
	} {
		text := lines.String()
		if test.was != "" {
			blob := asText(object{"type": "api-request-blob", "sessionId": "s1", "message": turnOf("user", textOf("ask 4"))})
			text = blob + strings.Replace(text, test.was, test.is, 1)
		}
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		for r, err := range s.Requests {
			must.Do(err)
			if proof := must.Get(r.Proof()); proof != dialect.Proved {
				t.Errorf("%s is %s", r.ID, proof)
			}
		}
		s.Close()
		codes := map[string]int{}
		for _, f := range check.File(name, check.Options{}).Findings {
			if f.Code != "time-backward" {
				codes[f.Code]++
			}
		}
		got := ""
		for code, n := range codes {
			got += fmt.Sprintf("%s %d", code, n)
		}
		if got != test.want {
			t.Errorf("findings %q, want %q", got, test.want)
		}
	}
}
