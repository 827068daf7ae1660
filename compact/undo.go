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

// A past is the last batch on a path, and everything after it.
type past struct {
	jobRecord
	Entry string `json:"undoes"` // the id of the first entry of the batch
	Moved bool   `json:"moved"`  // undo moves the leaf before the batch; else edits restore the messages

	rec   int   // the first entry of the batch, -1 for none
	batch []int // its other entries
	after []int // entries after it on the path
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
		case jsonl.Label, jsonl.SessionInfo, jsonl.ModelChange, jsonl.ThinkingChange, jsonl.CustomEntry,
			jsonl.UsageEntry:
			return false
		}
		return true
	})
}

// lastOf returns the last batch on the path to the session's leaf that has not been undone. If
// there is none, its record is -1 and all entries are after it.
func lastOf(s *sessionfmt.Session) (*past, error) {
	path, _ := s.Path(s.Leaf())
	p := &past{rec: -1, after: path, lines: s.NewReader()}
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
			p.rec, p.Entry = rec, s.ID(rec)
			if err := json.Unmarshal(data, &p.jobRecord); err != nil || p.Entries < 0 {
				return nil, p.refuse(s, "its record of the batch is damaged")
			}
			p.Entries = p.onPath(s, line.Get("timestamp").Text(), path[at+1:])
			p.batch, p.after = path[at+1:at+1+p.Entries], path[at+1+p.Entries:]
			p.last = p.last || path[at+p.Entries] == s.Len()-1
			return p, p.err
		}
	}
	return p, p.err
}

// onPath returns how many entries of the batch are on the path after its first entry: all, unless
// the leaf was moved into the batch. They have the time of the first. Where a migration has paired a
// compaction with a patch, there is one more.
func (p *past) onPath(s *sessionfmt.Session, time string, after []int) int {
	for k, rec := range after {
		paired := k == p.Entries && k > 0 && s.Kind(after[k-1]) == jsonl.Transform && s.Kind(rec) == jsonl.Compaction
		if k >= p.Entries && !paired || !p.line(rec).Get("timestamp").Is(time) {
			return k
		}
	}
	return len(after)
}

// BatchEnd returns the last entry of the batch that record rec belongs to, or rec itself. What is
// appended below an earlier entry of a batch follows a part of its changes: an edit of a call, say,
// without that of the result. The entries of a batch follow each other in the file and on the path,
// change the context, and have one time; the mark of another batch ends it.
func BatchEnd(s *sessionfmt.Session, rec int) (int, error) {
	if rec < 0 || !inBatches(s.Kind(rec)) {
		return rec, nil
	}
	r := s.NewReader()
	line, err := r.Line(rec)
	at := line.Get("timestamp").Text()
	for next := rec + 1; err == nil && at != "" && next < s.Len(); next++ {
		if s.Parent(next) != rec || !inBatches(s.Kind(next)) || line.Get("customType").Is(sessionfmt.UndoType) {
			break
		}
		if line, err = r.Line(next); line.Get("customType").Is(markType) || !line.Get("timestamp").Is(at) {
			break
		}
		rec = next
	}
	return rec, err
}

// inBatches reports whether batches have entries of a kind. Messages are left out: agents too may
// write several at one time.
func inBatches(k jsonl.Kind) bool {
	switch k {
	case jsonl.ContextEdit, jsonl.Deletion, jsonl.Compaction, jsonl.Reset, jsonl.Transform, jsonl.CustomEntry:
		return true
	}
	return false
}

func (p *past) refuse(s *sessionfmt.Session, why string) error {
	return &sessionfmt.Error{
		Pos: s.Pos(p.rec),
		Err: errors.New(why),
		Hint: fmt.Sprintf("ctxtool branch %s %s -o FILE writes a session of the path before it",
			sessionfmt.Clean(s.Name), sessionfmt.Quote(s.ID(s.Parent(p.rec)))),
	}
}

// ErrNothing refuses to undo what was not done.
var ErrNothing = errors.New("nothing to undo")

