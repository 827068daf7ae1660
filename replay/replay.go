// Package replay rebuilds what the model of a coding agent received, from the session file
// alone: the envelope of system prompt, tools, messages and options after any entry.
//
// New returns a Replay of an open session. Replay.At returns the Envelope at a point,
// Replay.Walk a Step for each entry of a path, Replay.WalkTree for each entry of the file, and
// Replay.Along also each Change. An envelope's messages are Pieces, whose text a Reader reads.
// Package ledger has the requests of a session as data.
//
// With the rules Auto, Options.Leaf must be the leaf whose path decides, usually Session.Leaf.
// An envelope holds no text. It reads messages from the session, which has to stay open. Any
// tokens.Counter can count them; tokens.Pi gives the numbers that pi shows. Rows whose types
// are not exported are JSON, and described in docs/formats.md.
package replay

import (
	"cmp"
	"fmt"
	"iter"

	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// Options configure a replay.
type Options struct {
	Rules       Rules
	Leaf        int              // record whose path decides Auto; 0 is the session's leaf
	Baseline    *prompt.Baseline // prompt, tools and options missing from the session; may be nil
	Implemented []string         // names of tools that have an implementation
	Model       models.Ref       // overrides the path's model
	Window      int64            // context window in tokens, overrides the known one
	Models      *models.Table    // context windows by model; the built-in table if nil
	Lenient     bool             // continue where the reference code does
	// records of entries to ignore: compactions, edits, deletions, resets, transforms, ephemerals
	Without map[int]bool
	Trial   bool // replay held transforms under all rules
}

// A Replay replays one session under fixed rules.
type Replay struct {
	Session  *sessionfmt.Session
	Rules    Rules                // ByPi or ByEnvelope, never Auto
	Findings []sessionfmt.Finding // at most sessionfmt.MaxFindings

	Options Options

	more    int                                        // number of findings beyond the maximum
	prompts func() (map[models.Ref]jsonl.Usage, error) // see largestPrompts
	windows func() (map[models.Ref]int64, error)       // see recordedWindows
	first   map[int]firstRequest                       // by answer; see Hidden
}

// New returns a replay of s.
func New(s *sessionfmt.Session, opt Options) *Replay {
	if opt.Models == nil {
		opt.Models = models.Builtin()
	}
	if opt.Leaf == 0 {
		opt.Leaf = s.Leaf()
	}
	return &Replay{Session: s, Rules: opt.Rules.Decide(s, opt.Leaf), Options: opt, prompts: largestPrompts(s),
		windows: recordedWindows(s), first: map[int]firstRequest{}}
}

// At returns the envelope at a point: after its record, or before it. A record below 0 gives
// the empty session.
func (r *Replay) At(p sessionfmt.Point) (*Envelope, error) {
	e, stopped, err := r.Reach(p)
	if err = cmp.Or(stopped, err); err != nil {
		return nil, err
	}
	return e, nil
}

// Reach is like At, but if a broken patch stops the replay earlier, it returns the envelope
// before the patch, and the patch's error.
func (r *Replay) Reach(p sessionfmt.Point) (e *Envelope, stopped, err error) {
	path, found := r.Session.Path(r.Session.LeafAt(p))
	r.Findings = append(r.Findings, found...)
	e, err = r.end(path)
	if Stopped(err) {
		return e, err, nil
	}
	if err == nil && p.Before && p.Record >= 0 && r.Session.Answers(p.Record) {
		e.answer = p.Record
		var asked models.Ref
		if asked, err = r.ModelBy(p.Record); asked.Known() {
			e.asked = asked
		}
	}
	if d := r.Session.Dialect(); d != nil && d.Question > 0 && p.Before && p.Record >= 0 &&
		r.Session.Kind(p.Record) == jsonl.UsageEntry {
		e.used |= rule.Of(d.Question)
	}
	return e, nil, err
}

// end returns the envelope at the end of a path, or before a broken patch.
func (r *Replay) end(path []int) (*Envelope, error) {
	last, err := Step{m: newMachine(r)}, error(nil)
	for last, err = range r.Along(path) {
	}
	return last.Envelope(), err
}

// addFinding adds a finding at a record.
func (r *Replay) addFinding(code string, rec int, format string, args ...any) {
	if len(r.Findings) >= sessionfmt.MaxFindings {
		r.more++
		return
	}
	r.Findings = append(r.Findings, r.Session.FindingAt(code, rec, format, args...))
}

// AllFindings returns the findings of reading the session and of replaying it.
func (r *Replay) AllFindings() []sessionfmt.Finding {
	all := append(append([]sessionfmt.Finding(nil), r.Session.Findings...), r.Findings...)
	if r.more > 0 {
		all = append(all,
			sessionfmt.Finding{Code: "more", Text: fmt.Sprintf("%d more findings of the replay, not listed", r.more)})
	}
	return all
}

// Rules are replay rules.
type Rules uint8

const (
	Auto       Rules = iota // ByEnvelope if the path has transforms or ephemerals, else ByPi
	ByPi                    // what current pi builds
	ByEnvelope              // pi's rules plus transforms, as in the context-engineering dialect
	ByAgent                 // those of the session's agent, if that is not pi; see sessionfmt.Session.Dialect
)

var rulesNames = [...]string{Auto: "auto", ByPi: "pi", ByEnvelope: "envelope", ByAgent: "agent"}

// String returns the name on the command line.
func (r Rules) String() string { return rulesNames[r] }

// Patched reports whether transforms are replayed.
func (r Rules) Patched() bool { return r >= ByEnvelope }

// MarshalText returns the name.
func (r Rules) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r *Rules) UnmarshalText(text []byte) (err error) {
	if string(text) == ByAgent.String() {
		*r = ByAgent
		return nil
	}
	*r, err = ParseRules(string(text))
	return err
}

// RulesNames returns the names that ParseRules accepts.
func RulesNames() []string { return rulesNames[:ByAgent] }

// ParseRules returns the rules with that name.
func ParseRules(name string) (Rules, error) {
	for r, n := range RulesNames() {
		if n == name {
			return Rules(r), nil
		}
	}
	return 0, fmt.Errorf("unknown rules %q", name)
}

// Decide resolves Auto for a session, by the path of its leaf regardless of the point that is
// replayed.
func (r Rules) Decide(s *sessionfmt.Session, leaf int) Rules {
	if s.Dialect() != nil {
		return ByAgent
	}
	if r != Auto {
		return r
	}
	if leaf == 0 {
		leaf = s.Leaf()
	}
	path, _ := s.Path(leaf)
	for _, i := range path {
		if k := s.Kind(i); k == jsonl.Transform || k == jsonl.Ephemeral {
			return ByEnvelope
		}
	}
	return ByPi
}

// Entered returns the messages of the request that an earlier envelope of the same replay lacks, in order, as a
// provider gets them, uncached ones last.
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
