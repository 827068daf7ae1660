package codex

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An item is what a line holds: its payload, or in the first months the line itself.
type item struct {
	raw, role, id, name, summary, arguments, input, action jsonl.Value

	typ       jsonl.Value `jsonl:"type"`
	callID    jsonl.Value `jsonl:"call_id"`
	content   jsonl.String
	encrypted jsonl.Value `jsonl:"encrypted_content"`
	output    jsonl.String

	// Of records of settings and usage.
	model      jsonl.Value
	tier       jsonl.Value `jsonl:"service_tier"`
	usage      jsonl.Value
	responseID jsonl.Value `jsonl:"response_id"`
	thread     struct {
		raw  jsonl.Value
		tier jsonl.Value `jsonl:"service_tier"`
	} `jsonl:"thread_settings"`
	info struct {
		raw   jsonl.Value
		last  jsonl.Value `jsonl:"last_token_usage"`
		total jsonl.Value `jsonl:"total_token_usage"`
	}
}

// A line is one with its payload.
type line struct {
	timestamp jsonl.Value
	typ       jsonl.Value `jsonl:"type"`
	payload   item
}

var (
	itemShape = jsonl.ShapeOf[item]()
	lineShape = jsonl.ShapeOf[line]()
)

// readItem reads an item.
func readItem(v jsonl.Value) (it item) {
	itemShape.Read(new(jsonl.Cursor).Reset(v), &it)
	it.raw = v
	return it
}

// read reads a line into an empty one.
func (l *line) read(v jsonl.Value) {
	lineShape.Read(new(jsonl.Cursor).Reset(v), l)
	if !l.payload.raw.IsObject() {
		l.payload = readItem(v)
	}
}

// lineItem returns the item of a line.
func lineItem(v jsonl.Value) item {
	var l line
	l.read(v)
	return l.payload
}

// isAnswer reports whether an item is a part of an answer.
func (it *item) isAnswer() bool {
	code := itemCode(it.typ, it.role, nil, nil)
	return code == answer || code == call
}

// isPrompt reports whether an item begins a turn.
func (it *item) isPrompt() bool {
	return it.typ.Is("message") && it.role.Is("user") && !written(it.content.Value)
}

// hasPrompt reports whether one of several items does.
func hasPrompt(items jsonl.Value) bool {
	for v := range items.Elements {
		if it := readItem(v); it.isPrompt() {
			return true
		}
	}
	return false
}

// tool returns the name of the tool that an item calls, absent where it calls none.
func (it *item) tool() jsonl.Value {
	switch t := it.typ; {
	case t.Is("function_call"), t.Is("custom_tool_call"):
		return it.name
	case t.Is("local_shell_call"):
		return jsonl.Value(`"local_shell"`)
	case t.Is("tool_search_call"):
		return jsonl.Value(`"tool_search"`)
	}
	return nil
}

// text is that of a message.
func (it *item) text() string {
	var b strings.Builder
	for block := range it.content.Value.Elements {
		b.WriteString(block.Get("text").Text())
	}
	return b.String()
}

// typeOfLine returns the type of a line.
func typeOfLine(line jsonl.Value) jsonl.Value { return line.First("type") }

// isItem reports whether a line is a response item.
func isItem(typ jsonl.Value) bool {
	_, other := types[string(typ.Inside())]
	return !other
}

// asSent returns an output as it was sent by an older version (docs/session-format.md 15.7): cut by the
// settings of its turn, and, where apply_patch takes a text, an object no longer. more are lines that say so:
// the turn's, and a call of that tool.
func asSent(it item, of *item, more []jsonl.Value) item {
	text := it.output.Value
	sections := of.typ.Is("custom_tool_call") && of.name.Is("apply_patch")
	if !text.IsString() || len(more) == 0 && !sections {
		return it
	}
	out := text.Text()
	for _, line := range more {
		if typeOfLine(line).Is("turn_context") {
			out = cutOutput(out, line.First("payload", "truncation_policy"))
		} else {
			sections = true
		}
	}
	if sections {
		out = inSections(out)
	}
	if out == text.Text() {
		return it
	}
	sent := jsonl.Value(jsonl.AppendQuoted(nil, out))
	return readItem(it.raw.AppendEdited(nil, jsonl.Field{Name: "output", Value: sent}))
}

// room is how much longer than the limit of its turn an output may be.
const room = 1.2

