package doctor

import (
	"cmp"
	"ctxtool/internal/base/sorting"
	"ctxtool/stats"
	"slices"
)

// StoreSchema is that of a Store.
const StoreSchema = "ctxtool/doctor.store/1"

// A Store lists the problems of several sessions by project, schema ctxtool/doctor.store/1.
type Store struct {
	Schema   string    `json:"schema"`
	Projects []Project `json:"projects"`         // the worst first
	Unread   []Unread  `json:"unread"`           // sessions that could not be read
	Prices   string    `json:"prices,omitempty"` // the date of the table of prices

	sum stats.Report // of their costs, with each call once
}

// A Project is the sessions of a folder.
type Project struct {
	Project  string  `json:"project"`  // the folder
	Sessions int     `json:"sessions"` // that were read
	Requests int     `json:"requests"` // answered ones of their paths
	Cost     float64 `json:"cost"`     // US dollars ([figures](figures.md)), each call once
	// US dollars of it lost by the cache: `rebilled` of `ctxtool cache`
	Lost float64 `json:"lost"`
	Dead int64   `json:"dead"` // tokens in contexts that the commands would remove
	// tokens per request of unused tools and skills
	Carried int64   `json:"carried"`
	Damaged int     `json:"damaged"`           // sessions with damage that a command fixes, or that hides content
	Dropped int     `json:"dropped"`           // sessions whose last compaction dropped what was needed
	Session string  `json:"session,omitempty"` // the worst of them, as a command takes it
	Worst   *Line   `json:"worst,omitempty"`   // its first line
	weight  float64 // of all lines
}

// An Unread is a session without a report.
type Unread struct {
	File  string `json:"file"`
	Error string `json:"error"` // why
}

// NewStore returns the report on several sessions, in the order of their files, which decides whose copy of a call
// counts. The costs of sub-agents are part of those of their sessions.
func NewStore(all []*Report, opt *stats.Options) *Store {
	s := &Store{Schema: StoreSchema, Projects: []Project{}, Unread: []Unread{}}
	own := *opt
	own.Lenses, own.By = lensesOf("cost"), byProject
	var read []*stats.Report
	for _, r := range all {
		if r.Error != "" {
			s.Unread = append(s.Unread, Unread{r.File, r.Error})
			continue
		}
		read = append(read, r.Figures)
	}
	sessions := map[*stats.Report]bool{}
	for _, r := range own.Gather(read) {
		sessions[r] = r.Context != nil // else it is a sub-agent without its session, read for its cost
		own.Add(&s.sum, r)
	}
	own.Finish(&s.sum)
	for _, r := range all {
		if r.Error == "" && sessions[r.Figures] {
			s.add(r)
		}
	}
	s.finish()
	return s
}

// add adds the report of one more session.
func (s *Store) add(r *Report) {
	k := slices.IndexFunc(s.Projects, func(p Project) bool { return p.Project == r.Project })
	if k < 0 {
		k = len(s.Projects)
		s.Projects = append(s.Projects, Project{Project: r.Project})
	}
	s.Projects[k].add(r)
}

// add adds one more session.
func (p *Project) add(r *Report) {
	p.Sessions++
	p.Requests += r.Requests
	dead, damaged := int64(0), false
	for i, l := range r.Lines {
		switch l.Kind {
		case "cache":
			p.Lost += *cmp.Or(l.Cost, new(float64))
		case "context", "together":
			dead = max(dead, l.Tokens)
		case "tools", "skills":
			p.Carried += l.Tokens
		case "damage":
			damaged = true
		case "compaction":
			p.Dropped++
		}
		if i == 0 && (p.Worst == nil || l.weight > p.Worst.weight) {
			p.Session, p.Worst = r.File, &r.Lines[0]
		}
		p.weight += l.weight
	}
	p.Dead += dead
	if damaged {
		p.Damaged++
	}
}

// finish readies the store for showing, once all sessions have been added.
func (s *Store) finish() {
	if s.sum.Cost != nil {
		s.Prices = s.sum.Cost.Prices
		for _, row := range s.sum.Cost.Rows {
			k := slices.IndexFunc(s.Projects, func(p Project) bool { return p.Project == row.Project })
			if k >= 0 {
				s.Projects[k].Cost += row.Cost.Total
			}
		}
	}
	sorting.By(s.Projects, func(a, b Project) int { return cmp.Compare(b.weight, a.weight) })
}
