package replay

import (
	"ctxtool/internal/parallel"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// CacheUsage is what a provider recorded of a request, in tokens: Input was neither
// read from a cache nor written to it, and Write1h is a part of Write.
type CacheUsage struct {
	Input        int64 `json:"-"`
	CacheRead    int64 `json:"read"`
	CacheWrite   int64 `json:"write"`
	CacheWrite1h int64 `json:"write1h,omitempty"`
}

// An answer is what an answer says of itself.
type answer struct {
	ref      ModelRef
	at       int64 // milliseconds since 1970, 0 where it has no time
	failed   bool
	hasUsage bool
	usage    CacheUsage
	cost     sessionfmt.Cost
}

// IsZero reports whether nobody says how many tokens the request had.
func (u CacheUsage) IsZero() bool { return u.Prompt() == 0 }

// Prompt is how many tokens the request had, 0 where nobody says.
func (u CacheUsage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

func (u *CacheUsage) plus(o CacheUsage) {
	u.Input += o.Input
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.CacheWrite1h += o.CacheWrite1h
}

func (a *answer) promptTokens() int64 { return a.usage.Prompt() }

// readAnswer reads an answer's message, or a usage entry, where that stands in its
// line. The time is the message's own if it is a number, else the entry's. None is
// written before it came: the message's is not later than the entry's.
func readAnswer(line, v sessionfmt.Value) (a answer) {
	var f [5]value
	v.Fields(f[:], "provider", "model", "stopReason", "usage", "timestamp")
	a.ref = ModelRef{f[0].Text(), f[1].Text()}
	a.failed = f[2].Is("error") || f[2].Is("aborted")
	a.hasUsage = f[3].IsObject()
	written, known := line.Get("timestamp").Millis()
	if ms, ok := f[4].Float(); ok && !(known && ms > float64(written)) {
		a.at = int64(ms)
	} else {
		a.at = written
	}
	u := f[3].Usage()
	a.usage = CacheUsage{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h}
	a.cost = u.Cost
	return a
}

// A cacheModel is a model that requests went to.
type cacheModel struct {
	ref   ModelRef
	model models.Model
	long  bool  // it was last written to for the long lifetime
	seen  int64 // the longest pause after which it served what had been sent, milliseconds
}

// model is a model among those seen, by its number.
func (c *cacheWalk) model(ref ModelRef) int32 {
	at, ok := c.modelAt[ref]
	if !ok {
		m, _, _ := c.r.opt.Models.Lookup(ref.Provider, ref.ID)
		at = int32(len(c.models))
		c.modelAt[ref] = at
		c.models = append(c.models, cacheModel{ref: ref, model: m})
	}
	return at
}

// lifetime is how long the model's cache keeps a beginning after its last use, in
// milliseconds: what the table says, or longer where it was seen to; 0 where nobody knows.
func (m *cacheModel) lifetime() int64 {
	said := m.said()
	if said == 0 {
		return 0
	}
	return max(said, m.seen)
}

// said is the lifetime by the table.
func (m *cacheModel) said() int64 {
	seconds := m.model.PromptCache.Short
	if long := m.model.PromptCache.Long; long > 0 && (m.long || seconds == 0) {
		seconds = long
	}
	return seconds * 1000
}

// dollars is what tokens of a request cost beyond reading them from the cache, by the
// answer's own costs, else by the table's prices.
func (c *cacheWalk) dollars(s *sending, prompt, tokens int64) float64 {
	m := &c.models[s.model]
	var paid, read float64
	if n := s.usage.Input + s.usage.CacheWrite; n > 0 {
		paid = (s.cost.Input + s.cost.CacheWrite) / float64(n)
	}
	if s.usage.CacheRead > 0 {
		read = s.cost.CacheRead / float64(s.usage.CacheRead)
	}
	if prompt > 0 && paid == 0 {
		long := int64(0)
		if m.long {
			long = prompt
		}
		paid = m.model.Price(models.Usage{CacheWrite: prompt, CacheWrite1h: long}).Total / float64(prompt)
		if paid == 0 {
			paid = m.model.Price(models.Usage{Input: prompt}).Total / float64(prompt)
		}
	}
	if prompt > 0 && read == 0 {
		read = m.model.Price(models.Usage{CacheRead: prompt}).Total / float64(prompt)
	}
	return float64(tokens) * max(0, paid-read)
}

// chunkRecords is how many records are read at a time.
const chunkRecords = 256

// read reads what all answers, and all warmings of a cache, say of themselves; and of
// all messages what they say, which is most of the work. Each processor takes records
// in turn.
func (c *cacheWalk) read() error {
	s := c.r.Session
	chunks := make([][]sending, (s.Len()+chunkRecords-1)/chunkRecords)
	c.says = make([]saying, s.Len())
	if err := parallel.Each(len(chunks), func() func(int) error {
		says := newSayings(c.r, c.opt.Counter)
		return func(k int) (err error) {
			chunks[k], err = c.readChunk(says, k*chunkRecords)
			return err
		}
	}); err != nil {
		return err
	}
	c.place = make([]int32, s.Len())
	for rec := range c.place {
		c.place[rec] = -1
	}
	var clock int64
	for _, chunk := range chunks {
		for _, one := range chunk {
			if !one.warms {
				c.place[one.rec] = int32(len(c.sent))
			}
			clock = max(clock, one.at) // a use never goes back
			one.at = clock
			one.model = c.model(one.ref)
			c.sent = append(c.sent, one)
		}
	}
	return nil
}

// readChunk reads the records from one on.
func (c *cacheWalk) readChunk(says *sayings, from int) (sent []sending, err error) {
	s := c.r.Session
	for rec := from; rec < min(s.Len(), from+chunkRecords); rec++ {
		kind := s.Kind(rec)
		switch kind {
		case sessionfmt.User, sessionfmt.ToolResult, sessionfmt.Assistant:
			m := message{rec: int32(rec), edit: -1, op: -1, kind: kind}
			if c.says[rec], err = says.read(&m); err != nil {
				return nil, err
			}
		}
		if kind != sessionfmt.Assistant && kind != sessionfmt.UsageEntry {
			continue
		}
		line, err := says.load.lines.Line(rec)
		if err != nil {
			return nil, err
		}
		one := sending{rec: int32(rec), whole: nothing, index: -1, late: -1}
		if kind == sessionfmt.Assistant {
			one.answer = readAnswer(line, line.Get("message"))
		} else if line.Get("kind").Is("cache_warm") {
			one.answer, one.warms = readAnswer(line, line), true
		} else {
			continue
		}
		sent = append(sent, one)
	}
	return sent, nil
}
