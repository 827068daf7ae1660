package compact_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"ctxtool/compact"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// A reduction is planned, stored in a batch, and read back before it is appended.
func ExampleJob() {
	s, err := sessionfmt.Open("../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	opt := replay.Options{Rules: replay.ByPi, Window: 20000}
	e, err := replay.New(s, opt).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		log.Fatal(err)
	}
	policy, err := compact.FindPolicy("gsh")
	if err != nil {
		log.Fatal(err)
	}
	policy = policy.Copy()
	policy.Layer(&compact.Prune).Options.Protect = 500
	job := compact.Job{Command: "example", Policy: policy}
	plan, err := job.Plan(e)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Changes {
		fmt.Println(s.ID(c.Record), c.Pass, c.Action, c.Was, c.Now)
	}
	b := s.NewBatch(s.Leaf(), time.Now())
	if err := job.Store(b, plan, ""); err != nil {
		log.Fatal(err)
	}
	with, err := sessionfmt.OpenReader("with", s.With(b), sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer with.Close()
	fmt.Println(b.Len(), "entries,", plan.Promise(with, opt))
	// Output:
	// f8f96145 prune replace 593 8
	// 504b55d4 prune replace 691 8
	// 8478140e prune replace 167 8
	// 4 entries, <nil>
}

// A pass of one's own goes into a policy like any other: this one takes changelogs out of results.
func ExampleNewPass() {
	s, err := sessionfmt.Open("../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		log.Fatal(err)
	}
	pass := compact.NewPass("no-changelog", "take changelogs out", func(w *compact.Work) error {
		for i := range w.Messages {
			for k, b := range w.Messages[i].Blocks {
				if w.Live(i) && b.Kind == compact.ResultBlock && strings.HasPrefix(w.Text(i, k), "# Changelog") {
					w.Replace(i, k, "[a changelog]", "changelog")
				}
			}
		}
		return nil
	})
	policy := &compact.Policy{Name: "own", Counter: &tokens.Pi, Layers: []compact.Layer{{Pass: pass}}}
	job := compact.Job{Command: "example", Policy: policy}
	plan, err := job.Plan(e)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Changes {
		fmt.Println(s.ID(c.Record), c.Pass, c.Action, c.Was, c.Now)
	}
	// Output:
	// 849a4ea3 no-changelog replace 79 4
}
