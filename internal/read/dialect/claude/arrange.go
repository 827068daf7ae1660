package claude

import (
	"bytes"
	"fmt"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An arranger makes the entries of a transcript. Lines of one answer are one entry, and the results of its
// calls follow it in file order, whichever line they name as their parent: so the path has what the program
// held in memory.
type arranger struct {
	// Keyed by hashes, so that a long session keeps no texts in memory: links by uuid, and the last result of
	// each call.
	at      map[uint64]link
	results map[uint64]int32
	near    link // link of the last id that was taken
	nearID  []byte
	entries dialect.Chunks[entry] // by number
	tail    [2]int32              // the last entry, and the last one of a sidechain; negative for none
	forked  link                  // first record of a sub-agent's own, after the context of its parent
	last    link                  // last entry of the file itself, if it continues another

	early []*dialect.Line // attachments that wait for their parent, see Next

	sent [2]sent // last line of the file, and of its sidechain
	// Recorded requests: prompts and tools by name, and requests that wait for an answer.
	shapes map[string]dialect.Span
	asked  []asked
	held   *compaction // a compaction that waits for its summary

	recorded link // the leaf that last-prompt names
	pinned   bool // and that the user chose

	cut      int32           // the last compaction, if it kept messages; else 0
	replaced map[string]bool // calls whose results were replaced

	first    *dialect.Line
	headless *dialect.Line // the first record, if its parent is missing for an unknown reason
	dropped  int64         // tokens that compactions in the file removed
	lost     finding       // link of the current line's parent
	titled   dialect.Code
	about    []dialect.Span // lines about the session
	bridge   []dialect.Span // the last line about the session of each kind

	calls     []dialect.Span // for sub-agents: the last line of each answer
	delegated map[string]int // indexes in calls

	title *dialect.Line
	loose int  // answers whose last line was written before they ended
	based bool // the file continues another
}

// A finding is a finding to report at the end.
type finding struct{ code, text string }

// A link maps an id to an entry, and to the line itself.
type link struct {
	entry int32 // -1 for none: what follows is a root
	at    dialect.Span
}

// An entry is the arranger's state of an entry.
type entry struct {
	// For an answer, the offsets of its last line, and of its last one on the parent chain, bytes.
	last, upto int64
	parent     int32
	of         int32 // for a result, its answer; for an answer, itself; else -1
	end        int32 // the entry that its children follow: for an answer, its last result so far; else itself, or edits
	code       dialect.Code
	walked     bool // an entry other than a result names it as its parent
	resumed    bool // the session was resumed here, loading only the parent chain
	loose      bool
	keptBy     int32  // the first compaction that kept the message; 0 for none
	within            // see answer.go
	name       uint64 // for an answer, the hash of its name
}

func newArranger() dialect.Arranger {
	return &arranger{
		at: map[uint64]link{}, results: map[uint64]int32{},
		delegated: map[string]int{}, replaced: map[string]bool{}, shapes: map[string]dialect.Span{},
		tail: [2]int32{-1, -1},
		last: link{entry: -1}, recorded: link{entry: -1}, forked: link{entry: -1},
		sent: [2]sent{{entry: -1}, {entry: -1}},
	}
}

// put maps an id to a link.
func (a *arranger) put(id []byte, to link) {
	a.at[dialect.Key(id)] = to
	a.near, a.nearID = to, append(a.nearID[:0], id...)
}

// find returns the link of the line with an id.
func (a *arranger) find(id jsonl.Value) (to link, ok bool) { return a.lead([]byte(id.Text())) }

// lead is find for a text. A message that a compaction kept belongs to the compaction.
func (a *arranger) lead(id []byte) (to link, ok bool) {
	if to, ok = a.near, len(id) > 0 && bytes.Equal(id, a.nearID); !ok {
		to, ok = a.at[dialect.Key(id)]
	}
	if ok && to.entry >= 0 && a.entries.At(to.entry).keptBy > 0 {
		to.entry = a.entries.At(to.entry).keptBy
	}
	return to, ok
}

// take takes the next line.
func (a *arranger) take(t dialect.Tree, l *dialect.Line) {
	if a.first == nil {
		a.first = l.Clone()
	}
	code, side := l.Code, 0
	if code != dialect.Unknown {
		code = l.Code & codeMask
		if l.Code&sidechain != 0 {
			side = 1
		}
	}
	a.based = a.based || !l.Own
	switch {
	case code == lastPrompt, code == pinned:
		a.leafAt(l, code)
	case code == title, code == ownTitle:
		if code >= a.titled {
			a.titled, a.title = code, l.Clone()
		}
	case code == replacement:
		a.replace(t, l)
	case code == about && l.Own:
		a.about = append(a.about, l.At)
	case code == bridged && l.Own: // written repeatedly; the last one counts
		a.bridge = append(a.bridge[:0], l.At)
	case code == costs && l.Own:
		line := t.Read(l.At)
		if dollars, ok := line.Get("totalCostUSD").Float(); ok {
			t.Counted(string(line.Get("startTime")), dollars)
		}
	case code == forked:
		a.fork(t, l)
	case code == shape:
		t.About(l.At)
		a.shapes[t.Read(l.At).Get("shapeHash").Text()] = l.At
	case code == request:
		a.request(t, l)
	case len(l.ID) > 0:
		a.chain(t, l, code, side)
	}
}

// chain takes a record of the chain. A record that a compaction waits for belongs to the compaction.
func (a *arranger) chain(t dialect.Tree, l *dialect.Line, code dialect.Code, side int) {
	if a.entries.Len() == 0 {
		a.begin(t, l)
	}
	if had, ok := a.lead(l.ID); ok {
		a.repeated(t, l, had)
		return
	}
	if a.held != nil {
		if a.held.takes(l, code) {
			return
		}
		if before, is := a.held.missing[string(l.ID)]; is { // it comes late, unchanged
			late := *l
			late.Ref = []byte(before)
			a.record(t, &late, code, side)
			return
		}
		a.compact(t)
	}
	if code == boundary {
		a.hold(t, l)
	} else {
		a.record(t, l, code, side)
	}
}

// record takes a record other than a compaction.
func (a *arranger) record(t dialect.Tree, l *dialect.Line, code dialect.Code, side int) {
	if code == answer {
		if e := a.begun(t, l, side); e >= 0 {
			t.Join(l.Rules, int(e), l.At)
			a.finished(e, l)
			a.follow(l, e, side)
			a.asWritten(t, e, l, side)
			return
		}
	}
	above := a.parent(l, side)
	up := above.entry
	if a.lost.code != "" {
		lost := *l
		l = &lost
		l.Rules |= rule.Of(lostParent)
		if a.lost.code == "incomplete" { // unless a compaction shows that the program rewrote the file
			a.headless = l.Clone()
		} else {
			defer func(f finding) { t.Report(f.code, l, f.text) }(a.lost) // once the entry is there
		}
		a.lost = finding{}
	}
	if code == delegated && l.Own {
		a.delegate(l)
	}
	if code == progress || code == delegated { // only a link
		a.put(l.ID, above)
		return
	}
	if up >= 0 && code != result && code != results {
		a.walk(up, above.at.Off)
	}
	if code == user && len(l.Group) > 0 && a.tail[0] < 0 { // what precedes it belongs to the parent session
		for e := 1; e < int(a.entries.Len()); e++ {
			t.Copied(e)
		}
	}
	switch code {
	case result, results:
		a.result(t, l, above, side)
	case microcompact, snip:
		a.takeOut(t, l, up, side)
	case synthetic:
		a.synthetic(t, l, up, side)
	case attachment, unsent:
		a.beside(t, kinds[code], l, above, side)
	case snapshot:
		a.snapshot(t, l, above, side)
	case answer:
		e := a.add(t, jsonl.Assistant, l, a.end(up), side)
		a.finished(e, l)
		a.sent[side].answers++
		a.answered(t, e, l)
		a.asWritten(t, e, l, side)
	default:
		a.add(t, kinds[code], l, a.end(up), side)
	}
}

// delegate takes a line with an answer of a sub-agent, whose usage grows from line to line.
func (a *arranger) delegate(l *dialect.Line) {
	if k, ok := a.delegated[string(l.Group)]; ok && len(l.Group) > 0 {
		a.calls[k] = l.At
		return
	}
	a.delegated[string(l.Group)] = len(a.calls)
	a.calls = append(a.calls, l.At)
}

// fork takes the head of a sub-agent that begins with its parent's context, as it was at a record. It excludes
// anything the parent got later, including results of that record's calls.
func (a *arranger) fork(t dialect.Tree, l *dialect.Line) {
	to, ok := a.lead(l.Ref)
	if !ok {
		to.entry = -1
	}
	if a.entries.Len() == 0 {
		a.begin(t, l)
	}
	l.Rules |= rule.Of(forkContext)
	a.forked = link{a.add(t, jsonl.CustomEntry, l, to.entry, 1), l.At}
	if !ok {
		t.Report("incomplete", l,
			fmt.Sprintf("it begins with the context of another session up to record %q, which is not in reach", l.Ref))
	}
}

// walk marks the parent chain: entries that others name as their parent, and for an answer how many of its
// lines are on the chain, up to the one that is named, or whose result is.
func (a *arranger) walk(up int32, off int64) {
	e := a.entries.At(up)
	e.walked = true
	if e.of >= 0 && e.of != up {
		off, e = e.upto, a.entries.At(e.of)
	}
	e.upto = max(e.upto, off)
}

// kinds are the kinds of the entries that one line makes.
var kinds = map[dialect.Code]jsonl.Kind{
	user: jsonl.User, summary: jsonl.User, note: jsonl.Custom, command: jsonl.Custom, attachment: jsonl.Custom,
	unsent: jsonl.CustomEntry,
	mark:   jsonl.CustomEntry, boundary: jsonl.CustomEntry, dialect.Unknown: jsonl.Unknown,
}

// begin makes the header, of the first record.
func (a *arranger) begin(t dialect.Tree, l *dialect.Line) {
	header := *l
	header.ID = []byte(sessionID(t.Read(l.At)).Text())
	t.Add(rule.Aside, jsonl.Header, &header)
	a.entries.Add(entry{parent: -1, of: -1, within: within{answer: -1}})
}

// add adds an entry below another, -1 for none.
func (a *arranger) add(t dialect.Tree, kind jsonl.Kind, l *dialect.Line, up int32, side int,
	more ...dialect.Span) int32 {
	if t.Leaf() != int(up) {
		t.Move(rule.Branch, int(up))
	}
	e := int32(t.Add(dialect.ByKind(kind), kind, l, more...))
	if side == 1 {
		t.Delegated(int(e))
	}
	code := l.Code & codeMask
	made := entry{parent: up, code: code, of: -1, end: e, within: a.around(l, code, up)}
	if code == answer {
		made.of, made.within, made.name = e, within{answer: e}, dialect.Key(l.Group)
	}
	a.entries.Add(made)
	a.follow(l, e, side)
	return e
}

// follow maps a line's id to an entry.
func (a *arranger) follow(l *dialect.Line, e int32, side int) {
	if len(l.ID) > 0 {
		a.put(l.ID, link{e, l.At})
	}
	a.tail[side] = e
	if l.Own {
		a.last.entry = e
	}
}

// end returns the entry that a new child follows: for an answer and its results, the last of them.
func (a *arranger) end(up int32) int32 {
	if up < 0 {
		return up
	}
	return a.ending(up).end
}

// ending returns the entry that stores the end of another one: for a result, its answer.
func (a *arranger) ending(e int32) *entry {
	if of := a.entries.At(e).of; of >= 0 {
		e = of
	}
	return a.entries.At(e)
}

// parent returns the link that a line names as its parent. If that is not in the file, the line before is
// taken, since the program had it in memory. If a compaction that kept messages removed it, the kept messages
// are taken, as in a resume.
func (a *arranger) parent(l *dialect.Line, side int) link {
	if len(l.Ref) == 0 && l.Own && side == 1 {
		return a.forked
	}
	if len(l.Ref) == 0 {
		return link{entry: -1}
	}
	if to, ok := a.lead(l.Ref); ok {
		if side == 0 && to.entry >= 0 && to.entry < a.cut {
			return link{entry: a.cut}
		}
		return to
	}
	if a.tail[side] < 0 {
		a.lost.code = "incomplete"
	} else {
		a.lost = finding{"bridged", fmt.Sprintf("its parent %q is not before it in the file: it follows the record "+
			"before it, and a resume loses what came before", l.Ref)}
	}
	return link{entry: a.tail[side]}
}

// repeated handles a record whose uuid occurred before: the last value counts, at the first position.
func (a *arranger) repeated(t dialect.Tree, l *dialect.Line, had link) {
	if had.entry < 0 || a.entries.At(had.entry).code != l.Code&codeMask {
		return // of a message that a compaction kept
	}
	t.Replace(l.Rules, int(had.entry), had.at, l.At)
	a.put(l.ID, link{had.entry, l.At})
	t.Report("repeated", l, "a record of the same uuid comes before: it has that place, and this value")
}

// result adds the results of tools, with the line that called the first of them.
func (a *arranger) result(t dialect.Tree, l *dialect.Line, above link, side int) {
	var of []dialect.Span
	up := above.entry
	answered := up >= 0 && a.entries.At(up).code == answer
	if answered {
		of = append(of, above.at)
	}
	ids, beside := []string{string(l.Group)}, jsonl.Kind(0)
	if l.Code&codeMask == results {
		ids, beside = resultsOf(t.Read(l.At))
	}
	after := a.end(up)
	add := func(kind jsonl.Kind) {
		after = a.add(t, kind, l, after, side, of...)
		if answered {
			a.entries.At(after).of, a.entries.At(up).end = up, after
			a.entries.At(after).upto = of[0].Off
		}
	}
	for _, id := range ids {
		add(jsonl.ToolResult)
		a.results[dialect.Key(id)] = after
	}
	if beside != 0 {
		add(beside)
	}
}

// resultsOf returns the calls whose results a record holds, and the code of the rest of it, 0 for none.
func resultsOf(line jsonl.Value) (ids []string, beside jsonl.Kind) {
	f := line.All("message", "isMeta")
	for block := range f[0].Get("content").Elements {
		switch {
		case block.Get("type").Is("tool_result"):
			ids = append(ids, block.Get("tool_use_id").Text())
		case f[1].Truthy():
			beside = jsonl.Custom
		default:
			beside = jsonl.User
		}
	}
	return ids, beside
}

// End implements [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) {
	a.release(t)
	if a.held != nil {
		a.compact(t)
	}
	if a.entries.Len() == 0 && a.first != nil { // no records, but still a session
		a.begin(t, a.first)
	}
	for _, at := range append(a.about, a.bridge...) {
		if a.entries.Len() > 0 {
			t.Join(0, 0, at)
		}
	}
	if l := a.headless; l != nil {
		t.Report("incomplete", l, fmt.Sprintf("its parent %q is not before it in the file, and nothing comes before "+
			"it: the beginning of the session is missing", l.Ref))
	}
	if a.loose > 0 {
		t.Report("unfinished-usage", &dialect.Line{},
			fmt.Sprintf("answers that were written before they ended: %d. Their output tokens are a lower bound",
				a.loose))
	}
	for _, at := range a.calls {
		t.Aside(at)
	}
	leaf := a.leaf()
	if a.title != nil {
		a.add(t, jsonl.SessionInfo, a.title, leaf, 0)
	}
	if t.Leaf() != int(leaf) {
		t.Move(rule.Branch, int(leaf))
	}
}
