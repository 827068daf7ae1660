package ledger

import (
	"iter"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// An Answer is what the provider recorded of a request.
type Answer struct {
	At     int64 // milliseconds since 1970, never before that of an earlier answer; 0 if unknown
	Failed bool
	Billed bool // a usage is recorded
	Usage  jsonl.Usage
	Missed *Missed
}

// A Missed is what a provider recorded about a request that its cache did not serve.
type Missed struct {
	Reason string // in the provider's words
	Tokens int64  // that it did not serve
}

// Size returns the recorded size of the request in tokens, 0 if unknown.
func (a *Answer) Size() int64 { return a.Usage.Prompt() }

// Free reports whether the request failed before the provider billed anything.
func (a *Answer) Free() bool { return a.Failed && a.Size() == 0 }

// readAnswer reads an answer's message, or a usage entry, and the model that it names. The time
// is the message's own if that is a number, else the entry's, and never later than the entry's.
func readAnswer(line, v jsonl.Value) (a Answer, name models.Ref) {
	var f [6]jsonl.Value
	v.Fields(f[:], "provider", "model", "stopReason", "usage", "timestamp", "diagnostics")
	if why := f[5].Get("cache_miss_reason"); why.IsObject() {
		a.Missed = &Missed{why.Get("type").Text(), why.Get("cache_missed_input_tokens").Int()}
	}
	a.Failed = f[2].Is("error") || f[2].Is("aborted")
	a.Billed = f[3].IsObject()
	written, known := line.Get("timestamp").Millis()
	if ms, ok := f[4].Float(); ok && !(known && ms > float64(written)) {
		a.At = int64(ms)
	} else {
		a.At = written
	}
	a.Usage = f[3].Usage()
	return a, models.Ref{Provider: f[0].Text(), ID: f[1].Text()}
}

// unnamed makes the answer one of another model: it has the recorded size, and nothing that
// depends on the model.
func (a *Answer) unnamed() {
	a.Usage, a.Missed = jsonl.Usage{Input: a.Size(), Output: a.Usage.Output}, nil
}

// name numbers the requests, and gives each its model. An answer that does not name its model has
// that of the next one that does, else of the last one: some agents name it once a turn.
func (l *Ledger) name(chunks [][]Request, names [][]models.Ref) error {
	l.Requests = slices.Concat(chunks...)
	all := slices.Concat(names...)
	for _, in := range []iter.Seq2[int, models.Ref]{slices.Backward(all), slices.All(all)} {
		var near models.Ref
		for i, ref := range in {
			if ref == (models.Ref{}) {
				all[i] = near
			}
			near = all[i]
		}
	}
	l.answers = slices.Repeat([]int32{-1}, len(l.own))
	numbers := map[models.Ref]int32{}
	var clock int64
	for k := range l.Requests {
		q, ref := &l.Requests[k], all[k]
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
	return nil
}
