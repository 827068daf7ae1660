package replay

import (
	"bytes"
	"cmp"
)

// optionsSet overwrites what it gives. Null keeps the old value: there is no way
// to clear one.
var optionsSet = op{
	name:   "options_set",
	cached: true,
	check: func(v value) error {
		return cmp.Or(optionalText(v, "reasoning"), optionalNumber(v, "temperature"), optionalNumber(v, "maxTokens"))
	},
	fold: func(f *folded, v value, _ Origin) {
		set := func(to *value, name string) {
			if got := v.Get(name); !got.IsNull() {
				*to = bytes.Clone(got)
			}
		}
		set(&f.options.Reasoning, "reasoning")
		set(&f.options.Temperature, "temperature")
		set(&f.options.MaxTokens, "maxTokens")
	},
}
