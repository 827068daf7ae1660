package compact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Job reduces contexts: a policy, and how its changes are stored.
type Job struct {
	Command    string // that is said to have done it
	Policy     *Policy
	Form       Form          // AsAuto where empty
	GivenRules bool          // the rules were asked for, and not decided
	IfOver     Amount        // contexts that are no larger are left alone
	Summarize  Summarize     // nil leaves what needs a summary for another time
	Unmarked   bool          // without the entry that says what made the batch
	Models     *models.Table // the built-in table when nil
}

// An Amount is a number of tokens, or a share of the window.
type Amount struct {
	Tokens int64   `json:"tokens,omitempty"`
	Share  float64 `json:"share,omitempty"` // 0 to 1, where it is one
}

// of is the amount in tokens; none is 0.
func (a Amount) of(window int64) int64 {
	if a.Share > 0 {
		return int64(a.Share * float64(window))
	}
	return a.Tokens
}

// A Reduction is what a job does to a session.
type Reduction struct {
	*Plan
	Form    Form
	Skipped string // why it does nothing, where that is decided before any pass
	Cache   *CacheEffect
	From    *View // the context as it is
}

// A CacheEffect is what a reduction does to the provider's prompt cache.
type CacheEffect struct {
	Message int `json:"message"` // the first of the request that is another, from 0
	Of      int `json:"of"`      // messages of the request before
	Kept    int `json:"kept"`    // tokens before it, which a cache can go on serving
	Written int `json:"written"` // tokens from there on, which are written once more
	// Cost is what writing them costs, in dollars, where the table has prices.
	Cost *float64 `json:"cost,omitempty"`
}

// Plan says what the job does to the context of an envelope.
func (j *Job) Plan(e *replay.Envelope) (*Reduction, error) {
	form, err := j.Form.decide(e.Replay(), e.Replay().Session.Leaf(), j.GivenRules)
	if err != nil {
		return nil, err
	}
	v, err := NewView(e, j.Policy.Counter)
	if err != nil {
		return nil, err
	}
	r := &Reduction{Form: form, From: v.In(form)}
	if r.Skipped, err = j.skips(r.From); err != nil {
		return nil, err
	}
	if r.Skipped != "" {
		r.Plan, err = j.Policy.idle(r.From)
		return r, err
	}
	if r.Plan, err = j.Policy.Plan(r.From, j.Summarize); err != nil {
		return nil, err
	}
	r.Cache, err = j.cacheEffect(r)
	return r, err
}

// skips says why a session is left alone, empty where it is not.
func (j *Job) skips(v *View) (string, error) {
	last, err := lastOf(v.session())
	switch {
	case err != nil:
		return "", err
	case last != nil && last.Policy == j.Policy.Name && last.Params == j.Policy.params() && !last.grown(v.session()):
		return "nothing has been said since the same policy was last applied", nil
	}
	window, _, err := j.Policy.window(v.Envelope)
	if over := j.IfOver.of(window); err == nil && over > 0 && int64(v.tokens(j.Policy.Counter)) <= over {
		return fmt.Sprintf("it is not over %d tokens", over), nil
	}
	return "", err
}

// idle is the plan of a policy that does nothing.
func (p *Policy) idle(v *View) (plan *Plan, err error) {
	plan = &Plan{Policy: p.Name, Counter: p.Counter.Name, View: v, Layers: []layerPlan{}}
	plan.Before = v.tokens(p.Counter)
	plan.After = plan.Before
	plan.Window, plan.WindowFrom, err = p.window(v.Envelope)
	return plan, err
}

// params are the numbers of a policy, by which a run of it is known again.
func (p *Policy) params() string {
	type numbers Trigger // not the words for people
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
	return string(text)
}

