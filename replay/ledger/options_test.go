package ledger_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestOptions reads the same sessions with another model, without answers, by sizes alone, and from a copy.
func TestOptions(t *testing.T) {
	for _, c := range viewed(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		read := func(o ledger.Options) *ledger.Ledger {
			o.Leaf = s.Leaf()
			return must.Get(ledger.Read(replay.New(s, replay.Options{Lenient: true}), o))
		}
		plain := read(ledger.Options{Counter: &tokens.Pi})
		ref := models.Ref{Provider: "p", ID: "m"}
		other, sizes, bare := read(ledger.Options{Counter: &tokens.Pi, Model: ref}), read(ledger.Options{Counter: &tokens.Pi, Sizes: true}), read(ledger.Options{Counter: &tokens.Pi, Bare: true})
		copied := plain.Other(replay.New(s.Copy(), replay.Options{Lenient: true}))
		if n := len(copied.Replayed) + len(copied.Prompts); n != 0 {
			t.Errorf("%s: a copy that was not replayed has %d requests", c.Name, n)
		}
		must.Do(copied.Follow(ledger.Tree(s.Leaf())))
		at := 0
		for k := range plain.Requests {
			q, o, z, again := &plain.Requests[k], &other.Requests[k], &sizes.Requests[k], &copied.Requests[k]
			if o.Size() != q.Size() || o.Usage() != (ledger.Usage{Input: q.Size(), Output: q.Usage().Output}) || other.Models[o.Model].Ref != ref {
				t.Fatalf("%s: request %d of another model has %+v, not %+v", c.Name, k, o.Usage(), q.Usage())
			}
			if z.Context != q.Context || z.Estimated != q.Estimated || sizes.Counts(z) != plain.Counts(q) {
				t.Fatalf("%s: request %d has the sizes %v, not %v", c.Name, k, sizes.Counts(z), plain.Counts(q))
			}
			if figures(copied, int32(k)) != figures(plain, int32(k)) || again.Model != q.Model {
				t.Fatalf("%s: request %d of a copy is\n%s, want\n%s", c.Name, k, figures(copied, int32(k)), figures(plain, int32(k)))
			}
			if q.Warms {
				continue
			}
			if b := &bare.Requests[at]; b.Record != q.Record || b.Previous < 0 != (q.Previous < 0) || b.Messages().Len() != q.Messages().Len() || b.Billed {
				t.Fatalf("%s: a bare request %d is %+v, want %+v", c.Name, k, b, q)
			}
			at++
		}
		if at != len(bare.Requests) {
			t.Errorf("%s: %d bare requests, want %d", c.Name, len(bare.Requests), at)
		}
		s.Close()
	}
}

