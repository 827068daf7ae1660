package replay

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// An Origin says where a piece of an envelope comes from.
type Origin struct {
	Record int // the entry, -1 for the baseline
	By     int // the entry that put it there: Record itself, a transform, or an edit
	Op     int // the op of the transform By, -1 for none
}

// A Part is one part of a system prompt.
type Part struct {
	Name   string
	Text   string
	Origin Origin

	Content bool // the text outside of all sections
}

// A Tool is a tool definition.
type Tool struct {
	Name   string
	Raw    value // name, description and parameters as they were declared
	Origin Origin
}

func newTool(raw value, by Origin) Tool {
	return Tool{Name: raw.Get("name").Text(), Raw: raw, Origin: by}
}

// ModelOptions are the generation options of an envelope, raw JSON, nil where
// they are not set.
type ModelOptions struct{ Reasoning, Temperature, MaxTokens value }

// folded is prompt, tools and options while the deltas are applied to them.
type folded struct {
	parts   []Part
	tools   []Tool
	options ModelOptions

	textless bool // parts are not made

	below *below // set where it is what ops make of a prompt that is not known yet
}

// A below is what ops take out of the prompt that they meet.
type below struct {
	allParts, allTools bool
	parts              map[string]bool  // by name
	tools              map[string]value // names, by how they are spelled
}

// onto does to a prompt what the ops do that f has been folded from.
func (f *folded) onto(to *folded) {
	if f.below.allParts {
		to.parts = append(to.parts[:0], f.parts...)
	} else {
		to.parts = slices.DeleteFunc(to.parts, func(p Part) bool { return f.below.parts[p.Name] })
		for i := range f.parts {
			to.setPart(f.parts[i].Name, f.parts[i].Text, f.parts[i].Origin)
		}
	}
	if f.below.allTools {
		to.tools = append(to.tools[:0], f.tools...)
	} else {
		for _, name := range f.below.tools {
			to.removeTools(name)
		}
	}
	for _, o := range []struct {
		to   *value
		from value
	}{
		{&to.options.Reasoning, f.options.Reasoning},
		{&to.options.Temperature, f.options.Temperature},
		{&to.options.MaxTokens, f.options.MaxTokens},
	} {
		if o.from != nil {
			*o.to = o.from
		}
	}
}

// replaceParts and replaceTools make room for others.
func (f *folded) replaceParts() {
	f.parts = f.parts[:0]
	if f.below != nil {
		f.below.allParts = true
	}
}

func (f *folded) replaceTools() {
	f.tools = f.tools[:0]
	if f.below != nil {
		f.below.allTools = true
	}
}

// removeParts removes all parts of that name, as a patch does.
func (f *folded) removeParts(name string) {
	f.parts = slices.DeleteFunc(f.parts, func(p Part) bool { return p.Name == name })
	if f.below != nil {
		f.below.parts[name] = true
	}
}

// removeTools removes all tools of that name, as a patch does.
func (f *folded) removeTools(name value) {
	f.tools = slices.DeleteFunc(f.tools, func(t Tool) bool { return name.Is(t.Name) })
	if f.below != nil {
		f.below.tools[string(name)] = bytes.Clone(name)
	}
}

func (f *folded) setPart(name, text string, by Origin) {
	for i := range f.parts {
		if f.parts[i].Name == name {
			f.parts[i].Text, f.parts[i].Origin = text, by
			return
		}
	}
	f.parts = append(f.parts, newPart(name, text, by))
}

// newPart is a part of a patch or a baseline. One called content is what later
// system messages' content adds to.
func newPart(name, text string, by Origin) Part {
	return Part{Name: name, Text: text, Origin: by, Content: name == "content"}
}

// message applies a system message (docs/session-format.md 4.5): its content adds to the
// content before it, its sections and tools are set and removed by name.
func (f *folded) message(v value, by Origin) {
	if !f.textless {
		f.addContent(v.Get("content").ContentText(), by)
		for name, text := range v.Get("sections").Ordered {
			f.section(name, text, by)
		}
	}
	for t := range v.Get("toolsRemoved").Elements {
		f.removeTool(t.Get("name").Text())
	}
	for t := range v.Get("toolsAdded").Elements {
		f.addTool(newTool(bytes.Clone(t), by))
	}
}

