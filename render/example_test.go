package render_test

import (
	"fmt"
	"log"
	"os"

	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

const session = "../testdata/sessions/good/linear.jsonl"

func ExampleSessions() {
	s, err := stats.Options{}.Summarize(session)
	if err != nil {
		log.Fatal(err)
	}
	if err := render.Sessions([]*stats.Summary{s}).Write(os.Stdout, "text", render.Screen{Width: 80}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// time              title                        context use   cost  id
	// 2026-10-05 08:31  What does the Makefile's c…   1%    1.5k  $0.01  01a10b2f-1fb8
	//
	// 1 session, $0.01
}

func ExampleReport() {
	o := &stats.Options{Lenses: stats.Lenses[:1]}
	r, err := o.Read(session)
	if err != nil {
		log.Fatal(err)
	}
	o.Finish(r)
	if err := render.Report(o, r).Write(os.Stdout, "markdown", render.Screen{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ### session
	//
	// | what | number | of which |
	// | --- | ---: | --- |
	// | messages | 6 | 3 assistant, 2 user, 1 toolResult |
	// | prompts | 2 | the longest took 2 requests |
	// | requests | 3 | 2 stop, 1 toolUse |
	// | models | 1 | 3 anthropic/claude-sonnet-4-5 |
	// | tool calls | 1 | 1 ok |
	// | branches | 1 |  |
	// | time |  | 2026-10-05 08:30 to 2026-10-05 08:31, 1m00s |
	//
	// ### session: tool calls
	//
	// | tool | calls | ok | asked | got |
	// | --- | ---: | ---: | ---: | ---: |
	// | read | 1 | 1 | 19 | 74 |
}

func ExampleContext() {
	s, err := sessionfmt.Open(session, sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.Point{Record: s.Leaf()})
	if err != nil {
		log.Fatal(err)
	}
	if err := render.Context(e).Write(os.Stdout, "summary", render.Screen{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # Context Usage
	//
	// [░░░░░░░░░░░░░░░░░░░░] anthropic/claude-sonnet-4-5 · ~1.5k/200k tokens (1%)
	//
	// - system: not in the file
	// - tools: not in the file
	// - messages: ~63 (0.0%) (cached 6)
	// - not in the file: ~1.4k
	//
	// Context: 1470 tokens, 0.7% of the window, as the provider recorded. `ctxtool replay -f context` prints its messages, `-f full` all of it.
	// How it is known: a session of pi: messages exact, system prompt and tools not in the file.
	// System prompt and tools are not in this file; `--baseline FILE` takes them from another.
}

func ExampleValue_Forms() {
	fmt.Println(render.Context(nil).Forms())
	// Output:
	// [summary full json context llm native anthropic openai-chat openai-responses google]
}
