package hook

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/cache"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Hook answers each state, a line that write writes, with a line: a result.
type Hook interface {
	Ask(ctx context.Context, write func(w io.Writer) error) (answer []byte, err error)
	Close() error
}

// longestAnswer is the limit for an answer of a command, bytes.
const longestAnswer = 256 << 20

// mostLate is the number of consecutive calls that may take too long. A hook that never answers would otherwise
// cost the time limit for each request.
const mostLate = 3

// A Command is a command line with its surroundings.
type Command struct {
	Line    string
	Dir     string
	Environ []string      // environment; the process's own if nil
	Limit   time.Duration // time limit for an answer
}

// Shell returns the hook of a command line: a single process, or one for each state if each is set.
func Shell(c Command, each bool) Hook {
	return &shell.Process{Command: shell.Command{
		Line: c.Line, Dir: c.Dir, Environ: c.Environ, Limit: c.Limit, Most: longestAnswer,
	}, Each: each}
}

// An Exec runs a hook over the requests of a session.
type Exec struct {
	Hook     Hook
	Name     string // name of the hook: its command
	Context  context.Context
	Replay   replay.Options
	Leaf     int
	Reasons  []Reason // in any order
	From, To int      // first and last request; a negative To means no limit
	Now      func() time.Time
	Progress func(done, of int64) // may be nil

	// Waiting, if set, is called once, for the first request whose answer takes two seconds.
	Waiting func(request, of int)
}

// A Run is what a hook did in a session.
//
// It is run of schema ctxtool/patch/1.
type Run struct {
	Command  string `json:"command"`           // the hook
	Requests int    `json:"requests"`          // for which the hook ran
	Calls    int    `json:"calls"`             // of the hook, one for each request and reason
	Patched  int    `json:"patched"`           // answers with operations that apply
	Failed   int    `json:"failed"`            // calls that would fail the request
	Skipped  int    `json:"skipped,omitempty"` // calls not made, because three in a row took too long
	Bill     *Bill  `json:"bill,omitempty"`    // of all requests of the session; absent if nothing applies
	Rows     []Row  `json:"rows"`              // an element per call that answered with operations, or failed

	Took time.Duration `json:"-"` // by all calls

	s, with *sessionfmt.Session
	end     *replay.Envelope // totals at the leaf
	replay  *replay.Replay
	course  course
}

// A Row is an answer of a hook.
type Row struct {
	Request  int       `json:"request"`
	Reason   Reason    `json:"reason"`
	Ops      []string  `json:"ops,omitempty"`      // names of the operations
	Verdicts []Verdict `json:"verdicts,omitempty"` // of those that do not simply apply
	// why the call failed; the agent fails the request, and nothing applies
	Error  string `json:"error,omitempty"`
	Before int    `json:"before"` // tokens of the context
	After  int    `json:"after"`
	// the request as recorded, as in `bill`; absent if nothing applies, or on all but the last row of a
	// request
	Was *ledger.Served `json:"was,omitempty"`
	Is  *ledger.Served `json:"is,omitempty"` // and with all patches so far

	Took time.Duration `json:"-"`
}

// A running is the state of Run.
type running struct {
	*Exec
	run    *Run
	walk   *replay.Walk
	meter  *ledger.Meter
	write  Writer
	n      weigh.Counts // counts at the current step
	size   weigh.Size   // size at the current step
	parent int          // last record of the path so far
	course course
	asked  int // the last request that was counted
	of     int // requests of the path
	late   int // number of consecutive calls that took too long
}

// Run runs the hook. What it returns at a stored boundary applies to all later requests. It only fails if the
// session cannot be replayed.
func (x *Exec) Run(s *sessionfmt.Session) (*Run, error) {
	opt := x.Replay
	opt.Rules = opt.Rules.Decide(s, opt.Leaf)
	was := replay.New(s, opt)
	opt.Trial = true
	with := s.Copy()
	path, found := s.Path(x.Leaf)
	r := replay.New(with, opt)
	r.Findings = append(r.Findings, found...)
	g := &running{
		Exec: x, run: &Run{Command: x.Name, Rows: []Row{}, s: s, with: with, replay: r},
		walk: r.Start(), meter: ledger.New(r, ledger.Options{Counter: &tokens.Pi, Sizes: true}).Meter(), parent: -1,
		course: course{path, map[int][]move{}}, asked: -1,
	}
	defer x.Hook.Close()
	if err := g.requests(path); err != nil {
		return nil, err
	}
	g.run.end, g.run.course = g.walk.Step().Envelope(), g.course
	if len(g.course.held) == 0 {
		return g.run, nil
	}
	quiet := *r // findings were already reported
	all, err := compare(was, &quiet, course{path: path}, g.course, &tokens.Pi)
	if err == nil {
		g.bill(all)
	}
	return g.run, err
}

// requests walks the path, and calls the hook at each boundary.
func (g *running) requests(path []int) error {
	s := g.run.s
	ends := turnEnds(s, path)
	for _, rec := range path {
		if s.Answers(rec) {
			g.of++
		}
	}
	for k, rec := range path {
		if s.Answers(rec) {
			for _, reason := range []Reason{BeforeRequest, Ephemeral} {
				if err := g.boundary(reason, k, g.walk.Step().Requests()); err != nil {
					return err
				}
			}
		}
		if g.run.with.Held(max(0, g.parent)) && g.parent >= 0 {
			g.run.with.Reparent(rec, g.parent)
		}
		step, err := g.walk.Next(rec)
		if err == nil {
			g.n, g.size, err = g.meter.Count(step)
		}
		if err != nil {
			return err
		}
		g.parent = rec
		if ends[k] {
			if err := g.boundary(TurnEnd, k+1, step.Requests()-1); err != nil {
				return err
			}
		}
		if g.Progress != nil {
			g.Progress(int64(k+1), int64(len(path)))
		}
	}
	return nil
}

