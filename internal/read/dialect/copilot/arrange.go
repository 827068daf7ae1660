package copilot

import (
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An arranger makes the entries of a log: those of the session, and beside them those of its sub-agents, which
// write into the same file.
type arranger struct {
	agents map[string]*agent // by id; the session's own has none
	order  []*agent
	beside map[string]dialect.Span // lines that others need: pictures, commands, hooks by their ids, skills by name
	next   rule.Set                // of the next entry
	reader *jsonl.HeadReader
	begun  bool
	older  bool // a version that sends results in the order in which calls ended
}

// An agent is what the file has of one of them so far.
type agent struct {
	name     string
	leaf     int             // -1 for none
	asked    []dialect.Span  // its prompts
	since    []dialect.Span  // messages since a summary was asked for, nil for none
	before   int             // prompts before that
	called   dialect.Span    // the last answer
	calls    []string        // the ids of its calls
	waiting  bool            // for their results
	skills   bool            // a skill was loaded
	held     []*dialect.Line // messages that come after the results
	results  []*dialect.Line // that came, in the order in which calls ended
	usage    *dialect.Line   // of the answer to come
	chosen   *dialect.Line   // another model, which no answer has used
	provider string          // of the last answer
	api      rule.Set        // its interface, if that matters
	used     []dialect.Span  // the usage that names it
	model    string
	thought  []string // models whose reasoning is signed
}

func newArranger() dialect.Arranger {
	reader := jsonl.NewHeadReader(jsonl.Pick{Message: answerFields, As: jsonl.Names{Message: "data"}})
	return &arranger{agents: map[string]*agent{}, beside: map[string]dialect.Span{}, reader: reader}
}

// answerFields are the fields of an answer, and of its usage, that the arranger looks at.
var answerFields = []string{"apiCallId", "model", "toolRequests", "content", "reasoningText", "reasoningOpaque",
	"encryptedContent", "reasoningBlocks", "usage"}

// read returns the answerFields of a line in one pass, valid until the next one is read.
func (a *arranger) read(t dialect.Tree, at dialect.Span) []jsonl.Value {
	p, err := a.reader.Read(t.Read(at))
	if err != nil { // which the tree has reported: it has no line then
		return make([]jsonl.Value, len(answerFields))
	}
	return p.Message
}

// Next implements [dialect.Arranger].
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
		a.beside[string(l.Ref)] = l.At
	case shell:
		a.beside[t.Read(l.At).Get("data").Get("toolCallId").Text()] = l.At
	case skill:
		of.skills = true
		a.beside[skillPrefix+t.Read(l.At).Get("data").Get("name").Text()] = l.At
	case hookStart:
		a.beside[t.Read(l.At).Get("data").Get("hookInvocationId").Text()] = l.At
	case hookEnd:
		a.hooked(t, of, l)
	case delivered, notice:
		a.told(t, of, l)
	case usage:
		a.unanswered(t, of)
		of.usage = l.Clone()
	case result:
		if _, ok := a.beside[string(l.Ref)]; ok { // a command of the user
			a.told(t, of, l)
		} else {
			if l.Rules.Has(failure) && t.Read(l.At).Get("data").Get("error").Get("code").Is("interrupted") {
				l.Rules |= rule.Of(died)
			}
			of.results = append(of.results, l.Clone())
		}
	case system:
		a.flush(t, of, l)
		a.add(t, of, rule.System, jsonl.System, l)
	case prompt:
		a.flush(t, of, l)
		switch source := t.Read(l.At).Get("data").Get("source").Text(); {
		case source == "autopilot": // which is in no summary
		case source != "" && !strings.HasPrefix(source, "agent-"):
			l.Rules |= rule.Of(otherSource)
			fallthrough
		default:
			of.asked = append(of.asked, l.At)
		}
		a.add(t, of, rule.Prompt, jsonl.User, l, a.pictures(t, l)...)
	case answer:
		a.answer(t, of, l)
	case aborted:
		a.flush(t, of, l)
		a.next |= rule.Of(interruption)
	case compacting:
		a.flush(t, of, l)
		of.since, of.before = []dialect.Span{}, len(of.asked)
	case compacted, cancelled:
		a.compacted(t, of, l)
	default:
		a.add(t, of, rule.Unread, jsonl.Unknown, l)
	}
}

