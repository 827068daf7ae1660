package compact

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A Policy is the way in which one system keeps its context small: passes in a fixed order, each with its
// trigger.
type Policy struct {
	Name  string `json:"name"`  // the name that commands take
	About string `json:"about"` // one line
	// the source of its numbers, if not the system itself
	Note string `json:"note,omitempty"`
	// tokens, if the command line and the models table have no window
	Window int64 `json:"window"`
	// for matching models, instead of `window`; the first match counts
	Windows []KnownWindow   `json:"windows,omitempty"`
	Counter *tokens.Counter `json:"counter"` // counts the tokens of the context
	// in a simulation it acts where a turn ends and between the requests of a turn, not after a prompt
	TurnEnds bool `json:"-"`
	// the size is the last answer's usage, as long as nothing has changed
	ByUsage bool     `json:"-"`
	Layers  []Layer  `json:"layers"`            // passes in their order
	Presets []Preset `json:"presets,omitempty"` // the same policy with other numbers
	// when its guard warns, before any layer runs
	Warns *Trigger `json:"warns,omitempty"`
	// tokens of the prompt that count besides the messages; nil for none
	counts func(*prompt.Prompt, *tokens.Counter) int
	// Target, if set, replaces the layers' triggers: each layer runs if the context is still
	// above it.
	Target Amount `json:"-"`
}

// A Layer is one pass of a policy.
type Layer struct {
	Pass    *Pass            `json:"pass"` // its name
	Options `json:"options"` // those that are set; a [configuration](config.toml) has them too
	When    *Trigger         `json:"when,omitempty"` // the trigger; absent if the layer always runs
	// Between makes the layer run only where a turn ends, in a simulation. Retries are also
	// dropped within the turn, whatever the trigger.
	Between bool `json:"-"`
}

// A Trigger runs a layer if the context is larger than a limit after the layers before it.
// One of its numbers is the limit.
type Trigger struct {
	Share   float64 `json:"share,omitempty"`   // of the window
	Percent int64   `json:"percent,omitempty"` // of the window, as whole percent rounded down
	Reserve int64   `json:"reserve,omitempty"` // tokens of the window to keep free
	Tokens  int64   `json:"tokens,omitempty"`  // whatever the window
	Whole   bool    `json:"whole,omitempty"`   // the limit is rounded down to whole tokens
	At      bool    `json:"at,omitempty"`      // it also fires at the limit itself
	Growth  bool    `json:"-"`                 // in a simulation, only what came since the layer last ran counts
}

// limit returns the number of tokens above which the trigger fires (with At, at which), and
// a description of it.
func (t *Trigger) limit(window int64) (tokens float64, of string) {
	switch {
	case t.Tokens > 0:
		return float64(t.Tokens), fmt.Sprintf("%d tokens", t.Tokens)
	case t.Reserve > 0:
		return float64(window - t.Reserve), fmt.Sprintf("the window less %d tokens", t.Reserve)
	case t.Percent > 0:
		return math.Ceil(float64(max(0, window)*t.Percent) / 100), fmt.Sprintf("%d %% of the window", t.Percent)
	}
	tokens = float64(window) * t.Share
	if t.Whole {
		tokens = math.Trunc(tokens)
	}
	return tokens, fmt.Sprintf("%g %% of the window", 100*t.Share)
}

// Limit returns the number of tokens above which the trigger fires in a window.
func (t *Trigger) Limit(window int64) int64 {
	limit, _ := t.limit(window)
	return int64(limit)
}

// AgentTrigger returns when an agent compacts by itself with its default settings, by a share of the
// window or what is left of it: nil where that is not known. Claude Code and opencode decide by settings
// and limits that no file has, y-agent by a budget of its own.
func AgentTrigger(agent string) *Trigger {
	for _, p := range []*Policy{&PiPolicy, &GSHPolicy, &swecliPolicy} { // the agent's own numbers
		if p.Name == agent {
			return p.Layer(&Compact).When
		}
	}
	if agent == "codex" {
		return &Trigger{Percent: 90, At: true}
	}
	return nil
}

// fires reports whether a context of so many tokens triggers the layer.
func (t *Trigger) fires(used, window int64) bool {
	limit, _ := t.limit(window)
	return float64(used) > limit || t.At && float64(used) >= limit
}

// String returns when the trigger fires.
func (t *Trigger) String() string {
	_, of := t.limit(0)
	if t.At {
		return "from " + of
	}
	return "above " + of
}

// MarshalText writes what String returns. It never fails.
func (t *Trigger) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// A Preset is a policy with other numbers.
type Preset struct {
	Name   string   `json:"name"`
	About  string   `json:"about"`
	Layers []Layer  `json:"layers"`
	Warns  *Trigger `json:"warns,omitempty"`
}

