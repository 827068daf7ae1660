package claude

import "ctxtool/sessionfmt/dialect"

// leafAt takes a last-prompt, which names the leaf or forgets it.
func (a *arranger) leafAt(l *dialect.Line, code dialect.Code) {
	to, ok := a.lead(l.Ref)
	switch {
	case len(l.Ref) == 0 && code == pinned:
		a.recorded, a.pinned = link{entry: -1}, false
	case len(l.Ref) == 0:
	case !ok:
		a.recorded, a.pinned = link{entry: -1}, false
	default:
		a.pinned = code == pinned || a.pinned && a.recorded == to
		a.recorded = to
	}
}

// leaf returns where the program would resume: the last entry, or the recorded one where that is on another
// branch or was chosen. Marks and attachments below it count with it.
func (a *arranger) leaf() int32 {
	switch {
	case a.based:
		return a.last.entry
	case a.tail[0] < 0:
		return a.tail[1]
	}
	leaf := a.tail[0]
	if at := a.end(a.recorded.entry); at >= 0 && (a.pinned || !a.above(at, leaf)) && !(a.cut > 0 && a.parents(at)) {
		leaf = at
		for e := at + 1; e < a.entries.Len(); e++ {
			if one := a.entries.At(e); one.parent == leaf && !one.conversation() {
				leaf = e
			}
		}
	}
	return leaf
}

// above reports whether an entry is on the path of another one.
func (a *arranger) above(e, of int32) bool {
	for ; of >= e; of = a.entries.At(of).parent {
		if of == e {
			return true
		}
	}
	return false
}

// parents reports whether a message follows an entry.
func (a *arranger) parents(e int32) bool {
	for k := e + 1; k < a.entries.Len(); k++ {
		if a.entries.At(k).parent == e && a.entries.At(k).conversation() {
			return true
		}
	}
	return false
}

// conversation reports whether an entry is a message of the user or the model.
func (e *entry) conversation() bool {
	switch e.code {
	case user, note, result, results, summary, answer, synthetic:
		return true
	}
	return false
}
