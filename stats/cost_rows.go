package stats

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A CostRow is usage and cost of the calls with the same keys.
type CostRow struct {
	CostKeys
	CostSum
}

// CostKeys are the keys of a row; those not requested are empty.
type CostKeys struct {
	Session string `json:"session,omitempty"` // the header's id
	Project string `json:"project,omitempty"` // the header's folder
	Agent   string `json:"agent,omitempty"`   // that wrote the session
	// `2026-01`, in UTC (for `ctxtool cost`, local time); like the next two, absent for calls without time
	Month    string `json:"month,omitempty"`
	Week     string `json:"week,omitempty"`     // `2026-W05`
	Day      string `json:"day,omitempty"`      // `2026-01-31`
	Provider string `json:"provider,omitempty"` // as the calls name it
	Model    string `json:"model,omitempty"`    // `provider/id`, or `Tools/summaries` where no record says
	Tool     string `json:"tool,omitempty"`     // whose result recorded the call; absent of other calls
	Branch   string `json:"branch,omitempty"`   // the leaf's entry, `shared` by several, or `sub-agents`
}

// CostGroups are the names of the possible groups of rows of the lens cost.
var CostGroups = strings.Fields("session model provider day week month project agent tool branch")

// costKey returns the row's key for a group, the field of its name.
func (k *CostKeys) costKey(group string) *string {
	field := reflect.ValueOf(k).Elem().FieldByName(strings.ToUpper(group[:1]) + group[1:])
	return field.Addr().Interface().(*string)
}

// only returns the keys of these groups.
func (k CostKeys) only(groups []string) (some CostKeys) {
	for _, g := range groups {
		*some.costKey(g) = *k.costKey(g)
	}
	return some
}

// A rowID identifies a row of a session while it is read: numbers, which are faster to compare
// than names, and the tool as JSON, which few calls have.
type rowID struct {
	model, day int32
	tool       string
}

// noDay is the day of a call without a time.
const noDay = math.MinInt32

// row returns the index of a call's row.
func (c *costReader) row(f *callRecord, m int, ms int64, dated bool) int32 {
	id := rowID{int32(m), noDay, string(f.Tool)}
	if dated {
		if c.Zone != nil {
			_, east := time.UnixMilli(ms).In(c.Zone).Zone()
			ms += int64(east) * 1000
		}
		const day = 24 * 60 * 60 * 1000
		if id.day = int32(ms / day); ms%day < 0 {
			id.day--
		}
	}
	row, ok := c.rows[id]
	if !ok {
		row = int32(c.part.row(c.keys(id).only(c.part.By)))
		c.rows[id] = row
	}
	return row
}

// keys returns the keys of a row, except those known only at the end.
func (c *costReader) keys(id rowID) CostKeys {
	m := &c.models[id.model]
	k := CostKeys{Model: m.name, Provider: m.provider.Text(), Tool: jsonl.Value(id.tool).Text()}
	if id.day == noDay {
		return k
	}
	at := time.Unix(int64(id.day)*24*60*60, 0).UTC()
	year, week := at.ISOWeek()
	k.Day, k.Week, k.Month = at.Format(time.DateOnly), fmt.Sprintf("%04d-W%02d", year, week), at.Format("2006-01")
	return k
}

// row returns the index of the row with these keys, adding it if necessary.
func (p *CostPart) row(k CostKeys) int {
	if p.table == nil {
		p.table = map[CostKeys]int{}
		for i := range p.Rows {
			p.table[p.Rows[i].CostKeys] = i
		}
	}
	rowOf(&p.Rows, p.table, k, CostRow{CostKeys: k})
	return p.table[k]
}

// order sorts the rows for display: by time if the first group is a time, else the most
// expensive first.
func (p *CostPart) order() {
	inTime := len(p.By) > 0 && slices.Contains([]string{"day", "week", "month"}, p.By[0])
	sorting.By(p.Rows, func(a, b CostRow) int {
		c := 0
		if !inTime {
			c = cmp.Or(cmp.Compare(b.Cost.Total, a.Cost.Total), cmp.Compare(b.Tokens.Total, a.Tokens.Total))
		}
		for _, by := range p.By {
			c = cmp.Or(c, cmp.Compare(*a.costKey(by), *b.costKey(by)))
		}
		return c
	})
	p.table = nil
}

