package check

import (
	"ctxtool/replay"
)

var failedAnswer = Check{
	Code:     "failed-answer",
	Group:    "calls",
	Severity: Warning,
	Title:    "a failed or aborted answer that stays in the context",
	About: "The provider failed, or the user stopped the answer. What there is of it stays in the context: it " +
		"is shown, counted and summarised, and agents that do not look for it send it.",
	Pi: "It leaves such an answer out of each request, with the calls in it; a result of one is sent " +
		"without its call. Since 0.87.0 it omits the answer by an edit before it tries again.",
	Help: "`ctxtool edit SESSION POINT --omit` leaves it out.",
	leaf: (*walk).failedAnswer,
}

func (w *walk) failedAnswer(e *replay.Envelope) error {
	r, err := w.request(e)
	if err != nil {
		return err
	}
	for _, rec := range r.failed {
		w.add(rec, "the answer failed or was aborted, and is still in the context")
	}
	return nil
}
