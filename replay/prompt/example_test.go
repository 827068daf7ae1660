package prompt_test

import (
	"fmt"

	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
)

// A prompt that is one text has sections, which together are the text.
func ExampleSplit() {
	text := "You are careful.\n\n<project_context>\n\nNotes.\n\n</project_context>\n\nCurrent working directory: /w\n"
	for _, p := range prompt.Split([]prompt.Part{prompt.NewPart("content", text, origin.Baseline)}) {
		fmt.Printf("%s: %q\n", p.Name, p.Text)
	}
	// Output:
	// preamble: "You are careful.\n\n"
	// project_context: "<project_context>\n\nNotes.\n\n</project_context>\n\n"
	// cwd: "Current working directory: /w\n"
}
