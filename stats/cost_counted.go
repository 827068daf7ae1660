package stats

import (
	"fmt"
	"math"

	"ctxtool/internal/phrase"
)

// An OwnCount is what agents themselves counted of sessions, beside what these cost here.
type OwnCount struct {
	Sessions int     `json:"sessions"` // with such a count
	Cost     float64 `json:"cost"`     // US dollars that the agents counted for them
	Here     float64 `json:"here"`     // what they cost here, calls of sub-agents included
}

// A counting is what one session cost: here, and as its agent counted it in the session's file.
type counting struct {
	here, own float64
	counted   bool
}

// count adds to what a session cost.
func (c *counting) count(one counting) {
	c.here, c.own, c.counted = c.here+one.here, c.own+one.own, c.counted || one.counted
}

// compare sums up the sessions that their agents counted.
func (p *CostPart) compare() {
	own := OwnCount{}
	for _, c := range p.counted {
		if c.counted {
			own.Sessions, own.Cost, own.Here = own.Sessions+1, own.Cost+c.own, own.Here+c.here
		}
	}
	if own.Sessions > 0 {
		p.Counted = &own
	}
}

// note says how the two differ, empty where they do not by half a cent.
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
	}
	return fmt.Sprintf("the agent's own count%s is %s, %s %s than %s in the files: %s",
		of, phrase.Dollars(c.Cost), phrase.Dollars(math.Abs(c.Cost-c.Here)), than, them, why)
}