// TestModels: an answer without a model has that of the next one with any, else of the last, and no time is before
// that of an earlier answer. Answers of another speed share no cache.
func TestModels(t *testing.T) {
	answer := func(k int, fields string) string {
		return fmt.Sprintf(`{"type":"message","id":"a%d","parentId":"a%d","message":{"role":"assistant","content":[],"stopReason":"stop"%s}}`, k, k-1, fields)
	}
	lines := []string{
		`{"type":"session","version":3,"id":"s"}`,
		`{"type":"message","id":"a0","parentId":null,"message":{"role":"user","content":"x"}}`,
		answer(1, `,"timestamp":50,"usage":{"input":1}`),
		answer(2, `,"timestamp":40,"provider":"p","model":"m","usage":{"input":2,"cacheRead":3,"cacheWrite":4,"output":5,"cost":{"total":0.5}}`),
		answer(3, `,"timestamp":60,"provider":"p","model":"m","usage":{"input":2,"speed":"fast"}`),
		answer(4, `,"timestamp":70,"provider":"q","model":"m","stopReason":"error"`),
		answer(5, ``),
		`{"type":"usage","id":"a6","parentId":"a5","kind":"cache_warm","provider":"p","model":"m","timestamp":"1970-01-01T00:00:09.000Z","usage":{"input":7,"cacheWrite":8}}`,
		`{"type":"usage","id":"a7","parentId":"a6","kind":"other","provider":"p","model":"m","usage":{"input":7}}`,
	}
	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(strings.Join(lines, "\n")+"\n"), sessionfmt.Options{}))
	l := must.Get(ledger.Read(replay.New(s, replay.Options{}), ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
	var got []string
	for k := range l.Requests {
		q := &l.Requests[k]
		m := l.Models[q.Model]
		dollars, recorded, _ := l.Paid(q)
		got = append(got, fmt.Sprintf("%s/%s cached as %d at %d, size %d, free %v failed %v billed %v warms %v, %.1f %v",
			m.Ref.Provider, m.Ref.ID, m.Cached, q.At, q.Size(), q.Free(), q.Failed, q.Billed, q.Warms, dollars, recorded))
	}
	want := []string{
		"p/m cached as 0 at 50, size 1, free false failed false billed true warms false, 0.0 false",
		"p/m cached as 0 at 50, size 9, free false failed false billed true warms false, 0.5 true",
		"p/m cached as 1 at 60, size 2, free false failed false billed true warms false, 0.0 false",
		"q/m cached as 2 at 70, size 0, free true failed true billed false warms false, 0.0 false",
		"p/m cached as 0 at 70, size 0, free false failed false billed false warms false, 0.0 false",
		"p/m cached as 0 at 9000, size 15, free false failed false billed true warms true, 0.0 false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	cost, stamp, missed, err := l.Recorded(&l.Requests[1])
	if cost.Total != 0.5 || !cost.Known || stamp != nil || missed != nil || err != nil {
		t.Errorf("recorded %+v %s %s %v", cost, stamp, missed, err)
	}
}

func TestSums(t *testing.T) {
	served, rebilled := ledger.Served{Prompt: 1, Read: 2, Write: 4, Cost: 0.5}, ledger.Rebilled{Tokens: 1, Cost: 0.5, Unpriced: 2}
	served.Plus(ledger.Served{Prompt: 10, Read: 20, Write: 40, Cost: 5})
	rebilled.Plus(ledger.Rebilled{Tokens: 10, Cost: 5, Unpriced: 20})
	if served != (ledger.Served{Prompt: 11, Read: 22, Write: 44, Cost: 5.5}) || rebilled != (ledger.Rebilled{Tokens: 11, Cost: 5.5, Unpriced: 22}) {
		t.Errorf("%+v %+v", served, rebilled)
	}
}

// TestTold: what a reader tells the meter of a message is what the walk would measure.
func TestTold(t *testing.T) {
	for _, c := range viewed(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r, lines := replay.New(s, replay.Options{Lenient: true}), s.NewReader()
		told, alone := ledger.New(r, ledger.Options{Counter: &tokens.Pi, Sizes: true}).Meter(), ledger.New(r, ledger.Options{Counter: &tokens.Pi, Sizes: true}).Meter()
		for step, err := range r.Walk(s.Leaf()) {
			must.Do(err)
			if kind := s.Kind(step.Record); kind.IsTurn() && step.Did == replay.Added {
				var data ledger.Told
				var m jsonl.Message
				m.Read(new(jsonl.Cursor).Reset(must.Get(lines.Line(step.Record)).Get("message")), kind)
				data.Tell(new(weigh.Weigher).Reset(&tokens.Pi), &m)
				told.Hear(step.Record, data)
			}
			n, size, err := told.Count(step)
			must.Do(err)
			if want, wants, err := alone.Count(step); n != want || size.Tokens != wants.Tokens || size.Estimated != wants.Estimated || err != nil {
				t.Fatalf("%s, line %d: %v %v as told, %v %v by itself", c.Name, s.Line(step.Record), n, size, want, wants)
			}
		}
		s.Close()
	}
}
