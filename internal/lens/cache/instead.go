package cache

import (
	"ctxtool/replay/models"
)

// A basis is what an account knows of a request besides its row: what it takes to judge the
// same request with another context.
type basis struct {
	model    *seenModel
	long     bool  // the cache keeps what it writes for the long lifetime
	counted  int64 // tokens of the whole request by the counter, with those that the file does not record
	hidden   int64 // the latter
	output   int64
	thinking uint64 // hash of the thinking level
	unbilled bool   // it failed, and the provider recorded no usage
}

// A Context is the context that a request would have had under another policy, in counted tokens, without those
// that the file does not record.
type Context struct {
	Messages int   // leading ones that are Kept
	Counted  int64 // the whole request
	// the leading part that the previous request of the same model had, prompt and tools included; below 0 if there is
	// no such request, or its prompt differs
	Kept  int64
	Again int64 // what follows, and that request had too
	Cause Cause // why Kept ends; empty if the previous request ends there
	Same  bool  // this request and all before it are the recorded ones
}

// Model returns the model of the request.
func (r *Row) ModelRef() models.Ref { return r.basis.model.Ref }

// Sized reports whether the provider recorded the size of the request.
func (r *Row) Sized() bool { return r.Prompt > 0 && !r.Estimated }

// Thinking returns a hash of the thinking level, valid in one process only.
func (r *Row) Thinking() uint64 { return r.basis.thinking }

// SystemInPlace reports whether later system messages are messages of the request, and not part of the prompt
// before them.
func (r *Row) SystemInPlace() bool { return r.basis.model.inPlace.System }

// Output returns the tokens of the answer.
func (r *Row) Output() int64 { return r.basis.output }

// Unbilled reports whether the request failed before the provider billed anything.
func (r *Row) Unbilled() bool { return r.basis.unbilled }

// Counted returns the counted tokens of the request, with those that the file does not record,
// and the latter.
func (r *Row) Counted() (all, hidden int64) { return r.basis.counted, r.basis.hidden }

// Instead returns the row of the same request with another context, as an ideal cache would
// serve it: one that keeps what the previous request had, unless the pause was too long.
// Tokens are in the provider's own size: the request's recorded prompt, divided by what is
// counted of it, converts them.
func (r *Row) Instead(c Context) Row {
	b := &r.basis
	row := Row{
		Schema: r.Schema, Record: r.Record, Request: r.Request, Entry: r.Entry, Time: r.Time, Model: r.Model,
		Endless: r.Endless, Estimated: r.Estimated, basis: *b,
	}
	row.basis.counted = c.Counted + b.hidden
	row.Prompt = r.scaled(row.basis.counted)
	row.Shared = &Shared{}
	again := c.Again
	if c.Kept >= 0 {
		kept := r.scaled(c.Kept + b.hidden)
		row.Shared.Tokens, row.Shared.Messages = kept, c.Messages
		if p := r.Break; p != nil && p.Cause == CausePause && r.Shared.Tokens < kept {
			row.Shared.Tokens, row.Shared.Messages = r.Shared.Tokens, min(r.Shared.Messages, c.Messages)
			row.Break = &Break{At: row.Shared.Messages, Cause: CausePause, Record: -1, Op: -1, Pause: p.Pause,
				Lifetime: p.Lifetime}
			again += c.Kept + b.hidden
		} else if c.Cause != "" {
			row.Break = &Break{At: c.Messages, Cause: c.Cause, Record: -1, Op: -1}
		}
	}
	row.Expected = &Expected{row.Shared.Tokens, row.Prompt - row.Shared.Tokens}
	if c.Same && r.Expected != nil { // the provider may have kept more
		row.Shared, row.Expected, row.Break, row.Rebilled = r.Shared, r.Expected, r.Break, Rebilled{}
		if r.Break != nil {
			row.Rebilled = r.Break.Rebilled
		}
		return row
	}
	if row.Break != nil && !b.unbilled {
		n := max(0, min(r.scaled(again), row.Prompt)-row.Shared.Tokens)
		if row.Break.Cause != CausePause {
			n = min(r.scaled(again), row.Expected.Write)
		}
		row.Break.Rebilled = b.model.rebilled(0, 0, false, row.Prompt, n)
		row.Rebilled = row.Break.Rebilled
	}
	return row
}

// scaled converts counted tokens to those of the request's provider.
func (r *Row) scaled(counted int64) int64 {
	size := r.Prompt
	if r.Estimated {
		size = 0
	}
	return scaled(counted, r.basis.counted, size)
}

// Cost returns what the request costs by the table of models if the cache serves what is
// expected of it. priced is false for a model without prices.
func (r *Row) Cost() (cost models.Dollars, priced bool) {
	m := r.basis.model.Model
	if r.basis.unbilled || r.Expected == nil {
		return cost, m.Priced()
	}
	u := models.Usage{Input: r.Expected.Write, CacheRead: r.Expected.Read, Output: r.basis.output}
	if m.Cost.CacheWrite > 0 {
		u.Input, u.CacheWrite = 0, r.Expected.Write
		if r.basis.long {
			u.CacheWrite1h = u.CacheWrite
		}
	}
	return m.Price(u), m.Priced()
}

// SummaryCost returns what a request for a summary costs, which no cache serves: it has another
// prompt. Tokens are counted ones.
func (r *Row) SummaryCost(input, output int64) float64 {
	if r.basis.unbilled {
		return 0
	}
	return r.basis.model.Price(models.Usage{Input: r.scaled(input), Output: r.scaled(output)}).Total
}
