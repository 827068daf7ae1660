package hook_test

import (
	"fmt"
	"log"

	"ctxtool/replay/hook"
	"ctxtool/sessionfmt"
)

// What a patch would change in a session. Without counters a trial has verdicts and the difference.
func ExampleNew() {
	s, err := sessionfmt.Open("../../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	results, err := hook.Read("result.json", []byte(`{"patch": [{"op": "system_part_set", "scope": "cached", "partName": "style",
		"text": "Answer in one sentence.", "invalidateCacheReason": "answers are long"}]}`))
	if err != nil {
		log.Fatal(err)
	}
	trial, err := hook.New(s, results, hook.Options{Leaf: s.Leaf()})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range trial.Verdicts {
		fmt.Println(v.Name, v.Ruling)
	}
	if trial.Prefix != nil { // else an operation is refused
		fmt.Println(trial.Prefix.Messages, "of", trial.Prefix.Of, "messages stay cached")
	}
	// Output:
	// system_part_set apply
	// 0 of 19 messages stay cached
}
