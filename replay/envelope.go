package replay

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An Envelope is what a model gets with one request: prompt, tools, messages and options. It is
// a snapshot of a replay and holds no text. Its methods read texts from the session, which must
// still be open.
type Envelope struct {
	Leaf         int // the last record replayed, -1 for none
	TurnIndex    int // user prompts so far, minus one
	RequestIndex int // the number of the next request, from 0

	Transforms []int // records of the path's context_transforms, in order
	Ephemerals int   // ephemeral entries on the path
	ModelBy    int   // last record that set the path's model, -1 for none
	ThinkingBy int   // last record that set the thinking level, -1 for none

	r         *Replay
	state     state
	answer    int        // record of the answer to the request, -1 for none
	asked     models.Ref // model that the answer names, if any
	altered   int        // place on the path of the last entry that changed messages sent before, -1 for none
	ephemeral int        // the session's last record with a prompt, -1 for none
	used      rule.Set   // see Rules
	prompt    *prompt.Prompt
	turns     *int // pi's estimate for its turns in tokens, once counted
	recorded  *record
}

func (m *machine) envelope() *Envelope {
	s := *m.current()
	frozen := *m.pool
	front, body := *s.msgs.front, *s.msgs.body
	s.msgs.pool, s.msgs.front, s.msgs.body = &frozen, &front, &body
	return &Envelope{
		Leaf: Step{m: m}.Leaf(), TurnIndex: m.turn, RequestIndex: m.request,
		Transforms: slices.Clip(m.transforms), Ephemerals: m.logged,
		r: m.r, ModelBy: m.model, ThinkingBy: m.thinking, answer: -1,
		state: s, altered: m.altered, ephemeral: m.ephemeral, used: m.used, recorded: new(record),
	}
}

// Replay returns the replay that the envelope belongs to.
func (e *Envelope) Replay() *Replay { return e.r }

// Cached returns the number of cached messages in the request.
func (e *Envelope) Cached() int { return e.state.msgs.shown }

// Uncached returns the number of messages after the cached ones.
func (e *Envelope) Uncached() int { return len(e.state.uncached) }

// A Message is a message of an envelope. Raw is valid until the next message is read.
type Message struct {
	Kind   jsonl.Kind // kind, by its role in the session
	Raw    jsonl.Value
	Origin origin.Origin
}

// CachedMessages returns the cached messages of the request as the provider gets them, without
// system messages, which are part of the prompt.
func (e *Envelope) CachedMessages() iter.Seq2[Message, error] {
	return e.recordedOr(e.each(Piece.Sent, (*Reader).Provider, false), nil)
}

// UncachedMessages returns the messages that follow all cached ones.
func (e *Envelope) UncachedMessages() iter.Seq2[Message, error] {
	nothing := func(func(Message, error) bool) {}
	return e.recordedOr(e.each(func(Piece) bool { return false }, (*Reader).Provider, true), nothing)
}

// Sources returns the messages of the request, cached and uncached, with their origin. It reads
// the text, as the provider gets it, of messages for which read returns true. For others Raw is
// nil.
func (e *Envelope) Sources(read func(Message) bool) iter.Seq2[Message, error] {
	return e.each(Piece.Sent, func(l *Reader, m Piece) (value, error) {
		if !read(Message{Kind: m.kind, Origin: m.Origin()}) {
			return nil, nil
		}
		return l.Provider(m)
	}, true)
}

// ContextMessages returns the messages as pi's own context building does: agent messages, with system messages
// in place and including messages that no provider gets, then the uncached ones. If patches or a baseline
// change the prompt, a single system message with prompt and tools comes first instead.
func (e *Envelope) ContextMessages() iter.Seq2[Message, error] {
	return e.recordedOr(e.prompted(func(m Piece) bool { return m.flags&omitted == 0 }, (*Reader).Agent), nil)
}

// ProviderMessages returns the context messages as converted for a provider, with system
// messages as ContextMessages has them.
func (e *Envelope) ProviderMessages() iter.Seq2[Message, error] {
	sent := func(m Piece) bool { return m.flags&(omitted|unsent) == 0 }
	return e.recordedOr(e.prompted(sent, (*Reader).Provider), nil)
}

// SystemMessages returns only the system messages of ContextMessages.
func (e *Envelope) SystemMessages() iter.Seq2[Message, error] {
	return e.prompted(func(m Piece) bool { return m.flags&omitted == 0 && m.kind == jsonl.System }, (*Reader).Agent)
}

func (e *Envelope) prompted(want func(Piece) bool, load func(*Reader, Piece) (value, error)) iter.Seq2[Message, error] {
	if !e.reprompted() {
		return e.each(want, load, true)
	}
	others := e.each(func(m Piece) bool { return want(m) && m.kind != jsonl.System }, load, true)
	return func(yield func(Message, error) bool) {
		system, err := e.system()
		if err != nil || system != nil {
			if !yield(Message{Kind: jsonl.System, Raw: system, Origin: origin.Baseline}, err) || err != nil {
				return
			}
		}
		others(yield)
	}
}

