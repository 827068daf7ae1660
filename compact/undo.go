package compact

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Undone is a batch that undo takes back.
type Undone struct {
	jobRecord
	Entry  string `json:"undoes"` // the entry that the batch begins with
	Moved  bool   `json:"moved"`  // the leaf is before the batch again; else edits restore what was there
	Parent int    `json:"-"`      // the record below which the batch of the undoing begins
	Last   bool   `json:"-"`      // the file ends with it, or with the undoing of another one
}

// A past is the last batch on a path, and what follows it.
type past struct {
	Undone
	rec   int   // of its first entry
	batch []int // the others
	after []int // what follows on the path
}

// FindLast finds the last batch on the path to the session's leaf that has not been
// undone, and says how undoing it begins: see Undo.
func FindLast(s *sessionfmt.Session) (*Undone, error) {
	p, err := findPast(s)
	if err != nil {
		return nil, err
	}
	return &p.Undone, nil
}

// findPast is lastOf where there is one, and it can be undone.
func findPast(s *sessionfmt.Session) (*past, error) {
	p, err := lastOf(s)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, &sessionfmt.Error{
			Pos:  sessionfmt.Pos{File: s.Name},
			Err:  errors.New("nothing to undo: no batch of ctxtool's is on the active path"),
			Hint: "what was appended with --no-mark is not known again; ctxtool branch makes a session of the path before it",
		}
	}
	return p, p.movable(s)
}

// grown reports that something has come since which a request holds, or which changes one.
func (p *past) grown(s *sessionfmt.Session) bool {
	return slices.ContainsFunc(p.after, func(rec int) bool {
		switch s.Kind(rec) {
		case jsonl.Label, jsonl.SessionInfo, jsonl.ModelChange, jsonl.ThinkingChange, jsonl.CustomEntry, jsonl.UsageEntry:
			return false
		}
		return true
	})
}

// lastOf is the last batch on the path to the session's leaf that has not been undone,
// nil for none.
func lastOf(s *sessionfmt.Session) (*past, error) {
	path, _ := s.Path(s.Leaf())
	lines := s.NewReader()
	undone, last := map[string]bool{}, false
	for at := len(path) - 1; at >= 0; at-- {
		rec := path[at]
		if s.Kind(rec) != jsonl.CustomEntry {
			continue
		}
		line, err := lines.Line(rec)
		if err != nil {
			return nil, err
		}
		switch data := line.Get("data"); {
		case line.Get("customType").Is(sessionfmt.UndoType):
			undone[data.Get("undoes").Text()] = true
			last = last || rec == s.Len()-1
		case line.Get("customType").Is(markType) && !undone[s.ID(rec)]:
			p := &past{rec: rec}
			if err := json.Unmarshal(data, &p.jobRecord); err != nil || p.Entries < 0 || p.Entries >= len(path)-at {
				return nil, p.refuse(s, "its batch is not whole on this path")
			}
			p.Entry, p.Parent = s.ID(rec), s.Leaf()
			p.batch, p.after = path[at+1:at+1+p.Entries], path[at+1+p.Entries:]
			p.Last = last || path[at+p.Entries] == s.Len()-1
			return p, nil
		}
	}
	return nil, nil
}

// movable sees how a batch can be undone. A compaction or a patch is undone by going on
// before it, which is possible while nothing else hangs below it.
func (p *past) movable(s *sessionfmt.Session) error {
	for _, rec := range p.batch {
		p.Moved = p.Moved || s.Kind(rec) != jsonl.ContextEdit
	}
	if !p.Moved {
		return nil
	}
	for _, rec := range p.after {
		switch s.Kind(rec) {
		case jsonl.Label, jsonl.SessionInfo, jsonl.ModelChange, jsonl.ThinkingChange:
		default:
			return p.refuse(s, fmt.Sprintf("what was summarised or patched cannot come back below entry %s, which followed it", sessionfmt.Quote(s.ID(rec))))
		}
	}
	p.Parent = s.Parent(p.rec)
	return nil
}

