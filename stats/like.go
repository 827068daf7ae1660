package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/phrase"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
)

// A like is another system, with its way of counting the context of a session.
type like struct {
	Name  string
	About string // one line for help

	read func(l *lensRun, to *likeness)
}

// likes are the systems in the order of output.
var likes = []*like{&likeYAgent, &likeSWE, &likeGsh}

// basis returns the policy of the system that the context is counted like, and the counter:
// the policy's, unless another was asked for.
func (o *Options) basis() (*compact.Policy, *tokens.Counter) {
	p, err := compact.FindPolicy(o.Like.Name)
	if err != nil {
		panic(err) // each of likes is one
	}
	if o.Asked {
		return p, cmp.Or(o.Counter, &tokens.Pi)
	}
	return p, p.Counter
}

// SetLike sets the other system that the context is counted like.
func (o *Options) SetLike(name string) error {
	for _, k := range likes {
		if k.Name == name {
			o.Like = k
			return nil
		}
	}
	return fmt.Errorf("unknown system %q: one of %s", name, strings.Join(LikeNames(), ", "))
}

// LikeNames returns the names of the systems.
func LikeNames() (names []string) {
	for _, k := range likes {
		names = append(names, k.Name)
	}
	return names
}

// A likeness holds the contexts of sessions as another system counts them. Only the field of the
// chosen system is set.
type likeness struct {
	YAgent []yAgent `json:"y-agent,omitempty"`
	SWE    []swe    `json:"swe-cli,omitempty"`
	Gsh    []gsh    `json:"gsh,omitempty"`
}

// plus returns the likeness with that of one more session.
func (k *likeness) plus(one *likeness, file string) *likeness {
	if k == nil {
		k = &likeness{}
	}
	k.YAgent = filed(k.YAgent, one.YAgent, file, func(y *yAgent) *string { return &y.File })
	k.SWE = filed(k.SWE, one.SWE, file, func(s *swe) *string { return &s.File })
	k.Gsh = filed(k.Gsh, one.Gsh, file, func(g *gsh) *string { return &g.File })
	return k
}

// sheets returns the tables of a likeness, none if it is nil.
func (k *likeness) sheets() (all []Sheet) {
	if k == nil {
		return nil
	}
	like := &likeGsh
	switch {
	case len(k.Gsh) > 0:
		all = []Sheet{gshSheet(k.Gsh)}
	case len(k.SWE) == 1:
		like, all = &likeSWE, k.SWE[0].sheets()
	case len(k.SWE) > 1:
		like, all = &likeSWE, []Sheet{sweSheet(k.SWE)}
	case len(k.YAgent) == 1:
		like, all = &likeYAgent, []Sheet{k.YAgent[0].sheet()}
	case len(k.YAgent) > 1:
		like, all = &likeYAgent, []Sheet{yAgentSheet(k.YAgent)}
	}
	for i := range all {
		all[i].Title = strings.TrimSuffix("like "+like.Name+", "+all[i].Title, ", ")
	}
	return all
}

// fullest returns the largest of a long list, and a note on the others.
func fullest[T any](list []T, size func(T) int) (some []T, notes []string) {
	if n := len(list) - most; n > 0 {
		notes = []string{fmt.Sprintf("%d more sessions are in -f json.", n)}
	}
	return largest(slices.Clone(list), most, size), notes
}

// windowRule says where windows come from, for tables without a column for it.
const windowRule = "The window is --window, else the baseline's, else the models table's, else the policy's own."

// likeGsh is gsh's estimate of the conversation, and when it would compact it
// (docs/policies.md 2.2, 2.5).
var likeGsh = like{
	Name:  "gsh",
	About: "gsh's estimate of the conversation, and its threshold",
	read:  likeGshReport,
}

func gshSheet(all []gsh) Sheet {
	s := Sheet{Columns: columns("session*", "estimate:tokens", "messages:number", "window:tokens", "from", "compacts above:tokens", "verdict")}
	var some []gsh
	some, s.Notes = fullest(all, func(g gsh) int { return g.Estimate })
	for _, g := range some {
		verdict := "goes on"
		if g.Compacts {
			verdict = "compacts"
		}
		s.row(cmp.Or(g.File, g.Session), About(g.Estimate), g.Messages, g.Limit, phrase.WindowFrom(g.LimitFrom), g.CompactsAbove, verdict)
	}
	return s
}

// A gsh is a context as gsh counts it: without prompt, tools and images.
type gsh struct {
	File          string  `json:"file,omitempty"`
	Session       string  `json:"session,omitempty"`
	Estimate      int     `json:"estimate"` // tokens
	Messages      int     `json:"messages"`
	Limit         int64   `json:"limit"`     // tokens
	LimitFrom     string  `json:"limitFrom"` // as windowFrom of a reduction
	Threshold     float64 `json:"compactThreshold"`
	CompactsAbove int     `json:"compactsAbove"` // tokens
	Compacts      bool    `json:"compacts"`
	Images        int     `json:"unestimatedBlocks"`
}

// GshThreshold is gsh's default compact_threshold.
const GshThreshold = 0.85

func likeGshReport(l *lensRun, to *likeness) {
	policy, counter := l.Options.basis()
	l.Ends = append(l.Ends, func(e *replay.Envelope) {
		g := gsh{Session: l.Report.ID, Threshold: GshThreshold}
		if l.CompactThreshold != nil {
			g.Threshold = *l.CompactThreshold
		}
		for m, err := range weighedBy(counter, e) {
			if l.fail(err); err != nil {
				return
			}
			g.Estimate += m.Tokens.Total()
			g.Images += len(m.Images)
			g.Messages++
		}
		var err error
		g.Limit, g.LimitFrom, err = policy.Limit(e)
		l.fail(err)
		g.CompactsAbove = gshCompactsAbove(g.Limit, g.Threshold)
		g.Compacts = g.Estimate > g.CompactsAbove
		to.Gsh = append(to.Gsh, g)
	})
}

// gshCompactsAbove returns the maximum tokens with which gsh continues: the product of two
// doubles, rounded towards zero.
func gshCompactsAbove(limit int64, threshold float64) int { return int(float64(limit) * threshold) }