// cacheEffect compares the request with what it was, message by message.
func (j *Job) cacheEffect(r *Reduction) (*CacheEffect, error) {
	if len(r.Changes) == 0 {
		return nil, nil
	}
	was, is := r.From.live(), r.View.live()
	c := &CacheEffect{Of: len(was)}
	for c.Message < min(len(was), len(is)) && was[c.Message] == is[c.Message] && !r.View.Messages[is[c.Message]].Edited {
		c.Kept += r.View.Messages[is[c.Message]].Tokens(&tokens.Pi)
		c.Message++
	}
	for _, i := range is[c.Message:] {
		c.Written += r.View.Messages[i].Tokens(&tokens.Pi)
	}
	ref, _, _, err := r.From.Envelope.Model()
	if err != nil {
		return nil, err
	}
	table := j.Models
	if table == nil {
		table = models.Builtin()
	}
	m, _, ok := table.Lookup(ref.Provider, ref.ID)
	if !ok || !m.Priced() {
		return c, nil
	}
	cost := m.Price(models.Usage{CacheWrite: int64(c.Written)}).Total
	if cost == 0 {
		cost = m.Price(models.Usage{Input: int64(c.Written)}).Total
	}
	c.Cost = &cost
	return c, nil
}

// Store adds what a reduction changes to a batch.
func (j *Job) Store(b *sessionfmt.Batch, r *Reduction, display string) error {
	if len(r.Changes) == 0 {
		return nil
	}
	st := storage{
		Form: r.Form, Unmarked: j.Unmarked, Display: display,
		Reason: fmt.Sprintf("ctxtool %s: %s", j.Command, r.passes()),
		Record: jobRecord{Job: j.Command, Policy: j.Policy.Name, Params: j.Policy.params(), Before: r.Plan.Before, After: r.Plan.After},
	}
	return st.Store(b, r.From, r.View, r.Changes)
}

// passes names what has changed something.
func (r *Reduction) passes() string {
	name := r.Policy
	var passes []string
	for _, c := range r.Changes {
		if c.Pass != r.Policy && !slices.Contains(passes, c.Pass) {
			passes = append(passes, c.Pass)
			name += " " + c.Pass
		}
	}
	return name
}

// Promise says where the context of a session that was read back with the reduction's
// batch is not what the reduction has promised.
func (r *Reduction) Promise(with *sessionfmt.Session, opt replay.Options) error {
	opt.Leaf = with.Leaf()
	opt.Rules = r.From.Envelope.Replay().Rules
	e, err := replay.New(with, opt).At(with.Leaf(), false)
	if err == nil {
		err = Kept(r.View, e)
	}
	if err != nil {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: with.Name}, Err: fmt.Errorf("what would be appended is not what the plan says: %w", err)}
	}
	return nil
}

var errTwoCompactions = errors.New("two compactions in one batch")

// Kept says how a context differs from what passes have promised of it, nil where it is
// just that: message by message what a provider gets, times aside. A summary is its
// words, whatever frame it stands in.
func Kept(promised *View, e *replay.Envelope) error {
	is, err := NewView(e, nil)
	if err != nil {
		return err
	}
	want, got := promised.live(), is.live()
	for k := range min(len(want), len(got)) {
		differ, err := promised.differs(want[k], is, got[k])
		if err != nil {
			return err
		}
		if differ != "" {
			return fmt.Errorf("message %d: %s", k, differ)
		}
	}
	if len(want) != len(got) {
		return fmt.Errorf("%d messages, and not %d", len(got), len(want))
	}
	return nil
}

// differs says how a message of a view differs from that of another, empty where it does
// not.
func (v *View) differs(i int, other *View, k int) (string, error) {
	a, b := &v.Messages[i], &other.Messages[k]
	if a.Heads {
		want, err := v.earlier(i)
		if err != nil {
			return "", err
		}
		got, err := other.earlier(k)
		if err == nil && want != got {
			return "the summary is another", nil
		}
		return "", err
	}
	if v.role(a) != other.role(b) {
		return fmt.Sprintf("a %s, and not a %s", b.Kind, a.Kind), nil
	}
	for _, name := range []string{"content", "toolCallId", "toolName", "isError"} {
		want, err := v.member(i, name)
		if err != nil {
			return "", err
		}
		got, err := other.member(k, name)
		if err != nil {
			return "", err
		}
		if !bytes.Equal(want, got) {
			return "another " + name, nil
		}
	}
	return "", nil
}

