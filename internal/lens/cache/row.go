package cache

import (
	"math"

	"ctxtool/replay/ledger"
	"ctxtool/replay/origin"
)

// A Row is one request, with what a provider's prompt cache could do for it and what it did.
// Tokens are those that the provider recorded, or counted ones if it recorded none.
//
// It is a line of schema ctxtool/cache/2.
type Row struct {
	Schema string `json:"schema"`
	Record int    `json:"-"` // the answer
	// number on its path, from 0; like `shared`, `break` and `expected`, absent after a broken patch
	Request origin.Index `json:"request,omitzero"`
	Entry   string       `json:"entry"`           // id of the answer
	Time    string       `json:"time,omitempty"`  // of the answer's entry, as it stands
	Model   string       `json:"model,omitempty"` // `provider/id`
	// tokens of the whole request: the usage's `input`, `cacheRead` and `cacheWrite`; else counted, with
	// hidden ones
	Prompt int64 `json:"prompt"`
	// the longest prefix shared with an earlier request of the model, on any branch, in the cache's lifetime
	Shared *Shared `json:"shared,omitempty"`
	// what ended the shared prefix; absent if this request only adds to it
	Break *Break `json:"break,omitempty"`
	// tokens that an ideal cache, which keeps every prefix, reads and writes; `read` is at least the recorded one
	Expected *Expected `json:"expected,omitempty"`
	// the usage's `cacheRead`, `cacheWrite` and `cacheWrite1h`; absent if not recorded
	Recorded *Usage `json:"recorded,omitempty"`
	// tokens sent before and billed again: the sum of `break.again` and `unserved`
	Rebilled Rebilled `json:"rebilled,omitzero"`
	// `shared.tokens` less `recorded.read`; absent up to 1,024 tokens, and before the first use of a cache
	Unserved Rebilled `json:"unserved,omitzero"`
	// the provider's reason for not using its cache
	Missed *Missed `json:"missed,omitempty"`
	// seconds of a pause beyond the cache's lifetime after which the cache was still read; later pauses are
	// judged by it
	Outlived  int64 `json:"outlived,omitempty"`
	Endless   bool  `json:"endless,omitempty"`   // the cache's lifetime is unknown, so pauses are not judged
	Estimated bool  `json:"estimated,omitempty"` // `prompt` is counted: no usage is recorded

	basis basis
}

// Shared is the prefix that a request shares with an earlier one.
type Shared struct {
	Messages int   `json:"messages"`
	Tokens   int64 `json:"tokens"`
}

// A Missed is the provider's record of a request that its cache did not serve.
type Missed struct {
	Reason string `json:"reason"`           // in the provider's words
	Tokens int64  `json:"tokens,omitempty"` // that it did not serve
}

// answered reports whether the provider recorded the size of the request.
func (r *Row) answered() bool { return r.Recorded != nil && r.Recorded.Prompt() > 0 }

func (c *accountant) answered(q *ledger.Request) bool { return q.Size() > 0 && c.usageOf(q) != nil }

// Expected are the tokens read and written by an ideal cache, which keeps every prefix of every
// request.
type Expected struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// Rebilled are tokens that were billed more than once.
type Rebilled = ledger.Rebilled

// noise is how many tokens a provider may fall short without significance
// (docs/session-format.md 10).
const noise = 1024