// turnEnds reports, by place of the path, whether a turn ends there: after an answer and the results of its
// calls.
func turnEnds(s *sessionfmt.Session, path []int) []bool {
	ends, last := make([]bool, len(path)), -1
	for k, rec := range path {
		switch kind := s.Kind(rec); {
		case s.Answers(rec), kind == jsonl.User:
			if last >= 0 {
				ends[last] = true
			}
			last = -1
			if kind != jsonl.User {
				last = k
			}
		case kind == jsonl.ToolResult && last >= 0:
			last = k
		}
	}
	if last >= 0 {
		ends[last] = true
	}
	return ends
}

// boundary calls the hook for a request, and applies the result before place at of the path.
func (g *running) boundary(reason Reason, at, request int) error {
	if !slices.Contains(g.Reasons, reason) || request < g.From || g.To >= 0 && request > g.To {
		return nil
	}
	if err := context.Cause(g.Context); err != nil {
		return err
	}
	if g.late == mostLate {
		g.run.Skipped++
		return nil
	}
	if g.asked != request {
		g.run.Requests, g.asked = g.run.Requests+1, request
	}
	row := Row{Request: request, Reason: reason, Before: g.n.Total, After: g.n.Total}
	start := g.Now()
	answer, err := g.ask(reason, request)
	row.Took = g.Now().Sub(start)
	g.run.Calls++
	g.run.Took += row.Took
	if g.late++; !errors.As(err, new(*shell.LateError)) {
		g.late = 0
	}
	var results []Result
	if err == nil {
		results, err = answered(g.Name, answer)
	}
	if err == nil && len(results) == 0 {
		return nil
	}
	if err == nil {
		err = g.apply(&row, results[0], at)
	}
	if g.run.Patched++; err != nil {
		g.run.Patched--
		g.run.Failed++
		row.Error = sessionfmt.Clean(err.Error())
	}
	g.run.Rows = append(g.run.Rows, row)
	return nil
}

// patience is how long a hook may take until Waiting is called.
const patience = 1900 * time.Millisecond

// ask passes the state of the walk to the hook, and returns its answer.
func (g *running) ask(reason Reason, request int) (answer []byte, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		answer, err = g.Hook.Ask(g.Context,
			func(w io.Writer) error { return g.write.Write(w, reason, g.walk.Step(), g.n, g.size) })
	}()
	select {
	case <-done:
	case <-time.After(patience):
		if g.Waiting != nil {
			g.Waiting(request, g.of)
			g.Waiting = nil
		}
		<-done
	}
	return answer, err
}

// apply applies a result, unless it is refused.
func (g *running) apply(row *Row, result Result, at int) error {
	for _, v := range Judge(row.Reason, []Result{result}) {
		row.Ops = append(row.Ops, v.Name)
		if v.Ruling != Apply {
			row.Verdicts = append(row.Verdicts, v)
		}
	}
	if err := Refused("", row.Verdicts); err != nil {
		return errors.Unwrap(err)
	}
	b := g.run.with.NewBatch(g.parent, time.Time{})
	b.Add(jsonl.Transform, result.fields()...)
	if err := g.run.with.Hold(b); err != nil {
		return err
	}
	held, walk, meter := g.run.with.Len()-1, g.walk, g.meter
	if row.Reason == Ephemeral {
		walk = walk.Fork()
		meter = meter.Fork(g.walk.Step(), walk.Step()).(*ledger.Meter)
	}
	step, err := walk.Next(held)
	if err != nil {
		return err
	}
	n, size, err := meter.Count(step)
	if err != nil {
		return err
	}
	row.After = n.Total
	if row.Reason != Ephemeral {
		g.n, g.size, g.parent = n, size, held
	}
	g.course.held[at] = append(g.course.held[at], move{held, row.Reason == Ephemeral})
	return nil
}

// bill adds the costs of the requests.
func (g *running) bill(all []cache.Comparison) {
	b := &Bill{}
	byRequest := map[int]*cache.Comparison{}
	place := map[int]int{} // number of a request by its answer
	for _, rec := range g.course.path {
		if g.run.s.Answers(rec) {
			place[rec] = len(place)
		}
	}
	for k := range all {
		b.add(&all[k])
		byRequest[place[all[k].Record]] = &all[k]
	}
	last := map[int]int{} // by request, the last row whose patch it gets
	for k, row := range g.run.Rows {
		if request := row.Request; row.Error == "" {
			if row.Reason == TurnEnd {
				request++
			}
			last[request] = k
		}
	}
	for request, k := range last {
		if c := byRequest[request]; c != nil {
			g.run.Rows[k].Was, g.run.Rows[k].Is = &c.Was, &c.Is
		}
	}
	if b.Requests > 0 {
		g.run.Bill = b
	}
}

// Course returns the requests with the hook's results, and the replay that they belong to.
func (r *Run) Course() (*replay.Replay, ledger.Course) { return r.replay, r.course.walk }

// Stored reports whether the session with the stored patches differs from the recorded one.
func (r *Run) Stored() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Error == "" && row.Reason != Ephemeral })
}

// Print writes the session with the stored patches at the points where the hook returned them.
func (r *Run) Print(w io.Writer) error { return r.with.Weave(w) }

// Promise compares a session, read back, with the context at the end of the run.
func (r *Run) Promise(after *sessionfmt.Session) error {
	opt := r.replay.Options
	opt.Trial = false
	return promise(after, opt, &tokens.Pi, r.end, "")
}