func (p *past) refuse(s *sessionfmt.Session, why string) error {
	return &sessionfmt.Error{
		Pos:  s.Pos(p.rec),
		Err:  errors.New(why),
		Hint: fmt.Sprintf("ctxtool branch %s %s -o FILE makes a session of the path before it", s.Name, sessionfmt.Quote(s.ID(s.Parent(p.rec)))),
	}
}

// Undo adds to a batch, which begins at Undone.Parent, the entries that undo the last
// batch on the path to the session's leaf: edits that repeat what the messages said
// before it; or, for a compaction or a patch, what makes the entry before it the
// leaf, with the settings that followed.
func Undo(r *replay.Replay, b *sessionfmt.Batch) error {
	s := r.Session
	p, err := findPast(s)
	if err != nil {
		return err
	}
	if p.Moved {
		return p.move(s, b)
	}
	before, err := r.At(p.rec, true)
	if err != nil {
		return err
	}
	now, err := r.At(s.Leaf(), false)
	if err != nil {
		return err
	}
	return p.restore(s, b, before, now)
}

// move goes on before the batch. The entry that says so is the leaf by that alone.
func (p *past) move(s *sessionfmt.Session, b *sessionfmt.Batch) error {
	lines := s.NewReader()
	for _, rec := range p.after {
		line, err := lines.Line(rec)
		if err != nil {
			return err
		}
		var fields []jsonl.Field
		for key, v := range line.Members {
			switch string(key) {
			case "type", "id", "parentId", "timestamp":
			default:
				fields = append(fields, field(string(key), append(value(nil), v...)))
			}
		}
		if k := s.Kind(rec); k == jsonl.ModelChange || k == jsonl.ThinkingChange { // the others hold wherever they stand
			b.Add(k, fields...)
		}
	}
	return p.note(b)
}

// note says what has been undone.
func (p *past) note(b *sessionfmt.Batch) error {
	data, err := json.Marshal(p.Undone)
	if err != nil {
		return err
	}
	b.Add(jsonl.CustomEntry, field("customType", quoted(sessionfmt.UndoType)), field("data", data))
	return nil
}

// restore repeats what the messages said that the batch edited.
func (p *past) restore(s *sessionfmt.Session, b *sessionfmt.Batch, before, now *replay.Envelope) error {
	lines := s.NewReader()
	targets := map[int]int{} // records, and the edits of the batch
	var order []int
	for _, rec := range p.batch {
		line, err := lines.Line(rec)
		if err != nil {
			return err
		}
		target := s.FindValue(line.Get("targetId"))
		targets[target] = rec
		order = append(order, target)
	}
	said, err := contentsOf(before, targets)
	if err != nil {
		return err
	}
	if err := p.lost(s, now, order, targets); err != nil {
		return err
	}
	for _, target := range order {
		content, ok := said[target]
		if !ok {
			continue // it was not in the context then
		}
		b.Add(jsonl.ContextEdit,
			field("targetId", quoted(s.ID(target))), field("replacement", fmt.Appendf(nil, `{"content":%s}`, content)))
	}
	return p.note(b)
}

// contentsOf are what messages say in a context, by their records, as they are stored.
func contentsOf(e *replay.Envelope, which map[int]int) (map[int]value, error) {
	all := map[int]value{}
	for m, err := range e.ContextMessages() {
		if err != nil {
			return nil, err
		}
		if _, ok := which[m.Origin.Record]; !ok {
			continue
		}
		content := m.Raw.Get("content")
		if content.IsNull() {
			content = value("[]")
		}
		all[m.Origin.Record] = append(value(nil), content...)
	}
	return all, nil
}

// lost refuses to undo edits where that would not bring everything back: what has been
// summarised since, or edited by somebody else.
func (p *past) lost(s *sessionfmt.Session, now *replay.Envelope, order []int, edits map[int]int) error {
	last := now.Edits()
	var gone []string
	for _, target := range order {
		if by, ok := last[target]; !ok || by != edits[target] {
			gone = append(gone, sessionfmt.Quote(s.ID(target)))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	more := ""
	if len(gone) > 5 {
		more = fmt.Sprintf(" and %d more", len(gone)-5)
		gone = gone[:5]
	}
	return p.refuse(s, fmt.Sprintf("%s%s: summarised or edited again since, and would not come back", strings.Join(gone, ", "), more))
}
