package stats

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A costReader reads the calls of a session. It allocates nothing per record.
type costReader struct {
	*lensRun
	part *CostPart

	next    int // number of the next record
	at      jsonl.Cursor
	keyBuf  []byte
	models  []paidModel    // the first one stands for calls without a recorded model
	modelAt map[string]int // by the concatenated names in their records
	rows    map[rowID]int32
	later   map[string]jsonl.Value // usages that replace those of answers, by entry
}

// A paidModel is a model used by calls, as records spell it.
type paidModel struct {
	provider, model, response jsonl.Value
	name                      string // as in pi's list of models
	asked                     bool   // the price table has been searched
	known                     bool   // the price table has the model
	prices                    models.Model
	largest                   jsonl.Usage // usage with the largest prompt
}

func newCostReader(l *lensRun) *costReader {
	by := l.By
	if len(by) == 0 {
		by = []string{"model"}
	}
	c := &costReader{
		lensRun: l, part: newCostPart(by), rows: map[rowID]int32{}, modelAt: map[string]int{},
		later:  map[string]jsonl.Value{},
		models: []paidModel{{provider: jsonl.Value(`"` + otherModels + `"`), name: otherModels, asked: true}},
	}
	l.Report.Cost = c.part
	return c
}

// take reads a record.
func (c *costReader) take(f *callRecord) {
	rec := c.next
	c.next++
	if f.Kind == jsonl.ChildUsage && f.Target.IsString() {
		c.later[f.Target.Text()] = slices.Clone(f.Usage)
	}
	if !f.Paid() || f.Delegated && c.NoSubAgents {
		return
	}
	m := c.model(f)
	var u jsonl.Usage
	used := f.used(&c.at, &u)
	if largest := &c.models[m].largest; f.Kind == jsonl.Assistant && u.Prompt() > largest.Prompt() {
		*largest = u
	}
	ms, dated := f.Time.Millis()
	if !c.Only.model(c.models[m].name) || !c.Only.time(ms, dated) {
		return
	}
	one := call{kind: kindOfCall(f), row: c.row(f, m, ms, dated), record: int32(rec)}
	if f.aside {
		one.record = -1
	}
	if f.ResponseID.IsString() {
		one.response = maphash.Bytes(responseSeed(), f.ResponseID)
	}
	c.price(&one, used, &u, m)
	id := models.CallRecord{ID: f.ID, Time: f.Time, Response: f.ResponseID, Shared: f.Shared, Usage: &u}
	one.id, c.keyBuf = id.Identify(c.keyBuf)
	c.each.called(f, &u, c.keyBuf)
	c.part.calls = append(c.part.calls, one)
}

// responseSeed is the seed of call.response.
var responseSeed = sync.OnceValue(maphash.MakeSeed)

func kindOfCall(f *callRecord) callKind {
	switch {
	case f.Delegated:
		return subAgentCall
	case f.Kind == jsonl.Assistant:
		return answerCall
	case f.Kind == jsonl.ToolResult:
		return toolCall
	case f.Kind != jsonl.UsageEntry:
		return summaryCall
	case f.For.Is("cache_warm"):
		return warmingCall
	case f.For.Is("compaction"): // of another agent
		return summaryCall
	}
	return otherCall
}

// model returns the index of a call's model, adding it if necessary; 0 if none is recorded.
func (c *costReader) model(f *callRecord) int {
	if !f.named() {
		return 0
	}
	c.keyBuf = append(append(append(c.keyBuf[:0], f.Provider...), 0), f.Model...)
	c.keyBuf = append(append(c.keyBuf, 0), f.Response...)
	at, ok := c.modelAt[string(c.keyBuf)]
	if !ok {
		at = len(c.models)
		c.modelAt[string(c.keyBuf)] = at
		m := paidModel{slices.Clone(f.Provider), slices.Clone(f.Model), slices.Clone(f.Response), f.modelName(), false,
			false, models.Model{}, jsonl.Usage{}}
		c.models = append(c.models, m)
	}
	return at
}

// price takes a call's usage, and computes its cost; used reports whether one is recorded. A recorded 0 is a cost.
func (c *costReader) price(one *call, used bool, u *jsonl.Usage, m int) {
	one.pricing = unpriced
	if !used {
		one.lack = c.lack(m, noUsage)
		return
	}
	one.input, one.output, one.cacheRead, one.cacheWrite = u.Input, u.Output, u.CacheRead, u.CacheWrite
	var model models.Model
	if !u.Cost.Known {
		model = c.prices(m)
	}
	dollars, recorded, ok := model.Paid(u)
	one.dollars = dollars
	switch {
	case recorded && u.Cost.Billed:
		one.pricing = billed
	case recorded:
		one.pricing = estimated
	case ok:
		one.pricing = computed
	default:
		one.lack = c.lack(m, model.Lacks(u))
	}
}