// Policies are all policies, in the order of help.
var Policies = []*Policy{&PiPolicy, &GSHPolicy, &swecliPolicy, &yAgentPolicy, &claudeCodePolicy, &codexPolicy,
	&openCodePolicy}

// FindPolicy returns the policy of that name, one of own before the built-in ones.
func FindPolicy(name string, own ...*Policy) (*Policy, error) {
	return find(fmt.Sprintf("policy %q", name), name, append(own, Policies...),
		func(p *Policy) string { return p.Name })
}

// With returns a copy of the policy with the numbers of a preset and other options, separated by
// commas: small,max=20000.
func (p *Policy) With(spec string) (*Policy, error) {
	q := p.Copy()
	for _, part := range strings.FieldsFunc(spec, func(c rune) bool { return c == ',' }) {
		if name, value, is := strings.Cut(part, "="); is {
			if err := q.Set(name, value); err != nil {
				return nil, err
			}
			continue
		}
		if len(p.Presets) == 0 {
			return nil, fmt.Errorf("policy %s has no presets", p.Name)
		}
		of, err := find(fmt.Sprintf("preset %q of policy %s", part, p.Name), part, p.Presets,
			func(s Preset) string { return s.Name })
		if err != nil {
			return nil, err
		}
		q.Layers, q.Warns = slices.Clone(of.Layers), of.Warns
	}
	return q, nil
}

// Layer returns the first of a policy's layers with a pass, nil if there is none. To change
// it, call Layer on a copy; see Copy.
func (p *Policy) Layer(pass *Pass) *Layer {
	for i := range p.Layers {
		if p.Layers[i].Pass == pass {
			return &p.Layers[i]
		}
	}
	return nil
}

// Copy returns a copy of the policy that shares no layers with it.
func (p *Policy) Copy() *Policy {
	q := *p
	q.Layers = append([]Layer(nil), p.Layers...)
	return &q
}

// A Reduction is the effect of a policy on a context.
type Reduction struct {
	Form    Form   `json:"as,omitempty"` // `edits` or `transform`, as `auto` decided
	Policy  string `json:"policy"`       // of single passes their names, with commas
	Counter string `json:"counter"`      // what counts tokens
	Window  int64  `json:"window"`       // tokens
	// as `windowFrom` of the lens `context`, or `policy`
	WindowFrom string       `json:"windowFrom"`
	Before     int          `json:"tokensBefore"`
	After      int          `json:"tokensAfter"`
	Layers     []LayerPlan  `json:"layers"`                 // passes in their order
	Changes    []Change     `json:"changes,omitempty"`      // of all layers, in order
	Cannot     []Change     `json:"cannot,omitempty"`       // changes that the form cannot store; in no total
	Waits      []string     `json:"waits,omitempty"`        // the summaries that layers wait for
	Cache      *CacheEffect `json:"cache,omitempty"`        // what it does to the provider's prompt cache
	Prices     string       `json:"prices,omitempty"`       // the date of the table
	Unknown    *models.Ref  `json:"unknownModel,omitempty"` // the model, if the models table does not have it
	Undo       *UndoCost    `json:"undo,omitempty"`         // if the batch has a mark
	Summary    string       `json:"summary,omitempty"`      // that a compaction stores; not of several sessions
	Frame      Style        `json:"frame,omitempty"`        // the system whose frame the summary has in the new context
	OwnFrame   Style        `json:"ownFrame,omitempty"`     // the policy's own, if the form cannot store it
	Guard      *Guarding    `json:"guard,omitempty"`        // if the policy's guard warns
	Warning    string       `json:"warning,omitempty"`      // if less than 5 % of the context is left
	Notice     string       `json:"notice,omitempty"`       // what gsh tells its user of a compaction

	Skipped string `json:"-"` // why no pass ran, empty if they did
	From    *View  `json:"-"` // the original context
	View    *View  `json:"-"` // after the last layer
	// Requests are the summaries that layers that fired wait for.
	Requests []Request `json:"-"`
}

// A LayerPlan is the effect of one layer of a policy.
type LayerPlan struct {
	Pass    string      `json:"pass"`
	Trigger string      `json:"trigger,omitempty"` // what makes it run, in words; absent for always
	Limit   float64     `json:"limit,omitempty"`   // tokens
	Used    int64       `json:"used"`              // tokens before it, which decide
	By      string      `json:"by"`                // a counter, `as pi shows it`, or `as recorded`
	Fired   bool        `json:"fired"`             // it ran
	Report  *PassReport `json:"report,omitempty"`  // if it fired
}

// idle returns the plan of a policy before any layer has run.
func (p *Policy) idle(v *View) (r *Reduction, err error) {
	if v, err = v.besides(p.beside()); err != nil {
		return nil, err
	}
	r = &Reduction{Policy: p.Name, Counter: p.Counter.Name, From: v, View: v, Before: v.tokens(p.Counter),
		Layers: []LayerPlan{}}
	r.After = r.Before
	r.Window, r.WindowFrom, err = p.Limit(v.Envelope)
	return r, err
}

