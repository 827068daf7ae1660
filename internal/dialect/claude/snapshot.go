package claude

import (
	"bytes"
	"slices"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A sent is the prompt snapshot in force: the system prompt and the tools as the program sends them.
type sent struct {
	entry   int32 // that holds it, -1 for none since the last compaction
	at      dialect.Span
	answers int  // since that entry
	echo    bool // later requests hold the arguments that the model wrote
}

// snapshot takes a prompt snapshot. The program writes what it sends, so one that follows the first
// answer is that of the answer too, and replaces the one before it.
func (a *arranger) snapshot(t dialect.Tree, l *dialect.Line, above link, side int) error {
	line, err := t.Read(l.At)
	if err != nil {
		return err
	}
	was := &a.sent[side]
	echo := line.Get("attachment").Get("echoWireToolInputs").Truthy()
	if was.entry >= 0 && was.answers <= 1 {
		t.Join(int(was.entry), l.At)
		a.at[a.key(l.ID)] = above // a link, as progress is
		was.at, was.echo = l.At, echo
		return nil
	}
	before := was.at
	if before.Size == 0 {
		before = l.At
	}
	e, err := a.add(t, jsonl.System, l, a.end(above.entry), side, before)
	*was = sent{entry: e, at: l.At, echo: echo}
	return err
}

// The marks in a prompt snapshot, and the sections that its texts become.
const (
	changesBelow = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
	mcpPrefix    = "mcp__"
)

var promptSections = [...]string{"identity", "prompt", "changing"}

// system makes the system message of a snapshot: its sections, and its tools. The second line is the
// snapshot before it, or the first line again; the last of those that follow is in force. It says what
// changed.
func (m *maker) system() {
	msg := m.e.Message(jsonl.System)
	now, before := m.Lines[0].Get("attachment"), m.Lines[1].Get("attachment")
	if len(m.Lines) > 2 {
		now = m.Lines[len(m.Lines)-1].Get("attachment")
	}
	texts, tools := sectionsOf(now), toolsOf(now)
	var had [len(promptSections)]jsonl.Value
	var hadTools []tool
	if !bytes.Equal(m.Lines[1], m.Lines[0]) {
		had, hadTools = sectionsOf(before), toolsOf(before)
	}
	sections := jsonl.Value("{}")
	for k, name := range promptSections {
		switch text := texts[k]; {
		case bytes.Equal(text, had[k]):
		case text.Exists():
			sections = sections.With(name, text)
		case had[k].Exists():
			sections = sections.With(name, jsonl.Value("null"))
		}
	}
	msg.Set("sections", sections)
	if tools == nil { // the first snapshot of two has none yet
		return
	}
	var removed, added [][]byte
	for _, t := range hadTools {
		if !slices.ContainsFunc(tools, func(now tool) bool { return bytes.Equal(now.name, t.name) }) {
			removed = append(removed, jsonl.Value("{}").With("name", t.name))
		}
	}
	for _, t := range tools {
		if !slices.ContainsFunc(hadTools, func(had tool) bool { return bytes.Equal(had.definition, t.definition) }) {
			added = append(added, t.definition)
		}
	}
	if removed != nil {
		msg.Set("toolsRemoved", m.list(removed))
	}
	if added != nil {
		msg.Set("toolsAdded", m.list(added))
	}
}

func (m *maker) list(of [][]byte) jsonl.Value {
	return m.Make([]byte("["), bytes.Join(of, []byte(",")), []byte("]"))
}

// sectionsOf are the texts of a snapshot as they are sent, a block of the prompt each.
func sectionsOf(snapshot jsonl.Value) (texts [len(promptSections)]jsonl.Value) {
	texts[0] = snapshot.Get("cliPrefix")
	at := 1
	var parts [len(promptSections)][]string
	for text := range snapshot.Get("systemPrompt").Elements {
		if text.Is(changesBelow) {
			at = 2
		} else {
			parts[at] = append(parts[at], text.Text())
		}
	}
	for k, all := range parts {
		if all != nil {
			texts[k] = joined(all)
		}
	}
	return texts
}

// joined is a string of texts with an empty line between them.
func joined(texts []string) jsonl.Value {
	var whole []byte
	for k, text := range texts {
		if k > 0 {
			whole = append(whole, "\n\n"...)
		}
		whole = append(whole, text...)
	}
	return jsonl.AppendQuoted(nil, whole)
}

// A tool is one of a snapshot.
type tool struct {
	name       jsonl.Value
	definition []byte
}

// toolsOf are the tools of a snapshot in the order in which they are sent: by name, those of MCP
// servers last.
func toolsOf(snapshot jsonl.Value) (tools []tool) {
	for t := range snapshot.Get("tools").Elements {
		of := t.Get("schema")
		name := of.Get("name")
		definition := jsonl.Value("{}").With("name", name).With("description", of.Get("description")).With("parameters", of.Get("input_schema"))
		tools = append(tools, tool{name, definition})
	}
	slices.SortStableFunc(tools, func(x, y tool) int {
		a, b := x.name.Inside(), y.name.Inside()
		if mcp := bytes.HasPrefix(a, []byte(mcpPrefix)); mcp != bytes.HasPrefix(b, []byte(mcpPrefix)) {
			if mcp {
				return 1
			}
			return -1
		}
		return bytes.Compare(a, b)
	})
	return tools
}

// asWritten joins to an answer the snapshot by which its calls are sent as the model wrote them.
func (a *arranger) asWritten(t dialect.Tree, e int32, l *dialect.Line, side int) error {
	if !a.sent[side].echo {
		return nil
	}
	line, err := t.Read(l.At)
	if err == nil && line.Get("wireToolInputs").IsObject() {
		t.Join(int(e), a.sent[side].at)
	}
	return err
}

// written replaces the arguments of calls by those that the model wrote in a line of the answer.
func written(msg *dialect.Message, line jsonl.Value) {
	inputs := line.Get("wireToolInputs")
	for k := range msg.Blocks {
		b := &msg.Blocks[k]
		if of := inputs.Get(b.ID.Text()); b.Kind == jsonl.CallBlock && of.Exists() {
			b.Args = of
		}
	}
}

// writtenBlock is a block of a line of an answer as it was sent; next are the lines after it.
func writtenBlock(block, line jsonl.Value, next []jsonl.Value) jsonl.Value {
	if len(next) == 0 || !block.Get("type").Is("tool_use") || !next[0].First("type").Is("attachment") {
		return block
	}
	of := line.Get("wireToolInputs").Get(block.Get("id").Text())
	if !of.Exists() {
		return block
	}
	return block.AppendEdited(nil, jsonl.Field{Name: "input", Value: of})
}
