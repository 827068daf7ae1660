package cache_test

import (
	"fmt"
	"log"
	"slices"

	"ctxtool/internal/lens/cache"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// What a prompt cache could serve of each request, and what the provider served.
func Example() {
	s, err := sessionfmt.Open("../../../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r := replay.New(s, replay.Options{})
	l, err := ledger.Read(r, ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi})
	if err != nil {
		log.Fatal(err)
	}
	account, err := cache.Account(l, cache.Options{Leaf: s.Leaf()})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range slices.Collect(account.Rows)[:3] {
		fmt.Println(row.Entry, row.Prompt, row.Shared.Tokens, row.Recorded.CacheRead)
	}
	fmt.Println(account.Total.Requests)
	// Output:
	// 9ef3ac99 818 0 0
	// bbf04179 942 818 814
	// e28e290a 1389 942 938
	// 16
}
