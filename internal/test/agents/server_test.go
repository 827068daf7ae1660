package agents

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// A heard is an answer as a client reads it.
type heard struct {
	id, thought, text, stop string
	calls                   []string // id, name and input
	prompt, read, output    float64
	failed                  string
}

// A client sends a request and reads the answer, as an interface has them.
type client struct {
	path, streamed string // where a request goes; streamed, if that is another path
	body           func(stream bool) object
	whole          func(o object, h *heard)
	event          func(o object, h *heard)
}

var clients = map[string]client{
	"anthropic": {
		path: "/v1/messages",
		body: func(stream bool) object {
			return object{"model": "m", "stream": stream, "system": "S", "tools": []any{object{"name": "look"}},
				"messages": []any{object{"role": "user", "content": "Hello"}}}
		},
		whole: func(o object, h *heard) {
			h.id, h.stop = word(o, "id"), word(o, "stop_reason")
			for _, b := range contents(o["content"]) {
				hearBlock(b, h)
			}
			hearUsage(o["usage"].(object), h)
		},
		event: func(o object, h *heard) {
			switch o["type"] {
			case "message_start":
				m := o["message"].(object)
				h.id = word(m, "id")
				hearUsage(m["usage"].(object), h)
			case "content_block_start":
				hearBlock(o["content_block"].(object), h)
			case "content_block_delta":
				d := o["delta"].(object)
				h.thought += word(d, "thinking")
				h.text += word(d, "text")
				if last := len(h.calls) - 1; d["partial_json"] != nil {
					h.calls[last] = strings.TrimSuffix(h.calls[last], "{}") + word(d, "partial_json")
				}
			case "message_delta":
				h.stop = word(o["delta"].(object), "stop_reason")
				h.output = o["usage"].(object)["output_tokens"].(float64)
			case "error":
				h.failed = word(o["error"].(object), "type")
			}
		},
	},
	"openai-responses": {
		path: "/v1/responses",
		body: func(stream bool) object {
			return object{"model": "m", "stream": stream, "instructions": "S", "tools": []any{object{"name": "look"}},
				"input":   []any{object{"type": "message", "role": "user", "content": "Hello"}},
				"include": []any{"reasoning.encrypted_content"}}
		},
		whole: hearResponse,
		event: func(o object, h *heard) {
			switch typ := word(o, "type"); typ {
			case "response.output_text.delta":
				h.text += word(o, "delta")
			case "response.reasoning_summary_text.delta":
				h.thought += word(o, "delta")
			case "response.completed", "response.failed":
				text, thought := h.text, h.thought
				h.text, h.thought = "", ""
				hearResponse(o["response"].(object), h)
				if text != h.text || thought != h.thought {
					h.failed = "the deltas are others than the whole: " + text + thought
				}
			}
		},
	},
	"openai-chat": {
		path: "/v1/chat/completions",
		body: func(stream bool) object {
			return object{"model": "m", "stream": stream, "stream_options": object{"include_usage": true},
				"tools": []any{object{"function": object{"name": "look"}}},
				"messages": []any{object{"role": "system", "content": "S"},
					object{"role": "user", "content": "Hello"}}}
		},
		whole: func(o object, h *heard) { hearChoice(o, "message", h) },
		event: func(o object, h *heard) {
			if e, ok := o["error"].(object); ok {
				h.failed = word(e, "code")
				return
			}
			hearChoice(o, "delta", h)
		},
	},
	"google": {
		path: "/v1beta/models/m:generateContent", streamed: "/v1beta/models/m:streamGenerateContent?alt=sse",
		body: func(bool) object {
			return object{"systemInstruction": object{"parts": []any{object{"text": "S"}}},
				"tools":    []any{object{"functionDeclarations": []any{object{"name": "look"}}}},
				"contents": []any{object{"role": "user", "parts": []any{object{"text": "Hello"}}}}}
		},
		whole: hearCandidate,
		event: hearCandidate,
	},
}

func hearBlock(b object, h *heard) {
	h.thought += word(b, "thinking")
	h.text += word(b, "text")
	if b["type"] == "tool_use" {
		h.calls = append(h.calls, word(b, "id")+" "+word(b, "name")+" "+encoded(b["input"]))
	}
}

func hearUsage(u object, h *heard) {
	n := func(name string) float64 { return u[name].(float64) }
	h.read, h.output = n("cache_read_input_tokens"), n("output_tokens")
	h.prompt = n("input_tokens") + h.read + n("cache_creation_input_tokens")
}

func hearResponse(o object, h *heard) {
	h.id, h.stop = word(o, "id"), word(o, "status")
	for _, item := range contents(o["output"]) {
		for _, c := range contents(item["content"]) {
			h.text += word(c, "text")
		}
		for _, c := range contents(item["summary"]) {
			h.thought += word(c, "text")
		}
		if item["type"] == "reasoning" && item["encrypted_content"] == nil {
			h.failed = "not sealed"
		}
		if item["type"] == "function_call" {
			h.calls = append(h.calls, word(item, "call_id")+" "+word(item, "name")+" "+word(item, "arguments"))
		}
	}
	if e, ok := o["error"].(object); ok {
		h.failed = word(e, "code")
	}
	u := o["usage"].(object)
	h.prompt, h.output = u["input_tokens"].(float64), u["output_tokens"].(float64)
	h.read = u["input_tokens_details"].(object)["cached_tokens"].(float64)
}

