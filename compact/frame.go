package compact

import (
	"fmt"
	"time"

	"ctxtool/replay"
)

// A frame is how a system puts the summary of a compaction into a context
// (docs/policies.md 1.6).
type frame struct {
	style Style
	role  string
	mark  value // the field metadata, by which the system finds the message again; nil for none
	text  func(summary string, messages int, at time.Time) string
}

var frames = []frame{
	{style: StylePi, role: "user", text: func(summary string, _ int, _ time.Time) string {
		return replay.SummaryText(summary)
	}},
	{style: StyleGSH, role: "user", text: func(summary string, _ int, _ time.Time) string {
		return "[Context compacted - previous conversation summary]\n\n" + summary
	}},
	{style: styleSWECLI, role: "system", text: func(summary string, messages int, at time.Time) string {
		return fmt.Sprintf("\n=== CONVERSATION HISTORY SUMMARY ===\n(Compacted %d messages at %s)\n\n%s\n\n=== END SUMMARY ===\n\nRecent messages follow below (unmodified)...\n",
			messages, at.UTC().Format("2006-01-02 15:04:05.000000"), summary)
	}},
	{style: styleYAgent, role: "system", mark: value(`{"type":"compaction_summary"}`), text: func(summary string, _ int, _ time.Time) string {
		return summary
	}},
}

// frame returns the frame of a summary of a style. pi reads edits, and knows its own frame only.
func (v *View) frame(s Style) *frame {
	for i := range frames {
		if f := &frames[i]; f.style == s && (v.form != AsEdits || s == StylePi) {
			return f
		}
	}
	return &frames[0]
}

// framed records the frame of a pass's summary, and the style's own if that is another one.
func (r *Reduction) framed(w *work) {
	r.Frame = w.frame(w.Style).style
	if r.OwnFrame = w.Style; r.Frame == w.Style {
		r.OwnFrame = ""
	}
}

// A head is the summary of a compaction that a pass has made, and its frame.
type head struct {
	*frame
	summary string
	framed  string
}

// append appends the message as a provider gets it, at a time in milliseconds.
func (h *head) append(dst []byte, millis int64) []byte {
	dst = fmt.Appendf(dst, `{"role":%s,"content":%s`, quoted(h.role), append(appendTextBlock(value{'['}, quoted(h.framed)), ']'))
	if h.mark != nil {
		dst = append(append(dst, `,"metadata":`...), h.mark...)
	}
	return fmt.Appendf(dst, `,"timestamp":%d}`, millis)
}
