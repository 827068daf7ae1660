package codex

import (
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An item is what a line holds: its payload, or in the first months the line itself. It is
// read in one pass.
type item struct {
	raw jsonl.Value
	typ, role, id, callID, name,
	content, summary, encrypted,
	arguments, input, action, output jsonl.Value

	of jsonl.Value // type of the line around it
}

// readItem reads an item.
func readItem(v jsonl.Value) (it item) {
	var c jsonl.Cursor
	it.read(c.Reset(v))
	it.raw = v
	return it
}

func (it *item) read(c *jsonl.Cursor) {
	for key := range c.Members {
		if m := it.member(key); m != nil {
			*m = c.Value()
		}
	}
}

// member is where the member of that name goes, nil for none.
func (it *item) member(name []byte) *jsonl.Value {
	switch string(name) {
	case "type":
		return &it.typ
	case "role":
		return &it.role
	case "id":
		return &it.id
	case "call_id":
		return &it.callID
	case "name":
		return &it.name
	case "content":
		return &it.content
	case "summary":
		return &it.summary
	case "encrypted_content":
		return &it.encrypted
	case "arguments":
		return &it.arguments
	case "input":
		return &it.input
	case "action":
		return &it.action
	case "output":
		return &it.output
	}
	return nil
}

// lineItem is the item of a line. What follows the payload is not read, if the type comes first.
func lineItem(line jsonl.Value) (it item) {
	var c jsonl.Cursor
	var of jsonl.Value
	c.Once(line)
	inner := false
	for key := range c.Members {
		switch {
		case string(key) == "payload" && c.Peek() == '{':
			at := c.Offset()
			of, it = it.typ, item{}
			it.read(&c)
			it.raw, inner = c.Since(at), true
		case inner && string(key) == "type":
			of = c.Value()
		case !inner:
			if m := it.member(key); m != nil {
				*m = c.Value()
			}
		}
		if inner && of.Exists() {
			break
		}
	}
	if it.of = of; !inner {
		it.raw, it.of = line, it.typ
	}
	return it
}

// isAnswer reports whether an item is a part of an answer.
func (it *item) isAnswer() bool {
	code := itemCode(it.typ, it.role, nil, nil)
	return code == answer || code == call
}

// isPrompt reports whether an item begins a turn.
func (it *item) isPrompt() bool {
	return it.typ.Is("message") && it.role.Is("user") && !written(it.content)
}

// tool is the name of the tool that an item calls, absent where it calls none.
func (it *item) tool() jsonl.Value {
	switch {
	case it.typ.Is("function_call"), it.typ.Is("custom_tool_call"):
		return it.name
	case it.typ.Is("local_shell_call"):
		return jsonl.Value(`"local_shell"`)
	case it.typ.Is("tool_search_call"):
		return jsonl.Value(`"tool_search"`)
	}
	return nil
}

// text is that of a message.
func (it *item) text() string {
	var b strings.Builder
	for block := range it.content.Elements {
		b.WriteString(block.Get("text").Text())
	}
	return b.String()
}

// typeOfLine is the type of a line.
func typeOfLine(line jsonl.Value) jsonl.Value { return line.First("type") }

// isItem reports whether a line is a response item.
func isItem(typ jsonl.Value) bool {
	if typ.Is("response_item") {
		return true
	}
	_, other := types[string(inner(typ))]
	return !other
}
