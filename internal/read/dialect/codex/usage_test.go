package codex_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestUsages: of the input what was read from the cache, and written to it, is not counted again.
func TestUsages(t *testing.T) {
	for _, c := range []struct {
		usage string
		want  jsonl.Usage
	}{
		{`"input_tokens":100,"output_tokens":7,"total_tokens":107`, jsonl.Usage{Input: 100, Output: 7, Total: 107}},
		{`"input_tokens":100,"cached_input_tokens":60,"output_tokens":7,"total_tokens":107`, jsonl.Usage{Input: 40, CacheRead: 60, Output: 7, Total: 107}},
		{`"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":30,"output_tokens":7`, jsonl.Usage{Input: 10, CacheRead: 60, CacheWrite: 30, Output: 7}},
		{`"input_tokens":100,"cached_input_tokens":90,"cache_write_input_tokens":30`, jsonl.Usage{CacheRead: 90, CacheWrite: 30}},
	} {
		line := func(typ, payload string) string {
			return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:01Z","type":%q,"payload":%s}`+"\n", typ, payload)
		}
		text := line("session_meta", `{"id":"s1","cwd":"/work","cli_version":"0.100.0"}`) + line("turn_context", `{"model":"gpt-x"}`) +
			line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`) +
			line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]}`) +
			line("event_msg", `{"type":"token_count","info":{"last_token_usage":{`+c.usage+`},"total_token_usage":{`+c.usage+`}}}`)
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(text), sessionfmt.Options{}))
		r := s.NewReader()
		for i := range s.Len() {
			if !s.Answers(i) {
				continue
			}
			if got := must.Get(r.Line(i)).Get("message").Get("usage").Usage(); got != c.want {
				t.Errorf("%s: %+v, want %+v", c.usage, got, c.want)
			}
		}
		if s.Leaf() < 0 || !s.Answers(s.Leaf()) {
			t.Errorf("no answer in\n%s", text)
		}
	}
}
