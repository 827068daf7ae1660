package stats

import (
	"cmp"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/stats/table"
)

// costLens adds up usage and cost of model calls, on all branches, as pi's own totals do
// (docs/session-format.md 8.4).
var costLens = Lens{
	Name:    "cost",
	About:   "tokens and dollars of all branches, as recorded; each call once across files",
	Default: true,
	read: func(l *lensRun) {
		c := newCostReader(l)
		l.Calls = append(l.Calls, c.take)
		l.Indexed = append(l.Indexed, c.end)
	},
	add: func(sum, one *Report) { sum.addCost(one.Cost) },
	finish: func(r *Report) {
		r.Cost.settle()
		r.Cost.order()
		r.Cost.compare()
	},
	sheets: func(r *Report) []table.Sheet { return cmp.Or(r.Cost, newCostPart([]string{"model"})).sheets(r.Files) },
}

// A CostPart is the usage and cost of model calls: of all entries of a session, or of several
// together.
type CostPart struct {
	Prices string `json:"prices"` // date of the table of prices

	// The embedded sum has each call once: in the session that made it, not in its forks
	CostSum

	Copies int64     `json:"copies"` // copies of counted calls, left out
	Kinds  CostKinds `json:"kinds"`  // sums by what the calls were for
	By     []string  `json:"by"`     // the groups of the rows: `--by`, and `day` if a gate needs it
	// a sum for each group, the most expensive first, or by time if the first group is one
	Rows []CostRow `json:"rows"`

	// models without a price of calls without a recorded cost, in file order
	Unknown  []models.Ref    `json:"unknownModels,omitempty"`
	Unpriced []UnpricedCalls `json:"unpricedCalls,omitempty"` // what has no price, in the order of the files

	// costs that the agents counted; absent if none did, or if calls are selected
	Counted *OwnCount `json:"counted,omitempty"`

	// calls of sub-agents are in no sum: `--no-subagents`
	NoSubAgents bool `json:"noSubagents,omitempty"`
	// sub-agents that could not be read, with reasons; in no sum
	Unread []UnreadSubAgent `json:"unreadSubagents,omitempty"`

	// billed calls that agents do not record, by agent; in no sum
	Unrecorded []string `json:"unrecorded,omitempty"`

	calls    []call               // calls of one session, for the sum
	once     models.CallSet       // calls that were counted
	copied   []copiedCall         // calls that wait for their originals
	late     int64                // number of copies left out: their times are not those of the calls
	table    map[CostKeys]int     // indexes of the rows
	unknown  map[models.Ref]int   // indexes of these models
	lacking  []Lack               // reasons for a missing price, by call.lack
	unpriced map[Lack]int         // indexes of the sums of these
	session  string               // id of that one session
	family   []string             // ids of its sub-agents
	counted  map[string]*counting // by the id of a session, which its sub-agents share
}

// An UnreadSubAgent is a sub-agent whose calls are in no sum.
type UnreadSubAgent struct {
	File  string `json:"file"`
	Error string `json:"error"` // why
}

// A CostSum is usage and cost of calls.
type CostSum struct {
	Calls  CostCalls   `json:"calls"`  // numbers of calls, each once in all files
	Tokens CostTokens  `json:"tokens"` // of the same, as recorded
	Cost   CostDollars `json:"cost"`   // US dollars of the same ([figures](figures.md))
}

// CostCalls are numbers of calls.
type CostCalls struct {
	Total     int64 `json:"total"`     // calls
	Billed    int64 `json:"billed"`    // the provider said what it billed
	Estimated int64 `json:"estimated"` // with a cost recorded by the agent, even 0
	Computed  int64 `json:"computed"`  // without a recorded cost: by the table
	Unpriced  int64 `json:"unpriced"`  // without a recorded cost or a price: in no sum of dollars
}

// UnpricedCalls are calls whose cost is neither recorded nor known.
type UnpricedCalls struct {
	Lack
	Calls  int64 `json:"calls"`
	Tokens int64 `json:"tokens"` // of the four kinds
}

// A Lack is the reason why the price of a call is unknown.
type Lack struct {
	Model string `json:"model"` // `provider/id`, or `Tools/summaries` where no record says
	// the term without a price, such as `service tier scale`, or `no usage` if none is recorded; absent if
	// the model has no price
	Of string `json:"of,omitempty"`
}

// noUsage is the Of of calls without a recorded usage.
const noUsage = "no usage"

// CostTokens are tokens as recorded by providers.
type CostTokens struct {
	Input      int64 `json:"input"` // neither read from a cache nor written to it
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cacheRead"`
	CacheWrite int64 `json:"cacheWrite"`
	Total      int64 `json:"total"` // the sum of the four
}

// CostDollars are in US dollars.
type CostDollars struct {
	Total     float64 `json:"total"`     // as recorded, else by the table
	Recorded  float64 `json:"recorded"`  // the recorded part: the sum of `billed` and `estimated`
	Billed    float64 `json:"billed"`    // of the calls of that name
	Estimated float64 `json:"estimated"` // of the calls of that name
}

// CostKinds are sums by purpose.
type CostKinds struct {
	Answers   CostSum `json:"answers"`   // of models
	Tools     CostSum `json:"tools"`     // models inside of tools
	Summaries CostSum `json:"summaries"` // compactions, branches
	Warming   CostSum `json:"warming"`   // of caches
	Other     CostSum `json:"other"`     // usage entries of another kind
	SubAgents CostSum `json:"subagents"` // all calls of sub-agents of the session
}

