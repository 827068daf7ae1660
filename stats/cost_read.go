package stats

import (
	"math"
	"slices"

	"ctxtool/internal/models"
	"ctxtool/sessionfmt"
)

// A costLook reads the calls of a session. It allocates nothing a record.
type costLook struct {
	*Look
	part *CostPart
	by   costBy

	next     int // number of the record that comes next
	at, deep sessionfmt.Cursor
	keyBuf   []byte
	models   []paidModel
	rows     map[rowID]int32
	last     rowID // of the call before, and its row
	lastRow  int32
	tools    []string
	records  []int32 // of the calls, where branches are asked for
}

// A paidModel is a model that calls went to, as its records spell it.
type paidModel struct {
	provider, model, response sessionfmt.Value
	name                      string // as pi's list of models has it
	asked                     bool   // the table of prices was
	prices                    models.Model
}

// callFields are what a record says of its call; absent is nil.
type callFields struct {
	id, time, usage           sessionfmt.Value
	provider, model, response sessionfmt.Value
	responseID, tool, kind    sessionfmt.Value
}

// otherModels is what pi's list of models calls the work of tools and summaries, of
// which no record says which model did it.
const otherModels = "Tools/summaries"

func newCostLook(l *Look) *costLook {
	by := l.By
	if len(by) == 0 {
		by = []string{"model"}
	}
	c := &costLook{Look: l, part: newCostPart(by), by: newCostBy(by), rows: map[rowID]int32{}, lastRow: -1}
	c.part.calls = &calls{}
	l.Report.Cost = c.part
	return c
}

// take reads a record.
func (c *costLook) take(_ int64, kind sessionfmt.Kind, line sessionfmt.Value) {
	rec := c.next
	c.next++
	if !isPaid(kind) {
		return
	}
	var f callFields
	c.read(&f, line, kind)
	if !f.usage.IsObject() {
		if kind != sessionfmt.Assistant && kind != sessionfmt.UsageEntry {
			return // nothing was paid for
		}
		f.usage = nil
	}
	m := c.model(&f, kind)
	if !c.Only.model(c.name(m)) {
		return
	}
	ms, dated := f.time.Millis()
	if !c.Only.time(ms, dated) {
		return
	}
	var one call
	one.kind = kindOfCall(kind, f.kind)
	c.price(&one, f.usage, m)
	one.key, c.keyBuf = callKey(c.keyBuf, &f)
	one.row = c.row(&f, m, ms, dated)
	if c.by.branch {
		c.records = append(c.records, int32(rec))
	}
	c.part.calls.add(one)
}

// read takes a record's fields, in one pass over it.
func (c *costLook) read(f *callFields, line sessionfmt.Value, kind sessionfmt.Kind) {
	at := c.at.Reset(line)
	for key := range at.Members {
		switch string(key) {
		case "id":
			f.id = at.Value()
		case "timestamp":
			f.time = at.Value()
		case "message":
			if kind.IsMessage() {
				for key := range at.Members {
					f.take(at, key)
				}
			}
		default:
			if !kind.IsMessage() {
				f.take(at, key)
			}
		}
	}
}

// take takes a member of what holds the usage: a message, or an entry of another type.
func (f *callFields) take(at *sessionfmt.Cursor, key []byte) {
	switch string(key) {
	case "usage":
		f.usage = at.Value()
	case "provider":
		f.provider = at.Value()
	case "model":
		f.model = at.Value()
	case "responseModel":
		f.response = at.Value()
	case "responseId":
		f.responseID = at.Value()
	case "toolName":
		f.tool = at.Value()
	case "kind":
		f.kind = at.Value()
	}
}

func kindOfCall(kind sessionfmt.Kind, usage sessionfmt.Value) callKind {
	switch {
	case kind == sessionfmt.Assistant:
		return answerCall
	case kind == sessionfmt.ToolResult:
		return toolCall
	case kind != sessionfmt.UsageEntry:
		return summaryCall
	case usage.Is("cache_warm"):
		return warmingCall
	}
	return otherCall
}

