package claude

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A sent is the prompt snapshot in force: the system prompt and the tools as the program sends them.
type sent struct {
	entry   int32 // entry that holds it, -1 for none since the last compaction
	at      dialect.Span
	answers int  // in force from this entry on
	tools   bool // it includes the tools
	echo    bool // later requests have the arguments that the model wrote
	shape   bool // it comes from a recorded request, which takes precedence
}

// snapshot takes a prompt snapshot. The program records what it sends: the first one with the tools, which
// mostly follows the first answer, also applies to the answers before it, and replaces the earlier snapshot.
func (a *arranger) snapshot(t dialect.Tree, l *dialect.Line, above link, side int) {
	of := t.Read(l.At).Get("attachment")
	now := &a.sent[side]
	now.echo = of.Get("echoWireToolInputs").Truthy()
	if now.shape && now.entry >= 0 { // its prompt and tools remain
		t.Join(l.Rules, int(now.entry), l.At)
		t.Join(0, int(now.entry), now.at)
	}
	first := now.answers <= 1 || !now.tools
	now.tools = of.Get("tools").IsArray()
	if now.shape || first && now.replaced(t, l.At) {
		a.put(l.ID, above) // only a link, like progress
		return
	}
	a.inForce(t, l, a.end(above.entry), side, l.At)
}

// replaced makes the snapshot in force one at another place. It reports whether there is one.
func (s *sent) replaced(t dialect.Tree, at dialect.Span) bool {
	if s.entry < 0 {
		return false
	}
	t.Join(0, int(s.entry), at)
	s.at = at
	return true
}

// inForce adds the snapshot at a place that a line gives, and reports how it differs from the one before.
func (a *arranger) inForce(t dialect.Tree, l *dialect.Line, up int32, side int, at dialect.Span) {
	before := a.sent[side].at
	if before.Size == 0 {
		before = l.At
	}
	e := a.add(t, jsonl.System, l, up, side, before)
	if at != l.At {
		t.Join(0, int(e), at)
	}
	a.sent[side].entry, a.sent[side].at, a.sent[side].answers = e, at, 0
}

// request takes the record of a request, whose prompt and tools are those of its shape.
func (a *arranger) request(t dialect.Tree, l *dialect.Line) {
	t.About(l.At)
	line := t.Read(l.At)
	if aside(line.Get("querySource").Text()) {
		return
	}
	a.asked = append(a.asked, asked{line.Get("id").Text(), l.At})
	side := 0
	if a.tail[0] < 0 {
		side = 1
	}
	at, ok := a.shapes[line.Get("shapeHash").Text()]
	up, now := a.tail[side], &a.sent[side]
	if !ok || up < 0 || at == now.at {
		return
	}
	if now.shape = true; now.answers == 0 && now.replaced(t, at) {
		return
	}
	of := *l
	of.Time = dialect.Untimed // records of requests have a clock of their own
	a.inForce(t, &of, up, side, at)
	a.ending(up).end = a.tail[side]
}

// An asked is the record of a request that waits for its answer.
type asked struct {
	id string
	at dialect.Span
}

// answered takes an answer: to the request that it names, or else to the last one.
func (a *arranger) answered(t dialect.Tree, e int32, l *dialect.Line) {
	if len(a.asked) == 0 {
		return
	}
	k := len(a.asked) - 1
	if ref := t.Read(l.At).Get("requestRef"); ref.IsString() {
		k = slices.IndexFunc(a.asked, func(one asked) bool { return ref.Is(one.id) })
	}
	if k >= 0 {
		t.Recorded(int(e), a.asked[k].at)
	}
	a.asked = nil
}

// Marks in a prompt snapshot, and names of the sections that its texts become.
const (
	changesBelow = "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"
	mcpPrefix    = "mcp__"
)

var promptSections = [...]string{"identity", "prompt", "changing"}

// sectionNamed returns section k, from 0: a block of the prompt as it is sent.
func sectionNamed(k int, text string) dialect.Section {
	if k < len(promptSections) {
		return dialect.Section{Name: promptSections[k], Text: text}
	}
	return dialect.Section{Name: fmt.Sprint("block ", k+1), Text: text}
}

