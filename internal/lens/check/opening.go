package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"maps"
	"slices"
)

// What pi does when it opens a file (docs/session-format.md 11, 12). In the first four cases
// it gets no context from the file.
const (
	refuses  = "refuses it"
	dies     = "runs out of memory"
	fails    = "fails to build a context"
	empties  = "shows an empty session"
	rewrites = "rewrites it as version 3"
	repeats  = "rewrites it each time"
	ends     = "adds a newline to it"
)

// opening returns what pi does when it opens the file, or "" if it only reads it, and for another
// agent's session.
func opening(s *sessionfmt.Session) string {
	read := func(codes ...string) bool {
		return slices.ContainsFunc(s.Findings,
			func(f sessionfmt.Finding) bool { return slices.Contains(codes, f.Code) })
	}
	if s.Dialect() != nil {
		return "" // it is not pi's
	}
	path, _ := s.Path(s.Leaf())
	switch {
	case read("no-header", "late-header", "header-id", "bom"):
		return refuses
	case s.Leaf() >= 0 && (len(path) == 0 || s.Parent(path[0]) >= 0): // a parent cycle
		return dies
	case read("scalar-leaf"):
		return empties
	case slices.ContainsFunc(path, func(i int) bool { return s.Kind(i) == jsonl.NoMessage }), throws(s, path):
		return fails
	case s.Version < 3:
		return rewrites
	case read("version"):
		return repeats
	case read("unterminated", "torn"):
		return ends
	}
	return ""
}

// throws reports whether the last edit of a message in the context has no replacement: pi
// throws an exception there (docs/session-format.md 5.6).
func throws(s *sessionfmt.Session, path []int) bool {
	lacks := map[int]bool{} // by target
	lines := s.NewReader()
	for _, rec := range path {
		if s.Kind(rec) != jsonl.ContextEdit {
			continue
		}
		line := lines.Entry(rec)
		lacks[s.FindValue(line.Get("targetId"))] = !line.Get("replacement").Exists()
	}
	maps.DeleteFunc(lacks, func(_ int, lacking bool) bool { return !lacking })
	return len(lacks) > 0 && lines.Err() == nil && reaches(s, lacks)
}

// reaches reports whether one of the messages that pi would edit is in its context.
func reaches(s *sessionfmt.Session, edited map[int]bool) bool {
	e, err := replay.New(s, replay.Options{Rules: replay.ByPi}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return false
	}
	for m, err := range e.Sources(func(replay.Message) bool { return false }) {
		if err != nil {
			return false
		}
		if rec := m.Origin.Record; edited[rec] && s.Kind(rec).Replaceable() {
			return true
		}
	}
	return false
}

// seen returns the size of the context at the leaf, zero if pi gets none from the file. For known, see
// [replay.Envelope.CountKnown].
func seen(s *sessionfmt.Session, known func(replay.Piece) (int, bool)) (Figures, error) {
	switch opening(s) {
	case refuses, dies, empties, fails:
		return Figures{}, nil
	}
	return measureBy(s, s.Leaf(), replay.Auto, known)
}
