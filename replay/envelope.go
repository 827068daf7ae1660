package replay

import (
	"iter"
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// An Envelope is what a model gets with one request: prompt, tools, messages and
// options. It is a snapshot of a replay and holds no texts; they are read from
// the session when asked for.
type Envelope struct {
	Leaf         int // the last record replayed, -1 for none
	TurnIndex    int // user prompts so far, less one
	RequestIndex int // the number of the next request, from 0

	Transforms []int // records of the path's context_transforms, in order
	Ephemerals int   // ephemeral entries on the path

	r         *Replay
	state     state
	model     int // records, -1 for none
	thinking  int
	ephemeral int
	named     *ModelRef // what record model names, where it has been read; may be nil
	prompt    *Prompt
}

// A Prompt is the part of an envelope that is no messages.
type Prompt struct {
	Parts    []Part
	Compiled string // what is sent of the parts
	Tools    []Tool
	Options  ModelOptions
	// Known reports that parts and tools come from the session or a baseline.
	// Otherwise pi's own prompt and tools are missing here.
	Known bool
	// Omitted are tools that were left out because nothing implements them.
	Omitted []Tool
}

func (m *machine) envelope() *Envelope {
	e := &Envelope{
		Leaf: -1, TurnIndex: m.turn, RequestIndex: m.request,
		Transforms: slices.Clip(m.transforms), Ephemerals: m.logged,
		r: m.r, state: *m.now(), model: m.model, thinking: m.thinking, ephemeral: m.ephemeral,
	}
	if m.pos >= 0 {
		e.Leaf = m.path.at(m.pos)
	}
	return e
}

// Replay is the replay that the envelope belongs to.
func (e *Envelope) Replay() *Replay { return e.r }

// Cached and Uncached are the numbers of messages in the request's two parts.
func (e *Envelope) Cached() int { return e.state.msgs.shown }

// Uncached is the number of messages behind the cached ones.
func (e *Envelope) Uncached() int { return len(e.state.uncached) }

// A Message is a message of an envelope. Raw is valid until the next one is
// asked for.
type Message struct {
	Kind   jsonl.Kind // by its role in the session
	Raw    jsonl.Value
	Origin Origin
}

// CachedMessages are the messages of the request as a provider gets them, system
// messages aside, which are in the prompt.
func (e *Envelope) CachedMessages() iter.Seq2[Message, error] {
	return e.each((*message).shown, (*loader).provider, false)
}

// UncachedMessages are the messages that come after all cached ones.
func (e *Envelope) UncachedMessages() iter.Seq2[Message, error] {
	return e.each(func(*message) bool { return false }, (*loader).provider, true)
}

// Sources are the messages of the request, cached and uncached, with where they
// come from; of those alone that read says so of, also the text is read, as a
// provider gets it. The Raw of all others is nil.
func (e *Envelope) Sources(read func(Message) bool) iter.Seq2[Message, error] {
	return e.each((*message).shown, func(l *loader, m *message) (value, error) {
		if !read(Message{Kind: m.kind, Origin: m.origin()}) {
			return nil, nil
		}
		return l.provider(m)
	}, true)
}

// ContextMessages are the messages as pi's own context building returns them:
// agent messages, system messages in place, also those that no provider gets;
// behind them the uncached ones.
func (e *Envelope) ContextMessages() iter.Seq2[Message, error] {
	return e.each(func(m *message) bool { return m.flags&omitted == 0 }, (*loader).agent, true)
}

// ProviderMessages are the context messages converted for a provider, system
// messages in place.
func (e *Envelope) ProviderMessages() iter.Seq2[Message, error] {
	return e.each(func(m *message) bool { return m.flags&(omitted|unsent) == 0 }, (*loader).provider, true)
}

// each goes through the messages of the list that want holds of, then, if asked
// to, the uncached ones, made into JSON by load.
func (e *Envelope) each(want func(*message) bool, load func(*loader, *message) (value, error), uncached bool) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		l := e.r.newLoader()
		for _, m := range e.state.msgs.all {
			if want(m) && !l.yield(yield, m, load) {
				return
			}
		}
		for i := range e.state.uncached {
			if uncached && !l.yield(yield, &e.state.uncached[i], load) {
				return
			}
		}
	}
}

func (l *loader) yield(yield func(Message, error) bool, m *message, load func(*loader, *message) (value, error)) bool {
	raw, err := load(l, m)
	return yield(Message{Kind: m.kind, Raw: raw, Origin: m.origin()}, err) && err == nil
}

// WithEphemeral is the envelope with the request-only messages that were logged
// for its request, if they were, behind the others.
func (e *Envelope) WithEphemeral() (*Envelope, error) {
	if e.ephemeral < 0 {
		return e, nil
	}
	line, err := e.r.Session.NewReader().Line(e.ephemeral)
	if err != nil {
		return nil, err
	}
	out := *e
	out.state.uncached = append([]message(nil), e.state.uncached...)
	at := message{rec: int32(e.ephemeral), edit: -1, op: -1}
	for v := range line.Get("messages").Elements {
		if v.IsObject() {
			out.state.uncached = append(out.state.uncached, givenMessage(v, line, at))
		}
	}
	return &out, nil
}

