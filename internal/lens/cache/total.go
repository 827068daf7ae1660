package cache

import (
	"cmp"
	"iter"

	"ctxtool/internal/base/sorting"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Total sums up rows: those with a recorded usage, or if there are none, all rows as
// estimates.
//
// It is total of schema ctxtool/cache/2, and a line of ctxtool/cache.session/2.
type Total struct {
	Schema   string `json:"schema,omitempty"`
	File     string `json:"file,omitempty"`     // with several sessions
	Sessions int    `json:"sessions,omitempty"` // number of sessions summed up
	dialect.Reading
	Error string `json:"error,omitempty"` // why the session has no account
	// whose requests: of the `path` to the leaf, or all of the `file`
	Of       string `json:"of,omitempty"`
	Requests int    `json:"requests"` // rows
	Answered int    `json:"answered"` // rows with a recorded usage
	// unrecorded tokens of prompt and tools: the recorded prompt of the first answered request minus its counted tokens
	Hidden int64 `json:"hidden,omitempty"`
	// tokens; like the next five, a sum over answered requests; without any, an estimate over all
	Prompt   int64     `json:"prompt"`
	Expected *Expected `json:"expected,omitempty"`     // as of a request
	Recorded Usage     `json:"recorded,omitzero"`      // as of a request; absent without any usage
	HitRate  hitRate   `json:"hitRate"`                // shares of `prompt`, from 0 to 1
	Rebilled Rebilled  `json:"rebilled"`               // billed again: the sum of `broken` and `unserved`
	Broken   Rebilled  `json:"broken"`                 // sum of `break.again`
	Unserved Rebilled  `json:"unserved"`               // as of a request
	Breaks   []Loss    `json:"breaks,omitempty"`       // each break, the most expensive first
	ByName   []Loss    `json:"transformers,omitempty"` // as `breaks[]`, by transformer
	// as `breaks[]`, by the section or tool of the prompt at which the prefix ended
	BySection []Loss `json:"sections,omitempty"`
	// as `breaks[]`, by reason, else by cause; with `not served`, so the sum is `rebilled`
	ByReason []Loss     `json:"reasons,omitempty"`
	Outlived []lifetime `json:"outlived,omitempty"` // models whose cache outlived its known lifetime
	Rules    []Rule     `json:"rules,omitempty"`    // what a change of settings does to a model's prefix; for pi alone
	Prices   string     `json:"prices,omitempty"`   // date of the price table
	// counted tokens of requests without recorded usage; in no other sum
	Estimated int64 `json:"estimated,omitempty"`

	unserved int // rows with unserved tokens
}

// A hitRate has shares of prompts, from 0 to 1.
type hitRate struct {
	Possible float64  `json:"possible"`           // share that a cache could have served
	Achieved *float64 `json:"achieved,omitempty"` // share that it did serve; absent without any recorded usage
}

// A lifetime is how long a model's cache was observed to keep a prefix beyond its known
// lifetime, both in seconds.
type lifetime struct {
	Model string `json:"model"` // `provider/id`
	Table int64  `json:"table"` // the known lifetime, in seconds
	Seen  int64  `json:"seen"`  // the longest pause after which it was read, in seconds
}

// A Rule is where the settings of a model's requests stand: at the front, where a change ends the prefix, or
// in place, where it adds to it.
type Rule struct {
	Model  string `json:"model"`  // `provider/id`
	System string `json:"system"` // later system messages: `front` or `place`
	Tools  string `json:"tools"`  // changes of tools: `front`, `place`, or `added` where only removals are at the front
	Level  string `json:"level"`  // thinking levels: `front`, which is after the prompt, or `place`

	Changed bool `json:"-"` // the settings of its requests changed
}

// ruleOf returns the rule of a model.
func ruleOf(m *seenModel) Rule {
	at := map[bool]string{false: "front", true: "place"}
	r := Rule{Model: m.Ref.Name(), System: at[m.inPlace.System], Tools: at[m.inPlace.Tools == models.Changed],
		Level: at[m.inPlace.Level]}
	if m.inPlace.Tools == models.Added {
		r.Tools = "added"
	}
	return r
}

// ReasonUnserved is the reason in ByReason for tokens that the provider did not serve.
const ReasonUnserved = "not served"

// A Loss is the cost of a break, or of several with a common name.
type Loss struct {
	// the transformer, the section or the reason; absent for a single break
	Name    string       `json:"name,omitempty"`
	Times   int          `json:"times,omitempty"`  // number of breaks with that name
	Request origin.Index `json:"request,omitzero"` // for a single break
	Entry   string       `json:"entry,omitempty"`  // like the next two, of a single break: the entry that caused it
	Op      origin.Index `json:"op,omitzero"`      // the op of its patch
	Cause   Cause        `json:"cause,omitempty"`  // as of a request
	Break   *Break       `json:"-"`
	Rebilled
}

// total sums up rows: those that are answered if any is.
func total(rows iter.Seq[*Row], billed bool) *Total {
	t := &Total{Expected: &Expected{}, Prices: models.Date}
	for row := range rows {
		if t.Requests++; row.answered() {
			t.Answered++
		} else {
			t.Estimated += row.Prompt
		}
		if row.answered() == billed {
			t.add(row)
		}
	}
	t.finish()
	return t
}

func (t *Total) add(row *Row) {
	t.Prompt += row.Prompt
	var u Usage
	if row.Recorded != nil {
		u = *row.Recorded
	}
	t.Recorded.plus(u)
	e := Expected{u.CacheRead, row.Prompt - u.CacheRead} // after a broken patch only this is known
	if row.Expected != nil {
		e = *row.Expected
	}
	t.Expected.Read += e.Read
	t.Expected.Write += e.Write
	if row.Unserved.Tokens > 0 {
		t.Unserved.Plus(row.Unserved)
		t.unserved++
	}
	if b := row.Break; b != nil && b.Rebilled.Tokens > 0 {
		t.Broken.Plus(b.Rebilled)
		t.Breaks = append(t.Breaks, Loss{Request: row.Request, Entry: b.Entry, Op: b.Op, Cause: b.Cause, Break: b,
			Rebilled: b.Rebilled})
	}
}

// Sum adds up the totals of sessions, skipping those with an error.
func Sum(all []Total) *Total {
	sum := total(func(func(*Row) bool) {}, false)
	for i := range all {
		if all[i].Error == "" {
			sum.Of = all[i].Of
			sum.Plus(&all[i])
		}
	}
	sum.Sessions, sum.Prices = len(all), models.Date
	return sum
}

// Plus adds the total of another session, without its single losses.
func (t *Total) Plus(o *Total) {
	requests, estimated := t.Requests+o.Requests, t.Estimated+o.Estimated
	switch {
	case t.Answered == 0 && o.Answered > 0: // do not mix estimates with recorded values
		*t = Total{Of: t.Of}
		fallthrough
	case (t.Answered > 0) == (o.Answered > 0):
		t.Answered += o.Answered
		t.Prompt += o.Prompt
		if t.Expected == nil {
			t.Expected = &Expected{}
		}
		t.Expected.Read += o.Expected.Read
		t.Expected.Write += o.Expected.Write
		t.Recorded.plus(o.Recorded)
		t.Broken.Plus(o.Broken)
		t.Unserved.Plus(o.Unserved)
	}
	t.Requests, t.Estimated = requests, estimated
	t.share()
}

// share computes the rates from the sums.
func (t *Total) share() {
	t.HitRate = hitRate{Possible: share(t.Expected.Read, t.Prompt)}
	if achieved := share(t.Recorded.CacheRead, t.Prompt); t.Answered > 0 {
		t.HitRate.Achieved = &achieved
	}
	t.Rebilled = t.Broken
	t.Rebilled.Plus(t.Unserved)
}

func (t *Total) finish() {
	t.share()
	t.ByName = lossesBy(t.Breaks, func(b *Break) string { return b.Transformer })
	t.BySection = lossesBy(t.Breaks, (*Break).Section)
	t.ByReason = lossesBy(t.Breaks, func(b *Break) string { return cmp.Or(b.Reason, string(b.Cause)) })
	if t.unserved > 0 {
		t.ByReason = append(t.ByReason, Loss{Name: ReasonUnserved, Times: t.unserved, Request: -1, Op: -1,
			Rebilled: t.Unserved})
		worstFirst(t.ByReason)
	}
	worstFirst(t.Breaks)
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// lossesBy sums up losses with a common name, and leaves out those without a name.
func lossesBy(all []Loss, name func(*Break) string) (sums []Loss) {
	at := map[string]int{}
	for _, l := range all {
		n := name(l.Break)
		if n == "" {
			continue
		}
		i, ok := at[n]
		if !ok {
			i = len(sums)
			at[n] = i
			sums = append(sums, Loss{Name: n, Request: -1, Op: -1})
		}
		sums[i].Times++
		sums[i].Plus(l.Rebilled)
	}
	worstFirst(sums)
	return sums
}

func worstFirst(all []Loss) {
	sorting.By(all, func(a, b Loss) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens, a.Tokens))
	})
}

