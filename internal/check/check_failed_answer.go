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
	r, err := w.request(e)
	if err != nil {
		return err
	}
	for _, rec := range r.failed {
		w.add(rec, "the answer failed or was aborted, and is part of the next request")
	}
	return nil
}
