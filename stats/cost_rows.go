package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A costRow is what the calls with some keys in common used and cost.
type costRow struct {
	CostKeys
	CostSum
	Unique CostSum `json:"unique"` // the same with each call once
}

// CostKeys say which calls a row is about; those that were not asked for are empty.
type CostKeys struct {
	Session  string `json:"session,omitempty"`  // the header's id
	Project  string `json:"project,omitempty"`  // the header's folder
	Month    string `json:"month,omitempty"`    // `2026-01`, in UTC; as the next two absent of a call without time
	Week     string `json:"week,omitempty"`     // `2026-W05`
	Day      string `json:"day,omitempty"`      // `2026-01-31`
	Provider string `json:"provider,omitempty"` // as the calls name it
	Model    string `json:"model,omitempty"`    // `provider/id`, or `Tools/summaries` where no record says
	Tool     string `json:"tool,omitempty"`     // whose result recorded the call; absent of other calls
	Branch   string `json:"branch,omitempty"`   // the leaf's entry, or `shared` by several
}

// costGroups are what rows can be by, and their keys.
var costGroups = []struct {
	name string
	key  func(k *CostKeys) *string
}{
	{"session", func(k *CostKeys) *string { return &k.Session }},
	{"model", func(k *CostKeys) *string { return &k.Model }},
	{"provider", func(k *CostKeys) *string { return &k.Provider }},
	{"day", func(k *CostKeys) *string { return &k.Day }},
	{"week", func(k *CostKeys) *string { return &k.Week }},
	{"month", func(k *CostKeys) *string { return &k.Month }},
	{"project", func(k *CostKeys) *string { return &k.Project }},
	{"tool", func(k *CostKeys) *string { return &k.Tool }},
	{"branch", func(k *CostKeys) *string { return &k.Branch }},
}

// CostGroups are the names of what the rows of the lens cost can be by.
func CostGroups() (names []string) {
	for _, g := range costGroups {
		names = append(names, g.name)
	}
	return names
}

// costKey is a key of the row by its group's name.
func (k *CostKeys) costKey(group string) *string {
	for _, g := range costGroups {
		if g.name == group {
			return g.key(k)
		}
	}
	panic("stats: unknown group " + group)
}

// A costBy is what rows are by.
type costBy struct {
	session, project, model, provider, day, week, month, tool, branch bool
}

func newCostBy(by []string) costBy {
	has := func(name string) bool { return slices.Contains(by, name) }
	return costBy{has("session"), has("project"), has("model"), has("provider"), has("day"), has("week"), has("month"), has("tool"), has("branch")}
}

// A rowID is what tells the rows of a session apart while it is read: numbers, which
// are quicker to compare than names.
type rowID struct{ model, day, tool int32 }

// noDay is the day of a call without a time.
const noDay = math.MinInt32

// row is the row of a call.
func (c *costLook) row(f *callRecord, m int, ms int64, dated bool) int32 {
	id := rowID{model: -1, tool: -1}
	if c.by.model || c.by.provider {
		id.model = int32(m)
	}
	if c.by.day || c.by.week || c.by.month {
		if id.day = noDay; dated {
			id.day = int32(floorDiv(ms, 24*60*60*1000))
		}
	}
	if c.by.tool && f.Tool != nil {
		id.tool = c.tool(f.Tool)
	}
	if id == c.last && c.lastRow >= 0 {
		return c.lastRow
	}
	row, ok := c.rows[id]
	if !ok {
		row = int32(c.part.row(c.keys(id)))
		c.rows[id] = row
	}
	c.last, c.lastRow = id, row
	return row
}

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// tool is the number of a tool's name.
func (c *costLook) tool(name jsonl.Value) int32 {
	at, ok := c.toolAt[string(name)]
	if !ok {
		at = int32(len(c.tools))
		c.toolAt[string(name)] = at
		c.tools = append(c.tools, name.Text())
	}
	return at
}

// keys are those of a row, but for what is known once the session has been read.
func (c *costLook) keys(id rowID) (k CostKeys) {
	model, provider := c.modelOf(int(id.model))
	if c.by.model {
		k.Model = model
	}
	if c.by.provider {
		k.Provider = provider
	}
	if id.tool >= 0 {
		k.Tool = c.tools[id.tool]
	}
	if id.day == noDay {
		return k
	}
	at := time.Unix(int64(id.day)*24*60*60, 0).UTC()
	if c.by.day {
		k.Day = at.Format(time.DateOnly)
	}
	if c.by.week {
		year, week := at.ISOWeek()
		k.Week = fmt.Sprintf("%04d-W%02d", year, week)
	}
	if c.by.month {
		k.Month = at.Format("2006-01")
	}
	return k
}

// row is the row with these keys, made where there is none.
func (p *CostPart) row(k CostKeys) int {
	if p.table == nil {
		p.table = map[CostKeys]int{}
	}
	at, ok := p.table[k]
	if !ok {
		at = len(p.Rows)
		p.Rows = append(p.Rows, costRow{CostKeys: k})
		p.table[k] = at
	}
	return at
}

// order puts the rows into the order in which they are shown: by time where the first
// group is one, else the dearest first.
func (p *CostPart) order() {
	inTime := len(p.By) > 0 && slices.Contains([]string{"day", "week", "month"}, p.By[0])
	slices.SortFunc(p.Rows, func(a, b costRow) int {
		c := 0
		if !inTime {
			c = cmp.Or(cmp.Compare(b.Cost.Total+b.Cost.Computed, a.Cost.Total+a.Cost.Computed), cmp.Compare(b.Tokens.Total, a.Tokens.Total))
		}
		for _, by := range p.By {
			c = cmp.Or(c, cmp.Compare(*a.costKey(by), *b.costKey(by)))
		}
		return c
	})
	p.table = nil
}

// sharedBranch is the key of what several branches have in common.
const sharedBranch = "shared"

// toBranches parts the rows by branches.
func (c *costLook) toBranches() {
	names := branches(c.Session)
	old := c.part.Rows
	c.part.Rows, c.part.table = []costRow{}, nil
	k := 0
	for one := range c.part.calls.all {
		keys := old[one.row].CostKeys
		keys.Branch = names(int(c.records[k]))
		one.row = int32(c.part.row(keys))
		k++
	}
}

// branches tells the branch of a record: the id of the leaf that it is above of,
// shared where there are several, nothing where there is none because its parents
// go round in a circle. A record that a later one of its id hides is where that is.
func branches(s *sessionfmt.Session) func(rec int) string {
	const none, shared = -1, -2
	leaf := make([]int32, s.Len())
	parent := make([]bool, s.Len())
	for i := range leaf {
		leaf[i] = none
		if up := s.Parent(i); up >= 0 && up != i {
			parent[up] = true
		}
	}
	for i := range leaf {
		if parent[i] || !s.Kind(i).IsEntry() || s.Shadowed(i) {
			continue
		}
		for at := i; at >= 0 && leaf[at] != shared && leaf[at] != int32(i); at = s.Parent(at) {
			if leaf[at] == none {
				leaf[at] = int32(i)
			} else {
				leaf[at] = shared
			}
		}
	}
	return func(rec int) string {
		if s.Shadowed(rec) {
			rec = s.Find(s.ID(rec))
		}
		switch at := leaf[rec]; at {
		case shared:
			return sharedBranch
		case none:
			return ""
		default:
			return s.ID(int(at))
		}
	}
}