func hearChoice(o object, name string, h *heard) {
	h.id = word(o, "id")
	for _, c := range contents(o["choices"]) {
		if stop := word(c, "finish_reason"); stop != "" {
			h.stop = stop
		}
		m := c[name].(object)
		h.thought += word(m, "reasoning_content")
		h.text += word(m, "content")
		for _, call := range contents(m["tool_calls"]) {
			f := call["function"].(object)
			if call["id"] != nil {
				h.calls = append(h.calls, word(call, "id")+" "+word(f, "name")+" ")
			}
			h.calls[len(h.calls)-1] += word(f, "arguments")
		}
	}
	if u, ok := o["usage"].(object); ok {
		h.prompt, h.output = u["prompt_tokens"].(float64), u["completion_tokens"].(float64)
		h.read = u["prompt_tokens_details"].(object)["cached_tokens"].(float64)
	}
}

func hearCandidate(o object, h *heard) {
	if e, ok := o["error"].(object); ok {
		h.failed = word(e, "status")
		return
	}
	h.id = word(o, "responseId")
	for _, c := range contents(o["candidates"]) {
		h.stop = word(c, "finishReason")
		for _, p := range contents(c["content"].(object)["parts"]) {
			if p["thought"] == true {
				h.thought += word(p, "text")
			} else {
				h.text += word(p, "text")
			}
			if f, ok := p["functionCall"].(object); ok {
				h.calls = append(h.calls, " "+word(f, "name")+" "+encoded(f["args"]))
			}
		}
	}
	if u, ok := o["usageMetadata"].(object); ok {
		h.prompt, h.read = u["promptTokenCount"].(float64), u["cachedContentTokenCount"].(float64)
		h.output = u["candidatesTokenCount"].(float64) + u["thoughtsTokenCount"].(float64)
	}
}

// asks sends a request to a server, and reads the answer up to its end, or to where it breaks off.
func (c client) asks(s *Server, stream bool) (h heard, status int, err error) {
	path := c.path
	if stream && c.streamed != "" {
		path = c.streamed
	}
	server := httptest.NewServer(s)
	defer server.Close()
	res, err := http.Post(server.URL+path, "application/json", strings.NewReader(encoded(c.body(stream))))
	if err != nil {
		return h, 0, err
	}
	defer res.Body.Close()
	if !stream || res.StatusCode != http.StatusOK {
		var o object
		must.Do(json.NewDecoder(res.Body).Decode(&o))
		if res.StatusCode == http.StatusOK {
			c.whole(o, &h)
		}
		return h, res.StatusCode, nil
	}
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return h, res.StatusCode, err
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && string(data) != "[DONE]\n" {
			var o object
			must.Do(json.Unmarshal(data, &o))
			c.event(o, &h)
		}
	}
}

// TestServer: an answer is the same in each interface, streamed and not, and no two have the same id.
func TestServer(t *testing.T) {
	thought := "I think."
	planned := Answer{Text: Texts{"Look: ü.", " More."}, Thinking: &thought,
		Calls: []Call{{Name: "look", Input: json.RawMessage(`{"at":"x"}`)}, {Name: "look"}}}
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			s := &Server{stop: make(chan struct{})}
			seen := map[string]bool{}
			for n, stream := range []bool{true, false} {
				s.Plan(1, []Answer{planned})
				h, _, err := c.asks(s, stream)
				if err != nil || h.failed != "" {
					t.Fatalf("stream %t: %v, %s", stream, err, h.failed)
				}
				if h.text != "Look: ü. More." || h.thought != thought || len(h.calls) != 2 || h.stop == "" {
					t.Fatalf("stream %t: %+v", stream, h)
				}
				for k, want := range []string{` look {"at":"x"}`, " look {}"} {
					id, ok := strings.CutSuffix(h.calls[k], want)
					if !ok || id != "" && seen[id] {
						t.Errorf("stream %t: call %s, want an id of its own and%s", stream, h.calls[k], want)
					}
					seen[id] = true
				}
				if q := s.Log()[n]; h.id == "" || seen[h.id] || q.Answer != h.id || q.Interface != name {
					t.Errorf("stream %t: answer %q, logged is %q of %s", stream, h.id, q.Answer, q.Interface)
				}
				seen[h.id] = true
				if h.prompt == 0 || h.output == 0 || (h.read > 0) != (n > 0) {
					t.Errorf("stream %t, request %d: prompt %v, %v of it from the cache, output %v", stream, n, h.prompt,
						h.read, h.output)
				}
			}
			if s.Left() != 0 {
				t.Errorf("%d answers are left", s.Left())
			}
		})
	}
}

// TestBroken: an answer that fails, breaks off or gets an error in its stream is seen as such in each interface.
func TestBroken(t *testing.T) {
	for name, c := range clients {
		s := &Server{stop: make(chan struct{})}
		s.Plan(1, []Answer{{Status: 429}, {Text: Texts{"Begun"}, Cut: true},
			{Text: Texts{"Begun"}, Failed: &Failed{Code: "overloaded", Message: "Busy."}}})
		if _, status, _ := c.asks(s, true); status != 429 {
			t.Errorf("%s: status %d", name, status)
		}
		if h, _, err := c.asks(s, true); err == nil || h.stop != "" {
			t.Errorf("%s: cut: %v, %+v", name, err, h)
		}
		if h, _, err := c.asks(s, true); err != nil || h.failed != "overloaded" {
			t.Errorf("%s: failed: %v, %+v", name, err, h)
		}
		var ended []string
		for _, q := range s.Log() {
			ended = append(ended, q.Ended)
		}
		if got := strings.Join(ended, ", "); got != "http 429, cut, failed" {
			t.Errorf("%s: %s", name, got)
		}
	}
}
