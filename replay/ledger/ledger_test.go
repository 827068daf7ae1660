package ledger_test

import (
	"bytes"
	"maps"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// texts returns the messages that a provider gets of an envelope, as far as a ledger tells them
// apart.
func texts(t *testing.T, e *replay.Envelope) (all []string) {
	for _, list := range []func(func(replay.Message, error) bool){e.CachedMessages(), e.UncachedMessages()} {
		for m, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			var f [5]jsonl.Value
			m.Raw.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
			text := ""
			for _, part := range f {
				text += string(part.AppendMinified(nil)) + "\x00"
			}
			all = append(all, text)
		}
	}
	return all
}

// TestRequests: what a ledger has of a request is what a replay to its answer gives: size, number,
// messages, and what it shares with the request before.
func TestRequests(t *testing.T) {
	checked, always := 0, 10 // requests of each session
	if corpus.Whole() {
		always = 1 << 20
	}
	for _, c := range corpus.Sample(t) {
		if len(c.Data) > 1<<20 {
			continue
		}
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		r := replay.New(s, replay.Options{Lenient: true})
		l := must.Get(ledger.Read(r, ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
		if path, _ := s.Path(s.Leaf()); len(path) > 0 && s.Parent(path[0]) >= 0 {
			s.Close() // a cycle has no beginning, so each point has another one
			continue
		}
		content := map[string]uint64{}
		for i, k := range l.Replayed {
			if i > always && i%17 > 0 {
				continue
			}
			checked++
			q := &l.Requests[k]
			e := must.Get(r.At(sessionfmt.Before(int(q.Record))))
			if counts := must.Get(e.Count(&tokens.Pi)); counts != l.Counts(q) || int(q.Number) != e.RequestIndex {
				t.Errorf("%s: request %d has %v, counted %v", c.Name, q.Number, l.Counts(q), counts)
			}
			if size := must.Get(e.Size()); size.Tokens != int(q.Context) || size.Estimated != int(q.Estimated) {
				t.Errorf("%s: request %d has a context of %d tokens, %d estimated; the envelope %s", c.Name, q.Number, q.Context, q.Estimated, size)
			}
			is := texts(t, e)
			v := l.View(k, false)
			at := 0
			for i := v.Next(0); i < q.Messages().Len(); i = v.Next(i + 1) {
				m := v.Message(i)
				if h, ok := content[is[at]]; ok && h != m.Content {
					t.Errorf("%s: request %d: message %d is another one", c.Name, q.Number, at)
				}
				content[is[at]] = m.Content
				if v.Index(at) != i {
					t.Errorf("%s: request %d: message %d is at %d, not at %d", c.Name, q.Number, at, v.Index(at), i)
				}
				at++
			}
			if n, _ := v.Until(q.Messages().Len()); at != len(is) || n != at || v.Cached() != e.Cached() {
				t.Errorf("%s: request %d has %d messages, %d counted, the envelope %d", c.Name, q.Number, at, n, len(is))
			}
			if q.Previous < 0 {
				continue
			}
			before := l.Requests[q.Previous].Messages()
			had := numbers(before)
			fresh, gone := l.Apart(k)
			for _, m := range fresh {
				had[m.Number]++
			}
			for _, m := range gone {
				had[m.Number]--
			}
			maps.DeleteFunc(had, func(_ int32, n int) bool { return n == 0 })
			if !maps.Equal(had, numbers(q.Messages())) {
				t.Errorf("%s: request %d adds %d messages and loses %d, which are not those of it", c.Name, q.Number, len(fresh), len(gone))
			}
			next := 0
			for _, s := range q.Messages().Stretches(before) {
				if s.From != next {
					t.Errorf("%s: request %d: a stretch begins at %d, not at %d", c.Name, q.Number, s.From, next)
				}
				for i := s.From; i < s.To && s.At >= 0; i++ {
					if q.Messages().Number(i) != before.Number(s.At+i-s.From) {
						t.Errorf("%s: request %d: message %d is another one in %v", c.Name, q.Number, i, s)
					}
				}
				next = s.To
			}
			if next != q.Messages().Len() {
				t.Errorf("%s: request %d: stretches of %d messages of %d", c.Name, q.Number, next, q.Messages().Len())
			}
			was := texts(t, must.Get(r.At(sessionfmt.Before(int(l.Requests[q.Previous].Record)))))
			same, _ := v.Until(l.Kept(q))
			for i := range min(same, len(was), len(is)) {
				if was[i] != is[i] {
					t.Errorf("%s: request %d keeps %d messages, and message %d differs", c.Name, q.Number, same, i)
					break
				}
			}
		}
		s.Close()
	}
	if checked < 100 {
		t.Errorf("only %d requests", checked)
	}
}

// numbers counts the messages that a provider gets, by number.
func numbers(m replay.Messages) map[int32]int {
	n := map[int32]int{}
	for i := range m.Len() {
		if m.Piece(i).Sent() {
			n[m.Number(i)]++
		}
	}
	return n
}