// A callKind is the purpose of a call.
type callKind uint8

const (
	answerCall callKind = iota
	toolCall
	summaryCall
	warmingCall
	otherCall
	subAgentCall // of any of these kinds
)

func (k *CostKinds) of(kind callKind) *CostSum {
	return [...]*CostSum{&k.Answers, &k.Tools, &k.Summaries, &k.Warming, &k.Other, &k.SubAgents}[kind]
}

// A pricing is the source of a call's cost.
type pricing uint8

const (
	billed    pricing = iota // the provider
	estimated                // the agent
	computed                 // the table
	unpriced                 // no source: the cost is unknown
)

func (s *CostSum) add(c *call) {
	s.Calls.Total++
	switch c.pricing {
	case billed:
		s.Calls.Billed++
		s.Cost.Billed += c.dollars
	case estimated:
		s.Calls.Estimated++
		s.Cost.Estimated += c.dollars
	case computed:
		s.Calls.Computed++
	case unpriced:
		s.Calls.Unpriced++
	}
	s.Cost.Total += c.dollars
	if c.pricing <= estimated {
		s.Cost.Recorded += c.dollars
	}
	s.Tokens.Input += c.input
	s.Tokens.Output += c.output
	s.Tokens.CacheRead += c.cacheRead
	s.Tokens.CacheWrite += c.cacheWrite
	s.Tokens.Total += c.tokens()
}

// tokens returns the sum of the four kinds.
func (c *call) tokens() int64 { return c.input + c.output + c.cacheRead + c.cacheWrite }

// newCostPart returns an empty part.
func newCostPart(by []string) *CostPart {
	return &CostPart{Prices: models.Date, By: append([]string{}, by...), Rows: []CostRow{},
		counted: map[string]*counting{}, unknown: map[models.Ref]int{}, unpriced: map[Lack]int{}}
}

// count adds a call of a session to a row, unless it was counted already. lacking has the possible reasons for
// missing prices.
func (p *CostPart) count(session string, c *call, row int, lacking []Lack) {
	within := c.again // the session has it twice
	if c.again = !p.once.Add(c.id); c.again {
		p.Copies++
		if !within {
			p.of(session).count(counting{copied: c.dollars})
		}
		return
	}
	p.add(c)
	p.Kinds.of(c.kind).add(c)
	p.Rows[row].add(c)
	p.of(session).count(counting{here: c.dollars})
	if c.pricing == unpriced {
		lack := lacking[c.lack]
		one := rowOf(&p.Unpriced, p.unpriced, lack, UnpricedCalls{Lack: lack})
		one.Calls, one.Tokens = one.Calls+1, one.Tokens+c.tokens()
	}
}

// A copiedCall is a call that may belong to another session.
type copiedCall struct {
	call
	session string
	row     int
	lacking []Lack
}

// settle counts the copied calls whose originals are in none of the sessions, each once.
func (p *CostPart) settle() {
	for i := range p.copied {
		c := &p.copied[i]
		p.count(c.session, &c.call, c.row, c.lacking)
	}
	p.copied = nil
}

// addSessions adds the ids of the session and its sub-agents, of whose calls others may have copies.
func (p *CostPart) addSessions(to *models.CallSet) {
	to.AddSession(p.session)
	for _, id := range p.family {
		to.AddSession(id)
	}
}

// of returns the cost of a session.
func (p *CostPart) of(session string) *counting {
	if p.counted[session] == nil {
		p.counted[session] = &counting{}
	}
	return p.counted[session]
}

// addCost adds the part of another session, in order of file names.
func (r *Report) addCost(one *CostPart) {
	p := partOf(&r.Cost, newCostPart(one.By))
	rows := make([]int, len(one.Rows)) // indexes of its rows in the sum
	for i := range one.Rows {
		rows[i] = p.row(one.Rows[i].CostKeys)
	}
	p.Copies += one.late
	one.addSessions(&p.once)
	p.once.Grow(len(one.calls))
	p.of(one.session)
	for i := range one.calls {
		if c := &one.calls[i]; c.id.Copy {
			p.copied = append(p.copied, copiedCall{*c, one.session, rows[c.row], one.lacking})
		} else {
			p.count(one.session, c, rows[c.row], one.lacking)
		}
	}
	for id, c := range one.counted {
		p.of(id).count(counting{own: c.own, counted: c.counted, copies: c.copies, summaries: c.summaries})
	}
	one.calls, one.once, one.counted = nil, models.CallSet{}, nil // no longer needed
	p.gaps(one)
}

// gaps adds the calls that are in no sum of another part.
func (p *CostPart) gaps(one *CostPart) {
	for _, m := range one.Unknown {
		rowOf(&p.Unknown, p.unknown, m, m)
	}
	for _, calls := range one.Unrecorded {
		if !slices.Contains(p.Unrecorded, calls) {
			p.Unrecorded = append(p.Unrecorded, calls)
		}
	}
	p.NoSubAgents = p.NoSubAgents || one.NoSubAgents
	p.Unread = append(p.Unread, one.Unread...)
}

// A call is the model, usage and cost of a call as recorded.
type call struct {
	id       models.CallID
	response uint64 // a hash of the id of its answer, 0 for none
	dollars  float64
	input, output,
	cacheRead, cacheWrite int64 // tokens
	row     int32 // index of the row in the part
	lack    int32 // if it is unpriced: index of CostPart.lacking
	record  int32
	kind    callKind
	pricing pricing
	again   bool // it was counted already
}