// role is the role in which a message is sent.
func (v *View) role(m *message) jsonl.Kind {
	switch {
	case m.isAssistant(), m.isResult():
		return m.Kind
	}
	return jsonl.User
}

// member is a member of a message as the view has it, in JavaScript's spelling. A text
// stands for the list of it.
func (v *View) member(i int, name string) ([]byte, error) {
	m := &v.Messages[i]
	if name == "content" {
		content, err := v.Content(i)
		if err == nil && content.IsString() {
			content = append(appendTextBlock(value{'['}, content), ']')
		}
		return content.AppendCompact(nil), err
	}
	raw, err := v.texts.provider(m)
	return raw.Get(name).AppendCompact(nil), err
}

// EventForms are the forms in which events are written, the default first: as gsh logs
// them, as SWE-CLI does, or the report of each pass.
var EventForms = []string{"report", "gsh", "swe-cli"}

// WriteEvents writes what happened as JSON lines, in one of EventForms.
func (p *Plan) WriteEvents(w io.Writer, form, session string, at time.Time) error {
	var b bytes.Buffer
	for _, e := range p.eventsIn(form, session, at) {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// eventsIn are what happened as JSON objects, in one of EventForms
// (spec/policies.md 0.5, 1.11, 2.7).
func (p *Plan) eventsIn(form, session string, at time.Time) (all []any) {
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	for _, l := range p.Layers {
		if form == "report" && l.Report != nil {
			all = append(all, struct {
				Session string `json:"session"`
				*report
			}{session, l.Report})
		}
	}
	for _, e := range p.Events {
		if cut, ok := e.(truncation); ok && form == "gsh" {
			all = append(all, struct {
				gshEvent
				truncation
			}{gshEvent{stamp, session, "root"}, cut})
		}
	}
	for _, c := range p.Changes {
		if c.Action != Summarise {
			continue
		}
		r := p.report(c.Pass)
		switch form {
		case "gsh":
			all = append(all, struct {
				gshEvent
				gshCompaction
			}{gshEvent{stamp, session, "root"}, gshCompaction{"compaction", r.TokensBefore, c.Range.Summary, r.MessagesBefore, r.MessagesAfter}})
		case "swe-cli":
			all = append(all, struct {
				Time string `json:"timestamp"`
				sweCompaction
			}{stamp, newSWECompaction(r.TokensBefore, r.TokensAfter, c.Range.Messages)})
		}
	}
	return all
}

// A gshCompaction is what gsh logs of a compaction.
type gshCompaction struct {
	Event          string `json:"event"` // compaction
	OriginalTokens int    `json:"original_tokens"`
	SummaryTokens  int    `json:"summary_tokens"`
	MessagesBefore int    `json:"messages_before"`
	MessagesAfter  int    `json:"messages_after"`
}

// A gshEvent is what every line of gsh's log begins with.
type gshEvent struct {
	Time    string `json:"ts"`
	Session string `json:"session"`
	Agent   string `json:"agent"`
}

// report is that of a pass which has run.
func (p *Plan) report(pass string) *report {
	for _, l := range p.Layers {
		if l.Pass == pass && l.Report != nil {
			return l.Report
		}
	}
	return &report{}
}

// Notice is what gsh tells its user of a compaction, empty where there was none.
func (p *Plan) Notice() string {
	for _, c := range p.Changes {
		if c.Action == Summarise {
			return fmt.Sprintf("[context compacted: %d -> %d tokens]", p.Before, c.Range.Summary)
		}
	}
	return ""
}
