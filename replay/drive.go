package replay

// A Walk replays a path entry by entry. The caller chooses each entry, which need not be a child of the one
// before, and may exist only in memory (sessionfmt.Session.Hold). Several walks over one session are
// independent.
type Walk struct {
	m       *machine
	stopped error
}

// Start returns a walk before the first entry.
func (r *Replay) Start(watch ...Observer) *Walk { return &Walk{m: newMachine(r, watch...)} }

// Next replays an entry after those replayed so far. An error ends the walk, as with
// Replay.Walk.
func (w *Walk) Next(rec int) (step Step, err error) {
	if w.stopped == nil {
		step, w.stopped = w.m.advance(rec)
	}
	return step, w.stopped
}

// Step returns the state of the walk as a step without an entry, whose envelope is that of the
// next request.
func (w *Walk) Step() Step { return Step{Record: -1, m: w.m} }

// Fork returns a walk that continues from the same state along another path. Observers are
// forked.
func (w *Walk) Fork() *Walk { return &Walk{w.m.fork(), w.stopped} }
