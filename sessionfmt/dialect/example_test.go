package dialect_test

import (
	"fmt"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Whose session a file is follows from its first line.
func Example() {
	d := sessionfmt.Sniff(jsonl.Value(`{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{"id":"s"}}`))
	fmt.Println(d.Name)
	// Output: codex
}
