package replay

import (
	"runtime"
	"sync"

	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// imageUnits is what an image counts for, in UTF-16 units of text.
const imageUnits = 4800

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
	p, err := e.Prompt()
	if err != nil {
		return Counts{}, err
	}
	n := countPrompt(c, p.Parts, p.Tools)
	if n.Messages, err = e.countMessages(c); err != nil {
		return Counts{}, err
	}
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}

// countPrompt counts prompt and tools.
func countPrompt(c *tokens.Counter, parts []Part, tools []Tool) (n Counts) {
	units := 0
	for _, part := range parts {
		units += sessionfmt.Units(part.Text)
	}
	n.System = c.Units(units)
	for _, t := range tools {
		n.Tools += c.Units(t.units())
	}
	return n
}

// units is what a tool's definition counts for.
func (t Tool) units() int {
	var f [3]value
	t.Raw.Fields(f[:], "name", "description", "parameters")
	return f[0].Units() + f[1].Units() + f[2].CompactUnits()
}

// countMessages counts the shown messages, on all processors: each takes chunks
// of the list in turn. The sum does not depend on who counted what.
func (e *Envelope) countMessages(c *tokens.Counter) (int, error) {
	msgs := &e.state.msgs
	chunks := (msgs.n + chunkSize - 1) / chunkSize
	workers := max(1, min(runtime.GOMAXPROCS(0), chunks))
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		next  int
		total int
		fault error
	)
	for range workers {
		wg.Go(func() {
			l := e.r.newLoader()
			for {
				mu.Lock()
				k := next
				next++
				mu.Unlock()
				if k >= chunks {
					return
				}
				sum, err := l.countChunk(c, msgs, k)
				mu.Lock()
				total += sum
				if err != nil {
					fault, next = err, chunks
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	l := e.r.newLoader()
	for i := range e.state.uncached {
		n, err := l.units(&e.state.uncached[i])
		if err != nil {
			return 0, err
		}
		total += c.Units(n)
	}
	return total, fault
}

func (l *loader) countChunk(c *tokens.Counter, msgs *list, k int) (sum int, err error) {
	for i := k * chunkSize; i < min(msgs.n, (k+1)*chunkSize); i++ {
		m := msgs.at(i)
		if !m.shown() {
			continue
		}
		n, err := l.units(m)
		if err != nil {
			return 0, err
		}
		sum += c.Units(n)
	}
	return sum, nil
}

// units is what a message counts for as a provider message.
func (l *loader) units(m *message) (int, error) {
	n, _, err := l.sizes(m)
	return n, err
}

// sizes are what a message counts for as a provider message, and its bytes. A plain
// one is counted off its line in one pass, without being made into JSON first.
func (l *loader) sizes(m *message) (units, size int, err error) {
	if m.form == plain && m.edit < 0 {
		switch m.kind {
		case sessionfmt.User, sessionfmt.Assistant, sessionfmt.ToolResult:
			line, err := l.lines.Line(int(m.rec))
			if err != nil {
				return 0, 0, err
			}
			l.at.Reset(line)
			for key := range l.at.Members {
				if string(key) == "message" {
					start := l.at.Offset()
					units = messageUnits(&l.at, m.kind)
					size = l.at.Offset() - start
				}
			}
			if units > 0 { // else it may have no content, and gets some
				return units, size, nil
			}
		}
	}
	v, err := l.provider(m)
	if err != nil {
		return 0, 0, err
	}
	l.at.Reset(v)
	return messageUnits(&l.at, sessionfmt.RoleKind(v.Get("role"))), len(v), nil
}

// messageUnits counts the message that comes next.
func messageUnits(c *sessionfmt.Cursor, role sessionfmt.Kind) (n int) {
	for key := range c.Members {
		if string(key) == "content" {
			n = contentUnits(c, role)
		}
	}
	return n
}

// contentUnits counts the content that comes next: a string, or blocks of the
// types that the role may have.
func contentUnits(c *sessionfmt.Cursor, role sessionfmt.Kind) int {
	if c.Peek() == '"' {
		if role == sessionfmt.Assistant { // has blocks only
			c.Value()
			return 0
		}
		return c.Units()
	}
	n := 0
	for range c.Elements {
		n += blockUnits(c, role)
	}
	return n
}

func blockUnits(c *sessionfmt.Cursor, role sessionfmt.Kind) int {
	var typ value
	text, thinking, name, args := 0, 0, 0, 0
	for key := range c.Members {
		switch string(key) {
		case "type":
			typ = c.Value()
		case "text":
			text = c.Units()
		case "thinking":
			thinking = c.Units()
		case "name":
			name = c.Units()
		case "arguments":
			args = c.CompactUnits()
		}
	}
	switch {
	case typ.Is("text"):
		return text
	case role != sessionfmt.Assistant:
		if typ.Is("image") {
			return imageUnits
		}
	case typ.Is("thinking"):
		return thinking
	case typ.Is("toolCall"):
		return name + args
	}
	return 0
}

// HiddenEstimate is about how many tokens a prompt and tools have that are not
// in the session: what the first answered request's usage says its prompt had,
// less what is counted of it here. It is 0 where no usage tells.
func (e *Envelope) HiddenEstimate(c *tokens.Counter) (int, error) {
	if e.Leaf < 0 {
		return 0, nil
	}
	quiet := *e.r // findings have been reported once
	var prev *Envelope
	for step, err := range quiet.Walk(e.Leaf) {
		if err != nil {
			return 0, err
		}
		if quiet.Session.Kind(step.Record) == sessionfmt.Assistant {
			used, err := quiet.usage(step.Record)
			if err != nil {
				return 0, err
			}
			if prompt := used.promptTokens(); prompt > 0 {
				if prev == nil {
					return prompt, nil
				}
				n, err := prev.Count(c)
				return max(0, prompt-n.Total), err
			}
		}
		prev = step.Envelope()
	}
	return 0, nil
}
