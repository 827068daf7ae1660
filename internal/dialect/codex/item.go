package codex

import (
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An item is what a line holds: its payload, or in the first months the line itself.
type item struct {
	raw jsonl.Value
	at  [len(itemNames)]jsonl.String
}

// The members of an item.
const (
	typ = iota
	role
	id
	callID
	name
	content
	summed
	encrypted
	arguments
	input
	action
	returned
)

var itemNames = [...]string{
	"type", "role", "id", "call_id", "name", "content", "summary", "encrypted_content", "arguments", "input", "action",
	"output",
}

// get is a member of an item.
func (it *item) get(member int) jsonl.Value { return it.at[member].Value }

// readItem reads an item.
func readItem(v jsonl.Value) (it item) {
	var c jsonl.Cursor
	c.Reset(v).Fields(it.at[:], itemNames[:]...)
	it.raw = v
	return it
}

// lineItem is the item of a line.
func lineItem(line jsonl.Value) (it item) {
	var c jsonl.Cursor
	if !c.Once(line).Enter("payload") || c.Peek() != '{' {
		return readItem(line)
	}
	at := c.Offset()
	c.Fields(it.at[:], itemNames[:]...)
	it.raw = c.Since(at)
	return it
}

// isAnswer reports whether an item is a part of an answer.
func (it *item) isAnswer() bool {
	code := itemCode(it.get(typ), it.get(role), nil, nil)
	return code == answer || code == call
}

// isPrompt reports whether an item begins a turn.
func (it *item) isPrompt() bool {
	return it.get(typ).Is("message") && it.get(role).Is("user") && !written(it.get(content))
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

// tool is the name of the tool that an item calls, absent where it calls none.
func (it *item) tool() jsonl.Value {
	switch t := it.get(typ); {
	case t.Is("function_call"), t.Is("custom_tool_call"):
		return it.get(name)
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
	for block := range it.get(content).Elements {
		b.WriteString(block.Get("text").Text())
	}
	return b.String()
}

// typeOfLine is the type of a line.
func typeOfLine(line jsonl.Value) jsonl.Value { return line.First("type") }

// isItem reports whether a line is a response item.
func isItem(typ jsonl.Value) bool {
	_, other := types[string(typ.Inside())]
	return !other
}
