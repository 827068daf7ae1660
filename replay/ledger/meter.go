package ledger

import (
	"math"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
)

// Follow walks a course, and records what its requests had. A ledger follows one course.
func (l *Ledger) Follow(course Course) error {
	for step, err := range course(l.Replay, l.Meter()) {
		switch {
		case replay.Stopped(err):
			l.Stopped = append(l.Stopped, Stop{step.Record, err})
		case err != nil:
			return err
		case step.Record == l.opt.Leaf:
			l.End = step.Envelope()
		}
	}
	if len(l.Prompts) == 0 { // requests that the walk did not reach have the first prompt and level
		l.Prompts = make([]Prompt, 1)
	}
	if len(l.Levels) == 0 {
		l.levelOf(`"off"`)
	}
	return nil
}

// A Meter is the observer that records the requests of a branch. It also counts the context after
// a step of its walk.
type Meter struct {
	l             *Ledger
	at            listed // the context that was counted last
	last          int32  // the last request
	front, merged replay.PromptTracker
	frontAt       int32 // its prompt
	mergedAt      int32
	thinkingBy    int // record that set the thinking level
	level         int32
	setting       *Setting // values of the last request
	used          used
	next          used // the last answer, used once its message is in the list
	first         int  // record of the first answer with a recorded size; -1 before it
}

// A used is the last answer with a recorded size of its context.
type used struct {
	context int32
	before  Sum // sum of the messages before the answer
	loose   Sum // sum of the messages after the list
	index   int // index of the answer in the list
	altered int // see replay.Step.Altered
}

// Meter returns the observer of a walk from its beginning.
func (l *Ledger) Meter() *Meter {
	return &Meter{
		l: l, last: -1, first: -1, thinkingBy: math.MinInt,
		front: replay.PromptTracker{LeadingOnly: true, Meter: l.meter}, merged: replay.PromptTracker{Meter: l.meter},
	}
}

// Count returns the tokens of the context after the current step of the walk, as
// replay.Envelope.Count does, and with pi's counter its size, as replay.Envelope.Size does but
// without the window. It is called after each step.
func (b *Meter) Count(step replay.Step) (n weigh.Counts, size weigh.Size, err error) {
	if b.mergedAt, err = b.l.prompt(&b.merged, step, b.mergedAt); err != nil {
		return n, size, err
	}
	n = b.l.Prompts[b.mergedAt].Counts
	n.Messages, err = b.Messages(step)
	n.Total = n.System + n.Tools + n.Messages
	if b.l.opt.Counter != &tokens.Pi || err != nil {
		return n, size, err
	}
	is := step.Messages()
	if last := is.Listed() - 1; step.Answers() >= 0 {
		before := b.at.sum
		before.plus(b.l.one(is.Number(last), is.Piece(last)), -1)
		b.answered(step, b.l.used[step.Record], before, last)
	}
	size, err = b.size(step, is)
	return n, size, err
}

// Messages returns the tokens of the messages of that context.
func (b *Meter) Messages(step replay.Step) (n int, err error) {
	if b.at, err = b.l.next(b.at, step.Messages()); err != nil {
		return 0, err
	}
	return int(b.at.sum.Tokens + b.at.loose.Tokens), nil
}

// answered records the answer at an index of the list.
func (b *Meter) answered(step replay.Step, context int32, before Sum, index int) {
	if context > 0 {
		if b.first < 0 {
			b.first = step.Record
		}
		b.next = used{context, before, b.at.loose, index, step.Altered()}
	}
}

// size returns the size of a context whose sum is known.
func (b *Meter) size(step replay.Step, is replay.Messages) (size weigh.Size, err error) {
	if next := &b.next; next.context > 0 && next.index < is.Listed() {
		if _, omitted := is.Piece(next.index).Edit(); !omitted {
			b.used = *next
		}
		b.next = used{}
	}
	sum := b.at.sum
	sum.plus(b.at.loose, 1)
	if u := &b.used; u.context > 0 && u.altered == step.Altered() && u.index < is.Listed() {
		sum.plus(u.before, -1)
		sum.plus(b.l.one(is.Number(u.index), is.Piece(u.index)), -1)
		sum.plus(u.loose, -1)
		size.Tokens, size.Estimated = int(u.context), int(sum.SystemTokens)
	} else {
		now := &b.l.Prompts[b.mergedAt]
		if b.first >= 0 {
			size.Hidden, err = b.l.Replay.Hidden(b.first, now.estimate, now.Known)
		}
		size.Estimated = now.estimate + size.Hidden + int(b.l.sumOf(is, 0, int(b.at.lead)).Stored)
	}
	size.Estimated += int(sum.Tokens + sum.Stored)
	size.Tokens += size.Estimated
	return size, err
}

