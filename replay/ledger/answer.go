package ledger

import (
	"iter"
	"math"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// An Answer is what the provider recorded of a request.
type Answer struct {
	At     int64 // milliseconds since 1970, never before that of an earlier answer; 0 if unknown
	Failed bool
	Billed bool // a usage is recorded
	Usage  Usage
	// Cost is what it records in US dollars; below 0 if nothing.
	Cost float64
	// Context is the recorded size of the request and its answer in tokens; 0 if it failed.
	Context int32
}

// A Usage is jsonl.Usage without its cost, which Ledger.Cost reads.
type Usage struct{ Input, Output, CacheRead, CacheWrite, CacheWrite1h int64 }

// Size returns the recorded size of the request in tokens, 0 if unknown.
func (a *Answer) Size() int64 { return a.Usage.Input + a.Usage.CacheRead + a.Usage.CacheWrite }

// Free reports whether the request failed before the provider billed anything.
func (a *Answer) Free() bool { return a.Failed && a.Size() == 0 }

// readWarming reads the usage entry of a cache warming, and the model that it names.
func readWarming(line jsonl.Value) (a Answer, name models.Ref) {
	var f [5]jsonl.Value
	line.Fields(f[:], "provider", "model", "stopReason", "usage", "timestamp")
	written, dated := line.Get("timestamp").Millis()
	return newAnswer(written, dated, f)
}

// newAnswer returns what an answer records, given the time of its entry, and the model that it names.
// The fields are those of its message: provider, model, stop reason, usage and time. The time is the
// message's own if that is a number, else the entry's, and never later than the entry's.
func newAnswer(written int64, dated bool, f [5]jsonl.Value) (a Answer, name models.Ref) {
	a.Failed = f[2].Is("error") || f[2].Is("aborted")
	a.Billed = f[3].IsObject()
	if ms, ok := f[4].Float(); ok && !(dated && ms > float64(written)) {
		a.At = int64(ms)
	} else {
		a.At = written
	}
	u := f[3].Usage()
	a.Context = contextOf(u, a.Failed)
	if a.Cost = -1; u.Cost.Known {
		a.Cost = u.Cost.Total
	}
	a.Usage = Usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h}
	return a, models.Ref{Provider: f[0].Text(), ID: f[1].Text()}
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
	u := jsonl.Usage{
		Input: q.Usage.Input, Output: q.Usage.Output, CacheRead: q.Usage.CacheRead, CacheWrite: q.Usage.CacheWrite, CacheWrite1h: q.Usage.CacheWrite1h,
		Cost: jsonl.Cost{Known: q.Cost >= 0, Total: q.Cost},
	}
	return l.Models[q.Model].Paid(&u)
}

// Recorded reads what an answer records besides what the ledger has: its cost, the time of its
// entry as it stands, and why the provider's cache did not serve the request, an object.
func (l *Ledger) Recorded(q *Request) (cost jsonl.Cost, stamp, missed jsonl.Value, err error) {
	line, err := l.load.Line(int(q.Record))
	if err != nil || l.opt.Model != (models.Ref{}) {
		return cost, line.Get("timestamp"), nil, err
	}
	v := line
	if !q.Warms {
		v = line.Get("message")
	}
	u := v.Get("usage").Usage()
	return u.Cost, line.Get("timestamp"), v.Get("diagnostics").Get("cache_miss_reason"), nil
}

// unnamed makes the answer one of another model: it has the recorded size, and nothing that
// depends on the model.
func (a *Answer) unnamed() { a.Usage = Usage{Input: a.Size(), Output: a.Usage.Output} }

// name numbers the requests, and gives each its model, of which names has the indexes in known. An answer that does not name its model has
// that of the next one that does, else of the last one: some agents name it once a turn.
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
	l.answers = slices.Repeat([]int32{-1}, len(l.own))
	numbers := map[models.Ref]int32{}
	var clock int64
	for k := range l.Requests {
		q, ref := &l.Requests[k], known[names[k]]
		if l.opt.Model != (models.Ref{}) {
			ref = l.opt.Model
			q.unnamed()
		}
		if !q.Warms {
			l.answers[q.Record] = int32(k)
		}
		clock = max(clock, q.At) // time never goes backwards
		q.At = clock
		at, ok := numbers[ref]
		if !ok {
			at = int32(len(l.Models))
			numbers[ref] = at
			m, _, _ := l.Replay.Options.Models.Lookup(ref.Provider, ref.ID)
			l.Models = append(l.Models, Model{ref, m})
		}
		q.Model = at
	}
}
