package compact

import (
	"strings"

	"ctxtool/replay"
	"ctxtool/replay/models"
)

// A knownWindow is a context window that a system knows by the names of provider and model.
type knownWindow struct {
	Provider string `json:"provider"`        // begins the provider's name
	Model    string `json:"model,omitempty"` // is part of the model's id
	Tokens   int64  `json:"tokens"`
}

// gshWindows are the windows that gsh knows; the first that fits counts (docs/policies.md 2.5).
var gshWindows = []knownWindow{
	{"anthropic", "", 200_000},
	{"openai", "gpt-4o", 128_000},
	{"openai", "gpt-4-turbo", 128_000},
	{"openai", "gpt-4", 8192},
	{"openai", "gpt-3.5", 16_385},
	{"openai", "o1", 200_000},
	{"openai", "o3", 200_000},
	{"openai", "", 128_000},
	{"ollama", "", 4000},
}

// Limit returns the context window in tokens by which the policy takes a context, and where
// it comes from: the window that was given, else the limit of the baseline if its model is in
// use, else the models table, else `policy`: what the policy takes the model to have.
func (p *Policy) Limit(e *replay.Envelope) (limit int64, from string, err error) {
	ref, limit, from, err := e.Model()
	if err != nil || limit > 0 {
		return limit, from, err
	}
	return p.own(ref), "policy", nil
}

// own is the window that the policy takes a model to have.
func (p *Policy) own(m models.Ref) int64 {
	for _, w := range p.Windows {
		if strings.HasPrefix(m.Provider, w.Provider) && strings.Contains(m.ID, w.Model) {
			return w.Tokens
		}
	}
	return p.Window
}

// Only returns a policy of other layers that measures a context as p does.
func (p *Policy) Only(name string, layers []Layer) *Policy {
	return &Policy{Name: name, Window: p.Window, Windows: p.Windows, Counter: p.Counter, counts: p.counts, Layers: layers}
}
