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
	Context   int     // tokens of the context at the leaf; see replay.Envelope.InUse
	Estimated bool    // some of them are not from a recorded usage
	Cost      float64 // recorded, US dollars, of all branches; as the lens cost has it
	Size      int64   // bytes

	Calls *CostPart // what they used and cost
}

// Copies tells the calls of sessions that are in one of them already.
type Copies struct{ seen *onceOnly }

// Cost is what of a session's cost is for calls that a session before it has too, US
// dollars.
func (c *Copies) Cost(sum *Summary) (dollars float64) {
	if c.seen == nil {
		c.seen = newOnceOnly(0)
	}
	if sum.Calls == nil {
		return 0
	}
	for one := range sum.Calls.calls.all {
		if !c.seen.first(one.key) && one.pricing <= estimated {
			dollars += one.dollars
		}
	}
	return dollars
}

// Summarize opens a session file and sums it up. What it says of entries is taken
// while the file is indexed; found is the number of findings of that. Of opt it
// heeds what says where the file is and what it goes through.
func Summarize(name string, opt sessionfmt.Options) (sum Summary, found int, err error) {
	l := &Look{Options: &Options{}, Report: &Report{}}
	costLens.look(l)
	s, err := sessionfmt.Open(name, sessionfmt.Options{
		Stdin:   opt.Stdin,
		Disk:    opt.Disk,
		Workers: 1,
		Through: opt.Through,
		Visit: func() func(int64, sessionfmt.Kind, sessionfmt.Value) {
			return func(_ int64, kind sessionfmt.Kind, line sessionfmt.Value) { sum.take(kind, line) }
		},
		Pick:   callPick,
		Picked: func() func(*sessionfmt.Picked) { return l.call },
	})
	if err != nil {
		return sum, 0, err
	}
	defer s.Close()
	l.Session = s
	for _, see := range l.Indexed {
		if err := see(); err != nil {
			return sum, 0, err
		}
	}
	sum.Calls = l.Report.Cost
	sum.Entries, sum.Size, sum.Cost = s.Coverage.Entries, s.Size(), sum.Calls.Cost.Total
	return sum, len(s.Findings), sum.leaf(s)
}

// take is what a record adds to the summary.
func (sum *Summary) take(kind sessionfmt.Kind, line sessionfmt.Value) {
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
	e, _, err := replay.New(s, replay.Options{Leaf: s.Leaf()}).Reach(s.Leaf(), false)
	if err != nil {
		return err
	}
	u, err := e.InUse(&tokens.Pi)
	if err != nil {
		return err
	}
	sum.Context, sum.Estimated = u.Tokens, u.Estimated > 0
	sum.Model, _, _, err = e.Model()
	return err
}