// lack returns the index of the reason why a call of a model has no price.
func (c *costReader) lack(m int, of string) int32 {
	lack := Lack{c.models[m].name, of}
	at := slices.Index(c.part.lacking, lack)
	if at < 0 {
		at = len(c.part.lacking)
		c.part.lacking = append(c.part.lacking, lack)
	}
	return int32(at)
}

// prices returns a model's prices in the table.
func (c *costReader) prices(m int) models.Model {
	p := &c.models[m]
	if !p.asked {
		p.asked = true
		table := cmp.Or(c.Options.Replay.Models, models.Builtin())
		p.prices, p.known = table.Priced(p.provider.Text(), p.model.Text(), p.response.Text())
		if ref := (models.Ref{Provider: p.provider.Text(), ID: p.model.Text()}); !p.known && ref.ID != "" {
			rowOf(&c.part.Unknown, c.part.unknown, ref, ref)
		}
	}
	return p.prices
}

// end computes the sums after the session has been read.
func (c *costReader) end() {
	p := c.part
	c.Replay.KnowPrompts(c.largest())
	c.aside()
	c.own()
	c.replaceUsages()
	if slices.Contains(p.By, "branch") {
		c.toBranches()
	}
	own := CostKeys{Session: c.Report.ID, Project: c.Report.Project, Agent: c.Report.Agent}.only(p.By)
	for i := range p.Rows {
		p.Rows[i].Session, p.Rows[i].Project, p.Rows[i].Agent = own.Session, own.Project, own.Agent
	}
	p.table = nil // some of its keys were unknown
	if d := c.Session.Dialect(); d != nil && d.Unrecorded != "" && len(p.calls) > 0 {
		p.Unrecorded = []string{d.Name + "'s " + d.Unrecorded}
	}
	c.copies()
	p.session, p.NoSubAgents = c.Report.ID, c.NoSubAgents
	p.once.Grow(len(p.calls))
	for i := range p.calls {
		p.count(p.session, &p.calls[i], int(p.calls[i].row), p.lacking)
	}
	if dollars, copies, ok := c.Session.Counted(); ok && c.Only == (Only{}) {
		one := counting{own: dollars, counted: true, copies: copies}
		for i := range c.Session.Len() {
			if c.Session.Kind(i) == jsonl.Transform {
				one.summaries++
			}
		}
		p.of(p.session).count(one)
	}
}

// copies completes the ids of calls, which show those copied from another session.
func (c *costReader) copies() {
	p := c.part
	of := c.Origins.Calls()
	d := c.Session.Dialect()
	inTime := d != nil && d.CopyOf != nil && c.Only.Since+c.Only.Until != 0
	kept := 0
	for i := range p.calls {
		one := &p.calls[i]
		text := of.Complete(&one.id, int(one.record))
		if c.each.copied(i, text); text != nil && inTime {
			p.late++ // its time is that of the copy
			continue
		}
		if kept < i {
			p.calls[kept] = *one
		}
		kept++
	}
	p.calls, p.Copies = p.calls[:kept], p.late
}

// aside reads the calls of sub-agents that have no entries.
func (c *costReader) aside() {
	if c.NoSubAgents || c.each != nil { // tables have entries
		return
	}
	for p, err := range c.Session.AsideCalls(callPick) {
		if c.fail(err); err != nil {
			return
		}
		f := callFields(p)
		f.Delegated, f.aside = true, true
		c.take(&f)
	}
}

// own removes from a sub-agent's calls those of the session that it continues.
func (c *costReader) own() {
	p, n := c.part, len(c.part.calls)
	if c.Session.Owner() == "" || c.each != nil {
		return
	}
	p.calls = slices.DeleteFunc(p.calls, func(one call) bool {
		return one.record >= 0 && c.Session.InBase(int(one.record))
	})
	if len(p.calls) < n {
		p.rekey(func(*call, *CostKeys) {})
	}
}

// largest returns the usage of each model with the largest prompt.
func (c *costReader) largest() map[models.Ref]jsonl.Usage {
	all := map[models.Ref]jsonl.Usage{}
	for i := range c.models {
		m := &c.models[i]
		ref := models.Ref{Provider: m.provider.Text(), ID: m.model.Text()}
		if was := all[ref]; m.largest.Prompt() > was.Prompt() {
			all[ref] = m.largest
		}
	}
	return all
}

