package check

import (
	"ctxtool/internal/models"
	"ctxtool/replay"
)

// limits are those of the provider of the next request, and its name. Where the
// provider is not known they are the widest that there are.
func (w *walk) limits(e *replay.Envelope) (l models.Limits, name string, err error) {
	ref, _, _, err := e.Model()
	if l, ok := models.LimitsOf(ref.Provider); ok {
		return l, ref.Provider, err
	}
	return models.WidestLimits(), "no provider", err
}
