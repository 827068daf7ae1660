package codex

import (
	"bytes"
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An arranger makes the entries of a rollout. An answer is all items of one response, with its usage and the
// settings of its turn.
type arranger struct {
	open     int    // entry of the answer that is being written, -1 for none
	sampled  []byte // how far its history reaches; empty if not recorded
	told     int    // entry of the last answer
	loose    []int
	counted  bool // the last answer has its usage
	records  bool // the file has token_usage_records
	total    []byte
	record   []byte         // the last token_usage_record
	last     []byte         // usage of the last token_count
	turn     []dialect.Span // settings of the turn: one line, or none
	thread   []dialect.Span // settings of the thread, if they name its service tier: likewise
	settings []dialect.Span // both
	model    []byte
	task     dialect.Span            // its record
	window   int64                   // context window that it records, 0 for none
	room     int64                   // context window of the model
	calls    map[string]dialect.Span // calls without an output so far
	name     *dialect.Line           // title of the thread
	begun    bool
	whole    bool           // the file does not continue another session
	id       string         // id of the thread
	forks    bool           // it may begin with copies of another thread
	own      int            // the first entry that may be its own
	version  string         // version of the program that first wrote the file
	asked    bool           // something waits for an answer
	bare     *dialect.Line  // a usage without an answer so far
	cutNow   bool           // the current task has a compaction
	within   int            // prompt of the current task, -1 for none yet
	outputs  []int          // in an older version that sends calls differently after this tool:
	patched  []dialect.Span // the last call of apply_patch
	context  []dialect.Span // what the program told the model before the first prompt

	notes   int            // leaf before the notes directly before the current line
	noted   bool           // there are such notes
	beside  []dialect.Span // the notes
	turns   []turn
	cut     dialect.Span // the compaction in force
	kept    dialect.Kept // prompts that it keeps
	cutAt   int          // its entry
	earlier int          // turns before it that were not taken back

	summary *held
}

// A turn is a prompt on the path.
type turn struct {
	before int // leaf before it, and before its notes
	at     dialect.Span
	cut    bool           // its task had a compaction
	notes  []dialect.Span // notes directly before it
	upto   int            // tokens of the prompts up to this one; negative until a compaction needs it
}

// A held is a summary that waits for its compaction.
type held struct {
	line dialect.Line
	more []dialect.Span
}

func newArranger() dialect.Arranger {
	return &arranger{open: -1, told: -1, cutAt: -1, within: -1, calls: map[string]dialect.Span{}}
}

func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	switch l.Code { // events of the thread, which do not belong to a turn
	case thread:
		a.thread = []dialect.Span{l.At}
		a.settings = slices.Concat(a.turn, a.thread)
		return
	case named:
		a.name = l.Clone()
		return
	}
	l.Rules |= rule.If(!l.Own, continued)
	if a.summary != nil && l.Code != usage && l.Code != compacted && l.Code != counted && l.Code != dialect.Unknown {
		a.plainSummary(t)
	}
	if len(l.ID) > 0 && l.Code != meta && t.Find(l.ID) >= 0 {
		t.Report("repeated", l, "an item of the same id comes before: both are sent")
	}
	a.answerless(t, l.Code)
	noted := false
	switch l.Code {
	case began:
		a.cutNow, a.within, noted = false, -1, a.noted
		a.task, a.window = l.At, t.Read(l.At).Get("payload").Get("model_context_window").Int()
	case meta:
		a.meta(t, l)
	case settings, tiered:
		a.turn, noted = []dialect.Span{l.At}, a.noted
		if l.Code == tiered {
			a.thread = nil
		}
		a.settings = slices.Concat(a.turn, a.thread)
		a.setModel(t, l)
	case prompt:
		a.prompt(t, l)
		t.Add(rule.Prompt, jsonl.User, l)
	case note, agents:
		if len(a.turns) == 0 && l.Code == note {
			a.context = append(a.context, l.At)
		}
		if noted = true; !a.noted {
			a.notes, a.beside = t.Leaf(), nil
		}
		a.beside = append(a.beside, l.At)
		a.open = -1
		t.Add(rule.Note, jsonl.Custom, l)
	case answer, call:
		if l.Code == call {
			a.calls[string(l.Ref)] = l.At
		}
		a.answer(t, l)
	case output, custom:
		a.output(t, l)
	case usage:
		a.usage(t, l)
	case counted:
		noted = a.noted
		a.count(t, l)
	case summary:
		a.summary = &held{line: *l}
		a.summary.line.ID = bytes.Clone(l.ID)
	case compacted:
		a.compacted(t, l)
	case rolledBack:
		a.rolledBack(t, l)
	case dialect.Unknown:
		noted = a.noted
		t.Add(rule.Unread, jsonl.Unknown, l)
	}
	a.noted = noted
}

