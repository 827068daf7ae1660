// Package prompt builds prompt, tools and options of an envelope from system messages and
// patches.
package prompt

import (
	"hash/maphash"

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
	// Known reports whether the session or a baseline records parts and tools. If not, pi's own prompt and
	// tools are missing.
	Known bool
	// NoTools reports that the agent never records its tools, even if Known.
	NoTools bool
	// Omitted are the tools left out because nothing implements them.
	Omitted []Tool
}

// A Baseline holds what a session file may not record: prompt, tools and options that the agent supplies.
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

	Content bool // the text outside all sections

	// File and Skill are set by Split: the path of a context file, or the name of a skill and the path of its
	// file.
	File, Skill string

	// Where the text is if it is omitted; see Texts.
	from   any
	nth    int32
	before *Part // the text to which this one is added
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

// Unrecorded reports whether no record has the system prompt, and the tools, that were sent.
func (p *Prompt) Unrecorded() (system, tools bool) {
	return !p.Known && len(p.Parts) == 0, (!p.Known || p.NoTools) && len(p.Tools)+len(p.Omitted) == 0
}

// Count returns the tokens of each part and each tool. If the counter rounds once per message, each part counts
// by how much it increases the rounded sum.
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

// Units returns the length of the single system message that pi estimates for prompt and tools, in UTF-16
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
