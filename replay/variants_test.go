package replay_test

import (
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestVariants: entries of variants of pi that leave others out.
func TestVariants(t *testing.T) {
	const head = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	said := func(id, up, text string) string {
		return `{"type":"message","id":"` + id + `","parentId":` + up + `,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"` + text + `"}}` + "\n"
	}
	before := head + said("u1", "null", "a") + said("u2", `"u1"`, "b") + said("u3", `"u2"`, "c")
	for _, test := range []struct{ entry, want string }{
		{`"reset","id":"x","parentId":"u3"`, "d"},
		{`"reset","id":"x","parentId":"u3","firstKeptEntryId":"u2"`, "b c d"},
		{`"reset","id":"x","parentId":"u3","firstKeptEntryId":"u9"`, "d"},
		{`"reset","id":"x","parentId":"u2","firstKeptEntryId":"u3"`, "d"},
		{`"compaction","id":"c","parentId":"u3","summary":"s","firstKeptEntryId":"u3","timestamp":"2026-01-01T00:00:02.000Z"}` + "\n" + `{"type":"reset","id":"x","parentId":"c","firstKeptEntryId":"u2"`, "b c d"},
		{`"compaction","id":"c","parentId":"u3","summary":"s","firstKeptEntryId":"u3","timestamp":"2026-01-01T00:00:02.000Z"}` + "\n" + `{"type":"reset","id":"x","parentId":"c"`, "d"},
		{`"reset","id":"r","parentId":"u3"}` + "\n" + `{"type":"compaction","id":"x","parentId":"r","summary":"s","firstKeptEntryId":"u2","timestamp":"2026-01-01T00:00:02.000Z"`, "s b c d"},
		{`"context_compaction","id":"x","parentId":"u3","deletedTargets":[{"kind":"entry","entryId":"u2"},{"kind":"entry","entryId":"u9"}]`, "a c d"},
		{`"context_compaction","id":"x","parentId":"u3","deletedTargets":[{"kind":"content_block","entryId":"u2"}]`, "a b c d"},
		{`"child_usage_attributed","id":"x","parentId":"u3","targetId":"u1"`, "a b c d"},
	} {
		s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(before+`{"type":`+test.entry+"}\n"+said("u4", `"x"`, "d")), sessionfmt.Options{}))
		defer s.Close()
		e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
		var all []string
		for m, err := range e.CachedMessages() {
			if err != nil {
				t.Fatal(err)
			}
			text := m.Raw.Get("content").ContentText()
			if _, of, ok := strings.Cut(text, "<summary>\n"); ok {
				text = of[:1]
			}
			all = append(all, text)
		}
		if got := strings.Join(all, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.entry, got, test.want)
		}
	}
}
