package compact

import (
	"fmt"
	"reflect"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// asEdits appends to a session what a pass has changed: edits, and a compaction. It is
// nil where a change is of something that no edit reaches.
func asEdits(t *testing.T, v *View, r *Result) *View {
	t.Helper()
	s := v.session()
	b := s.NewBatch(s.Leaf(), editTime)
	quote := func(text string) sessionfmt.Value { return sessionfmt.AppendQuoted(nil, text) }
	var compaction *Change
	for k, c := range r.Changes {
		if c.Action == Summarise {
			compaction = &r.Changes[k]
		}
	}
	for i := range v.Messages {
		m := &r.View.Messages[i]
		if !m.Edited && (!m.Gone || v.Messages[i].Gone) || compaction != nil && i < compaction.Range.To {
			continue
		}
		if m.Origin.Op >= 0 || s.ID(m.Origin.Record) == "" || s.Shadowed(m.Origin.Record) || !m.Gone && !m.Kind.Replaceable() {
			return nil
		}
		replacement := sessionfmt.Value("null")
		if !m.Gone {
			content, err := r.View.Content(i)
			if err != nil {
				t.Fatal(err)
			}
			replacement = fmt.Appendf(nil, `{"content":%s}`, content)
		}
		b.Add(sessionfmt.ContextEdit, sessionfmt.Field{Name: "targetId", Value: quote(s.ID(m.Origin.Record))}, sessionfmt.Field{Name: "replacement", Value: replacement})
	}
	if compaction != nil {
		b.Add(sessionfmt.Compaction,
			sessionfmt.Field{Name: "summary", Value: quote(compaction.Text)},
			sessionfmt.Field{Name: "firstKeptEntryId", Value: quote(s.ID(compaction.Range.Kept))},
			sessionfmt.Field{Name: "tokensBefore", Value: sessionfmt.Value("1")})
	}
	if b.Err() != nil || b.Len() == 0 {
		return nil
	}
	return stored(t, s, b, replay.ByPi)
}

// stored is the view of a session with a batch behind it.
func stored(t *testing.T, s *sessionfmt.Session, b *sessionfmt.Batch, rules replay.Rules) *View {
	t.Helper()
	after, err := sessionfmt.OpenReader("s.jsonl", s.With(b), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { after.Close() })
	e, err := replay.New(after, replay.Options{Rules: rules, Leaf: after.Leaf()}).At(after.Leaf(), false)
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewView(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestStoredAsEdits: what the changes of a pass say can be stored as pi's own entries,
// and the session with them replays to the view that the pass has left, token by token.
func TestStoredAsEdits(t *testing.T) {
	compared := map[string]int{}
	for _, s := range corpus.All(t) {
		v := viewed(t, s.Data, replay.Options{Rules: replay.ByPi})
		if v == nil || len(v.Messages) == 0 || len(s.Data) > 1<<20 || v.session().NewBatch(v.session().Leaf(), editTime).Err() != nil {
			continue
		}
		for _, run := range runs() {
			if run.pass == &Compact && run.Style != StylePi {
				continue // the frame of a stored summary is pi's
			}
			run.Counter = &tokens.Pi
			r := apply(t, run.pass, v, run.Options)
			if len(r.Changes) == 0 {
				continue
			}
			after := asEdits(t, v, r)
			if after == nil {
				continue
			}
			compared[run.name]++
			if got, want := saidIn(t, after), saidIn(t, r.View); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s: stored it says %.300q, planned %.300q", s.Name, run.name, got, want)
				continue
			}
			for _, c := range counters {
				if got, want := after.Tokens(c), r.View.Tokens(c); got != want {
					t.Errorf("%s: %s: stored it has %d tokens by %s, planned %d", s.Name, run.name, got, c.Name, want)
				}
			}
		}
	}
	t.Logf("compared: %v", compared)
	if len(compared) < 12 {
		t.Errorf("only these passes were compared: %v", compared)
	}
}

// asTransform appends to a session what a pass has changed as one patch.
func asTransform(t *testing.T, r *Result) *View {
	t.Helper()
	s := r.View.session()
	ops := sessionfmt.Value{'['}
	if c := r.Changes[0]; c.Action == Summarise {
		ops = fmt.Appendf(ops, `{"op":"compaction_apply","scope":"cached","invalidateCacheReason":"x","summary":%s,"firstKeptMessageIndex":%d,"tokensBefore":1,"timestamp":1}`,
			sessionfmt.AppendQuoted(nil, c.Text), c.Range.Messages)
	} else {
		ops = append(ops, `{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"x","messages":[`...)
		for _, i := range r.View.live() {
			if m := &r.View.Messages[i]; !m.Cached {
				if m.Edited {
					return nil
				}
				continue
			}
			raw, err := r.View.Provider(i)
			if err != nil {
				t.Fatal(err)
			}
			ops = append(comma(ops), raw...)
		}
		ops = append(ops, "]}"...)
	}
	b := s.NewBatch(s.Leaf(), editTime)
	b.Add(sessionfmt.Transform,
		sessionfmt.Field{Name: "schemaVersion", Value: sessionfmt.Value("1")},
		sessionfmt.Field{Name: "transformerName", Value: sessionfmt.Value(`"x"`)},
		sessionfmt.Field{Name: "patch", Value: append(ops, ']')})
	if b.Err() != nil {
		return nil
	}
	return stored(t, s, b, replay.ByEnvelope)
}

// TestStoredAsTransform: the same with one patch under the envelope rules, compactions of
// all styles included.
func TestStoredAsTransform(t *testing.T) {
	compared := map[string]int{}
	for _, s := range corpus.All(t) {
		v := viewed(t, s.Data, replay.Options{Rules: replay.ByEnvelope})
		if v == nil || len(v.Messages) == 0 || len(s.Data) > 1<<20 || v.session().NewBatch(v.session().Leaf(), editTime).Err() != nil {
			continue
		}
		for _, run := range runs() {
			run.Counter = &tokens.Pi
			r := apply(t, run.pass, v, run.Options)
			if len(r.Changes) == 0 {
				continue
			}
			after := asTransform(t, r)
			if after == nil {
				continue
			}
			compared[run.name]++
			if got, want := saidIn(t, after), saidIn(t, r.View); run.pass != &Compact && !reflect.DeepEqual(got, want) || len(got) != len(want) || !reflect.DeepEqual(got[1:], want[1:]) {
				t.Errorf("%s: %s: stored it says %.300q, planned %.300q", s.Name, run.name, got, want)
			}
		}
	}
	t.Logf("compared: %v", compared)
	if len(compared) < 15 {
		t.Errorf("only these passes were compared: %v", compared)
	}
}
