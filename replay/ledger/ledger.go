package ledger

import (
	"cmp"
	"iter"
	"runtime"
	"slices"
	"sort"

	"ctxtool/internal/base/parallel"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// Options configure a ledger.
type Options struct {
	Leaf    int             // the record whose path alone is replayed if the file's parents form a cycle
	Counter *tokens.Counter // counts messages, prompts and tools; nil to measure nothing
	Prompts *tokens.Counter // counts prompts and tools if Counter is nil
	Model   models.Ref      // if set, the model of all requests, with the recorded sizes
	Sizes   bool            // measures have no hash of the content, which takes less time
	Bare    bool            // requests have messages alone: no answer is read, nothing is counted
}

// A Ledger is a session in the form of its requests.
type Ledger struct {
	Replay   *replay.Replay
	Requests []Request        // including cache warmings, in file order
	Replayed []int32          // indexes of the requests that the walk reached, in its order
	Prompts  []Prompt         // each different prompt once
	Models   []Model          // models of the requests
	Levels   []string         // thinking levels, as JSON
	Stopped  []Stop           // broken patches, after which requests have no messages
	End      *replay.Envelope // the context at Options.Leaf; nil if the walk did not get there

	opt     Options
	live    bool              // measures by the walk
	own     []Measure         // measures of unedited messages of entries, by record
	other   map[int32]Measure // measures of all others, by number
	stored  map[int32]int32   // by number: what pi's estimate of a message has beyond its tokens as sent
	used    map[int]int32     // sizes of contexts with their answers, by record of the answer, if live
	plain   []*Setting        // by index of the model, for requests that are not replayed yet
	load    *replay.Reader
	logged  [][]int32   // numbers of request-only messages
	blocks  map[any]Sum // sums of blocks of messages
	prompts map[uint64]int32
	levels  map[string]int32
	meter   *prompt.Meter // hashes of prompts
}

// A Stop is a record at which the replay of a branch ends, and why.
type Stop struct {
	Record int
	Err    error
}

// A Measure is the size and identity of a message, without its text.
type Measure = weigh.Measure

// A Request is one provider call: the envelope that was sent, and what its answer records. A cache warming has
// no messages of its own. There may be as many requests as entries, so numbers are small, and values that
// rarely change are shared.
type Request struct {
	*Setting
	Record    int32 // record of the answer
	Previous  int32 // index of the request before it on its branch; -1 for the first
	Number    int32 // from 0 along its path; -1 if the replay did not reach it
	Place     int32 // place of the answer on its path
	Context   int32 // size of the context in tokens before the answer is known (docs/figures.md)
	Estimated int32 // the part of Context that no provider has recorded
	ModelBy   int32 // the last record that set the path's model, -1 for none
	listed    int32 // number of messages of the list
	sent      int32 // messages that a provider gets, and their tokens
	tokens    uint32
	after     int32 // recorded size of the request with its answer in tokens; 0 if it failed

	At     int64     // time of the answer, milliseconds since 1970, never before that of an earlier one; 0 if unknown
	Cost   float64   // what the answer records, in US dollars; negative if nothing
	usage  [4]uint32 // see Usage
	hour   bool      // cache writes are for an hour
	Warms  bool      // not a request: the entry kept the cache of an earlier one warm
	Failed bool
	Billed bool // a usage is recorded
}

// A Setting holds values that a request often shares with the one before it.
type Setting struct {
	Model  int32 // index of the model
	Front  int32 // index of the prompt before the messages; later system messages are messages
	Prompt int32 // index of the prompt that all system messages make together
	Level  int32 // index of the path's thinking level in Levels
	// Changed is the last change on the path that did more than append a message, nil for none.
	Changed *replay.Change

	list         replay.Messages // a request has the first ones of this list
	kept         int32           // see Ledger.Kept; -1 for all
	lead         int32           // see listed
	logged       int32           // index of the request-only messages; 0 for none
	systems      int32           // system messages in place, and their tokens
	systemTokens int64
	loose        Sum    // see listed
	large        *Usage // of a single request, if its usage has large numbers, or some cache writes are for an hour
}

// A listed is a list of messages with its sum.
type listed struct {
	Messages replay.Messages
	lead     int32 // index of the first message that a provider gets; their number if there is none
	sum      Sum   // sum of the list from there on
	loose    Sum   // sum of the uncached messages
}

// Known reports whether the replay reached the request.
func (q *Request) Known() bool { return q.list.Known() }

// Messages returns the messages as replayed, with those that no provider gets.
func (q *Request) Messages() replay.Messages { return q.list.Upto(q.listed) }

// Kept returns how many leading elements of the list the previous request had too.
func (l *Ledger) Kept(q *Request) int {
	if q.kept < 0 {
		return int(l.Requests[q.Previous].listed)
	}
	return int(q.kept)
}

// New returns a ledger without requests. A walk with its Meter measures each message as it is reached.
func New(r *replay.Replay, opt Options) *Ledger {
	if opt.Bare {
		opt.Counter, opt.Prompts = nil, nil
	}
	return &Ledger{
		Replay: r, opt: opt, live: true, other: map[int32]Measure{}, stored: map[int32]int32{}, used: map[int]int32{},
		load: r.NewReader(), logged: make([][]int32, 1),
		blocks: map[any]Sum{}, prompts: map[uint64]int32{}, levels: map[string]int32{},
		meter: &prompt.Meter{Counter: cmp.Or(opt.Counter, opt.Prompts), Separator: r.Rules.Separator()},
	}
}

// Measured returns a ledger whose requests have answers, but no messages yet; see Follow.
func Measured(r *replay.Replay, opt Options) (*Ledger, error) {
	l := New(r, opt)
	l.live = false
	return l, l.measure()
}

// Read returns the ledger of all branches of a session.
func Read(r *replay.Replay, opt Options) (*Ledger, error) {
	l, err := Measured(r, opt)
	if err != nil {
		return nil, err
	}
	_, found := r.Session.Path(opt.Leaf)
	r.Findings = append(r.Findings, found...)
	err = l.Follow(Tree(opt.Leaf))
	if len(l.own) >= manyRecords {
		runtime.GC() // frees what only the walk needed
	}
	return l, err
}

// manyRecords is the number of records from which collecting the walk's garbage is worth its time.
const manyRecords = 1 << 18

// Tree returns the course through all branches, or if the parents of a leaf form a cycle, along
// its path.
func Tree(leaf int) Course {
	return func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error] {
		if path, _ := r.Session.Path(leaf); len(path) > 0 && r.Session.Parent(path[0]) >= 0 {
			return r.Along(path, watch)
		}
		return r.WalkTree(r.Session.Tree(), watch)
	}
}

