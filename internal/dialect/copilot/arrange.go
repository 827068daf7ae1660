package copilot

import (
	"bytes"
	"slices"

	"ctxtool/internal/dialect"
	"ctxtool/internal/rule"
	"ctxtool/sessionfmt/jsonl"
)

// An arranger makes the entries of a log: those of the session, and beside them those of its sub-agents, which
// write into the same file.
type arranger struct {
	agents map[string]*agent // by id; the session's own has none
	order  []*agent
	assets map[string]dialect.Span
	next   rule.Set // of the next entry
	begun  bool
	older  bool // a version that sends results in the order in which calls ended
}

// An agent is what the file has of one of them so far.
type agent struct {
	name     string
	leaf     int            // -1 for none
	asked    []dialect.Span // its prompts
	since    []dialect.Span // messages since a summary was asked for, nil for none
	before   int            // prompts before that
	called   dialect.Span   // the last answer with calls that wait for their results
	waiting  bool
	results  []*dialect.Line // that came, in the order in which calls ended
	usage    *dialect.Line   // of the answer to come
	chosen   *dialect.Line   // another model, which no answer has used
	provider string          // of the last answer
	used     []dialect.Span  // the usage that names it
	model    string
	thought  []string // models whose reasoning is signed
}

func newArranger() dialect.Arranger {
	return &arranger{agents: map[string]*agent{}, assets: map[string]dialect.Span{}}
}

// Next is of [dialect.Arranger].
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	if !a.begun {
		a.begin(t, l)
	}
	of := a.agent(string(l.Group))
	switch l.Code {
	case start, model:
		of.chosen = l.Clone()
	case resume:
		of.chosen, a.next = l.Clone(), a.next|rule.Of(resumed)
	case asset:
		a.assets[string(l.Ref)] = l.At
	case usage:
		a.unanswered(t, of)
		of.usage = l.Clone()
	case result:
		of.results = append(of.results, l.Clone())
	case system:
		a.flush(t, of)
		a.add(t, of, rule.System, jsonl.System, l)
	case prompt:
		a.flush(t, of)
		of.asked = append(of.asked, l.At)
		a.add(t, of, rule.Prompt, jsonl.User, l, a.pictures(t, l)...)
	case answer:
		a.answer(t, of, l)
	case aborted:
		a.flush(t, of)
		a.next |= rule.Of(interruption)
	case compacting:
		a.flush(t, of)
		of.since, of.before = []dialect.Span{}, len(of.asked)
	case compacted, cancelled:
		a.compacted(t, of, l)
	default:
		a.add(t, of, rule.Unread, jsonl.Unknown, l)
	}
}

// End is of [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) {
	for _, of := range a.order {
		a.flush(t, of)
		a.unanswered(t, of)
		if l := of.chosen; l != nil && of.name == "" {
			if name := chosenModel(t.Read(l.At)); name != "" && name != of.model {
				a.ask(t, of, l, of.provider, name)
			}
		}
	}
	if own := a.agents[""]; own != nil && t.Leaf() != own.leaf {
		t.Move(rule.Aside, own.leaf)
	}
}

// begin makes the header, of the first line.
func (a *arranger) begin(t dialect.Tree, l *dialect.Line) {
	a.begun = true
	header := *l
	header.ID, header.Rules = nil, 0
	if l.Code == start {
		f := t.Read(l.At).Get("data").All("sessionId", "copilotVersion")
		header.ID, a.older = []byte(f[0].Text()), f[1].IsString() && dialect.Older(f[1].Text(), "1.0.102")
	}
	t.Add(rule.Aside, jsonl.Header, &header)
}

func (a *arranger) agent(name string) *agent {
	of := a.agents[name]
	if of == nil {
		of = &agent{name: name, leaf: -1}
		a.agents[name], a.order = of, append(a.order, of)
	}
	return of
}

// add adds an entry of an agent.
func (a *arranger) add(t dialect.Tree, of *agent, by rule.Rule, kind jsonl.Kind, l *dialect.Line,
	more ...dialect.Span) {
	if t.Leaf() != of.leaf {
		t.Move(rule.Aside, of.leaf)
	}
	if of.name == "" {
		l.Rules |= a.next
		a.next = 0
	}
	of.leaf = t.Add(by, kind, l, more...)
	if of.since != nil && kind.IsTurn() {
		of.since = append(of.since, l.At)
	}
	if of.since != nil && kind == jsonl.User {
		of.since = append(of.since, more...)
	}
	if of.name != "" {
		t.Delegated(of.leaf)
	}
}

