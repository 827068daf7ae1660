package doctor

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats"
)

// A context is full from this share of its window on; a reduction leaves room if it comes below the
// second.
const (
	fullShare  = 0.9
	roomyShare = 0.75
)

// full returns the reduction of a context that fills its window, or that its agent is about to compact:
// by the passes that need no summary if they leave room, else by a compaction.
func (x *exam) full() ([]Line, error) {
	c := &x.Figures.Context.Sessions[0]
	if c.Window == 0 || c.WindowFrom == "recorded" { // then it is at least as large as that
		return nil, nil
	}
	limit, trigger := c.Window, compact.AgentTrigger(x.Agent)
	if trigger != nil {
		limit = min(limit, trigger.Limit(c.Window))
	}
	if used := float64(c.Tokens); used < fullShare*float64(c.Window) && used < float64(limit) {
		return nil, nil
	}
	l, err := x.relief(c, int(roomyShare*float64(limit)))
	if err != nil || l == nil {
		return nil, err
	}
	l.Kind, l.weight = "full", breaks-1
	l.Text = fmt.Sprintf("the context is %s%s of the window: %s; ", phrase.If(c.Usage.Estimated > 0, "~"),
		phrase.Percent(*c.Share), strings.Join(x.largest(), ", "))
	left := limit - int64(c.Tokens)
	room := phrase.If(left >= 0, "%s left", phrase.Short(left)) + phrase.If(left < 0, "%s over", phrase.Short(-left))
	if trigger == nil {
		l.Text += room
	} else {
		l.Text += fmt.Sprintf("%s compacts %s, %s tokens: %s", x.Agent, trigger, phrase.Short(limit), room)
	}
	return []Line{*l}, nil
}

// largest returns the largest kinds of content of the context.
func (x *exam) largest() (all []string) {
	for _, f := range x.Fills[:min(3, len(x.Fills))] {
		all = append(all, f.String())
	}
	return all
}

// relief returns the line of a reduction, which brings a context to a size if one does; nil if there is
// nothing to reduce.
func (x *exam) relief(c *stats.SessionContext, roomy int) (best *Line, err error) {
	v, err := compact.NewView(x.end, nil)
	if err != nil {
		return nil, err
	}
	var layers []compact.Layer
	flags := ""
	for _, w := range weights {
		layers = append(layers, compact.Layer{Pass: w.pass, Options: w.pass.Defaults})
		flags += " --pass " + w.pass.Name
	}
	summarize, err := compact.OpenSummarizer("extract", compact.SummaryOptions{})
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		verb, flags string
		layers      []compact.Layer
	}{
		{"reduce", flags, layers},
		{"compact", "", []compact.Layer{{Pass: &compact.Compact, Options: compact.Compact.Defaults}}},
	} {
		l, _, err := x.plan(v, x.writing(one.verb, one.flags), summarize, one.layers...)
		if err != nil {
			return nil, err
		}
		if l != nil && (best == nil || l.Saves > best.Saves) {
			best = l
		}
		if best != nil && c.Tokens-best.Saves <= roomy {
			return best, nil
		}
	}
	return best, nil
}

// String returns a fill in words.
func (f Fill) String() string {
	name := f.Category
	if name == "rest" {
		name = "not in the file"
	}
	return name + " " + phrase.Short(int64(f.Tokens))
}

// fills takes what fills the context.
func (x *exam) fills() {
	for _, in := range x.Figures.Context.Categories {
		k := slices.IndexFunc(x.Fills, func(f Fill) bool { return f.Category == in.Category })
		if k < 0 {
			k = len(x.Fills)
			x.Fills = append(x.Fills, Fill{Category: in.Category})
		}
		x.Fills[k].Tokens += in.Tokens
	}
	x.Fills = slices.DeleteFunc(x.Fills, func(f Fill) bool { return f.Tokens <= 0 || f.Category == "ephemeral" })
	sorting.By(x.Fills, func(a, b Fill) int { return b.Tokens - a.Tokens })
}
