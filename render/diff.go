package render

import (
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A diff is a comparison that is written. Texts are read when they are.
type diff struct{ *replay.Difference }

// prompts are prompt and tools of both sides.
func (x diff) prompts() (a, b *replay.Prompt, err error) {
	if a, err = x.A.Envelope.Prompt(); err != nil {
		return nil, nil, err
	}
	b, err = x.B.Envelope.Prompt()
	return a, b, err
}

// source is where a side was asked for, in words.
func source(s replay.DiffSource) string {
	name := s.File
	if s.Point != "" {
		name += "@" + s.Point
	}
	return sessionfmt.Clean(name)
}

// by is by what a difference came, behind others.
func by(c replay.Cause) string {
	if c.IsZero() {
		return ""
	}
	text := " by " + orDash(sessionfmt.Quote(c.Entry)) + " " + strings.ReplaceAll(c.Kind, "_", " ")
	if c.Op >= 0 {
		text += fmt.Sprintf(", op %d", c.Op)
	}
	return text
}
