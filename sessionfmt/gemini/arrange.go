package gemini

import (
	"bytes"

	"ctxtool/sessionfmt/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An arranger makes the entries of a log: a message that is written again keeps its place, so
// they are added at the end.
type arranger struct {
	messages *chat.Arranger
	steps    []step
	at       map[string]int // steps with the messages of the history, by their ids
	leaf     int            // the last step of the history, -1 for none
}

// A step is a message, or a change of the history.
type step struct {
	line  dialect.Line
	after int            // the step before it in the history, -1 for none
	more  []dialect.Span // of a checkpoint: messages of it that were written again
	entry int            // its last one
}

// Next is of [dialect.Arranger].
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) (err error) {
	switch l.Code {
	case checkpoint:
		clear(a.at)
		return a.ids(t, a.add(l), l.At, nil)
	case rewind:
		return a.rewind(t, l)
	}
	k, had := a.at[string(l.ID)]
	switch {
	case !had || len(l.ID) == 0:
		if k = a.add(l); len(l.ID) > 0 {
			a.at[string(l.ID)] = k
		}
	case a.steps[k].line.Code == checkpoint || a.steps[k].line.Code == rewind:
		a.steps[k].more = append(a.steps[k].more, l.At)
	default:
		a.steps[k].line = clone(l)
	}
	return nil
}

func clone(l *dialect.Line) dialect.Line {
	kept := *l
	kept.ID, kept.Ref = bytes.Clone(l.ID), bytes.Clone(l.Ref)
	return kept
}

// add adds a step to the history.
func (a *arranger) add(l *dialect.Line) int {
	a.steps = append(a.steps, step{line: clone(l), after: a.leaf, entry: -1})
	a.leaf = len(a.steps) - 1
	return a.leaf
}

// ids makes the messages of a checkpoint those of the history, up to one with an id.
func (a *arranger) ids(t dialect.Tree, k int, at dialect.Span, upto []byte) error {
	line, err := t.Read(at)
	if err != nil {
		return err
	}
	for m := range line.First("$set", "messages").Elements {
		id := m.Get("id").Text()
		if upto != nil && id == string(upto) {
			break
		}
		if id != "" {
			a.at[id] = k
		}
	}
	return nil
}

// rewind takes back a message and all after it, or all messages if it is not there.
func (a *arranger) rewind(t dialect.Tree, l *dialect.Line) error {
	k, ok := a.at[string(l.Ref)]
	if !ok {
		a.leaf = -1
		clear(a.at)
		return nil
	}
	s := a.steps[k]
	for id, of := range a.at {
		if of >= k {
			delete(a.at, id)
		}
	}
	if s.line.Code != checkpoint && s.line.Code != rewind {
		a.leaf = s.after
		return nil
	}
	a.leaf = k
	cut := a.add(l)
	set := s.line.At
	if s.line.Code == rewind {
		set = s.more[0]
		a.steps[cut].more = append(a.steps[cut].more, s.more...)
	} else {
		a.steps[cut].more = append([]dialect.Span{set}, s.more...)
	}
	return a.ids(t, cut, set, l.Ref)
}

// End is of [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) (err error) {
	for k := range a.steps {
		s := &a.steps[k]
		t.Move(a.entry(s.after))
		switch s.line.Code {
		case checkpoint, rewind:
			_, err = t.Add(jsonl.Transform, &s.line, s.more...)
		default:
			err = a.messages.Next(t, &s.line)
		}
		if err != nil {
			return err
		}
		s.entry = t.Leaf()
	}
	t.Move(a.entry(a.leaf))
	return nil
}

// entry is the last entry of a step, -1 for none.
func (a *arranger) entry(step int) int {
	if step < 0 {
		return -1
	}
	return a.steps[step].entry
}

// appendCheckpoint appends a checkpoint, or what a rewind leaves of one, as a patch that
// replaces all messages.
func appendCheckpoint(dst []byte, e *dialect.Entry) []byte {
	w := chat.Writer{Writer: dialect.Writer{Out: dst, Native: e.Native}}
	set, newer, upto := e.Lines[0], e.Lines[1:], jsonl.Value(nil)
	if to := set.Get("$rewindTo"); to.Exists() && len(newer) > 0 {
		set, newer, upto = newer[0], newer[1:], to
	}
	latest := map[string]jsonl.Value{}
	for _, m := range newer {
		latest[m.Get("id").Text()] = m
	}
	w.Text("{", "type", jsonl.Transform.Type())
	w.Place(e, set.First("$set", "lastUpdated"))
	w.Raw(`,"transformerName":"checkpoint","schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"compaction","messages":[`)
	sep := ""
	for m := range set.First("$set", "messages").Elements {
		id := m.Get("id")
		if upto.Exists() && id.Text() == upto.Text() {
			break
		}
		if by, ok := latest[id.Text()]; ok && id.IsString() {
			m = by
		}
		format.Each(m, e.Native, func(said *chat.Said) {
			if said.Kind != jsonl.CustomEntry {
				w.Raw(sep)
				w.Message(said.Kind, said)
				sep = ","
			}
		})
	}
	w.Raw("]}]}")
	return w.Out
}