// answer adds an answer with its usage, after the model that gave it if that is another one.
func (a *arranger) answer(t dialect.Tree, of *agent, l *dialect.Line) {
	a.flush(t, of)
	data := t.Read(l.At).Get("data")
	f := data.All("apiCallId", "model", "toolRequests")
	id, name, calls := f[0].Text(), f[1].Text(), false
	for range f[2].Elements {
		calls = true
	}
	var used []dialect.Span
	provider := of.provider
	if of.usage != nil {
		if u := t.Read(of.usage.At).Get("data").Get("usage"); u.Get("apiCallId").Is(id) {
			provider, used = providerOf(u), []dialect.Span{of.usage.At}
			of.usage, of.used = nil, used
		}
	}
	a.unanswered(t, of)
	if name != "" && (name != of.model || provider != of.provider) {
		by := *l
		a.ask(t, of, &by, provider, name)
	}
	of.chosen = nil
	a.add(t, of, rule.Answer, jsonl.Assistant, l, used...)
	of.called, of.waiting = l.At, calls
	if l.Rules.Has(rule.Thinking) && !slices.Contains(of.thought, name) {
		of.thought = append(of.thought, name)
	}
}

// compacted adds the usage of a request for a summary, and if that takes effect what replaces the history: prompts,
// then, after the line itself, the messages that came while it was written, which stay.
func (a *arranger) compacted(t dialect.Tree, of *agent, l *dialect.Line) {
	a.flush(t, of)
	a.add(t, of, rule.Aside, jsonl.UsageEntry, l, of.used...)
	since, before := of.since, of.before
	if since == nil {
		before = len(of.asked)
	}
	of.since = nil
	if l.Code == compacted {
		more := append(append(slices.Clone(of.asked[:before]), l.At), since...)
		l.Rules |= rule.If(len(since) > 0, keptSince)
		a.add(t, of, rule.Compaction, jsonl.Transform, l, more...)
	}
}

// ask adds the choice of a model.
func (a *arranger) ask(t dialect.Tree, of *agent, l *dialect.Line, provider, name string) {
	other := of.model != "" && of.model != name
	l.Rules |= rule.If(other, otherModel) | rule.If(other && slices.Contains(of.thought, name), backAgain)
	of.provider, of.model = provider, name
	a.add(t, of, rule.Aside, jsonl.ModelChange, l)
	t.Asked([]byte(provider), []byte(name))
}

// unanswered adds the usage of an answer that is not in the file.
func (a *arranger) unanswered(t dialect.Tree, of *agent) {
	if l := of.usage; l != nil {
		of.usage = nil
		a.add(t, of, rule.Aside, jsonl.UsageEntry, l)
	}
}

// flush adds the results of the last answer, in the order of its calls; older versions send them as they came.
func (a *arranger) flush(t dialect.Tree, of *agent) {
	if !of.waiting && of.results == nil {
		return
	}
	var order [][]byte
	var call []dialect.Span
	if of.waiting {
		call = []dialect.Span{of.called}
		for c := range t.Read(of.called).Get("data").Get("toolRequests").Elements {
			order = append(order, []byte(c.Get("toolCallId").Text()))
		}
	}
	place := func(l *dialect.Line) int {
		return slices.IndexFunc(order, func(id []byte) bool { return bytes.Equal(id, l.Ref) })
	}
	if !a.older {
		slices.SortStableFunc(of.results, func(a, b *dialect.Line) int { return place(a) - place(b) })
	}
	a.next |= rule.If(len(order) > len(of.results), unanswered)
	all := of.results
	of.results, of.waiting = nil, false
	for _, l := range all {
		a.add(t, of, rule.Result, jsonl.ToolResult, l, call...)
	}
}

// pictures are the lines with the pictures of a prompt.
func (a *arranger) pictures(t dialect.Tree, l *dialect.Line) (all []dialect.Span) {
	if !l.Rules.Has(attachedFile) {
		return nil
	}
	for p := range t.Read(l.At).Get("data").Get("attachments").Elements {
		if at, ok := a.assets[p.Get("assetId").Text()]; ok {
			all = append(all, at)
		}
	}
	return all
}

// github is the provider of sessions that do not name another one.
const github = "github-copilot"

// providerOf is the provider that a usage names.
func providerOf(usage jsonl.Value) string {
	f := usage.All("isByok", "providerType")
	if f[0].Truthy() && f[1].IsString() {
		return f[1].Text()
	}
	return github
}

// chosenModel is the model that a line chooses, empty for none.
func chosenModel(line jsonl.Value) string {
	f := line.Get("data").All("newModel", "selectedModel")
	return jsonl.FirstText(f[0], f[1]).Text()
}
