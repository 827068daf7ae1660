package check

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestUsageGone: a usage that can no longer be read is a finding, and not left out.
func TestUsageGone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, must.Get(os.ReadFile("../../../testdata/sessions/bad/usage-size.jsonl")), 0o644))
	x := newSubject(name, Options{Choice: must.Get(Choose([]string{"usage-size"}, nil))})
	s := must.Get(sessionfmt.Open(name, x.opening()))
	defer s.Close()
	must.Do(os.Truncate(name, 0))
	x.run(s)
	if got := x.report.Findings; len(got) != 1 || got[0].Code != "unreadable" {
		t.Errorf("%+v", got)
	}
}

// TestCounted: the messages that are counted while a file is read count for as much in its context as read again.
func TestCounted(t *testing.T) {
	var counted atomic.Int64
	for _, data := range append(append(corpus.Agents(t), corpus.Own(t)...), corpus.Foreign(t)...) {
		x := newSubject(data.Name, Options{})
		s, err := sessionfmt.OpenReader(data.Name, bytes.NewReader(data.Data), x.opening())
		if err != nil {
			continue
		}
		x.run(s)
		known := func(p replay.Piece) (int, bool) {
			n, ok := x.counted(p)
			if ok {
				counted.Add(1)
			}
			return n, ok
		}
		got, err := seen(s, known)
		want, err2 := seen(s, nil)
		if got != want || (err == nil) != (err2 == nil) {
			t.Errorf("%s: %v (%v), want %v (%v)", data.Name, got, err, want, err2)
		}
		s.Close()
	}
	if counted.Load() < 100 {
		t.Errorf("%d messages", counted.Load())
	}
}

// TestTrials: what a finding hides is what its own repair gives, also where that is not made.
func TestTrials(t *testing.T) {
	saved := 0
	for _, data := range append(corpus.Agents(t), corpus.Own(t)...) {
		x := newSubject(data.Name, Options{})
		s, err := sessionfmt.OpenReader(data.Name, bytes.NewReader(data.Data), x.opening())
		if err != nil {
			continue
		}
		x.run(s)
		now, err := seen(s, nil)
		if err != nil || s.Version > 3 {
			continue
		}
		w := &weighing{subject: x, now: now}
		all, ok := w.repairedAll()
		each := &weighing{subject: x, now: now}
		if again, made := each.repaired(func(string, int) bool { return true }); made && (all != again || !ok) {
			t.Errorf("%s: repaired %v, want %v", data.Name, all, again)
		}
		w.readBroken()
		each.broken, each.named = w.broken, w.named
		for k := range x.report.Findings {
			f := &x.report.Findings[k]
			before := w.trials
			got, want := w.hidden(f), each.hidden(f)
			if f.Code == "unterminated" {
				then, _ := each.repaired(func(code string, line int) bool { return code == f.Code && line == f.Line })
				want = then.less(now)
			}
			if got != want && each.trials <= maxTrials {
				t.Errorf("%s: %s at line %d hides %v, want %v", data.Name, f.Code, f.Line, got, want)
			}
			if Find(f.Code).mend != 0 && w.trials == before {
				saved++
			}
		}
		s.Close()
	}
	if saved < 3 {
		t.Errorf("%d repairs were not made", saved)
	}
}
