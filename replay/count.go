package replay

import (
	"hash/maphash"
	"sync/atomic"

	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// Count counts the envelope as /context does (docs/session-format.md 8.2): the parts
// together, and each tool and each message by itself.
func (e *Envelope) Count(c *tokens.Counter) (weigh.Counts, error) {
	n, err := CountAll(c, e)
	return n[0], err
}

// CountAll are the counts of envelopes of one replay. What is the same message at the same
// place in several of them is counted once.
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

// countMessages counts the shown messages, in parallel: each takes ranges of the
// lists in turn. The sums do not depend on who counted what.
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

// HiddenEstimate is about how many tokens a prompt and tools have that are not
// in the session: what the first answered request's usage says its prompt had,
// less what is counted of it here. It is 0 where no usage tells.
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
			quiet := *e.r // findings have been reported once
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

// Message reads a message as a provider gets it. size is that of its JSON, bytes. A plain
// message is read off its line, without being made into JSON first.
func (l *Reader) Message(m *Piece) (msg *jsonl.Message, size int, err error) {
	if m.form == plain && m.edit < 0 {
		switch m.kind {
		case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
			line, err := l.lines.Line(int(m.rec))
			if err != nil {
				return nil, 0, err
			}
			l.msg.Content = nil
			l.at.Reset(line)
			for key := range l.at.Members {
				if string(key) == "message" {
					start := l.at.Offset()
					l.msg.Read(&l.at, m.kind)
					size = l.at.Offset() - start
				}
			}
			if !l.msg.Content.IsNull() { // else it gets some
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

// Tokens is what a message counts for as a provider message. size is that of its JSON,
// bytes.
func (l *Reader) Tokens(c *tokens.Counter, m *Piece) (n, size int, err error) {
	msg, size, err := l.Message(m)
	if err != nil {
		return 0, 0, err
	}
	return l.weigher(c).Message(msg).Total(), size, nil
}

// weigher is the loader's own weighing, for a counter.
func (l *Reader) weigher(c *tokens.Counter) *weigh.Weigher {
	return l.weighing.Reset(c)
}

// A Saying is what is known of one message without its text. Hashes are good for one run
// only.
type Digest struct {
	Content  uint64 // of what it says
	Spelling uint64 // of its bytes
	Tokens   int32
	Bytes    int32 // of its JSON
}

// Digest reads a message that a provider gets.
func (l *Reader) Digest(c *tokens.Counter, m *Piece) (Digest, error) {
	v, err := l.Provider(m)
	if err != nil {
		return Digest{}, err
	}
	if m.kind == jsonl.System {
		l.spelled = v.AppendMinified(l.spelled[:0])
		n, err := l.Estimate(c, m)
		return Digest{maphash.Bytes(digestSeed, l.spelled), maphash.Bytes(digestSeed, v), int32(n), int32(len(v))}, err
	}
	var f [5]value
	v.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
	var h maphash.Hash
	h.SetSeed(digestSeed)
	for _, part := range f {
		part.Compactly(&l.spelled, func(piece []byte) { h.Write(piece) })
		h.WriteByte(0)
	}
	l.msg.Read(l.at.Reset(v), f[0].RoleKind())
	return Digest{
		h.Sum64(), maphash.Bytes(digestSeed, v),
		int32(l.weigher(c).Message(&l.msg).Total()), int32(len(v)),
	}, nil
}
