package replay

import "ctxtool/sessionfmt"

// A Cut is what a compaction entry did to the history, and whether a patch could
// have done it: one with a compaction_apply in it, right before the entry.
type Cut struct {
	Record int
	Above  int // the cut before it on its path, as an index of the list; -1 for none
	// Index is the patch's firstKeptMessageIndex: where in the cached messages of
	// the request the first kept one stands.
	Index int
	// Why says why no patch leaves the same envelope after every later entry. It is
	// empty where one does.
	Why string
	// Revives says that the entry would mean something else if the compactions
	// before it were patches: it brings back what they cut.
	Revives bool
	// Direct says that nothing but labels lies between the entry and the compaction
	// before it.
	Direct bool
}

// Cuts are the compactions of the whole file that count by the envelope rules: all
// but those that only repeat a transform. What stands behind a patch at which a
// replay stops, or below a cycle of parents, is not among them. One before another
// on a path comes before it.
func (r *Replay) Cuts() (cuts []Cut, err error) {
	any := false
	for i := range r.Session.Len() {
		any = any || r.Session.Kind(i) == sessionfmt.Compaction
	}
	if !any {
		return nil, nil
	}
	quiet := *r // findings are for who replays
	quiet.Rules = ByEnvelope
	start := func() observer { return &cutter{list: &cuts, last: -1} }
	for _, err := range quiet.walkTree(quiet.Session.Tree(), watching{start: start}) {
		if err != nil && !Stopped(err) {
			return nil, err
		}
	}
	return cuts, nil
}