// cutOutput returns an output of which the ends were kept in memory, as much of both as the limit of the turn
// and a fifth more allow.
func cutOutput(text string, policy jsonl.Value) string {
	limit, known := policy.Get("limit").Float()
	inTokens := policy.Get("mode").Is("tokens")
	most := int(math.Ceil(limit * room))
	if inTokens {
		most *= bytesPerToken
	}
	if !known || len(text) <= most {
		return text
	}
	head, tail := ends(text, most)
	left := strconv.Itoa(utf8.RuneCountInString(text[head:tail])) + " chars"
	if inTokens {
		left = strconv.Itoa((len(text)-most+bytesPerToken-1)/bytesPerToken) + " tokens"
	}
	return text[:head] + "…" + left + " truncated…" + text[tail:]
}

// cuts reports whether an older version cuts an output in memory, by the settings of the turn.
func (a *arranger) cuts(t dialect.Tree, l *dialect.Line) bool {
	text := lineItem(t.Read(l.At)).output.Value
	if !text.IsString() {
		return false
	}
	out := text.Text()
	return slices.ContainsFunc(a.settings, func(at dialect.Span) bool {
		return cutOutput(out, t.Read(at).First("payload", "truncation_policy")) != out
	})
}

// ends returns where the middle of a text begins and ends, if so many bytes of its ends are kept.
func ends(text string, most int) (head, tail int) {
	head = most / 2
	tail = len(text) - (most - head)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return head, tail
}

// inSections returns the output of a command as lines, which the file has as an object. Other outputs stay.
func inSections(out string) string {
	v, err := jsonl.ParseValue([]byte(out))
	if err != nil || !v.Get("output").IsString() || !v.Get("metadata").IsObject() {
		return out
	}
	meta := v.Get("metadata")
	seconds, _ := meta.Get("duration_seconds").Float()
	sections := []string{
		"Exit code: " + string(meta.Get("exit_code")),
		"Wall time: " + strconv.FormatFloat(seconds, 'f', -1, 32) + " seconds",
	}
	body := v.Get("output").Text()
	if header, rest, ok := strings.Cut(body, "\n\n"); ok && strings.HasPrefix(header, "Total output lines: ") {
		sections, body = append(sections, header), rest
	}
	return strings.Join(append(sections, "Output:", body), "\n")
}

// How much of the prompts a compaction keeps that has no replacement_history, tokens, and how
// many bytes Codex takes for one.
const (
	mostKept      = 20000
	bytesPerToken = 4
)

// fit keeps as many of the last prompts as there is room for, and shortens the first of them.
func (a *arranger) fit(t dialect.Tree) {
	known := len(a.turns)
	for known > 0 && a.turns[known-1].upto < 0 {
		known--
	}
	for k := range a.turns[known:] {
		it := lineItem(t.Read(a.turns[known+k].at))
		a.turns[known+k].upto = a.before(known+k) + tokens(it.text())
	}
	room := func(k int) int { return mostKept - a.before(len(a.turns)) + a.turns[k].upto }
	first := sort.Search(len(a.turns), func(k int) bool { return room(k) > 0 })
	a.kept.From = first
	if first < len(a.turns) && room(first) < a.turns[first].upto-a.before(first) {
		a.kept.From, a.kept.Short = first+1, room(first)
	}
}

// before returns the number of tokens of the prompts before one.
func (a *arranger) before(k int) int {
	if k == 0 {
		return 0
	}
	return a.turns[k-1].upto
}

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
		} else if isItem(typ) && m.Kept.Short > 0 && it.role.Is("user") {
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
		case it.output.Value.Exists():
			msg = m.e.Message(jsonl.ToolResult)
			msg.Set("toolCallId", it.callID)
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

// dropTurns returns a history without its last n turns, and the notes directly before the first of them. What
// comes before the first turn stays. A summary begins no turn.
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
		!items[first-1].output.Value.Exists() {
		first--
	}
	return items[:first]
}

// tokens returns how many tokens a text has for Codex.
func tokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

func orEmpty(text jsonl.Value) jsonl.Value {
	if text.IsString() && string(text) != `""` {
		return text
	}
	return jsonl.Value(`"(no summary available)"`)
}

// shortened returns a prompt with only so many tokens of both ends of its text, and between them how many are
// left out: parts of its content, or to older versions a whole.
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
	return readItem(jsonl.Value(`{"type":"message"}`).With("id", it.id).With("role",
		jsonl.Value(`"user"`)).With("content", dialect.List(parts...)))
}
