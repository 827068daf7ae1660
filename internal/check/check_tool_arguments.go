package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var toolArguments = Check{
	Code:     "tool-arguments",
	Group:    "tools",
	Severity: Warning,
	Title:    "a call whose arguments do not fit the tool's schema",
	About:    "The arguments are held against the JSON Schema that the tool was declared with in that request.",
	Pi: "It first makes the arguments fit, where it can: `\"5\"` for a number becomes `5`, a null for what is " +
		"optional goes. Else it answers the call with an error.",
	Help: "Nothing, if it happens once. Else the schema asks for what the model does not give.",
	step: (*walk).toolArguments,
}

func (w *walk) toolArguments(step replay.Step) error {
	calls, err := w.called(step)
	for _, c := range calls {
		if c.fault != "" {
			w.add(step.Record, "the arguments of %s do not fit its schema: %s", sessionfmt.Quote(c.name), c.fault)
		}
	}
	return err
}
