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
	after, err := sessionfmt.OpenReader("s.jsonl", s.With(b), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { after.Close() })
	e, err := replay.New(after, replay.Options{Rules: replay.ByPi, Leaf: after.Leaf()}).At(after.Leaf(), false)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := NewView(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stored
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
			stored := asEdits(t, v, r)
			if stored == nil {
				continue
			}
			compared[run.name]++
			if got, want := texts(t, stored), texts(t, r.View); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s: stored it says %.300q, planned %.300q", s.Name, run.name, got, want)
				continue
			}
			for _, c := range counters {
				if got, want := stored.Tokens(c), r.View.Tokens(c); got != want {
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
