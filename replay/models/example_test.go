package models_test

import (
	"fmt"

	"ctxtool/replay/models"
)

func ExampleTable_Lookup() {
	m, how, ok := models.Builtin().Lookup("anthropic", "claude-sonnet-4-5")
	fmt.Println(how, ok, m.ContextWindow)
	fmt.Println(m.Price(models.Usage{Input: 1_000_000}).Total)
	// Output:
	// exact true 200000
	// 3
}
