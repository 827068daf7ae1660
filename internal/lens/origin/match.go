package origin

import (
	"math"
	"strings"

	"ctxtool/internal/read/linediff"
)

// A Certainty is how sure the origin of a line is.
type Certainty string

// The certainties.
const (
	Exact   Certainty = "exact"   // a call wrote this text here
	Edited  Certainty = "edited"  // a call wrote a similar text here, which was changed afterwards
	Likely  Certainty = "likely"  // a command line wrote it, or its text and its place are common
	Unknown Certainty = "unknown" // no session is known to have written it
)

// A spot is a line of a fragment.
type spot struct{ fragment, line int }

// A match is what is known of the origin of a line: the write, where it left the line, and how sure that is.
type match struct {
	by int // index of the write, -1 for none
	spot
	sure Certainty
}

// A target is a line whose origin is asked for.
type target struct {
	text  string
	limit int64 // a write after this time did not write it
	since int64 // the version before the one that it came with
}

// A matcher compares the lines of a file with what was written to it.
type matcher struct {
	writes    []*write
	fragments []fragment
	keys      [][]string        // of the lines of each fragment, see key
	index     map[string][]spot // lines that their fragment's write wrote, by key
	lines     []target
	own       []string // keys of the lines
	count     map[string]int
	taken     map[spot]bool // lines of fragments that are the match of a line
	out       []match
}

// key is a line without what formatters change most: space around and between words.
func key(text string) string { return strings.Join(strings.Fields(text), " ") }

// shortest is the length in bytes of the key of a line that tells something by itself, and telling that of a line
// that tells its place if no other line of the file is equal.
const shortest, telling = 4, 12

// matched returns what is known of each line.
func matched(lines []target, writes []*write, fragments []fragment) []match {
	m := &matcher{writes: writes, fragments: fragments, lines: lines, index: map[string][]spot{},
		count: map[string]int{}, taken: map[spot]bool{}, out: make([]match, len(lines))}
	for k, f := range fragments {
		keys := make([]string, len(f.lines))
		for i, l := range f.lines {
			if keys[i] = key(l.text); l.by == f.by && len(keys[i]) >= shortest {
				m.index[keys[i]] = append(m.index[keys[i]], spot{k, i})
			}
		}
		m.keys = append(m.keys, keys)
	}
	for i, l := range lines {
		m.own = append(m.own, key(l.text))
		m.count[m.own[i]]++
		m.out[i] = match{by: -1, sure: Unknown}
	}
	for i := range lines {
		m.byContent(i)
	}
	for i := range lines {
		m.beside(i, i-1, 1)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		m.beside(i, i+1, -1)
	}
	for i := range lines {
		m.changed(i)
	}
	return m.out
}

// byContent finds the write with a line's text whose neighbours fit best, the last one of equals.
func (m *matcher) byContent(i int) {
	best, second := match{by: -1}, match{by: -1}
	most, next := -1.0, -1.0
	for _, at := range m.index[m.own[i]] {
		f := &m.fragments[at.fragment]
		w := m.writes[f.by]
		if w.at > m.lines[i].limit {
			continue
		}
		score := float64(m.near(i, at, 1) + m.near(i, at, -1))
		if w.at > m.lines[i].since {
			score++
		}
		if w.Loose {
			score -= 0.5
		}
		if score >= most {
			second, next = best, most
			best, most = match{by: f.by, spot: at}, score
		} else if score >= next {
			second, next = match{by: f.by, spot: at}, score
		}
	}
	if best.by < 0 {
		return
	}
	w := m.writes[best.by]
	fits := m.near(i, best.spot, 1) + m.near(i, best.spot, -1)
	fresh := w.at > m.lines[i].since
	tied := second.by >= 0 && next == most && m.writes[second.by].of != w.of
	switch told := m.told(i, best.spot); {
	case fresh && (told || fits >= 2*around-1) && !w.Loose && !tied:
		best.sure = Exact
	case told, fresh && fits >= around:
		best.sure = Likely
	default:
		return
	}
	m.set(i, best)
}

// set sets the match of a line. The text of the line decides whether it still stands.
func (m *matcher) set(i int, to match) {
	if l := m.fragments[to.fragment].lines[to.line]; to.sure == Exact && l.text != m.lines[i].text {
		to.sure = Edited
	}
	m.out[i], m.taken[to.spot] = to, true
}

// near returns how many lines after or before a line, up to around, are those after or before a spot. What is
// beyond both ends of the file is equal too.
func (m *matcher) near(i int, at spot, step int) (n int) {
	f := &m.fragments[at.fragment]
	for n = 1; n <= around; n++ {
		t, l := i+step*n, at.line+step*n
		inText, inFragment := t >= 0 && t < len(m.own), l >= 0 && l < len(f.lines)
		switch {
		case !inText && !inFragment && (step < 0 && f.first || step > 0 && f.last):
			return around
		case !inText || !inFragment || m.own[t] != m.keys[at.fragment][l]:
			return n - 1
		}
	}
	return around
}

