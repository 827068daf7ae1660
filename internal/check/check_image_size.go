package check

import (
	"maps"
	"slices"

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
	r, err := w.request(e)
	if err != nil {
		return err
	}
	for _, rec := range slices.Sorted(maps.Keys(r.images)) {
		if n := r.images[rec]; n > limits.Image {
			w.add(rec, "an image of %d bytes in base64, and %s takes %d", n, provider, limits.Image)
		}
	}
	return nil
}
