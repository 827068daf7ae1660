package replay

import (
	"ctxtool/internal/parallel"
	"ctxtool/replay/tokens"
)

// A side is the messages of one of two requests that are compared.
type side struct {
	load   *loader
	ms     []*message
	cached int
	said   []saying
	read   []bool // of said
	pair   []int  // the message of the other side that it goes with, -1 for none
}

func newSide(e *Envelope) side {
	s := side{load: e.r.newLoader(), ms: make([]*message, 0, e.Cached()+e.Uncached())}
	for _, m := range e.state.msgs.all {
		if m.shown() {
			s.ms = append(s.ms, m)
		}
	}
	s.cached = len(s.ms)
	for i := range e.state.uncached {
		if m := &e.state.uncached[i]; m.shown() {
			s.ms = append(s.ms, m)
		}
	}
	n := len(s.ms)
	s.said, s.read, s.pair = make([]saying, n), make([]bool, n), make([]int, n)
	for i := range s.pair {
		s.pair[i] = -1
	}
	return s
}

func (s *side) value(i int) (value, error) { return s.load.provider(s.ms[i]) }

// alone are the messages that go with none of the other side yet.
func (s *side) alone() (all []int) {
	for i, p := range s.pair {
		if p < 0 {
			all = append(all, i)
		}
	}
	return all
}

// readStretch is how many messages a processor reads in turn.
const readStretch = 64

// hash reads those of these messages that have not been read, on all processors.
func (s *side) hash(c *tokens.Counter, which []int) error {
	return s.each(which, func(l *loader, buf *[]byte, i int) (err error) {
		if !s.read[i] {
			s.said[i], err = l.say(c, s.ms[i], buf)
			s.read[i] = true
		}
		return err
	})
}

// measure takes the sizes of messages whose words nobody has to know.
func (s *side) measure(c *tokens.Counter, which []int) error {
	return s.each(which, func(l *loader, _ *[]byte, i int) error {
		msg, size, err := l.read(s.ms[i])
		if err == nil {
			s.said[i].tokens, s.said[i].bytes = int32(l.weigher(c).message(msg).Total()), int32(size)
		}
		return err
	})
}

// each works on messages, on all processors where they are many.
func (s *side) each(which []int, work func(l *loader, buf *[]byte, i int) error) error {
	return parallel.Each((len(which)+readStretch-1)/readStretch, func() func(int) error {
		l, buf := s.load, []byte(nil)
		if len(which) > readStretch {
			l = l.r.newLoader()
		}
		return func(k int) error {
			for _, i := range which[k*readStretch : min(len(which), (k+1)*readStretch)] {
				if err := work(l, &buf, i); err != nil {
					return err
				}
			}
			return nil
		}
	})
}
