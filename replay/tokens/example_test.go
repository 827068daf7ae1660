package tokens_test

import (
	"fmt"
	"log"

	"ctxtool/replay/tokens"
)

func ExampleFind() {
	c, err := tokens.Find("o200k")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Text([]byte("A piece of text.")), c.Estimates())
	fmt.Println(tokens.Pi.Name, tokens.Pi.Of(len("A piece of text.")), tokens.Pi.Estimates())
	// Output:
	// 5 false
	// chars4 4 true
}