// A Course replays the requests of a session the way its caller wants them sent: with held entries, or with
// entries that only one request gets.
type Course func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error]

// Other returns a ledger with the same answers, replayed from a copy of the session, which may hold further
// entries. Nothing is measured again.
func (l *Ledger) Other(r *replay.Replay) *Ledger {
	next := New(r, l.opt)
	next.live, next.Models, next.own, next.plain = false, l.Models, l.own, l.plain
	next.Requests = slices.Clone(l.Requests)
	for k := range next.Requests {
		q := &next.Requests[k]
		q.listed, q.Previous, q.Number = 0, -1, -1
		l.unset(q, q.Model)
	}
	return next
}

// unset gives a request that is not replayed its model and the other settings.
func (l *Ledger) unset(q *Request, model int32) {
	if q.large != nil {
		q.Setting = &Setting{Model: model, large: q.large}
		return
	}
	q.Setting = l.plain[model]
}

// levelOf returns the index of a thinking level.
func (l *Ledger) levelOf(level string) int32 {
	at, ok := l.levels[level]
	if !ok {
		at = int32(len(l.Levels))
		l.levels[level], l.Levels = at, append(l.Levels, level)
	}
	return at
}

// Thinking returns the reasoning of a request as JSON: the option that patches or a baseline set,
// else that of the path's thinking level.
func (l *Ledger) Thinking(q *Request) jsonl.Value {
	if said := l.Prompts[q.Prompt].Options.Reasoning; said != nil {
		return said
	}
	return l.Replay.Rules.Reasoning(jsonl.Value(l.Levels[q.Level]))
}

