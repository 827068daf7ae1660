package compact_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxtool/compact"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// summary stands in for a summarizer.
func summary(r compact.Request) (string, error) {
	return fmt.Sprintf("## Goal\n%s of %d messages \"quoted\"", r.Part, len(r.Messages)), nil
}

// contextOf is the context at a session's leaf; nil where the session cannot be
// replayed.
func contextOf(t *testing.T, s *sessionfmt.Session, rules replay.Rules) *compact.View {
	t.Helper()
	e, err := replay.New(s, replay.Options{Rules: rules, Window: 2000}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		if replay.Stopped(err) {
			return nil
		}
		t.Fatal(err)
	}
	return must.Get(compact.NewView(e, nil))
}

// keen are passes one by one with numbers that let them act on small sessions, and all
// of them in a row.
func keen() (all []*compact.Policy) {
	layers := []compact.Layer{
		{Pass: &compact.Truncate, Options: compact.Options{Max: 60, Unit: "bytes"}},
		{Pass: &compact.Superseded},
		{Pass: &compact.RetryPrune},
		{Pass: &compact.StripThinking},
		{Pass: &compact.DropImages},
		{Pass: &compact.StaleResults, Options: compact.Options{Requests: 1}},
		{Pass: &compact.Prune, Options: compact.Options{Protect: 0}},
		{Pass: &compact.MergeNotes},
		{Pass: &compact.Redact},
		{Pass: &compact.Progressive, Options: compact.Options{Retries: 1}},
		{Pass: &compact.Compact, Options: compact.Options{Style: compact.StylePi, Keep: 100}},
	}
	for _, l := range layers {
		all = append(all, &compact.Policy{Name: l.Pass.Name, Window: 1000, Counter: l.Pass.Defaults.Counter, Layers: []compact.Layer{l}})
	}
	for _, o := range []compact.Options{{Style: compact.StyleGSH}, {Style: "swe-cli", Keep: 2}, {Style: "y-agent", Keep: 1}} {
		l := []compact.Layer{{Pass: &compact.Compact, Options: o}}
		all = append(all, &compact.Policy{Name: string(o.Style), Window: 1000, Counter: compact.Compact.Defaults.Counter, Layers: l})
	}
	return append(all, &compact.Policy{Name: "all", Window: 1000, Counter: compact.Compact.Defaults.Counter, Layers: layers})
}

// TestStoreKeepsThePromise: what is stored, replayed, is what the plan promised, and
// undoing it brings back what was there.
func TestStoreKeepsThePromise(t *testing.T) {
	now := time.UnixMilli(1790000000000)
	stored := 0
	for _, c := range corpus.Sample(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		for _, form := range []compact.Form{compact.AsEdits, compact.AsTransform} {
			rules := replay.Auto
			if form == compact.AsTransform {
				rules = replay.ByEnvelope
			}
			before := contextOf(t, s, rules)
			if before == nil {
				continue
			}
			before = before.In(form)
			for _, p := range append(compact.Policies, keen()...) {
				name := fmt.Sprintf("%s %s %s", c.Name, p.Name, form)
				did, err := p.Plan(before, summary)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				did.Form = form
				b := s.NewBatch(s.Leaf(), now)
				if err := (&compact.Job{Command: "test", Policy: p}).Store(b, did, ""); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if b.Len() == 0 || b.Err() != nil {
					continue
				}
				stored++
				t.Run(name, func(t *testing.T) { keeps(t, s, b, rules, before, did.View) })
			}
		}
		s.Close()
	}
	if stored < 100 {
		t.Errorf("only %d plans were stored", stored)
	}
	t.Logf("%d plans stored", stored)
}

// keeps replays a session with a batch, and then with that undone, at once and later.
func keeps(t *testing.T, s *sessionfmt.Session, b *sessionfmt.Batch, rules replay.Rules, before, promised *compact.View) {
	with := reopened(s, b)
	defer with.Close()
	r := replay.New(with, replay.Options{Rules: rules})
	e := must.Get(r.At(sessionfmt.After(with.Leaf())))
	if err := compact.Kept(promised, e); err != nil {
		t.Errorf("stored: %v", err)
	}
	undoes(t, with, rules, before, true, s.Leaf())
	later := with.NewBatch(with.Leaf(), time.UnixMilli(1790000000500))
	later.Add(jsonl.CustomEntry, jsonl.Field{Name: "customType", Value: jsonl.Value(`"extension"`)})
	grown := reopened(with, later)
	defer grown.Close()
	undoes(t, grown, rules, before, false, grown.Leaf())
}

// undoes undoes the last batch of a session, at once by one entry below parent, and later by
// edits, or not at all where the batch has a compaction or a patch.
func undoes(t *testing.T, with *sessionfmt.Session, rules replay.Rules, before *compact.View, atOnce bool, parent int) {
	t.Helper()
	back, promise, last, err := compact.Undo(replay.New(with, replay.Options{Rules: rules}), time.UnixMilli(1790000001000))
	switch {
	case !atOnce && err != nil && strings.Contains(err.Error(), "cannot be restored below"):
		return
	case err != nil || last != atOnce:
		t.Fatal(err, atOnce)
	case atOnce && back.Len() != 1:
		t.Errorf("undo appends %d entries", back.Len())
	}
	if first := jsonl.Value(back.Lines()); !first.Get("parentId").Is(with.ID(parent)) {
		t.Errorf("undo begins below %s, not %s", first.Get("parentId"), with.ID(parent))
	}
	undone := reopened(with, back)
	defer undone.Close()
	if err := promise(undone); err != nil {
		t.Error(err)
	}
	e := must.Get(replay.New(undone, replay.Options{Rules: rules}).At(sessionfmt.After(undone.Leaf())))
	if err := compact.Kept(before, e); err != nil {
		t.Errorf("undone: %v", err)
	}
}

func reopened(s *sessionfmt.Session, b *sessionfmt.Batch) *sessionfmt.Session {
	must.Do(b.Err())
	return must.Get(sessionfmt.OpenReader(s.Name, s.With(b), sessionfmt.Options{}))
}

// TestPromise: what a batch makes of a session is held against the plan.
func TestPromise(t *testing.T) {
	s := must.Get(sessionfmt.Open("../testdata/sessions/demo.jsonl", sessionfmt.Options{}))
	defer s.Close()
	opt := replay.Options{Leaf: s.Leaf()}
	e := must.Get(replay.New(s, opt).At(sessionfmt.After(s.Leaf())))
	job := compact.Job{Command: "reduce", Policy: keen()[0], Form: compact.AsAuto}
	r, err := job.Plan(e)
	if err != nil || len(r.Changes) == 0 {
		t.Fatal("nothing is planned", err)
	}
	b := s.NewBatch(s.Leaf(), time.UnixMilli(1790000000000))
	if err := r.Promise(s, opt); err == nil || !strings.Contains(err.Error(), "differ from the plan") {
		t.Errorf("nothing appended: %v", err)
	}
	must.Do(job.Store(b, r, ""))
	with := reopened(s, b)
	defer with.Close()
	if err := r.Promise(with, opt); err != nil {
		t.Errorf("what was planned: %v", err)
	}
}