// reprompted reports whether prompt and tools differ from what the system messages alone set.
func (e *Envelope) reprompted() bool {
	if opt := e.r.Options; e.r.Rules.Patched() && (opt.Baseline != nil || opt.Implemented != nil) {
		return opt.Baseline != nil || hasSystem(e.state.deltas)
	}
	return slices.ContainsFunc(e.state.deltas, func(d delta) bool { return d.op != nil })
}

// system returns a system message with prompt and tools, and the time of their last change; nil if there is
// neither. Parts that sections cannot express in their order become one content.
func (e *Envelope) system() (jsonl.Value, error) {
	p, err := e.Prompt()
	if err != nil || len(p.Parts)+len(p.Tools) == 0 {
		return nil, err
	}
	ms := int64(0)
	if n := len(e.state.deltas); n > 0 {
		line, err := e.r.Session.NewReader().Line(int(e.state.deltas[n-1].m.rec))
		if err != nil {
			return nil, err
		}
		ms, _ = line.Get("timestamp").Millis()
	}
	out := systemMessage(p.Parts, p.Tools, ms)
	var f prompt.Fold
	f.Message(out, origin.Baseline)
	if same := func(a, b prompt.Part) bool { return a.Name == b.Name && a.Text == b.Text }; !slices.EqualFunc(f.Parts(),
		p.Parts, same) {
		out = systemMessage([]prompt.Part{{Text: p.Compiled, Content: true}}, p.Tools, ms)
	}
	return out, nil
}

// each yields what load returns for the messages of the list that want accepts, then for the uncached ones if
// requested.
func (e *Envelope) each(want func(Piece) bool, load func(*Reader, Piece) (value, error),
	uncached bool) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		l := e.r.NewReader()
		for _, m := range e.state.msgs.all {
			if want(m) && !l.yield(yield, m, load) {
				return
			}
		}
		for i := range e.state.uncached {
			if uncached && !l.yield(yield, e.Piece(e.Listed()+i), load) {
				return
			}
		}
	}
}

func (l *Reader) yield(yield func(Message, error) bool, m Piece, load func(*Reader, Piece) (value, error)) bool {
	raw, err := load(l, m)
	return yield(Message{Kind: m.kind, Raw: raw, Origin: m.Origin()}, err) && err == nil
}

// WithEphemeral returns the envelope with the request-only messages that the session logs for its request at
// the end.
func (e *Envelope) WithEphemeral() (*Envelope, error) {
	if e.ephemeral < 0 {
		return e, nil
	}
	line, err := e.r.Session.NewReader().Line(e.ephemeral)
	if err != nil {
		return nil, err
	}
	out := *e
	out.turns = nil
	own := *e.state.msgs.pool // its new messages are only in this request
	own.chunks, own.others, own.n = slices.Clip(own.chunks), slices.Clip(own.others), int32(len(own.chunks)*chunkSize)
	out.state.msgs.pool, out.state.uncached = &own, slices.Clip(e.state.uncached)
	for _, m := range loggedMessages(line, e.ephemeral) {
		out.state.uncached = append(out.state.uncached, own.add(m))
	}
	return &out, nil
}

// loggedMessages returns the messages of the entry that logs a request's own messages.
func loggedMessages(line value, rec int) (all []Piece) {
	at := Piece{rec: int32(rec), edit: -1, op: -1}
	for v := range line.Get("messages").Elements {
		if v.IsObject() {
			all = append(all, patchMessage(v, line, at))
		}
	}
	return all
}

// Prompt applies system messages and ops, and returns prompt, tools and options. The parts are
// the session's own if it has any, else the baseline's.
func (e *Envelope) Prompt() (*prompt.Prompt, error) {
	if e.prompt != nil {
		return e.prompt, nil
	}
	f := e.r.startingPrompt(hasSystem(e.state.deltas), prompt.Fold{})
	if f.Options.Reasoning == nil {
		level, err := e.ThinkingLevel()
		if err != nil {
			return nil, err
		}
		f.Options.Reasoning = e.r.Rules.Reasoning(level)
	}
	if err := e.r.NewReader().fold(&f, e.state.deltas); err != nil {
		return nil, err
	}
	p := f.Prompt()
	p.Compiled = e.r.Rules.Compiled(p.Parts)
	if recorded, err := e.Recorded(); err != nil {
		return nil, err
	} else if recorded != nil {
		if err := e.promptAsSent(&p); err != nil {
			return nil, err
		}
		p.Options = prompt.Options{
			Reasoning:   either(recorded.Field("output_config").Get("effort"), p.Options.Reasoning),
			Temperature: either(recorded.Field("temperature"), p.Options.Temperature),
			MaxTokens:   either(recorded.Field("max_tokens"), p.Options.MaxTokens),
		}
	}
	e.prompt = &p
	return e.prompt, nil
}

// either returns the first of two values that exists.
func either(a, b jsonl.Value) jsonl.Value {
	if a.Exists() {
		return a
	}
	return b
}

