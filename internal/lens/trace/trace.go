// Package trace follows a text, the matches of a pattern, or an entry through all requests of a
// session.
package trace

import (
	"cmp"
	"slices"

	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt/jsonl"
)

// A Life is the history of a message, a part of the prompt or a tool that matched, or an entry
// that matches and never was in a context. It is a line of schema ctxtool/trace/1.
type Life struct {
	Schema string `json:"schema"`
	// the role of the message for the provider, `part`, `tool`, or `entry` if it never was in the context
	As   string `json:"as"`
	Name string `json:"name,omitempty"` // of a part or tool
	origin.Source
	// the words around the first match; `TOOL(words)` for arguments of a call; the first words of a
	// followed entry
	Text   string  `json:"text,omitempty"`
	Events []Event `json:"events,omitempty"` // its history, in order; absent for an `entry`
	Seen   []Range `json:"seen,omitempty"`   // the requests that had it, both included
	Now    bool    `json:"now"`              // it is in the context at the leaf, or at `--at`
	// of an `entry`: `off-path`, `behind` (after a broken patch), `unsent` (for no model)
	Why why `json:"why,omitempty"`

	Origin origin.Origin `json:"-"` // its origin when it was first found
}

// A Range is a range of request numbers, both ends included.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// An Event is a change in a life by a step of the path.
type Event struct {
	// `entered`, `returned`; `edited` (a `context_edit` changed it, or its patch the frame of a summary), `changed` (a
	// part or tool was set again), `restored` (an edit was undone); `omitted` (by a `context_edit`), `compacted`,
	// `replaced` (by a `messages_cached_replace`), `removed` (a part or tool)
	Did     Change       `json:"did"`
	Record  int          `json:"-"`              // the entry that did it
	ID      string       `json:"id,omitempty"`   // of the entry that did it
	Line    int          `json:"line"`           // of that entry
	Time    string       `json:"time,omitempty"` // of that entry
	Op      origin.Index `json:"op,omitzero"`    // the operation of its patch
	Request int          `json:"request"`        // the next request, which is the first with the change
	// whether the replacement still matches; absent if there is none or an entry is followed
	Mentions *bool `json:"mentions,omitempty"`
}

// A Change is a kind of event.
type Change string

// The changes. A removed message can return: a newer compaction undoes an older one, and an
// edit another.
const (
	ChangeEntered  Change = "entered"
	ChangeReturned Change = "returned"
	ChangeEdited   Change = "edited"    // a context_edit changed its text, or its patch the frame of a summary
	ChangeChanged  Change = "changed"   // a part or tool was set again
	ChangeRestored Change = "restored"  // an edit of it was undone
	ChangeOmitted  Change = "omitted"   // a context_edit removed it
	ChangeSummed   Change = "compacted" // a compaction removed it
	ChangeReplaced Change = "replaced"  // a messages_cached_replace removed it
	ChangeRemoved  Change = "removed"   // a part or tool, by name
)

const traceSchema = "ctxtool/trace/1"

// A Tracing is the result of a trace.
type Tracing struct {
	Files    []*File // that the text names, in the order of their first calls
	Lives    []*Life // in the order of their first events
	Requests int     // requests of the path, up to the end of the replay
	Steps    int     // entries of the path that were replayed
	Stopped  error   // the error of the broken patch that ended the replay, if any

	results []*Life // results of calls that use such a file; they need not contain the text
}

// Follow replays the path to record leaf, and follows the matches of the query. Each text is
// searched once, so the time is linear in the size of the path.
func Follow(r *replay.Replay, leaf int, q *Query) (*Tracing, error) {
	t := newTracer(r, q)
	path, found := r.Session.Path(leaf)
	r.Findings = append(r.Findings, found...)
	w := r.Start()
	w.OnChange(t.changed)
	for _, rec := range path {
		step, err := w.Next(rec)
		if replay.Stopped(err) {
			t.out.Stopped = err
			break
		}
		if err != nil {
			return nil, err
		}
		t.out.Steps++
		t.out.Requests = step.Requests()
	}
	t.end()
	t.tell()
	t.holdings()
	return &t.out, t.err
}