func (f *folded) addContent(text string, by Origin) {
	if text == "" {
		return
	}
	for i := range f.parts {
		if p := &f.parts[i]; p.Content {
			p.Text += "\n\n" + text
			p.Origin = by
			return
		}
	}
	part := Part{Name: "content", Text: text, Origin: by, Content: true}
	f.parts = append([]Part{part}, f.parts...)
}

// section sets or, for null, removes a section. A new one goes to the end, but
// one named like an integer in front of the others, as in a JavaScript object.
func (f *folded) section(name string, text value, by Origin) {
	at := -1
	for i, p := range f.parts {
		if p.Name == name && !p.Content {
			at = i
			break
		}
	}
	switch {
	case text.IsNull():
		if at >= 0 {
			f.parts = append(f.parts[:at], f.parts[at+1:]...)
		}
	case at >= 0:
		f.parts[at].Text, f.parts[at].Origin = text.Text(), by
	default:
		i := len(f.parts)
		if n, ok := jsonl.IndexName(name); ok {
			for i = 0; i < len(f.parts) && (f.parts[i].Content || indexBelow(f.parts[i].Name, n)); i++ {
			}
		}
		f.parts = append(f.parts, Part{})
		copy(f.parts[i+1:], f.parts[i:])
		f.parts[i] = Part{Name: name, Text: text.Text(), Origin: by}
	}
}

func indexBelow(name string, n uint32) bool {
	k, ok := jsonl.IndexName(name)
	return ok && k < n
}

func (f *folded) removeTool(name string) {
	for i, t := range f.tools {
		if t.Name == name {
			f.tools = append(f.tools[:i], f.tools[i+1:]...)
			return
		}
	}
}

func (f *folded) addTool(t Tool) {
	for i := range f.tools {
		if f.tools[i].Name == t.Name {
			f.tools[i] = t
			return
		}
	}
	f.tools = append(f.tools, t)
}

// Compiled is the prompt as one text: under envelope rules all parts as they
// are, under pi's the non-empty ones with a blank line between.
func (rules Rules) Compiled(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" || rules == ByEnvelope {
			texts = append(texts, p.Text)
		}
	}
	if rules == ByEnvelope {
		return strings.Join(texts, "")
	}
	return strings.Join(texts, "\n\n")
}

// Checkpoint is the system message that prompt and tools of the context replay to, as
// a compaction carries it (docs/session-format.md 3.2, 4.5), with a time in milliseconds; nil
// where the session has set neither. What a baseline gives is not in it.
func (e *Envelope) Checkpoint(ms int64) (jsonl.Value, error) {
	if len(e.state.deltas) == 0 {
		return nil, nil
	}
	var f folded
	if err := e.r.NewReader().fold(&f, e.state.deltas); err != nil {
		return nil, err
	}
	content, sections := "", []byte{}
	for _, p := range f.parts {
		if p.Content {
			content = p.Text
			continue
		}
		if len(sections) > 0 {
			sections = append(sections, ',')
		}
		sections = append(jsonl.AppendQuoted(sections, p.Name), ':')
		sections = jsonl.AppendQuoted(sections, p.Text)
	}
	out := jsonl.AppendQuoted([]byte(`{"role":"system","content":`), content)
	if len(sections) > 0 {
		out = append(append(append(out, `,"sections":{`...), sections...), '}')
	}
	for k, t := range f.tools {
		if k == 0 {
			out = append(out, `,"toolsAdded":[`...)
		} else {
			out = append(out, ',')
		}
		out = append(out, t.Raw...)
	}
	if len(f.tools) > 0 {
		out = append(out, ']')
	}
	return append(strconv.AppendInt(append(out, `,"timestamp":`...), ms, 10), '}'), nil
}
