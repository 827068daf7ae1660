package stats

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"ctxtool/internal/read/activity"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A pathEntry is an entry of the path to the point, and the context after it.
type pathEntry struct {
	Record   int32
	Request  int32 // number of the request that it answers, from 0; -1 if it answers none
	Requests int32 // number of answered requests so far, including this one
	Tokens   int32 // tokens of the context, if counted
	Did      replay.Effect
}

// walk replays the path, if a lens needs it.
func (l *lensRun) walk() {
	if len(l.Messages)+len(l.Ends) == 0 {
		return
	}
	at, err := l.Session.Point(cmp.Or(l.At, "leaf"), l.Session.Leaf())
	if l.fail(err); err != nil {
		return
	}
	l.Point = l.Session.LeafAt(at)
	e, stopped, err := l.reach()
	if l.fail(err); l.err != nil {
		return
	}
	if stopped != nil {
		l.Report.Stopped = inFile(stopped)
	}
	l.messages(e)
	for _, end := range l.Ends {
		if l.err == nil {
			end(e)
		}
	}
	if l.End != nil && l.err == nil {
		l.fail(l.End(l.Report, l.Book, e))
	}
}

// inFile returns an error without the file name, which the report has.
func inFile(err error) string {
	at, ok := errors.AsType[*sessionfmt.Error](err)
	if !ok {
		return err.Error()
	}
	return fmt.Sprintf("line %d%s: %s", at.Pos.Line, sessionfmt.Pos{Entry: at.Pos.Entry}, at.Err)
}

// messages passes the messages of the request at the point to the lenses.
func (l *lensRun) messages(e *replay.Envelope) {
	if len(l.Messages) == 0 {
		return
	}
	whole, err := e.WithEphemeral()
	if l.fail(err); err != nil {
		return
	}
	own := 0
	for i := range e.Len() {
		if e.Piece(i).Sent() {
			own++
		}
	}
	for m, err := range weighedBy(l.Counter, whole) {
		if l.fail(err); err != nil {
			return
		}
		m.Ephemeral = own == 0
		own = max(0, own-1)
		for _, see := range l.Messages {
			see(m)
		}
	}
}

// reach returns the context at the point, and records the entries of its path if a lens needs them.
// If a broken patch stops the replay, it returns the context before it and the patch's error.
func (l *lensRun) reach() (e *replay.Envelope, stopped, err error) {
	if !l.Requests && !l.Sizes {
		return l.Replay.Reach(sessionfmt.After(l.Point))
	}
	opt := ledger.Options{Leaf: l.Point, Sizes: !l.Hashes, Prompts: l.Counter}
	if l.Sizes || l.Hashes {
		opt.Counter = l.Counter
	}
	if !l.Requests {
		l.Book = ledger.New(l.Replay, opt)
	} else if l.Book, err = ledger.Measured(l.Replay, opt); err != nil {
		return nil, nil, err
	}
	path, found := l.Session.Path(l.Point)
	l.Replay.Findings = append(l.Replay.Findings, found...)
	own := len(l.Replay.Findings)
	course, lines := ledger.Tree(l.Point), map[int]bool{0: true}
	for _, rec := range path {
		lines[l.Session.Line(rec)] = true
	}
	if !l.Hashes {
		course = func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error] {
			return r.Along(path, watch)
		}
	}
	err = l.Book.Follow(func(r *replay.Replay, watch replay.Observer) iter.Seq2[replay.Step, error] {
		return func(yield func(replay.Step, error) bool) {
			for step, err := range course(r, watch) {
				if lines[l.Session.Line(step.Record)] {
					if err == nil {
						err = l.step(step)
					} else if replay.Stopped(err) {
						stopped = err
					}
					if stopped != nil || step.Record == l.Point {
						e = step.Envelope()
					}
				}
				if !yield(step, err) {
					return
				}
			}
		}
	})
	// entries of other branches are not part of this report
	l.Replay.Findings = append(l.Replay.Findings[:own],
		slices.DeleteFunc(l.Replay.Findings[own:], func(f sessionfmt.Finding) bool { return !lines[f.Line] })...)
	if e == nil && err == nil { // no entry is on the path
		e, err = l.Replay.At(sessionfmt.After(-1))
	}
	return e, stopped, err
}

// step records an entry of the path.
func (l *lensRun) step(s replay.Step) error {
	one := pathEntry{Record: int32(s.Record), Request: int32(s.Answers()), Requests: int32(s.Requests()), Did: s.Did}
	if l.Sizes {
		n, _, err := s.Watch()[0].(*ledger.Meter).Count(s)
		if err != nil {
			return err
		}
		one.Tokens = int32(n.Total)
	}
	l.Path = append(l.Path, one)
	for _, see := range l.Steps {
		see(s)
	}
	return l.err
}

