package body

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
)

// A request is what is known of a request besides its messages.
type request struct {
	form    *Form
	e       *replay.Envelope
	prompt  *prompt.Prompt
	model   models.Model // named as the session names it
	level   string       // of thinking, one that the model has; empty for none
	known   bool         // the session says which level
	most    int64        // tokens of the answer; 0 for what the provider takes as its limit
	room    func(most int64) int64
	session string // its id
}

func newRequest(f *Form, e *replay.Envelope) (*request, error) {
	r := &request{form: f, e: e}
	p, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	ref, window, _, err := e.Model()
	if err != nil {
		return nil, err
	}
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	header, err := e.Replay().Session.HeaderLine()
	if err != nil {
		return nil, err
	}
	r.prompt, r.session, r.room = p, header.Get("id").Text(), room(window, int64(size.Tokens))
	r.model, _, _ = e.Replay().Options.Models.Lookup(ref.Provider, ref.ID)
	r.model.Provider, r.model.ID = ref.Provider, ref.ID
	r.known = e.ThinkingBy >= 0 || e.Replay().Session.Dialect() == nil || p.Options.Reasoning != nil
	r.level = r.clamp(p.Options.Reasoning.Text())
	r.most = r.model.MaxTokens
	if n := p.Options.MaxTokens.Int(); n > 0 {
		r.most = n
	}
	r.most = r.room(r.most)
	return r, nil
}

// refuse returns an error at the point of the request.
func (r *request) refuse(text, hint string) error {
	s := r.e.Replay().Session
	var at sessionfmt.Pos
	if r.e.Leaf >= 0 {
		at = s.Pos(r.e.Leaf)
	}
	at.File = cmp.Or(at.File, s.Name)
	return &sessionfmt.Error{Pos: at, Err: errors.New(text), Hint: hint}
}

// room returns a function that limits an answer to what a window has room for, with the margins for
// another tokenizer that pi keeps.
func room(window, input int64) func(most int64) int64 {
	const margin, ratio, ample = 4096, 0.15, 32768
	left := window - input - max(margin, int64(math.Ceil(float64(input)*ratio)))
	if left < ample {
		left = min(ample, window-input-margin)
	}
	return func(most int64) int64 {
		if window <= 0 || most <= 0 {
			return most
		}
		return min(most, max(1, left))
	}
}

// levels are the thinking levels, lowest first.
var levels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "max"}

// has reports whether a model has a level. The two highest ones only some have.
func has(m models.Model, level string) bool {
	name, named := m.Takes.Level(level)
	if level == "xhigh" || level == "max" {
		return name != ""
	}
	return name != "" || !named
}

// clamp returns the level that is asked for in place of one: the next higher one that the model has,
// or else the next lower one. It is empty for off.
func (r *request) clamp(level string) string {
	at := slices.Index(levels, level)
	switch {
	case level == "" || level == "off" || r.model.Takes != "" && !r.model.Takes.Has("reasoning"):
		return ""
	case r.model.Takes == "" || at < 0:
		return level
	}
	higher, lower := levels[at:], slices.Clone(levels[1:at])
	slices.Reverse(lower)
	for _, level := range slices.Concat(higher, lower) {
		if has(r.model, level) {
			return level
		}
	}
	return ""
}

// reasons reports whether the model can be asked to think.
func (r *request) reasons() bool { return r.model.Takes.Has("reasoning") || r.level != "" }

// effort is the provider's name for the level, and for off where the model can be asked not to think.
// It is empty where nothing is to be asked.
func (r *request) effort() string {
	level := r.level
	switch {
	case level == "" && !(r.known && r.reasons()):
		return ""
	case level == "":
		level = "off"
	}
	if name, named := r.model.Takes.Level(level); named {
		return name
	}
	return level
}

// tools returns the definitions of the tools, each by a function of its name, description and parameters.
func (r *request) tools(define func(name, description string, parameters json.RawMessage) object) (all []object) {
	for _, t := range r.prompt.Tools {
		all = append(all, define(t.Name, clean(t.Raw.Get("description").Exact()), raw(t.Raw.Get("parameters"))))
	}
	return all
}
