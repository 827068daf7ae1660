package codex

import (
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// answer appends an answer: the items of a response, its usage, and the model of its turn.
func (w *writer) answer(e *dialect.Entry) {
	var parts []jsonl.Value
	calls := false
	for _, line := range e.Lines {
		if it := item(line); isItem(line) {
			parts = append(parts, it)
			calls = calls || callName(it).Exists()
		}
	}
	w.raw(`{"role":"assistant","content":[`)
	w.answerBlocks(parts)
	w.raw(`],"api":"openai-codex-responses"`)
	w.usageOf(e.Lines)
	switch {
	case e.Unanswered:
		w.raw(`,"stopReason":"aborted"`)
	case calls:
		w.raw(`,"stopReason":"toolUse"`)
	default:
		w.raw(`,"stopReason":"stop"`)
	}
	w.end(parts)
}

// end ends a message that items make. By the id of the first one the same message is
// known again after a compaction.
func (w *writer) end(items []jsonl.Value) {
	w.member(",", "id", items[0].Get("id"))
	w.nativeItems(items...)
	w.raw("}")
}

// isItem reports whether a line is a response item.
func isItem(line jsonl.Value) bool {
	typ := line.Get("type")
	if typ.Is("response_item") {
		return true
	}
	_, other := types[typ.Text()]
	return !other
}

// answerBlocks appends the blocks of an answer's items.
func (w *writer) answerBlocks(parts []jsonl.Value) {
	first := true
	next := func() {
		if !first {
			w.raw(",")
		}
		first = false
	}
	for _, it := range parts {
		var f [6]jsonl.Value
		it.Fields(f[:], "type", "content", "summary", "call_id", "encrypted_content", "id")
		switch {
		case f[0].Is("reasoning"):
			said := false
			for _, list := range []jsonl.Value{f[2], f[1]} {
				for s := range list.Elements {
					if text := s.Get("text"); text.IsString() {
						next()
						w.raw(`{"type":"thinking"`)
						w.member(",", "thinking", text)
						w.raw("}")
						said = true
					}
				}
			}
			if !said && f[4].IsString() {
				next()
				w.raw(`{"type":"opaque","item":"reasoning"}`)
			}
		case callName(it).Exists():
			next()
			w.raw(`{"type":"toolCall"`)
			w.member(",", "id", f[3])
			w.member(",", "name", callName(it))
			w.raw(`,"arguments":`)
			w.arguments(it)
			w.raw("}")
		case f[1].IsArray():
			for block := range f[1].Elements {
				next()
				w.block(block)
			}
		default:
			next()
			w.out = append(w.out, it...)
		}
	}
}

// callName is the name of the tool that an item calls, absent where it calls none.
func callName(it jsonl.Value) jsonl.Value {
	var f [2]jsonl.Value
	it.Fields(f[:], "type", "name")
	switch {
	case f[0].Is("function_call"), f[0].Is("custom_tool_call"):
		return f[1]
	case f[0].Is("local_shell_call"):
		return jsonl.Value(`"local_shell"`)
	case f[0].Is("tool_search_call"):
		return jsonl.Value(`"tool_search"`)
	}
	return nil
}

// arguments appends those of a call, an object.
func (w *writer) arguments(it jsonl.Value) {
	var f [3]jsonl.Value
	it.Fields(f[:], "arguments", "input", "action")
	for _, v := range f {
		if v.IsObject() {
			w.out = append(w.out, v...)
			return
		}
		if !v.IsString() {
			continue
		}
		if args, err := jsonl.ParseValue([]byte(v.Text())); err == nil && args.IsObject() {
			w.out = append(w.out, args...)
			return
		}
		w.raw("{")
		w.member("", "input", v)
		w.raw("}")
		return
	}
	w.raw("{}")
}

// usageOf appends model and usage, as lines of a turn have them.
func (w *writer) usageOf(lines []jsonl.Value) {
	w.raw(`,"provider":"openai"`)
	var used, model, id jsonl.Value
	for _, line := range lines {
		payload := line.Get("payload")
		switch typ := line.Get("type"); {
		case typ.Is("turn_context"):
			model = payload.Get("model")
		case typ.Is("token_usage_record"):
			used, id = payload.Get("usage"), payload.Get("response_id")
		case typ.Is("event_msg") && payload.Get("type").Is("token_count"):
			used = payload.Get("info").Get("last_token_usage")
		}
	}
	if !model.IsString() {
		model = jsonl.Value(`"unknown"`)
	}
	w.member(",", "model", model)
	w.member(",", "responseId", id)
	w.usage(used)
}

// usage appends a usage in pi's terms: what was read from the cache is no part of the input.
func (w *writer) usage(used jsonl.Value) {
	if !used.IsObject() {
		return
	}
	var f [5]jsonl.Value
	used.Fields(f[:], "input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "total_tokens")
	read, write := f[1].Int(), f[2].Int()
	w.raw(`,"usage":{`)
	for k, m := range []struct {
		name string
		n    int64
	}{{"input", max(0, f[0].Int()-read-write)}, {"output", f[3].Int()}, {"cacheRead", read}, {"cacheWrite", write}, {"totalTokens", f[4].Int()}} {
		if k > 0 {
			w.raw(",")
		}
		w.raw(`"` + m.name + `":`)
		w.out = strconv.AppendInt(w.out, m.n, 10)
	}
	w.raw("}")
}
