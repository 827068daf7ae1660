package origin

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// list lists the calls that wrote the lines, in the order of time, and their sessions.
func (b *builder) list() {
	b.calls = map[callKey]int{}
	for _, t := range b.files {
		for i := range t.lines {
			w := t.writer(i)
			if w == nil || !b.keep(t, i) {
				continue
			}
			if _, had := b.calls[w.key()]; !had {
				b.calls[w.key()] = -1
				b.used = append(b.used, w)
			}
		}
	}
	slices.SortStableFunc(b.used, func(x, y *write) int { return cmp.Compare(x.at, y.at) })
	for k, w := range b.used {
		c, owner := Call{File: w.of.file, Request: -1, Tool: w.tool}, w.of.owner()
		s := Session{File: w.of.file, ID: owner, Agent: w.of.Agent}
		if w.of.Owner != "" {
			s.File = cmp.Or(b.scan.owners[owner], s.File)
			if c.Agent = w.of.ID; c.Agent == owner {
				c.Agent = strings.TrimSuffix(filepath.Base(c.File), ".jsonl")
			}
		}
		if c.Session = slices.IndexFunc(b.out.Sessions, func(o Session) bool { return o.ID == owner }); c.Session < 0 {
			c.Session = len(b.out.Sessions)
			b.out.Sessions = append(b.out.Sessions, s)
		}
		b.out.Sessions[c.Session].Calls++
		b.calls[w.key()] = k
		b.out.Calls = append(b.out.Calls, c)
	}
}

// describe reads what the sessions tell of the calls. What cannot be read stays empty.
func (b *builder) describe() {
	var files []string
	for _, c := range b.out.Calls {
		files = append(files, c.File, b.out.Sessions[c.Session].File)
	}
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		b.read(file)
	}
	type request struct {
		of     *session
		record int
	}
	paid := map[request]bool{}
	for k, w := range b.used {
		if c := &b.out.Calls[k]; c.Cost != nil && !paid[request{w.of, w.record}] {
			paid[request{w.of, w.record}] = true
			b.out.Sessions[c.Session].Cost += *c.Cost
		}
	}
}

// read completes the calls of a file, and those of its sub-agents.
func (b *builder) read(file string) {
	open := b.opt.Open
	open.Workers, open.Opened = 1, nil
	s, err := sessionfmt.Open(file, open)
	if err != nil {
		return
	}
	defer s.Close()
	book, err := ledger.Read(replay.New(s, replay.Options{Leaf: s.Leaf()}), ledger.Options{Leaf: s.Leaf()})
	if err != nil {
		return
	}
	lines := s.NewReader()
	for k := range b.out.Calls {
		c, w := &b.out.Calls[k], b.used[k]
		if c.File == file {
			c.ID, c.Line = s.ID(w.record), s.Line(w.record)
			if at, err := lines.Timestamp(w.record); err == nil {
				c.Time = at.Text()
			}
			c.Prompt = cmp.Or(c.Prompt, promptOf(s, lines, w.record))
			if q := book.Answered(w.record); q >= 0 {
				c.Request = int(book.Requests[q].Number)
				if dollars, _, ok := book.Paid(&book.Requests[q]); ok {
					c.Cost = &dollars
				}
			}
		} else if began, err := time.Parse(time.RFC3339, w.of.Timestamp); err == nil && c.Agent != "" &&
			b.out.Sessions[c.Session].File == file {
			if q := startedBy(book, began.UnixMilli()); q != nil {
				number := int(q.Number)
				c.Started, c.Prompt = &number, promptOf(s, lines, int(q.Record))
			}
		}
	}
	for n := range b.out.Sessions {
		if of := &b.out.Sessions[n]; of.File == file {
			if about, err := outline.Headed(s); err == nil && outline.Entitle(&about, s, s.Leaf()) == nil {
				of.Title = about.Title()
			}
		}
	}
}

// startedBy returns the request that started a sub-agent: the last one answered when it began; nil for none.
func startedBy(book *ledger.Ledger, began int64) (last *ledger.Request) {
	for k := range book.Requests {
		if q := &book.Requests[k]; q.At > 0 && q.At <= began && q.Number >= 0 {
			last = q
		}
	}
	return last
}

// promptOf returns the first words of what the user asked for before a record.
func promptOf(s *sessionfmt.Session, lines *sessionfmt.Reader, record int) string {
	for i := s.Parent(record); i >= 0; i = s.Parent(i) {
		if s.Kind(i) != jsonl.User {
			continue
		}
		if line, err := lines.Line(i); err != nil {
			return ""
		} else if words := outline.PromptWords(line); words != "" {
			return words
		}
	}
	return ""
}
