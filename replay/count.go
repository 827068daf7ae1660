package replay

import (
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
	"hash/maphash"
)

// Count returns the tokens of the envelope as /context counts them (docs/session-format.md 8.2): the prompt
// parts as one sum, each tool and each message by itself.
func (e *Envelope) Count(c *tokens.Counter) (weigh.Counts, error) { return e.CountKnown(c, nil) }

// CountKnown is Count for a caller that has counted messages: known returns what Reader.Tokens gives for one, not ok
// for one to read. It is called by several goroutines at once.
func (e *Envelope) CountKnown(c *tokens.Counter, known func(Piece) (n int, ok bool)) (n weigh.Counts, err error) {
	p, err := e.Prompt()
	if err != nil {
		return n, err
	}
	n = p.Counts(c)
	n.NoSystem, n.NoTools = e.Unrecorded(p)
	turns := 0
	for one, err := range Each(e, func(l *Reader, m Piece) (one struct{ all, turn int }, err error) {
		ok := false
		if known != nil {
			one.all, ok = known(m)
		}
		if !ok {
			one.all, _, err = l.Tokens(c, m)
		}
		if m.kind.IsTurn() {
			one.turn = one.all
		}
		return one, err
	}) {
		if err != nil {
			return n, err
		}
		n.Messages += one.all
		turns += one.turn
	}
	if c == &tokens.Pi {
		e.turns = &turns
	}
	n.Total = n.System + n.Tools + n.Messages
	return n, nil
}

// Unrecorded reports whether no record has the system prompt, and the tools, of an envelope with that prompt.
// Before the first entry nothing was sent, unless an answer comes first.
func (e *Envelope) Unrecorded(p *prompt.Prompt) (system, tools bool) {
	if e.Leaf < 0 && e.answer < 0 {
		return false, false
	}
	return p.Unrecorded()
}

// Message reads a message as the provider gets it. size is the length of its JSON in bytes. A plain message is
// read directly from its line, without composing JSON.
func (l *Reader) Message(m Piece) (msg *jsonl.Message, size int, err error) {
	if m.form == plain && m.edit < 0 {
		switch m.kind {
		case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
			if size, err = l.lines.Message(int(m.rec), &l.msg); err != nil {
				return nil, 0, err
			}
			if !l.msg.Content.IsNull() { // Provider sets missing content
				return &l.msg, size, nil
			}
		}
	}
	v, err := l.Provider(m)
	if err != nil {
		return nil, 0, err
	}
	l.msg.Read(l.at.Reset(v), v.Get("role").RoleKind())
	return &l.msg, len(v), nil
}

// Tokens returns the tokens of a message as the provider gets it. size is the length of its JSON in bytes.
func (l *Reader) Tokens(c *tokens.Counter, m Piece) (n, size int, err error) {
	msg, size, err := l.Message(m)
	if err != nil {
		return 0, 0, err
	}
	return l.Weigh(c, msg).Total(), size, nil
}

// Last returns the message that Message or Tokens read last.
func (l *Reader) Last() *jsonl.Message { return &l.msg }

// Weigh returns the size of a message that it has read.
func (l *Reader) Weigh(c *tokens.Counter, m *jsonl.Message) weigh.Weight {
	return l.weighing.Reset(c).Message(m)
}

// Measure measures a message as the provider gets it; system messages unconverted.
func (l *Reader) Measure(c *tokens.Counter, m Piece) (weigh.Measure, error) {
	if m.kind == jsonl.System && m.form != patchGiven {
		v, err := l.Provider(m)
		if err != nil {
			return weigh.Measure{}, err
		}
		content := maphash.Bytes(digestSeed, l.at.Minify(v))
		n, err := l.Estimate(c, m)
		return weigh.Measure{Content: content, Tokens: int32(n), Bytes: int32(len(v))}, err
	}
	msg, size, err := l.Message(m)
	if err != nil {
		return weigh.Measure{}, err
	}
	var h maphash.Hash
	h.SetSeed(digestSeed)
	h.WriteByte(byte(msg.Kind))
	for _, part := range []value{msg.Content, msg.CallID, msg.Tool, msg.IsError} {
		part.MinifiedPieces(&l.at, func(piece []byte) { h.Write(piece) })
		h.WriteByte(0)
	}
	return weigh.Measure{Content: h.Sum64(), Tokens: int32(l.Weigh(c, msg).Total()), Bytes: int32(size)}, nil
}