// End marks answers without a usage, if answers have usages, and adds the last name of the thread.
func (a *arranger) End(t dialect.Tree) {
	if a.summary != nil {
		a.plainSummary(t)
	}
	a.answerless(t, 0)
	for _, entry := range a.outputs {
		for _, at := range a.patched {
			t.Join(rule.Of(outputSections), entry, at)
		}
	}
	for _, entry := range a.loose {
		if a.records {
			t.Unanswered(unfinished, entry)
		}
	}
	if a.name != nil {
		t.Add(rule.Aside, jsonl.SessionInfo, a.name)
	}
}

// meta makes the header, and the initial instructions. Those of a file that was copied or is continued do not
// belong to the session.
func (a *arranger) meta(t dialect.Tree, l *dialect.Line) {
	if a.begun {
		a.forks = true
		return
	}
	a.begun = true
	line := payloadOf(t.Read(l.At))
	a.version = line.Get("cli_version").Text()
	before := line.All("history_base", "forked_from_id", "parent_thread_id", "subagent_history_start_ordinal")
	a.whole = !slices.ContainsFunc(before[:], jsonl.Value.Exists)
	header := *l
	a.id, a.forks = line.Get("id").Text(), !a.whole
	header.ID = []byte(a.id)
	said := instructions(line).IsString()
	a.own = t.Add(rule.Aside, jsonl.Header, &header) + 1
	if said {
		a.own = t.Add(rule.System, jsonl.System, l) + 1
	}
}

// setModel adds an entry if a turn has another model than the one before, or the model has another window,
// which the turn's task records.
func (a *arranger) setModel(t dialect.Tree, l *dialect.Line) {
	if !bytes.Equal(l.Group, a.model) || a.window != a.room {
		was := string(a.model)
		a.model, a.room = bytes.Clone(l.Group), a.window
		l.Rules |= rule.If(was != "" && family(was) != family(string(a.model)), otherFamily)
		var task []dialect.Span
		if a.window > 0 {
			task = []dialect.Span{a.task}
		}
		t.Add(rule.Aside, jsonl.ModelChange, l, task...)
		t.Asked([]byte("openai"), a.model)
	}
}

// family returns the family of a model by its name, such as gpt-5 for gpt-5.4-mini: some families get
// instructions and tools beside the history, others as its first items.
func family(model string) string {
	at := strings.IndexAny(model, "0123456789")
	if at < 0 {
		return model
	}
	return model[:at+1]
}

// prompt begins a turn.
func (a *arranger) prompt(t dialect.Tree, l *dialect.Line) {
	before := t.Leaf()
	if a.noted && len(a.turns) > 0 && !a.older("0.123") { // older versions take back the prompt but not the notes
		before = a.notes
	}
	a.within = len(a.turns)
	one := turn{before: before, at: l.At, cut: a.cutNow, upto: -1}
	if a.noted {
		one.notes = a.beside
	}
	a.turns = append(a.turns, one)
	l.Rules |= rule.If(len(a.calls) > 0, unanswered)
	a.open, a.asked = -1, true
}

// answer adds an item to the answer, or begins another one: after an interrupted stream, the program asks
// again, with the complete parts.
func (a *arranger) answer(t dialect.Tree, l *dialect.Line) {
	if a.open >= 0 && bytes.Equal(l.Group, a.sampled) {
		t.Join(l.Rules, a.open, l.At)
		return
	}
	a.open = t.Add(rule.Answer, jsonl.Assistant, l, a.settings...)
	a.told, a.counted, a.asked = a.open, false, false
	a.sampled = append(a.sampled[:0], l.Group...)
	a.loose = append(a.loose, a.open)
}

