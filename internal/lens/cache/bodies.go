package cache

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A parting is where the bodies of two requests begin to differ, as their agent recorded them.
type parting struct {
	of       int32 // the earlier request
	whole    bool  // the later body only adds to the earlier one
	at       int   // the messages that both begin with
	cause    Cause
	sections []string
}

// bodiesPart compares the recorded body of a request with that of an earlier one: with the request that has the longest
// known prefix, or with the previous one. It is nil where one of the bodies is not recorded.
func (c *accountant) bodiesPart(k int, compared int32) *parting {
	is := c.sketchOf(int32(k))
	if is == nil {
		return nil
	}
	var best *parting
	for _, of := range []int32{compared, int32(c.last)} {
		if of < 0 || of >= int32(k) || c.cached(&c.l.Requests[of]) != c.cached(&c.l.Requests[k]) {
			continue
		}
		if was := c.sketchOf(of); was != nil {
			if one := part(was, is); best == nil || one.at > best.at {
				one.of, best = of, one
			}
		}
	}
	return best
}

// sketchOf returns what is recorded of a request, nil for nothing.
func (c *accountant) sketchOf(k int32) *dialect.Sketch {
	if c.sketches == nil {
		all, err := c.l.Replay.Session.Sketches()
		c.sketches, c.err = all, cmp.Or(c.err, err)
		if all == nil {
			c.sketches = map[int]*dialect.Sketch{}
		}
	}
	return c.sketches[int(c.l.Requests[k].Record)]
}

// part compares two bodies in the order in which a provider caches them: tools, system prompt, the level of thinking,
// messages.
func part(was, is *dialect.Sketch) *parting {
	p := &parting{}
	if was.Prompt != is.Prompt {
		if !slices.EqualFunc(was.Prompt.Tools, is.Prompt.Tools, sameValue) {
			p.cause = CauseTools
		} else if !slices.Equal(was.Prompt.Sections, is.Prompt.Sections) {
			p.cause = CauseSystem
		}
		if p.cause != "" {
			p.sections = differing(sketchSections(was.Prompt), sketchSections(is.Prompt))
			return p
		}
	}
	if !slices.EqualFunc(thinkingOf(was), thinkingOf(is), sameValue) {
		p.cause = CauseThinking
		return p
	}
	a, b := was.Sent.From(0), is.Sent.From(0)
	for p.at < min(len(a), len(b)) && a[p.at] == b[p.at] {
		p.at++
	}
	if p.whole = p.at == len(a); !p.whole {
		p.cause = CauseRewritten
	}
	return p
}

func sameValue(a, b jsonl.Value) bool { return bytes.Equal(a, b) }

// thinkingOf returns what a body says of how much to think.
func thinkingOf(of *dialect.Sketch) []jsonl.Value {
	return append(of.Params.Get("thinking").All("type", "budget_tokens"), of.Params.Get("output_config").Get("effort"))
}

// sketchSections returns the sections of a prompt, tools first.
func sketchSections(p *dialect.PromptSketch) (all []section) {
	for _, t := range p.Tools {
		all = append(all, section{"tool " + t.Get("name").Text(), maphash.Bytes(seed, t)})
	}
	for _, s := range p.Sections {
		all = append(all, section{s.Name, maphash.String(seed, s.Text)})
	}
	return all
}

// corrected returns the break of a request as the bodies have it: what the session gives says why, where it is known.
func (p *parting) corrected(b *Break) *Break {
	if p.whole {
		return nil
	}
	if b == nil {
		b = &Break{Cause: CauseUnknown, Record: -1, Op: -1}
	}
	b.Recorded, b.At = true, p.at
	switch {
	case p.cause != CauseRewritten:
		if b.Cause != p.cause && (b.Cause == CauseUnknown || b.Cause == CauseSystem || b.Cause == CauseTools) {
			b.Record, b.Op = -1, -1
		}
		if b.Cause != CauseCompaction && b.Cause != CauseBranch {
			b.Cause = p.cause
		}
		b.Sections = p.sections
	case b.Cause == CauseUnknown, b.Cause == CauseSystem, b.Cause == CauseTools, b.Cause == CauseThinking,
		b.Cause == CauseUncached, b.Cause == CauseEphemeral:
		b.Cause, b.Sections, b.Record, b.Op = CauseRewritten, nil, -1, -1
	}
	return b
}
