package gemini

import (
	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
	"hash/maphash"
)

// An arranger makes the entries of a log: a message that is written again keeps its place, so
// they are added at the end.
type arranger struct {
	messages *chat.Arranger
	steps    dialect.Chunks[step]
	now      dialect.Line
	ids      []byte                   // of all steps
	more     map[int32][]dialect.Span // of a checkpoint: messages of it that were written again
	at       map[uint64]int32         // steps with the messages of the history, by the hash of their ids
	known    []uint64                 // these hashes in the order of their steps, and others
	seed     maphash.Seed
	leaf     int32 // the last step of the history, -1 for none
	title    *dialect.Line
	folders  []dialect.Span // the settings with the last ones, or none
}

// A step is a message, or a change of the history. A long session has many: they hold no
// pointers.
type step struct {
	at         dialect.Span
	time       int64
	number     uint32
	id, idSize uint32 // in the ids
	after      int32  // the step before it in the history, -1 for none
	entry      int32  // its last one
	code       dialect.Code
	own        bool
	rules      rule.Set
}

// newListed returns an arranger of a document: its messages are in order, and none is written
// again.
func newListed() dialect.Arranger { return chat.NewArranger(format) }

func newArranger() dialect.Arranger {
	return &arranger{
		messages: chat.NewArranger(format), more: map[int32][]dialect.Span{}, at: map[uint64]int32{},
		seed: maphash.MakeSeed(), leaf: -1,
	}
}

// Next implements [dialect.Arranger].
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	switch {
	case l.Code == checkpoint:
		a.forget(0)
		a.know(t, a.add(l), l.At, nil)
	case l.Code == rewind:
		a.rewind(t, l)
	case l.Code > settings:
		a.settings(l)
	default:
		a.message(l)
	}
}

// message takes a message, which may be one that is written again.
func (a *arranger) message(l *dialect.Line) {
	key := maphash.Bytes(a.seed, l.ID)
	k, had := a.at[key]
	switch {
	case len(l.ID) == 0:
		a.add(l)
	case !had:
		a.knows(key, a.add(l))
	case a.steps.At(k).changes():
		a.more[k] = append(a.more[k], l.At)
	default:
		s := a.steps.At(k)
		if k != a.leaf && l.Code > s.code { // of an answer after it
			l.Rules |= rule.Of(lateCall)
		}
		s.read(l)
	}
}

// settings keeps what a change of settings says.
func (a *arranger) settings(l *dialect.Line) {
	if (l.Code-settings)&named != 0 {
		a.title = &dialect.Line{At: l.At, Number: l.Number, Time: l.Time, Own: l.Own}
	}
	if (l.Code-settings)&placed != 0 {
		a.folders = append(a.folders[:0], l.At)
	}
}

// changes reports whether a step changes the history.
func (s *step) changes() bool { return s.code == checkpoint || s.code == rewind }

// read makes a step that of a line.
func (s *step) read(l *dialect.Line) {
	s.at, s.time, s.number, s.code, s.own, s.rules = l.At, l.Time, l.Number, l.Code, l.Own, l.Rules
}

// line returns the line of a step, valid until the next one.
func (a *arranger) line(k int32) *dialect.Line {
	s := a.steps.At(k)
	a.now = dialect.Line{
		Code: s.code, At: s.at, Number: s.number, Time: s.time, ID: a.ids[s.id:][:s.idSize], Own: s.own,
		Rules: s.rules,
	}
	return &a.now
}

// add adds a step to the history.
func (a *arranger) add(l *dialect.Line) int32 {
	s := step{id: uint32(len(a.ids)), idSize: uint32(len(l.ID)), after: a.leaf, entry: -1}
	s.read(l)
	a.ids = append(a.ids, l.ID...)
	a.leaf = a.steps.Add(s)
	return a.leaf
}

// know makes the messages of a checkpoint, up to one with an id, the history.
func (a *arranger) know(t dialect.Tree, k int32, at dialect.Span, upto []byte) {
	for m := range t.Read(at).First("$set", "messages").Elements {
		id := m.Get("id").Text()
		if upto != nil && id == string(upto) {
			break
		}
		if id != "" {
			a.knows(maphash.String(a.seed, id), k)
		}
	}
}