// tell sets the ids, lines and times of all lives and events.
func (t *tracer) tell() {
	s, lines := t.r.Session, t.r.Session.NewReader()
	for _, l := range slices.Concat(t.out.Lives, t.out.results) {
		source, err := origin.From(s, l.Origin, lines)
		l.Schema, l.Source = traceSchema, source
		for i := range l.Events {
			e := &l.Events[i]
			line, failed := lines.Line(e.Record)
			err = cmp.Or(err, failed)
			e.ID, e.Line, e.Time = s.ID(e.Record), s.Line(e.Record), line.Get("timestamp").Text()
		}
		t.err = cmp.Or(t.err, err)
	}
}

// A tracer observes a walk and follows lives.
type tracer struct {
	out   Tracing
	r     *replay.Replay
	find  *finder
	load  *replay.Reader
	err   error                 // the first of reading
	known map[replay.Piece]bool // whether a message matches, for those that have been read
	uses  map[string]*use       // calls that use a file that the text names, by id
	files map[string]*File

	step        replay.Step // of the last change
	looks       int         // the number of changes so far
	op          int         // the op of the change, -1 for none
	cuts        bool        // the entry or op compacts
	replacement *bool       // whether a message that the entry or op added matches; nil if it added none

	last     replay.Messages // at the last change
	front    replay.PromptTracker
	had      prompt.State // at the last change
	messages map[replay.Piece]*life
	prompt   map[promptPart]map[promptPiece]*life
}

// A life is a Life with the state of the tracer.
type life struct {
	*Life
	is     replay.Piece // the current version of a message
	said   wording      // the current text of a part or tool
	met    bool         // said has been searched
	holds  bool         // said matches
	open   bool         // it is in the context and matches
	since  int          // the first request that has it, if open
	looked int          // the last change at which it was met
	result bool         // it matches only as the result of a call that uses a file
}

func newTracer(r *replay.Replay, q *Query) *tracer {
	return &tracer{
		r: r, find: newFinder(q), load: r.NewReader(),
		known: map[replay.Piece]bool{}, uses: map[string]*use{}, files: map[string]*File{},
		messages: map[replay.Piece]*life{}, prompt: map[promptPart]map[promptPiece]*life{},
	}
}

// changed compares the context with what it was at the last change.
func (t *tracer) changed(step replay.Step, c *replay.Change) error {
	t.step = step
	t.looks++
	t.op, t.cuts, t.replacement = c.By.Op, c.Do == replay.OpCut || c.Do == replay.OpRecompact, nil
	is, was := step.Messages(), t.last
	var gone []*life
	for _, number := range was.Without(is) {
		if l := t.messages[was.Numbered(number).Identity()]; l != nil && l.open {
			gone = append(gone, l)
		}
	}
	for _, number := range is.Without(was) {
		t.meet(is.Numbered(number))
	}
	for _, l := range gone {
		switch {
		case l.looked == t.looks:
		case t.cuts:
			t.leave(l, ChangeSummed, t.replacement)
		default:
			t.leave(l, ChangeReplaced, t.replacement)
		}
	}
	t.last = is
	t.comparePrompt()
	return t.err
}

// meet records a message that is new or has changed since the last change.
func (t *tracer) meet(m replay.Piece) {
	l, hit := t.messages[m.Identity()], t.holds(m)
	if o := m.Origin(); o.Record == t.step.Record && o.Op == t.op && m.Sent() {
		t.replacement = t.mention(hit.ok || t.replacement != nil && *t.replacement)
	}
	if l == nil {
		if hit.ok {
			l = &life{Life: &Life{As: hit.as, Origin: m.Origin(), Text: hit.text}, is: m.Place(), looked: t.looks,
				result: hit.result}
			for _, u := range hit.uses {
				u.shows(l)
			}
			t.messages[m.Identity()] = l
			t.enter(l)
		}
		return
	}
	changed := l.is != m.Place()
	l.is, l.looked = m.Place(), t.looks
	did := ChangeRestored
	if edit, omits := m.Edit(); omits {
		did = ChangeOmitted
	} else if edit >= 0 || m.Reframed() {
		did = ChangeEdited
	}
	if changed && hit.text != "" && m.Reframed() {
		l.As, l.Text = hit.as, hit.text
	}
	switch {
	case hit.ok && !l.open:
		t.enter(l)
	case hit.ok && changed:
		t.event(l, did, t.mention(true))
	case !hit.ok && l.open && did == ChangeOmitted:
		t.leave(l, did, nil)
	case !hit.ok && l.open:
		t.leave(l, did, t.mention(false))
	}
}

