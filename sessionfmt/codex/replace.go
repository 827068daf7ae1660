package codex

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// transform appends the patch of a compaction, or of turns that are taken back across one:
// one op that replaces all messages.
func (w *writer) transform(lines []jsonl.Value) {
	var compaction jsonl.Value
	var prompts []jsonl.Value
	drop := int64(0)
	for _, line := range lines {
		payload := item(line)
		switch typ := line.Get("type"); {
		case typ.Is("compacted"):
			compaction = payload
		case payload.Get("type").Is("thread_rolled_back"):
			drop += payload.Get("num_turns").Int()
		case payload.Get("role").Is("user"):
			prompts = append(prompts, payload)
		}
	}
	name, reason := "compaction", "compaction"
	items := slices.Collect(compaction.Get("replacement_history").Elements)
	if !compaction.Get("replacement_history").IsArray() {
		items = rebuilt(prompts, compaction.Get("message"))
	} else if drop > 0 {
		items = dropTurns(items, int(drop)-len(prompts))
	}
	if drop > 0 {
		name, reason = "rollback", "turns taken back"
	}
	w.text(",", "transformerName", name)
	w.raw(`,"schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":`)
	w.raw(strconv.Quote(reason) + `,"messages":[`)
	w.messages(items)
	w.raw("]}]")
}

// messages appends items as messages of a provider: those of one answer are one.
func (w *writer) messages(items []jsonl.Value) {
	for k := 0; k < len(items); {
		if k > 0 {
			w.raw(",")
		}
		it := items[k]
		end := k + 1
		var f [3]jsonl.Value
		it.Fields(f[:], "type", "role", "content")
		switch code := itemCode(f[0], f[1], f[2], nil); code {
		case answer, call:
			for end < len(items) && isAnswer(items[end]) {
				end++
			}
			w.raw(`{"role":"assistant","content":[`)
			w.answerBlocks(items[k:end])
			w.raw("]")
		case output:
			w.raw(`{"role":"toolResult"`)
			w.member(",", "toolCallId", it.Get("call_id"))
			w.result(it)
		default:
			w.raw(`{"role":"user","content":`)
			w.note(it)
		}
		w.end(items[k:end])
		k = end
	}
}

// isAnswer reports whether an item is a part of an answer.
func isAnswer(it jsonl.Value) bool {
	code := itemCode(it.Get("type"), it.Get("role"), nil, nil)
	return code == answer || code == call
}

// isPrompt reports whether an item begins a turn.
func isPrompt(it jsonl.Value) bool {
	return it.Get("type").Is("message") && it.Get("role").Is("user") && !written(it.Get("content"))
}

// dropTurns is a history without its last n turns, and the notes directly before the first of
// them. What comes before the first turn stays.
func dropTurns(items []jsonl.Value, n int) []jsonl.Value {
	first := -1
	for k := len(items) - 1; k >= 0 && n > 0; k-- {
		if isPrompt(items[k]) {
			first, n = k, n-1
		}
	}
	if first < 0 {
		return items
	}
	begins := slices.IndexFunc(items, isPrompt)
	for first > begins+1 && !isPrompt(items[first-1]) && !isAnswer(items[first-1]) && !items[first-1].Get("call_id").Exists() {
		first--
	}
	return items[:first]
}

// rebuilt is the history that a compaction leaves which has none of its own: the last
// prompts, as far as they have room, and the summary.
func rebuilt(prompts []jsonl.Value, message jsonl.Value) (items []jsonl.Value) {
	room := mostKept
	for _, it := range slices.Backward(prompts) {
		if room <= 0 {
			break
		}
		text := messageText(it)
		tokens := (len(text) + bytesPerToken - 1) / bytesPerToken
		if tokens > room {
			it = shortened(it, text, room)
		}
		room -= tokens
		items = append(items, it)
	}
	slices.Reverse(items)
	last := append([]byte(`{"type":"message","role":"user","content":[{"type":"input_text","text":`), orEmpty(message)...)
	return append(items, append(last, "}]}"...))
}

func orEmpty(text jsonl.Value) jsonl.Value {
	if text.IsString() && string(text) != `""` {
		return text
	}
	return jsonl.Value(`"(no summary available)"`)
}

// shortened is a prompt with only so many tokens of both ends of its text, and between them
// how many are left out.
func shortened(it jsonl.Value, text string, room int) jsonl.Value {
	half := room * bytesPerToken / 2
	head, tail := half, len(text)-half
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	left := (len(text)+bytesPerToken-1)/bytesPerToken - room
	out := []byte(`{"type":"message"`)
	if id := it.Get("id"); id.Exists() {
		out = append(append(out, `,"id":`...), id...)
	}
	out = append(out, `,"role":"user","content":[`...)
	for k, part := range []string{text[:head], "…" + strconv.Itoa(left) + " tokens truncated…", text[tail:]} {
		if k > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"type":"input_text","text":`...)
		out = append(jsonl.AppendQuoted(out, part), '}')
	}
	return append(out, "]}"...)
}