// Prompt folds system messages and ops into prompt, tools and options. The parts
// are the session's own if it has any, else the baseline's.
func (e *Envelope) Prompt() (*Prompt, error) {
	if e.prompt != nil {
		return e.prompt, nil
	}
	own := hasSystem(e.state.deltas)
	f := e.r.startingPrompt(own)
	if f.options.Reasoning == nil {
		level, err := e.ThinkingLevel()
		if err != nil {
			return nil, err
		}
		f.options.Reasoning = reasoning(level, e.r.Rules)
	}
	if err := e.r.newLoader().fold(&f, e.state.deltas); err != nil {
		return nil, err
	}
	p := &Prompt{Parts: f.parts, Compiled: compiled(e.r.Rules, f.parts), Options: f.options, Known: own || e.r.opt.Baseline != nil}
	p.Tools, p.Omitted = e.r.implemented(f.tools)
	e.prompt = p
	return p, nil
}

// startingPrompt is the prompt before all deltas: the baseline's options, and its
// parts and tools too where the session has none of its own.
func (r *Replay) startingPrompt(own bool) (f folded) {
	base := r.opt.Baseline
	if base == nil {
		return f
	}
	f.options = base.Options
	if !own {
		f.parts = append(f.parts, base.Parts...)
		f.tools = append(f.tools, base.Tools...)
	}
	return f
}

// fold applies deltas to a prompt.
func (l *loader) fold(f *folded, deltas []delta) error {
	for i := range deltas {
		d := &deltas[i]
		if d.m.flags&omitted != 0 {
			continue
		}
		if d.op == nil {
			v, err := l.agent(&d.m)
			if err != nil {
				return err
			}
			f.message(v, d.m.origin())
			continue
		}
		line, err := l.lines.Line(int(d.m.rec))
		if err != nil {
			return err
		}
		d.op.fold(f, line[d.m.start:d.m.start+d.m.size], d.m.origin())
	}
	return nil
}

// reasoning is the option that a thinking level stands for.
func reasoning(level value, rules Rules) value {
	switch {
	case !level.IsString() || level.Is("off"):
		return nil
	case level.Is("minimal") && rules == ByEnvelope:
		return value(`"low"`)
	}
	return level
}

// implemented splits tools into those that something implements and the rest.
// Without a baseline's tools or names given, all count as implemented.
func (r *Replay) implemented(tools []Tool) (have, lack []Tool) {
	var names []string
	if b := r.opt.Baseline; b != nil {
		for _, t := range b.Tools {
			names = append(names, t.Name)
		}
	}
	names = append(names, r.opt.Implemented...)
	if len(names) == 0 {
		return tools, nil
	}
	known := map[string]bool{}
	for _, n := range names {
		known[n] = true
	}
	for _, t := range tools {
		if known[t.Name] {
			have = append(have, t)
		} else {
			lack = append(lack, t)
		}
	}
	return have, lack
}

// ThinkingLevel is the path's last thinking level as it stands in the session,
// "off" where there is none.
func (e *Envelope) ThinkingLevel() (jsonl.Value, error) {
	if e.thinking < 0 {
		return value(`"off"`), nil
	}
	line, err := e.r.Session.NewReader().Line(e.thinking)
	return line.Get("thinkingLevel"), err
}

// PathModel is the model that the path was on last, as raw JSON strings; named
// reports that an entry has named one, if only by saying nothing.
func (e *Envelope) PathModel() (provider, id jsonl.Value, named bool, err error) {
	if e.model < 0 {
		return nil, nil, false, nil
	}
	line, err := e.r.Session.NewReader().Line(e.model)
	if err != nil {
		return nil, nil, false, err
	}
	name := "modelId"
	if e.r.Session.Kind(e.model) == jsonl.Assistant {
		line, name = line.Get("message"), "model"
	}
	return line.Get("provider"), line.Get(name), true, nil
}

// Model is the model of the request: the one asked for, else the path's, else
// the baseline's. Limit is its context window in tokens, 0 where nobody knows
// it; from says who did.
func (e *Envelope) Model() (ref ModelRef, limit int64, from string, err error) {
	base := e.r.opt.Baseline
	if ref, err = e.ModelRef(); err != nil {
		return ref, 0, "", err
	}
	switch {
	case e.r.opt.Window > 0:
		return ref, e.r.opt.Window, "given", nil
	case base != nil && base.Limit > 0 && base.Model == ref:
		return ref, base.Limit, "baseline", nil
	}
	m, how, ok := e.r.opt.Models.Lookup(ref.Provider, ref.ID)
	if !ok {
		return ref, 0, "unknown", nil
	}
	return ref, m.ContextWindow, how.String(), nil
}

// ModelRef is the model of the request alone: see Model.
func (e *Envelope) ModelRef() (ref ModelRef, err error) {
	if ref = e.r.opt.Model; ref != (ModelRef{}) {
		return ref, nil
	}
	if e.named != nil {
		ref = *e.named
	} else {
		provider, id, _, err := e.PathModel()
		if err != nil {
			return ref, err
		}
		ref = ModelRef{provider.Text(), id.Text()}
	}
	if base := e.r.opt.Baseline; ref == (ModelRef{}) && base != nil {
		ref = base.Model
	}
	return ref, nil
}
