package replay

import (
	"hash/maphash"
	"sync/atomic"

	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// Count returns the tokens of the envelope as /context counts them (docs/session-format.md
// 8.2): the prompt parts together, each tool and each message separately.
func (e *Envelope) Count(c *tokens.Counter) (weigh.Counts, error) {
	n, err := CountAll(c, e)
	return n[0], err
}

// CountAll returns the counts of several envelopes of one replay, in order. It counts a message
// only once if several envelopes have it at the same place.
func CountAll(c *tokens.Counter, all ...*Envelope) ([]weigh.Counts, error) {
	n := make([]weigh.Counts, len(all))
	for i, e := range all {
		p, err := e.Prompt()
		if err != nil {
			return n, err
		}
		n[i] = p.Counts(c)
	}
	sums, err := countMessages(c, all)
	for i := range n {
		n[i].Messages = int(sums[i].Load())
		n[i].Total = n[i].System + n[i].Tools + n[i].Messages
	}
	return n, err
}

// countMessages counts the shown messages of all envelopes, in parallel. Each worker takes
// ranges of the lists in turn. The sums do not depend on which worker counts what.
func countMessages(c *tokens.Counter, all []*Envelope) ([]atomic.Int64, error) {
	sums := make([]atomic.Int64, len(all))
	most := 0
	for _, e := range all {
		most = max(most, e.Len())
	}
	return sums, all[0].inChunks((most+chunkSize-1)/chunkSize, func(l *Reader, k int) error {
		for i := k * chunkSize; i < min(most, (k+1)*chunkSize); i++ {
			var was *Piece
			n := 0
			for j, e := range all {
				if i >= e.Len() || !e.Piece(i).Sent() {
					continue
				}
				m := e.Piece(i)
				if was == nil || was.Place() != m.Place() {
					var err error
					if n, _, err = l.Tokens(c, m); err != nil {
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

// HiddenEstimate estimates how many tokens of prompt and tools the session does not record: the
// recorded prompt size of the first answered request, minus what is counted of it. It is 0
// without a recorded usage.
func (e *Envelope) HiddenEstimate(c *tokens.Counter) (int, error) {
	path, _ := e.r.Session.Path(e.Leaf)
	for pos, rec := range path {
		if e.r.Session.Kind(rec) != jsonl.Assistant {
			continue
		}
		used, err := e.r.usage(rec)
		if err != nil {
			return 0, err
		}
		if prompt := int(used.Prompt()); prompt > 0 {
			quiet := *e.r // findings have been reported already
			before, err := quiet.end(path[:pos])
			if err != nil {
				return 0, err
			}
			n, err := before.Count(c)
			return max(0, prompt-n.Total), err
		}
	}
	return 0, nil
}

// Message reads a message as the provider gets it. size is the length of its JSON in bytes. A
// plain message is read from its line directly, without being converted to JSON.
func (l *Reader) Message(m *Piece) (msg *jsonl.Message, size int, err error) {
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

// Tokens returns what a message counts for as a provider message. size is the length of its
// JSON in bytes.
func (l *Reader) Tokens(c *tokens.Counter, m *Piece) (n, size int, err error) {
	msg, size, err := l.Message(m)
	if err != nil {
		return 0, 0, err
	}
	return l.weigher(c).Message(msg).Total(), size, nil
}

// weigher returns the reader's own Weigher, reset for a counter.
func (l *Reader) weigher(c *tokens.Counter) *weigh.Weigher {
	return l.weighing.Reset(c)
}

// Digest reads a message that a provider gets.
func (l *Reader) Digest(c *tokens.Counter, m *Piece) (weigh.Digest, error) {
	v, err := l.Provider(m)
	if err != nil {
		return weigh.Digest{}, err
	}
	if m.kind == jsonl.System {
		l.spelled = v.AppendMinified(l.spelled[:0])
		n, err := l.Estimate(c, m)
		return weigh.Digest{Content: maphash.Bytes(digestSeed, l.spelled), Spelling: maphash.Bytes(digestSeed, v), Tokens: int32(n), Bytes: int32(len(v))}, err
	}
	var f [5]value
	v.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
	var h maphash.Hash
	h.SetSeed(digestSeed)
	for _, part := range f {
		part.MinifiedPieces(&l.spelled, func(piece []byte) { h.Write(piece) })
		h.WriteByte(0)
	}
	l.msg.Read(l.at.Reset(v), f[0].RoleKind())
	n := l.weigher(c).Message(&l.msg).Total()
	return weigh.Digest{Content: h.Sum64(), Spelling: maphash.Bytes(digestSeed, v), Tokens: int32(n), Bytes: int32(len(v))}, nil
}
