package replay_test

import (
	"bytes"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestFewAllocations: opening, replaying and counting allocate for chunks of
// entries, not for each.
func TestFewAllocations(t *testing.T) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes = 4 << 20
	data := gen.Session(p.Shape)
	entries := 0
	n := testing.AllocsPerRun(5, func() {
		s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{Workers: 2}))
		defer s.Close()
		entries = s.Coverage.Entries
		e := must.Get(replay.New(s, replay.Options{Rules: replay.ByPi}).At(sessionfmt.After(s.Leaf())))
		if _, err := e.Count(&tokens.Pi); err != nil {
			t.Fatal(err)
		}
	})
	if n > float64(entries)/6 {
		t.Errorf("%.0f allocations for %d entries", n, entries)
	} else {
		t.Logf("%.0f allocations for %d entries", n, entries)
	}
}
