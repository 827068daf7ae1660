package sessionfmt

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A PointError is the error for a POINT that matches no entry, or several.
type PointError struct {
	Point   string
	Nearest []string // similar names
	Reason  string
}

func (e *PointError) Error() string {
	s := fmt.Sprintf("point %q: %s", Quote(e.Point), e.Reason)
	if len(e.Nearest) > 0 {
		s += ": " + strings.Join(e.Nearest, ", ")
	}
	return s
}

// A Point is a place in a session: before or after a record.
type Point struct {
	Record int  // -1 for the root
	Before bool // the state before the entry instead of after it
}

// After returns the point after a record.
func After(rec int) Point  { return Point{Record: rec} }
func Before(rec int) Point { return Point{Record: rec, Before: true} }

// Point resolves a POINT. request:N is before the answer to request N, turn:N is after user prompt N, both
// counted on the path to record leaf; request:ID is before the answer with that id, on any branch. The error is
// a *PointError or an error of reading.
func (s *Session) Point(point string, leaf int) (Point, error) {
	num, request := strings.CutPrefix(point, "request:")
	if request {
		if answer := s.Find(num); answer >= 0 && s.Answers(answer) {
			return Point{answer, true}, nil
		}
		answer, err := s.nth(point, num, "request", s.Answers, leaf)
		if _, wrong := strconv.Atoi(num); wrong != nil {
			if answer, err = s.byPrefix(num, nil); err == nil && !s.Answers(answer) {
				err = &PointError{Point: point, Reason: "the entry answers no request"}
			}
		}
		return Point{answer, true}, err
	}
	rec, err := s.named(point, leaf)
	return Point{Record: rec}, err
}

// LeafAt returns the last record of the path to a point, -1 for none. A record that is its own parent has
// nothing before it but itself.
func (s *Session) LeafAt(p Point) int {
	if !p.Before {
		return p.Record
	}
	path, _ := s.Path(p.Record)
	switch n := len(path); {
	case n == 0 || path[n-1] != p.Record:
		return p.Record
	case n == 1:
		return -1
	default:
		return path[n-2]
	}
}

// named returns the record that a POINT of any other form names.
func (s *Session) named(point string, leaf int) (int, error) {
	switch num, turn := strings.CutPrefix(point, "turn:"); {
	case turn:
		return s.nth(point, num, "turn", s.prompts, leaf)
	case point == "leaf":
		return leaf, nil
	case point == "root":
		return -1, nil
	}
	if i := s.Find(point); i >= 0 {
		return i, nil
	}
	labels, err := s.Labels()
	if err != nil {
		return 0, err
	}
	if i, ok := labels[point]; ok {
		return i, nil
	}
	return s.byPrefix(point, labels)
}

func (s *Session) prompts(i int) bool { return s.Kind(i) == jsonl.User }

// nth returns record number num among those on the path to leaf for which is returns true.
func (s *Session) nth(point, num, what string, is func(rec int) bool, leaf int) (int, error) {
	n, err := strconv.Atoi(num)
	if err != nil {
		return 0, &PointError{Point: point, Reason: "no number"}
	}
	path, _ := s.Path(leaf)
	var of []int
	for _, i := range path {
		if is(i) {
			of = append(of, i)
		}
	}
	if n < 0 {
		n += len(of)
	}
	if n < 0 || n >= len(of) {
		return 0, &PointError{Point: point, Reason: "the path has " + plural(len(of), what)}
	}
	return of[n], nil
}

// byPrefix returns the only id that begins with point.
func (s *Session) byPrefix(point string, labels map[string]int) (int, error) {
	found := -1
	var ids []string
	if len(point) >= 2 {
		for i := range s.records {
			r := &s.records[i]
			if r.kind.IsEntry() && r.flags&flagShadowed == 0 && strings.HasPrefix(s.ID(i), point) {
				found = i
				ids = append(ids, s.ID(i))
			}
		}
	}
	switch {
	case len(ids) == 1:
		return found, nil
	case len(ids) > 1:
		return 0, &PointError{Point: point, Reason: fmt.Sprintf("ambiguous prefix of %d ids", len(ids)),
			Nearest: FirstFew(ids)}
	}
	return 0, &PointError{Point: point, Reason: "no such entry or label; nearest", Nearest: s.nearest(point, labels)}
}