// model finds the model of a call among those seen, or adds it; -1 for one of which
// no record says.
func (c *costLook) model(f *callFields, kind sessionfmt.Kind) int {
	if kind != sessionfmt.Assistant && kind != sessionfmt.UsageEntry {
		return -1
	}
	if kind == sessionfmt.UsageEntry {
		f.response = nil
	}
	for i := range c.models {
		m := &c.models[i]
		if string(m.model) == string(f.model) && string(m.provider) == string(f.provider) && string(m.response) == string(f.response) {
			return i
		}
	}
	m := paidModel{provider: slices.Clone(f.provider), model: slices.Clone(f.model), response: slices.Clone(f.response)}
	m.name = modelName(m.provider, m.model, m.response)
	c.models = append(c.models, m)
	return len(c.models) - 1
}

// name is what a model is listed as.
func (c *costLook) name(m int) string {
	if m < 0 {
		return otherModels
	}
	return c.models[m].name
}

// Beyond these nobody can have counted: what is recorded so is as if it were not
// there, and sums stay numbers.
const (
	mostTokens  = math.MaxUint32 // of a call
	mostDollars = 1e12
)

// price reads a call's usage, and says what it cost. A recorded 0 is a cost.
func (c *costLook) price(one *call, usage sessionfmt.Value, m int) {
	one.pricing = unpriceable
	if usage == nil {
		return
	}
	var long uint32
	var cost, billing sessionfmt.Value
	at := c.deep.Reset(usage)
	for key := range at.Members {
		switch string(key) {
		case "input":
			one.input = tokensOf(at)
		case "output":
			one.output = tokensOf(at)
		case "cacheRead":
			one.cacheRead = tokensOf(at)
		case "cacheWrite":
			one.cacheWrite = tokensOf(at)
		case "cacheWrite1h":
			long = tokensOf(at)
		case "cost":
			for key := range at.Members {
				switch string(key) {
				case "total":
					cost = at.Value()
				case "totalFromProvider":
					billing = at.Value()
				}
			}
		}
	}
	if d, ok := cost.Float(); ok && math.Abs(d) <= mostDollars {
		one.dollars, one.pricing = d, estimated
		if string(billing) == "true" {
			one.pricing = billed
		}
		return
	}
	u := models.Usage{Input: int64(one.input), Output: int64(one.output),
		CacheRead: int64(one.cacheRead), CacheWrite: int64(one.cacheWrite), CacheWrite1h: int64(long)}
	if p := c.prices(m); p.Priced() {
		one.dollars, one.pricing = p.Price(u).Total, computed
	}
}

// tokensOf reads a number of tokens.
func tokensOf(at *sessionfmt.Cursor) uint32 {
	n := at.Value().Int()
	if n < 0 || n > mostTokens {
		return 0
	}
	return uint32(n)
}

// prices are what the table says that a model costs. pi prices by the name that the
// call was made with; the one that answered says more where that was a router.
func (c *costLook) prices(m int) models.Model {
	if m < 0 {
		return models.Model{}
	}
	p := &c.models[m]
	if !p.asked {
		p.asked = true
		for _, name := range []sessionfmt.Value{p.model, p.response} {
			if found, _, ok := c.table().Lookup(p.provider.Text(), name.Text()); ok && !p.prices.Priced() {
				p.prices = found
			}
		}
	}
	return p.prices
}

// end makes the sums once the session has been read.
func (c *costLook) end() error {
	p := c.part
	if c.by.branch {
		c.toBranches()
	}
	for i := range p.Rows {
		if c.by.session {
			p.Rows[i].Session = c.Report.ID
		}
		if c.by.project {
			p.Rows[i].Project = c.Report.project
		}
	}
	p.table = nil // its keys were not whole
	p.sumUp()
	return nil
}

// modelOf is the key of a model's row, and of its provider's.
func (c *costLook) modelOf(m int) (model, provider string) {
	if m < 0 {
		return otherModels, otherModels
	}
	return c.models[m].name, c.models[m].provider.Text()
}
