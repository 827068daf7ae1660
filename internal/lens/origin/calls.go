package origin

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/store"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Call is a call of a tool that wrote lines.
type Call struct {
	Session int    `json:"session"`             // index in sessions
	File    string `json:"file"`                // of the session, or of its sub-agent
	Request int    `json:"request"`             // from 0 on its path, as request:N; -1 if unknown
	ID      string `json:"id"`                  // of the entry
	Line    int    `json:"line"`                // of that entry in the file
	Time    string `json:"time,omitempty"`      // of that entry
	Tool    string `json:"tool"`                // its name
	Prompt  string `json:"prompt,omitempty"`    // first words of what the user asked for
	Agent   string `json:"subAgent,omitempty"`  // the id of the sub-agent that made the call for the session
	Started *int   `json:"startedBy,omitempty"` // the request of the session that started the sub-agent
	// of the request in US dollars, as recorded, else by the table of prices
	Cost   *float64 `json:"cost,omitempty"`
	Counts Counts   `json:"lines"` // that it wrote

	at     int64
	record int
}

// A Session is a session that wrote lines.
type Session struct {
	Ref    string  `json:"ref"` // as a command takes it
	File   string  `json:"file"`
	ID     string  `json:"id"`
	Agent  string  `json:"agent"`
	Title  string  `json:"title,omitempty"`
	Calls  int     `json:"calls"`
	Cost   float64 `json:"cost"`  // of the requests that made these calls, each once, in US dollars
	Counts Counts  `json:"lines"` // that it wrote
}

// A writer collects the calls that wrote lines.
type writer struct {
	repo  *Repo
	opt   Options
	calls []Call
	of    []*session
	known map[callKey]int
	order []int // new indexes of calls
}

type callKey struct {
	of     *session
	record int
	call   string
}

func newWriter(r *Repo, opt Options) *writer {
	return &writer{repo: r, opt: opt, known: map[callKey]int{}}
}

// call counts a line that a call wrote, and returns the index of the call.
func (w *writer) call(by *write, sure Certainty) *int {
	k := callKey{by.of, by.record, by.call}
	at, ok := w.known[k]
	if !ok {
		at = len(w.calls)
		w.known[k] = at
		w.calls = append(w.calls, Call{File: by.of.file, Request: -1, Tool: by.tool, at: by.at, record: by.record})
		w.of = append(w.of, by.of)
	}
	w.calls[at].Counts.add(sure)
	return &at
}

// finish reads the sessions of the calls, and returns both, calls in the order of time.
func (w *writer) finish() ([]Call, []Session) {
	sessions := []Session{}
	at := map[string]int{} // by id of the session that owns the calls
	for k := range w.calls {
		of := w.of[k]
		owner := cmp.Or(of.Owner, of.ID)
		n, ok := at[owner]
		if !ok {
			n = len(sessions)
			at[owner] = n
			file := of.file
			if of.Owner != "" {
				file = w.ownerFile(of)
			}
			sessions = append(sessions, Session{File: file, ID: owner, Agent: of.Agent})
		}
		w.calls[k].Session = n
		if of.Owner != "" {
			w.calls[k].Agent = of.ID
			if of.ID == of.Owner {
				w.calls[k].Agent = strings.TrimSuffix(filepath.Base(of.file), ".jsonl")
			}
		}
	}
	byFile := map[string][]int{}
	for k, c := range w.calls {
		byFile[c.File] = append(byFile[c.File], k)
	}
	for file, calls := range byFile {
		w.read(file, calls)
	}
	for k := range w.calls {
		if c := &w.calls[k]; c.Agent != "" {
			w.started(c, sessions[c.Session].File, w.of[k])
		}
	}
	for n := range sessions {
		w.sum(&sessions[n], n)
	}
	index := make([]int, len(w.calls))
	for k := range index {
		index[k] = k
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(w.calls[a].at, w.calls[b].at) })
	w.order = make([]int, len(index))
	out := make([]Call, 0, len(index))
	for k, was := range index {
		w.order[was] = k
		out = append(out, w.calls[was])
	}
	return out, sessions
}

