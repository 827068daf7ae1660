package sessionlog

import (
	"ctxtool/replay"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
)

// A size is the context as SWE-CLI counts it: the messages of the request, and the project's
// notes for agents of the prompt. It follows a walk step by step.
type size struct {
	load   *replay.Reader
	before *replay.Envelope
	prompt replay.PromptTracker

	messages, tokens, codebase int
}

func newSize(r *replay.Replay) (s *size, err error) {
	s = &size{load: r.NewReader()}
	s.before, err = r.At(sessionfmt.After(-1))
	return s, err
}

// total returns the size in tokens.
func (s *size) total() int { return s.tokens + s.codebase }

// follow updates the size for the next step.
func (s *size) follow(step replay.Step) error {
	now, was := step.Envelope(), s.before
	s.before = now
	switch step.Did {
	case replay.Nothing, replay.Settings:
	case replay.Added:
		for i := was.Listed(); i < now.Listed(); i++ {
			if err := s.count(now.Piece(i), 1); err != nil {
				return err
			}
		}
	default:
		if err := s.compare(now, was); err != nil {
			return err
		}
	}
	changed, err := s.prompt.Follow(step)
	if !changed || err != nil {
		return err
	}
	s.codebase = weigh.TextTokens(&weigh.SWE, []byte(s.prompt.Current.Notes()))
	return nil
}

// compare counts the messages that another context adds and removes.
func (s *size) compare(now, was *replay.Envelope) error {
	one := func(e *replay.Envelope, i, sign int) error {
		if i >= e.Len() {
			return nil
		}
		return s.count(e.Piece(i), sign)
	}
	for i := range now.Differs(was) {
		if i < was.Listed() {
			if err := one(was, i, -1); err != nil {
				return err
			}
		}
		if i < now.Listed() {
			if err := one(now, i, 1); err != nil {
				return err
			}
		}
	}
	for i := was.Listed(); i < was.Len(); i++ {
		if err := one(was, i, -1); err != nil {
			return err
		}
	}
	for i := now.Listed(); i < now.Len(); i++ {
		if err := one(now, i, 1); err != nil {
			return err
		}
	}
	return nil
}

// count adds a message, or subtracts it if sign is -1.
func (s *size) count(p *replay.Piece, sign int) error {
	if !p.Sent() {
		return nil
	}
	raw, err := s.load.Provider(p)
	if err != nil {
		return err
	}
	s.messages += sign
	s.tokens += sign * weigh.MessageTokens(&weigh.SWE, raw.Message())
	return nil
}
