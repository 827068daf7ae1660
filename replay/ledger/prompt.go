package ledger

import (
	"hash/maphash"

	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A Prompt is the prompt and the tools of requests.
type Prompt struct {
	Text   uint64 // hash of prompt and tools, valid in one process only
	Tools  uint64 // hash of the tools alone
	Known  bool   // the session or a baseline records them
	Counts weigh.Counts
	made   func() (prompt.Prompt, error)

	estimate int // tokens of the one system message that pi estimates

	reasoning jsonl.Value // the option, nil if not set
}

// Read returns the prompt with its texts. It is not Compiled.
func (p *Prompt) Read() (prompt.Prompt, error) { return p.made() }

var seed = maphash.MakeSeed()

// Mix combines two hashes.
func Mix(a, b uint64) uint64 {
	var both [16]byte
	for i := range 8 {
		both[i], both[8+i] = byte(a>>(8*i)), byte(b>>(8*i))
	}
	return maphash.Bytes(seed, both[:])
}

// Hash returns a hash of a text and tools, valid in one process only.
func Hash(text string, tools []prompt.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(text)
	for i := range tools {
		maphash.WriteComparable(&h, tools[i].Digest())
	}
	return h.Sum64()
}

// prompt returns the number of the prompt at a step. at is that of the last call.
func (l *Ledger) prompt(t *replay.PromptTracker, step replay.Step, at int32) (int32, error) {
	changed, err := t.Follow(step)
	if !changed || err != nil {
		return at, err
	}
	now := &t.Current
	p := Prompt{Text: Hash(l.Replay.Rules.Compiled(now.Parts), now.Tools), Tools: Hash("", now.Tools), Known: now.Known}
	key := Mix(p.Text, maphash.Bytes(seed, now.Options.Append(nil)))
	if p.Known {
		key++
	}
	at, ok := l.prompts[key]
	if !ok {
		if p.made, p.reasoning = t.Made(), now.Options.Reasoning; l.opt.Counter != nil {
			p.Counts, p.estimate = l.countPrompt(now)
		}
		at = int32(len(l.Prompts))
		l.prompts[key] = at
		l.Prompts = append(l.Prompts, p)
	}
	return at, nil
}

// A toolSize is the size of a tool: in tokens, and in UTF-16 units of JSON.
type toolSize struct{ tokens, units int }

// countPrompt counts a prompt, and each tool once for all prompts. estimate is pi's for it.
func (l *Ledger) countPrompt(p *prompt.Prompt) (n weigh.Counts, estimate int) {
	parts := prompt.Prompt{Parts: p.Parts}
	n = parts.Counts(l.opt.Counter)
	units := parts.Units() + prompt.ListUnits(len(p.Tools))
	for i := range p.Tools {
		digest := p.Tools[i].Digest()
		size, ok := l.tools[digest]
		if !ok {
			size = toolSize{(&prompt.Prompt{Tools: p.Tools[i : i+1]}).Counts(l.opt.Counter).Tools, p.Tools[i].Units()}
			l.tools[digest] = size
		}
		n.Tools += size.tokens
		units += size.units
	}
	n.Total = n.System + n.Tools
	return n, tokens.Pi.Of(units)
}