// output adds a result, with the call that it answers. If usages close answers, the answer may still be open.
func (a *arranger) output(t dialect.Tree, l *dialect.Line) {
	var of []dialect.Span
	if at, ok := a.calls[string(l.Ref)]; ok {
		of = append(of, at)
		delete(a.calls, string(l.Ref))
		if a.older("0.124") && a.cuts(t, l) {
			of = append(of, a.settings...)
		}
	}
	a.asked = true
	if !a.records {
		a.open = -1
	}
	line := *l
	line.Rules |= rule.If(len(of) > 1, shortOutput) | rule.If(len(of) > 1 && a.older("0.123"), resumed)
	entry := t.Add(rule.Result, jsonl.ToolResult, &line, of...)
	if len(of) == 0 || !a.older("0.129") {
		return
	}
	if l.Code == output {
		a.outputs = append(a.outputs, entry)
	} else if it := lineItem(t.Read(l.At)); jsonl.Value(it.output.Value.Text()).Get("metadata").IsObject() {
		a.patched = of[:1]
	}
}

// usage ends an answer, or belongs to a summary. A record may be repeated: the total of the thread
// distinguishes it from the next answer, whose response may have the same id.
func (a *arranger) usage(t dialect.Tree, l *dialect.Line) {
	a.records = true
	payload := t.Read(l.At).Get("payload")
	f := payload.All("thread_token_usage", "thread_id")
	if f[0].IsObject() && bytes.Equal(payload, a.record) {
		a.open = -1
		return
	}
	a.record = append(a.record[:0], payload...)
	entry := a.open
	switch {
	case a.summary != nil:
		a.summary.more = append(a.summary.more, l.At)
		entry = t.Add(rule.Aside, jsonl.UsageEntry, l, a.settings...)
	case a.open >= 0:
		t.Join(l.Rules, a.open, l.At)
		a.loose = a.loose[:len(a.loose)-1]
		a.open, a.counted = -1, true
	default: // of an answer without items
		entry = t.Add(emptyAnswer, jsonl.Assistant, l, a.settings...)
		a.counted = true
	}
	if thread := f[1]; a.forks && thread.IsString() && !thread.Is(a.id) {
		for ; a.own <= entry; a.own++ {
			t.Copied(a.own)
		}
	}
}

// count gives the last answer its usage if nothing else does. A repeat has the same total, or, in a file
// without totals, the same usage before there is an answer.
func (a *arranger) count(t dialect.Tree, l *dialect.Line) {
	if a.records {
		a.open = -1 // no record came before: the stream of the answer was interrupted
		return
	}
	if (a.told < 0 || a.counted) && !a.asked {
		return
	}
	counts := toldBy(t.Skim(l.At))
	last, total := counts.usage, counts.total
	repeated := bytes.Equal(total, a.total)
	if !total.IsObject() {
		repeated = a.asked && bytes.Equal(last, a.last)
	}
	if last.IsObject() && !repeated {
		a.total, a.last = bytes.Clone(total), bytes.Clone(last)
		if a.asked {
			a.bare = l.Clone()
			return
		}
		a.counted, a.open = true, -1
		t.Join(l.Rules, a.told, l.At)
	}
}

// answerless adds an answer without items: older files record only its usage. If a compaction follows, the
// usage belongs to its summary.
func (a *arranger) answerless(t dialect.Tree, next dialect.Code) {
	l := a.bare
	if l == nil || next == counted {
		return
	}
	a.bare = nil
	if next != compacted {
		a.asked, a.open, a.counted = false, -1, true
		t.Add(emptyAnswer, jsonl.Assistant, l, a.settings...)
	}
}