// Undo returns a batch, with timestamps at, that reverts the last batch on the path to the
// session's leaf, and what checks that a session read back with it has the context from before.
// While only labels and settings follow that batch, the new one is appended at the entry before it:
// the settings again, and one entry that is the new leaf. Otherwise edits restore the edited
// messages, one for each message, since an edit names one target (docs/session-format.md 5.6); a
// compaction or a patch cannot be reverted then, which is an error. So is an edit after the batch
// that nothing followed: its editor restores it. last reports whether the file ends with the batch
// that is reverted.
func Undo(r *replay.Replay, at time.Time) (b *sessionfmt.Batch, promise func(*sessionfmt.Session) error, last bool,
	err error) {
	s := r.Session
	if err := s.Foreign(); err != nil {
		return nil, nil, false, err
	}
	p, err := lastOf(s)
	if err != nil {
		return nil, nil, false, err
	}
	if err := p.edited(r); err != nil {
		return nil, nil, false, err
	}
	if p.rec < 0 {
		return nil, nil, false, &sessionfmt.Error{
			Pos: sessionfmt.Pos{File: s.Name},
			Err: fmt.Errorf("%w: the active path has no batch of ctxtool", ErrNothing),
			Hint: "undo does not find what was appended with --no-mark; ctxtool branch " +
				"writes a session of the path before it",
		}
	}
	follower := p.follower(s)
	edits := !slices.ContainsFunc(p.batch, func(rec int) bool { return s.Kind(rec) != jsonl.ContextEdit })
	below, undo := s.Parent(p.rec), p.move
	switch p.Moved = follower < 0; {
	case !p.Moved && !edits:
		return nil, nil, false,
			p.refuse(s, fmt.Sprintf(
				"what was summarized or patched cannot be restored below entry %s, which followed it",
				sessionfmt.Quote(s.ID(follower))))
	case !p.Moved:
		below, undo = s.Leaf(), p.restore
	}
	b = s.NewBatch(below, at)
	if err := b.Err(); err != nil {
		return nil, nil, false, err
	}
	w, err := undo(r, b)
	if err = cmp.Or(err, p.err); err == nil {
		err = addRecord(b, sessionfmt.UndoType, p)
	}
	return b, w.Promise, p.last, err
}

// edited returns an error if the last change of the context is an edit without a batch, which
// undo would not undo.
func (p *past) edited(r *replay.Replay) error {
	s := r.Session
	for _, rec := range slices.Backward(p.after) {
		switch s.Kind(rec) {
		case jsonl.Label, jsonl.SessionInfo, jsonl.ModelChange, jsonl.ThinkingChange, jsonl.UsageEntry:
		case jsonl.CustomEntry:
			if p.line(rec).Get("customType").Is(sessionfmt.UndoType) {
				return p.err
			}
		case jsonl.ContextEdit:
			target, err := p.changes(r, rec)
			if err == nil && target >= 0 {
				err = p.byEdit(s, rec, target)
			}
			if err != nil {
				return err
			}
		default:
			return p.err
		}
	}
	return p.err
}

// changes returns the record that an edit changes, -1 if a later one replaced it, or if it restored
// what the record says.
func (p *past) changes(r *replay.Replay, rec int) (target int, err error) {
	s := r.Session
	e, err := r.At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return -1, err
	}
	edit := p.line(rec)
	target = s.FindValue(edit.Get("targetId"))
	if by, ok := e.Edits()[target]; !ok || by != rec {
		return -1, nil
	}
	content := edit.Get("replacement").Get("content")
	if !content.Exists() {
		return target, nil
	}
	is := sumOf(content)
	if is == sumOf(orEmpty(contentOf(s, target, p.line(target)))) {
		return -1, p.err
	}
	return target, p.err
}

func (p *past) byEdit(s *sessionfmt.Session, rec, target int) error {
	id := sessionfmt.Quote(s.ID(target))
	return &sessionfmt.Error{
		Pos:  s.Pos(rec),
		Err:  fmt.Errorf("%w: the last change is an edit of entry %s, which belongs to no batch", ErrNothing, id),
		Hint: fmt.Sprintf("ctxtool edit %s %s --restore undoes it", sessionfmt.Clean(s.Name), id),
	}
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
func (p *past) move(r *replay.Replay, b *sessionfmt.Batch) (intent, error) {
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
	opt := r.Options
	opt.Leaf = s.Parent(p.rec)
	e, err := replay.New(s, opt).At(sessionfmt.After(opt.Leaf))
	if replay.Stopped(err) { // a broken patch is before the batch: there is no context to compare
		return intent{}, nil
	}
	return intent{e: e}, err
}

// restore adds edits that repeat the earlier content of the messages that the batch edited.
func (p *past) restore(r *replay.Replay, b *sessionfmt.Batch) (w intent, err error) {
	s := r.Session
	before, failed := r.At(sessionfmt.Before(p.rec))
	w.e, err = r.At(sessionfmt.After(s.Leaf()))
	if err = cmp.Or(failed, err); err != nil {
		return w, err
	}
	edits := map[int]int{} // of the batch, by the records that they edit
	var order []int
	for _, rec := range p.batch {
		target := s.FindValue(p.line(rec).Get("targetId"))
		edits[target] = rec
		order = append(order, target)
	}
	if err := p.lost(s, w.e, order, edits); err != nil {
		return w, err
	}
	w.edited = map[int]value{}
	for m, err := range before.ContextMessages() {
		if err != nil {
			return w, err
		}
		if rec := m.Origin.Record; edits[rec] > 0 {
			w.edited[rec] = slices.Clone(orEmpty(m.Raw.Get("content")))
		}
	}
	for _, target := range order {
		if content, ok := w.edited[target]; ok { // else it was not in the context before the batch
			addEdit(b, s, target, content)
		}
	}
	return w, nil
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
	return p.refuse(s, fmt.Sprintf("%s%s: summarized or edited again since, and cannot be restored",
		strings.Join(all, ", "), more))
}