// PromptHistory reports how the prompt was built. It calls report with the prompt before the
// first delta for which since returns true, with origin.Baseline, then after each delta from
// there on. It never calls report if since is always false. Copies of the prompt keep its state.
func (e *Envelope) PromptHistory(since func(origin.Origin) bool, report func(by origin.Origin, p *prompt.Fold)) error {
	deltas := e.state.deltas
	fresh := slices.IndexFunc(deltas, func(d delta) bool { return since(d.m.Origin()) })
	if fresh < 0 {
		return nil
	}
	f, l, by := e.r.startingPrompt(hasSystem(deltas), prompt.Fold{}), e.r.NewReader(), origin.Baseline
	for from, to := 0, fresh; ; from, to = to, to+1 {
		if err := l.fold(&f, deltas[from:to]); err != nil {
			return err
		}
		if report(by, &f); to == len(deltas) {
			return nil
		}
		by = deltas[to].m.Origin()
	}
}

// startingPrompt completes a prompt before all deltas: the baseline's options, and its parts
// and tools if the session has none of its own.
func (r *Replay) startingPrompt(own bool, f prompt.Fold) prompt.Fold {
	base := r.Options.Baseline
	f.Known, f.Implemented = own || base != nil, r.implemented()
	if sure := r.Session.Reading().Certainty; sure != nil {
		f.NoTools = own && sure.Tools == "absent"
	}
	if base == nil {
		return f
	}
	f.Options = base.Options
	if !own {
		f.Start(base.Parts, base.Tools)
	}
	return f
}

// fold applies deltas to a prompt.
func (l *Reader) fold(f *prompt.Fold, deltas []delta) error {
	for i := range deltas {
		if err := l.apply(f, &deltas[i]); err != nil {
			return err
		}
	}
	return nil
}

func (l *Reader) apply(f *prompt.Fold, d *delta) error {
	switch {
	case d.m.flags&omitted != 0:
		return nil
	case d.op == nil:
		v, err := l.Agent(d.m)
		if err == nil {
			f.Message(v, d.m.Origin())
		}
		return err
	}
	line, err := l.lines.Line(int(d.m.rec))
	if err == nil {
		d.op.Fold(f, line[d.m.start:d.m.start+d.m.size], d.m.Origin())
	}
	return err
}

// Reasoning returns the reasoning option for a thinking level.
func (rules Rules) Reasoning(level jsonl.Value) jsonl.Value {
	switch {
	case !level.IsString() || level.Is("off"):
		return nil
	case level.Is("minimal") && rules.Patched():
		return value(`"low"`)
	}
	return level
}

// implemented returns the names of tools that have an implementation; nil means all, if neither a baseline nor
// the caller names any.
func (r *Replay) implemented() (known map[string]bool) {
	names := r.Options.Implemented
	if b := r.Options.Baseline; b != nil {
		for _, t := range b.Tools {
			names = append(slices.Clip(names), t.Name)
		}
	}
	for _, n := range names {
		if known == nil {
			known = map[string]bool{}
		}
		known[n] = true
	}
	return known
}

// Compiled returns the prompt as one text: all parts as they are under the envelope rules;
// under pi's the non-empty ones, separated by a blank line.
func (rules Rules) Compiled(parts []prompt.Part) string {
	var texts []string
	for _, p := range parts {
		if p.Text != "" || rules.Patched() {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, rules.Separator())
}

// Separator returns the text between the parts of a prompt that is one text.
func (rules Rules) Separator() string {
	if rules.Patched() {
		return ""
	}
	return "\n\n"
}

// Checkpoint returns the system message that replays to prompt and tools of the context, as a
// compaction carries it (docs/session-format.md 3.2, 4.5), with a time in milliseconds since
// 1970. It is nil if the session sets neither. What comes from a baseline is not included.
func (e *Envelope) Checkpoint(ms int64) (jsonl.Value, error) {
	if len(e.state.deltas) == 0 {
		return nil, nil
	}
	var f prompt.Fold
	if err := e.r.NewReader().fold(&f, e.state.deltas); err != nil {
		return nil, err
	}
	p := f.Prompt()
	return systemMessage(p.Parts, p.Tools, ms), nil
}

// systemMessage returns the system message that replays to these parts and tools.
func systemMessage(parts []prompt.Part, tools []prompt.Tool, ms int64) jsonl.Value {
	content := ""
	var sections, added [][]byte
	for _, p := range parts {
		if p.Content {
			content = p.Text
		} else {
			sections = append(sections, jsonl.AppendQuoted(append(jsonl.AppendQuoted(nil, p.Name), ':'), p.Text))
		}
	}
	for _, t := range tools {
		added = append(added, t.Raw)
	}
	out := jsonl.AppendQuoted([]byte(`{"role":"system","content":`), content)
	if len(sections) > 0 {
		out = fmt.Appendf(out, `,"sections":{%s}`, bytes.Join(sections, []byte{','}))
	}
	if len(added) > 0 {
		out = fmt.Appendf(out, `,"toolsAdded":[%s]`, bytes.Join(added, []byte{','}))
	}
	return append(strconv.AppendInt(append(out, `,"timestamp":`...), ms, 10), '}')
}