// ownerFile returns the file of the session whose sub-agent wrote a file, or that of the sub-agent.
func (w *writer) ownerFile(of *session) string {
	for i := range w.opt.Files {
		h := store.ReadHeader(w.opt.Open.Disk, w.opt.Files[i].Name)
		if h.ID == of.Owner && h.Owner == "" {
			return w.opt.Files[i].Name
		}
	}
	return of.file
}

// sum adds up the calls of a session.
func (w *writer) sum(s *Session, n int) {
	paid := map[[2]any]bool{}
	for _, c := range w.calls {
		if c.Session != n {
			continue
		}
		s.Calls++
		s.Counts.Exact += c.Counts.Exact
		s.Counts.Edited += c.Counts.Edited
		s.Counts.Likely += c.Counts.Likely
		if key := [2]any{c.File, c.record}; c.Cost != nil && !paid[key] {
			paid[key] = true
			s.Cost += *c.Cost
		}
	}
	open := w.opt.Open
	open.Workers = 1
	if ses, err := sessionfmt.Open(s.File, open); err == nil {
		if about, err := outline.Headed(ses); err == nil && outline.Entitle(&about, ses, ses.Leaf()) == nil {
			s.Title = about.Title()
		}
		ses.Close()
	}
}

// read completes calls of one file. What cannot be read stays empty.
func (w *writer) read(file string, calls []int) {
	w.within(file, func(s *sessionfmt.Session, lines *sessionfmt.Reader, book *ledger.Ledger) {
		for _, k := range calls {
			c := &w.calls[k]
			c.ID, c.Line = s.ID(c.record), s.Line(c.record)
			if at, err := lines.Timestamp(c.record); err == nil {
				c.Time = at.Text()
			}
			c.Prompt = promptOf(s, lines, c.record)
			if q := book.Answered(c.record); q >= 0 {
				c.Request = int(book.Requests[q].Number)
				if dollars, _, ok := book.Paid(&book.Requests[q]); ok {
					c.Cost = &dollars
				}
			}
		}
	})
}

// within opens a session with its ledger. A session that cannot be read is left out.
func (w *writer) within(file string, see func(*sessionfmt.Session, *sessionfmt.Reader, *ledger.Ledger)) {
	open := w.opt.Open
	open.Workers = 1
	s, err := sessionfmt.Open(file, open)
	if err != nil {
		return
	}
	defer s.Close()
	book, err := ledger.Read(replay.New(s, replay.Options{Leaf: s.Leaf()}), ledger.Options{Leaf: s.Leaf()})
	if err == nil {
		see(s, s.NewReader(), book)
	}
}

// started sets which request of a session started a sub-agent, and the prompt before it: the last one that was
// answered when the sub-agent began.
func (w *writer) started(c *Call, file string, of *session) {
	began, err := time.Parse(time.RFC3339, of.Timestamp)
	if err != nil || file == of.file {
		return
	}
	w.within(file, func(s *sessionfmt.Session, lines *sessionfmt.Reader, book *ledger.Ledger) {
		at := -1
		for k := range book.Requests {
			if q := &book.Requests[k]; q.At > 0 && q.At <= began.UnixMilli() && q.Number >= 0 {
				at = k
			}
		}
		if at >= 0 {
			q := &book.Requests[at]
			number := int(q.Number)
			c.Started, c.Prompt = &number, promptOf(s, lines, int(q.Record))
		}
	})
}

// promptOf returns the first words of what the user asked for before a record.
func promptOf(s *sessionfmt.Session, lines *sessionfmt.Reader, record int) string {
	for i := s.Parent(record); i >= 0; i = s.Parent(i) {
		if s.Kind(i) != jsonl.User {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return ""
		}
		if words := outline.PromptWords(line); words != "" {
			return words
		}
	}
	return ""
}
