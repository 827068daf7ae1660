// Package ledger has what the requests of a session had, as data: its messages, each measured
// once, its prompts, and its requests in the order of the file, each with the one before it on
// its branch. Lenses are functions of a ledger; none replays entries or measures messages itself.
//
// A ledger holds no texts. One parallel pass reads each message of an entry, and one walk of the
// tree finds what each request had. Lists of messages share memory (replay.Messages), so requests
// that change little take little.
package ledger

import (
	"iter"
	"math"
	"slices"

	"ctxtool/internal/parallel"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// Options configure a ledger.
type Options struct {
	Leaf    int             // record whose path is replayed alone if the file's parents form a cycle
	Counter *tokens.Counter // counts messages, prompts and tools
	Model   models.Ref      // if set, the model of all requests, with the recorded sizes
}

// A Ledger is a session as its requests.
type Ledger struct {
	Replay   *replay.Replay
	Requests []Request // and cache warmings, in the order of the file
	Replayed []int32   // indexes of the requests that the walk reached, in its order
	Prompts  []Prompt  // without duplicates
	Models   []Model   // of the requests
	Levels   []string  // thinking levels, as JSON
	Stopped  []Stop    // broken patches, after which requests have no messages

	opt     Options
	own     []Measure         // of the unedited messages of entries, by record
	other   map[int32]Measure // of all others, by number
	answers []int32           // index of the request that a record answers; -1 for none
	load    *replay.Reader
	blocks  map[any]Sum // sums of blocks of messages
	prompts map[uint64]int32
}

// A Stop is a record at which the replay of a branch ends, and why.
type Stop struct {
	Record int
	Err    error
}

// A Measure is what there is to know of a message without its text.
type Measure struct {
	Content uint64 // hash of its content, valid in one process only
	Tokens  int32
	Bytes   int32 // of its JSON
}

// A Model is a model that answered, or would answer, requests.
type Model struct {
	Ref models.Ref
	models.Model
}

// A Request is one provider call, with the envelope that was sent and the answer's record. A cache
// warming is one without messages of its own.
type Request struct {
	Record   int32 // the answer
	Previous int32 // index of the request before it on its branch; -1 for the first
	Number   int32 // from 0 along its path; -1 if the replay did not reach it
	Leaf     int32 // the last record before the answer
	Model    int32 // index of its model
	Front    int32 // index of the prompt before the messages; later system messages are messages
	Prompt   int32 // index of the prompt that all system messages make together
	Warms    bool  // no request: the entry kept the cache of an earlier one warm

	Kept     int32           // leading elements of the list that the previous request had too
	Messages replay.Messages // as replayed, with those that no provider gets
	Logged   []int32         // numbers of request-only messages, after all others
	ModelBy  int32           // the last record that set the path's model, -1 for none
	Level    int32           // index of the path's thinking level in Levels
	lead     int32           // index of the first message that a provider gets, their number without one
	sum      Sum             // of the list from there on
	Answer
}

// Known reports whether the replay reached the request.
func (q *Request) Known() bool { return q.Messages.Known() }

// Measured returns a ledger whose requests have answers, but no messages yet; see Follow.
func Measured(r *replay.Replay, opt Options) (*Ledger, error) {
	l := &Ledger{
		Replay: r, opt: opt, other: map[int32]Measure{}, load: r.NewReader(),
		blocks: map[any]Sum{}, prompts: map[uint64]int32{},
	}
	return l, l.measure()
}

// Read returns the ledger of all branches of a session.
func Read(r *replay.Replay, opt Options) (*Ledger, error) {
	l, err := Measured(r, opt)
	if err != nil {
		return nil, err
	}
	path, found := r.Session.Path(opt.Leaf)
	r.Findings = append(r.Findings, found...)
	return l, l.Follow(func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error] {
		if len(path) > 0 && r.Session.Parent(path[0]) >= 0 { // its parents form a cycle
			return r.Walk(opt.Leaf, watch)
		}
		return r.WalkTree(r.Session.Tree(), watch)
	})
}

// A Course replays the requests of a session as its caller wants them sent: with entries that the
// session only holds, or that only one request gets.
type Course func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error]

// Other returns a ledger of the same answers, replayed from a copy of the session, which may hold
// further entries. Nothing is measured again.
func (l *Ledger) Other(r *replay.Replay) *Ledger {
	next := &Ledger{
		Replay: r, Models: l.Models, opt: l.opt, own: l.own, other: map[int32]Measure{}, answers: l.answers,
		load: r.NewReader(), blocks: map[any]Sum{}, prompts: map[uint64]int32{},
	}
	for _, q := range l.Requests {
		next.Requests = append(next.Requests, Request{Record: q.Record, Previous: -1, Number: -1, Model: q.Model, Warms: q.Warms, Answer: q.Answer})
	}
	return next
}

