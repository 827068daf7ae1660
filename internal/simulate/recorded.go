package simulate

import (
	"strings"

	"ctxtool/compact"
	"ctxtool/replay"
	"ctxtool/replay/cache"
	"ctxtool/replay/reuse"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A past is the recorded path as the account of its cache sees it.
type past struct {
	rows     []cache.Row
	total    *cache.Total
	requests []recordedRequest
	gone     map[int]int32 // by record, the request from which on its message is not there as it was
	standing []reuse.Standing
}

// A recordedRequest is what the account does not have of a request.
type recordedRequest struct {
	tokens   Tokens
	messages int
	changes  []Change // Message is the record, until the messages are numbered
	compacts bool

	kept, keptTokens int // leading messages that the request before had too
	again            int // tokens of others that it had
	prompt           uint64
}

// A recorder observes the requests of the recorded path.
type recorder struct {
	past
	r      *replay.Replay
	load   *replay.Reader
	rowOf  map[int]bool // answers on the path
	shares weigh.Shares
	system int                  // tokens of system messages after the first message
	open   map[replay.Piece]int // index in standing of what stands in place of messages
}

// newRecorder returns a recorder of the requests of a path.
func newRecorder(r *replay.Replay, path []int) *recorder {
	rec := &recorder{r: r, load: r.NewReader(), rowOf: map[int]bool{}, open: map[replay.Piece]int{}}
	rec.gone = map[int]int32{}
	for _, at := range path {
		if r.Session.Answers(at) {
			rec.rowOf[at] = true
		}
	}
	return rec
}

// read accounts for the recorded path.
func (o *Options) read(r *replay.Replay, leaf int) (*past, error) {
	path, _ := r.Session.Path(leaf)
	rec := newRecorder(r, path)
	report, err := cache.Account(r, cache.Options{Leaf: leaf, Counter: &tokens.Pi, Model: o.Replay.Model, Requests: rec.request})
	if err != nil {
		return nil, err
	}
	if report.Stopped != nil {
		return nil, report.Stopped
	}
	rec.rows, rec.total = report.Rows, report.Total
	for i := range rec.rows {
		_, hidden := rec.rows[i].Counted()
		if i < len(rec.requests) {
			rec.requests[i].tokens.Hidden = hidden
			rec.requests[i].tokens.Total += hidden
		}
	}
	return &rec.past, nil
}

// request records what a request of the path had, and what it no longer had.
func (c *recorder) request(q cache.Request, err error) error {
	if err != nil || !c.rowOf[q.Record] {
		return nil
	}
	k := int32(len(c.requests))
	one := recordedRequest{messages: q.Prefix.Len()}
	removed := map[replay.Piece]bool{}
	one.kept, one.keptTokens, one.prompt = q.Prefix.Same, c.shares.Total()+c.system, q.Prompt
	for _, p := range q.Prefix.Removed() {
		removed[p.Place()] = true
		one.keptTokens -= p.Tokens
		c.add(p, -p.Tokens)
	}
	var summary *Change
	for i := q.Prefix.Same; i < q.Prefix.Len(); i++ {
		p := q.Prefix.At(i)
		if c.add(p, p.Tokens); removed[p.Place()] {
			delete(removed, p.Place())
			one.again += p.Tokens
			continue
		}
		if _, cut := p.Edit(); p.Origin().Op < 0 && !p.Summary() && !cut && p.Origin().By == p.Origin().Record {
			delete(c.gone, p.Origin().Record)
			continue
		}
		change, err := c.stand(&p.Piece, k)
		if err != nil {
			return err
		}
		change.Now = p.Tokens
		if change.Action == string(compact.Summarise) {
			summary = &change
		}
		one.changes = append(one.changes, change)
	}
	for p := range removed {
		if i, ok := c.open[p]; ok {
			c.standing[i].To = k
			delete(c.open, p)
			continue
		}
		if _, ok := c.gone[p.Origin().Record]; !ok {
			c.gone[p.Origin().Record] = k
		}
	}
	c.omitted(&one, removed, summary)
	one.tokens = Tokens{System: q.Counts.System + c.system, Tools: q.Counts.Tools, Shares: c.shares}
	one.tokens.Total = int64(one.tokens.System + one.tokens.Tools + c.shares.Total())
	c.requests = append(c.requests, one)
	return nil
}

// omitted adds the changes for messages that nothing stands for.
func (c *recorder) omitted(one *recordedRequest, removed map[replay.Piece]bool, summary *Change) {
	edited := map[int]bool{}
	for i := range one.changes {
		edited[one.changes[i].Message] = true
	}
	n := len(one.changes)
	for p := range removed {
		rec := p.Origin().Record
		switch {
		case edited[rec]:
		case summary != nil:
			one.changes[0].Gone = append(one.changes[0].Gone, rec)
		default:
			one.changes = append(one.changes, Change{Pass: Recorded, Action: string(compact.Omit), Message: rec})
		}
	}
	sortChanges(one.changes[n:])
	one.compacts = summary != nil
}

// add adds the tokens of a message.
func (c *recorder) add(p cache.Piece, n int) {
	if p.Kind() == jsonl.System {
		c.system += n
		return
	}
	c.shares.Add(p.Kind(), n)
}

// stand records a text that stands in place of messages.
func (c *recorder) stand(p *replay.Piece, k int32) (Change, error) {
	m, _, err := c.load.Message(p)
	if err != nil {
		return Change{}, err
	}
	text := string(m.AppendText(nil, "\n"))
	place := p.Place()
	c.open[place] = len(c.standing)
	c.standing = append(c.standing, reuse.Standing{From: k, To: reuse.Never, Text: text})
	change := Change{Pass: Recorded, Action: string(compact.Replace), Message: p.Origin().Record, Text: text}
	if p.Kind() == jsonl.CompactionMessage || p.Origin().Op >= 0 && strings.TrimSpace(text) != "" {
		change.Action = string(compact.Summarise)
	} else if _, ok := c.gone[p.Origin().Record]; !ok {
		c.gone[p.Origin().Record] = k
	}
	return change, nil
}
