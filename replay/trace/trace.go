// Package trace follows a text, what a pattern matches, or what an entry gave, through all
// requests of a session.
package trace

import (
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A Life is what became of a message, a part of the prompt or a tool that has held
// what a trace looks for, or an entry that holds it and gave the context nothing that
// does: a line of schema ctxtool/trace/1.
type Life struct {
	Schema string `json:"schema"`
	As     string `json:"as"`             // the role that a provider gets a message as, `part`, `tool`, or `entry` for one that never was in the context
	Name   string `json:"name,omitempty"` // of a part or tool
	origin.Source
	Text   string  `json:"text,omitempty"`   // the words around the first match, in the arguments of a call as `TOOL(words)`; of an entry that is followed, its first words
	Events []Event `json:"events,omitempty"` // what became of it, in order; absent for an `entry`
	Seen   []Range `json:"seen,omitempty"`   // the requests that had it, both ends included; absent where none had
	Now    bool    `json:"now"`              // it is in the context at the end of the path, or at `--at`
	Why    why     `json:"why,omitempty"`    // of an `entry`: `off-path`, `behind` a broken patch, `unsent` (no model gets it)

	Origin origin.Origin `json:"-"` // where it came from when it was first found
}

// A Range is requests by number, both ends included.
type Range struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// An Event is what a step of the path did to a life.
type Event struct {
	Did      Change       `json:"did"`                // `entered`, `returned`; `edited` (a `context_edit` changed it), `changed` (a part or tool was set again), `restored` (an edit was forgotten); `omitted` (by a `context_edit`), `compacted`, `replaced` (by a `messages_cached_replace`), `removed` (a part or tool)
	Record   int          `json:"-"`                  // the entry that did it
	ID       string       `json:"id,omitempty"`       // of the entry that did it
	Line     int          `json:"line"`               // of that entry
	Time     string       `json:"time,omitempty"`     // of that entry
	Op       origin.Index `json:"op,omitzero"`        // the operation of its patch
	Request  int          `json:"request"`            // the next request, the first one that shows it
	Mentions *bool        `json:"mentions,omitempty"` // what stands there instead (the new text, the summary, the messages of the patch) still holds it; absent where nothing does, and where an entry is followed
}

// A Change is what happened to something in a context.
type Change string

// The changes. What has left can return: a newer compaction undoes an older one, and
// an edit another.
const (
	ChangeEntered  Change = "entered"
	ChangeReturned Change = "returned"
	ChangeEdited   Change = "edited"    // a context_edit changed its text
	ChangeChanged  Change = "changed"   // a part or tool was set to something else
	ChangeRestored Change = "restored"  // an edit of it was forgotten
	ChangeOmitted  Change = "omitted"   // a context_edit left it out
	ChangeSummed   Change = "compacted" // a compaction took it out
	ChangeReplaced Change = "replaced"  // a messages_cached_replace left it out
	ChangeRemoved  Change = "removed"   // a part or tool, by name
)

const traceSchema = "ctxtool/trace/1"

// A Tracing is what a trace has found.
type Tracing struct {
	Files    []*File // that the text names, in the order in which calls did
	Lives    []*Life // in the order in which they began
	Requests int     // of the path, as far as it was replayed
	Steps    int     // entries of the path that were replayed
	Stopped  error   // the broken patch after which nothing is known

	results []*Life // results of calls with such a file, which need not hold the text
}

// Follow replays the path to record leaf, and follows what the query asks for. Each
// text is looked at once, however many requests had it; what a request costs is
// what is new in it.
func Follow(r *replay.Replay, leaf int, q *Query) (*Tracing, error) {
	t := newTracer(r, q)
	for step, err := range r.Walk(leaf, t) {
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
	if err := t.tell(); err != nil {
		return nil, err
	}
	t.holdings()
	return &t.out, nil
}

// tell says of all lives and events where they come from.
func (t *tracer) tell() (err error) {
	r, s, lines := t.r, t.r.Session, t.r.Session.NewReader()
	for _, l := range slices.Concat(t.out.Lives, t.out.results) {
		l.Schema = traceSchema
		if l.Source, err = origin.From(r.Session, l.Origin, lines); err != nil {
			return err
		}
		for i := range l.Events {
			e := &l.Events[i]
			line, err := lines.Line(e.Record)
			if err != nil {
				return err
			}
			e.ID, e.Line, e.Time = s.ID(e.Record), s.Line(e.Record), line.Get("timestamp").Text()
		}
	}
	return nil
}

// A tracer follows lives along the steps of a machine.
type tracer struct {
	replay.NopObserver
	out   Tracing
	r     *replay.Replay
	find  *finder
	load  *replay.Reader
	known map[replay.Piece]bool // of messages that have been read: whether they hold it
	uses  map[string]*use       // calls with a file that the text names, by their ids
	files map[string]*File

	step        replay.Step // at the last look
	looks       int         // looks so far
	op          int         // that of the look at hand, -1 for none
	cuts        bool        // the entry or op compacts
	replacement *bool       // whether a message that the entry or op put in holds it; nil where it put in none

	last     *replay.Envelope // at the last look; nil before the first
	front    replay.PromptTracker
	messages map[replay.Piece]*life
	prompt   map[promptPiece]*life
}

// A life is a Life that goes on.
type life struct {
	*Life
	is     replay.Piece // a message as it stands
	said   wording      // a part or tool as it stands
	met    bool         // that has been looked through,
	holds  bool         // and holds what is looked for
	open   bool         // it is in the context and holds what is looked for
	since  int          // the first request that has it, where open
	looked int          // the look that came across it last
	result bool         // it holds the text by being the result of a call with a file
}

func newTracer(r *replay.Replay, q *Query) *tracer {
	return &tracer{
		r: r, find: newFinder(q), load: r.NewReader(),
		known: map[replay.Piece]bool{}, uses: map[string]*use{}, files: map[string]*File{}, messages: map[replay.Piece]*life{}, prompt: map[promptPiece]*life{},
	}
}

// Changed compares the context with what it was at the last change.
func (t *tracer) Changed(step replay.Step, c *replay.Change) error {
	t.step = step
	t.looks++
	t.op, t.cuts, t.replacement = c.By.Op, c.Do == replay.OpCut || c.Do == replay.OpRecompact, nil
	e, was := step.Envelope(), t.last
	had := 0
	if was != nil {
		had = was.Listed()
	}
	var gone []*life
	for i := range e.Differs(was) {
		if i < had {
			if l := t.messages[was.Piece(i).Identity()]; l != nil && l.open {
				gone = append(gone, l)
			}
		}
		if i < e.Listed() {
			if err := t.meet(e.Piece(i)); err != nil {
				return err
			}
		}
	}
	uncached := 0 // none of them ever leaves
	if was != nil {
		uncached = was.Len() - had
	}
	for i := e.Listed() + uncached; i < e.Len(); i++ {
		if err := t.meet(e.Piece(i)); err != nil {
			return err
		}
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
	t.last = e
	return t.lookAtPrompt()
}

// meet records a message that was not in its place at the last look.
func (t *tracer) meet(m *replay.Piece) error {
	l := t.messages[m.Identity()]
	hit, err := t.holds(m)
	if err != nil {
		return err
	}
	if o := m.Origin(); o.Record == t.step.Record && o.Op == t.op && m.Sent() {
		t.replacement = t.mention(hit.ok || t.replacement != nil && *t.replacement)
	}
	if l == nil {
		if hit.ok {
			l = &life{Life: &Life{As: hit.as, Origin: m.Origin(), Text: hit.text}, is: m.Place(), looked: t.looks, result: hit.result}
			for _, u := range hit.uses {
				u.shows(l)
			}
			t.messages[m.Identity()] = l
			t.enter(l)
		}
		return nil
	}
	changed := l.is != m.Place()
	l.is, l.looked = m.Place(), t.looks
	did := ChangeRestored
	if edit, omits := m.Edit(); omits {
		did = ChangeOmitted
	} else if edit >= 0 {
		did = ChangeEdited
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
	return nil
}

// mention is what an event says of what stands there now.
func (t *tracer) mention(holds bool) *bool {
	if t.find.q.follows() {
		return nil
	}
	return &holds
}

// A hit is what was found in a message.
type hit struct {
	ok       bool
	as, text string
	uses     []*use // calls that it makes, or whose result it is
	result   bool   // it is there for that alone, and without the text
}

// holds reports whether a message is sent and holds what is looked for. The text is
// read the first time.
func (t *tracer) holds(m *replay.Piece) (h hit, err error) {
	if !m.Sent() {
		return h, nil
	}
	place := m.Place()
	if ok, known := t.known[place]; known {
		h.ok = ok
		return h, nil
	}
	h, err = t.read(m)
	t.known[place] = h.ok
	return h, err
}

func (t *tracer) read(m *replay.Piece) (h hit, err error) {
	q := t.find.q
	if o := m.Origin(); q.follows() && o.Record != q.Entry && o.By != q.Entry {
		return h, nil
	}
	may, err := t.may(m)
	if err != nil {
		return h, err
	}
	of, err := t.resultOf(m)
	if err != nil || !may && of == nil {
		return h, err
	}
	v, err := t.load.Provider(m)
	if err != nil {
		return h, err
	}
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
	return h, nil
}

// may reports whether the lines that a message is made of can hold a match. Of summaries
// and shell commands a provider gets words that are not in the file.
func (t *tracer) may(m *replay.Piece) (bool, error) {
	switch m.Kind() {
	case jsonl.User, jsonl.Assistant, jsonl.ToolResult, jsonl.Custom:
	default:
		return true, nil
	}
	line, edit, err := t.load.Lines(m)
	return t.find.may(line) || edit.Exists() && t.find.may(edit), err
}

// enter reports that something holds it from here on.
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

// leave reports that it does no more.
func (t *tracer) leave(l *life, did Change, mentions *bool) {
	t.event(l, did, mentions)
	t.close(l)
}

func (t *tracer) event(l *life, did Change, mentions *bool) {
	l.Events = append(l.Events, Event{Did: did, Record: t.step.Record, Op: origin.Index(t.op), Request: t.step.Requests(), Mentions: mentions})
}

// close records the requests that have seen it.
func (t *tracer) close(l *life) {
	l.open = false
	if last := t.step.Requests() - 1; last >= l.since {
		l.Seen = append(l.Seen, Range{l.since, last})
	}
}

// end closes what is in the context at the end of the walk.
func (t *tracer) end() {
	for _, l := range t.messages {
		t.endOf(l)
	}
	for _, l := range t.prompt {
		t.endOf(l)
	}
}

func (t *tracer) endOf(l *life) {
	if l.open {
		t.close(l)
		l.Now = true
	}
}
