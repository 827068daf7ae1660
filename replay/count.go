package replay

import (
	"sync/atomic"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// Counts are the tokens of an envelope by category.
type Counts struct {
	System   int `json:"system"`
	Tools    int `json:"tools"`
	Messages int `json:"messages"`
	Total    int `json:"total"`
}

// Count counts the envelope as /context does (spec/pi-format.md 8.1): the parts
// together, and each tool and each message by itself.
func (e *Envelope) Count(c *tokens.Counter) (Counts, error) {
	n, err := counts(c, e)
	return n[0], err
}

// counts are the counts of envelopes of one replay. What is the same message at the same
// place in several of them is counted once.
func counts(c *tokens.Counter, all ...*Envelope) ([]Counts, error) {
	n := make([]Counts, len(all))
	for i, e := range all {
		p, err := e.Prompt()
		if err != nil {
			return n, err
		}
		n[i] = countPrompt(c, p.Parts, p.Tools)
	}
	sums, err := countMessages(c, all)
	for i := range n {
		n[i].Messages = int(sums[i].Load())
		n[i].Total = n[i].System + n[i].Tools + n[i].Messages
	}
	return n, err
}

// countPrompt counts prompt and tools.
func countPrompt(c *tokens.Counter, parts []Part, tools []Tool) (n Counts) {
	p := Prompt{Parts: parts, Tools: tools}
	each, ofTools := p.Count(c)
	for _, k := range each {
		n.System += k
	}
	for _, k := range ofTools {
		n.Tools += k
	}
	return n
}

// Count is what each part and each tool takes. Where the counter rounds once a message
// the parts are one together: each has what it adds to those before it.
func (p *Prompt) Count(c *tokens.Counter) (parts, tools []int) {
	w := weighing{c: c}
	for _, part := range p.Parts {
		parts = append(parts, w.add(w.of([]byte(part.Text))))
	}
	for _, t := range p.Tools {
		tools = append(tools, t.tokens(c))
	}
	return parts, tools
}

// tokens is what a tool's definition counts for.
func (t Tool) tokens(c *tokens.Counter) (n int) {
	w := weighing{c: c}
	for _, name := range []string{"name", "description"} {
		n += w.add(w.value(t.Raw.Get(name)))
	}
	if parameters := t.Raw.Get("parameters"); parameters.Exists() {
		n += w.add(w.compact(parameters))
	}
	return n
}

// countMessages counts the shown messages, on all processors: each takes stretches of the
// lists in turn. The sums do not depend on who counted what.
func countMessages(c *tokens.Counter, all []*Envelope) ([]atomic.Int64, error) {
	sums := make([]atomic.Int64, len(all))
	most := 0
	for _, e := range all {
		most = max(most, e.len())
	}
	return sums, all[0].inChunks((most+chunkSize-1)/chunkSize, func(l *loader, k int) error {
		for i := k * chunkSize; i < min(most, (k+1)*chunkSize); i++ {
			var was *message
			n := 0
			for j, e := range all {
				if i >= e.len() || !e.message(i).shown() {
					continue
				}
				m := e.message(i)
				if was == nil || was.place() != m.place() {
					var err error
					if n, err = l.tokens(c, m); err != nil {
						return err
					}
					was = m
				}
				sums[j].Add(int64(n))
			}
		}
		return nil
	})
}

// HiddenEstimate is about how many tokens a prompt and tools have that are not
// in the session: what the first answered request's usage says its prompt had,
// less what is counted of it here. It is 0 where no usage tells.
func (e *Envelope) HiddenEstimate(c *tokens.Counter) (int, error) {
	path, _ := e.r.Session.Path(e.Leaf)
	for pos, rec := range path {
		if e.r.Session.Kind(rec) != sessionfmt.Assistant {
			continue
		}
		used, err := e.r.usage(rec)
		if err != nil {
			return 0, err
		}
		if prompt := int(used.Prompt()); prompt > 0 {
			quiet := *e.r // findings have been reported once
			_, before, _, err := quiet.span(path[:pos], pos)
			if err != nil {
				return 0, err
			}
			n, err := before.Count(c)
			return max(0, prompt-n.Total), err
		}
	}
	return 0, nil
}
