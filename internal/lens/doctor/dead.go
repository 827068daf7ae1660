package doctor

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt/jsonl"
)

// A weighting is a pass that removes dead weight, and what it removes in words.
type weighting struct {
	pass  *compact.Pass
	thing string // that it changes
	which string
	word  bool // it is a command by its own name
}

// weights are the passes that need no summary, those that lose least first.
var weights = []weighting{
	{&compact.Superseded, "result", " that a newer read of the file repeats, or that says nothing", false},
	{&compact.RetryPrune, "message", " of failed calls that were made again", false},
	{&compact.DropImages, "older image", "", false},
	{&compact.Truncate, "result", " over 30000 bytes", false},
	{&compact.Prune, "old tool result", "", true},
}

// The savings that matter: a share of the context, and requests after which a saving has to have paid.
const (
	least = 0.01
	soon  = 30
)

// matters reports whether it is worth a line that a request has so many tokens less.
func (x *exam) matters(tokens int) bool {
	return tokens > 0 && float64(tokens) >= least*float64(x.Figures.Context.Sessions[0].Tokens)
}

// dead returns what each pass would remove from the context, and all of them together.
func (x *exam) dead() (all []Line, err error) {
	v, err := compact.NewView(x.end, nil)
	if err != nil {
		return nil, err
	}
	var worth []compact.Layer
	var names []string
	flags := ""
	for _, w := range weights {
		layer := compact.Layer{Pass: w.pass, Options: w.pass.Defaults}
		verb, flag := "reduce", " --pass "+w.pass.Name
		if w.word {
			verb, flag = w.pass.Name, ""
		}
		l, r, err := x.plan(v, x.writing(verb, flag), nil, layer)
		if err != nil {
			return nil, err
		}
		if l == nil || !x.pays(l, r) {
			continue
		}
		l.Text = phrase.Count(len(r.Changes), w.thing) + w.which
		if w.pass == &compact.Prune && !x.Brief {
			if l.Text, err = x.olds(v, r.Changes, l.Text); err != nil {
				return nil, err
			}
		}
		all, worth, names = append(all, *l), append(worth, layer), append(names, w.pass.Name)
		flags += " --pass " + w.pass.Name
	}
	if len(worth) < 2 {
		return all, nil
	}
	l, r, err := x.plan(v, x.writing("reduce", flags), nil, worth...)
	if err != nil || l == nil || !x.pays(l, r) {
		return all, err
	}
	for _, one := range all {
		if one.Saves >= l.Saves { // a pass leaves less to those after it
			return all, nil
		}
		l.weight = min(l.weight, one.weight)
	}
	l.Kind, l.Text = "together", strings.Join(names, ", ")+" at once: the cache is written again only once"
	return append(all, *l), nil
}

// plan returns the line of what a command does to the context by these passes, without its text, and the
// plan; no line if it changes little.
func (x *exam) plan(v *compact.View, command string, summarize compact.Summarize, layers ...compact.Layer) (*Line,
	*compact.Reduction, error) {
	p := &compact.Policy{Window: compact.PiPolicy.Window, Counter: layers[0].Pass.Defaults.Counter, Layers: layers}
	var names []string
	for _, l := range layers {
		names = append(names, l.Pass.Name)
	}
	p.Name = strings.Join(names, ",")
	job := compact.Job{Policy: p, Unmarked: true, Models: x.Options.Stats.Replay.Models, Summarize: summarize}
	r, err := job.PlanView(v)
	if err != nil || r.Skipped != "" || len(r.Changes) == 0 || !x.matters(r.Before-r.After) {
		return nil, nil, err
	}
	l := &Line{Kind: "context", Command: command, Saves: r.Before - r.After, Counter: r.Counter, Once: r.Cache.Cost}
	l.Tokens, l.weight = int64(l.Saves), x.carrying(int64(l.Saves))
	return l, r, nil
}

// pays reports whether the saving of a plan soon exceeds its cost, and sets after how many requests.
func (x *exam) pays(l *Line, r *compact.Reduction) bool {
	requests := math.Ceil(*cmp.Or(l.Once, new(usualWrite*float64(r.Cache.Written))) / l.weight)
	if requests > soon {
		return false
	}
	if l.Once != nil {
		l.PaysBack, l.Prompts = int(requests), int(math.Ceil(requests/x.pace))
	}
	return true
}

// recent are the requests whose answers show what is still in use.
const recent = 10

// olds adds to a text how many of the results that a plan replaces no answer used, and how many the last
// answers did.
func (x *exam) olds(v *compact.View, changes []compact.Change, text string) (string, error) {
	terms, err := reuse.NewIndex(x.end)
	if err != nil {
		return "", err
	}
	since, answers := x.end.Len(), 0
	for ; since > 0 && answers < recent; since-- {
		if x.end.Piece(since-1).Kind() == jsonl.Assistant {
			answers++
		}
	}
	uses, never, still := terms.LastUses(), 0, 0
	for _, c := range changes {
		switch last := uses[v.Messages[c.Message].Index]; {
		case last == 0:
			never++
		case last >= since:
			still++
		}
	}
	return fmt.Sprintf("%s: no answer used %d of them, the last %s used %d", text, never,
		phrase.Count(answers, "answer"), still), nil
}