// Follow walks a course, and records what its requests had. A ledger follows one course.
func (l *Ledger) Follow(course Course) error {
	for step, err := range course(l.Replay, &branch{l: l, last: -1, thinkingBy: math.MinInt, front: replay.PromptTracker{LeadingOnly: true}}) {
		switch {
		case replay.Stopped(err):
			l.Stopped = append(l.Stopped, Stop{step.Record, err})
		case err != nil:
			return err
		}
	}
	return nil
}

// A branch follows the requests of a branch.
type branch struct {
	replay.NopObserver
	l             *Ledger
	last          int32 // the last request
	front, merged replay.PromptTracker
	frontAt       int32 // its prompt
	mergedAt      int32
	thinkingBy    int // the record that set the thinking level
	level         int32
}

// Fork returns the branch that parts here.
func (b *branch) Fork(from, to replay.Step) replay.Observer {
	next := *b
	next.front, next.merged = b.front.Fork(from, to), b.merged.Fork(from, to)
	return &next
}

// Request records what a request had.
func (b *branch) Request(step replay.Step) (err error) {
	k := b.l.Answered(step.Record)
	if k < 0 {
		return nil
	}
	q := &b.l.Requests[k]
	if q.Known() { // on a fork, with what only this request gets
		b.last = k
		return nil
	}
	if b.frontAt, err = b.l.prompt(&b.front, step, b.frontAt); err != nil {
		return err
	}
	if b.mergedAt, err = b.l.prompt(&b.merged, step, b.mergedAt); err != nil {
		return err
	}
	e := step.Envelope()
	if e.ThinkingBy != b.thinkingBy {
		level, err := e.ThinkingLevel()
		if err != nil {
			return err
		}
		b.thinkingBy, b.level = e.ThinkingBy, b.l.levelOf(string(level))
	}
	q.Number, q.Leaf, q.ModelBy = int32(e.RequestIndex), int32(e.Leaf), int32(e.ModelBy)
	q.Front, q.Prompt, q.Level = b.frontAt, b.mergedAt, b.level
	if b.l.Replay.Rules.Patched() {
		if q.Logged, err = step.Logged(); err != nil {
			return err
		}
	}
	q.Messages, q.Previous = step.Messages(), b.last
	if err := b.l.add(q); err != nil {
		return err
	}
	b.last = k
	b.l.Replayed = append(b.l.Replayed, k)
	return nil
}

// levelOf returns the index of a thinking level.
func (l *Ledger) levelOf(level string) int32 {
	at := slices.Index(l.Levels, level)
	if at < 0 {
		at = len(l.Levels)
		l.Levels = append(l.Levels, level)
	}
	return int32(at)
}

// Thinking returns the reasoning of a request as JSON: the option that patches or a baseline set,
// else that of the path's thinking level.
func (l *Ledger) Thinking(q *Request) jsonl.Value {
	if said := l.Prompts[q.Prompt].reasoning; said != nil {
		return said
	}
	return l.Replay.Rules.Reasoning(jsonl.Value(l.Levels[q.Level]))
}

// Asked returns the model that a request was for by its path, which its answer need not name.
func (l *Ledger) Asked(q *Request) (models.Ref, error) {
	if ref := l.Replay.Options.Model; ref != (models.Ref{}) {
		return ref, nil
	}
	if k := l.Answered(int(q.ModelBy)); k >= 0 {
		return l.Models[l.Requests[k].Model].Ref, nil
	}
	return l.Replay.ModelBy(int(q.ModelBy))
}

// Answered returns the index of the request that a record answers, -1 if it answers none.
func (l *Ledger) Answered(record int) int32 {
	if record < 0 || record >= len(l.answers) {
		return -1
	}
	return l.answers[record]
}

