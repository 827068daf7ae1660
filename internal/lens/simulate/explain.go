package simulate

import (
	"cmp"
	"ctxtool/compact"
	"ctxtool/internal/read/outline"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"fmt"
	"path"
	"slices"
	"strings"
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
	Items   []Decided `json:"messages"` // newest first; only tool results if the policy prunes
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
	Entry  string `json:"entry"`
	Line   int    `json:"line"`
	What   string `json:"what"` // the call of a result, else the role and the first words
	Tokens int    `json:"tokens"`
	// tokens of this message and newer ones; of tool results only if the policy prunes
	Running int    `json:"running"`
	Action  string `json:"action"` // keep, or that of the change
	Now     int    `json:"nowTokens,omitempty"`
	Why     string `json:"why,omitempty"`
}

// A decided is a message that the policy judges.
type decided struct {
	message, tokens, result int
	what                    string // of a result, its call
}

// before records the messages that the policy judges, and that are not recorded yet.
func (w *walk) before() error {
	all, err := w.keeper.Items()
	for _, it := range all {
		if n := len(w.items); n > 0 && it.Message <= w.items[n-1].message {
			continue
		}
		one := decided{message: it.Message, tokens: it.Tokens, result: it.Result}
		if it.Result >= 0 {
			one.what = called(it.Tool, it.Args)
		}
		w.items = append(w.items, one)
	}
	return err
}

// layers returns the layers of the last moment, with their changes.
func (w *walk) layers(changes []compact.Change) (all []Judged) {
	for _, l := range w.keeper.Layers {
		one := Judged{l.Pass, l.Trigger, l.Limit, l.Used, l.Fired, 0}
		for i := range changes {
			if changes[i].Pass == l.Pass {
				one.Changes++
			}
		}
		all = append(all, one)
	}
	return all
}

// explain records the decisions of a policy before request k.
func (w *walk) explain(k int, window int64, changes []Change) error {
	d := &Decision{Schema: "ctxtool/simulate.explain/1", Policy: w.Name, Request: k, Window: window,
		Counter: w.Policy.Counter.Name, Layers: w.judged, Items: []Decided{}}
	changed := map[int]*Change{}
	for i := range changes {
		changed[changes[i].Message] = &changes[i]
		for _, m := range changes[i].Gone {
			changed[m] = &changes[i]
		}
	}
	prune, cut := w.Policy.Layer(&compact.Prune), false
	for _, c := range changes {
		cut = cut || len(c.Gone) > 0
	}
	records := make([]int, len(w.items))
	for i, it := range w.items {
		records[i] = w.path.Messages[it.message].Origin.Record
	}
	rows, err := outline.Rows(w.s, records)
	if err != nil {
		return err
	}
	for i, it := range slices.Backward(w.items) {
		if prune == nil || it.result >= 0 || changed[it.message] != nil {
			d.add(it, &rows[i], changed[it.message], prune, cut)
		}
	}
	w.run.Decision = d
	return nil
}

// add adds a message, newer ones first. For a policy that prunes, results have the tokens that it
// counts, and only they are in the running total. cut is set if a summary replaces messages.
func (d *Decision) add(it decided, row *outline.Row, c *Change, prune *compact.Layer, cut bool) {
	one := Decided{Entry: sessionfmt.Quote(row.ID), Line: row.Line,
		What: cmp.Or(it.what, strings.TrimSpace(row.Kind+" "+row.Text)), Tokens: it.tokens, Action: "keep"}
	if n := len(d.Items); n > 0 {
		one.Running = d.Items[n-1].Running
	}
	if prune != nil && it.result >= 0 {
		one.Tokens = it.result
	}
	if prune == nil || it.result >= 0 {
		one.Running += one.Tokens
	}
	switch {
	case c != nil:
		one.Action, one.Why, one.Now = c.Action, c.Why, c.Now
		if c.Message != it.message || len(c.Gone) > 0 {
			one.Now = 0
		}
	case cut:
		one.Why = "outside the summary"
	case prune == nil:
	case it.result <= prunable:
		one.Why = fmt.Sprintf("at most %d tokens", prunable)
	default:
		one.Why = fmt.Sprintf("within %d tokens", prune.Protect)
	}
	d.Items = append(d.Items, one)
}

// prunable is the size of the results, in tokens, that gsh never prunes.
const prunable = 100

// called returns a call in a few words, with the last two elements of an absolute path.
func called(tool string, args jsonl.Value) string {
	for arg := range args.Strings {
		text := arg.Text()
		if dir, file := path.Split(text); strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \n") {
			text = path.Join(path.Base(dir), file)
		}
		return outline.FirstWords(tool + " " + text)
	}
	return cmp.Or(tool, jsonl.ToolResult.String())
}