// plainSummary adds a summary that had no effect: an ordinary answer. Its usage already has an entry.
func (a *arranger) plainSummary(t dialect.Tree) {
	h := a.summary
	a.summary = nil
	if entry := t.Add(plainSummary, jsonl.Assistant, &h.line, a.settings...); len(h.more) > 0 {
		t.Unanswered(plainSummary, entry)
	}
}

// compacted replaces the history: by what the line has, or by the last prompts and the
// summary (docs/session-format.md 15).
func (a *arranger) compacted(t dialect.Tree, l *dialect.Line) {
	a.kept = dialect.Kept{From: len(a.turns), To: len(a.turns)}
	history := t.Read(l.At).Get("payload").Get("replacement_history")
	if first := len(a.turns)+len(a.context) == 0 && a.told < 0 && a.cutAt < 0; first && a.whole && hasPrompt(history) {
		t.Report("rewritten", l, "this compaction keeps prompts, and nothing comes before it: the program wrote the "+
			"file again, and contexts before it are gone")
	}
	if !history.IsArray() {
		a.fit(t)
		if a.older("0.99") {
			a.kept.Notes = len(a.context)
		}
	}
	more := slices.Clone(a.context[:a.kept.Notes])
	if a.summary != nil {
		more = append(a.summary.more, a.summary.line.At)
		a.summary = nil
	}
	if a.cutNow = true; a.within >= 0 {
		a.turns[a.within].cut = true
	}
	a.cut, a.earlier = l.At, len(a.turns)
	line, by := *l, rule.Compaction
	if !history.IsArray() {
		by = keptPrompts
	}
	for v := range history.Elements {
		f := v.All("type", "call_id", "content", "output")
		line.Rules |= itemRules(f[0], f[1], f[2], f[3])
	}
	a.cutAt = a.replace(t, by, &line, a.kept, more)
}

// replace adds an entry that replaces the history.
func (a *arranger) replace(t dialect.Tree, by rule.Rule, l *dialect.Line, k dialect.Kept,
	more []dialect.Span) (entry int) {
	a.open, a.told = -1, -1
	line := *l
	if k.Short > 0 {
		more = append(more, a.turns[k.From-1].at)
		line.Rules |= rule.Of(shortPrompt)
	}
	entry = t.Add(by, jsonl.Transform, &line, more...)
	t.Keep(entry, k)
	return entry
}

// older reports whether a version below this one wrote the file.
func (a *arranger) older(than string) bool {
	return a.version != "" && a.version != "0.0.0" && dialect.Older(a.version, than)
}

// rolledBack takes turns back: the next entry follows what preceded them. If a compaction came after the first
// of them, its result is cut too.
func (a *arranger) rolledBack(t dialect.Tree, l *dialect.Line) {
	a.open, a.told = -1, -1
	n := int(max(0, t.Read(l.At).Get("payload").Get("num_turns").Int()))
	first := max(0, len(a.turns)-n)
	if first == len(a.turns) {
		return
	}
	across := a.cutAt >= 0 && first < a.earlier
	inTask := slices.ContainsFunc(a.turns[first:], func(one turn) bool { return one.cut })
	if (across || inTask) && a.older("0.160") && !a.older("0.123") { // these versions lost everything
		notes := a.turns[first].notes
		a.turns, a.earlier, a.within = nil, 0, -1
		t.Move(rule.Branch, a.cutAt)
		a.replace(t, lostInRollback, l, dialect.Kept{Notes: len(notes)}, notes)
		return
	}
	a.within = -1
	if across && a.older("0.123") { // to older ones the summary is a turn
		first++
	}
	if !across {
		t.Move(rule.Branch, a.turns[first].before)
		a.turns = a.turns[:first]
		return
	}
	t.Move(rule.Branch, a.cutAt)
	kept := a.kept
	if kept.From > first {
		kept.From, kept.Short = first, 0
	}
	kept.Dropped, kept.To = kept.To-len(a.turns)+n, first
	kept.Turn = a.older("0.123")
	l.Rules |= rule.If(kept.Turn, resumed)
	a.turns, a.earlier = a.turns[:first], first
	a.replace(t, afterRollback, l, kept, append([]dialect.Span{a.cut}, a.context[:kept.Notes]...))
}
