package diff

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestRemovedBy: a difference names the entry that removed a message: of patches that one, even if a
// compaction entry follows or an edit has omitted the message before, else the last compaction entry.
func TestRemovedBy(t *testing.T) {
	const (
		edit    = `"type":"context_edit","targetId":"m1","replacement":null`
		replace = `"type":"context_transform","transformerName":"t","schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"r","messages":[{"role":"user","content":"last"}]}]`
		compact = `"type":"compaction","summary":"a summary","firstKeptEntryId":"m3","tokensBefore":1`
	)
	for _, c := range []struct {
		entries []string
		want    string // what removed m1
	}{
		{[]string{replace}, "e0"},
		{[]string{edit, replace}, "e1"},
		{[]string{replace, compact}, "e0"},
		{[]string{compact, compact}, "e1"},
	} {
		var file strings.Builder
		file.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n")
		parent := "null"
		add := func(id, rest string) {
			fmt.Fprintf(&file, `{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z",%s}`+"\n", id, parent, rest)
			parent = fmt.Sprintf("%q", id)
		}
		for _, id := range []string{"m1", "m2", "m3"} {
			add(id, fmt.Sprintf(`"type":"message","message":{"role":"user","content":%q}`, id))
		}
		for k, rest := range c.entries {
			add(fmt.Sprintf("e%d", k), rest)
		}
		s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(file.String()), sessionfmt.Options{}))
		r := replay.New(s, replay.Options{Rules: replay.ByEnvelope})
		d := must.Get(must.Get(Between(r, s.Find("m3"), s.Leaf())).Diff(&tokens.Pi))
		got := ""
		for _, m := range d.Messages {
			if m.A == 0 {
				got = s.ID(m.Cause.Record)
			}
		}
		if got != c.want {
			t.Errorf("%v: removed by %s, want %s", c.entries, got, c.want)
		}
	}
}
