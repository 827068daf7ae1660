package weigh_test

import (
	"fmt"

	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
)

// What a text counts for by pi's estimate.
func ExampleTextTokens() {
	fmt.Println(weigh.TextTokens(&tokens.Pi, []byte("Close returns before the workers do.")))
	// Output: 9
}
