package replay_test

import (
	"fmt"
	"log"

	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

func open(name string) *sessionfmt.Session {
	s, err := sessionfmt.Open("../testdata/sessions/"+name, sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// The context that a request got, counted as pi's /context does.
func ExampleReplay_At() {
	s := open("demo.jsonl")
	defer s.Close()
	p, err := s.Point("request:7", s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	e, err := replay.New(s, replay.Options{}).At(p)
	if err != nil {
		log.Fatal(err)
	}
	n, err := e.Count(&tokens.Pi)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("system %d, tools %d, messages %d: %d tokens\n", n.System, n.Tools, n.Messages, n.Total)
	for m, err := range e.ContextMessages() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Kind.Role(), outline.MessageGist(m.Raw))
	}
	// Output:
	// system 295, tools 293, messages 346: 934 tokens
	// system preamble tools rules project_context cwd +read +bash +edit +grep
	// compactionSummary ## Goal Find out why TestCloseDrains (internal/outbox) is flaky, and fix it. ## Found work() called wg.Add(1) itself. When Close ran before a worker was scheduled, Wait saw 0 and returned early.
	// user No sleeping in tests. Fix the outbox: Close has to wait for every worker.
	// assistant The count has to go up before the goroutine starts, so `Add` moves into `New`. edit(internal/outbox/outbox.go) edit(internal/outbox/outbox.go)
	// toolResult edit: Replaced 1 block in internal/outbox/outbox.go.
	// toolResult edit: Replaced 1 block in internal/outbox/outbox.go.
	// assistant bash(go test -race -count=300 -cpu=1,2 ./internal/outbox)
	// toolResult bash: ok parcel/internal/outbox 9.871s
	// assistant Fixed. 600 runs with -race and one or two CPUs are clean; before, about one in 200 failed. - `New` counts the workers before it starts them. - `work` no longer counts itself.
	// bashExecution $ git diff --stat
	// bashExecution $ gh run list --limit 3
	// user Good. Now a regression test for it. Keep it in outbox_test.go, no new files.
}

// What each entry of a path did. An envelope of a step stays as it is.
func ExampleReplay_Walk() {
	s := open("good/transforms.jsonl")
	defer s.Close()
	r := replay.New(s, replay.Options{})
	for step, err := range r.Walk(s.Leaf()) {
		if err != nil {
			log.Fatal(err)
		}
		if step.Before != step.After {
			fmt.Println(s.ID(step.Record), s.Kind(step.Record), step.Before, step.After)
		}
	}
	// Output:
	// 0356381b user 0 1
	// 04246ca1 assistant 1 2
	// 05df453d toolResult 2 3
	// 062d409d assistant 3 4
	// 0873f405 user 4 5
	// 097cc35d assistant 5 6
	// 0b34a809 user 6 7
	// 0c06494a assistant 7 8
	// 0d88fcef context_transform 8 2
	// 0f63cde7 user 2 3
	// 104878c4 assistant 3 4
	// 12344fcf context_transform 4 3
	// 1474bbe2 assistant 3 4
	// 15817601 user 4 5
}
