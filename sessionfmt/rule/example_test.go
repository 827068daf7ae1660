package rule_test

import (
	"fmt"

	"ctxtool/sessionfmt/rule"
)

// A request is exact if each rule that it used was compared with the program.
func Example() {
	used := rule.Of(rule.Prompt, rule.Answer)
	fmt.Println(used.Has(rule.Prompt), used.Has(rule.Compaction))
	// Output: true false
}
