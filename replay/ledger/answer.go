package ledger

import (
	"iter"
	"math"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// A Usage is jsonl.Usage without its cost, which Ledger.Cost reads.
type Usage struct{ Input, Output, CacheRead, CacheWrite, CacheWrite1h int64 }

// Usage returns what the provider recorded.
func (q *Request) Usage() Usage {
	if q.large != nil {
		return *q.large
	}
	u := Usage{int64(q.usage[0]), int64(q.usage[1]), int64(q.usage[2]), int64(q.usage[3]), 0}
	if q.hour {
		u.CacheWrite1h = u.CacheWrite
	}
	return u
}

// keep keeps a usage: few have numbers that are not small, or are written to the cache for two times.
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
func (q *Request) warmed(line jsonl.Value, last models.Ref) models.Ref {
	var f [5]jsonl.Value
	line.Fields(f[:], "provider", "model", "stopReason", "usage", "timestamp")
	written, dated := line.Get("timestamp").Millis()
	return q.answered(written, dated, f, last)
}

// answered reads what an answer records, given the time of its entry, and returns the model that it names; last is
// that of another one, whose strings are used again.
// The fields are those of its message: provider, model, stop reason, usage and time. The time is the
// message's own if that is a number, else the entry's, and never later than the entry's.
func (q *Request) answered(written int64, dated bool, f [5]jsonl.Value, last models.Ref) models.Ref {
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
	q.keep(Usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h})
	if f[0].Is(last.Provider) && f[1].Is(last.ID) {
		return last
	}
	return models.Ref{Provider: f[0].Text(), ID: f[1].Text()}
}

// contextOf returns the recorded size of a context with its answer in tokens, 0 if that failed.
func contextOf(u jsonl.Usage, failed bool) int32 {
	if failed {
		return 0
	}
	return int32(min(u.Context(), math.MaxInt32))
}

// Paid returns what a request cost in US dollars (docs/figures.md, "Cost"): as recorded, else by the
// table. ok is false where neither tells.
func (l *Ledger) Paid(q *Request) (dollars float64, recorded, ok bool) {
	u := q.Usage()
	return l.Models[q.Model].Paid(&jsonl.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
		CacheWrite1h: u.CacheWrite1h,
		Cost:         jsonl.Cost{Known: q.Cost >= 0, Total: q.Cost},
	})
}

// Recorded reads what an answer records besides what the ledger has: its cost, the time of its
// entry as it stands, and why the provider's cache did not serve the request, an object.
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

// unnamed makes the answer one of another model: it has the recorded size, and nothing that
// depends on the model.
func (q *Request) unnamed() { q.keep(Usage{Input: q.Size(), Output: q.Usage().Output}) }

// name numbers the requests, and gives each its model, of which names has the indexes in known. An answer that does not
// name its model has that of the next one that does, else of the last one: some agents name it once a turn.
func (l *Ledger) name(names []int32, known []models.Ref) {
	none := int32(slices.Index(known, models.Ref{}))
	for _, in := range []iter.Seq2[int, int32]{slices.Backward(names), slices.All(names)} {
		near := none
		for i, at := range in {
			if at == none {
				names[i] = near
			}
			near = names[i]
		}
	}
	numbers := map[models.Ref]int32{}
	var clock int64
	for k := range l.Requests {
		q, ref := &l.Requests[k], known[names[k]]
		if l.opt.Model != (models.Ref{}) {
			ref = l.opt.Model
			q.unnamed()
		}
		clock = max(clock, q.At) // time never goes backwards
		q.At = clock
		at, ok := numbers[ref]
		if !ok {
			at = int32(len(l.Models))
			numbers[ref] = at
			m, _, _ := l.Replay.Options.Models.Lookup(ref.Provider, ref.ID)
			l.Models, l.plain = append(l.Models, Model{ref, m}), append(l.plain, &Setting{Model: at})
		}
		l.unset(q, at)
	}
}
