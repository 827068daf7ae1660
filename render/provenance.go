package render

import (
	"bufio"
	"iter"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// tap keeps the origins of messages that go by, where they are asked for.
func (r Report) tap(messages iter.Seq2[replay.Message, error], origins *[]replay.Origin) iter.Seq2[replay.Message, error] {
	if !r.Provenance {
		return messages
	}
	return func(yield func(replay.Message, error) bool) {
		for m, err := range messages {
			*origins = append(*origins, m.Origin)
			if !yield(m, err) {
				return
			}
		}
	}
}

// writeProvenance writes where each piece of the envelope comes from, parallel
// to the pieces.
func writeProvenance(w *bufio.Writer, s *sessionfmt.Session, p *replay.Prompt, cached, uncached []replay.Origin) {
	o := object{w: w}
	o.key("system")
	writeOrigins(w, s, len(p.Parts), func(i int) replay.Origin { return p.Parts[i].Origin })
	o.key("tools")
	writeOrigins(w, s, len(p.Tools), func(i int) replay.Origin { return p.Tools[i].Origin })
	o.key("cached")
	writeOrigins(w, s, len(cached), func(i int) replay.Origin { return cached[i] })
	o.key("uncached")
	writeOrigins(w, s, len(uncached), func(i int) replay.Origin { return uncached[i] })
	o.close()
}

func writeOrigins(w *bufio.Writer, s *sessionfmt.Session, n int, at func(int) replay.Origin) {
	w.WriteByte('[')
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		from := at(i)
		o := object{w: w}
		if from.Record < 0 {
			o.text("by", "baseline")
			o.close()
			continue
		}
		if id := s.ID(from.Record); id != "" {
			o.text("entry", id)
		}
		o.value("line", s.Line(from.Record))
		if from.By == from.Record && from.Op < 0 {
			o.text("by", "entry")
		} else {
			o.key("by")
			by := object{w: w}
			by.text("entry", s.ID(from.By))
			if from.Op >= 0 {
				by.value("op", from.Op)
			}
			by.close()
		}
		o.close()
	}
	w.WriteByte(']')
}