func (a *arranger) knows(id uint64, k int32) {
	a.at[id], a.known = k, append(a.known, id)
}

// forget removes the messages from a step on from the history.
func (a *arranger) forget(from int32) {
	for n := len(a.known) - 1; n >= 0; n-- {
		if k, ok := a.at[a.known[n]]; ok && k < from {
			return
		}
		delete(a.at, a.known[n])
		a.known = a.known[:n]
	}
}

// rewind takes back a message and all after it, or all messages if it is not there.
func (a *arranger) rewind(t dialect.Tree, l *dialect.Line) {
	at, ok := a.at[maphash.Bytes(a.seed, l.Ref)]
	if !ok {
		a.leaf = -1
		a.forget(0)
		return
	}
	a.forget(at)
	s := *a.steps.At(at)
	if !s.changes() {
		a.leaf = s.after
		return
	}
	a.leaf = at
	cut, set, newer := a.add(l), s.at, a.more[at]
	if s.code == rewind {
		set = newer[0]
	} else {
		newer = append([]dialect.Span{set}, newer...)
	}
	a.more[cut] = append(a.more[cut], newer...)
	a.know(t, cut, set, l.Ref)
}

// End implements [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) {
	a.at, a.known = nil, nil // the entries need their room
	for k := range a.steps.Len() {
		s := a.steps.At(k)
		if t.Leaf() != a.entry(s.after) {
			t.Move(rule.Branch, a.entry(s.after))
		}
		if s.changes() {
			t.Add(rule.Compaction, jsonl.Transform, a.line(k), a.more[k]...)
		} else {
			if k+1 < a.steps.Len() && a.steps.At(k+1).after == k {
				s.code = chat.WithoutResults(s.code, a.steps.At(k+1).code)
			}
			a.messages.Next(t, a.line(k))
		}
		s.entry = int32(t.Leaf())
	}
	for _, at := range a.folders {
		t.Join(0, 0, at) // to the header
	}
	if a.title != nil {
		t.Add(rule.Aside, jsonl.SessionInfo, a.title)
	}
	if t.Leaf() != a.entry(a.leaf) {
		t.Move(rule.Branch, a.entry(a.leaf))
	}
}

// entry returns the last entry of a step, -1 for none.
func (a *arranger) entry(step int32) int {
	if step < 0 {
		return -1
	}
	return int(a.steps.At(step).entry)
}

// makeCheckpoint makes an entry of a checkpoint, or of what a rewind leaves of one.
func makeCheckpoint(f *chat.Format, s *dialect.Source) {
	set, newer, upto := s.Lines[0], s.Lines[1:], jsonl.Value(nil)
	if to := set.Get("$rewindTo"); to.Exists() && len(newer) > 0 {
		set, newer, upto = newer[0], newer[1:], to
	}
	latest := map[string]jsonl.Value{}
	for _, m := range newer {
		latest[m.Get("id").Text()] = m
	}
	e := s.Add()
	e.Time, e.Transformer, e.Reason = set.First("$set", "lastUpdated"), "checkpoint", "compaction"
	var all []jsonl.Value
	for m := range set.First("$set", "messages").Elements {
		id := m.Get("id")
		if upto.Exists() && id.Text() == upto.Text() {
			break
		}
		if by, ok := latest[id.Text()]; ok && id.IsString() {
			m = by
		}
		all = append(all, m)
	}
	for k, m := range all {
		// what the calls of m have does not count
		again := k+1 < len(all) && m.Get("type").Is("gemini") && answers(all[k+1])
		f.Each(s, m, func(said *chat.Said) *dialect.Entry {
			if said.Kind == jsonl.CustomEntry || again && said.Kind == jsonl.ToolResult {
				return nil
			}
			return e
		})
	}
}

// answers reports whether a message begins with what a tool returned.
func answers(m jsonl.Value) bool {
	for p := range m.Get("content").Elements {
		return p.Get("functionResponse").Exists()
	}
	return false
}