// A Usage is what a provider recorded for a request, in tokens. Input was neither read from a
// cache nor written to it. CacheWrite1h is part of CacheWrite.
type Usage struct {
	Input        int64 `json:"-"`
	CacheRead    int64 `json:"read"`
	CacheWrite   int64 `json:"write"`
	CacheWrite1h int64 `json:"write1h,omitempty"`
}

// IsZero reports whether the size of the request is unknown.
func (u Usage) IsZero() bool { return u.Prompt() == 0 }

// Prompt returns the size of the request in tokens, 0 if unknown.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

func (u *Usage) plus(o Usage) {
	u.Input += o.Input
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.CacheWrite1h += o.CacheWrite1h
}

// A seenModel is a model that received requests.
type seenModel struct {
	*ledger.Model
	*observed // of its cache
	inPlace   models.InPlace
}

// An observed is what answers show of a cache.
type observed struct {
	long bool  // its last write used the long lifetime
	seen int64 // the longest pause after which it served a prefix, in milliseconds
}

// lifetime returns how long the model's cache keeps a prefix after its last use, in
// milliseconds: the table's lifetime, or a longer one that was observed; 0 if unknown.
func (m *seenModel) lifetime() int64 {
	said := m.tableLifetime()
	if said == 0 {
		return 0
	}
	return max(said, m.seen)
}

