package stats

import (
	"cmp"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// A costLook reads the calls of a session. It allocates nothing a record.
type costLook struct {
	*lensRun
	part *CostPart

	next    int // number of the record that comes next
	at      jsonl.Cursor
	keyBuf  []byte
	models  []paidModel    // the first stands for those of which no record says
	modelAt map[string]int // by what their records say, one after the other
	rows    map[rowID]int32
	records []int32 // of the calls, where branches are asked for

	byBranch bool
}

// A paidModel is a model that calls went to, as its records spell it.
type paidModel struct {
	provider, model, response jsonl.Value
	name                      string // as pi's list of models has it
	asked                     bool   // the table of prices was
	known                     bool   // to the table
	prices                    models.Model
}

func newCostLook(l *lensRun) *costLook {
	by := l.By
	if len(by) == 0 {
		by = []string{"model"}
	}
	c := &costLook{
		lensRun: l, part: newCostPart(by), rows: map[rowID]int32{}, modelAt: map[string]int{},
		models:   []paidModel{{provider: jsonl.Value(`"` + otherModels + `"`), name: otherModels, asked: true}},
		byBranch: slices.Contains(by, "branch"),
	}
	c.part.calls = &calls{}
	l.Report.Cost = c.part
	return c
}

// take reads a record.
func (c *costLook) take(f *callRecord) {
	rec := c.next
	c.next++
	if !f.Paid() {
		return
	}
	m := c.model(f)
	ms, dated := f.Time.Millis()
	if !c.Only.model(c.models[m].name) || !c.Only.time(ms, dated) {
		return
	}
	one := call{kind: kindOfCall(f), row: c.row(f, m, ms, dated)}
	c.price(&one, f.Usage, m)
	one.key, c.keyBuf = callKey(c.keyBuf, f)
	if c.byBranch {
		c.records = append(c.records, int32(rec))
	}
	c.part.calls.add(one)
}

func kindOfCall(f *callRecord) callKind {
	switch {
	case f.Kind == jsonl.Assistant:
		return answerCall
	case f.Kind == jsonl.ToolResult:
		return toolCall
	case f.Kind != jsonl.UsageEntry:
		return summaryCall
	case f.For.Is("cache_warm"):
		return warmingCall
	}
	return otherCall
}

// model finds the model of a call among those seen, or adds it; 0 for one of which
// no record says.
func (c *costLook) model(f *callRecord) int {
	if !f.named() {
		return 0
	}
	c.keyBuf = append(append(append(c.keyBuf[:0], f.Provider...), 0), f.Model...)
	c.keyBuf = append(append(c.keyBuf, 0), f.Response...)
	at, ok := c.modelAt[string(c.keyBuf)]
	if !ok {
		at = len(c.models)
		c.modelAt[string(c.keyBuf)] = at
		m := paidModel{slices.Clone(f.Provider), slices.Clone(f.Model), slices.Clone(f.Response), f.modelName(), false, false, models.Model{}}
		c.models = append(c.models, m)
	}
	return at
}

// price reads a call's usage, and says what it cost. A recorded 0 is a cost.
func (c *costLook) price(one *call, usage jsonl.Value, m int) {
	one.pricing = unpriceable
	if !usage.IsObject() {
		return
	}
	var u jsonl.Usage
	u.Read(c.at.Reset(usage))
	one.input, one.output, one.cacheRead, one.cacheWrite = u.Input, u.Output, u.CacheRead, u.CacheWrite
	if u.Cost.Known {
		one.dollars, one.pricing = u.Cost.Total, estimated
		if u.Cost.Billed {
			one.pricing = billed
		}
		return
	}
	paid := models.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWrite1h: u.CacheWrite1h}
	if p := c.prices(m); p.Priced() {
		one.dollars, one.pricing = p.Price(paid).Total, computed
	}
}

// prices are what the table says that a model costs. pi prices by the name that the
// call was made with; the one that answered says more where that was a router.
func (c *costLook) prices(m int) models.Model {
	p := &c.models[m]
	if !p.asked {
		p.asked = true
		table := cmp.Or(c.Options.Replay.Models, models.Builtin())
		for _, name := range []jsonl.Value{p.model, p.response} {
			found, _, ok := table.Lookup(p.provider.Text(), name.Text())
			if p.known = p.known || ok; ok && !p.prices.Priced() {
				p.prices = found
			}
		}
		if ref := (models.Ref{Provider: p.provider.Text(), ID: p.model.Text()}); !p.known && ref.ID != "" {
			c.part.Unknown = addModels(c.part.Unknown, ref)
		}
	}
	return p.prices
}

// end makes the sums once the session has been read.
func (c *costLook) end() error {
	p := c.part
	if c.byBranch {
		c.toBranches()
	}
	own := costKeys{Session: c.Report.ID, Project: c.Report.project}.only(p.By)
	for i := range p.Rows {
		p.Rows[i].Session, p.Rows[i].Project = own.Session, own.Project
	}
	p.table = nil // its keys were not whole
	p.sumUp()
	return nil
}

// callRecord are what a record says of a call of a model; absent is nil. All are
// valid during the call only.
type callRecord struct {
	Kind     jsonl.Kind
	ID, Time jsonl.Value // of the entry

	Usage, Provider, Model jsonl.Value
	Response, ResponseID   jsonl.Value // the model that answered, and the provider's id
	Tool                   jsonl.Value // whose result it is
	For                    jsonl.Value // kind of a usage entry
}

// callPick names what callFields takes, in its order: of entries that hold their usage
// themselves, and of messages.
var callPick = jsonl.Pick{
	Record:  []string{"usage", "provider", "model", "kind"},
	Message: []string{"usage", "provider", "model", "responseModel", "responseId", "toolName"},
}

func callFields(p *jsonl.Picked) callRecord {
	f := callRecord{Kind: p.Kind, ID: p.ID, Time: p.Timestamp}
	if v := p.Message; p.Kind.IsMessage() {
		f.Usage, f.Provider, f.Model, f.Response, f.ResponseID, f.Tool = v[0], v[1], v[2], v[3], v[4], v[5]
		return f
	}
	v := p.Record
	f.Usage, f.Provider, f.Model, f.For = v[0], v[1], v[2], v[3]
	return f
}

// Paid reports that the record counts as a call (docs/session-format.md 8.4). An answer does, and
// a usage entry, even if it says nothing of what it used.
func (f *callRecord) Paid() bool {
	switch f.Kind {
	case jsonl.Assistant, jsonl.UsageEntry:
		return true
	case jsonl.ToolResult, jsonl.Compaction, jsonl.BranchSummary:
		return f.Usage.IsObject()
	}
	return false
}

// named reports that the record can tell which model was called.
func (f *callRecord) named() bool {
	return f.Kind == jsonl.Assistant || f.Kind == jsonl.UsageEntry
}

// modelName is how pi lists the model of a call: by the provider, and by the model
// that answered, where the record says which it was.
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

// otherModels is what pi's list of models calls the work of tools and summaries, of
// which no record says which model did it.
const otherModels = "Tools/summaries"
