package check

import (
	"ctxtool/replay"
)

var imageSize = Check{
	Code:     "image-size",
	Group:    "limits",
	Severity: Error,
	Title:    "an image larger than the provider takes",
	About: "Providers limit the bytes of one image. A request with a larger one is refused, and every later " +
		"one that still holds it.",
	Pi:   "It sends it, and the provider refuses the request.",
	Help: "`ctxtool edit SESSION POINT --omit` leaves the message out of the context.",
	leaf: (*walk).imageSize,
}

func (w *walk) imageSize(e *replay.Envelope) error {
	limits, provider, err := w.limits(e)
	if err != nil || limits.Image == 0 {
		return err
	}
	msgs, err := w.request(e)
	for _, m := range msgs {
		for _, f := range m.facts {
			if f.kind == anImage && int64(f.id) > limits.Image {
				w.add(m.rec, "an image of %d bytes in base64, and %s takes %d", f.id, provider, limits.Image)
			}
		}
	}
	return err
}