// system makes the system message of a snapshot: its sections, and its tools. Line 2 is the snapshot before it,
// or line 1 again; the last of the further lines is in force. It records what changed.
func (m *maker) system() {
	msg := m.e.Message(jsonl.System)
	now, before := m.Lines[0], m.Lines[1]
	if now.Get("querySource").Exists() {
		m.e.Time = nil
	}
	if len(m.Lines) > 2 {
		now = m.Lines[len(m.Lines)-1]
	}
	m.turns(msg)
	texts, tools := sectionsOf(now), toolsOf(now)
	var had []dialect.Section
	var hadTools []tool
	if !bytes.Equal(m.Lines[1], m.Lines[0]) {
		had, hadTools = sectionsOf(before), toolsOf(before)
	}
	sections := jsonl.Value("{}")
	for _, one := range texts {
		if !slices.Contains(had, one) {
			sections = sections.With(one.Name, jsonl.AppendQuoted(nil, one.Text))
		}
	}
	for _, one := range had {
		if !slices.ContainsFunc(texts, func(now dialect.Section) bool { return now.Name == one.Name }) {
			sections = sections.With(one.Name, jsonl.Value("null"))
		}
	}
	msg.Set("sections", sections)
	if tools == nil { // the first snapshot of two has none yet
		return
	}
	var removed, added []jsonl.Value
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
		msg.Set("toolsRemoved", dialect.List(removed...))
	}
	if added != nil {
		msg.Set("toolsAdded", dialect.List(added...))
	}
}

// sectionsOf returns the texts of a snapshot, or of the shape of a request, as they are sent.
func sectionsOf(line jsonl.Value) (all []dialect.Section) {
	if shape := line.Get("shape"); shape.Exists() {
		return blocksOf(shape.Get("system"))
	}
	snapshot := line.Get("attachment")
	var parts [len(promptSections)][]string
	if prefix := snapshot.Get("cliPrefix"); prefix.IsString() {
		parts[0] = []string{prefix.Exact()}
	}
	at := 1
	for text := range snapshot.Get("systemPrompt").Elements {
		if text.Is(changesBelow) {
			at = 2
		} else {
			parts[at] = append(parts[at], text.Exact())
		}
	}
	for k, texts := range parts {
		if texts != nil {
			all = append(all, sectionNamed(k, strings.Join(texts, "\n\n")))
		}
	}
	return all
}

// blocksOf returns the blocks of a system prompt.
func blocksOf(system jsonl.Value) (all []dialect.Section) {
	dialect.EachPart(system, func(block jsonl.Value) {
		text := block
		if !block.IsString() {
			text = block.Get("text")
		}
		all = append(all, sectionNamed(len(all), text.Exact()))
	})
	return all
}

// A tool is one of a snapshot.
type tool struct {
	name       jsonl.Value
	definition jsonl.Value
}

// toolsOf returns the tools of a snapshot in the order in which they are sent: by name, those of MCP servers
// last.
func toolsOf(line jsonl.Value) (tools []tool) {
	if shape := line.Get("shape"); shape.Exists() {
		return definitionsOf(shape.Get("tools"))
	}
	for t := range line.Get("attachment").Get("tools").Elements {
		tools = append(tools, toolOf(t.Get("schema")))
	}
	sorting.By(tools, func(x, y tool) int {
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

// definitionsOf are tools in the order of their definitions.
func definitionsOf(list jsonl.Value) (tools []tool) {
	for of := range list.Elements {
		tools = append(tools, toolOf(of))
	}
	return tools
}

// toolOf returns a tool by its definition as sent. Fields that other agents lack are native.
func toolOf(schema jsonl.Value) tool {
	f := schema.All("name", "description", "input_schema")
	definition := jsonl.Value("{}").With("name", f[0]).With("description", f[1]).With("parameters", f[2])
	native := jsonl.Value("{}")
	for name, v := range schema.Ordered {
		switch name {
		case "name", "description", "input_schema", dialect.CacheMark:
		default:
			native = native.With(name, v)
		}
	}
	if len(native) > len("{}") {
		definition = definition.With("native", native)
	}
	return tool{f[0], definition}
}

// asWritten joins to an answer the snapshot by which its calls are sent as the model wrote them.
func (a *arranger) asWritten(t dialect.Tree, e int32, l *dialect.Line, side int) {
	if a.sent[side].echo && t.Read(l.At).Get("wireToolInputs").IsObject() {
		t.Join(0, int(e), a.sent[side].at)
	}
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

// writtenBlock returns a block of a line of an answer as it was sent; next are the lines after it.
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

// turns records whether attachments are sent as messages with the role system: the last snapshot with tools
// states it, in versions that know it.
func (m *maker) turns(msg *dialect.Message) {
	if !m.Native {
		return
	}
	from := jsonl.Value("{}")
	for _, line := range slices.Backward(m.Lines) {
		of := line.Get("attachment")
		if !of.Get("systemPrompt").Exists() {
			continue
		}
		from = jsonl.Value("{}").With("snapshot", flag(true)).With("older", flag(!of.Get("echoWireToolInputs").Exists()))
		if of.Get("tools").IsArray() {
			from = from.With("turns", flag(of.Get("systemTurns").Truthy())).
				With("marked", flag(of.Get("systemTurns").Truthy() && !of.Get("toolChangeHeader").Exists()))
			break
		}
	}
	msg.Native = dialect.List(jsonl.Value("{}").With(madeFrom, from))
}

func flag(is bool) jsonl.Value { return strconv.AppendBool(nil, is) }
