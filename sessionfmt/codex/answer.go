package codex

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// answer appends an answer: the items of a response, its usage, and the model of its turn.
func (w *writer) answer(e *dialect.Entry) {
	var few [8]item
	items, calls := few[:0], false
	var used usageLines
	for _, line := range e.Lines {
		it := lineItem(line)
		if !isItem(it.of) {
			used.read(&it)
			continue
		}
		items = append(items, it)
		calls = calls || it.tool().Exists()
	}
	w.raw(`{"role":"assistant","content":[`)
	w.answerBlocks(items)
	w.raw(`],"api":"openai-codex-responses"`)
	w.usageOf(&used, items)
	switch {
	case e.Unanswered:
		w.raw(`,"stopReason":"aborted"`)
	case calls:
		w.raw(`,"stopReason":"toolUse"`)
	default:
		w.raw(`,"stopReason":"stop"`)
	}
	w.end(items)
}

// end ends a message that items make. By the id of the first one the same message is
// known again after a compaction.
func (w *writer) end(items []item) {
	w.member(",", "id", items[0].id)
	if w.native {
		w.raw(`,"native":[`)
		for k := range items {
			if k > 0 {
				w.raw(",")
			}
			w.sent(items[k].raw)
		}
		w.raw("]")
	}
	w.raw("}")
}

// answerBlocks appends the blocks of an answer's items.
func (w *writer) answerBlocks(items []item) {
	first := true
	next := func() {
		if !first {
			w.raw(",")
		}
		first = false
	}
	for k := range items {
		it := &items[k]
		switch {
		case it.typ.Is("reasoning"):
			said := false
			for _, list := range []jsonl.Value{it.summary, it.content} {
				for s := range list.Elements {
					if text := s.Get("text"); text.IsString() {
						next()
						w.block("thinking", "thinking", text)
						said = true
					}
				}
			}
			if !said && it.encrypted.IsString() {
				next()
				w.raw(`{"type":"opaque","item":"reasoning"}`)
			}
		case it.tool().Exists():
			next()
			w.raw(`{"type":"toolCall"`)
			w.member(",", "id", it.callID)
			w.member(",", "name", it.tool())
			w.raw(`,"arguments":`)
			w.arguments(it)
			w.raw("}")
		case it.content.IsArray():
			var c jsonl.Cursor
			c.Once(it.content)
			for range c.Elements {
				next()
				w.contentBlock(&c)
			}
		default:
			next()
			w.out = append(w.out, it.raw...)
		}
	}
}

// arguments appends those of a call, an object.
func (w *writer) arguments(it *item) {
	for _, v := range []jsonl.Value{it.arguments, it.input, it.action} {
		if v.IsObject() {
			w.out = append(w.out, v...)
			return
		}
		if !v.IsString() {
			continue
		}
		at := len(w.out)
		w.out = v.AppendText(w.out)
		if text := jsonl.Value(jsonl.Trim(w.out[at:])); text.IsObject() {
			if _, err := jsonl.ParseValue(text); err == nil {
				return
			}
		}
		w.out = append(w.out[:at], '{')
		w.member("", "input", v)
		w.raw("}")
		return
	}
	w.raw("{}")
}

// usageLines are what lines of a turn say of model and usage.
type usageLines struct{ model, usage, id, total jsonl.Value }

func (u *usageLines) read(it *item) {
	switch {
	case it.of.Is("turn_context"):
		u.model = it.model
	case it.of.Is("token_usage_record"):
		u.usage, u.id = it.usage, it.responseID
	case it.typ.Is("token_count"):
		var f [2]jsonl.Value
		it.counts.Fields(f[:], "last_token_usage", "total_token_usage")
		u.usage, u.total = f[0], f[1]
	}
}

// usageOf appends model and usage of a response.
func (w *writer) usageOf(u *usageLines, items []item) {
	w.raw(`,"provider":"openai"`)
	if !u.model.IsString() {
		u.model = jsonl.Value(`"unknown"`)
	}
	if u.total.Exists() && !u.id.Exists() {
		u.id = responseName(items[0].raw, u.total)
	}
	w.member(",", "model", u.model)
	w.member(",", "responseId", u.id)
	w.usage(u.usage)
}

// responseName names a response that has no id in older files, a JSON string: by its first item
// and the total usage after it, which forks copy under new times.
func responseName(item, total jsonl.Value) jsonl.Value {
	h := fnv.New64a()
	h.Write(item)
	h.Write(total)
	return fmt.Appendf(nil, `"usage-%016x"`, h.Sum64())
}

// usage appends a usage in pi's terms: what was read from the cache is no part of the input.
func (w *writer) usage(used jsonl.Value) {
	if !used.IsObject() {
		return
	}
	var f [5]jsonl.Value
	used.Fields(f[:], "input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens", "total_tokens")
	read, write := f[1].Int(), f[2].Int()
	w.number(`,"usage":{"input":`, max(0, f[0].Int()-read-write))
	w.number(`,"output":`, f[3].Int())
	w.number(`,"cacheRead":`, read)
	w.number(`,"cacheWrite":`, write)
	w.number(`,"totalTokens":`, f[4].Int())
	w.raw("}")
}

func (w *writer) number(before string, n int64) {
	w.out = strconv.AppendInt(append(w.out, before...), n, 10)
}
