package simulate

import (
	"math"
	"sort"
	"strings"

	"ctxtool/compact"
	"ctxtool/internal/lens/cache"
	"ctxtool/internal/lens/reuse"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A walk is a run of one policy along the path.
type walk struct {
	*session
	*Contender
	run       *Run
	keeper    *compact.Keeper
	system    int                             // tokens of system messages after the first message
	systems   int                             // how many there were
	kept      map[models.Ref]map[asked]prefix // the last requests, by what stands before them: only such share a cache
	cuts      []prefix                        // that keep no more than any after them
	compacted int                             // the last request before which the policy compacted

	used      int64 // tokens of the context as the provider would have counted the last request with its answer
	usedAt    int   // messages then
	summaries []summaryCall
	items     []decided // before the request to explain, and before a turn ended there
	judged    []Judged  // the layers then
	acted     bool      // this policy or the recorded one has changed the context
	closest   closest
	removals  *reuse.Removals
	regrets   []reuse.Regret // with Options.Regrets
	load      *replay.Reader // of a path that is replayed
}

// A prefix is a beginning of a request: all of it, or what it shares with those before it.
type prefix struct {
	request  int
	size     int64 // tokens
	messages int
}

// A closest is how close a trigger came to its limit, in tokens.
type closest struct {
	pass  string
	used  int64
	limit float64
	skip  string // why a layer that was triggered changed nothing
}

// near records how close the triggers of the last moment came.
func (w *walk) near() {
	for _, l := range w.keeper.Layers {
		if l.Fired && l.Trigger != "" && w.keeper.Skip != "" {
			w.closest.skip = l.Pass + " ran, but there was " + w.keeper.Skip
		}
		if l.Limit > 0 && (w.closest.limit == 0 || float64(l.Used)/l.Limit > float64(w.closest.used)/w.closest.limit) {
			w.closest = closest{l.Pass, l.Used, l.Limit, w.closest.skip}
		}
	}
}

// A summaryCall is a request for a summary, in counted tokens.
type summaryCall struct{ input, output int64 }

// Summaries are how the length of a summary, and its text, are found.
type Summaries struct {
	Ratio   float64           // of the summarized tokens, if Answer is nil
	Answer  compact.Summarize // writes real summaries
	Overall int               // the most tokens of a summary by ratio; 0 for no limit
}

// summarize answers a request for a summary, and records what it takes.
func (w *walk) summarize(r compact.Request) (text string, err error) {
	n := r.Size()
	if answer := w.Summaries.Answer; answer != nil {
		if text, err = answer(r); err != nil {
			return "", err
		}
	} else {
		words := max(1, int(math.Round(float64(n)*w.Summaries.Ratio)))
		text = strings.Repeat("sum ", words) // four bytes, and a token of every counter
	}
	w.summaries = append(w.summaries, summaryCall{int64(n), int64(tokens.Pi.Of(len(text)))})
	return text, nil
}

// walk adds the messages of the path, and lets the policy act at its moments.
func (w *walk) walk(keeper *compact.Keeper) error {
	w.keeper = keeper
	begun := false
	for k, answer := range w.answers {
		row := w.rows[k]
		window := w.windows[k]
		var all []Change
		explained := w.Explained && k == w.Explain && w.Policy != nil
		act := func(turnEnds bool) error {
			if explained {
				if err := w.before(); err != nil {
					return err
				}
			}
			changes, err := w.keeper.Act(turnEnds, w.usage(), window, w.front)
			for _, c := range changes {
				all = append(all, w.change(&c, k))
			}
			w.near()
			if explained {
				w.judged = append(w.judged, w.layers(changes)...)
			}
			return err
		}
		for w.keeper.Messages() <= answer-1 {
			i := w.keeper.Messages()
			m := &w.path.Messages[i]
			if m.Kind == jsonl.User && w.keeper.LastKind() == jsonl.Assistant {
				if err := act(true); err != nil {
					return err
				}
			}
			w.keeper.Add()
			if begun = begun || m.Sent; begun && m.Kind == jsonl.System && w.own {
				w.system += w.path.Estimate(i)
				w.systems++
			}
		}
		if err := act(false); err != nil {
			return err
		}
		if explained {
			if err := w.explain(k, window, all); err != nil {
				return err
			}
		}
		w.request(k, row, window, all)
	}
	return nil
}

// usage returns the size of the context as the provider would have counted the last request and
// its answer, and an estimate of what came since; 0 before the first request.
func (w *walk) usage() int64 {
	n := w.used
	for i := w.usedAt; n > 0 && i < w.keeper.Messages(); i++ {
		if m := &w.path.Messages[i]; m.Sent {
			n += int64(w.path.Size(i))
		}
	}
	return n
}

// change records a change of the policy.
func (w *walk) change(c *compact.Change, k int) Change {
	out := Change{Pass: c.Pass, Action: string(c.Action), Entry: c.Entry, Line: c.Line, Was: c.Was, Now: c.Now,
		Why: c.Why, Message: c.Message, Gone: c.Gone()}
	if w.Options.Changes {
		out.Text = jsonl.UTF8(c.Text)
	}
	remove := func(i int, stays bool) {
		w.removals.Withdraw(i)
		w.removals.Remove(i, k, stays)
	}
	for _, i := range out.Gone {
		remove(i, false)
	}
	switch {
	case c.Message < 0 || c.Action == compact.Drop: // thinking; what the message says stays
		return out
	case len(out.Gone) == 0:
		remove(c.Message, c.Action == compact.Replace && 2*c.Now >= c.Was)
	}
	if c.Text != "" {
		w.removals.Stand(c.Message, jsonl.UTF8(c.Text))
	}
	return out
}

// request accounts for a request.
func (w *walk) request(k int, row *cache.Row, window int64, changes []Change) {
	x := w.keeper.Request()
	size := w.session.size
	folded := !w.own || !row.SystemInPlace() && !w.patched
	if now := &w.past.requests[k].tokens; folded {
		size.System, size.Tools = now.System, now.Tools
	}
	if x.Prompt != w.front && x.Prompt != nil {
		n := x.Prompt.Counts(&tokens.Pi)
		size.System, size.Tools = n.System, n.Tools
	}
	if !folded {
		size.System += w.system
	}
	size.Shares = x.Shares
	front := int64(size.System + size.Tools)
	counted := front + int64(x.Total())
	size.Total = counted + size.Hidden
	compacts := len(w.summaries) > 0
	w.acted = w.acted || len(changes) > 0 || w.past.requests[k].acts()
	context := w.shared(k, &cut{x.Messages, x.Kept, x.KeptSize, x.Again}, front, counted, compacts)
	context.Same = !w.acted
	judged := row.Instead(context)
	w.add(&Request{Request: k, Tokens: size, Messages: x.Messages, Window: window, Changes: changes}, &judged, compacts)
	w.used, w.usedAt = judged.Prompt+row.Output(), w.answers[k]+1
	if row.Output() == 0 {
		w.used = 0
	}
}

// A cut is what a request shares with the one before, as a keeper counts it.
type cut struct{ Messages, Kept, KeptSize, Again int }

// shared compares request k with the last one of the same model, prompt and thinking level.
func (w *walk) shared(k int, x *cut, counts, counted int64, compacts bool) cache.Context {
	row := w.rows[k]
	c := cache.Context{Counted: counted, Kept: -1, Again: counts + int64(x.KeptSize+x.Again), Cause: cache.CauseModel}
	kept := counts + int64(x.KeptSize)
	for n := len(w.cuts); n > 0 && w.cuts[n-1].size > kept; n-- {
		w.cuts = w.cuts[:n-1]
	}
	w.cuts = append(w.cuts, prefix{k, kept, x.Kept})
	if compacts {
		w.compacted = k
	}
	ofModel, front := w.kept[row.ModelRef()], asked{row.Thinking(), 0}
	if !row.SystemInPlace() {
		front.prompt = w.systems
	}
	switch last, sent := ofModel[front]; {
	case sent:
		c.Kept, c.Messages, c.Again, c.Cause = last.size, last.messages, 0, ""
		// The first of the smallest since then.
		since := w.cuts[sort.Search(len(w.cuts), func(i int) bool { return w.cuts[i].request > last.request }):]
		if least := since[0]; least.size < last.size {
			c.Kept, c.Messages = least.size, least.messages
			c.Again = kept + int64(x.Again) - least.size
			c.Cause = cache.CauseEdit
			if w.compacted > last.request {
				c.Cause = cache.CauseCompaction
			}
		}
	case len(ofModel) > 0 && !prompted(ofModel, front.prompt):
		c.Cause = cache.CauseSystem
	case len(ofModel) > 0:
		c.Kept, c.Again, c.Cause = counts, int64(x.KeptSize+x.Again), cache.CauseThinking
	case len(w.kept) == 0:
		c.Again, c.Cause = 0, ""
	}
	if !row.Unbilled() {
		if ofModel == nil {
			ofModel = map[asked]prefix{}
			w.kept[row.ModelRef()] = ofModel
		}
		ofModel[front] = prefix{k, counted, x.Messages}
	}
	return c
}

// An asked is what stands before the messages of a request: a hash of the thinking level, and the number of system
// messages in the prompt, 0 where they stand in place.
type asked struct {
	thinking uint64
	prompt   int
}

// prompted reports whether a request had a prompt.
func prompted(all map[asked]prefix, prompt int) bool {
	for a := range all {
		if a.prompt == prompt {
			return true
		}
	}
	return false
}
