package sessionfmt

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// messageLine is a line as pi writes them: head first, escapes in its text.
func messageLine(text string) []byte {
	return fmt.Appendf(nil, `{"type":"message","id":"0a1b2c3d","parentId":"0a1b2c3c","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":%s},{"type":"toolCall","id":"t1","name":"bash","arguments":{"command":"ls"}}],"usage":{"input":1,"output":2}}}`,
		jsonl.AppendQuoted(nil, text))
}

// TestNoAllocation holds the hot path to no allocation at all.
func TestNoAllocation(t *testing.T) {
	line := messageLine(strings.Repeat("a \"quoted\" word\n\tand é, 漢 and 😀 more; ", 200))
	head := jsonl.NewHeadReader(jsonl.Pick{})
	var c jsonl.Cursor
	for name, read := range map[string]func(){
		"head":   func() { head.Read(line) },
		"prefix": func() { head.Prefix(line) },
		"cursor": func() {
			c.Reset(line)
			for key := range c.Members {
				if string(key) == "message" {
					for range c.Members {
						c.Value()
					}
				}
			}
		},
		"fields": func() {
			var f [2]jsonl.Value
			jsonl.Value(line).Fields(f[:], "message", "id")
		},
	} {
		if n := testing.AllocsPerRun(100, read); n > 0 {
			t.Errorf("%s: %.0f allocations a line", name, n)
		}
	}
}