// told reports whether a line, or one of those next to it that the fragment has too, is the only one of its kind in
// the file: what stands elsewhere in it as well tells no place.
func (m *matcher) told(i int, at spot) bool {
	const farthest = 12
	alone := func(t int) bool { return len(m.own[t]) >= telling && m.count[m.own[t]] == 1 }
	if alone(i) {
		return true
	}
	for _, step := range [...]int{1, -1} {
		for n := 1; n <= farthest; n++ {
			t, l := i+step*n, at.line+step*n
			if t < 0 || t >= len(m.own) || l < 0 || l >= len(m.keys[at.fragment]) ||
				m.own[t] != m.keys[at.fragment][l] {
				break
			}
			if alone(t) {
				return true
			}
		}
	}
	return false
}

// beside gives a line without a match that of its neighbour's fragment, if that has the line next to it too.
func (m *matcher) beside(i, neighbour, step int) {
	if m.out[i].by >= 0 || neighbour < 0 || neighbour >= len(m.out) || m.out[neighbour].by < 0 {
		return
	}
	from := m.out[neighbour]
	at := spot{from.fragment, from.line + step}
	f := &m.fragments[at.fragment]
	if at.line < 0 || at.line >= len(f.lines) || m.keys[at.fragment][at.line] != m.own[i] {
		return
	}
	by := f.lines[at.line].by
	if by < 0 || m.writes[by].at > m.lines[i].limit || m.writes[by].at <= m.lines[i].since {
		return
	}
	sure := from.sure
	if sure == Edited {
		sure = Exact // of this line
	}
	if m.writes[by].Loose {
		sure = Likely
	}
	m.set(i, match{by, at, sure})
}

// alike is how similar a changed line is to what a call wrote, and farAway how far a neighbour may be.
const alike, farAway = 0.6, 6

// changed looks for what a line was before it was changed: a similar one at the same place between lines that a
// write left around it.
func (m *matcher) changed(i int) {
	if m.out[i].by >= 0 || len(m.own[i]) < shortest {
		return
	}
	before, after := m.anchor(i, -1), m.anchor(i, 1)
	least := alike
	switch {
	case before == nil && after == nil:
		return
	case before == nil || after == nil || before.fragment != after.fragment || before.line >= after.line:
		least = (1 + alike) / 2
	}
	best := match{by: -1}
	try := func(near *match, from, to int) {
		f := &m.fragments[near.fragment]
		for l := max(0, from); l < min(to, len(f.lines)); l++ {
			by := f.lines[l].by
			if by < 0 || m.writes[by].at > m.lines[i].limit || m.taken[spot{near.fragment, l}] {
				continue
			}
			if like := similar(m.keys[near.fragment][l], m.own[i]); like >= least {
				least, best = like, match{by, spot{near.fragment, l}, Edited}
				if m.writes[by].Loose || m.keys[near.fragment][l] == m.own[i] { // a common text, so near
					best.sure = Likely
				}
			}
		}
	}
	if before != nil && after != nil && before.fragment == after.fragment {
		try(before, before.line+1, after.line)
	} else {
		if before != nil {
			try(before, before.line+1, before.line+1+farAway)
		}
		if after != nil {
			try(after, after.line-farAway, after.line)
		}
	}
	if best.by >= 0 {
		m.set(i, m.later(i, best))
	}
}

// later returns the match of a changed line in the fragment of the last write that changed the line before: between
// the same lines.
func (m *matcher) later(i int, best match) match {
	at := best.spot
	keyAt := func(f, l int) string {
		if l < 0 || l >= len(m.keys[f]) {
			return ""
		}
		return m.keys[f][l]
	}
	before, after := keyAt(at.fragment, at.line-1), keyAt(at.fragment, at.line+1)
	for k := at.fragment + 1; k < len(m.fragments); k++ {
		f := &m.fragments[k]
		if m.writes[f.by].at > m.lines[i].limit {
			break
		}
		for l := range f.lines {
			if f.lines[l].by != f.by || m.taken[spot{k, l}] {
				continue
			}
			if keyAt(k, l-1) == before && keyAt(k, l+1) == after && similar(m.keys[k][l], m.own[i]) >= alike {
				best.by, best.spot = f.by, spot{k, l}
			}
		}
	}
	return best
}

// anchor returns the match of the nearest line before or after a line, nil if there is none near.
func (m *matcher) anchor(i, step int) *match {
	for n := 1; n <= farAway; n++ {
		if t := i + step*n; t < 0 || t >= len(m.out) {
			return nil
		} else if m.out[t].by >= 0 {
			return &m.out[t]
		}
	}
	return nil
}

// similar returns how much of two lines is common, 0 to 1.
func similar(a, b string) float64 {
	if a == "" || b == "" || len(a) > linediff.ShortLine || len(b) > linediff.ShortLine {
		return 0
	}
	if 2*min(len(a), len(b)) < int(math.Ceil(alike*float64(len(a)+len(b)))) {
		return 0
	}
	was, _ := linediff.Words(a, b)
	common := 0
	for _, piece := range was {
		if piece.Mark == ' ' {
			common += len(piece.Text)
		}
	}
	return float64(2*common) / float64(len(a)+len(b))
}
