// Package migrate upgrades old session files to the current format. Everything that is
// not about the shape survives: unknown members, their order, how numbers and
// texts are spelled, white space. A plan says beforehand what will be done; its
// changes, one for each line, make the new file:
//
//	plan, err := migrate.New(s, migrate.Options{})
//	...
//	err = sessionfmt.Rewrite(plan.Changes, out, quarantine)
//
// Entries of version 1 get the ids and parents that reading gives them in memory
// (see sessionfmt.Session), a first kept index becomes an id, and up to version 3
// the role hookMessage becomes custom. References by id that a version 1 file may
// hold are left as they are, as pi leaves them: they name ids that pi does not
// believe in, and a context_edit that found its target again would change what
// the model sees.
//
// Compactions may be turned into patches, see Compaction. One is turned only if
// the patch leaves the same envelope after every entry of the file, whatever comes
// below it; otherwise it stays, and Plan.Native says why.
//
// Lines that hold no entry leave a file that is made anew, for the quarantine. A
// file in which nothing is to be done is not made anew: all its lines stay.
package migrate

import (
	"errors"
	"fmt"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// newest is the version of the format that is written today.
const newest = 3

// Options say what to bring a file to. The zero value is fit for use.
type Options struct {
	To         int          // version of the format, 2 or 3; newest when 0
	Compaction Compaction   // what becomes of compactions
	Rules      replay.Rules // by which the file is read
}

// A Plan is what migrating a session will do.
type Plan struct {
	From, To   int          // versions; a file that is newer than asked for keeps its own
	Compaction Compaction   // decided: Native, Pair or Transform
	Rules      replay.Rules // decided: of the file as it is
	Turned     int          // compactions that become patches
	// Native are the compactions that were to become patches and stay as they are,
	// with the reason. All are listed.
	Native []sessionfmt.Finding
	// Grown is by how many tokens the context that today's pi builds at the leaf
	// grows, since it does not see patches. It is 0 but for Transform.
	Grown int

	s    *sessionfmt.Session
	turn map[int]int // compactions to be turned: where in the request keeping starts
}

// New plans the migration of a session, all of which has to have been read. The
// error is a *sessionfmt.Error with what helps: the file is newer than we know, or
// has no header to hold a version.
func New(s *sessionfmt.Session, opt Options) (*Plan, error) {
	if opt.To == 0 {
		opt.To = newest
	}
	refused := func(err error, hint string) (*Plan, error) {
		return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: err, Hint: hint}
	}
	switch {
	case opt.To < 2 || opt.To > newest:
		return refused(fmt.Errorf("no way to version %d", opt.To), "versions to migrate to are 2 and 3")
	case opt.Compaction != "" && !slices.Contains(Compactions, string(opt.Compaction)):
		return refused(fmt.Errorf("unknown form of compactions %q", opt.Compaction), "")
	case s.Coverage.Partial:
		return refused(errors.New("only the end of the file was read"), "")
	case s.Version > newest:
		return refused(fmt.Errorf("format version %d is newer than %d", s.Version, newest), "a newer ctxtool may know it")
	case s.Header() < 0:
		return refused(errors.New("no session header, which holds the version"), "ctxtool repair gives it one")
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

// Current reports that nothing is to be done: the file stays byte for byte, its
// broken lines too.
func (p *Plan) Current() bool { return p.From == p.To && len(p.turn) == 0 }
