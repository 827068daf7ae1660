// Package replay rebuilds what a coding agent's model saw, from the session file
// alone: the envelope of system prompt, tools, messages and options as it stood
// after any entry. One machine does it, entry by entry along a path; everything
// else is a lens on its steps.
package replay

import (
	"cmp"
	"fmt"
	"iter"

	"ctxtool/internal/models"
	"ctxtool/sessionfmt"
)

// A ModelRef names a model. The zero value is no model.
type ModelRef struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// Options are what a replay depends on besides the session and the point in it.
type Options struct {
	Rules       Rules
	Leaf        int           // record whose path decides Auto; see Session.Leaf
	Baseline    *Baseline     // prompt, tools and options that the session lacks; may be nil
	Implemented []string      // names of tools that have an implementation
	Model       ModelRef      // in place of the path's
	Window      int64         // context window in tokens, in place of the known one
	Models      *models.Table // where windows are looked up; the built-in table when nil
	Lenient     bool          // go on as the dialect's reference code would
	Without     map[int]bool  // compaction entries, by record, that are taken for having no effect
}

// A Replay replays one session by fixed rules.
type Replay struct {
	Session  *sessionfmt.Session
	Rules    Rules                // decided: ByPi or ByEnvelope
	Findings []sessionfmt.Finding // at most sessionfmt.MaxFindings

	opt  Options
	more int // findings beyond those
}

// New returns a replay of s.
func New(s *sessionfmt.Session, opt Options) *Replay {
	if opt.Models == nil {
		opt.Models = models.Builtin()
	}
	return &Replay{Session: s, Rules: opt.Rules.Decide(s, opt.Leaf), opt: opt}
}

// A Step is what one entry did.
type Step struct {
	Record int // the entry
	Did    Effect
	// Before and After are the numbers of cached messages in the request.
	Before, After int

	m *machine
}

// Envelope is the envelope after the step. It stays as it is while the walk goes
// on, but has to be asked for before it does.
func (s Step) Envelope() *Envelope { return s.m.envelope() }

// An Effect is what a step did to the envelope.
type Effect uint8

// The effects of steps.
const (
	Nothing   Effect = iota
	Added            // a message was appended
	Edited           // an edit took effect on messages that were there
	Compacted        // a compaction replaced the history, as an entry or as a patch
	Patched          // a transform's patch was applied
	Settings         // the model or the thinking level changed
)

// String names the effect.
func (e Effect) String() string {
	return [...]string{"nothing", "added", "edited", "compacted", "patched", "settings"}[e]
}

// Walk replays the path to record leaf, step by step from the root. An error
// ends it: a *sessionfmt.Error with the entry at which the replay had to stop.
// Findings of the walk are added to r.Findings.
func (r *Replay) Walk(leaf int) iter.Seq2[Step, error] { return r.walk(leaf, func(*machine) {}) }

// walk is Walk with a machine that is made ready first.
func (r *Replay) walk(leaf int, ready func(m *machine)) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		path, found := r.Session.Path(leaf)
		r.Findings = append(r.Findings, found...)
		m := newMachine(r, path)
		ready(m)
		for pos, rec := range path {
			if step, err := m.does(pos, rec); !yield(step, err) || err != nil {
				return
			}
		}
	}
}

// does is a step, as lenses see it.
func (m *machine) does(pos, rec int) (Step, error) {
	before := m.now().msgs.shown
	did, err := m.step(pos, rec)
	return Step{Record: rec, Did: did, Before: before, After: m.now().msgs.shown, m: m}, err
}

// At is the envelope after record leaf on its path, of the empty session for a
// leaf below 0; with before, the one that the record found.
func (r *Replay) At(leaf int, before bool) (*Envelope, error) {
	e, stopped, err := r.Reach(leaf, before)
	if err = cmp.Or(stopped, err); err != nil {
		return nil, err
	}
	return e, nil
}

// Reach is At, but where a broken patch stops the replay first, it is the envelope that
// the patch found, with the patch's error.
func (r *Replay) Reach(leaf int, before bool) (e *Envelope, stopped, err error) {
	path, found := r.Session.Path(r.Session.LeafAt(sessionfmt.Point{Record: leaf, Before: before}))
	r.Findings = append(r.Findings, found...)
	_, e, _, err = r.along(path, len(path))
	if Stopped(err) {
		return e, err, nil
	}
	return e, nil, err
}

// find adds a finding at a record.
func (r *Replay) find(code string, rec int, format string, args ...any) {
	if len(r.Findings) >= sessionfmt.MaxFindings {
		r.more++
		return
	}
	r.Findings = append(r.Findings, sessionfmt.Finding{
		Code: code, Line: r.Session.Line(rec), Entry: sessionfmt.Quote(r.Session.ID(rec)), Text: fmt.Sprintf(format, args...),
	})
}

// AllFindings are the findings of reading the session and of replaying it.
func (r *Replay) AllFindings() []sessionfmt.Finding {
	all := append(append([]sessionfmt.Finding(nil), r.Session.Findings...), r.Findings...)
	if r.more > 0 {
		all = append(all, sessionfmt.Finding{Code: "more", Text: fmt.Sprintf("%d more findings of the replay, not listed", r.more)})
	}
	return all
}
