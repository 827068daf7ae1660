package models

// Limits are a provider's maximum sizes in bytes, 0 if it documents none. They come from the
// providers' documentation as of Date; resellers of a model may have lower limits.
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
	{"amazon-bedrock", Limits{25_000_000, 0}}, // for images, the limit of the model's own provider applies
	{"google", Limits{100 * mb, 0}},
	{"google-vertex", Limits{20 * mb, 0}},
	{"groq", Limits{0, 4 * mb}},
	{"mistral", Limits{0, 10 * mb}},
	{"openai", Limits{50 * mb, 0}},
	{"xai", Limits{0, 20 * mb}},
}

// LimitsOf returns the limits of a provider, and whether they are known.
func LimitsOf(provider string) (Limits, bool) {
	for _, l := range limits {
		if l.provider == provider {
			return l.Limits, true
		}
	}
	return Limits{}, false
}

// WidestLimits returns limits that no known provider exceeds.
func WidestLimits() (w Limits) {
	for _, l := range limits {
		w.Request, w.Image = max(w.Request, l.Request), max(w.Image, l.Image)
	}
	return w
}
