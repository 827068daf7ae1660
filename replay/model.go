package replay

import (
	"cmp"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// Answer returns the answer to the request, a message as raw JSON; nil if the envelope is not the one
// just before an answer.
func (e *Envelope) Answer() (jsonl.Value, error) {
	if e.answer < 0 {
		return nil, nil
	}
	line, err := e.r.Session.NewReader().Line(e.answer)
	return line.Get("message"), err
}

// ThinkingLevel returns the level that the answer to the request names, since a virtual model chooses it for
// each request; else the path's last one as spelled in the session, "off" if there is none.
func (e *Envelope) ThinkingLevel() (jsonl.Value, error) {
	answer, err := e.Answer()
	if level := answer.Get("thinkingLevel"); err != nil || level.IsString() {
		return level, err
	}
	if e.ThinkingBy < 0 {
		return value(`"off"`), nil
	}
	line, err := e.r.Session.NewReader().Line(e.ThinkingBy)
	return line.Get("thinkingLevel"), err
}

// PathModel returns the last model of the path as raw JSON strings. named reports whether an entry sets one,
// even without naming it.
func (e *Envelope) PathModel() (provider, id jsonl.Value, named bool, err error) {
	if e.ModelBy < 0 {
		return nil, nil, false, nil
	}
	line, err := e.r.Session.NewReader().Line(e.ModelBy)
	if err != nil {
		return nil, nil, false, err
	}
	if e.r.Session.Kind(e.ModelBy) == jsonl.Assistant {
		line = line.Get("message")
		return line.Get("provider"), line.Get("model"), true, nil
	}
	provider, id = line.Model()
	return provider, id, true, nil
}

// Model returns the model of the request: that of the options, else the one that its answer names (an agent may
// call a model other than the path's without an entry for that), else the path's, else the baseline's. limit is
// its context window in tokens, 0 if unknown, and from names the source of the limit; see Replay.Window.
func (e *Envelope) Model() (ref models.Ref, limit int64, from string, err error) {
	if ref, err = e.ModelRef(); err != nil {
		return ref, 0, "", err
	}
	limit, from, err = e.r.Window(ref)
	return ref, limit, from, err
}

// ModelRef returns only the model of the request; see Model.
func (e *Envelope) ModelRef() (ref models.Ref, err error) {
	if ref = cmp.Or(e.r.Options.Model, e.asked); ref != (models.Ref{}) {
		return ref, nil
	}
	return e.r.ModelBy(e.ModelBy)
}

// ModelBy returns the model that a record sets, the baseline's if rec is -1.
func (r *Replay) ModelBy(rec int) (ref models.Ref, err error) {
	provider, id, _, err := (&Envelope{r: r, ModelBy: rec}).PathModel()
	if err != nil {
		return ref, err
	}
	ref = models.Ref{Provider: provider.Text(), ID: id.Text()}
	if base := r.Options.Baseline; ref == (models.Ref{}) && base != nil {
		ref = base.Model
	}
	return ref, nil
}