// Asked returns the model that a request was for: the one that its answer names, else the path's.
func (l *Ledger) Asked(q *Request) (models.Ref, error) {
	if ref := l.Replay.Options.Model; ref != (models.Ref{}) {
		return ref, nil
	}
	if ref := l.Models[q.Model].Ref; ref.Known() {
		return ref, nil
	}
	if k := l.Answered(int(q.ModelBy)); k >= 0 {
		return l.Models[l.Requests[k].Model].Ref, nil
	}
	return l.Replay.ModelBy(int(q.ModelBy))
}

// Answered returns the index of the request that a record answers, -1 if it answers none.
func (l *Ledger) Answered(record int) int32 {
	k := sort.Search(len(l.Requests), func(k int) bool { return l.Requests[k].Record >= int32(record) })
	if k == len(l.Requests) || l.Requests[k].Record != int32(record) || l.Requests[k].Warms {
		return -1
	}
	return int32(k)
}

// chunkRecords is how many records a worker reads at a time.
const chunkRecords = 256

// measure reads all answers and cache warmings, and measures the messages of entries, in
// parallel.
func (l *Ledger) measure() error {
	s := l.Replay.Session
	l.own = make([]Measure, s.Len())
	type chunk struct {
		all   []Request
		names []named
		err   error
	}
	n := (s.Len() + chunkRecords - 1) / chunkRecords
	answers := l.answersIn(0, s.Len())
	l.Requests = make([]Request, 0, answers)
	names := make([]int32, 0, answers) // by index in known
	var known []named
	numbers := map[named]int32{}
	for c := range parallel.InOrder(n, runtime.GOMAXPROCS(0), 8, func() func(int) chunk {
		load := l.Replay.NewReader()
		return func(k int) (c chunk) {
			c.all, c.names, c.err = l.measureChunk(load, k*chunkRecords)
			return c
		}
	}) {
		if c.err != nil {
			return c.err
		}
		l.Requests = append(l.Requests, c.all...)
		for _, name := range c.names {
			at, ok := numbers[name]
			if !ok {
				at = int32(len(known))
				numbers[name], known = at, append(known, name)
			}
			names = append(names, at)
		}
	}
	l.name(names, known)
	return nil
}

// answersIn returns how many records may record requests.
func (l *Ledger) answersIn(from, to int) (n int) {
	for rec := from; rec < to; rec++ {
		if l.Replay.Session.Answers(rec) || l.Replay.Session.Kind(rec) == jsonl.UsageEntry {
			n++
		}
	}
	return n
}

// measureChunk reads the chunk of records that begins at from: the requests they answer, and the models they
// name.
func (l *Ledger) measureChunk(load *replay.Reader, from int) (all []Request, names []named, err error) {
	s, none := l.Replay.Session, new(Setting)
	to := min(s.Len(), from+chunkRecords)
	all = make([]Request, 0, l.answersIn(from, to))
	names = make([]named, 0, cap(all))
	var name named
	for rec := from; rec < to; rec++ {
		kind, q := s.Kind(rec), Request{Setting: none, Record: int32(rec), Previous: -1, Number: -1}
		if l.opt.Bare {
			if s.Answers(rec) {
				all, names = append(all, q), append(names, named{})
			}
			continue
		}
		switch {
		case s.Answers(rec):
			if name, err = l.measureAnswer(load, rec, &q, name); err != nil {
				return nil, nil, err
			}
			all, names = append(all, q), append(names, name)
		case kind.IsTurn():
			m := l.Replay.Own(rec)
			if l.own[rec], err = l.read(load, m); err != nil {
				return nil, nil, err
			}
		case kind == jsonl.UsageEntry:
			line, err := load.Line(rec)
			if err != nil {
				return nil, nil, err
			}
			if q.Warms = line.Get("kind").Is("cache_warm"); q.Warms {
				name = q.warmed(line, name)
				all, names = append(all, q), append(names, name)
			}
		}
	}
	return all, names, nil
}

