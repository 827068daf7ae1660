package replay

import (
	"ctxtool/internal/base/parallel"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
	"iter"
	"runtime"
)

// Each yields what read returns for each message of the request, cached and uncached, in order. It
// processes ranges of messages in parallel; each worker has its own reader.
func Each[T any](e *Envelope, read func(l *Reader, p Piece) (T, error)) iter.Seq2[T, error] {
	type part struct {
		all []T
		err error
	}
	return func(yield func(T, error) bool) {
		workers := runtime.GOMAXPROCS(0)
		for p := range parallel.InOrder((e.Len()+chunkSize-1)/chunkSize, workers, 2*workers+1, func() func(int) part {
			l := e.r.NewReader()
			return func(k int) (p part) {
				from, to := k*chunkSize, min(e.Len(), (k+1)*chunkSize)
				p.all = make([]T, 0, to-from)
				for i := from; i < to && p.err == nil; i++ {
					if m := e.Piece(i); m.Sent() {
						var one T
						one, p.err = read(l, m)
						p.all = append(p.all, one)
					}
				}
				return p
			}
		}) {
			for i, one := range p.all {
				var err error
				if i == len(p.all)-1 {
					err = p.err
				}
				if !yield(one, err) || err != nil {
					return
				}
			}
		}
	}
}

// Scan calls read for the messages of the context by index, including those that no provider
// gets; the uncached ones come last. It processes ranges in parallel, and each range in order:
// calls for different ranges are concurrent. m is the message as a provider gets it, valid
// during the call, and nil if it is not sent. tokens is pi's estimate for a message that is not
// a user message, answer or result, counted as stored, not as sent (docs/session-format.md
// 8.3). It is 0 for those three, whose texts the caller counts.
func (e *Envelope) Scan(read func(index int, p Piece, m *jsonl.Message, tokens int)) error {
	return parallel.Each((e.Len()+chunkSize-1)/chunkSize, func() func(int) error {
		l := e.r.NewReader()
		return func(k int) error {
			for i := k * chunkSize; i < min(e.Len(), (k+1)*chunkSize); i++ {
				if p := e.Piece(i); p.flags&omitted == 0 {
					if err := l.scan(i, p, read); err != nil {
						return err
					}
				}
			}
			return nil
		}
	})
}

func (l *Reader) scan(index int, p Piece, read func(int, Piece, *jsonl.Message, int)) (err error) {
	estimate := 0
	if !p.kind.IsTurn() {
		if estimate, err = l.Estimate(&tokens.Pi, p); err != nil {
			return err
		}
	}
	var m *jsonl.Message
	if p.Sent() {
		m, _, err = l.Message(p)
	}
	if err == nil {
		read(index, p, m, estimate)
	}
	return err
}

// Listed returns the number of messages without the uncached ones.
func (e *Envelope) Listed() int { return e.state.msgs.n }

// Differs returns the indexes of cached messages that differ from an earlier envelope of the
// replay, including those that only one of them has. A nil earlier envelope has no messages.
func (e *Envelope) Differs(earlier *Envelope) iter.Seq[int] {
	if earlier == nil {
		return e.state.msgs.differs(&list{})
	}
	return e.state.msgs.differs(&earlier.state.msgs)
}

// Len returns the number of messages, including omitted ones; the uncached ones come last.
func (e *Envelope) Len() int { return e.state.msgs.n + len(e.state.uncached) }

// Piece returns the message at an index.
func (e *Envelope) Piece(index int) Piece {
	if n := e.state.msgs.n; index >= n {
		return e.state.msgs.pool.at(e.state.uncached[index-n])
	}
	return e.state.msgs.at(index)
}
