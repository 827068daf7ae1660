package models

// Limits are the most bytes that a provider takes, 0 where it states none. They
// are those of the providers' own documentation at Date; what resells a model may
// have narrower ones.
type Limits struct {
	Request int64 // of one request, as it goes over the wire
	Image   int64 // of one image, in base64
}

const mb = 1 << 20

// limits are the limits of providers by the names that session files use.
var limits = []struct {
	provider string
	Limits
}{
	{"anthropic", Limits{32 * mb, 5 * mb}},
	{"amazon-bedrock", Limits{25_000_000, 0}}, // of images, what the model after it takes
	{"google", Limits{100 * mb, 0}},
	{"google-vertex", Limits{20 * mb, 0}},
	{"groq", Limits{0, 4 * mb}},
	{"mistral", Limits{0, 10 * mb}},
	{"openai", Limits{50 * mb, 0}},
	{"xai", Limits{0, 20 * mb}},
}

// LimitsOf are the limits of a provider, and whether any are known.
func LimitsOf(provider string) (Limits, bool) {
	for _, l := range limits {
		if l.provider == provider {
			return l.Limits, true
		}
	}
	return Limits{}, false
}

// WidestLimits are those that no known provider goes beyond.
func WidestLimits() (w Limits) {
	for _, l := range limits {
		w.Request, w.Image = max(w.Request, l.Request), max(w.Image, l.Image)
	}
	return w
}