// row returns the row of a request, and adds the request to the cache for later ones.
func (c *accountant) row(k int) Row {
	s, q := c.sent[k], &c.l.Requests[k]
	u, counted := q.Usage(), c.trie.tokensOf(s)+c.hidden
	m, session := &c.models[q.Model], c.l.Replay.Session
	row := Row{
		Schema: "ctxtool/cache/2", Record: int(q.Record), Request: origin.Index(q.Number),
		Entry: session.ID(int(q.Record)),
		Model: m.Ref.Name(), Prompt: q.Size(),
	}
	row.basis = basis{model: m, long: m.long, counted: counted, hidden: c.hidden, output: u.Output,
		thinking: c.thinking(q), unbilled: q.Free()}
	row.Recorded = c.usageOf(q)
	seen := c.active || u.CacheRead+u.CacheWrite > 0
	defer func() { c.active = seen }()
	if s == noBeginning {
		return row
	}
	row.Endless, row.Shared = m.lifetime() == 0, &Shared{}
	if row.Estimated = row.Prompt == 0; row.Estimated {
		row.Prompt = counted
	}
	kept, by := c.trie.kept(s, q.At)
	known, compared := c.trie.kept(s, math.MinInt64)
	had, read := min(c.served(known, compared.request, k), row.Prompt), min(u.CacheRead, row.Prompt)
	row.Shared.Tokens = min(c.served(kept, by.request, k), row.Prompt)
	if kept != known && read > row.Shared.Tokens && read+noise >= had {
		pause := q.At - c.l.Requests[compared.request].At
		row.Outlived, m.seen = pause/1000, max(m.seen, pause)
		kept, row.Shared.Tokens = known, had
	}
	if row.Shared.Messages = c.messagesOf(kept); row.Shared.Messages == 0 && c.hidden > 0 && read > 0 {
		// the provider knows how long a prompt is that the file does not have
		row.Shared.Tokens = min(row.Shared.Tokens, read)
	}
	parted := c.bodiesPart(k, compared.request)
	switch {
	case parted == nil || kept != known: // one of them is not recorded, or the cache expired
		parted = nil
	case parted.whole:
		if said := c.l.Requests[parted.of].Size(); said > 0 {
			row.Shared.Tokens = min(said, row.Prompt)
		}
	case known != c.sent[parted.of]: // the session gives a break too
	case read+noise >= had:
		parted = nil // the provider read beyond it
	default:
		row.Shared.Tokens, row.Shared.Messages = min(row.Shared.Tokens, read), parted.at
	}
	served := max(row.Shared.Tokens, read) // before it only unserved tokens were billed again
	row.Expected = &Expected{served, row.Prompt - served}
	if c.breaks[k] == nil {
		b := c.broken(k, kept, known, compared)
		if parted != nil && (b == nil || b.Cause != CauseIdle) {
			missing := b == nil
			if b = parted.corrected(b); missing && b != nil && !row.Estimated && !q.Free() {
				b.Rebilled.Tokens = max(0, had-read)
			}
		}
		if b != nil {
			if from := had; !row.Estimated {
				if b.Cause == CausePause {
					from = row.Shared.Tokens
				}
				b.Rebilled.Tokens = max(0, min(b.Rebilled.Tokens-max(0, read-from), row.Prompt-served))
				if read > from && b.Rebilled.Tokens <= noise {
					b.Rebilled.Tokens = 0 // the provider read beyond it
				}
			}
			b.Rebilled = c.rebilled(q, row.Prompt, b.Rebilled.Tokens)
			if b.Record >= 0 {
				b.Entry = session.ID(b.Record)
			}
			c.breaks[k] = b
		}
	}
	if b := c.breaks[k]; b != nil {
		one := *b
		row.Break, row.Rebilled = &one, one.Rebilled
	}
	if short := row.Shared.Tokens - read; !row.Estimated && seen && short > noise {
		row.Unserved = c.rebilled(q, row.Prompt, short)
		row.Rebilled.Plus(row.Unserved)
	}
	c.use(k)
	c.last = k
	return row
}

// usageOf returns the recorded usage of a request, nil if there is none or the agent does not record cached
// tokens.
func (c *accountant) usageOf(q *ledger.Request) *Usage {
	if d := c.l.Replay.Session.Dialect(); !q.Billed || d != nil && d.Uncached {
		return nil
	}
	u := q.Usage()
	return &Usage{u.Input, u.CacheRead, u.CacheWrite, u.CacheWrite1h}
}

// served returns the size of a prefix in the provider's tokens: as recorded for a request that
// was exactly this prefix, else its share of the request that used it, or of the current one.
func (c *accountant) served(n beginning, by int32, k int) int64 {
	if n == noBeginning {
		return 0
	}
	if said := c.recorded(n); said > 0 {
		return said
	}
	if c.l.Requests[by].Size() == 0 {
		by = int32(k)
	}
	return scaled(c.trie.tokensOf(n)+c.hidden, c.trie.tokensOf(c.sent[by])+c.hidden, c.l.Requests[by].Size())
}

// scaled converts counted tokens to those of a provider, who recorded a size for a request that
// has whole tokens by count.
func scaled(counted, whole, recorded int64) int64 {
	if recorded > 0 && whole > 0 {
		return int64(math.Round(float64(counted) * float64(recorded) / float64(whole)))
	}
	return counted
}
