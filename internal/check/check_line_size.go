package check

import (
	"ctxtool/replay"
)

var lineSize = Check{
	Code:     "line-size",
	Group:    "limits",
	Severity: Warning,
	Title:    "a line larger than any request may be",
	About: "No provider takes a request of this size, so the entry cannot be sent as it is. The limits are " +
		"those of the model's provider, or where it is not known the largest of all.",
	Pi:   "It sends it, and the provider refuses the request.",
	Help: "`ctxtool edit SESSION POINT --omit` leaves it out of the context.",
	leaf: (*walk).lineSize,
}

func (w *walk) lineSize(e *replay.Envelope) error {
	limits, provider, err := w.limits(e)
	for i := range w.s.Len() {
		if n := w.s.LineSize(i); limits.Request > 0 && int64(n) > limits.Request {
			w.add(i, "its line has %d bytes, and %s takes requests of %d", n, provider, limits.Request)
		}
	}
	return err
}