// replaceUsages gives answers the usages that later entries record for them, including those of sub-agents
// (docs/session-format.md 21).
func (c *costReader) replaceUsages() {
	if c.NoSubAgents {
		return
	}
	head := jsonl.NewHeadReader(callPick)
	for id, usage := range c.later {
		rec := c.Session.Find(id)
		if rec < 0 || c.Session.Kind(rec) != jsonl.Assistant {
			continue
		}
		h, bad := head.Read(c.line(rec))
		if bad != nil {
			continue
		}
		f := callFields(h)
		for i := range c.part.calls {
			if one := &c.part.calls[i]; one.record == int32(rec) {
				u := usage.Usage()
				c.price(one, usage.IsObject(), &u, c.model(&f))
			}
		}
	}
}

// A callRecord is a record's data about a model call, nil if absent, valid during the call.
type callRecord struct {
	Kind     jsonl.Kind
	ID, Time jsonl.Value // of the entry

	Usage, Provider, Model jsonl.Value
	Response, ResponseID   jsonl.Value // the model that answered, and the provider's id
	Shared                 jsonl.Value // see dialect.SharedID
	Tool                   jsonl.Value // the tool, for a tool result
	For                    jsonl.Value // kind of a usage entry
	Target                 jsonl.Value // the entry that a usage is for, which replaces its own
	Unanswered             bool        // an answer to no request
	Delegated              bool        // written by a sub-agent into the file of its session
	aside                  bool        // recorded in the file besides its entries
	call                   *jsonl.Call // in place of the usage, if only usages are read
}

// callPick names the fields of callFields, in order: of entries that have a usage, and of
// messages.
var callPick = jsonl.Pick{
	Record: []string{
		dialect.SharedID, "usage", "provider", "model", "kind", "responseId", "targetId", "aggregateUsage", "purpose",
	},
	Message: []string{"usage", "provider", "model", "responseModel", "responseId", "toolName"},
}

func callFields(p *jsonl.Picked) callRecord {
	f := callRecord{Kind: p.Kind, ID: p.ID, Time: p.Timestamp, Shared: p.Record[0], Unanswered: p.Unanswered,
		Delegated: p.Delegated}
	if c := p.Call; c != nil {
		f.call, f.Shared, f.Provider, f.Model, f.ResponseID = c, c.Shared, c.Provider, c.Model, c.ResponseID
		return f
	}
	if v := p.Message; p.Kind.IsMessage() {
		f.Usage, f.Provider, f.Model, f.Response, f.ResponseID, f.Tool = v[0], v[1], v[2], v[3], v[4], v[5]
		return f
	}
	v := p.Record[1:]
	f.Usage, f.Provider, f.Model, f.For, f.ResponseID = v[0], v[1], v[2], v[3], v[4]
	if !f.For.Exists() {
		f.For = v[7] // as oh-my-pi calls it
	}
	if p.Kind == jsonl.ChildUsage {
		f.Target, f.Usage = v[5], v[6]
	}
	return f
}

// used reads the usage of the call, and reports whether one is recorded.
func (f *callRecord) used(c *jsonl.Cursor, u *jsonl.Usage) bool {
	if f.call != nil {
		*u = f.call.Usage
		return f.call.Used
	}
	u.Read(c.Reset(f.Usage))
	return f.Usage.IsObject()
}

// Paid reports whether the record counts as a call (docs/session-format.md 8.4). An answer and
// a usage entry count even without a usage, but not an answer to no request.
func (f *callRecord) Paid() bool {
	switch f.Kind {
	case jsonl.Assistant, jsonl.UsageEntry:
		return !f.Unanswered
	case jsonl.ToolResult, jsonl.Compaction, jsonl.BranchSummary:
		return f.Usage.IsObject()
	}
	return false
}

// named reports whether the record may name the model.
func (f *callRecord) named() bool {
	return f.Kind == jsonl.Assistant || f.Kind == jsonl.UsageEntry
}

// modelName returns a call's model as pi lists it: the provider, and the model that answered if
// recorded.
func (f *callRecord) modelName() string {
	if !f.named() {
		return otherModels
	}
	name := f.Model.Text()
	if !f.Response.IsNull() {
		name = f.Response.Text()
	}
	if p := f.Provider.Text(); p != "" {
		return p + "/" + name
	}
	return name
}

// otherModels is pi's name for tools and summaries, which record no model.
const otherModels = "Tools/summaries"