// skillPrefix begins the source of a skill that is given to the model.
const skillPrefix = "skill-"

// hooked adds what a hook adds to the context. What hooks add to a prompt is in the prompt.
func (a *arranger) hooked(t dialect.Tree, of *agent, l *dialect.Line) {
	f := t.Read(l.At).Get("data").All("hookType", "output", "hookInvocationId")
	typ, id := f[0].Text(), f[2].Text()
	text := f[1].Get("additionalContext").IsString()
	if !f[1].Truthy() || string(f[1]) == "{}" || typ == "userPromptSubmitted" {
		return
	}
	switch typ {
	case "sessionStart":
		at, ok := a.beside[id]
		if source := t.Read(at).Get("data").Get("input").Get("source"); ok && source.Is("resume") {
			return
		} else if ok && source.Is("new") && text {
			a.told(t, of, l)
			return
		}
	case "preToolUse":
		a.next |= rule.Of(hookRefusal)
		return
	case "postToolUse", "postToolUseFailure":
		a.next |= rule.Of(hookResult)
		return
	}
	a.next |= rule.Of(hooked)
}

// End implements [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) {
	for _, of := range a.order {
		a.flush(t, of, nil)
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
	switch {
	case of.since != nil && l.Code == interrupted: // which has no line of its own
		a.next |= rule.Of(rule.Unread)
	case of.since != nil && kind.IsTurn():
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
	a.flush(t, of, l)
	f := a.read(t, l.At)
	id, name := f[0].Text(), f[1].Text()
	of.calls = nil
	for c := range f[2].Elements {
		of.calls = append(of.calls, c.Get("toolCallId").Text())
	}
	l.Rules |= rule.If(of.calls == nil && isBlank(f[3]), blank) | rule.If(isUnsigned(f[4], f[5], f[6]), unsigned) |
		rule.If(isSealed(f[7]), sealed)
	if of.calls != nil && id == "" && name == "" { // the program looks at what has ended
		a.add(t, of, ownCall, jsonl.Assistant, l)
		t.Unanswered(ownCall, of.leaf)
		of.called, of.waiting = l.At, true
		return
	}
	var used []dialect.Span
	provider, api := of.provider, of.api
	if of.usage != nil {
		u := a.read(t, of.usage.At)[8].All("apiCallId", "apiEndpoint", "isByok", "providerType")
		if u[0].Is(id) {
			provider, used = providerBy(u[2], u[3]), []dialect.Span{of.usage.At}
			api = rule.If(u[1].Is("/responses"), responses)
			of.usage, of.used = nil, used
		}
	}
	a.unanswered(t, of)
	if name != "" && (name != of.model || provider != of.provider || api != of.api) {
		by := *l
		by.Rules, of.api = api, api
		a.ask(t, of, &by, provider, name)
	}
	of.chosen = nil
	a.add(t, of, rule.Answer, jsonl.Assistant, l, used...)
	of.called, of.waiting = l.At, of.calls != nil
	if l.Rules.Has(rule.Thinking) && !slices.Contains(of.thought, name) {
		of.thought = append(of.thought, name)
	}
}

// isUnsigned reports whether an answer has reasoning without a signature of the Messages API or of Chat Completions.
// The process that got it sends it, and none that resumes the session does.
func isUnsigned(text, opaque, encrypted jsonl.Value) bool {
	return encrypted.IsString() || len(text) > len(empty) && !opaque.IsString()
}

// isSealed reports whether an answer has other reasoning than one block that can be read.
func isSealed(reasoning jsonl.Value) bool {
	n := 0
	for b := range reasoning.Get("blocks").Elements {
		if n++; n > 1 || !b.Get("type").Is("thinking") {
			return true
		}
	}
	return false
}

// compacted adds the usage of a request for a summary, and if that takes effect what replaces the history: prompts,
// then, after the line itself, the messages that came while it was written, which stay.
func (a *arranger) compacted(t dialect.Tree, of *agent, l *dialect.Line) {
	a.flush(t, of, l)
	if f := t.Read(l.At).Get("data").All("compactionTokensUsed", "statusCode"); f[0].IsObject() || !f[1].Exists() {
		a.add(t, of, rule.Aside, jsonl.UsageEntry, l, of.used...) // a request that is refused costs nothing
	}
	since, before := of.since, of.before
	if since == nil {
		before = len(of.asked)
	}
	of.since = nil
	if l.Code == compacted {
		more := append(append(slices.Clone(of.asked[:before]), l.At), since...)
		l.Rules |= rule.If(len(since) > 0, keptSince) | rule.If(of.skills, skillSummary)
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
		l.Rules |= rule.Of(unrecorded)
		a.add(t, of, rule.Aside, jsonl.UsageEntry, l)
	}
}

// flush adds the results of the last answer, in the order of its calls; older versions send them as they came. by is
// the line that comes after them, nil at the end. If it ends the turn, calls without a result were interrupted.
func (a *arranger) flush(t dialect.Tree, of *agent, by *dialect.Line) {
	if !of.waiting && of.results == nil {
		return
	}
	var order []string
	var call []dialect.Span
	if of.waiting {
		call, order = []dialect.Span{of.called}, of.calls
	}
	all, had := of.results, call
	for _, l := range of.results {
		had = append(had, l.At)
	}
	of.results, of.waiting = nil, false
	ends := by != nil && slices.Contains([]dialect.Code{prompt, system, aborted, compacting}, by.Code)
	for _, id := range order {
		switch had := slices.ContainsFunc(all, func(l *dialect.Line) bool { return string(l.Ref) == id }); {
		case had:
		case ends:
			l := by.Clone()
			l.Code, l.Ref, l.Rules = interrupted, []byte(id), 0
			all = append(all, l)
		default: // the model has answered after it
			a.next |= rule.Of(lost)
		}
	}
	if !a.older {
		place := func(l *dialect.Line) int { return slices.Index(order, string(l.Ref)) }
		slices.SortStableFunc(all, func(a, b *dialect.Line) int { return place(a) - place(b) })
	}
	for _, l := range all {
		if l.Code == interrupted {
			a.add(t, of, unanswered, jsonl.ToolResult, l, had...)
		} else {
			a.add(t, of, rule.Result, jsonl.ToolResult, l, call...)
		}
	}
	held := of.held
	of.held = nil
	for _, l := range held {
		a.told(t, of, l)
	}
}

// told adds what the program tells the model, after the results of calls that are still to come.
func (a *arranger) told(t dialect.Tree, of *agent, l *dialect.Line) {
	if of.waiting && len(of.results) < len(of.calls) {
		of.held = append(of.held, l.Clone())
		return
	}
	a.flush(t, of, l)
	by, more := noticed, []dialect.Span(nil)
	switch l.Code {
	case result:
		by, more = userShell, []dialect.Span{a.beside[string(l.Ref)]}
		if l.Rules.Has(failure) {
			l.Rules = rule.Of(failedShell)
		}
	case hookEnd:
		by = hookContext
	case delivered:
		at, ok := a.beside[t.Read(l.At).Get("data").Get("source").Text()]
		if !ok {
			a.add(t, of, rule.Unread, jsonl.Unknown, l)
			return
		}
		by, more = skilled, []dialect.Span{at}
	}
	a.add(t, of, by, jsonl.User, l, more...)
}

// pictures returns the lines with the pictures of a prompt.
func (a *arranger) pictures(t dialect.Tree, l *dialect.Line) (all []dialect.Span) {
	if !l.Rules.Has(attachedFile) {
		return nil
	}
	for p := range t.Read(l.At).Get("data").Get("attachments").Elements {
		if at, ok := a.beside[p.Get("assetId").Text()]; ok {
			all = append(all, at)
		}
	}
	return all
}

// github is the provider of sessions that do not name another one.
const github = "github-copilot"

// providerOf returns the provider that a usage names.
func providerOf(usage jsonl.Value) string {
	f := usage.All("isByok", "providerType")
	return providerBy(f[0], f[1])
}

// providerBy returns the provider by two fields of a usage: whether the user has a key of their own, and whose
// it is.
func providerBy(byok, typ jsonl.Value) string {
	if byok.Truthy() && typ.IsString() {
		return typ.Text()
	}
	return github
}

// chosenModel returns the model that a line chooses, empty for none.
func chosenModel(line jsonl.Value) string {
	f := line.Get("data").All("newModel", "selectedModel")
	return jsonl.FirstText(f[0], f[1]).Text()
}
