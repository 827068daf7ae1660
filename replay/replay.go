// Package replay rebuilds what a coding agent's model saw, from the session file
// alone: the envelope of system prompt, tools, messages and options as it stood
// after any entry.
//
// New makes a Replay of an open session. Replay.At returns the Envelope at a point,
// Replay.Walk a Step for each entry of a path. Diff compares two envelopes,
// Replay.Trace follows a text, Replay.Cache says what a prompt cache could serve. They
// are all observers of one machine, which does one entry after the other.
//
// With the rules Auto, Options.Leaf has to name the leaf whose path decides, usually
// Session.Leaf. An envelope holds no texts: its messages are read from the session,
// which has to stay open. They count by any tokens.Counter; tokens.Pi is what pi shows.
// Rows whose types have no exported name are JSON, and in docs/formats.md.
package replay

import (
	"cmp"
	"fmt"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// A ModelRef names a model. The zero value is no model.
type ModelRef struct {
	Provider string `json:"provider"`
	ID       string `json:"id"`
}

// Name is provider/id, empty for no model.
func (m ModelRef) Name() string {
	if m == (ModelRef{}) {
		return ""
	}
	return m.Provider + "/" + m.ID
}

// An Index is a number from 0, or -1 where there is none, which JSON leaves out.
type Index int

// IsZero reports whether there is none.
func (i Index) IsZero() bool { return i < 0 }

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
	_, e, _, err = r.span(path, len(path))
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