// add sums up the messages of a request, from those of the request before it.
func (l *Ledger) add(q *Request) error {
	var was replay.Messages
	if q.Previous >= 0 {
		p := &l.Requests[q.Previous]
		was, q.sum, q.lead = p.Messages, p.sum, p.lead
	}
	is := q.Messages
	q.Kept = -1
	for i := range is.Differs(was) {
		if q.Kept < 0 {
			q.Kept = int32(i)
		}
		if i < is.Listed() {
			if err := l.measureNumber(is.Number(i), is.Piece(i)); err != nil {
				return err
			}
			q.sum.plus(l.one(is.Number(i), is.Piece(i)), 1)
		}
		if i < was.Listed() {
			q.sum.plus(l.one(was.Number(i), was.Piece(i)), -1)
		}
	}
	if q.Kept < 0 {
		q.Kept = int32(is.Listed())
	}
	if q.Kept <= q.lead { // another message is the first
		for q.lead = 0; int(q.lead) < is.Listed() && !is.Piece(int(q.lead)).Sent(); q.lead++ {
		}
		q.sum = l.sumOf(is, int(q.lead), is.Listed())
	}
	for i := is.Listed(); i < is.Len(); i++ {
		if err := l.measureNumber(q.Messages.Number(i), q.Messages.Piece(i)); err != nil {
			return err
		}
	}
	for _, number := range q.Logged {
		if err := l.measureNumber(number, q.Messages.Numbered(number)); err != nil {
			return err
		}
	}
	return nil
}

// chunkRecords is how many records a worker reads at a time.
const chunkRecords = 256

// measure reads all answers and cache warmings, and measures the messages of entries, in
// parallel.
func (l *Ledger) measure() error {
	s := l.Replay.Session
	chunks := make([][]Request, (s.Len()+chunkRecords-1)/chunkRecords)
	l.own = make([]Measure, s.Len())
	names := make([][]models.Ref, len(chunks))
	if err := parallel.Each(len(chunks), func() func(int) error {
		load := l.Replay.NewReader()
		return func(k int) (err error) {
			chunks[k], names[k], err = l.measureChunk(load, k*chunkRecords)
			return err
		}
	}); err != nil {
		return err
	}
	return l.name(chunks, names)
}

// measureChunk reads the chunk of records that begins at from: the requests that they answer, and
// the models that these name.
func (l *Ledger) measureChunk(load *replay.Reader, from int) (all []Request, names []models.Ref, err error) {
	s := l.Replay.Session
	for rec := from; rec < min(s.Len(), from+chunkRecords); rec++ {
		kind := s.Kind(rec)
		switch kind {
		case jsonl.User, jsonl.ToolResult, jsonl.Assistant:
			m := l.Replay.Own(rec)
			if l.own[rec], err = l.read(load, &m); err != nil {
				return nil, nil, err
			}
		}
		if !s.Answers(rec) && kind != jsonl.UsageEntry {
			continue
		}
		line, err := load.Line(rec)
		if err != nil {
			return nil, nil, err
		}
		q := Request{Record: int32(rec), Previous: -1, Number: -1, Leaf: -1}
		var name models.Ref
		if kind == jsonl.Assistant {
			q.Answer, name = readAnswer(line, line.Get("message"))
		} else if q.Warms = line.Get("kind").Is("cache_warm"); q.Warms {
			q.Answer, name = readAnswer(line, line)
		} else {
			continue
		}
		all, names = append(all, q), append(names, name)
	}
	return all, names, nil
}

// read measures a message as the provider gets it, so that equal text has equal measures
// wherever it comes from.
func (l *Ledger) read(load *replay.Reader, m *replay.Piece) (Measure, error) {
	d, err := load.Digest(l.opt.Counter, m)
	return Measure{d.Content, d.Tokens, d.Bytes}, err
}

// measureNumber measures a message unless that is done.
func (l *Ledger) measureNumber(number int32, p *replay.Piece) error {
	if !p.Sent() && !p.System() || l.Measure(number, p) != (Measure{}) {
		return nil
	}
	m, err := l.read(l.load, p)
	l.other[number] = m
	return err
}

// Measure returns the measure of a message of a request.
func (l *Ledger) Measure(number int32, p *replay.Piece) Measure {
	if p.Own() {
		if rec := p.Origin().Record; rec < len(l.own) && l.own[rec] != (Measure{}) {
			return l.own[rec]
		}
	}
	return l.other[number]
}

// Counts returns the tokens of a request without its request-only messages: with the prompt that all system messages
// make together, or with later system messages as messages.
func (l *Ledger) Counts(q *Request, inPlace bool) (n weigh.Counts) {
	n = l.Prompts[q.Prompt].Counts
	if inPlace {
		n = l.Prompts[q.Front].Counts
	}
	v := View{l, q, inPlace}
	_, all := v.Until(q.Messages.Len())
	n.Messages = int(all)
	n.Total = n.System + n.Tools + n.Messages
	return n
}
