package compact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Job reduces contexts: a policy, and how its changes are stored.
type Job struct {
	Command    string // recorded as the command that made the batch
	Policy     *Policy
	Form       Form          // AsAuto if empty
	Time       time.Time     // time of the changes, for summaries whose frame has it
	GivenRules bool          // the caller set the replay rules, rather than detecting them
	IfOver     Amount        // contexts of at most this size are skipped
	Summarize  Summarize     // without it, nothing is summarised and the plan lists the requests
	Unmarked   bool          // omit the entry that records the command
	Models     *models.Table // the built-in table when nil
}

// An Amount is a number of tokens, or a share of the window.
type Amount struct {
	Tokens int64   `json:"tokens,omitempty"`
	Share  float64 `json:"share,omitempty"` // of the window, from 0 to 1; 0 if Tokens counts
}

// ParseAmount parses a number of tokens such as 150k, or a share of the window such as 80%. The
// empty text is no amount. Errors begin with the name of what is parsed.
func ParseAmount(name, text string) (a Amount, err error) {
	if text == "" {
		return a, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := phrase.ParseNumber(number)
	switch {
	case err != nil || !(n > 0) || n > 1e15 || percent && n > 100 || !percent && n != float64(int64(n)):
		return a, fmt.Errorf("%s %q: must be a number of tokens, or a share of the window such as 80%%", name,
			sessionfmt.Quote(text))
	case percent:
		return Amount{Share: n / 100}, nil
	}
	return Amount{Tokens: int64(n)}, nil
}

// of returns the amount in tokens, 0 if none is set.
func (a Amount) of(window int64) int64 {
	if a.Share > 0 {
		return int64(a.Share * float64(window))
	}
	return a.Tokens
}

// A CacheEffect is what a reduction does to the provider's prompt cache.
type CacheEffect struct {
	Message int `json:"message"` // index of the first message that changes
	Of      int `json:"of"`      // messages of the original request
	Kept    int `json:"kept"`    // tokens before it, which the cache still serves
	Written int `json:"written"` // tokens from it on, which are written again
	// cost of writing them, in dollars; absent without a price
	Cost *float64 `json:"cost,omitempty"`
}

// An UndoCost is the cost of undoing a reduction.
type UndoCost struct {
	Entries int `json:"entries"` // entries that undo appends if only settings follow the batch
	// entries that it appends if something else follows; 0 if it then cannot
	Later int `json:"later,omitempty"`
	// tokens from the first changed message on, at most
	Rebilled int      `json:"rebilled"`
	Cost     *float64 `json:"cost,omitempty"` // of rebilling them, in dollars
}

// littleLeft is the share of a context below which a reduction warns. pi keeps a tenth of a full window; half
// of that has room for a summary and hardly a recent message.
const littleLeft = 0.05

// Plan returns what the job does to the context of an envelope.
func (j *Job) Plan(e *replay.Envelope) (*Reduction, error) {
	v, err := NewView(e, j.Policy.Counter)
	if err != nil {
		return nil, err
	}
	return j.PlanView(v)
}

// PlanView is Plan for several jobs, which share the view of the context. It needs their counters
// if these are tokenizers.
func (j *Job) PlanView(v *View) (*Reduction, error) {
	of := v.Envelope.Replay()
	form, err := j.Form.Decide(of, of.Session.Leaf(), j.GivenRules)
	if err != nil {
		return nil, err
	}
	v = v.In(form)
	v.counter = j.Policy.Counter
	v.at = j.Time
	r, err := j.Policy.idle(v)
	if err != nil {
		return nil, err
	}
	r.Form = form
	if r.Skipped, err = j.skips(r); err != nil || r.Skipped != "" {
		return r, err
	}
	if err = r.run(j.Policy, j.Summarize); err == nil {
		err = j.cached(r)
	}
	if left := float64(r.After) / float64(max(1, r.Before)); len(r.Changes) > 0 && left < littleLeft {
		r.Warning = fmt.Sprintf("%s of the context is left: read the summary first", phrase.Percent(left))
	}
	return r, err
}

// skips returns why a context is skipped, empty if it is not.
func (j *Job) skips(r *Reduction) (string, error) {
	s := r.From.session()
	last, err := lastOf(s)
	switch over := j.IfOver.of(r.Window); {
	case err != nil:
		return "", err
	case last.rec >= 0 && last.Policy == j.Policy.Name && last.Params == j.Policy.params() && !last.grown(s):
		return "nothing was said since the same policy last ran", nil
	case over > 0 && int64(r.Before) <= over:
		return fmt.Sprintf("not over %d tokens", over), nil
	}
	return "", nil
}

// params returns the numbers of a policy as JSON, under the names of a configuration. Marks
// in sessions record them, which identifies a run with the same numbers.
func (p *Policy) params() string {
	type numbers Trigger // without MarshalText, which writes a description
	type layer struct {
		Pass string `json:"pass"`
		Options
		When   *numbers `json:"when,omitempty"`
		Target *Amount  `json:"target,omitempty"`
	}
	var all []layer
	for _, l := range p.Layers {
		one := layer{Pass: l.Pass.Name, Options: l.Options, When: (*numbers)(l.When)}
		if p.Target != (Amount{}) {
			one.Target = &p.Target
		}
		all = append(all, one)
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // it is made of numbers and names
	}
	return strings.NewReplacer(`"minTokens"`, `"min_tokens"`, `"intraTurn"`, `"intra_turn"`).Replace(string(text))
}

// cached compares the new request with the original, message by message.
func (j *Job) cached(r *Reduction) error {
	ref, err := r.From.Envelope.ModelRef()
	if err != nil {
		return err
	}
	m, _, known := cmp.Or(j.Models, models.Builtin()).Lookup(ref.Provider, ref.ID)
	if !known && ref.ID != "" {
		r.Unknown = &ref
	}
	if len(r.Changes) == 0 {
		return nil
	}
	was, is := r.From.live(), r.View.live()
	c := &CacheEffect{Of: len(was)}
	r.Cache = c
	for !r.View.reprompted && c.Message < min(len(was), len(is)) && was[c.Message] == is[c.Message] &&
		!r.View.Messages[is[c.Message]].Edited {
		c.Kept += r.View.Messages[is[c.Message]].Tokens(&tokens.Pi)
		c.Message++
	}
	for _, i := range is[c.Message:] {
		c.Written += r.View.Messages[i].Tokens(&tokens.Pi)
	}
	c.Cost = r.price(&m, c.Written)
	if j.Unmarked {
		return nil
	}
	return j.undo(r, &m, was[c.Message:])
}

// price returns the cost of writing tokens to the cache, in dollars, nil if the table has no
// prices for the model.
func (r *Reduction) price(m *models.Model, written int) *float64 {
	if !m.Priced() {
		return nil
	}
	n := int64(written)
	cost := cmp.Or(m.Price(models.Usage{CacheWrite: n}).Total, m.Price(models.Usage{Input: n}).Total)
	r.Prices = models.Date
	return &cost
}

// undo returns what Undo would append and cost. lost are the original messages from the
// first changed one on.
func (j *Job) undo(r *Reduction, m *models.Model, lost []int) error {
	w, err := j.storing(r)
	if err != nil {
		return err
	}
	u := &UndoCost{Entries: 1}
	if w.head == nil && r.Form != AsTransform {
		u.Later = len(w.changed) + 1
	}
	for _, i := range lost {
		u.Rebilled += r.From.Messages[i].Tokens(&tokens.Pi)
	}
	u.Cost = r.price(m, u.Rebilled)
	r.Undo = u
	return nil
}

// passes returns the names of the passes that changed something.
func (r *Reduction) passes() string {
	names := []string{r.Policy}
	for _, c := range r.Changes {
		if !slices.Contains(names, c.Pass) {
			names = append(names, c.Pass)
		}
	}
	return strings.Join(names, " ")
}

// Promise returns an error that names the first difference if the context of a session with
// the reduction's batch is not the planned context.
func (r *Reduction) Promise(with *sessionfmt.Session, opt replay.Options) error {
	opt.Leaf = with.Leaf()
	opt.Rules = r.From.Envelope.Replay().Rules
	e, err := replay.New(with, opt).At(sessionfmt.After(with.Leaf()))
	if err == nil {
		err = Kept(r.View, e)
	}
	if err != nil {
		return sessionfmt.Errorf("the entries to append differ from the plan: %w", err).In(with.Name)
	}
	return nil
}

// Kept returns the first difference between the planned context and an actual one, nil if
// there is none. It compares the messages as a provider gets them, without timestamps.
func Kept(promised *View, e *replay.Envelope) error {
	want, got, from := promised.live(), 0, e.Replay().NewReader()
	for i := range e.Len() {
		p := e.Piece(i)
		if !p.Sent() {
			continue
		}
		is, err := from.Provider(p)
		if err != nil {
			return err
		}
		if got < len(want) {
			name := promised.differs(want[got], is)
			if err := promised.texts.err; err != nil {
				return err
			}
			if name != "" {
				return fmt.Errorf("message %d: a different %s", got, name)
			}
		}
		got++
	}
	if promised.reprompted {
		p, err := e.Prompt()
		if err != nil {
			return err
		}
		if !samePrompt(promised.Prompt, p) {
			return errors.New("another prompt")
		}
	}
	if len(want) != got {
		return fmt.Errorf("%d messages, expected %d", got, len(want))
	}
	return nil
}

// compared are the fields of messages that Kept compares.
var compared = []string{"content", "role", "toolCallId", "toolName", "isError"}

// differs returns the first of these fields whose content in a message of the view, as a provider would get it,
// is not that of the other message; empty if there is none.
func (v *View) differs(i int, is jsonl.Value) string {
	m, want, got := &v.Messages[i], make([]jsonl.Value, len(compared)), make([]jsonl.Value, len(compared))
	var content, raw jsonl.Value
	if m.Edited || m.Heads {
		content = v.Content(i)
	}
	if m.Heads {
		raw = m.head.append(nil, 0)
	} else {
		raw = v.texts.provider(m)
	}
	if content == nil && bytes.Equal(raw, is) { // most messages are equal byte for byte
		return ""
	}
	raw.Fields(want, compared...)
	is.Fields(got, compared...)
	if content != nil {
		want[0] = content
	}
	want[0], got[0] = inBlocks(want[0]), inBlocks(got[0])
	for k, name := range compared {
		if !bytes.Equal(want[k].AppendMinified(nil), got[k].AppendMinified(nil)) {
			return name
		}
	}
	return ""
}
