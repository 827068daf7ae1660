package codex

import (
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// How much of the prompts a compaction keeps that has no replacement_history, tokens, and how
// many bytes Codex takes for one.
const (
	mostKept      = 20000
	bytesPerToken = 4
)

// transform makes the patch of a compaction, or of turns that are taken back across one.
func (m *maker) transform() {
	var compaction jsonl.Value
	var few [2]item
	var notes []item
	items, back := few[:0], typeOfLine(m.Lines[0]).Is("event_msg")
	for _, line := range m.Lines {
		if typ := typeOfLine(line); typ.Is("compacted") {
			compaction = line.Get("payload")
		} else if it := lineItem(line); isItem(typ) && len(notes) < m.Kept.Notes && !it.isPrompt() {
			notes = append(notes, it)
		} else if isItem(typ) && m.Kept.Short > 0 && it.get(role).Is("user") {
			items = append(items, shortened(&it, it.text(), m.Kept.Short, m.Kept.Notes > 0))
		}
	}
	items = append(notes, items...)
	summary := orEmpty(compaction.Get("message"))
	if history := compaction.Get("replacement_history"); history.IsArray() {
		for v := range history.Elements {
			items = append(items, readItem(v))
		}
		notTurn := summary.Text()
		if m.Kept.Turn {
			notTurn = ""
		}
		items = dropTurns(items, m.Kept.Dropped, notTurn)
	} else if !back {
		last := m.Make([]byte(`{"type":"message","role":"user","content":[{"type":"input_text","text":`), summary,
			[]byte("}]}"))
		items = append(items, readItem(last))
	}
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	if back {
		m.e.Transformer, m.e.Reason = "rollback", "turns taken back"
	}
	m.messages(items)
}

// messages makes items messages of a provider: those of one answer are one.
func (m *maker) messages(items []item) {
	for k := 0; k < len(items); {
		it, end := &items[k], k+1
		var msg *dialect.Message
		switch {
		case it.isAnswer():
			for end < len(items) && items[end].isAnswer() {
				end++
			}
			msg = m.e.Message(jsonl.Assistant)
			m.blocks(msg, items[k:end])
		case it.get(returned).Exists():
			msg = m.e.Message(jsonl.ToolResult)
			msg.Set("toolCallId", it.get(callID))
			m.result(msg, it)
		default:
			msg = m.e.Message(jsonl.User)
			msg.Body()
			m.note(msg, it)
		}
		m.end(msg, items[k:end])
		k = end
	}
}

// dropTurns is a history without its last n turns, and the notes directly before the first of
// them. What comes before the first turn stays. A summary begins no turn.
func dropTurns(items []item, n int, summary string) []item {
	turn := func(it item) bool { return it.isPrompt() && it.text() != summary }
	first := -1
	for k := len(items) - 1; k >= 0 && n > 0; k-- {
		if turn(items[k]) {
			first, n = k, n-1
		}
	}
	if first < 0 {
		return items
	}
	begins := slices.IndexFunc(items, turn)
	for first > begins+1 && !turn(items[first-1]) && !items[first-1].isAnswer() &&
		!items[first-1].get(returned).Exists() {
		first--
	}
	return items[:first]
}

// tokens is how many tokens a text has for Codex.
func tokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

func orEmpty(text jsonl.Value) jsonl.Value {
	if text.IsString() && string(text) != `""` {
		return text
	}
	return jsonl.Value(`"(no summary available)"`)
}

// shortened is a prompt with only so many tokens of both ends of its text, and between them
// how many are left out: parts of its content, or to older versions a whole.
func shortened(it *item, text string, room int, whole bool) item {
	head, tail := ends(text, room*bytesPerToken)
	left := tokens(text) - room
	said := []string{text[:head], "…" + strconv.Itoa(left) + " tokens truncated…", text[tail:]}
	if whole {
		said = []string{strings.Join(said, "")}
	}
	var parts []jsonl.Value
	for _, part := range said {
		parts = append(parts, jsonl.Value(`{"type":"input_text"}`).With("text", jsonl.AppendQuoted(nil, part)))
	}
	return readItem(jsonl.Value(`{"type":"message"}`).With("id", it.get(id)).With("role",
		jsonl.Value(`"user"`)).With("content", dialect.List(parts...)))
}
