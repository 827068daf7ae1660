// Package replay rebuilds what a coding agent's model saw, from the session file
// alone: the envelope of system prompt, tools, messages and options as it stood
// after any entry.
//
// New makes a Replay of an open session. Replay.At returns the Envelope at a point,
// Replay.Walk a Step for each entry of a path, Replay.WalkTree for each entry of the file.
// An Observer of a walk is told of every request and of every change; the packages diff,
// trace, cache and reuse are such observers. Of an envelope's messages a Piece is known, and
// a Reader reads what it says.
//
// With the rules Auto, Options.Leaf has to name the leaf whose path decides, usually
// Session.Leaf. An envelope holds no texts: its messages are read from the session,
// which has to stay open. They count by any tokens.Counter; tokens.Pi is what pi shows.
// Rows whose types have no exported name are JSON, and in docs/formats.md.
package replay

import (
	"cmp"
	"fmt"
	"iter"

	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Options are what a replay depends on besides the session and the point in it.
type Options struct {
	Rules       Rules
	Leaf        int              // record whose path decides Auto; see Session.Leaf
	Baseline    *prompt.Baseline // prompt, tools and options that the session lacks; may be nil
	Implemented []string         // names of tools that have an implementation
	Model       models.Ref       // in place of the path's
	Window      int64            // context window in tokens, in place of the known one
	Models      *models.Table    // where windows are looked up; the built-in table when nil
	Lenient     bool             // go on as the dialect's reference code would
	Without     map[int]bool     // compaction entries, by record, that are taken for having no effect
}

// A Replay replays one session by fixed rules.
type Replay struct {
	Session  *sessionfmt.Session
	Rules    Rules                // decided: ByPi or ByEnvelope
	Findings []sessionfmt.Finding // at most sessionfmt.MaxFindings

	Options Options

	more int // findings beyond those
}

// New returns a replay of s.
func New(s *sessionfmt.Session, opt Options) *Replay {
	if opt.Models == nil {
		opt.Models = models.Builtin()
	}
	return &Replay{Session: s, Rules: opt.Rules.Decide(s, opt.Leaf), Options: opt}
}

// At is the envelope at a point: what its record left on its path, or found there; after a
// record below 0 it is that of the empty session.
func (r *Replay) At(p sessionfmt.Point) (*Envelope, error) {
	e, stopped, err := r.Reach(p)
	if err = cmp.Or(stopped, err); err != nil {
		return nil, err
	}
	return e, nil
}

// Reach is At, but where a broken patch stops the replay first, it is the envelope that
// the patch found, with the patch's error.
func (r *Replay) Reach(p sessionfmt.Point) (e *Envelope, stopped, err error) {
	path, found := r.Session.Path(r.Session.LeafAt(p))
	r.Findings = append(r.Findings, found...)
	e, err = r.end(path)
	if Stopped(err) {
		return e, err, nil
	}
	return e, nil, err
}

// end is the envelope at the end of a path, or that which a broken patch found.
func (r *Replay) end(path []int) (*Envelope, error) {
	last, err := Step{m: newMachine(r)}, error(nil)
	for last, err = range r.Along(path) {
	}
	return last.Envelope(), err
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

// Rules say by whose rules a session is replayed.
type Rules uint8

const (
	Auto       Rules = iota // Envelope where the path has transforms or ephemerals, else ByPi
	ByPi                    // what today's pi builds
	ByEnvelope              // pi's rules and transforms, by the context-engineering dialect
)

var rulesNames = [...]string{Auto: "auto", ByPi: "pi", ByEnvelope: "envelope"}

// String is the name on the command line.
func (r Rules) String() string { return rulesNames[r] }

// MarshalText and UnmarshalText are the name.
func (r Rules) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r *Rules) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRules(string(text))
	return err
}

// RulesNames are the names that ParseRules takes.
func RulesNames() []string { return rulesNames[:] }

// ParseRules reads a name of RulesNames.
func ParseRules(name string) (Rules, error) {
	for r, n := range rulesNames {
		if n == name {
			return Rules(r), nil
		}
	}
	return 0, fmt.Errorf("unknown rules %q", name)
}

// Decide settles Auto for a session: by the path of its leaf, whatever point of
// it is asked for later.
func (r Rules) Decide(s *sessionfmt.Session, leaf int) Rules {
	if r != Auto {
		return r
	}
	if s.Dialect() != nil {
		return ByEnvelope
	}
	path, _ := s.Path(leaf)
	for _, i := range path {
		if k := s.Kind(i); k == jsonl.Transform || k == jsonl.Ephemeral {
			return ByEnvelope
		}
	}
	return ByPi
}

// Entered are the messages of the request that were not in an earlier envelope of
// the same replay, in order, as a provider gets them; the uncached ones last.
func (e *Envelope) Entered(earlier *Envelope) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		same := e.state.msgs.n
		for i := range e.state.msgs.differs(&earlier.state.msgs) {
			same = i
			break
		}
		had := map[Piece]int{}
		for i := same; i < earlier.Len(); i++ {
			had[earlier.Piece(i).Place()]++
		}
		l := e.r.NewReader()
		for i := same; i < e.Len(); i++ {
			m := e.Piece(i)
			if had[m.Place()] > 0 {
				had[m.Place()]--
			} else if m.Sent() && !l.yield(yield, m, (*Reader).Provider) {
				return
			}
		}
	}
}
