// Package migrate upgrades old session files to the current format. It preserves everything
// else: unknown fields, their order, the spelling of numbers and texts, white space. A plan
// describes what will be done; its changes, one for each line, make the new file:
//
//	plan, err := migrate.New(s, migrate.Options{})
//	...
//	err = sessionfmt.Rewrite(plan.Changes, out, quarantine)
//
// Entries of version 1 get the ids and parents that they have in memory (see
// sessionfmt.Session), a first kept index becomes an id, and below version 3 the role
// hookMessage becomes custom. Other references by id in a version 1 file stay as they are, as
// in pi, which ignores those ids: a context_edit that found its target again would change what
// the model gets.
//
// Compactions can be converted to patches, see Compaction. One is converted only if the patch
// gives the same envelope after every entry of the file. Otherwise it stays, and Plan.Native
// has the reason.
//
// Lines that are not entries are moved to the quarantine if the file is rewritten. A file that
// needs no change keeps all its lines.
package migrate

import (
	"errors"
	"fmt"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// newest is the current version of the format.
const newest = 3

// Options configure a migration. The zero value is valid.
type Options struct {
	To         int          // version of the format, 2 or 3; 3 if 0
	Compaction Compaction   // what happens to compactions
	Rules      replay.Rules // rules under which the file is replayed
}

// A Compaction is what happens to compaction entries that no patch repeats.
type Compaction string

// The forms.
const (
	// default, also if empty: Pair if the file replays by the envelope rules, else Native
	Auto      Compaction = "auto"
	Native    Compaction = "native"    // unchanged: readers of compaction entries see it
	Pair      Compaction = "pair"      // a patch, followed by the entry as its shadow: all readers see one compaction
	Transform Compaction = "transform" // only the patch, which pi does not see
)

// Compactions are the names of all forms.
var Compactions = []string{string(Auto), string(Native), string(Pair), string(Transform)}

// A Plan describes the migration of a session.
type Plan struct {
	From, To   int          // versions; a file newer than requested keeps its own
	Compaction Compaction   // resolved: Native, Pair or Transform
	Rules      replay.Rules // resolved, for the existing file
	Turned     int          // compactions that become patches
	// Native are the compactions that should become patches but stay, with the reason.
	Native []sessionfmt.Finding
	// Grown is by how many tokens the context that pi builds at the leaf grows, since pi does
	// not see patches. It is 0 except for Transform.
	Grown int

	s    *sessionfmt.Session
	turn map[int]int // compactions to convert: index in the request of the first kept message
}

// New plans the migration of a session, which must have been read completely. The error is a
// *sessionfmt.Error with a hint: the file is newer than supported, or has no header for the
// version.
func New(s *sessionfmt.Session, opt Options) (*Plan, error) {
	if opt.To == 0 {
		opt.To = newest
	}
	refused := func(err error, hint string) (*Plan, error) {
		return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: err, Hint: hint}
	}
	switch {
	case opt.To < 2 || opt.To > newest:
		return refused(fmt.Errorf("cannot migrate to version %d", opt.To), "the version must be 2 or 3")
	case opt.Compaction != "" && !slices.Contains(Compactions, string(opt.Compaction)):
		return refused(fmt.Errorf("unknown form of compaction %q", opt.Compaction), "")
	case s.Coverage.Partial:
		return refused(errors.New("only the end of the file was read"), "")
	case s.Version > newest:
		return refused(fmt.Errorf("format version %d is newer than %d", s.Version, newest),
			"a newer ctxtool may support it")
	case s.Header() < 0:
		return refused(errors.New("no session header for the version"), "run ctxtool repair")
	}
	if err := s.Foreign(); err != nil {
		return nil, err
	}
	p := &Plan{
		From: s.Version, To: max(opt.To, s.Version), s: s, turn: map[int]int{},
		Compaction: opt.Compaction, Rules: opt.Rules.Decide(s, s.Leaf()),
	}
	if p.Compaction == Auto || p.Compaction == "" {
		p.Compaction = Native
		if p.Rules == replay.ByEnvelope {
			p.Compaction = Pair
		}
	}
	if p.Compaction == Native {
		return p, nil
	}
	if err := p.decide(); err != nil {
		return nil, err
	}
	return p, nil
}

// Current reports whether nothing has to be done. The file then stays byte for byte, including
// broken lines.
func (p *Plan) Current() bool { return p.From == p.To && len(p.turn) == 0 }
