package stats_test

import (
	"fmt"
	"log"

	"ctxtool/stats"
)

func ExampleOptions_Summarize() {
	s, err := stats.Options{}.Summarize("../testdata/sessions/demo.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Name, s.Model)
	// Output:
	// Flaky TestCloseDrains amazon-bedrock/qwen.qwen3-32b-v1:0
}

func ExampleOptions_Read() {
	opt := stats.Options{Lenses: stats.Lenses[:1]}
	r, err := opt.Read("../testdata/sessions/demo.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for row := range opt.Sheets(r)[0].Cells {
		if n++; n <= 3 {
			fmt.Println(row...)
		}
	}
	// Output:
	// messages 46 21 toolResult, 17 assistant, 5 user, 2 bashExecution, 1 system
	// prompts 5 the longest took 4 requests
	// requests 17 12 toolUse, 4 stop, 1 error
}
