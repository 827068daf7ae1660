package reuse

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/outline"
	"ctxtool/internal/survival"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A Compaction lists what mattered of the messages that a compaction dropped: facts that its
// summary lacks, and terms that later answers used. It is a line of schema
// ctxtool/compactions/1.
type Compaction struct {
	Schema  string   `json:"schema"`
	Entry   string   `json:"entry"`           // the compaction, or the transform that compacts
	Line    int      `json:"line"`            // of that entry, from 1
	Reset   bool     `json:"reset,omitempty"` // it is a reset: a compaction without a summary
	Time    string   `json:"time,omitempty"`  // of that entry, as in the file
	Request int      `json:"request"`         // the next request, from 0
	Before  int      `json:"before"`          // tokens of the context before it, as pi's `/context` counts them
	After   int      `json:"after"`           // and after it
	Dropped int      `json:"dropped"`         // messages that left the context
	Kept    int      `json:"kept"`            // messages after it, its summary included
	Lost    []Lost   `json:"lost"`            // facts of the dropped messages that the summary lacks, the most important first
	Used    []Reused `json:"used"`            // what later answers used of the dropped messages and neither the summary nor a kept message has, the least likely to be chance first
}

// A Lost is a fact that the summary lacks.
type Lost struct {
	Kind  string `json:"kind"`           // `constraint` (a demand of the user), `failure` (a call that failed and did not succeed later), `path` (of a file that a tool was called with), `command` (one with an effect)
	What  string `json:"what"`           // the sentence, path or command, or the call that failed and its error
	Entry string `json:"entry"`          // the entry with the fact
	Line  int    `json:"line"`           // of that entry
	Used  bool   `json:"used,omitempty"` // a path that `used` has too
}

// A Reused is a term of dropped messages that later answers used.
type Reused struct {
	Kind  Kind     `json:"kind"`  // `call` (the same call again), `path`, `line` (of at least 24 bytes), `identifier`
	What  string   `json:"what"`  // the path, word or line, or the call in a few words
	Entry string   `json:"entry"` // the entry of the last dropped message that has it
	Line  int      `json:"line"`  // of that entry
	By    []usedBy `json:"by"`    // the answers, in order
}

// A usedBy is an answer that used it.
type usedBy struct {
	Request int    `json:"request"`
	Entry   string `json:"entry"`
}

// A drop is a compaction during the walk.
type drop struct {
	survival.Boundary
	record, request int
	before, after   int     // tokens
	entered, left   []int32 // messages that were not there after the drop before, and that no longer are
	used            []finding
}

// A finding is a term of a drop that later answers may use.
type finding struct {
	term int32
	name string
	from int32 // the last message that has it
}

// A tracing finds what the answers of a path use of what its compactions dropped.
type tracing struct {
	r        *replay.Replay
	drops    []drop
	answers  []answered         // from the first drop on
	messages replay.Messages    // the last ones of the walk, which know all
	terms    map[uint64]int32   // that answers use
	used     [][]usedBy         // by term, in order
	kinds    []Kind             // of the terms
	read     map[int32]*reading // of the messages at drops, by number
}

// An answered is an answer: its entry, and the request that it answers.
type answered struct{ record, request int }

// A reading is what there is to know of a message.
type reading struct {
	told  survival.Told
	terms []spelled // that answers use
	calls []called
	id    string // of the call that it is the result of
}

// A spelled is a term as a message spells it, and a called the call of an id.
type (
	spelled struct {
		term int32
		name string
	}
	called struct {
		id   string
		term uint64
		name string
	}
)

// Compactions returns the compactions of the path to record leaf. stopped is the error of the
// broken patch that ended the replay, if any.
func Compactions(r *replay.Replay, leaf int, c *tokens.Counter) (all []Compaction, stopped, err error) {
	t := &tracing{r: r, terms: map[uint64]int32{}, read: map[int32]*reading{}}
	if stopped, err = t.walk(leaf, c); err != nil || len(t.drops) == 0 {
		return []Compaction{}, stopped, err
	}
	if err = t.readAnswers(); err == nil {
		err = t.readMessages()
	}
	if err != nil {
		return nil, nil, err
	}
	t.find()
	var carried survival.Facts
	for i := range t.drops {
		one, err := t.compaction(&t.drops[i], &carried)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, one)
	}
	return all, stopped, nil
}