// sharedBranch is the key of calls that several branches share.
const sharedBranch = "shared"

// subAgentBranch is the key of calls of sub-agents, which are on no branch.
const subAgentBranch = "sub-agents"

// toBranches splits the rows by branch.
func (c *costReader) toBranches() {
	names := branches(c.Session)
	c.part.rekey(func(one *call, keys *CostKeys) {
		keys.Branch = subAgentBranch
		if one.record >= 0 {
			keys.Branch = names(int(one.record))
		}
	})
}

// rekey groups the calls into new rows, by other keys.
func (p *CostPart) rekey(change func(one *call, keys *CostKeys)) {
	old := p.Rows
	p.Rows, p.table = []CostRow{}, nil
	for i := range p.calls {
		one := &p.calls[i]
		keys := old[one.row].CostKeys
		change(one, &keys)
		one.row = int32(p.row(keys))
	}
}

// branches returns a function from a record to its branch: the id of the only leaf below it,
// shared if there are several, empty for a parent cycle. A record hidden by a later one with
// the same id has that one's branch.
func branches(s *sessionfmt.Session) func(rec int) string {
	const none, shared = -1, -2
	leaf, inner := slices.Repeat([]int32{none}, s.Len()), s.Inner()
	for i := range leaf {
		if inner[i] || !s.Kind(i).IsEntry() || s.Shadowed(i) {
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

// An OwnCount is the cost that agents themselves counted for sessions, compared with the cost computed here.
type OwnCount struct {
	Sessions int     `json:"sessions"` // with such a count
	Cost     float64 `json:"cost"`     // US dollars counted by the agents, without `copied`
	Here     float64 `json:"here"`     // what they cost here
	// of forks: US dollars that agents counted for calls copied from other sessions
	Copied float64 `json:"copied,omitempty"`
	// compactions in them; calls for summaries that no file records are in `cost` and not in `here`
	Summaries int `json:"summaries,omitempty"`
}

// A counting is the cost of one session: as computed here, and as its agent counted it in the file.
type counting struct {
	here, own float64
	copied    float64 // cost of calls that are counted in another session
	counted   bool
	copies    bool // Own includes these
	summaries int
}

// count adds to the cost of a session.
func (c *counting) count(one counting) {
	c.here, c.own, c.counted = c.here+one.here, c.own+one.own, c.counted || one.counted
	c.copied, c.copies, c.summaries = c.copied+one.copied, c.copies || one.copies, c.summaries+one.summaries
}

// compare sums up the sessions that their agents counted.
func (p *CostPart) compare() {
	own := OwnCount{}
	for _, c := range p.counted {
		if c.counted {
			own.Sessions, own.Cost, own.Here = own.Sessions+1, own.Cost+c.own, own.Here+c.here
			own.Summaries += c.summaries
			if c.copies {
				own.Cost, own.Copied = own.Cost-c.copied, own.Copied+c.copied
			}
		}
	}
	if own.Sessions > 0 {
		p.Counted = &own
	}
}

// note describes the difference of both; it is empty if that is less than half a cent.
func (c *OwnCount) note() string {
	if c == nil || math.Abs(c.Cost-c.Here) < 0.005 {
		return ""
	}
	of, them := "", "this session"
	if c.Sessions > 1 {
		of, them = fmt.Sprintf(" of %d sessions", c.Sessions), "them"
	}
	than, why := "less", "some resumes begin a new count, and copies are not in it"
	if c.Cost > c.Here {
		than, why = "more", "calls that no file has are among it"
		if c.Summaries > 0 {
			why += fmt.Sprintf(", such as those for the summaries of %s", phrase.Count(c.Summaries, "compaction"))
		}
	}
	return fmt.Sprintf("the agent's own count%s is %s, %s %s than %s in the files: %s",
		of, phrase.Dollars(c.Cost), phrase.Dollars(math.Abs(c.Cost-c.Here)), than, them, why)
}
