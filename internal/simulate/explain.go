package simulate

import (
	"cmp"
	"fmt"
	"slices"

	"ctxtool/compact"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A Decision is why a policy kept or changed each message before a request.
//
// It is schema ctxtool/simulate.explain/1.
type Decision struct {
	Schema  string    `json:"schema"`
	Policy  string    `json:"policy"`
	Request int       `json:"request"`
	Window  int64     `json:"window"`
	Counter string    `json:"counter"`
	Layers  []Judged  `json:"layers"`
	Items   []Decided `json:"messages"` // the newest first; only tool results if the policy prunes
}

// A Judged is a layer and its trigger.
type Judged struct {
	Pass    string  `json:"pass"`
	Trigger string  `json:"trigger,omitempty"` // absent if the layer always runs
	Limit   float64 `json:"limit,omitempty"`   // tokens
	Used    int64   `json:"used"`              // tokens of the context before the layer
	Fired   bool    `json:"fired"`
	Changes int     `json:"changes"`
}

// A Decided is a message and what the policy did to it.
type Decided struct {
	Entry   string `json:"entry"`
	Line    int    `json:"line"`
	What    string `json:"what"`
	Tokens  int    `json:"tokens"`
	Running int    `json:"running"` // tokens of this message and all newer ones of the list
	Action  string `json:"action"`  // keep, or that of the change
	Now     int    `json:"nowTokens,omitempty"`
	Why     string `json:"why"`
}

// A decided is a message that the policy judges.
type decided struct {
	message, tokens, result int
	what                    string
}

// before records the messages that the policy judges.
func (w *walk) before() error {
	all, err := w.keeper.Items()
	for _, it := range all {
		one := decided{it.Message, it.Tokens, it.Result, it.Kind.String()}
		if it.Result >= 0 {
			one.what = called(it.Tool, it.Args)
		}
		w.items = append(w.items, one)
	}
	return err
}

// explain records the decisions of a policy before request k.
func (w *walk) explain(k int, window int64, changes []Change) {
	d := &Decision{Schema: "ctxtool/simulate.explain/1", Policy: w.Name, Request: k, Window: window, Counter: w.Policy.Counter.Name, Items: []Decided{}}
	for _, l := range w.keeper.Layers {
		one := Judged{l.Pass, l.Trigger, l.Limit, l.Used, l.Fired, 0}
		for _, c := range changes {
			if c.Pass == l.Pass {
				one.Changes++
			}
		}
		d.Layers = append(d.Layers, one)
	}
	changed := map[int]*Change{}
	for i := range changes {
		changed[changes[i].Message] = &changes[i]
		for _, m := range changes[i].Gone {
			changed[m] = &changes[i]
		}
	}
	prune := w.Policy.Layer(&compact.Prune)
	for _, it := range slices.Backward(w.items) {
		if prune != nil && it.result < 0 && changed[it.message] == nil {
			continue
		}
		d.add(w, it, changed[it.message], prune)
	}
	w.run.Decision = d
}

// add adds a message, newer ones first.
func (d *Decision) add(w *walk, it decided, c *Change, prune *compact.Layer) {
	rec := w.path.Messages[it.message].Origin.Record
	one := Decided{Entry: sessionfmt.Quote(w.s.ID(rec)), Line: w.s.Line(rec), What: it.what, Tokens: it.tokens, Action: "keep"}
	newer := 0
	if n := len(d.Items); n > 0 {
		newer = d.Items[n-1].Running
	}
	if prune != nil {
		one.Tokens = max(0, it.result)
		switch {
		case c != nil:
		case it.result <= 100:
			one.Why = "at most 100 tokens"
		default:
			one.Why = fmt.Sprintf("the newer ones have at most %d tokens", prune.Protect)
		}
	}
	one.Running = newer + one.Tokens
	if c != nil {
		one.Action, one.Why, one.Now = c.Action, c.Why, c.Now
		if c.Message != it.message || len(c.Gone) > 0 {
			one.Now = 0
		}
	}
	d.Items = append(d.Items, one)
}

// called returns a call in a few words.
func called(tool string, args jsonl.Value) string {
	for arg := range args.Strings {
		return outline.FirstWords(tool + " " + arg.Text())
	}
	return cmp.Or(tool, jsonl.ToolResult.String())
}