// walk finds the compactions and the answers after the first of them.
func (t *tracing) walk(leaf int, c *tokens.Counter) (stopped, err error) {
	meter := ledger.New(t.r, ledger.Options{Counter: c, Sizes: true}).Meter()
	var last replay.Messages // at the last drop
	lines, path, size := t.r.Session.NewReader(), 0, 0
	way, _ := t.r.Session.Path(leaf)
	for step, err := range t.r.Walk(leaf) {
		if replay.Stopped(err) {
			return err, nil
		}
		if err != nil {
			return nil, err
		}
		now := step.Messages()
		var line jsonl.Value
		if step.Did == replay.Patched {
			if line, err = lines.Line(step.Record); err != nil {
				return nil, err
			}
		}
		if survival.Compacts(step.Did, line) {
			n, _, err := meter.Count(step)
			if err != nil {
				return nil, err
			}
			t.drops = append(t.drops, drop{
				Boundary: survival.Across(t.messages, now, step.Record), record: step.Record, request: step.Requests(),
				before: size, after: n.Total, entered: now.Without(last), left: last.Without(now),
			})
			last = now
		}
		if step.Did == replay.Added && t.r.Session.Kind(step.Record) == jsonl.Assistant && len(t.drops) > 0 {
			t.answers = append(t.answers, answered{step.Record, step.Requests() - 1})
		}
		t.messages = now
		if path++; path < len(way) && survival.MayCompact(t.r.Session.Kind(way[path])) {
			n, _, err := meter.Count(step)
			if err != nil {
				return nil, err
			}
			size = n.Total
		}
	}
	return nil, nil
}

// batch is how many messages a worker reads at a time.
const batch = 64

// readAll reads messages on all CPUs.
func readAll[T any](
	r *replay.Replay, pieces []*replay.Piece, see func(*reader, *replay.Piece, *jsonl.Message) T,
) ([]T, error) {
	all := make([]T, len(pieces))
	return all, parallel.Each((len(all)+batch-1)/batch, func() func(int) error {
		load, words := r.NewReader(), &reader{}
		return func(k int) error {
			for i := k * batch; i < min(len(all), (k+1)*batch); i++ {
				m, _, err := load.Message(pieces[i])
				if err != nil {
					return err
				}
				all[i] = see(words, pieces[i], m)
			}
			return nil
		}
	})
}

// readAnswers finds the terms that answers use.
func (t *tracing) readAnswers() error {
	pieces := make([]*replay.Piece, len(t.answers))
	for i, a := range t.answers {
		p := t.r.Own(a.record)
		pieces[i] = &p
	}
	terms, err := readAll(t.r, pieces, func(r *reader, _ *replay.Piece, m *jsonl.Message) (terms []uint64) {
		r.terms(m, func(term uint64, _ Kind, _ []byte) { terms = append(terms, term) }, func(string, uint64, string) {})
		return distinct(terms)
	})
	for i, all := range terms {
		by := usedBy{t.answers[i].request, t.r.Session.ID(t.answers[i].record)}
		for _, term := range all {
			n, ok := t.terms[term]
			if !ok {
				n = int32(len(t.used))
				t.terms[term], t.used, t.kinds = n, append(t.used, nil), append(t.kinds, order[rank(term)])
			}
			t.used[n] = append(t.used[n], by)
		}
		terms[i] = nil
	}
	return err
}

// reading reads a message, but for the term of the call that it is the result of.
func (t *tracing) reading(r *reader, p *replay.Piece, m *jsonl.Message) (one reading) {
	known := map[int32]bool{}
	one.told = survival.Tell(p.Kind(), m, p.Origin().Record)
	r.terms(m, func(term uint64, _ Kind, name []byte) {
		if n, ok := t.terms[term]; ok && !known[n] {
			known[n] = true
			one.terms = append(one.terms, spelled{n, string(name)})
		}
	}, func(id string, term uint64, name string) { one.calls = append(one.calls, called{id, term, name}) })
	if m.Kind == jsonl.ToolResult {
		one.id = m.CallID.Text()
	}
	return one
}

