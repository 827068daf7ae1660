package main

import (
	"bufio"

	"ctxtool/render"
	"ctxtool/replay"
)

// html writes a session as a page for browsers.
func (o *renderOptions) html(e *env, r *replay.Replay, leaf int) error {
	h := &render.HTML{Session: r.Session, Replay: r, Leaf: leaf, Redacted: e.redactor != nil}
	return e.answer(&o.answer, []string{r.Session.Name}, func(w *bufio.Writer) error { return h.Write(w) })
}
