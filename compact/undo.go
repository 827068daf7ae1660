package compact

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A past is the last batch on a path, and the entries after it.
type past struct {
	jobRecord
	Entry string `json:"undoes"` // the id of the first entry of the batch
	Moved bool   `json:"moved"`  // undo moves the leaf before the batch; else edits restore the messages

	rec   int   // the first entry of the batch
	batch []int // the others
	after []int // the entries after it on the path
	last  bool  // the file ends with the batch, or with the undo of a later one
	lines *sessionfmt.Reader
	err   error // the first of these
}

// line returns the line of a record, nil after an error.
func (p *past) line(rec int) jsonl.Value {
	line, err := p.lines.Line(rec)
	p.err = cmp.Or(p.err, err)
	return line
}

// grown reports whether an entry after the batch is in a request or changes one.
func (p *past) grown(s *sessionfmt.Session) bool {
	return slices.ContainsFunc(p.after, func(rec int) bool {
		switch s.Kind(rec) {
		case jsonl.Label, jsonl.SessionInfo, jsonl.ModelChange, jsonl.ThinkingChange, jsonl.CustomEntry, jsonl.UsageEntry:
			return false
		}
		return true
	})
}

// lastOf returns the last batch on the path to the session's leaf that has not been undone,
// nil if there is none.
func lastOf(s *sessionfmt.Session) (*past, error) {
	path, _ := s.Path(s.Leaf())
	p := &past{lines: s.NewReader()}
	undone := map[string]bool{}
	for at := len(path) - 1; at >= 0; at-- {
		rec := path[at]
		if s.Kind(rec) != jsonl.CustomEntry {
			continue
		}
		line := p.line(rec)
		switch data := line.Get("data"); {
		case line.Get("customType").Is(sessionfmt.UndoType):
			undone[data.Get("undoes").Text()] = true
			p.last = p.last || rec == s.Len()-1
		case line.Get("customType").Is(markType) && !undone[s.ID(rec)]:
			p.rec = rec
			if err := json.Unmarshal(data, &p.jobRecord); err != nil || p.Entries < 0 || p.Entries >= len(path)-at {
				return nil, p.refuse(s, "part of its batch is not on this path")
			}
			p.Entry = s.ID(rec)
			p.batch, p.after = path[at+1:at+1+p.Entries], path[at+1+p.Entries:]
			p.last = p.last || path[at+p.Entries] == s.Len()-1
			return p, p.err
		}
	}
	return nil, p.err
}

func (p *past) refuse(s *sessionfmt.Session, why string) error {
	return &sessionfmt.Error{
		Pos:  s.Pos(p.rec),
		Err:  errors.New(why),
		Hint: fmt.Sprintf("ctxtool branch %s %s -o FILE writes a session of the path before it", sessionfmt.Clean(s.Name), sessionfmt.Quote(s.ID(s.Parent(p.rec)))),
	}
}

// Undo returns a batch, with timestamps at, that reverts the last batch on the path to the
// session's leaf. While only labels and settings follow that batch, the new one is appended
// at the entry before it: the settings again, and one entry that is the new leaf. Otherwise
// edits restore the edited messages, one for each message, since an edit names one target
// (docs/session-format.md 5.6); a compaction or a patch cannot be reverted then, which is an
// error. last reports whether the file ends with the batch that is reverted.
func Undo(r *replay.Replay, at time.Time) (b *sessionfmt.Batch, last bool, err error) {
	s := r.Session
	if err := s.Foreign(); err != nil {
		return nil, false, err
	}
	p, err := lastOf(s)
	if err != nil {
		return nil, false, err
	}
	if p == nil {
		return nil, false, &sessionfmt.Error{
			Pos:  sessionfmt.Pos{File: s.Name},
			Err:  errors.New("nothing to undo: the active path has no batch of ctxtool"),
			Hint: "undo does not find what was appended with --no-mark; ctxtool branch writes a session of the path before it",
		}
	}
	follower := p.follower(s)
	edits := !slices.ContainsFunc(p.batch, func(rec int) bool { return s.Kind(rec) != jsonl.ContextEdit })
	below, undo := s.Parent(p.rec), p.move
	switch p.Moved = follower < 0; {
	case !p.Moved && !edits:
		return nil, false, p.refuse(s, fmt.Sprintf("what was summarized or patched cannot be restored below entry %s, which followed it", sessionfmt.Quote(s.ID(follower))))
	case !p.Moved:
		below, undo = s.Leaf(), p.restore
	}
	b = s.NewBatch(below, at)
	if err = cmp.Or(b.Err(), undo(r, b), p.err); err == nil {
		err = addRecord(b, sessionfmt.UndoType, p)
	}
	return b, p.last, err
}

