package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/lens/state"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestStatus: the last answer is found however much stands before and after it, and its cache
// is warm for as long as the provider keeps it. What follows the answer is estimated.
func TestStatus(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC)
	user := func(id, parent string, size int) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":%q}}`, id, parent, strings.Repeat("x", size))
	}
	const answer = `{"type":"message","id":"a","parentId":"u","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[],"provider":"anthropic","model":"claude-opus-4-5","stopReason":"stop","usage":{"input":10,"output":10,"cacheRead":0,"cacheWrite":80,"totalTokens":100%s}}}`
	for name, test := range map[string]struct {
		before, after int
		tail, more    string
		age           time.Duration
		context, warm int64
		finding       string
	}{
		"small":      {1, 1, "\n", "", time.Minute, 101, 240, ""},
		"cold":       {1, 1, "\n", "", time.Hour, 101, 0, ""},
		"long":       {1, 1, "\n", `,"cacheWrite1h":80`, time.Minute, 101, 3540, ""},
		"far down":   {3 << 20, 1, "\n", "", time.Minute, 101, 240, ""},
		"far up":     {1, 3 << 20, "\n", "", time.Minute, 100 + 3<<20/4, 240, ""},
		"too far up": {1, 9 << 20, "\n", "", time.Minute, 0, -1, ""},
		"damaged":    {1 << 20, 1, "\n{", "", time.Minute, 101, 240, "torn"},
	} {
		file := filepath.Join(t.TempDir(), "s.jsonl")
		text := strings.Join([]string{`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, user("u", "", test.before), fmt.Sprintf(answer, test.more), user("v", "a", test.after)}, "\n") + test.tail
		must.Do(os.WriteFile(file, []byte(text), 0o600))
		st, err := state.Of(file, at.Add(test.age), nil, sessionfmt.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		warm := int64(-1)
		if st.Warm != nil {
			warm = *st.Warm
		}
		if st.Context != test.context || warm != test.warm || st.Finding != test.finding {
			t.Errorf("%s: %+v, warm %d", name, *st, warm)
		}
	}
}
