// Package stats counts: what a session holds, what it cost, how full it is.
package stats

import (
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

// Summarize opens a session file and sums it up. What it says of entries is taken
// while the file is indexed; found is the number of findings of that. Of opt it
// heeds what says where the file is and what it goes through.
func Summarize(name string, opt sessionfmt.Options) (sum Summary, found int, err error) {
	var at sessionfmt.Cursor
	s, err := sessionfmt.Open(name, sessionfmt.Options{
		Stdin:   opt.Stdin,
		Disk:    opt.Disk,
		Workers: 1,
		Through: opt.Through,
		Visit: func() func(int64, sessionfmt.Kind, sessionfmt.Value) {
			return func(_ int64, kind sessionfmt.Kind, line sessionfmt.Value) { sum.take(&at, kind, line) }
		},
	})
	if err != nil {
		return sum, 0, err
	}
	defer s.Close()
	sum.Entries, sum.Size = s.Coverage.Entries, s.Size()
	return sum, len(s.Findings), sum.leaf(s)
}

// take is what a record adds to the summary.
func (sum *Summary) take(at *sessionfmt.Cursor, kind sessionfmt.Kind, line sessionfmt.Value) {
	switch kind {
	case sessionfmt.Header:
		if sum.Time == "" { // the first header is the session's
			sum.ID, sum.Project, sum.Time = line.Get("id").Text(), line.Get("cwd").Text(), line.Get("timestamp").Text()
		}
	case sessionfmt.User:
		if sum.First == "" {
			sum.First = sessionfmt.Gist(kind, line)
		}
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

// leaf fills in what the leaf says: when it was, how full the context is, and
// which model has it.
func (sum *Summary) leaf(s *sessionfmt.Session) error {
	if s.Leaf() >= 0 {
		line, err := s.NewReader().Line(s.Leaf())
		if err != nil {
			return err
		}
		sum.Time = line.Get("timestamp").Text()
	}
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
