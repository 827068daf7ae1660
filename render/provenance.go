package render

import (
	"bufio"
	"iter"

	"ctxtool/replay"
)

// writeProvenance writes where each piece of the envelope comes from, parallel
// to the pieces.
func writeProvenance(w *bufio.Writer, e *replay.Envelope, p *replay.Prompt) error {
	o := object{w: w}
	o.key("system")
	s := e.Replay()
	writeOrigins(w, s, len(p.Parts), func(i int) replay.Origin { return p.Parts[i].Origin })
	o.key("tools")
	writeOrigins(w, s, len(p.Tools), func(i int) replay.Origin { return p.Tools[i].Origin })
	for _, list := range []struct {
		name     string
		messages iter.Seq2[replay.Message, error]
	}{{"cached", e.CachedMessages()}, {"uncached", e.UncachedMessages()}} {
		var origins []replay.Origin
		for m, err := range list.messages {
			if err != nil {
				return err
			}
			origins = append(origins, m.Origin)
		}
		o.key(list.name)
		writeOrigins(w, s, len(origins), func(i int) replay.Origin { return origins[i] })
	}
	o.close()
	return nil
}

func writeOrigins(w *bufio.Writer, r *replay.Replay, n int, at func(int) replay.Origin) {
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
		o.text("entry", r.Session.ID(from.Record))
		o.value("line", r.Session.Line(from.Record))
		if from.By == from.Record && from.Op < 0 {
			o.text("by", "entry")
		} else {
			o.key("by")
			by := object{w: w}
			by.text("entry", r.Session.ID(from.By))
			if from.Op >= 0 {
				by.value("op", from.Op)
			}
			by.close()
		}
		o.close()
	}
	w.WriteByte(']')
}
