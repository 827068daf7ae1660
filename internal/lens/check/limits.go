package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// limits returns the limits of the provider of the next request, and its name. If the
// provider is not known, they are the largest of all providers.
func (w *walk) limits() (l models.Limits, name string) {
	ref, err := w.active.ModelRef()
	w.err = err
	if l, ok := models.LimitsOf(ref.Provider); ok {
		return l, ref.Provider
	}
	return models.WidestLimits(), "no provider"
}

func (w *walk) lineSize() {
	limits, provider := w.limits()
	for i := range w.s.Len() {
		if n := w.s.LineSize(i); limits.Request > 0 && int64(n) > limits.Request {
			w.add(i, "its line has %d bytes, and %s takes requests of %d", n, provider, limits.Request)
		}
	}
}

func (w *walk) imageSize() {
	limits, provider := w.limits()
	if w.err != nil || limits.Image == 0 {
		return
	}
	images := w.request().images
	for _, rec := range slices.Sorted(maps.Keys(images)) {
		if n := images[rec]; n > limits.Image {
			w.add(rec, "an image of %d bytes in base64, and %s takes %d", n, provider, limits.Image)
		}
	}
}

func (w *walk) requestSize() {
	limits, provider := w.limits()
	if w.err != nil || limits.Request == 0 || w.s.Size() < limits.Request {
		return
	}
	if n := w.request().size; n > limits.Request {
		w.addLine(0, "", "the next request has about %d bytes, and %s takes %d", n, provider, limits.Request)
	}
}

func (x *subject) findWildUsage() {
	lines := x.s.NewReader()
	for _, f := range x.facts.all {
		if f.kind() != aWildUsage {
			continue
		}
		rec := sort.Search(x.s.Len(), func(i int) bool { return x.s.Offset(i) >= f.off() })
		line, err := lines.Line(rec)
		if err != nil {
			x.unread = cmp.Or(x.unread, err)
			return
		}
		usage := line.Get("message").Get("usage")
		if !usage.Exists() {
			usage = line.Get("usage")
		}
		wild := usage.Usage().Implausible
		value := usage
		for _, key := range strings.Split(wild, ".") {
			value = value.Get(key)
		}
		x.add(rec, "usage.%s is %s, an impossible number: it counts as not recorded", wild,
			sessionfmt.Quote(string(value)))
	}
}

// A clearedWatch finds requests that the provider recorded as much smaller than the messages that
// the file has for them, of successive ones the first, and where an agent may clear results at a
// certain size or after a pause, those smaller than the one before that they only add to.
type clearedWatch struct {
	w       *walk
	r       *replay.Replay
	load    *replay.Reader
	had     replay.Messages // of the request before
	sum     int64           // of their sizes
	known   bool            // the request before was one
	last    int             // its answer
	taken   int64           // what the provider counted for it, 0 if that is not known
	altered int             // the place of the last entry that changed messages before it
}

func (w *walk) clearedWatch(r *replay.Replay) replay.Observer {
	return &clearedWatch{w: w, r: r, load: r.NewReader(), altered: -1}
}

// Request compares a request with what its answer records.
func (c *clearedWatch) Request(s replay.Step) error {
	is := s.Messages()
	for _, number := range is.Without(c.had) {
		c.sum += c.size(is.Numbered(number))
	}
	for _, number := range c.had.Without(is) {
		c.sum -= c.size(is.Numbered(number))
	}
	if c.had = is; s.Altered() != c.altered {
		c.taken, c.altered = 0, s.Altered()
	}
	answer, ok := c.w.fact(s.Record, aPrompt)
	if !ok {
		return c.w.err
	}
	before, recorded, d := c.known, int64(answer.id), c.w.s.Dialect()
	c.w.step = s
	c.known = weigh.Contradicts(c.sum, recorded)
	fall := c.taken - recorded
	switch {
	case c.known && !before:
		c.w.found("maybe-cleared", "the provider counted %d tokens for this request, and the file has messages of "+
			"about %d for it: some may have been removed outside of the file, also in later requests", recorded, c.sum)
	case d != nil && d.Clears && recorded > 0 && fall >= jsonl.LeastGone && c.sameModel(s.Record):
		c.w.found("maybe-cleared", "this request was %d tokens smaller than the one before, and the file does not "+
			"say why: results may have been cleared, also in later requests", fall)
	}
	c.last, c.taken = s.Record, recorded
	return c.w.err
}

// sameModel reports whether an answer is of the model that gave the last one.
func (c *clearedWatch) sameModel(rec int) bool {
	is, err := c.r.ModelBy(rec)
	was, err2 := c.r.ModelBy(c.last)
	c.w.err = cmp.Or(c.w.err, err, err2)
	return is == was
}

// counted returns the size of a message that was counted while the file was read, tokens. It is not ok for one of
// several that a line has.
func (x *subject) counted(p replay.Piece) (n int, ok bool) {
	if !p.Own() || x.facts == nil {
		return 0, false
	}
	for _, f := range x.facts.of(x.s.Offset(p.Origin().Record)) {
		switch f.kind() {
		case aPrompt, aResult, aFailure, aMessage:
			if ok || f.size() == maxSize {
				return 0, false
			}
			n, ok = int(f.size()), true
		}
	}
	return n, ok
}

// fact returns the first fact of a kind of a record.
func (x *subject) fact(rec int, kind factKind) (fact, bool) {
	facts := x.facts.of(x.s.Offset(rec))
	i := slices.IndexFunc(facts, func(f fact) bool { return f.kind() == kind })
	if i < 0 {
		return fact{}, false
	}
	return facts[i], true
}

