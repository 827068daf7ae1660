package agents

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"ctxtool/internal/test/must"
)

type object = map[string]any

// messages answers in the form of the Messages API.
func (s *Server) messages(w http.ResponseWriter, q *Request, asked object, a Answer) {
	if a.Status != 0 {
		for name, v := range a.Headers {
			w.Header().Set(name, v)
		}
		q.Ended = fmt.Sprintf("http %d", a.Status)
		failed := any(a.Body)
		if a.Body == nil {
			failed = object{"type": "error", "error": object{"type": "invalid_request_error",
				"message": fmt.Sprintf("planned %d", a.Status)}}
		}
		reply(w, a.Status, failed)
		return
	}
	content := s.blocks(a, q.N)
	count := s.count(asked, a.Usage, content)
	output := count["output_tokens"]
	count["output_tokens"] = 1
	stop := a.Stop
	if stop == "" {
		stop = "end_turn"
		for _, b := range content {
			if b["type"] == "tool_use" {
				stop = "tool_use"
			}
		}
	}
	q.Answer = fmt.Sprintf("msg_%024d", q.N)
	message := object{"id": q.Answer, "type": "message", "role": "assistant", "model": asked["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": count}
	for name, v := range a.Extra {
		message[name] = v
	}
	w.Header().Set("Request-Id", fmt.Sprintf("req_%d", q.N))
	if asked["stream"] != true {
		count["output_tokens"] = output
		message["content"], message["stop_reason"] = content, stop
		q.Ended = "completed"
		reply(w, http.StatusOK, message)
		return
	}
	end := object{"stop_reason": stop, "stop_sequence": nil}
	for name, v := range a.Delta {
		end[name] = v
	}
	s.stream(w, q, a, message, content, end, output)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// stream sends a message by events.
func (s *Server) stream(w http.ResponseWriter, q *Request, a Answer, message object, content []object, end object,
	output any) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(typ string, data object) {
		data["type"] = typ
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", typ, must.Get(json.Marshal(data)))
	}
	send("message_start", object{"message": message})
	for k, b := range content {
		begun := maps.Clone(b)
		delta := func(typ, name string, v any) {
			send("content_block_delta", object{"index": k, "delta": object{"type": typ, name: v}})
		}
		switch b["type"] {
		case "text":
			begun["text"] = ""
		case "thinking":
			begun = object{"type": "thinking", "thinking": "", "signature": ""}
		case "tool_use":
			begun["input"] = object{}
		}
		send("content_block_start", object{"index": k, "content_block": begun})
		switch b["type"] {
		case "text":
			delta("text_delta", "text", b["text"])
		case "thinking":
			if b["thinking"] != "" {
				delta("thinking_delta", "thinking", b["thinking"])
			}
			delta("signature_delta", "signature", b["signature"])
		case "tool_use":
			delta("input_json_delta", "partial_json", string(must.Get(json.Marshal(b["input"]))))
		}
		if k < len(content)-1 || !a.Hang && !a.Cut {
			send("content_block_stop", object{"index": k})
		}
	}
	w.(http.Flusher).Flush()
	switch {
	case a.Hang:
		q.Ended = "hung"
		s.mu.Lock()
		s.hung++
		q.done = true
		s.mu.Unlock()
		<-s.stop
	case a.Cut:
		q.Ended = "cut"
		panic(http.ErrAbortHandler)
	default:
		q.Ended = "completed"
		send("message_delta", object{"delta": end, "usage": object{"output_tokens": output}})
		send("message_stop", object{})
	}
}

// blocks are the blocks of an answer.
func (s *Server) blocks(a Answer, n int) (all []object) {
	if a.Thinking != nil {
		sign := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(fmt.Sprintf("signature %d ", n), 4)))
		all = append(all, object{"type": "thinking", "thinking": *a.Thinking, "signature": sign})
	}
	for _, t := range a.Text {
		all = append(all, object{"type": "text", "text": t})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range a.Calls {
		s.calls++
		input := any(c.Input)
		if c.Input == nil {
			input = object{}
		}
		all = append(all, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%024d", s.calls), "name": c.Name,
			"input": input})
	}
	for _, b := range a.Blocks {
		var block object
		must.Do(json.Unmarshal(b, &block))
		all = append(all, block)
	}
	return all
}

// count makes a usage: characters / 4, with a cache that serves the longest beginning that was sent before.
func (s *Server) count(asked object, given Usage, content []object) object {
	chars := func(v any) int { return len(must.Get(json.Marshal(v))) }
	keys := []string{string(must.Get(json.Marshal([]any{asked["model"], asked["tools"], Unmarked(asked["system"])})))}
	sizes := []int{chars(asked["tools"]) + chars(asked["system"])}
	list, _ := asked["messages"].([]any)
	for _, m := range list {
		keys = append(keys, string(must.Get(json.Marshal(Unmarked(m)))))
		sizes = append(sizes, chars(m))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	best := 0
	for _, old := range s.before {
		k := 0
		for k < min(len(keys), len(old)) && keys[k] == old[k] {
			k++
		}
		best = max(best, k)
	}
	s.before = append(s.before, keys)
	read, all := 0, 0
	for k, n := range sizes {
		all += n
		if k < best {
			read += n
		}
	}
	or := func(set *int, n int) int {
		if set != nil {
			return *set
		}
		return n
	}
	write := or(given.Write, max(0, (all+3)/4-(read+3)/4-3))
	return object{"input_tokens": or(given.Input, 3), "cache_read_input_tokens": or(given.Read, (read+3)/4),
		"cache_creation_input_tokens": write, "output_tokens": or(given.Output, (chars(content)+3)/4),
		"cache_creation": object{"ephemeral_5m_input_tokens": write, "ephemeral_1h_input_tokens": 0},
		"service_tier":   "standard"}
}

// Unmarked is a decoded value without marks for the cache, at any depth.
func Unmarked(v any) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for k, e := range v {
			all[k] = Unmarked(e)
		}
		return all
	case object:
		all := object{}
		for name, e := range v {
			if name != "cache_control" {
				all[name] = Unmarked(e)
			}
		}
		return all
	}
	return v
}
