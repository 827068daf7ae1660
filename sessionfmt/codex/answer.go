package codex

import (
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"fmt"
	"hash/fnv"
)

// answer appends an answer: the items of a response, its usage, and the model of its turn.
func (w *writer) answer(e *dialect.Old) {
	var few [8]item
	items, calls := few[:0], false
	var used usageLines
	for _, line := range e.Lines {
		if used.read(line) {
			continue
		}
		items = append(items, lineItem(line))
		it := &items[len(items)-1]
		calls = calls || it.tool().Exists()
	}
	w.Raw(`{"role":"assistant","content":[`)
	w.answerBlocks(items)
	w.Raw(`],"api":"openai-codex-responses"`)
	w.usageOf(&used, items)
	switch {
	case e.Unanswered:
		w.Raw(`,"stopReason":"aborted"`)
	case calls:
		w.Raw(`,"stopReason":"toolUse"`)
	default:
		w.Raw(`,"stopReason":"stop"`)
	}
	w.end(items)
}

// end ends a message that items make. By the id of the first one the same message is
// known again after a compaction.
func (w *writer) end(items []item) {
	w.Member(",", "id", items[0].id)
	if w.Native {
		w.Raw(`,"native":[`)
		for k := range items {
			if k > 0 {
				w.Raw(",")
			}
			w.sent(items[k].raw)
		}
		w.Raw("]")
	}
	w.Raw("}")
}

// answerBlocks appends the blocks of an answer's items.
func (w *writer) answerBlocks(items []item) {
	first := true
	next := func() {
		if !first {
			w.Raw(",")
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
						w.Block("thinking", "thinking", text)
						said = true
					}
				}
			}
			if !said && it.encrypted.IsString() {
				next()
				w.Raw(`{"type":"opaque","item":"reasoning"}`)
			}
		case it.tool().Exists():
			next()
			w.Raw(`{"type":"toolCall"`)
			w.Member(",", "id", it.callID)
			w.Member(",", "name", it.tool())
			w.Raw(`,"arguments":`)
			w.arguments(it)
			w.Raw("}")
		case it.content.IsArray():
			var c jsonl.Cursor
			c.Once(it.content)
			for range c.Elements {
				next()
				w.contentBlock(&c)
			}
		default:
			next()
			w.Out = append(w.Out, it.raw...)
		}
	}
}

// arguments appends those of a call, an object.
func (w *writer) arguments(it *item) {
	for _, v := range []jsonl.Value{it.arguments, it.input, it.action} {
		if v.IsObject() {
			w.Out = append(w.Out, v...)
			return
		}
		if !v.IsString() {
			continue
		}
		at := len(w.Out)
		w.Out = v.AppendText(w.Out)
		if text := jsonl.Value(jsonl.Trim(w.Out[at:])); text.IsObject() {
			if _, err := jsonl.ParseValue(text); err == nil {
				return
			}
		}
		w.Out = append(w.Out[:at], '{')
		w.Member("", "input", v)
		w.Raw("}")
		return
	}
	w.Raw("{}")
}

// usageLines are what lines of a turn say of model and usage.
type usageLines struct{ model, usage, id, total jsonl.Value }

// read reads a line that says so, and reports whether it is one.
func (u *usageLines) read(line jsonl.Value) bool {
	typ := typeOfLine(line)
	if isItem(typ) {
		return false
	}
	var c jsonl.Cursor
	if !c.Once(line).Enter("payload") {
		return true
	}
	settings, seen := typ.Is("turn_context"), 0
	for key := range c.Members {
		switch name := string(key); {
		case settings && name == "model":
			u.model = c.Value()
			return true
		case settings:
		case name == "usage":
			u.usage = c.Value()
			seen++
		case name == "response_id":
			u.id = c.Value()
			seen++
		case name == "info": // of a token_count
			var f [2]jsonl.Value
			c.Value().Fields(f[:], "last_token_usage", "total_token_usage")
			u.usage, u.total = f[0], f[1]
		}
		if seen == 2 {
			break
		}
	}
	return true
}

// usageOf appends model and usage of a response.
func (w *writer) usageOf(u *usageLines, items []item) {
	w.Raw(`,"provider":"openai"`)
	if !u.model.IsString() {
		u.model = jsonl.Value(`"unknown"`)
	}
	if u.total.Exists() && !u.id.Exists() {
		u.id = responseName(items[0].raw, u.total)
	}
	w.Member(",", "model", u.model)
	w.Member(",", "responseId", u.id)
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
	w.Number(`,"usage":{"input":`, max(0, f[0].Int()-read-write))
	w.Number(`,"output":`, f[3].Int())
	w.Number(`,"cacheRead":`, read)
	w.Number(`,"cacheWrite":`, write)
	w.Number(`,"totalTokens":`, f[4].Int())
	w.Raw("}")
}