// before returns the tokens of the context before an entry of the path.
func (l *lensRun) before(i int) int {
	if i == 0 {
		return 0
	}
	return int(l.Path[i-1].Tokens)
}

// answered returns the request that an entry of the path answers, nil if it answers none.
func (l *lensRun) answered(a *pathEntry) *ledger.Request {
	if k := l.Book.Answered(int(a.Record)); k >= 0 {
		return &l.Book.Requests[k]
	}
	return nil
}

// message reads an answer. It is valid until the next call.
func (l *lensRun) message(rec int32) *jsonl.Message {
	_, err := l.reader().Message(int(rec), &l.answer)
	l.fail(err)
	return &l.answer
}

// A weighed is a message of a request with its size, without its text.
type weighed struct {
	Kind      jsonl.Kind // kind, by its role in the session
	Origin    origin.Origin
	Ephemeral bool // logged for one request only
	Hidden    bool // a custom message that is not displayed

	Tokens weigh.Weight // by the counter
	Bytes  weigh.Weight // bytes of its blocks as JSON
	Size   int          // bytes of the message's JSON as the provider gets it

	Skill  skill  // skill with whose instructions a prompt begins
	Result result // call of a tool result
	Reads  []read // files that an answer reads
	Images []int  // bytes of base64 of each image
}

// A skill is the instructions of a skill at the start of a prompt (docs/session-format.md 4.6),
// which are part of its text.
type skill struct {
	Name          string // empty if there are none
	Tokens, Bytes int
}

// A result identifies the call of a tool result. Call is empty unless the tool reads files.
type result struct {
	Tool  string
	Call  string
	Error bool
}

// A read is a call of a tool that reads a file.
type read struct{ Call, Path string }

// weighedBy yields the messages of a request with their sizes by a counter.
func weighedBy(c *tokens.Counter, e *replay.Envelope) iter.Seq2[*weighed, error] {
	return replay.Each(e, func(l *replay.Reader, p replay.Piece) (*weighed, error) {
		m, size, err := l.Message(p)
		if err != nil {
			return nil, err
		}
		out := &weighed{Kind: p.Kind(), Origin: p.Origin(), Size: size, Tokens: l.Weigh(c, m)}
		out.read(c, m)
		if out.Kind == jsonl.Custom || out.Kind == jsonl.HookMessage {
			v, err := l.Agent(p)
			out.Hidden = string(v.Get("display")) == "false"
			return out, err
		}
		return out, nil
	})
}

// read records the parts of a message.
func (out *weighed) read(c *tokens.Counter, m *jsonl.Message) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		size := len(b.Raw)
		switch b.Kind {
		case jsonl.TextBlock:
			if out.Bytes.Text == 0 && m.Kind == jsonl.User {
				out.Skill = skillOf(c, b.Text.Value)
			}
			out.Bytes.Text += size
		case jsonl.ThinkingBlock:
			out.Bytes.Thinking += size
		case jsonl.ImageBlock:
			out.Bytes.Images += size
			out.Images = append(out.Images, max(0, len(b.Data)-2))
		case jsonl.CallBlock:
			out.Bytes.Calls += size
			c := activity.New(b.Name.Text(), b.ID.Text(), b.Args)
			if file, _ := c.Reads(); file != "" {
				out.Reads = append(out.Reads, read{Call: c.ID, Path: file})
			}
		}
	}
	if m.Kind != jsonl.ToolResult {
		return
	}
	tool := m.Tool.Text()
	out.Result = result{Tool: tool, Error: m.IsError.Truthy()}
	if activity.Named(tool) == activity.Read {
		out.Result.Call = m.CallID.Text()
	}
}

const skillTag, skillEnd = `"<skill `, `</skill>`

// skillOf returns the skill that a text begins with.
func skillOf(c *tokens.Counter, raw jsonl.Value) skill {
	end := bytes.Index(raw, []byte(skillEnd))
	if !bytes.HasPrefix(raw, []byte(skillTag)) || end < 0 {
		return skill{}
	}
	end += len(skillEnd)
	text := jsonl.Value(append(bytes.Clone(raw[:end]), '"')).AppendText(nil)
	_, name, _ := activity.CutSkill(text)
	return skill{Name: name, Tokens: weigh.TextTokens(c, text), Bytes: end - 1}
}
