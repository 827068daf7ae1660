package codex

import (
	"bytes"
	"slices"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An arranger makes the entries of a rollout. An answer is all items of one response, with
// its usage and the settings of its turn.
type arranger struct {
	open     int // entry of the answer that is being written, -1 for none
	told     int // entry of the last answer
	loose    []int
	counted  bool // the last answer has its usage
	records  bool // the file has token_usage_records
	total    []byte
	settings []dialect.Span // of the turn: one line, or none
	model    []byte
	calls    map[string]dialect.Span // that have no output yet
	begun    bool

	notes   int  // the leaf before the notes that stand directly before the line at hand
	noted   bool // there are such notes
	turns   []turn
	cut     []dialect.Span // what the compaction in force is made of, of a replaced history
	cutAt   int            // its entry
	earlier int            // turns before it, which are in what it made

	summary *held
}

// A turn is a prompt on the path.
type turn struct {
	before int // the leaf before it, and before the notes that came with it
	at     dialect.Span
	size   int // of its text, bytes; below 0 until a compaction asks for it
}

// A held is a summary that waits for what it is for.
type held struct {
	line dialect.Line
	more []dialect.Span
}

func newArranger() dialect.Arranger {
	return &arranger{open: -1, told: -1, cutAt: -1, calls: map[string]dialect.Span{}}
}

func (a *arranger) Next(t dialect.Tree, l *dialect.Line) (err error) {
	if a.summary != nil && l.Code != usage && l.Code != compacted && l.Code != counted {
		if err := a.plainSummary(t); err != nil {
			return err
		}
	}
	if len(l.ID) > 0 && l.Code != meta && t.Find(l.ID) >= 0 {
		t.Report("repeated", l, "an item of the same id comes before: both are sent")
	}
	noted := false
	switch l.Code {
	case meta:
		err = a.meta(t, l)
	case settings:
		a.settings, noted = []dialect.Span{l.At}, a.noted
		err = a.setModel(t, l)
	case prompt:
		a.prompt(t, l)
		_, err = t.Add(jsonl.User, l)
	case note, agents:
		if noted = true; !a.noted {
			a.notes = t.Leaf()
		}
		a.open = -1
		_, err = t.Add(jsonl.Custom, l)
	case answer, call:
		if l.Code == call {
			a.calls[string(l.Ref)] = l.At
		}
		err = a.answer(t, l)
	case output:
		err = a.output(t, l)
	case usage:
		err = a.usage(t, l)
	case counted:
		noted = a.noted
		err = a.count(t, l)
	case summary:
		a.summary = &held{line: *l}
		a.summary.line.ID = bytes.Clone(l.ID)
	case compacted:
		err = a.compacted(t, l)
	case rolledBack:
		err = a.rolledBack(t, l)
	case dialect.Unknown:
		noted = a.noted
		_, err = t.Add(jsonl.Unknown, l)
	}
	a.noted = noted
	return err
}

// End marks the answers that no usage closed, where answers have usages.
func (a *arranger) End(t dialect.Tree) error {
	if a.summary != nil {
		if err := a.plainSummary(t); err != nil {
			return err
		}
	}
	for _, entry := range a.loose {
		if a.records {
			t.Unanswered(entry)
		}
	}
	return nil
}

// meta makes the header, and the instructions that the session began with. Those of a file
// that was copied or is continued are not the session's own.
func (a *arranger) meta(t dialect.Tree, l *dialect.Line) error {
	if a.begun {
		return nil
	}
	a.begun = true
	line, err := t.Read(l.At)
	if err != nil {
		return err
	}
	if line.Get("payload").IsObject() {
		line = line.Get("payload")
	}
	header := *l
	header.ID = []byte(line.Get("id").Text())
	said := instructions(line).IsString()
	if _, err = t.Add(jsonl.Header, &header); err == nil && said {
		_, err = t.Add(jsonl.System, l)
	}
	return err
}

// setModel adds an entry where a turn has another model than the one before.
func (a *arranger) setModel(t dialect.Tree, l *dialect.Line) error {
	if bytes.Equal(l.Group, a.model) {
		return nil
	}
	a.model = bytes.Clone(l.Group)
	_, err := t.Add(jsonl.ModelChange, l)
	return err
}

// prompt begins a turn.
func (a *arranger) prompt(t dialect.Tree, l *dialect.Line) {
	before := t.Leaf()
	if a.noted && len(a.turns) > 0 {
		before = a.notes
	}
	a.turns = append(a.turns, turn{before, l.At, -1})
	a.open = -1
}

// answer adds an item to the answer.
func (a *arranger) answer(t dialect.Tree, l *dialect.Line) (err error) {
	if a.open >= 0 {
		t.Join(a.open, l.At)
		return nil
	}
	a.open, err = t.Add(jsonl.Assistant, l, a.settings...)
	a.told, a.counted = a.open, false
	a.loose = append(a.loose, a.open)
	return err
}

// output adds a result, with the call that it answers. Where usages close answers one may
// still be written.
func (a *arranger) output(t dialect.Tree, l *dialect.Line) error {
	var of []dialect.Span
	if at, ok := a.calls[string(l.Ref)]; ok {
		of = append(of, at)
		delete(a.calls, string(l.Ref))
	}
	if !a.records {
		a.open = -1
	}
	_, err := t.Add(jsonl.ToolResult, l, of...)
	return err
}

// usage ends an answer, or is that of a summary.
func (a *arranger) usage(t dialect.Tree, l *dialect.Line) (err error) {
	a.records = true
	switch {
	case a.summary != nil:
		a.summary.more = append(a.summary.more, l.At)
		_, err = t.Add(jsonl.UsageEntry, l, a.settings...)
	case a.open >= 0:
		t.Join(a.open, l.At)
		a.loose = a.loose[:len(a.loose)-1]
		a.open, a.counted = -1, true
	default: // of an answer without items
		_, err = t.Add(jsonl.Assistant, l, a.settings...)
		a.counted = true
	}
	return err
}

// count gives the last answer its usage where nothing else does. Repeats say the same total.
func (a *arranger) count(t dialect.Tree, l *dialect.Line) error {
	if a.records || a.told < 0 || a.counted {
		return nil
	}
	line, err := t.Read(l.At)
	if err != nil {
		return err
	}
	info := line.Get("payload").Get("info")
	total := info.Get("total_token_usage")
	if info.Get("last_token_usage").IsObject() && !bytes.Equal(total, a.total) {
		a.total = bytes.Clone(total)
		a.counted = true
		t.Join(a.told, l.At)
	}
	return nil
}

// plainSummary adds a summary that took no effect: it is an answer like any other.
func (a *arranger) plainSummary(t dialect.Tree) error {
	h := a.summary
	a.summary = nil
	_, err := t.Add(jsonl.Assistant, &h.line, append(h.more, a.settings...)...)
	return err
}

// compacted replaces the history: by what the line has, or by the last prompts and the
// summary (docs/session-format.md 15).
func (a *arranger) compacted(t dialect.Tree, l *dialect.Line) error {
	line, err := t.Read(l.At)
	if err != nil {
		return err
	}
	var made []dialect.Span
	if !line.Get("payload").Get("replacement_history").IsArray() {
		room := int64(mostKept * bytesPerToken)
		for k := len(a.turns) - 1; k >= 0 && room > 0; k-- {
			one := &a.turns[k]
			if one.size < 0 {
				text, err := t.Read(one.at)
				if err != nil {
					return err
				}
				it := lineItem(text)
				one.size = len(it.text())
			}
			made = append(made, one.at)
			room -= int64(one.size)
		}
		slices.Reverse(made)
	}
	a.cut = append([]dialect.Span{l.At}, made...)
	more := made
	if a.summary != nil {
		more = append(append(more, a.summary.line.At), a.summary.more...)
		a.summary = nil
	}
	a.open, a.told = -1, -1
	a.cutAt, err = t.Add(jsonl.Transform, l, more...)
	a.earlier = len(a.turns)
	return err
}

// rolledBack takes turns back: the next entry follows what came before them. Where a
// compaction came after the first of them, what it made is cut too.
func (a *arranger) rolledBack(t dialect.Tree, l *dialect.Line) error {
	line, err := t.Read(l.At)
	if err != nil {
		return err
	}
	n := int(max(0, min(line.Get("payload").Get("num_turns").Int(), int64(len(a.turns)))))
	a.open, a.told = -1, -1
	first := len(a.turns) - n
	if n == 0 {
		return nil
	}
	if a.cutAt < 0 || first >= a.earlier {
		t.Move(a.turns[first].before)
		a.turns = a.turns[:first]
		return nil
	}
	t.Move(a.cutAt)
	var more []dialect.Span
	for _, since := range a.turns[a.earlier:] {
		more = append(more, since.at)
	}
	a.turns, a.earlier = a.turns[:first], first
	_, err = t.Add(jsonl.Transform, l, append(more, a.cut...)...)
	return err
}
