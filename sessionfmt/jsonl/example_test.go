package jsonl_test

import (
	"fmt"

	"ctxtool/sessionfmt/jsonl"
)

// A value keeps the bytes of its line.
func ExampleValue() {
	line := jsonl.Value(`{"type":"message","message":{"role":"user","content":[{"type":"text","text":"1.0 is a\tnumber"}]},"n":1.0}`)
	for _, block := range line.Get("message").Get("content").Blocks(jsonl.User) {
		fmt.Printf("%q %s\n", block.Text.Text(), line.Get("n"))
	}
	// Output: "1.0 is a\tnumber" 1.0
}
