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

// An itemDiff is a part or tool that differs, with its texts on both sides.
type itemDiff struct {
	replay.ItemChange
	old, new string
}

// prompt writes the parts and tools that differ, below a heading each.
func (x diff) prompt(heading func(name string), item func(itemDiff)) error {
	was, is, err := x.prompts()
	if err != nil {
		return err
	}
	if len(x.Parts) > 0 {
		heading("System")
	}
	for _, c := range x.Parts {
		item(itemDiff{c, partText(was.Parts, c.A), partText(is.Parts, c.B)})
	}
	if len(x.Tools) > 0 {
		heading("Tools")
	}
	for _, c := range x.Tools {
		item(itemDiff{c, toolText(was.Tools, c.A, c.Change), toolText(is.Tools, c.B, c.Change)})
	}
	return nil
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
