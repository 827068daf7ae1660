package compact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A Job reduces contexts: a policy, and how its changes are stored.
type Job struct {
	Command    string // that is said to have done it
	Policy     *Policy
	Form       Form          // AsAuto where empty
	GivenRules bool          // the rules were asked for, and not decided
	IfOver     Amount        // contexts that are no larger are left alone
	Summarize  Summarize     // nil leaves what needs a summary for another time
	Unmarked   bool          // without the entry that records what made the batch
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

// A cacheEffect is what a reduction does to the provider's prompt cache.
type cacheEffect struct {
	Message int `json:"message"` // the first of the request that is another, from 0
	Of      int `json:"of"`      // messages of the request before
	Kept    int `json:"kept"`    // tokens before it, which a cache can go on serving
	Written int `json:"written"` // tokens from there on, which are written once more
	// Cost is what writing them costs, in dollars, where the table has prices.
	Cost *float64 `json:"cost,omitempty"`
}

// An undoCost is what it takes to undo a reduction.
type undoCost struct {
	Entries  int      `json:"entries"`         // that are appended as long as nothing is said after the batch, settings aside
	Later    int      `json:"later,omitempty"` // that are appended then; 0 where it is not possible any more
	Rebilled int      `json:"rebilled"`        // tokens of the context before, from the first changed message on: at most what is billed again
	Cost     *float64 `json:"cost,omitempty"`  // of these, in dollars
}

// littleLeft is the share of a context below which a reduction warns. pi leaves a tenth of
// a full window; what leaves half as much leaves a summary and hardly a recent message.
const littleLeft = 0.05

// Plan is what the job does to the context of an envelope.
func (j *Job) Plan(e *replay.Envelope) (*Reduction, error) {
	form, err := j.Form.decide(e.Replay(), e.Replay().Session.Leaf(), j.GivenRules)
	if err != nil {
		return nil, err
	}
	v, err := NewView(e, j.Policy.Counter)
	if err != nil {
		return nil, err
	}
	r, err := j.Policy.idle(v.In(form))
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

// skips reports why a session is left alone, empty where it is not.
func (j *Job) skips(r *Reduction) (string, error) {
	s := r.From.session()
	last, err := lastOf(s)
	switch over := j.IfOver.of(r.Window); {
	case err != nil:
		return "", err
	case last != nil && last.Policy == j.Policy.Name && last.Params == j.Policy.params() && !last.grown(s):
		return "nothing was said since the same policy last ran", nil
	case over > 0 && int64(r.Before) <= over:
		return fmt.Sprintf("not over %d tokens", over), nil
	}
	return "", nil
}

// params are the numbers of a policy, by which a run of it is known again: under the names
// of a configuration, which marks in sessions have.
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
	return strings.NewReplacer(`"minTokens"`, `"min_tokens"`, `"intraTurn"`, `"intra_turn"`).Replace(string(text))
}

// cached compares the request with what it was, message by message.
func (j *Job) cached(r *Reduction) error {
	ref, _, _, err := r.From.Envelope.Model()
	if err != nil {
		return err
	}
	_, _, known := cmp.Or(j.Models, models.Builtin()).Lookup(ref.Provider, ref.ID)
	if !known && ref.ID != "" {
		r.Unknown = &ref
	}
	if len(r.Changes) == 0 {
		return nil
	}
	was, is := r.From.live(), r.View.live()
	c := &cacheEffect{Of: len(was)}
	r.Cache = c
	for !r.View.reprompted && c.Message < min(len(was), len(is)) && was[c.Message] == is[c.Message] && !r.View.Messages[is[c.Message]].Edited {
		c.Kept += r.View.Messages[is[c.Message]].Tokens(&tokens.Pi)
		c.Message++
	}
	for _, i := range is[c.Message:] {
		c.Written += r.View.Messages[i].Tokens(&tokens.Pi)
	}
	if c.Cost, err = j.price(r, c.Written); err == nil && !j.Unmarked {
		err = j.undo(r, was[c.Message:])
	}
	return err
}

// price is what writing tokens to the cache costs in dollars, nil where the table has no
// prices for the model.
func (j *Job) price(r *Reduction, written int) (*float64, error) {
	ref, _, _, err := r.From.Envelope.Model()
	if err != nil {
		return nil, err
	}
	m, _, ok := cmp.Or(j.Models, models.Builtin()).Lookup(ref.Provider, ref.ID)
	if !ok || !m.Priced() {
		return nil, nil
	}
	n := int64(written)
	cost := cmp.Or(m.Price(models.Usage{CacheWrite: n}).Total, m.Price(models.Usage{Input: n}).Total)
	r.Prices = models.Date
	return &cost, nil
}

// undo says beforehand what Undo does. lost are the messages as they are, from the first one
// on that changes.
func (j *Job) undo(r *Reduction, lost []int) (err error) {
	w, err := j.storing(r)
	if err != nil {
		return err
	}
	u := &undoCost{Entries: 1}
	if w.head == nil && r.Form != AsTransform {
		u.Later = len(w.changed) + 1
	}
	for _, i := range lost {
		u.Rebilled += r.From.Messages[i].Tokens(&tokens.Pi)
	}
	r.Undo = u
	u.Cost, err = j.price(r, u.Rebilled)
	return err
}

// passes names what has changed something.
func (r *Reduction) passes() string {
	names := []string{r.Policy}
	for _, c := range r.Changes {
		if !slices.Contains(names, c.Pass) {
			names = append(names, c.Pass)
		}
	}
	return strings.Join(names, " ")
}

// Promise says where the context of a session that was read back with the reduction's
// batch is not what the reduction has promised.
func (r *Reduction) Promise(with *sessionfmt.Session, opt replay.Options) error {
	opt.Leaf = with.Leaf()
	opt.Rules = r.From.Envelope.Replay().Rules
	e, err := replay.New(with, opt).At(sessionfmt.After(with.Leaf()))
	if err == nil {
		err = Kept(r.View, e)
	}
	if err != nil {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: with.Name}, Err: fmt.Errorf("what would be appended is not what the plan says: %w", err)}
	}
	return nil
}

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
	if promised.reprompted {
		p, err := e.Prompt()
		if err != nil {
			return err
		}
		if !samePrompt(promised.Prompt, p) {
			return errors.New("another prompt")
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
		got, err2 := other.earlier(k)
		if want != got {
			return "the summary is another", cmp.Or(err, err2)
		}
		return "", cmp.Or(err, err2)
	}
	if a.isAssistant() != b.isAssistant() || a.isResult() != b.isResult() {
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

// member is a member of a message as the view has it, in JavaScript's spelling. A text
// stands for the list of it.
func (v *View) member(i int, name string) ([]byte, error) {
	if name == "content" {
		content, err := v.Content(i)
		if err == nil && content.IsString() {
			content = append(appendTextBlock(value{'['}, content), ']')
		}
		return content.AppendMinified(nil), err
	}
	raw, err := v.texts.provider(&v.Messages[i])
	return raw.Get(name).AppendMinified(nil), err
}

// EventForms are the forms in which events are written, the default first: as gsh logs
// them, as SWE-CLI does, or the report of each pass.
var EventForms = []string{"report", "gsh", "swe-cli"}

// WriteEvents writes what happened as JSON lines, in one of EventForms.
func (r *Reduction) WriteEvents(w io.Writer, form, session string, at time.Time) error {
	var b bytes.Buffer
	for _, e := range r.eventsIn(form, session, at) {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// eventsIn are what happened as JSON objects, in one of EventForms
// (docs/policies.md 1.2, 2.7, 3.4).
func (r *Reduction) eventsIn(form, session string, at time.Time) (all []any) {
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	if form == "gsh" {
		for _, e := range r.truncations {
			e.gshEvent = gshEvent{stamp, session, "root", "truncation"}
			all = append(all, e)
		}
	}
	if r.Guard != nil && form == "report" {
		all = append(all, struct {
			Session string `json:"session"`
			Event   string `json:"event"`
			*guarding
		}{session, "guard", r.Guard})
	}
	for _, l := range r.Layers {
		switch n := l.Report; {
		case n == nil:
		case form == "report":
			all = append(all, struct {
				Session string `json:"session"`
				*report
			}{session, n})
		case l.compacted == nil:
		case form == "gsh":
			all = append(all, gshCompaction{gshEvent{stamp, session, "root", "compaction"}, n.TokensBefore, l.compacted.Summary, n.MessagesBefore, n.MessagesAfter})
		default:
			all = append(all, newSWECompaction(stamp, n.TokensBefore, n.TokensAfter, l.compacted.Messages))
		}
	}
	return all
}

// A gshCompaction is what gsh logs of a compaction.
type gshCompaction struct {
	gshEvent
	OriginalTokens int `json:"original_tokens"`
	SummaryTokens  int `json:"summary_tokens"`
	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`
}

// A gshEvent is what every line of gsh's log begins with.
type gshEvent struct {
	Time    string `json:"ts"`
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Event   string `json:"event"` // truncation or compaction
}