// measureAnswer measures the answer to a request, reads what it records, and returns the model that it names.
func (l *Ledger) measureAnswer(load *replay.Reader, rec int, q *Request, last named) (name named, err error) {
	stamp, err := load.Timestamp(rec)
	if err != nil {
		return name, err
	}
	written, dated := stamp.Millis() // before the message is read into the same memory
	m := l.Replay.Own(rec)
	if l.opt.Counter == nil {
		_, _, err = load.Message(m)
	} else {
		l.own[rec], err = l.read(load, m)
	}
	said := load.Last()
	return q.answered(written, dated, [5]jsonl.Value{said.Provider, said.Model, said.Stop, said.Usage,
		said.Time}, last), err
}

// read measures a message as the provider gets it, so that equal text has equal measures
// wherever it comes from.
func (l *Ledger) read(load *replay.Reader, m replay.Piece) (Measure, error) {
	if l.opt.Counter == nil {
		return Measure{}, nil
	}
	if l.opt.Sizes && !m.System() {
		n, size, err := load.Tokens(l.opt.Counter, m)
		return Measure{Tokens: int32(n), Bytes: int32(size)}, err
	}
	return load.Measure(l.opt.Counter, m)
}

// measureNumber measures a message unless that is done, or nothing is counted.
func (l *Ledger) measureNumber(number int32, p replay.Piece) error {
	switch {
	case l.opt.Counter == nil, l.Measure(number, p) != (Measure{}):
		return nil
	case !p.Sent() && !p.System():
		return l.measureStored(number, p, Measure{})
	}
	m, err := l.read(l.load, p)
	if err == nil {
		err = l.measureStored(number, p, m)
	}
	if err == nil && l.live && p.Own() {
		l.keep(p.Origin().Record, m, usedBy(l.load.Last()))
	} else {
		l.other[number] = m
	}
	return err
}

// keep keeps the measure of the unedited message of a record, and the size of its context if it is an answer.
func (l *Ledger) keep(record int, m Measure, used int32) {
	l.own = append(l.own, make([]Measure, max(0, l.Replay.Session.Len()-len(l.own)))...)
	l.own[record] = m
	if used > 0 {
		l.used[record] = used
	}
}

// usedBy returns the size of the context including an answer, 0 for other messages.
func usedBy(m *jsonl.Message) int32 {
	if m.Kind != jsonl.Assistant {
		return 0
	}
	return contextOf(m.Usage.Usage(), m.Failed())
}

// Told is what a caller has read of a message, so that the walk need not read it again; see Meter.Hear.
type Told struct{ tokens, used int32 }

// Tell sets the data of a prompt, an answer or a result, counted by w.
func (t *Told) Tell(w *weigh.Weigher, m *jsonl.Message) {
	if !m.Content.IsNull() { // otherwise a provider gets a different message
		*t = Told{int32(w.Message(m).Total()), usedBy(m)}
	}
}

// Hear records the data of a record's message before the walk reaches it.
func (b *Meter) Hear(record int, t Told) { b.l.keep(record, Measure{Tokens: t.tokens}, t.used) }

// measureStored records by how much pi's estimate of a message exceeds its tokens as sent: pi estimates the
// stored message, even if no provider gets it.
func (l *Ledger) measureStored(number int32, p replay.Piece, sent Measure) error {
	if _, known := l.stored[number]; known || !p.Stored() || l.opt.Counter != &tokens.Pi {
		return nil
	}
	n, err := l.load.Estimate(&tokens.Pi, p)
	l.stored[number] = int32(n) - sent.Tokens
	return err
}

// Measure returns the measure of a message of a request.
func (l *Ledger) Measure(number int32, p replay.Piece) Measure {
	if p.Own() {
		if rec := p.Origin().Record; rec < len(l.own) && l.own[rec] != (Measure{}) {
			return l.own[rec]
		}
	}
	return l.other[number]
}

// Counts returns the tokens of a request without its request-only messages, with the prompt that
// all system messages make together.
func (l *Ledger) Counts(q *Request) (n weigh.Counts) {
	n = l.Prompts[q.Prompt].Counts
	v := View{l: l, q: q}
	_, all := v.Until(q.Messages().Len())
	n.Messages = int(all)
	n.Total = n.System + n.Tools + n.Messages
	return n
}
