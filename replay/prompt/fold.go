package prompt

import (
	"bytes"
	"slices"
	"strings"

	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A State is a prompt after some changes. It shares memory with the states before and after it.
type State struct {
	Options Options
	Known   bool // see Prompt.Known
	NoTools bool // see Prompt.NoTools
	// Implemented are the names of the tools that are not omitted; nil for all.
	Implemented map[string]bool

	parts list[Part]
	tools list[Tool]
}

// A Fold applies changes to prompt, tools and options.
type Fold struct {
	State
	// Meter, if set, measures the parts and tools that are set from now on.
	Meter *Meter
	// From is the origin of the changes. Unless it is nil, texts of parts are left out; see Texts.
	From      any
	ToolsOnly bool // omit the parts

	nth   int32    // number of parts set by From so far
	texts []string // texts that are set, for Texts; else nil

	said    string // the text that was set last
	content string // text of the part at contentKey, if a tokenizer may have to count it again

	below *below // set if the fold collects the effect of ops on an unknown prompt
}

// OfOps returns a fold that collects the effect of ops on an unknown prompt; see Onto.
func OfOps(from *Fold) Fold {
	f := Fold{below: &below{parts: map[string]bool{}, tools: map[string]bool{}}}
	f.Meter, f.ToolsOnly, f.Implemented = from.Meter, from.ToolsOnly, from.Implemented
	return f
}

// A below records what ops remove from the prompt to which they are applied later.
type below struct {
	allParts, allTools bool
	parts, tools       map[string]bool // by name
}

// Start begins with a baseline's prompt.
func (f *Fold) Start(parts []Part, tools []Tool) {
	for _, p := range parts {
		f.AddPart(p.Name, p.Text, p.Origin)
	}
	for _, t := range tools {
		f.putTool(t, f.tools.end())
	}
}

// Begin sets the origin of the next changes.
func (f *Fold) Begin(from any) { f.From, f.nth = from, 0 }

// Kept returns the state.
func (f *Fold) Kept() State {
	s := f.State
	s.parts, s.tools = s.parts.kept(), s.tools.kept()
	return s
}

// Parts returns the parts. Their texts may be left out.
func (s *State) Parts() []Part {
	all := s.parts.items()
	for i := range all {
		if p := &all[i]; p.from == nil && p.before != nil {
			_ = Texts(all[i:i+1], nil)
		}
	}
	return all
}

// contentBreak joins the contents of system messages.
const contentBreak = "\n\n"

// Tools returns the tools, and those omitted because nothing implements them.
func (s *State) Tools() (have, lack []Tool) {
	all := s.tools.items()
	if s.Implemented == nil {
		return all, nil
	}
	for _, t := range all {
		if s.Implemented[t.Name] {
			have = append(have, t)
		} else {
			lack = append(lack, t)
		}
	}
	return have, lack
}

// ToolsNamed returns the tools with a name.
func (f *Fold) ToolsNamed(name string) []Tool { return itemsOf(f.tools.named(name)) }

// PartsNamed returns the parts with a name, or those with that name outside all sections.
func (f *Fold) PartsNamed(name string, content bool) []Part {
	p := Part{Name: name, Content: content}
	return itemsOf(f.parts.named(p.key()))
}

func itemsOf[T any](entries []*entry[T]) (all []T) {
	for _, e := range entries {
		all = append(all, e.item)
	}
	return all
}

// Has reports whether there is a part, or a tool, of that name.
func (s *State) Has(name string) (part, tool bool) {
	return s.part(name) != nil, s.tools.find(name) != nil
}

// Prompt returns the state as a prompt, not Compiled.
func (s *State) Prompt() Prompt {
	p := Prompt{Parts: s.Parts(), Options: s.Options, Known: s.Known, NoTools: s.NoTools}
	p.Tools, p.Omitted = s.Tools()
	return p
}

// Sums returns what parts and tools sum up to.
func (s *State) Sums() (parts, tools Sum) { return s.parts.sum(), s.tools.sum() }

// Counts returns the tokens of prompt and tools, which the fold's Meter has measured by that counter. units is
// Prompt.Units if the counter is pi's.
func (s *State) Counts(c *tokens.Counter) (n weigh.Counts, units int) {
	parts, tools := s.Sums()
	n.System, n.Tools = int(parts.tokens), int(tools.tokens)
	if !c.ByText {
		n.System = c.Of(int(parts.length))
	}
	n.Total = n.System + n.Tools
	n.NoSystem = !s.Known && s.parts.order == nil
	n.NoTools = (!s.Known || s.NoTools) && s.tools.order == nil
	return n, int(parts.length + tools.length + min(tools.length, 1))
}

// Taken returns the tokens that a part of the fold adds to those before it; see Prompt.Count.
func (s *State) Taken(p *Part, c *tokens.Counter) int {
	_, before, _ := s.parts.before(p.at)
	_, after, _ := s.parts.before(place{p.at.major, p.at.minor + 1})
	if c.ByText {
		return int(after.tokens - before.tokens)
	}
	return c.Of(int(after.length)) - c.Of(int(before.length))
}

// Texts fills in the texts of parts that a fold omits. again applies the changes of one origin.
func Texts(parts []Part, again func(f *Fold, from any) error) error {
	read := map[any][]string{}
	for i := range parts {
		var texts []string
		for p := &parts[i]; p != nil; p = p.before {
			if p.from == nil {
				texts = append(texts, p.Text)
				continue
			}
			if read[p.from] == nil {
				f := Fold{texts: []string{}}
				if err := again(&f, p.from); err != nil {
					return err
				}
				read[p.from] = f.texts
			}
			texts = append(texts, read[p.from][p.nth])
		}
		slices.Reverse(texts)
		p := &parts[i]
		p.Text, p.from, p.before = strings.Join(texts, contentBreak), nil, nil
	}
	return nil
}

// PartsDiffer reports the parts, in order, that only one of two states has: both if one is in place of the
// other. If both have parts between them, the first is reported too, as was and is. at is the index in s of
// was, or of what follows is.
func (s *State) PartsDiffer(to *State, see func(at int, was, is *Part)) {
	s.parts.differs(&to.parts, see)
}

// ToolsDiffer is PartsDiffer for tools.
func (s *State) ToolsDiffer(to *State, see func(at int, was, is *Tool)) {
	s.tools.differs(&to.tools, see)
}

// Onto applies the ops collected in f to a prompt.
func (f *Fold) Onto(to *Fold) {
	for name := range f.below.parts {
		to.RemoveParts(name)
	}
	if f.below.allParts || to.parts.order == nil {
		to.parts, to.content = f.parts.kept(), f.content
	} else {
		to.said = f.content
		f.parts.order.each(func(e *entry[Part]) bool {
			to.set(e.item, e.sum)
			return true
		})
	}
	for name := range f.below.tools {
		to.tools.removeAll(name)
	}
	if f.below.allTools {
		to.tools = f.tools.kept()
	}
	o, from := &to.Options, &f.Options
	o.Reasoning, o.Temperature = or(from.Reasoning, o.Reasoning), or(from.Temperature, o.Temperature)
	o.MaxTokens = or(from.MaxTokens, o.MaxTokens)
}

func or(a, b jsonl.Value) jsonl.Value {
	if a != nil {
		return a
	}
	return b
}

// ReplaceParts removes all parts.
func (f *Fold) ReplaceParts() {
	f.parts = list[Part]{}
	if f.below != nil {
		f.below.allParts = true
	}
}

// ReplaceTools removes all tools.
func (f *Fold) ReplaceTools() {
	f.tools = list[Tool]{}
	if f.below != nil {
		f.below.allTools = true
	}
}

// RemoveParts removes all parts with that name, as a patch does.
func (f *Fold) RemoveParts(name string) {
	f.parts.removeAll(name)
	if name == "content" {
		f.parts.removeAll(contentKey)
	}
	if f.below != nil {
		f.below.parts[name] = true
	}
}

// RemoveTools removes all tools with that name, as a patch does.
func (f *Fold) RemoveTools(name string) {
	f.tools.removeAll(name)
	if f.below != nil {
		f.below.tools[name] = true
	}
}

// SetPart sets the text of the first part with that name, or adds one.
func (f *Fold) SetPart(name, text string, by origin.Origin) {
	f.set(f.measured(Part{Name: name, Text: text, Origin: by}))
}

// AddPart adds a part of a patch or a baseline after all others.
func (f *Fold) AddPart(name, text string, by origin.Origin) {
	p, sum := f.measured(NewPart(name, text, by))
	f.put(p, sum, f.parts.end())
}

// NewPart returns a part of a patch or a baseline. Later system messages add their content to a part named
// content.
func NewPart(name, text string, by origin.Origin) Part {
	return Part{Name: name, Text: text, Origin: by, Content: name == "content"}
}

// contentKey is the key of the text outside all sections, a name that no section has.
const contentKey = "\xff"

func (p *Part) key() string {
	if p.Content {
		return contentKey
	}
	return p.Name
}

// index returns the integer that a name spells, if it does.
func (p *Part) index() int64 {
	if p.Content {
		return beforeAll
	}
	if n, ok := jsonl.IndexName(p.Name); ok {
		return int64(n)
	}
	return afterAll
}

// part returns the first part of that name.
func (s *State) part(name string) *entry[Part] {
	e := s.parts.find(name)
	if name == "content" {
		if c := s.parts.find(contentKey); e == nil || c != nil && c.at.compare(e.at) < 0 {
			return c
		}
	}
	return e
}

// set sets the text of the first part of that name, or adds it.
func (f *Fold) set(p Part, sum Sum) {
	if e := f.part(p.Name); e != nil {
		p.Content = e.item.Content
		f.put(p, sum, e.at)
		return
	}
	p.Content = p.Name == "content"
	f.put(p, sum, f.parts.end())
}

// measured returns a part that a change sets, without its text if texts are omitted, and its sum.
func (f *Fold) measured(p Part) (Part, Sum) {
	var sum Sum
	if f.Meter != nil && !f.ToolsOnly {
		sum = f.Meter.part(p.Text)
	}
	f.said = p.Text
	if f.texts != nil {
		f.texts = append(f.texts, p.Text)
	}
	if f.From != nil {
		p.Text, p.from, p.nth = "", f.From, f.nth
		f.nth++
	}
	return p, sum
}

func (f *Fold) put(p Part, sum Sum, at place) {
	if f.ToolsOnly || f.texts != nil {
		return
	}
	p.at = at
	e := &entry[Part]{item: p, key: p.key(), at: at, index: p.index(), sum: sum}
	f.parts.put(e)
	if f.Meter.tokenizes() && f.parts.find(contentKey) == e {
		f.content = f.said
	}
}

// Message applies a system message (docs/session-format.md 4.5): its content is appended to the
// content so far, its sections and tools are set and removed by name.
func (f *Fold) Message(v jsonl.Value, by origin.Origin) {
	if !f.ToolsOnly {
		if text := v.Get("content").ContentText(); text != "" {
			f.addContent(text, by)
		}
		for name, text := range v.Get("sections").Ordered {
			f.section(name, text, by)
		}
	}
	for t := range v.Get("toolsRemoved").Elements {
		if e := f.tools.find(t.Get("name").Text()); e != nil {
			f.tools.remove(e.key)
		}
	}
	for t := range v.Get("toolsAdded").Elements {
		t := NewTool(bytes.Clone(t), by)
		at := f.tools.end()
		if e := f.tools.find(t.Name); e != nil {
			at = e.at
		}
		f.putTool(t, at)
	}
}

// AddTool adds a tool after all others.
func (f *Fold) AddTool(t Tool) { f.putTool(t, f.tools.end()) }

func (f *Fold) putTool(t Tool, at place) {
	e := &entry[Tool]{item: t, key: t.Name}
	if f.Meter != nil {
		e = f.Meter.tool(t)
	}
	if f.Implemented != nil && !f.Implemented[t.Name] {
		e.sum = Sum{}
	}
	e.at = at
	f.tools.put(e)
}

func (f *Fold) addContent(text string, by origin.Origin) {
	p, sum := f.measured(Part{Name: "content", Text: text, Origin: by, Content: true})
	e := f.parts.find(contentKey)
	if e == nil {
		f.put(p, sum, f.parts.front())
		return
	}
	p.before = &e.item
	if f.Meter.tokenizes() {
		f.said = f.content + contentBreak + text
	}
	if f.Meter != nil {
		sum = f.Meter.longer(e.sum, contentBreak+text, f.said)
	}
	f.put(p, sum, e.at)
}

// section sets or, for null, removes a section. A new one goes to the end, or before the others
// if its name is an integer, as in a JavaScript object.
func (f *Fold) section(name string, text jsonl.Value, by origin.Origin) {
	e := f.parts.find(name)
	if text.IsNull() {
		if e != nil {
			f.parts.remove(e.key)
		}
		return
	}
	p, sum := f.measured(Part{Name: name, Text: text.Exact(), Origin: by})
	at := f.parts.end()
	if e != nil {
		at = e.at
	} else if n := p.index(); n != afterAll {
		at = f.parts.among(n)
	}
	f.put(p, sum, at)
}