// readMessages reads the messages before and after drops.
func (t *tracing) readMessages() error {
	var numbers []int32
	for i := range t.drops {
		numbers = append(append(numbers, t.drops[i].entered...), t.drops[i].Gone...)
	}
	numbers = slices.DeleteFunc(distinct(numbers), func(n int32) bool { return !t.messages.Numbered(n).Sent() })
	pieces := make([]*replay.Piece, len(numbers))
	for i, n := range numbers {
		pieces[i] = t.messages.Numbered(n)
	}
	all, err := readAll(t.r, pieces, t.reading)
	if err != nil {
		return err
	}
	calls := map[string]called{}
	for i := range all {
		for _, c := range all[i].calls {
			calls[c.id] = c
		}
		all[i].calls = nil
		t.read[numbers[i]] = &all[i]
	}
	for i := range all {
		if c, ok := calls[all[i].id]; ok {
			if n, used := t.terms[c.term]; used {
				all[i].terms = append(all[i].terms, spelled{n, c.name})
			}
		}
	}
	return nil
}

// find finds the terms of each drop that no message after it has.
func (t *tracing) find() {
	has := make([]int32, len(t.used)) // by term, the messages of the context that have it
	count := func(numbers []int32, by int32) {
		for _, number := range numbers {
			if one := t.read[number]; one != nil {
				for _, s := range one.terms {
					has[s.term] += by
				}
			}
		}
	}
	for i := range t.drops {
		d := &t.drops[i]
		count(d.entered, 1)
		count(d.left, -1)
		at := map[int32]int{}
		for _, number := range d.Gone {
			for _, s := range t.read[number].terms {
				if k, ok := at[s.term]; ok {
					d.used[k].from = number
				} else if has[s.term] == 0 && len(t.by(s.term, d.request)) > 0 {
					at[s.term] = len(d.used)
					d.used = append(d.used, finding{s.term, s.name, number})
				}
			}
		}
	}
}

// by returns the answers to request from and later ones that use a term.
func (t *tracing) by(term int32, from int) []usedBy {
	used := t.used[term]
	return used[sort.Search(len(used), func(i int) bool { return used[i].Request >= from }):]
}

// compaction returns the Compaction of a drop.
func (t *tracing) compaction(d *drop, carried *survival.Facts) (one Compaction, err error) {
	s := t.r.Session
	line, err := s.NewReader().Line(d.record)
	if err != nil {
		return one, err
	}
	one = Compaction{
		Schema: "ctxtool/compactions/1", Entry: s.ID(d.record), Line: s.Line(d.record),
		Reset: s.Kind(d.record) == jsonl.Reset, Time: line.Get("timestamp").Text(), Request: d.request,
		Before: d.before, After: d.after, Dropped: len(d.Gone), Kept: d.Kept + len(d.Summary),
		Lost: []Lost{}, Used: []Reused{},
	}
	t.uses(d, &one)
	found, err := d.Survive(t.r, carried, func(number int32) *survival.Told { return &t.read[number].told })
	if err != nil {
		return one, err
	}
	paths := map[string]bool{}
	for _, u := range one.Used {
		if u.Kind == Path {
			paths[string(lastTwo([]byte(u.What)))] = true
		}
	}
	for _, of := range []struct {
		kind string
		survival.Kept
	}{{"constraint", found.Constraints}, {"failure", found.Errors}, {"path", found.Paths}, {"command", found.Commands}} {
		for _, f := range of.Lost {
			used := of.kind == "path" && paths[string(lastTwo([]byte(f.What)))]
			one.Lost = append(one.Lost, Lost{of.kind, outline.FirstWords(f.What), s.ID(f.Record), s.Line(f.Record), used})
		}
	}
	return one, nil
}

// uses adds what later answers used of a drop.
func (t *tracing) uses(d *drop, one *Compaction) {
	s := t.r.Session
	for i := range d.used {
		f := &d.used[i]
		kind := t.kinds[f.term]
		if _, command, _ := strings.Cut(f.name, " "); kind == Call && survival.OnlyLooks(command) {
			continue
		}
		from := t.messages.Numbered(f.from).Origin().Record
		one.Used = append(one.Used, Reused{kind, f.name, s.ID(from), s.Line(from), t.by(f.term, d.request)})
	}
	slices.SortFunc(one.Used, func(a, b Reused) int {
		return cmp.Or(
			slices.Index(order, a.Kind)-slices.Index(order, b.Kind),
			len(b.By)-len(a.By), a.By[0].Request-b.By[0].Request, strings.Compare(a.What, b.What),
		)
	})
}
