package replay

import (
	"strconv"

	"ctxtool/sessionfmt"
)

// Checkpoint is the system message that prompt and tools of the context replay to, as
// a compaction carries it (spec/pi-1.5.md 1.2, 1.4), with a time in milliseconds; nil
// where the session has set neither. What a baseline gives is not in it.
func (e *Envelope) Checkpoint(ms int64) (sessionfmt.Value, error) {
	if len(e.state.deltas) == 0 {
		return nil, nil
	}
	var f folded
	if err := e.r.newLoader().fold(&f, e.state.deltas); err != nil {
		return nil, err
	}
	content, sections := "", []byte{}
	for _, p := range f.parts {
		if p.content {
			content = p.Text
			continue
		}
		if len(sections) > 0 {
			sections = append(sections, ',')
		}
		sections = append(sessionfmt.AppendQuoted(sections, p.Name), ':')
		sections = sessionfmt.AppendQuoted(sections, p.Text)
	}
	out := sessionfmt.AppendQuoted([]byte(`{"role":"system","content":`), content)
	if len(sections) > 0 {
		out = append(append(append(out, `,"sections":{`...), sections...), '}')
	}
	for k, t := range f.tools {
		if k == 0 {
			out = append(out, `,"toolsAdded":[`...)
		} else {
			out = append(out, ',')
		}
		out = append(out, t.Raw...)
	}
	if len(f.tools) > 0 {
		out = append(out, ']')
	}
	return append(strconv.AppendInt(append(out, `,"timestamp":`...), ms, 10), '}'), nil
}
