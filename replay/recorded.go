package replay

import (
	"bytes"
	"iter"
	"slices"

	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A record is the agent's record of a request, once it is read.
type record struct {
	read    bool
	request *dialect.Recorded // nil if there is none
	unlike  *int              // see unlike; nil until known
	err     error
}

// Recorded returns the agent's own record of the request (docs/session-format.md 16.9), nil if there is none:
// of the request that the answer after the envelope answers, or else of the one that directly followed. It
// reads the session.
func (e *Envelope) Recorded() (*dialect.Recorded, error) {
	r := e.recorded
	if !r.read {
		r.read = true
		r.request, r.err = e.readRecorded()
	}
	return r.request, r.err
}

func (e *Envelope) readRecorded() (*dialect.Recorded, error) {
	s := e.r.Session
	if !s.HasRecorded() {
		return nil, nil
	}
	answer := e.answer
	for i := e.Leaf + 1; i < s.Len() && answer < 0; i++ {
		if s.Recorded(i) && s.Parent(i) == e.Leaf {
			answer = i
		}
	}
	if answer < 0 || !s.Recorded(answer) {
		return nil, nil
	}
	for r, err := range s.Requests {
		if err != nil || r.Answer == s.ID(answer) {
			return r, err
		}
	}
	return nil, nil
}

// Proved returns the recorded request if its digest proves that it was sent, else nil. A request with another
// prompt or model, as the caller may ask for, was not sent.
func (e *Envelope) Proved() (*dialect.Recorded, error) {
	r, err := e.Recorded()
	if opt := &e.r.Options; err != nil || r == nil || opt.Baseline != nil || opt.Implemented != nil ||
		opt.Model.Known() || len(opt.Without) > 0 {
		return nil, err
	}
	if proof, err := r.Proof(); err != nil || !proof.Exact() {
		return nil, err
	}
	return r, nil
}

// Items returns the items of the request as the session's own agent sends them: the recorded ones if proved,
// else Native.
func (e *Envelope) Items() (iter.Seq2[jsonl.Value, error], error) {
	proved, err := e.Proved()
	if proved != nil {
		return proved.Items, err
	}
	return e.Native(), err
}

// Rules returns the rules by which the request follows from its path: those of the session's agent.
func (e *Envelope) Rules() rule.Set { return e.used }

// Reading returns how certain the request is: as certain as the rules that it used, or exact if the agent's own
// record proves it.
func (e *Envelope) Reading() (reading dialect.Reading, err error) {
	d := e.r.Session.Dialect()
	if d == nil {
		return e.piReading()
	}
	asked, err := e.askedBy(d.Rules)
	if err != nil {
		return reading, err
	}
	reading = e.r.Session.ReadingOf(e.used, asked)
	proved, err := e.Proved()
	if proved != nil {
		reading.Certainty = &dialect.Certainty{Messages: "exact", System: "exact", Tools: "exact"}
	} else if err == nil {
		err = e.doubt(reading.Certainty)
	}
	return reading, err
}

// recordedOr returns messages, or the messages of a proved record if these differ: all of them, or some.
func (e *Envelope) recordedOr(messages, of iter.Seq2[Message, error]) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		proved, err := e.Proved()
		unlike := -1
		if err == nil && proved != nil {
			unlike, err = e.unlike(proved)
		}
		switch {
		case err != nil:
			yield(Message{}, err)
		case unlike < 0:
			messages(yield)
		case of != nil:
			of(yield)
		default:
			e.asRecorded(proved, yield)
		}
	}
}

// asRecorded yields the messages of a recorded request.
func (e *Envelope) asRecorded(r *dialect.Recorded, yield func(Message, error) bool) {
	by := origin.Baseline
	by.Line = r.Line
	for m, err := range r.Body.Messages(r) {
		if !yield(Message{Kind: m.Kind, Raw: m.Raw, Origin: by}, err) || err != nil {
			return
		}
	}
}

// unlike returns the index of the first message of a recorded request that the conversation does not give, -1
// for none.
func (e *Envelope) unlike(recorded *dialect.Recorded) (int, error) {
	if r := e.recorded; r.unlike == nil {
		var turns []dialect.Turn
		for m, err := range e.Native() {
			if err != nil {
				return -1, err
			}
			turns = append(turns, dialect.TurnOf(m))
		}
		k := recorded.Unlike(turns, 0)
		r.unlike = &k
	}
	return *e.recorded.unlike, nil
}

// promptAsSent replaces the prompt that follows from the session by that of the proved record, if any. What is
// equal keeps its origin.
func (e *Envelope) promptAsSent(p *prompt.Prompt) error {
	proved, err := e.Proved()
	if err != nil || proved == nil {
		return err
	}
	by := origin.Baseline
	if n := len(e.state.deltas); n > 0 {
		by = e.state.deltas[n-1].m.Origin()
	}
	sections, tools := proved.Body.Prompt(proved)
	had, hadTools := p.Parts, p.Tools
	p.Parts, p.Tools, p.Known, p.NoTools = nil, nil, true, false
	for _, one := range sections {
		k := slices.IndexFunc(had, func(part prompt.Part) bool { return part.Text == one.Text })
		if k < 0 {
			p.Parts = append(p.Parts, prompt.Part{Name: one.Name, Text: one.Text, Origin: by})
			continue
		}
		p.Parts = append(p.Parts, had[k])
	}
	for _, raw := range tools {
		k := slices.IndexFunc(hadTools, func(t prompt.Tool) bool { return bytes.Equal(t.Raw, raw) })
		if k < 0 {
			p.Tools = append(p.Tools, prompt.NewTool(raw, by))
			continue
		}
		p.Tools = append(p.Tools, hadTools[k])
	}
	p.Compiled = e.r.Rules.Compiled(p.Parts)
	return nil
}