// tableLifetime returns the lifetime by the table, in milliseconds.
func (m *seenModel) tableLifetime() int64 {
	seconds := m.Model.PromptCache.Short
	if long := m.Model.PromptCache.Long; long > 0 && (m.long || seconds == 0) {
		seconds = long
	}
	return seconds * 1000
}

// rebilled returns the model's rebilled by what the answer records, else by the table.
func (c *accountant) rebilled(q *ledger.Request, prompt, tokens int64) Rebilled {
	var cost jsonl.Cost
	if q.Cost >= 0 {
		var err error
		cost, _, _, err = c.l.Recorded(q)
		c.err = cmp.Or(c.err, err)
	}
	var paid, read float64
	u := q.Usage()
	if n := u.Input + u.CacheWrite; n > 0 {
		paid = (cost.Input + cost.CacheWrite) / float64(n)
	}
	if n := u.CacheRead; n > 0 {
		read = cost.CacheRead / float64(n)
	}
	return c.models[q.Model].rebilled(paid, read, cost.Known, prompt, tokens)
}

// rebilled returns tokens of a request with what they cost beyond reading them from the cache, by
// what a token cost to send and to read, else by the table's prices. known is true if a cost is
// recorded.
func (m *seenModel) rebilled(paid, read float64, known bool, prompt, tokens int64) Rebilled {
	if prompt > 0 && paid == 0 {
		long := int64(0)
		if m.long {
			long = prompt
		}
		paid = m.Model.Price(models.Usage{CacheWrite: prompt, CacheWrite1h: long}).Total / float64(prompt)
		if paid == 0 {
			paid = m.Model.Price(models.Usage{Input: prompt}).Total / float64(prompt)
		}
	}
	if prompt > 0 && read == 0 {
		read = m.Model.Price(models.Usage{CacheRead: prompt}).Total / float64(prompt)
	}
	one := Rebilled{Tokens: tokens, Cost: float64(tokens) * max(0, paid-read)}
	if paid == 0 && !m.Model.Priced() && !known {
		one.Unpriced = tokens
	}
	return one
}