// follower returns the first entry after the batch that would be lost if the leaf moved
// before it, -1 if there is none. Labels and names apply on every branch, settings are
// repeated, and the entry that undid a later batch is no longer needed.
func (p *past) follower(s *sessionfmt.Session) int {
	for _, rec := range p.after {
		switch s.Kind(rec) {
		case jsonl.Label, jsonl.SessionInfo, jsonl.ModelChange, jsonl.ThinkingChange:
			continue
		case jsonl.CustomEntry:
			if p.line(rec).Get("customType").Is(sessionfmt.UndoType) {
				continue
			}
		}
		return rec
	}
	return -1
}

// move repeats the settings after the batch. The entry that Undo adds after them is the
// leaf, because it is the last.
func (p *past) move(r *replay.Replay, b *sessionfmt.Batch) error {
	s := r.Session
	for _, rec := range p.after {
		if k := s.Kind(rec); k != jsonl.ModelChange && k != jsonl.ThinkingChange {
			continue
		}
		var fields []jsonl.Field
		for key, v := range p.line(rec).Members {
			switch string(key) {
			case "type", "id", "parentId", "timestamp":
			default:
				fields = append(fields, field(string(key), slices.Clone(v)))
			}
		}
		b.Add(s.Kind(rec), fields...)
	}
	return nil
}

// restore adds edits that repeat the earlier content of the messages that the batch edited.
func (p *past) restore(r *replay.Replay, b *sessionfmt.Batch) error {
	s := r.Session
	before, err := r.At(sessionfmt.Before(p.rec))
	if err != nil {
		return err
	}
	now, err := r.At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return err
	}
	edits := map[int]int{} // of the batch, by the records that they edit
	var order []int
	for _, rec := range p.batch {
		target := s.FindValue(p.line(rec).Get("targetId"))
		edits[target] = rec
		order = append(order, target)
	}
	if err := p.lost(s, now, order, edits); err != nil {
		return err
	}
	said := map[int]value{}
	for m, err := range before.ContextMessages() {
		if err != nil {
			return err
		}
		if rec := m.Origin.Record; edits[rec] > 0 {
			said[rec] = slices.Clone(orEmpty(m.Raw.Get("content")))
		}
	}
	for _, target := range order {
		if content, ok := said[target]; ok { // else it was not in the context before the batch
			addEdit(b, s, target, content)
		}
	}
	return nil
}

// lost returns an error if messages cannot be restored: those that were summarized or edited
// again since.
func (p *past) lost(s *sessionfmt.Session, now *replay.Envelope, order []int, edits map[int]int) error {
	last := now.Edits()
	var all []string
	for _, target := range order {
		if by, ok := last[target]; !ok || by != edits[target] {
			all = append(all, sessionfmt.Quote(s.ID(target)))
		}
	}
	if len(all) == 0 {
		return nil
	}
	more := ""
	if len(all) > 5 {
		more = fmt.Sprintf(" and %d more", len(all)-5)
		all = all[:5]
	}
	return p.refuse(s, fmt.Sprintf("%s%s: summarized or edited again since, and cannot be restored", strings.Join(all, ", "), more))
}
