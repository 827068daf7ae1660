package replay

import (
	"math"

	"ctxtool/sessionfmt"
)

// compactionApply puts a summary in place of the cached messages before an
// index. An index below 0 or missing counts as 0, a fraction is cut off, one
// beyond the end leaves the summary alone.
var compactionApply = op{
	name:   "compaction_apply",
	cached: true,
	check: func(v value) error {
		if err := needText(v, "summary"); err != nil {
			return err
		}
		return optionalNumber(v, "firstKeptMessageIndex")
	},
	apply: func(m *machine, s *state, v value, at message) error {
		f, ok := v.Get("firstKeptMessageIndex").Float()
		if cached := s.msgs.shown; s == m.now() && ok && (f < 0 || f > float64(cached) || f != math.Trunc(f)) {
			m.r.find("patch-index", int(at.rec), "op %d (compaction_apply): firstKeptMessageIndex %s, and the list has %d messages: below 0 counts as 0, beyond the end keeps nothing, a fraction is cut off",
				at.op, v.Get("firstKeptMessageIndex"), cached)
		}
		first := s.msgs.index(int(max(0, min(f, float64(s.msgs.n)))))
		at.form, at.kind = opSummary, sessionfmt.CompactionMessage
		if err := m.size(&at); err != nil {
			return err
		}
		if s == m.now() {
			m.watch.take(s.msgs.first(first), taker{at.origin(), true})
		}
		s.msgs.cut(first, at)
		return nil
	},
}