// mention returns the value of Event.Mentions.
func (t *tracer) mention(holds bool) *bool {
	if t.find.q.follows() {
		return nil
	}
	return &holds
}

// A hit is the result of searching a message.
type hit struct {
	ok       bool
	as, text string
	uses     []*use // its calls, or the call of its result
	result   bool   // it matches only as the result of a use, without the text
}

// holds reports whether a message is sent and matches. Its text is read the first time.
func (t *tracer) holds(m replay.Piece) hit {
	if !m.Sent() {
		return hit{}
	}
	place := m.Place()
	if ok, known := t.known[place]; known {
		return hit{ok: ok}
	}
	h := t.read(m)
	t.known[place] = h.ok
	return h
}

func (t *tracer) read(m replay.Piece) (h hit) {
	q := t.find.q
	if o := m.Origin(); q.follows() && o.Record != q.Entry && o.By != q.Entry {
		return h
	}
	may, of := t.may(m), t.resultOf(m)
	if !may && of == nil {
		return h
	}
	v, err := t.load.Provider(m)
	t.err = cmp.Or(t.err, err)
	if h.ok = q.follows(); h.ok {
		h.text = outline.MessageGist(v)
	} else {
		h.text, h.ok = t.find.message(v)
	}
	switch {
	case of != nil:
		of.failed = v.Get("isError").Truthy()
		h.uses, h.result, h.ok = []*use{of}, !h.ok, true
	case h.ok && m.Kind() == jsonl.Assistant:
		h.uses = t.calls(v)
	}
	if h.ok {
		h.as = v.Get("role").Text()
	}
	return h
}

// may reports whether the lines of a message can contain a match. Summaries and shell commands
// always can: a provider gets them with text that is not in the file.
func (t *tracer) may(m replay.Piece) bool {
	switch m.Kind() {
	case jsonl.User, jsonl.Assistant, jsonl.ToolResult, jsonl.Custom:
		line, edit, err := t.load.Lines(m)
		t.err = cmp.Or(t.err, err)
		return t.find.may(line) || edit.Exists() && t.find.may(edit)
	}
	return true
}

// enter records that l matches from this step on.
func (t *tracer) enter(l *life) {
	did := ChangeReturned
	if len(l.Events) == 0 {
		did = ChangeEntered
		if l.result {
			t.out.results = append(t.out.results, l.Life)
		} else {
			t.out.Lives = append(t.out.Lives, l.Life)
		}
	}
	l.open, l.since = true, t.step.Requests()
	t.event(l, did, nil)
}

// leave records that l no longer matches.
func (t *tracer) leave(l *life, did Change, mentions *bool) {
	t.event(l, did, mentions)
	t.close(l)
}

func (t *tracer) event(l *life, did Change, mentions *bool) {
	l.Events = append(l.Events, Event{Did: did, Record: t.step.Record, Op: origin.Index(t.op),
		Request: t.step.Requests(), Mentions: mentions})
}

// close adds the range of requests that had l.
func (t *tracer) close(l *life) {
	l.open = false
	if last := t.step.Requests() - 1; last >= l.since {
		l.Seen = append(l.Seen, Range{l.since, last})
	}
}

// end closes the lives that are in the context at the end of the walk.
func (t *tracer) end() {
	for _, l := range t.messages {
		t.endOf(l)
	}
	for _, pieces := range t.prompt {
		for _, l := range pieces {
			t.endOf(l)
		}
	}
}

func (t *tracer) endOf(l *life) {
	if l.open {
		t.close(l)
		l.Now = true
	}
}
