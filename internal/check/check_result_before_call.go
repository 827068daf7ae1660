package check

var resultBeforeCall = Check{
	Code:     "result-before-call",
	Group:    "calls",
	Severity: Error,
	Title:    "a tool result before its call",
	About: "The call comes only below the result: lines were put in another order. Providers refuse such a " +
		"request.",
	Pi:    "It sends both as they stand, and the provider refuses them.",
	Help:  "Put the lines in order. `ctxtool repair --answer-calls` omits the result by a context edit.",
	facts: findEarly,
}

func findEarly(x *subject) {
	p := x.pairs()
	for _, rec := range p.uncalled {
		if call, early := p.early[rec]; early {
			x.add(rec, "its call comes only below it, on line %d", x.s.Line(call))
		}
	}
}
