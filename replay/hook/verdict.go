package hook

import (
	"fmt"
	"slices"

	"ctxtool/internal/read/ops"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
)

// A Ruling is what the agent itself would do with an operation.
type Ruling string

// Rulings.
const (
	Apply  Ruling = "apply"
	Warn   Ruling = "warn"   // it applies, but probably not as intended
	Refuse Ruling = "refuse" // the request fails, and nothing of the result applies
)

// A Verdict is the ruling on one operation of a result.
type Verdict struct {
	Result int    `json:"result"` // number of the result, from 0
	Op     int    `json:"op"`     // number of the operation, from 0
	Name   string `json:"name"`   // of the operation
	Ruling Ruling `json:"ruling"` // `apply`, `warn` or `refuse`
	Rule   string `json:"rule,omitempty"`
	Text   string `json:"text,omitempty"` // why, if it does not simply apply
}

// Judge returns the verdicts on results by those rules of a boundary that do not depend on the context.
func Judge(reason Reason, all []Result) (out []Verdict) {
	for n, r := range all {
		k := 0
		for v := range r.Patch.Elements {
			one := Verdict{Result: n, Op: k, Name: sessionfmt.Quote(v.Get("op").Text()), Ruling: Apply}
			if f := ops.Check(k, v); f != nil {
				one.Ruling, one.Rule, one.Text = Refuse, f.Code, f.Text
			} else {
				one.scope(reason, v)
			}
			out = append(out, one)
			k++
		}
	}
	return out
}

// scope checks the scope of an operation that is otherwise valid.
func (v *Verdict) scope(reason Reason, op value) {
	own, scope := ops.Find(op.Get("op")).Scope(), op.Get("scope")
	switch {
	case reason != Ephemeral && !scope.Is("cached"):
		v.Ruling, v.Rule = Refuse, "patch-scope"
		v.Text = fmt.Sprintf("op %d (%s): a patch of %s may only hold ops with scope \"cached\"", v.Op, v.Name, reason)
	case reason != Ephemeral && own != "cached":
		v.Ruling, v.Rule = Warn, "patch-scope"
		v.Text = fmt.Sprintf("op %d (%s): stored, it adds its messages to every later request", v.Op, v.Name)
	case !scope.Is(own):
		v.Ruling, v.Rule = Warn, "patch-scope"
		v.Text = fmt.Sprintf("op %d (%s): scope must be %q", v.Op, v.Name, own)
	}
}

// Refused returns an error for the first refused operation, nil if there is none. name is the file with the
// results.
func Refused(name string, all []Verdict) error {
	k := slices.IndexFunc(all, func(v Verdict) bool { return v.Ruling == Refuse })
	if k < 0 {
		return nil
	}
	return sessionfmt.Errorf("%s (%s)", all[k].Text, all[k].Rule).In(name).
		Hinted("the agent would fail the request; ctxtool help patch-ops has the rules")
}

// warnings checks the operations of a result against the context: a is the context before the entry of the
// result, b the one after it.
func (r *Result) warnings(a, b *replay.Envelope, entry int) (all []Verdict, err error) {
	before := map[int]prompt.State{} // by operation, of those of the prompt
	of := func(o origin.Origin) bool { return o.Record == entry }
	next := 0
	err = b.PromptHistory(of, func(by origin.Origin, p *prompt.Fold) {
		if of(by) {
			next = by.Op + 1
		}
		before[next] = p.Kept()
	})
	if err != nil {
		return nil, err
	}
	messages, k, at := a.Cached(), 0, prompt.State{}
	for v := range r.Patch.Elements {
		if p, ok := before[k]; ok {
			at = p
		}
		for _, w := range warningsOf(v, &at, &messages) {
			all = append(all,
				Verdict{Op: k, Rule: w.Rule, Text: fmt.Sprintf("op %d (%s): %s", k, v.Get("op").Text(), w.Text)})
		}
		k++
	}
	now, err := b.Prompt()
	if err != nil {
		return nil, err
	}
	for _, t := range now.Omitted {
		if of(t.Origin) {
			all = append(all, Verdict{Op: t.Origin.Op, Rule: "unknown-tool",
				Text: fmt.Sprintf("op %d (tools_replace): nothing implements %s: the agent omits it", t.Origin.Op,
					sessionfmt.Quote(t.Name))})
		}
	}
	return all, nil
}

// warningsOf returns the warnings for an operation, given the prompt before it and the number of
// cached messages, which it updates.
func warningsOf(v value, p *prompt.State, messages *int) (all []Verdict) {
	warn := func(rule, format string, args ...any) {
		all = append(all, Verdict{Rule: rule, Text: fmt.Sprintf(format, args...)})
	}
	switch name := v.Get("op"); {
	case name.Is("system_part_remove"):
		part := v.Get("partName").Text()
		if known, _ := p.Has(part); !known {
			warn("unknown-part", "there is no part %s: nothing is removed, but the cache breaks",
				sessionfmt.Quote(part))
		}
	case name.Is("tools_remove"):
		for tool := range v.Get("toolNames").Elements {
			if _, known := p.Has(tool.Text()); !known {
				warn("unknown-tool", "there is no tool %s", sessionfmt.Quote(tool.Text()))
			}
		}
	case name.Is("options_set"):
		if v.Get("reasoning").IsNull() && v.Get("temperature").IsNull() && v.Get("maxTokens").IsNull() {
			warn("no-option", "it sets no option")
		}
	case name.Is(ops.Replace):
		*messages = 0
		for range v.Get("messages").Elements {
			*messages++
		}
	case name.Is(ops.Compaction):
		first, _ := v.Get("firstKeptMessageIndex").Float()
		if first < 0 || first > float64(*messages) || first != float64(int(first)) {
			warn("patch-index", "firstKeptMessageIndex is %s in a list of %d messages",
				v.Get("firstKeptMessageIndex"), *messages)
		}
		*messages = 1 + max(0, *messages-max(0, int(min(first, float64(*messages)))))
	}
	return all
}
