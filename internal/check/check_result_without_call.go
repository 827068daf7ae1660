package check

var resultWithoutCall = Check{
	Code:     "result-without-call",
	Group:    "calls",
	Severity: Error,
	Title:    "a tool result without its call",
	About: "No answer above it makes the call that it is for, or the call has a result already. Providers " +
		"refuse such a request, and every later one.",
	Pi:    "It sends the result as it is, and the provider refuses it.",
	Help:  "`ctxtool repair --answer-calls` omits it by a context edit.",
	facts: findUncalled,
}

func findUncalled(x *subject) {
	p := x.pairs()
	for _, rec := range p.uncalled {
		switch _, early := p.early[rec]; {
		case early:
		case p.answered[rec]:
			x.add(rec, "its call has a result already")
		default:
			x.add(rec, "no answer above it makes the call that it is for")
		}
	}
}
