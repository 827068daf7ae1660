package check

import (
	"ctxtool/replay"
)

var failedAnswer = Check{
	Code:     "failed-answer",
	Group:    "calls",
	Severity: Warning,
	Title:    "a failed or aborted answer that stays in the context",
	About: "The provider failed, or the user stopped the answer. What there is of it is part of every later " +
		"request.",
	Pi: "It keeps such answers in the context; since 0.87.0 it omits them by an edit before it tries " +
		"again.",
	Help: "`ctxtool edit SESSION POINT --omit` leaves it out.",
	leaf: (*walk).failedAnswer,
}

func (w *walk) failedAnswer(e *replay.Envelope) error {
	msgs, err := w.request(e)
	for _, m := range msgs {
		if failed(m.facts) {
			w.add(m.rec, "the answer failed or was aborted, and is part of the next request")
		}
	}
	return err
}
