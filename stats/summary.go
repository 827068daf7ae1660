// Package stats counts: what a session holds, what it cost, how full it is.
package stats

import (
	"cmp"

	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Summary is what a session is about, in a line.
type Summary struct {
	ID        string
	Name      string // that it was given, empty for none
	First     string // first words of the first prompt
	Project   string // the folder that it belongs to
	Time      string // of the last entry, as it stands
	Model     replay.ModelRef
	Entries   int
	Context   int     // tokens of the context at the leaf, as pi takes it
	Estimated bool    // some of them are not from a recorded usage
	Cost      float64 // US dollars, of all branches
	Size      int64   // bytes
}

// Summarize sums a session up. Of the lines it reads those of answers, and few
// others.
func Summarize(s *sessionfmt.Session) (sum Summary, err error) {
	sum = Summary{Entries: s.Coverage.Entries, Size: s.Size()}
	lines := s.NewReader()
	var at sessionfmt.Cursor
	for i := range s.Len() {
		kind := s.Kind(i)
		switch kind {
		case sessionfmt.Header, sessionfmt.Assistant, sessionfmt.UsageEntry, sessionfmt.SessionInfo:
		case sessionfmt.User:
			if sum.First != "" && i != s.Leaf() {
				continue
			}
		default:
			if i != s.Leaf() {
				continue
			}
		}
		line, err := lines.Line(i)
		if err != nil {
			return sum, err
		}
		sum.take(&at, kind, line, i == s.Header())
		if i == s.Leaf() {
			sum.Time = line.Get("timestamp").Text()
		}
	}
	return sum, sum.context(s)
}

func (sum *Summary) take(at *sessionfmt.Cursor, kind sessionfmt.Kind, line sessionfmt.Value, header bool) {
	switch kind {
	case sessionfmt.Header:
		if header {
			sum.ID, sum.Project, sum.Time = line.Get("id").Text(), line.Get("cwd").Text(), line.Get("timestamp").Text()
		}
	case sessionfmt.User:
		sum.First = cmp.Or(sum.First, sessionfmt.Gist(kind, line))
	case sessionfmt.SessionInfo:
		sum.Name = sessionfmt.FirstWords(line.Get("name").Text())
	case sessionfmt.Assistant:
		for key := range at.Reset(line).Members {
			if string(key) == "message" {
				sum.pay(at)
			}
		}
	case sessionfmt.UsageEntry:
		sum.pay(at.Reset(line))
	}
}

// pay adds the cost of the object that comes next, by its usage.
func (sum *Summary) pay(at *sessionfmt.Cursor) {
	for key := range at.Members {
		if string(key) == "usage" {
			if cost, ok := at.Value().Get("cost").Get("total").Float(); ok {
				sum.Cost += cost
			}
		}
	}
}

// context fills in what the leaf's context says.
func (sum *Summary) context(s *sessionfmt.Session) error {
	e, err := replay.New(s, replay.Options{Rules: replay.ByPi, Leaf: s.Leaf()}).At(s.Leaf(), false)
	if err != nil {
		return err
	}
	u, err := e.ContextUsage(&tokens.Pi)
	if err != nil {
		return err
	}
	sum.Context, sum.Estimated = u.Tokens, u.Estimated > 0 || !u.Known
	sum.Model, _, _, err = e.Model()
	return err
}
