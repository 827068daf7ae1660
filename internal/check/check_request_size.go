package check

import (
	"ctxtool/replay"
)

var requestSize = Check{
	Code:     "request-size",
	Group:    "limits",
	Severity: Error,
	Title:    "the next request is larger than the provider takes",
	About: "Providers limit the bytes of a request, whatever the tokens: images count most. The size is " +
		"that of the lines that the request is made from.",
	Pi:   "It sends it, and the provider refuses the request.",
	Help: "Compact the session, or omit what is large in it.",
	leaf: (*walk).requestSize,
}

func (w *walk) requestSize(e *replay.Envelope) error {
	limits, provider, err := w.limits(e)
	if err != nil || limits.Request == 0 || w.s.Size() < limits.Request {
		return err
	}
	r, err := w.request(e)
	if err == nil && r.size > limits.Request {
		w.addLine(0, "", "the next request has about %d bytes, and %s takes %d", r.size, provider, limits.Request)
	}
	return err
}