// size returns the size of a message. It reads what edits, patches and compactions made.
func (c *clearedWatch) size(p replay.Piece) int64 {
	if !p.Sent() {
		return 0
	}
	if n, ok := c.w.counted(p); ok {
		return int64(n)
	}
	n, _, err := c.load.Tokens(&tokens.Pi, p)
	c.w.err = cmp.Or(c.w.err, err)
	return int64(n)
}

// Fork returns the watch for another branch.
func (c *clearedWatch) Fork(_, _ replay.Step) replay.Observer {
	next := *c
	return &next
}

// readRequests reads the requests that the agent recorded beside the conversation.
func (x *subject) readRequests() (all []*dialect.Recorded) {
	if !x.s.HasRecorded() {
		return nil
	}
	for r, err := range x.s.Requests {
		if err == nil {
			_, err = r.Proof() // in the order of the file
		}
		if err != nil {
			x.unread = err
			return nil
		}
		all = append(all, r)
	}
	return all
}

func (x *subject) unprovedRequest() {
	for _, r := range x.requests() {
		if doubt := r.Doubt(); doubt != "" && r.Line > 0 { // else it stands in a file that this one continues
			x.addLine(r.Line, "", "request %s, as recorded here, is not proved: %s", r.ID, doubt)
		}
	}
}

// A recordedWatch compares requests with what their agent recorded of them. Where the same message
// of successive ones differs, it names the first. It reads what is new in a request.
type recordedWatch struct {
	w        *walk
	r        *replay.Replay
	natives  *replay.Natives
	recorded map[string]*dialect.Recorded // by the id of the answer

	// Of the last request that was compared: its record and its messages, the turns that these make,
	// how far they were composed after each answer, and the turn that differs, -1 for none.
	last    *dialect.Recorded
	had     replay.Messages
	turns   []dialect.Turn
	answers []composed
	unlike  int
}

// A composed is how far the messages of a request were composed after an answer.
type composed struct {
	pieces, turns int
	by            dialect.Composer
}

func (w *walk) recordedWatch(r *replay.Replay) replay.Observer {
	c := &recordedWatch{w: w, r: r, natives: r.Natives(), recorded: map[string]*dialect.Recorded{}, unlike: -1}
	all := w.requests()
	for _, one := range all {
		if proof, _ := one.Proof(); proof.Exact() && one.Answer != "" {
			c.recorded[one.Answer] = one
		}
	}
	return c
}

// Fork implements [replay.Observer], like Request.
func (c *recordedWatch) Fork(_, _ replay.Step) replay.Observer { return c }

func (c *recordedWatch) Request(s replay.Step) error {
	if len(c.recorded) == 0 {
		return nil
	}
	recorded := c.recorded[c.w.s.ID(s.Record)]
	if recorded == nil {
		return nil
	}
	same, err := c.read(s.Messages(), s.Record)
	if err != nil {
		return err
	}
	if c.last != nil {
		same = min(same, recorded.Sent.Shared(c.last.Sent))
	}
	was := c.unlike
	if c.last == nil || was < 0 || was >= same {
		c.unlike = recorded.Unlike(c.turns, same)
	}
	c.last = recorded
	if k := c.unlike; k >= 0 && k != was {
		c.w.step = s
		where := "in the file that this one continues"
		if recorded.Line > 0 {
			where = fmt.Sprintf("in line %d", recorded.Line)
		}
		c.w.found("request-differs", "message %d of the request that the agent recorded %s is not what its "+
			"conversation gives: ctxtool replay -f native prints it as recorded", k, where)
	}
	return nil
}

// read reads the messages of a request, by the record of its answer. It returns how many turns are those of the
// last one.
func (c *recordedWatch) read(is replay.Messages, answer int) (same int, err error) {
	model, err := c.r.ModelBy(answer)
	if err != nil {
		return 0, err
	}
	to, err := c.natives.RequestOf(is.Piece, is.Len(), model, answer)
	if err != nil {
		return 0, err
	}
	from := 0
	if c.had.Known() {
		from = is.Same(c.had)
	}
	for len(c.answers) > 0 && c.answers[len(c.answers)-1].pieces > from {
		c.answers = c.answers[:len(c.answers)-1]
	}
	at := composed{by: c.w.s.Dialect().Compose(to)}
	if k := len(c.answers); k > 0 {
		if by := c.answers[k-1].by.Copy(to); by != nil {
			at = composed{c.answers[k-1].pieces, c.answers[k-1].turns, by}
		} else {
			c.answers = nil // another model gets other messages
		}
	}
	c.turns, c.had = c.turns[:at.turns], is
	for i := at.pieces; i < is.Len(); i++ {
		m := is.Piece(i)
		if !m.Sent() {
			continue
		}
		items, err := c.natives.Of(m)
		if err != nil {
			return 0, err
		}
		for item := range items.Elements {
			c.add(at.by.Add(item))
		}
		if m.Kind() == jsonl.Assistant {
			if by := at.by.Copy(to); by != nil {
				c.answers = append(c.answers, composed{i + 1, len(c.turns), by})
			}
		}
	}
	c.add(at.by.End())
	return at.turns, nil
}

func (c *recordedWatch) add(messages []jsonl.Value) {
	for _, m := range messages {
		c.turns = append(c.turns, dialect.TurnOf(m))
	}
}
