package check

import (
	"sort"
	"strings"

	"ctxtool/sessionfmt"
)

var usageSize = Check{
	Code:     "usage-size",
	Group:    "limits",
	Severity: Warning,
	Title:    "a usage that nobody can have counted",
	About: "A number of tokens or dollars is below nothing, or beyond four billion tokens or a billion dollars for " +
		"one call. It counts as not recorded: sums of other calls stay what they are.",
	Pi:    "It adds the number to its totals, whatever it is.",
	Help:  "Nothing has to be done; what the call really took is not in the file.",
	facts: findWildUsage,
}

func findWildUsage(x *subject) {
	lines := x.s.NewReader()
	for _, f := range x.facts.all {
		if f.kind() != aWildUsage {
			continue
		}
		rec := sort.Search(x.s.Len(), func(i int) bool { return x.s.Offset(i) >= f.off() })
		line, err := lines.Line(rec)
		if err != nil {
			continue // what cannot be read is another check's
		}
		at := line
		if m := line.Get("message"); m.Get("usage").Exists() {
			at = m
		}
		usage := at.Get("usage")
		wild := usage.Usage().Wild
		value := usage
		for _, key := range strings.Split(wild, ".") {
			value = value.Get(key)
		}
		x.add(rec, "usage.%s is %s, which nobody can have counted: it counts as not recorded", wild, sessionfmt.Quote(string(value)))
	}
}