// FirstFew joins at most five names for a message.
func FirstFew(names []string) []string {
	for i := range names {
		names[i] = Quote(names[i])
	}
	if len(names) > 5 {
		return append(names[:5:5], "...")
	}
	return names
}

// Labels returns the labels of the session with the records that they name, as of the end of the file: the last
// label of an entry counts, and an empty one removes it, on any branch.
func (s *Session) Labels() (map[string]int, error) {
	labels, r := map[string]int{}, s.NewReader()
	for _, i := range slices.Sorted(maps.Values(s.lastLabels(r))) {
		line := r.Entry(i)
		labels[line.Get("label").Text()] = s.FindValue(line.Get("targetId"))
	}
	return labels, r.Err()
}

// lastLabels returns, by labelled record, the record of its last label.
func (s *Session) lastLabels(r *Reader) map[int]int {
	last := map[int]int{}
	for i := range s.records {
		if s.records[i].kind != jsonl.Label {
			continue
		}
		line := r.Entry(i)
		if target := s.FindValue(line.Get("targetId")); line.Get("label").Text() == "" {
			delete(last, target)
		} else if target >= 0 {
			last[target] = i
		}
	}
	return last
}

// Edited returns the records that are targets of context edits anywhere in the file.
func (s *Session) Edited() (map[int]bool, error) {
	edited, r := map[int]bool{}, s.NewReader()
	for i := range s.records {
		if s.records[i].kind == jsonl.ContextEdit {
			edited[s.FindValue(r.Entry(i).Get("targetId"))] = true
		}
	}
	return edited, r.Err()
}

// nearest returns the names most similar to point.
func (s *Session) nearest(point string, labels map[string]int) []string {
	type near struct {
		name string
		far  int
	}
	var all []near
	add := func(name string) {
		if len(name) <= 64 && len(all) < 1<<17 {
			all = append(all, near{name, distance(point, name)})
		}
	}
	for name := range labels {
		add(name)
	}
	for i := range s.records {
		if s.records[i].kind.IsEntry() && len(s.idOf(i)) > 0 {
			add(s.ID(i))
		}
	}
	sorting.By(all, func(a, b near) int { return cmp.Or(a.far-b.far, cmp.Compare(a.name, b.name)) })
	var names []string
	for _, n := range all[:min(3, len(all))] {
		names = append(names, Quote(n.name))
	}
	return names
}

// distance returns the number of bytes to insert, remove or change to turn a into b.
func distance(a, b string) int {
	if len(a) > 64 {
		a = a[:64]
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// Offset returns the offset in bytes of the line of record i in the file. In another agent's session, where a
// line can make several entries in another order, it returns the record number.
func (s *Session) Offset(i int) int64 {
	if s.dialect != nil {
		return int64(i)
	}
	return s.records[i].off()
}

// LineSize returns the length in bytes of the line of record i, without its newline. If a line makes several
// entries, the first has its length, the others 0.
func (s *Session) LineSize(i int) int {
	if i > 0 && s.records[i-1].off() == s.records[i].off() && s.records[i-1].kind.IsEntry() {
		return 0
	}
	return int(s.records[i].size)
}

// Orphan reports whether record i names a parent that is not in the file.
func (s *Session) Orphan(i int) bool { return s.records[i].flags&flagOrphan != 0 }

// Shadowed reports whether a later record has the same id as record i.
func (s *Session) Shadowed(i int) bool { return s.records[i].flags&flagShadowed != 0 }

// Bare reports whether the line of record i has neither an id nor a parentId.
func (s *Session) Bare(i int) bool { return s.records[i].flags&(flagOwnID|flagOwnParent) == 0 }

// WrongID reports whether the id of record i is not a string.
func (s *Session) WrongID(i int) bool { return s.records[i].flags&flagWrongID != 0 }

// Time returns the time of record i in milliseconds since 1970. It is not ok if the record has
// no valid time, or if the session was opened without Options.Times.
func (s *Session) Time(i int) (ms int64, ok bool) {
	if i >= len(s.times) || s.times[i] <= untimed {
		return 0, false
	}
	return s.times[i], true
}

// Untimed reports whether record i belongs to another agent's session and its line has no timestamp.
func (s *Session) Untimed(i int) bool { return i < len(s.times) && s.times[i] == untimed }

const (
	noTime  = math.MinInt64   // the time is missing or invalid
	untimed = dialect.Untimed // a line of another agent without a time
)
