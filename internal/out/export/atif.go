package export

import (
	"bufio"
	"cmp"
	"slices"
	"time"

	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// A step is one of ATIF, the Agent Trajectory Interchange Format. All that is ours stands in extra.
type step struct {
	ID          int      `json:"step_id"`
	At          string   `json:"timestamp,omitempty"`
	Source      string   `json:"source"` // system, user, agent
	Model       string   `json:"model_name,omitempty"`
	Effort      string   `json:"reasoning_effort,omitempty"`
	Message     any      `json:"message"` // a text, or parts
	Reasoning   string   `json:"reasoning_content,omitempty"`
	Calls       []object `json:"tool_calls,omitempty"`
	Observation object   `json:"observation,omitempty"`
	Metrics     object   `json:"metrics,omitempty"`
	Copied      bool     `json:"is_copied_context,omitempty"`
	Requests    int      `json:"llm_call_count,omitempty"`
	Extra       object   `json:"extra,omitempty"`

	called  map[string]bool // ids of calls
	results []object        // of the observation
}

// finals are the final metrics of a trajectory.
type finals struct {
	Prompt     int64   `json:"total_prompt_tokens"`
	Completion int64   `json:"total_completion_tokens"`
	Cached     int64   `json:"total_cached_tokens"`
	Cost       float64 `json:"total_cost_usd"`
	Steps      int     `json:"total_steps"`
	Extra      object  `json:"extra,omitempty"`
}

// An object is a JSON object.
type object = map[string]any

// A story tells the branches of a session as trajectories, one after the other.
type story struct {
	*stats.Facts
	l     *replay.Reader
	lines *sessionfmt.Reader
	told  []int32       // by record, the trajectory that told it first, from 1; 0 for none
	calls map[int32]int // of models, by their record
	done  []bool        // of these, those that a step tells, and copies of others
	subs  map[string]bool

	compact []bool  // by record, compactions
	place   []int32 // of records on the path of the branch that is told, from 1; 0 for those elsewhere
	said    []bool  // by record, those whose message this branch has told
}

func newStory(f *stats.Facts) *story {
	t := &story{Facts: f, l: f.Replay.NewReader(), lines: f.Session.NewReader(), calls: map[int32]int{},
		done: make([]bool, len(f.Calls))}
	n := f.Session.Len()
	t.told, t.place, t.said, t.compact = make([]int32, n), make([]int32, n), make([]bool, n), make([]bool, n)
	for _, rec := range f.Compacts {
		t.compact[rec] = true
	}
	for i := range f.Calls {
		t.calls[int32(f.Calls[i].Record)] = i
		t.done[i] = f.Calls[i].Copied
	}
	return t
}

// branches returns the leaves of a session that have requests of their own, that of the session first.
func (t *story) branches() (leaves []int) {
	inner, asked := t.Session.Inner(), make([]bool, t.Session.Len())
	for k := range t.Book.Requests {
		asked[t.Book.Requests[k].Record] = !t.Book.Requests[k].Warms
	}
	seen := make([]bool, t.Session.Len()) // with all before it
	add := func(leaf int) {
		fresh := leaf == t.Session.Leaf()
		for rec := leaf; rec >= 0 && !seen[rec]; rec = t.Session.Parent(rec) {
			seen[rec] = true
			fresh = fresh || asked[rec]
		}
		if fresh {
			leaves = append(leaves, leaf)
		}
	}
	if leaf := t.Session.Leaf(); leaf >= 0 {
		add(leaf)
	}
	for rec := range t.Session.Len() {
		if !inner[rec] && rec != t.Session.Leaf() && t.Session.Kind(rec).IsEntry() {
			add(rec)
		}
	}
	return leaves
}

// A state is the messages at a point of a branch: those of a request, or of the end.
type state struct {
	n, listed int
	kept      int // leading messages that the state before it has too
	piece     func(i int) replay.Piece
	request   *ledger.Request // nil at the end
	tokens    int64           // of the context
}

// A telling writes the steps of one branch.
type telling struct {
	*story
	w        *bufio.Writer
	own      int32 // number of the trajectory
	compacts []int // places of compactions
	steps    int
	open     *step // of a model, that waits for results
	total    finals
	error    error

	path   []int
	before *state
	made   map[replay.Piece]bool // other messages that were told, which entries made
	prompt int32                 // that was told last; -1 for none
}

// tell writes the steps of the branch of a leaf, and returns their totals.
func (t *story) tell(w *bufio.Writer, leaf int, number int32) (finals, error) {
	path, _ := t.Session.Path(leaf)
	b := &telling{story: t, w: w, own: number, path: path, made: map[replay.Piece]bool{}, prompt: -1, before: &state{}}
	for at, rec := range path {
		b.place[rec] = int32(at + 1)
		if t.compact[rec] {
			b.compacts = append(b.compacts, at+1)
		}
	}
	defer func() {
		for _, rec := range path {
			b.place[rec], b.said[rec] = 0, false
		}
	}()
	var asked []*ledger.Request
	for _, rec := range path {
		if k := t.Book.Answered(rec); k >= 0 && !t.Book.Requests[k].Warms {
			asked = append(asked, &t.Book.Requests[k])
		}
	}
	// What another trajectory tells is copied as far as the first request had it.
	first := slices.IndexFunc(asked, func(q *ledger.Request) bool { return !b.again(int(q.Record)) })
	for i, q := range asked[max(0, first):] {
		is := q.Messages()
		s := &state{n: is.Len(), listed: is.Listed(), kept: t.Book.Kept(q), piece: is.Piece,
			request: q, tokens: int64(q.Context)}
		if i == 0 {
			s.kept = 0
		}
		b.say(s)
	}
	end, stopped, err := t.Replay.Reach(sessionfmt.After(leaf))
	if err != nil {
		return b.total, err
	}
	if stopped == nil {
		s := &state{n: end.Len(), listed: end.Listed(), piece: end.Piece}
		for s.kept < min(s.n, b.before.n) && s.piece(s.kept).Place() == b.before.piece(s.kept).Place() {
			s.kept++
		}
		b.say(s)
	}
	b.flush()
	b.total.Steps = b.steps
	return b.total, b.error
}

// say tells what a state has that the one before it has not, after the answer to that one.
func (b *telling) say(s *state) {
	from, boundary := s.kept, s.kept < b.before.n || b.before.listed < b.before.n
	if q := b.before.request; q != nil {
		is := !boundary && from < s.n && s.piece(from).Own() && s.piece(from).Origin().Record == int(q.Record)
		b.answer(q, is || boundary)
		if is {
			b.mark(s.piece(from))
			from++
		}
	}
	if s.request != nil && s.request.Known() {
		b.prompted(s.request)
	}
	if boundary {
		from = b.replaced(s)
	}
	for i := from; i < s.n; i++ {
		b.message(s.piece(i))
		b.mark(s.piece(i))
	}
	b.before = s
	if s.request != nil && s.n == 0 && !s.request.Known() { // the file does not tell what it had
		b.before = &state{request: s.request}
	}
}

// mark keeps that a message was told.
func (b *telling) mark(p replay.Piece) {
	if id := p.Identity(); !id.Own() {
		b.made[id] = true
	}
	b.said[p.Origin().Record] = true
	b.first(p.Origin().Record)
}

// has reports whether a message was told, as it is or before it was edited.
func (b *telling) has(p replay.Piece) bool {
	id := p.Identity()
	return b.made[id] || id.Own() && b.said[p.Origin().Record]
}

// first keeps which trajectory told a record first.
func (b *telling) first(rec int) {
	if b.told[rec] == 0 {
		b.told[rec] = b.own
	}
}

// again reports whether a record was told by an earlier trajectory, or by another session.
func (b *telling) again(rec int) bool {
	return b.told[rec] != 0 && b.told[rec] != b.own || b.Copied(rec)
}

// prompted tells the system prompt of a request, if it is another one than before.
func (b *telling) prompted(q *ledger.Request) {
	if q.Prompt == b.prompt {
		return
	}
	b.prompt = q.Prompt
	p, err := b.l.Prompt(&b.Book.Prompts[q.Prompt].State)
	if err != nil {
		b.error = err
		return
	}
	if text := b.Replay.Rules.Compiled(p.Parts); text != "" {
		b.flush()
		b.write(&step{Source: "system", Message: jsonl.UTF8(text), Copied: b.again(int(q.Record))})
	}
}

// replaced tells that the context was replaced: by a compaction, or by an edit or a patch. What steps
// after it tell is all of the context. It returns the index of the first message of these.
func (b *telling) replaced(s *state) int {
	b.flush()
	rec := b.compaction(s)
	manage := object{"type": "edit", "boundary": "replace", "tokens_before": b.before.tokens, "tokens_after": s.tokens}
	one := &step{Source: "system", Message: "The context is edited.", Extra: object{"context_management": manage}}
	from := 0
	if rec >= 0 {
		manage["type"], one.Message = "compaction", "The context is compacted."
		one.At, one.Copied = b.time(rec), b.again(rec)
		one.Extra["entry_id"] = b.Session.ID(rec)
		if at, is := b.calls[int32(rec)]; is && b.Calls[at].Kind == "summary" {
			one.Source = "agent"
			b.metrics(one, at)
		}
		for from < s.n && !s.piece(from).Sent() {
			from++
		}
		if from < s.n && !s.piece(from).Own() && !b.has(s.piece(from)) {
			raw, err := b.l.Provider(s.piece(from))
			b.error = cmp.Or(b.error, err)
			one.results = []object{{"content": contentOf(raw.Message())}}
			b.mark(s.piece(from))
			from++
		} else {
			from = 0
		}
		b.first(rec)
	}
	b.write(one)
	return from
}

// compaction returns the last compaction between a state and the one before it, -1 for none.
func (b *telling) compaction(s *state) int {
	after, until := 0, len(b.path)+1
	if q := b.before.request; q != nil {
		after = int(b.place[q.Record])
	}
	if s.request != nil {
		until = int(b.place[s.request.Record])
	}
	n, _ := slices.BinarySearch(b.compacts, until)
	if n == 0 || b.compacts[n-1] <= after {
		return -1
	}
	return b.path[b.compacts[n-1]-1]
}

// time returns the time of a record as ISO 8601 has it, empty for none.
func (b *telling) time(rec int) string {
	ms, ok := b.Session.Time(rec)
	if !ok {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
