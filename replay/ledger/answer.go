package ledger

import (
	"iter"
	"math"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// A Usage is a jsonl.Usage without its cost, which Ledger.Cost reads, and without its terms, which are part of
// the Model.
type Usage struct{ Input, Output, CacheRead, CacheWrite, CacheWrite1h, Searches int64 }

// Usage returns what the provider recorded.
func (q *Request) Usage() Usage {
	if q.large != nil {
		return *q.large
	}
	u := Usage{Input: int64(q.usage[0]), Output: int64(q.usage[1]), CacheRead: int64(q.usage[2]),
		CacheWrite: int64(q.usage[3])}
	if q.hour {
		u.CacheWrite1h = u.CacheWrite
	}
	return u
}

// keep stores a usage compactly: few have large numbers, web searches, or cache writes for two lifetimes.
func (q *Request) keep(u Usage) {
	q.usage = [...]uint32{uint32(u.Input), uint32(u.Output), uint32(u.CacheRead), uint32(u.CacheWrite)}
	if q.hour = u.CacheWrite1h > 0; q.Usage() != u {
		q.Setting = &Setting{large: &u}
	}
}

// Size returns the recorded size of the request in tokens, 0 if unknown.
func (q *Request) Size() int64 {
	u := q.Usage()
	return u.Input + u.CacheRead + u.CacheWrite
}

// Free reports whether the request failed before the provider billed anything.
func (q *Request) Free() bool { return q.Failed && q.Size() == 0 }

// warmed reads the usage entry of a cache warming, and returns the model that it names.
func (q *Request) warmed(line jsonl.Value, last named) named {
	var f [5]jsonl.Value
	line.Fields(f[:], "provider", "model", "stopReason", "usage", "timestamp")
	written, dated := line.Get("timestamp").Millis()
	return q.answered(written, dated, f, last)
}

// answered reads what an answer records, given the time of its entry, and returns the model that it names; last
// is the model of another answer, whose strings are reused. The fields are those of its message: provider,
// model, stop reason, usage and time. The time is the message's own if that is a number, else the entry's, and
// never later than the entry's.
func (q *Request) answered(written int64, dated bool, f [5]jsonl.Value, last named) named {
	q.Failed = f[2].Is("error") || f[2].Is("aborted")
	q.Billed = f[3].IsObject()
	if ms, ok := f[4].Float(); ok && !(dated && ms > float64(written)) {
		q.At = int64(ms)
	} else {
		q.At = written
	}
	u := f[3].Usage()
	q.after = contextOf(u, q.Failed)
	if q.Cost = -1; u.Cost.Known {
		q.Cost = u.Cost.Total
	}
	q.keep(Usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Searches})
	if !f[0].Is(last.Provider) || !f[1].Is(last.ID) {
		last.Ref = models.Ref{Provider: f[0].Text(), ID: f[1].Text()}
	}
	if last.Terms = u.Terms; last.Ref == (models.Ref{}) {
		return named{} // the terms are those of the answer that names its model
	}
	return last
}

// A named is a model as an answer names it, and the terms on which it was served.
type named struct {
	models.Ref
	Terms jsonl.Terms
}

// contextOf returns the recorded size of a context with its answer in tokens, 0 if the answer failed.
func contextOf(u jsonl.Usage, failed bool) int32 {
	if failed {
		return 0
	}
	return int32(min(u.Context(), math.MaxInt32))
}

// Paid returns what a request cost in US dollars (docs/figures.md, "Cost"): as recorded, else by the table. ok
// is false if neither is known.
func (l *Ledger) Paid(q *Request) (dollars float64, recorded, ok bool) {
	u := q.Usage()
	return l.Models[q.Model].Paid(&jsonl.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWrite1h: u.CacheWrite1h, Searches: u.Searches,
		Cost: jsonl.Cost{Known: q.Cost >= 0, Total: q.Cost},
	})
}

// Recorded reads what the ledger omits of an answer: its cost, the time of its entry as spelled, and the
// provider's reason for not using its cache, an object.
func (l *Ledger) Recorded(q *Request) (cost jsonl.Cost, stamp, missed jsonl.Value, err error) {
	line, err := l.load.Line(int(q.Record))
	f := line.All("timestamp", "message")
	if err != nil || l.opt.Model != (models.Ref{}) {
		return cost, f[0], nil, err
	}
	v := line
	if !q.Warms {
		v = f[1]
	}
	said := v.All("usage", "diagnostics")
	u := said[0].Usage()
	return u.Cost, f[0], said[1].Get("cache_miss_reason"), nil
}

// unnamed assigns an answer to another model: it keeps the recorded size, but nothing that depends on the
// model.
func (q *Request) unnamed() { q.keep(Usage{Input: q.Size(), Output: q.Usage().Output}) }

// name numbers the requests and assigns their models; names are the models that answers name, as indexes in
// known. An answer that names none gets that of the next one that does, else of the last one: some agents name
// it once per turn.
func (l *Ledger) name(names []int32, known []named) {
	none := int32(slices.Index(known, named{}))
	for _, in := range []iter.Seq2[int, int32]{slices.Backward(names), slices.All(names)} {
		near := none
		for i, at := range in {
			if at == none {
				names[i] = near
			}
			near = names[i]
		}
	}
	numbers := map[named]int32{}
	var clock int64
	for k := range l.Requests {
		q, name := &l.Requests[k], known[names[k]]
		if l.opt.Model != (models.Ref{}) {
			name = named{Ref: l.opt.Model}
			q.unnamed()
		}
		clock = max(clock, q.At) // times never go backwards
		q.At = clock
		at, ok := numbers[name]
		if !ok {
			at = l.addModel(name)
			numbers[name] = at
		}
		l.unset(q, at)
	}
}

// A Model is a model that answered, or would answer, requests. A model that answered on several terms, such as
// service tiers, is several Models, each with its own rates.
type Model struct {
	Ref models.Ref
	models.Model
	Cached int32 // index of the first model that shares its cache; answers of another speed have a separate cache
	speed  string
}

// addModel adds a model with its rates on the terms of its answers, and returns its index.
func (l *Ledger) addModel(name named) int32 {
	m, _, _ := l.Replay.Options.Models.Lookup(name.Provider, name.ID)
	m, _ = m.On(name.Terms)
	at := int32(len(l.Models))
	cached := slices.IndexFunc(l.Models, func(o Model) bool { return o.Ref == name.Ref && o.speed == name.Terms.Speed })
	if cached < 0 {
		cached = int(at)
	}
	l.Models = append(l.Models, Model{name.Ref, m, int32(cached), name.Terms.Speed})
	l.plain = append(l.plain, &Setting{Model: at})
	return at
}
