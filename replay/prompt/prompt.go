// Package prompt builds prompt, tools and options of an envelope from system messages and
// patches.
package prompt

import (
	"hash/maphash"
	"math/bits"

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

	// Where the text is if it is left out; see Texts.
	from   any
	nth    int32
	before *Part // the text that this one is added to
	at     place
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

// AppendSystem appends parts and compiled text as the JSON object system of an envelope.
func (p *Prompt) AppendSystem(dst []byte) []byte {
	dst = append(dst, `{"parts":[`...)
	for i := range p.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonl.AppendQuoted(append(dst, `{"name":`...), p.Parts[i].Name)
		dst = jsonl.AppendQuoted(append(dst, `,"text":`...), p.Parts[i].Text)
		dst = append(dst, '}')
	}
	dst = jsonl.AppendQuoted(append(dst, `],"compiled":`...), p.Compiled)
	return append(dst, '}')
}

// AppendTools appends the definitions as a JSON array.
func (p *Prompt) AppendTools(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range p.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.Tools[i].Append(dst)
	}
	return append(dst, ']')
}

// Append appends the definition as a JSON object, without fields that are not part of it.
func (t *Tool) Append(dst []byte) []byte {
	fields := make([]jsonl.Field, 0, 3)
	for _, name := range []string{"name", "description", "parameters"} {
		fields = append(fields, jsonl.Field{Name: name, Value: t.Raw.Get(name)})
	}
	return jsonl.AppendObject(dst, fields...)
}

// Fields returns the options that are set, in order.
func (o *Options) Fields() (set []jsonl.Field) {
	for _, f := range []jsonl.Field{{Name: "reasoning", Value: o.Reasoning},
		{Name: "temperature", Value: o.Temperature}, {Name: "maxTokens", Value: o.MaxTokens}} {
		if f.Value.Exists() {
			set = append(set, f)
		}
	}
	return set
}

// Append appends the options that are set as a JSON object.
func (o *Options) Append(dst []byte) []byte { return jsonl.AppendObject(dst, o.Fields()...) }

// A Sum is what there is to know of a list of parts or of tools without their texts.
type Sum struct {
	// Hash identifies the texts of parts as they are sent, one after the other, or the definitions of
	// tools. It is valid in one process only. It is a polynomial of the bytes in a random base, modulo
	// 2^61-1, so that those of two lists are combined into that of both.
	Hash  uint64
	power uint64 // of the base, by the length; 0 for no text

	length int32 // in the counter's measure; of tools as JSON, UTF-16 units
	tokens int32 // of texts that are rounded each
}

const modulus = 1<<61 - 1

var base = maphash.String(seed, "base")%(modulus-256) + 256

func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	n := low&modulus + (low>>61 | high<<3)
	if n >= modulus {
		n -= modulus
	}
	return n
}

// plus returns the sum of both lists, one after the other.
func (s Sum) plus(o Sum) Sum {
	o.length, o.tokens = o.length+s.length, o.tokens+s.tokens
	switch {
	case o.power == 0:
		o.Hash, o.power = s.Hash, s.power
	case s.power != 0:
		o.Hash, o.power = (multiply(s.Hash, o.power)+o.Hash)%modulus, multiply(s.power, o.power)
	}
	return o
}

// hashed returns the sum of a text, without its size.
func hashed(text string) (s Sum) {
	if text == "" {
		return s
	}
	s.power = 1
	for i := range len(text) {
		s.Hash = multiply(s.Hash, base) + uint64(text[i]) + 1
		s.power = multiply(s.power, base)
	}
	s.Hash %= modulus
	return s
}

// A Meter measures parts and tools, each once.
type Meter struct {
	Counter   *tokens.Counter // nil to measure no size
	Separator string          // what separates the parts that are not empty, as sent
	parts     map[uint64]Sum
	tools     map[uint64]*entry[Tool]
}

// part returns the sum of a part with a text.
func (m *Meter) part(text string) Sum {
	key := maphash.String(seed, text)
	s, ok := m.parts[key]
	if ok {
		return s
	}
	if text != "" {
		s = hashed(m.Separator + text)
	}
	if m.Counter != nil {
		s = m.sized(s, weigh.Length(m.Counter, []byte(jsonl.UTF8(text))))
	}
	if m.parts == nil {
		m.parts = map[uint64]Sum{}
	}
	m.parts[key] = s
	return s
}

func (m *Meter) sized(s Sum, length int) Sum {
	s.length, s.tokens = int32(length), int32(length)
	if m.Counter.ByText {
		s.tokens = int32(m.Counter.Of(length))
	}
	return s
}

// tokenizes reports whether the length of a text is not that of its pieces.
func (m *Meter) tokenizes() bool { return m != nil && m.Counter != nil && !m.Counter.Estimates() }

// longer returns the sum of a part to whose text another one is added. whole is needed only if the
// meter tokenizes.
func (m *Meter) longer(s Sum, added, whole string) Sum {
	length := int(s.length)
	s = s.plus(hashed(added))
	switch {
	case m.Counter == nil:
		return s
	case m.tokenizes():
		return m.sized(s, weigh.Length(m.Counter, []byte(jsonl.UTF8(whole))))
	}
	return m.sized(s, length+weigh.Length(m.Counter, []byte(jsonl.UTF8(added))))
}

// tool returns the entry of a tool, whose definition is kept once.
func (m *Meter) tool(t Tool) *entry[Tool] {
	key := maphash.Bytes(seed, t.Raw)
	e, ok := m.tools[key]
	if !ok {
		e = &entry[Tool]{item: t, key: t.Name}
		e.sum = Sum{Hash: e.item.Digest() % modulus, power: base}
		if m.Counter != nil {
			// a comma or a bracket follows it
			e.sum.length, e.sum.tokens = int32(t.Units()+1), int32(t.tokens(m.Counter))
		}
		if m.tools == nil {
			m.tools = map[uint64]*entry[Tool]{}
		}
		m.tools[key] = e
	}
	own := *e
	own.item.Origin = t.Origin
	return &own
}
