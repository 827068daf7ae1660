package body

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A request is what is known of a request besides its messages.
type request struct {
	form    *Form
	e       *replay.Envelope
	prompt  *prompt.Prompt
	model   models.Model           // named as the session names it
	level   string                 // of thinking, one that the model has; empty for none
	known   bool                   // the session says which level
	most    int64                  // tokens of the answer; 0 for what the provider takes as its limit
	window  int64                  // of the model, 0 if unknown
	room    func(most int64) int64 // what the window has room for; see measure
	session string                 // its id
	own     bool                   // the form is that of the session's own agent, which is not pi

	api        string        // the interface in pi's sessions
	compat     models.Compat // of the model, where the interface is its own
	chat       chatTerms
	transcript transcript
	grammars   map[string]string // the argument of each tool with a grammar
	answer     jsonl.Value       // the answer of this model to the request, nil if there is none
	// spoken reports that thoughts of other models are sent as texts, as pi did before 1.3. It times its answers since.
	spoken bool
}

func newRequest(f *Form, e *replay.Envelope) (*request, error) {
	r := &request{form: f, e: e}
	p, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	ref, window, from, err := e.Model()
	if err != nil {
		return nil, err
	}
	if d := e.Replay().Session.Dialect(); d != nil {
		r.own = d.Speaks(rule.Asked{Host: ref.Provider, Model: ref.ID}) == f.Name
	}
	header, err := e.Replay().Session.HeaderLine()
	if err != nil {
		return nil, err
	}
	r.prompt, r.session, r.window = p, header.Get("id").Text(), window
	r.model, _, _ = e.Replay().Options.Models.Lookup(ref.Provider, ref.ID)
	r.model.Provider, r.model.ID = ref.Provider, ref.ID
	if from == "recorded" {
		r.window = r.model.ContextWindow // pi keeps to its catalogue, whatever a provider took
	}
	if r.answer, err = e.Answer(); err != nil {
		return nil, err
	}
	r.spoken = r.answer != nil && !r.answer.Get("durationMs").Exists() && e.Replay().Session.Agent() == "pi"
	if !r.answer.Get("model").Is(ref.ID) || !r.answer.Get("provider").Is(ref.Provider) {
		r.answer = nil // it says nothing of another model
	}
	r.offer(f)
	r.known = e.ThinkingBy >= 0 || e.Replay().Session.Dialect() == nil || p.Options.Reasoning != nil
	r.level = r.model.Clamp(p.Options.Reasoning.Text())
	r.most = r.model.MaxTokens
	if n := p.Options.MaxTokens.Int(); n > 0 {
		r.most = n
	}
	inPlace, place := f.placement(r)
	if r.transcript, err = newTranscript(r, inPlace, place); err != nil {
		return nil, err
	}
	if r.compat.SupportsOpenAIGrammarTools {
		declared := r.transcript.tools
		for _, u := range r.transcript.updates {
			declared = append(slices.Clip(declared), u.added...)
		}
		r.grammars = grammars(declared)
	}
	return r, nil
}

// measure limits the answer to the room in the window. It reads all messages.
func (r *request) measure() error {
	input := int64(0)
	if r.window > 0 {
		var err error
		if input, err = estimated(r.e); err != nil {
			return err
		}
	}
	r.room = room(r.window, input)
	r.most = r.room(r.most)
	return nil
}

// offer takes what the catalogue says of the model, if the form is its own interface. By another one it is
// the same model with nothing special.
func (r *request) offer(f *Form) {
	own := r.model.Interface
	r.api = f.api
	switch {
	case own.API == f.api || own.API == f.kin && f.kin != "":
		r.api, r.compat = own.API, own.Compat()
	case own.API != "":
		r.compat.ForceAdaptiveThinking = own.Compat().ForceAdaptiveThinking
		r.model.Interface = models.Interface{}
	}
	r.chat = newChatTerms(r.model, r.compat)
	if f.list == inputList {
		r.chat.developer = orTrue(r.compat.SupportsDeveloperRole)
	}
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

// reasons reports whether the model can be asked to think.
func (r *request) reasons() bool { return r.model.Takes.Has("reasoning") || r.level != "" }

// effort returns the provider's name for the level, and for off where the model can be asked not to think. It
// is empty where nothing is to be asked.
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