// run runs the layers of a policy.
func (r *Reduction) run(p *Policy, summarize Summarize) error {
	if p.Warns != nil && p.Warns.fires(int64(r.Before), r.Window) {
		r.Guard = guard(r.Before, int(r.Window))
	}
	for _, l := range p.Layers {
		done := LayerPlan{Pass: l.Pass.Name, Fired: true}
		done.Used, done.By = p.used(r.View, r.From, r.After)
		o := l.Options
		if target := p.Target.of(r.Window); target > 0 {
			done.Trigger, done.Limit = "above the target", float64(target)
			done.Fired = done.Used > target
			o.enough = func(tokens int) bool { return int64(tokens) <= target }
		} else if l.When != nil {
			done.Trigger = l.When.String()
			done.Limit, _ = l.When.limit(r.Window)
			done.Fired = l.When.fires(done.Used, r.Window)
			o.enough = func(tokens int) bool { return !l.When.fires(int64(tokens), r.Window) }
		}
		if l.Pass.prompt && len(r.Waits) > 0 { // the summary that a layer waits for may suffice
			done.Fired = false
		}
		if done.Fired {
			o.Counter, o.Summarize = p.Counter, summarize
			w, err := l.Pass.apply(r.View, o)
			if err != nil {
				return fmt.Errorf("%s: %w", l.Pass.Name, err)
			}
			done.Report = w.Report
			r.add(w)
		}
		r.Layers = append(r.Layers, done)
	}
	return r.View.texts.err
}

// add adds the result of a pass.
func (r *Reduction) add(w *Work) {
	r.View, r.After = w.View, w.Report.TokensAfter
	r.Changes = append(r.Changes, w.Changes...)
	for _, c := range w.Changes {
		if c.Action != Summarise {
			continue
		}
		r.Summary, r.Frame = c.Text, w.frame(w.Style).style
		if r.OwnFrame = w.Style; r.Frame == w.Style {
			r.OwnFrame = ""
		}
		if r.Notice == "" {
			r.Notice = fmt.Sprintf("[context compacted: %d -> %d tokens]", w.Report.TokensBefore, w.Report.TokensAfter)
		}
	}
	r.Cannot = append(r.Cannot, w.Cannot...)
	r.Requests = append(r.Requests, w.Requests...)
	for _, q := range w.Requests {
		r.Waits = append(r.Waits, fmt.Sprintf("%s of %s", q.Part, phrase.Count(len(q.Messages), "message")))
	}
}

// byRecord names the measure that pi shows for a session's context: the last answer's usage plus an estimate of
// the messages after it.
func byRecord(s *sessionfmt.Session) string {
	if s.Dialect() != nil {
		return "as recorded"
	}
	return "as pi shows it"
}

// used returns the size of a context in tokens, and what measured it: the policy's counter,
// or, for a policy by usage and as long as nothing has changed, byRecord.
func (p *Policy) used(now, before *View, counted int) (int64, string) {
	if !p.ByUsage || now != before {
		return int64(counted), p.Counter.Name
	}
	size, err := now.Envelope.Size()
	now.texts.fail(err)
	return int64(size.Stored()), byRecord(now.session())
}

// A KnownWindow is a context window that a system knows for a provider and a model.
type KnownWindow struct {
	Provider string `json:"provider"`        // prefix of the provider's name
	Model    string `json:"model,omitempty"` // substring of the model's id
	Tokens   int64  `json:"tokens"`
}

// gshWindows are the windows that gsh knows; the first match counts (docs/policies.md 2.5).
var gshWindows = []KnownWindow{
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

// Limit returns the context window in tokens that the policy measures a context against, and
// its source: the window that was given, else the limit of the baseline if its model is in
// use, else the models table, else `policy`: the policy's own window for the model.
func (p *Policy) Limit(e *replay.Envelope) (limit int64, from string, err error) {
	ref, limit, from, err := e.Model()
	if err != nil || limit > 0 {
		return limit, from, err
	}
	return p.WindowOf(ref), "policy", nil
}

// WindowOf returns the policy's own window for a model, in tokens.
func (p *Policy) WindowOf(m models.Ref) int64 {
	for _, w := range p.Windows {
		if strings.HasPrefix(m.Provider, w.Provider) && strings.Contains(m.ID, w.Model) {
			return w.Tokens
		}
	}
	return p.Window
}

// Only returns a policy with other layers that measures a context as p does.
func (p *Policy) Only(name string, layers []Layer) *Policy {
	return &Policy{Name: name, Window: p.Window, Windows: p.Windows, Counter: p.Counter, counts: p.counts,
		Layers: layers}
}
