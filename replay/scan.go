package replay

import (
	"ctxtool/internal/parallel"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A Place is a message of a context, without its text.
type Place struct {
	Kind   sessionfmt.Kind // by its role in the session
	Origin Origin
	Index  int  // by which Texts finds it
	Pos    int  // of its record on the path
	Sent   bool // it is one of the request's messages
	Cached bool // it is one of the list, and no uncached one
	// Tokens are what pi itself takes a message for that is neither user's, answer nor
	// result, as it is stored and not as it is sent (spec/pi-1.5.md 7.1). Of those it
	// is 0: they count for what their texts do.
	Tokens int
}

// Chunks is the number of stretches in which Scan goes through the messages.
func (e *Envelope) Chunks() int { return (e.state.msgs.n+chunkSize-1)/chunkSize + 1 }

// Scan goes through the messages of the context, those that no provider gets
// included and the uncached ones last, each stretch on a processor of its own and
// in order: read is called by several at once, but for one stretch by one alone.
// The message is as a provider gets it, each line gone over once, and valid during the
// call; for one that is not sent it is nil.
func (e *Envelope) Scan(read func(chunk int, p Place, m *sessionfmt.Message)) error {
	chunks := e.Chunks()
	msgs := &e.state.msgs
	if err := e.inChunks(chunks-1, func(l *loader, k int) error {
		for i := k * chunkSize; i < min(msgs.n, (k+1)*chunkSize); i++ {
			m := msgs.at(i)
			if m.flags&omitted != 0 {
				continue
			}
			p := Place{Kind: m.kind, Origin: m.origin(), Index: i, Pos: int(m.pos), Sent: m.shown(), Cached: true}
			if err := l.scan(m, p, k, read); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	l := e.r.newLoader()
	for i := range e.state.uncached {
		m := &e.state.uncached[i]
		p := Place{Kind: m.kind, Origin: m.origin(), Index: msgs.n + i, Pos: int(m.pos), Sent: true}
		if err := l.scan(m, p, chunks-1, read); err != nil {
			return err
		}
	}
	return nil
}

// inChunks calls do for each of so many stretches, on all processors, which take them
// in turn, each with a loader of its own.
func (e *Envelope) inChunks(chunks int, do func(l *loader, k int) error) error {
	return parallel.Each(chunks, func() func(int) error {
		l := e.r.newLoader()
		return func(k int) error { return do(l, k) }
	})
}

// scan has one message read.
func (l *loader) scan(m *message, p Place, chunk int, read func(int, Place, *sessionfmt.Message)) (err error) {
	switch m.kind {
	case sessionfmt.User, sessionfmt.Assistant, sessionfmt.ToolResult:
	default:
		if p.Tokens, err = l.estimate(&tokens.Pi, m); err != nil {
			return err
		}
	}
	if !p.Sent {
		read(chunk, p, nil)
		return nil
	}
	msg, _, err := l.read(m)
	if err == nil {
		read(chunk, p, msg)
	}
	return err
}

// Texts reads messages of an envelope one by one.
type Texts struct {
	e *Envelope
	l *loader
}

// Texts returns a reader of the envelope's messages. It is not safe for concurrent
// use.
func (e *Envelope) Texts() *Texts { return &Texts{e, e.r.newLoader()} }

// Provider is the message of that index as a provider gets it, nil if it does not.
// It is valid until the next call.
func (t *Texts) Provider(index int) (sessionfmt.Value, error) {
	return t.l.provider(t.e.message(index))
}

// Agent is the message of that index as pi's own context building returns it.
func (t *Texts) Agent(index int) (sessionfmt.Value, error) {
	return t.l.agent(t.e.message(index))
}

// len is the number of messages, the uncached ones last.
func (e *Envelope) len() int { return e.state.msgs.n + len(e.state.uncached) }

func (e *Envelope) message(index int) *message {
	if n := e.state.msgs.n; index >= n {
		return &e.state.uncached[index-n]
	}
	return e.state.msgs.at(index)
}
