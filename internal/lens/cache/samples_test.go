package cache_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestSamples: the account of all branches, and of the leaf's path.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r := replay.New(s, replay.Options{Lenient: true})
		l := must.Get(ledger.Read(r, ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
		for _, opt := range []cache.Options{{Leaf: s.Leaf(), All: true}, {Leaf: s.Leaf(), Broken: true}} {
			account, err := cache.Account(l, opt)
			if err != nil {
				return append(lines, err.Error())
			}
			for row := range account.Rows {
				lines = append(lines, fmt.Sprintf("%s prompt %d shared %s, recorded %s, %s", row.Entry, row.Prompt,
					golden.Digest(row.Shared), golden.Digest(row.Recorded), golden.Digest(row)))
			}
			lines = append(lines, fmt.Sprintf("all %t: %d requests, worst %s, endless %v, %s", opt.All, account.Total.Requests,
				golden.Digest(account.Worst), account.Endless(), golden.Digest(account.Total)))
		}
		return lines
	})
}