// Fork returns the meter of another branch.
func (b *Meter) Fork(from, to replay.Step) replay.Observer {
	next := *b
	next.front, next.merged = b.front.Fork(from, to), b.merged.Fork(from, to)
	return &next
}

// Request records what a request had.
func (b *Meter) Request(step replay.Step) (err error) {
	k := b.l.Answered(step.Record)
	if k < 0 {
		return nil
	}
	q := &b.l.Requests[k]
	if q.Known() { // on a fork, with what only this request gets
		b.last = k
		return nil
	}
	is, now := step.Messages(), Setting{Model: q.Model, large: q.large}
	if !b.l.opt.Bare {
		if err := b.settings(step, q, is, &now); err != nil {
			return err
		}
	}
	q.Previous = b.last
	now.list = is.Upto(0)
	if b.last >= 0 {
		if now.kept = -1; b.l.Requests[b.last].list != now.list {
			now.kept = int32(is.Same(b.l.Requests[b.last].Messages()))
		}
	}
	if b.at, err = b.l.next(b.at, is); err != nil {
		return err
	}
	sum := &b.at.sum
	q.listed, q.sent, q.tokens = int32(is.Listed()), sum.Sent, uint32(sum.Tokens)
	now.lead, now.systems, now.systemTokens, now.loose = b.at.lead, sum.Systems, sum.SystemTokens, b.at.loose
	if b.setting == nil || *b.setting != now {
		shared := now // allocates only if it differs
		b.setting = &shared
	}
	q.Setting = b.setting
	if b.l.opt.Counter == &tokens.Pi {
		size, err := b.size(step, is)
		if err != nil {
			return err
		}
		q.Context, q.Estimated = int32(size.Tokens), int32(size.Estimated)
		b.answered(step, q.after, b.at.sum, is.Listed())
	}
	b.last = k
	b.l.Replayed = append(b.l.Replayed, k)
	return nil
}

// settings records what a request had besides the messages of its list.
func (b *Meter) settings(step replay.Step, q *Request, is replay.Messages, now *Setting) (err error) {
	if b.mergedAt, err = b.l.prompt(&b.merged, step, b.mergedAt); err != nil {
		return err
	}
	now.Front = b.mergedAt
	if b.front.Later(step) {
		if b.frontAt, err = b.l.prompt(&b.front, step, b.frontAt); err != nil {
			return err
		}
		now.Front = b.frontAt
	}
	if by := step.ThinkingBy(); by != b.thinkingBy {
		level, err := step.Envelope().ThinkingLevel()
		if err != nil {
			return err
		}
		b.thinkingBy, b.level = by, b.l.levelOf(string(level))
	}
	q.Number, q.Place, q.ModelBy = int32(step.Requests()), int32(step.Place()), int32(step.ModelBy())
	now.Prompt, now.Level, now.Changed = b.mergedAt, b.level, step.Changed()
	if !b.l.Replay.Rules.Patched() {
		return nil
	}
	numbers, err := step.Logged()
	if err != nil || len(numbers) == 0 {
		return err
	}
	now.logged = int32(len(b.l.logged))
	b.l.logged = append(b.l.logged, numbers)
	for _, number := range numbers {
		if err := b.l.measureNumber(number, is.Numbered(number)); err != nil {
			return err
		}
	}
	return nil
}

// next sums up the messages of a context, starting from those of an earlier one.
func (l *Ledger) next(was listed, is replay.Messages) (now listed, err error) {
	now, now.Messages = was, is
	for _, i := range is.ListedWithout(was.Messages) {
		number := is.Number(int(i))
		if err := l.measureNumber(number, is.Numbered(number)); err != nil {
			return now, err
		}
		now.sum.plus(l.one(number, is.Numbered(number)), 1)
	}
	for _, i := range was.Messages.ListedWithout(is) {
		number := was.Messages.Number(int(i))
		now.sum.plus(l.one(number, is.Numbered(number)), -1)
	}
	if same := is.Same(was.Messages); same <= int(now.lead) { // the first message is another one
		for now.lead = int32(same); int(now.lead) < is.Listed() && !is.Piece(int(now.lead)).Sent(); now.lead++ {
		}
		now.sum = l.sumOf(is, int(now.lead), is.Listed())
	}
	same := is.SameUncached(was.Messages)
	if same < was.Messages.Len()-was.Messages.Listed() {
		same, now.loose = 0, Sum{}
	}
	for i := is.Listed() + same; i < is.Len(); i++ {
		if err := l.measureNumber(is.Number(i), is.Piece(i)); err != nil {
			return now, err
		}
		now.loose.plus(l.one(is.Number(i), is.Piece(i)), 1)
	}
	return now, nil
}
