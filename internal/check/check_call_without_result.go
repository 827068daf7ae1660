package check

var callWithoutResult = Check{
	Code:     "call-without-result",
	Group:    "calls",
	Severity: Error,
	Title:    "a tool call without a result",
	About: "Providers want a result for each call. The agent was stopped between the two, or the entry of " +
		"the result was lost.",
	Pi: "It sends `No result provided` as an error in place of the result; agents that do not are " +
		"refused with every later request.",
	Help: "`ctxtool repair --answer-calls` answers calls at the end of the conversation with such a " +
		"result, and omits others by a context edit.",
	facts: findUnanswered,
}

func findUnanswered(x *subject) {
	for _, rec := range x.pairs().unanswered {
		x.add(rec, "it calls a tool and gets no result")
	}
}
