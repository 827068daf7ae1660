// Package prompt builds prompt, tools and options of an envelope from system messages and
// patches.
package prompt

import (
	"bytes"
	"hash/maphash"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A Prompt is an envelope without its messages.
type Prompt struct {
	Parts    []Part
	Compiled string // the parts as one text, as sent
	Tools    []Tool
	Options  Options
	// Known reports whether the session or a baseline records parts and tools. Otherwise pi's
	// own prompt and tools are missing.
	Known bool
	// Omitted are the tools left out because they have no implementation.
	Omitted []Tool
}

// A Baseline is what a session file may not record: the prompt, tools and options that the
// agent brings along.
type Baseline struct {
	Parts   []Part
	Tools   []Tool
	Options Options
	Model   models.Ref
	Limit   int64 // context window in tokens, 0 if not given
}

// A Part is one part of a system prompt.
type Part struct {
	Name   string
	Text   string // exact, with lone surrogates; see jsonl.Value.Exact
	Origin origin.Origin

	Content bool // the text outside of all sections

	// File and Skill are what Split has found: the path of a context file, or the name of
	// a skill and the path of its file.
	File, Skill string
}

// A Tool is a tool definition.
type Tool struct {
	Name   string
	Raw    jsonl.Value // name, description and parameters as declared
	Origin origin.Origin

	digest uint64 // see Digest
}

var seed = maphash.MakeSeed()

// Digest returns a hash of the definition, valid in one process only. It is computed once.
func (t *Tool) Digest() uint64 {
	if t.digest == 0 {
		t.digest = maphash.Bytes(seed, t.Raw.AppendMinified(nil))
	}
	return t.digest
}

// NewTool returns the tool that raw declares.
func NewTool(raw jsonl.Value, by origin.Origin) Tool {
	return Tool{Name: raw.Get("name").Text(), Raw: raw, Origin: by}
}

// Options are the generation options of an envelope as raw JSON, nil if not set.
type Options struct{ Reasoning, Temperature, MaxTokens jsonl.Value }

// A Fold applies changes to prompt, tools and options.
type Fold struct {
	Parts   []Part
	Tools   []Tool
	Options Options

	Textless bool // leave out the texts of parts

	below *below // set if the fold collects the effect of ops on a prompt not known yet
}

// OfOps returns a fold that collects the effect of ops on a prompt not known yet; see Onto.
func OfOps() Fold {
	return Fold{below: &below{parts: map[string]bool{}, tools: map[string]jsonl.Value{}}}
}

// A below is what ops remove from the prompt below them.
type below struct {
	allParts, allTools bool
	parts              map[string]bool        // by name
	tools              map[string]jsonl.Value // names, by their JSON
}

// Onto applies the ops collected in f to a prompt.
func (f *Fold) Onto(to *Fold) {
	if f.below.allParts {
		to.Parts = append(to.Parts[:0], f.Parts...)
	} else {
		to.Parts = slices.DeleteFunc(to.Parts, func(p Part) bool { return f.below.parts[p.Name] })
		for i := range f.Parts {
			to.SetPart(f.Parts[i].Name, f.Parts[i].Text, f.Parts[i].Origin)
		}
	}
	if f.below.allTools {
		to.Tools = append(to.Tools[:0], f.Tools...)
	} else {
		for _, name := range f.below.tools {
			to.RemoveTools(name)
		}
	}
	for _, o := range []struct {
		to   *jsonl.Value
		from jsonl.Value
	}{
		{&to.Options.Reasoning, f.Options.Reasoning},
		{&to.Options.Temperature, f.Options.Temperature},
		{&to.Options.MaxTokens, f.Options.MaxTokens},
	} {
		if o.from != nil {
			*o.to = o.from
		}
	}
}

// ReplaceParts removes all parts.
func (f *Fold) ReplaceParts() {
	f.Parts = f.Parts[:0]
	if f.below != nil {
		f.below.allParts = true
	}
}

func (f *Fold) ReplaceTools() {
	f.Tools = f.Tools[:0]
	if f.below != nil {
		f.below.allTools = true
	}
}

// RemoveParts removes all parts with that name, as a patch does.
func (f *Fold) RemoveParts(name string) {
	f.Parts = slices.DeleteFunc(f.Parts, func(p Part) bool { return p.Name == name })
	if f.below != nil {
		f.below.parts[name] = true
	}
}

// RemoveTools removes all tools with that name, as a patch does.
func (f *Fold) RemoveTools(name jsonl.Value) {
	f.Tools = slices.DeleteFunc(f.Tools, func(t Tool) bool { return name.Is(t.Name) })
	if f.below != nil {
		f.below.tools[string(name)] = bytes.Clone(name)
	}
}

func (f *Fold) SetPart(name, text string, by origin.Origin) {
	for i := range f.Parts {
		if f.Parts[i].Name == name {
			f.Parts[i].Text, f.Parts[i].Origin = text, by
			return
		}
	}
	f.Parts = append(f.Parts, NewPart(name, text, by))
}

// NewPart returns a part of a patch or a baseline. The content of later system messages is
// added to one named content.
func NewPart(name, text string, by origin.Origin) Part {
	return Part{Name: name, Text: text, Origin: by, Content: name == "content"}
}

// Message applies a system message (docs/session-format.md 4.5): its content is appended to the
// content so far, its sections and tools are set and removed by name.
func (f *Fold) Message(v jsonl.Value, by origin.Origin) {
	if !f.Textless {
		f.addContent(v.Get("content").ContentText(), by)
		for name, text := range v.Get("sections").Ordered {
			f.section(name, text, by)
		}
	}
	for t := range v.Get("toolsRemoved").Elements {
		f.removeTool(t.Get("name").Text())
	}
	for t := range v.Get("toolsAdded").Elements {
		f.addTool(NewTool(bytes.Clone(t), by))
	}
}

func (f *Fold) addContent(text string, by origin.Origin) {
	if text == "" {
		return
	}
	for i := range f.Parts {
		if p := &f.Parts[i]; p.Content {
			p.Text += "\n\n" + text
			p.Origin = by
			return
		}
	}
	part := Part{Name: "content", Text: text, Origin: by, Content: true}
	f.Parts = append([]Part{part}, f.Parts...)
}

// section sets or, for null, removes a section. A new one goes to the end, or before the others
// if its name is an integer, as in a JavaScript object.
func (f *Fold) section(name string, text jsonl.Value, by origin.Origin) {
	at := -1
	for i, p := range f.Parts {
		if p.Name == name && !p.Content {
			at = i
			break
		}
	}
	switch {
	case text.IsNull():
		if at >= 0 {
			f.Parts = append(f.Parts[:at], f.Parts[at+1:]...)
		}
	case at >= 0:
		f.Parts[at].Text, f.Parts[at].Origin = text.Exact(), by
	default:
		i := len(f.Parts)
		if n, ok := jsonl.IndexName(name); ok {
			for i = 0; i < len(f.Parts) && (f.Parts[i].Content || indexBelow(f.Parts[i].Name, n)); i++ {
			}
		}
		f.Parts = append(f.Parts, Part{})
		copy(f.Parts[i+1:], f.Parts[i:])
		f.Parts[i] = Part{Name: name, Text: text.Exact(), Origin: by}
	}
}

func indexBelow(name string, n uint32) bool {
	k, ok := jsonl.IndexName(name)
	return ok && k < n
}

func (f *Fold) removeTool(name string) {
	for i, t := range f.Tools {
		if t.Name == name {
			f.Tools = append(f.Tools[:i], f.Tools[i+1:]...)
			return
		}
	}
}

func (f *Fold) addTool(t Tool) {
	for i := range f.Tools {
		if f.Tools[i].Name == t.Name {
			f.Tools[i] = t
			return
		}
	}
	f.Tools = append(f.Tools, t)
}

// Counts returns the tokens of prompt and tools.
func (p *Prompt) Counts(c *tokens.Counter) (n weigh.Counts) {
	each, ofTools := p.Count(c)
	for _, k := range each {
		n.System += k
	}
	for _, k := range ofTools {
		n.Tools += k
	}
	n.Total = n.System + n.Tools
	return n
}

// Count returns the tokens of each part and each tool. If the counter rounds once per message,
// each part counts what it adds to those before it.
func (p *Prompt) Count(c *tokens.Counter) (parts, tools []int) {
	w := new(weigh.Weigher).Reset(c)
	for _, part := range p.Parts {
		parts = append(parts, w.Add(w.Text([]byte(jsonl.UTF8(part.Text)))))
	}
	for _, t := range p.Tools {
		tools = append(tools, t.tokens(c))
	}
	return parts, tools
}

// Units returns the length of prompt and tools as the one system message that pi estimates, UTF-16
// units: the texts of the parts, and the tools as a JSON list.
func (p *Prompt) Units() (n int) {
	for _, part := range p.Parts {
		n += jsonl.Units([]byte(jsonl.UTF8(part.Text)))
	}
	for i := range p.Tools {
		n += p.Tools[i].Units()
	}
	return n + ListUnits(len(p.Tools))
}

// ListUnits returns the length of the brackets and commas of a JSON list.
func ListUnits(elements int) int {
	if elements == 0 {
		return 0
	}
	return elements + 1
}

// Units returns the length of the definition as JSON, UTF-16 units.
func (t *Tool) Units() int { return jsonl.Units(t.Raw.AppendMinified(nil)) }

// tokens returns the tokens of a tool's definition.
func (t Tool) tokens(c *tokens.Counter) (n int) {
	w := new(weigh.Weigher).Reset(c)
	for _, name := range []string{"name", "description"} {
		n += w.Add(w.Value(t.Raw.Get(name)))
	}
	if parameters := t.Raw.Get("parameters"); parameters.Exists() {
		n += w.Add(w.Minified(parameters))
	}
	return n
}
