package diff

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// align matches the messages of both requests: within one session by origin, and the rest by
// content.
func (d *Difference) align(c *tokens.Counter) error {
	d.sides = [2]side{newMessages(d.A.Envelope), newMessages(d.B.Envelope)}
	a, b := &d.sides[0], &d.sides[1]
	if err := a.measure(c, nil); err != nil {
		return err
	}
	if d.cause.span != nil {
		pairUp(a, b, func(s *side, i int) (replay.Piece, bool) { return s.ms[i].Place(), i < s.cached })
	}
	if err := b.measure(c, a); err != nil {
		return err
	}
	if d.cause.span != nil {
		pairUp(a, b, func(s *side, i int) (replay.Piece, bool) { return s.ms[i].Identity(), i < s.cached })
	}
	pairUp(a, b, func(s *side, i int) (uint64, bool) { return s.digests[i].Content, i < s.cached })
	pairUp(a, b, func(s *side, i int) (uint64, bool) { return s.digests[i].Content, true })
	still := d.unmoved()
	d.replacements(still)
	return d.rows(still)
}

// pairUp pairs unmatched messages of both sides with equal keys, in order.
func pairUp[K comparable](a, b *side, key func(s *side, i int) (K, bool)) {
	type full struct {
		key    K
		cached bool
	}
	begin := 0
	for begin < min(len(a.ms), len(b.ms)) && a.pair[begin] < 0 && b.pair[begin] < 0 {
		ka, ca := key(a, begin)
		kb, cb := key(b, begin)
		if ka != kb || ca != cb {
			break
		}
		a.pair[begin], b.pair[begin] = begin, begin
		begin++
	}
	loneA, loneB := a.alone(), b.alone()
	if len(loneA) == 0 || len(loneB) == 0 {
		return
	}
	waiting := map[full][]int{}
	for _, i := range loneA {
		k, cached := key(a, i)
		waiting[full{k, cached}] = append(waiting[full{k, cached}], i)
	}
	for _, j := range loneB {
		k, cached := key(b, j)
		if all := waiting[full{k, cached}]; len(all) > 0 {
			a.pair[all[0]], b.pair[j] = j, all[0]
			waiting[full{k, cached}] = all[1:]
		}
	}
}

// unmoved reports, for each message of B with a match in A, whether it kept its place relative
// to its neighbours. It finds the longest sequence that did; the others have moved.
func (d *Difference) unmoved() []bool {
	a, b := &d.sides[0], &d.sides[1]
	var ends []int // by length, the place in B at which the best chain ends
	before := make([]int, len(b.ms))
	for j, i := range b.pair {
		if i < 0 || (i < a.cached) != (j < b.cached) {
			continue
		}
		k := sort.Search(len(ends), func(k int) bool { return b.pair[ends[k]] >= i })
		before[j] = -1
		if k > 0 {
			before[j] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, j)
		}
		ends[k] = j
	}
	still := make([]bool, len(b.ms))
	if n := len(ends); n > 0 {
		for j := ends[n-1]; j >= 0; j = before[j] {
			still[j] = true
		}
	}
	return still
}

// replacements pairs the messages that a patch removed with those that it put there. For two
// sessions, where no patch is known, it pairs what lies between the same neighbours.
func (d *Difference) replacements(still []bool) {
	a, b := &d.sides[0], &d.sides[1]
	i := 0
	for j := 0; j <= len(b.ms); j++ {
		from := j
		for j < len(b.ms) && !still[j] {
			j++
		}
		end := len(a.ms)
		if j < len(b.ms) {
			end = b.pair[j]
		}
		waiting := map[replacementKey][]int{}
		for ; i < end && from < j; i++ {
			if k, ok := d.stand(a, i); ok && a.pair[i] < 0 {
				waiting[k] = append(waiting[k], i)
			}
		}
		last := -1
		for ; from < j; from++ {
			k, ok := d.stand(b, from)
			if !ok || b.pair[from] >= 0 {
				continue
			}
			for len(waiting[k]) > 0 && waiting[k][0] < last {
				waiting[k] = waiting[k][1:]
			}
			if all := waiting[k]; len(all) > 0 {
				last = all[0]
				a.pair[last], b.pair[from], still[from] = from, last, true
				waiting[k] = all[1:]
			}
		}
		i = end + 1
	}
}

// A replacementKey is what two messages have in common if one replaces the other.
type replacementKey struct {
	kind   jsonl.Kind
	cached bool
	by     Cause // the patch that removed the one and added the other
}

func (d *Difference) stand(s *side, i int) (replacementKey, bool) {
	k := replacementKey{kind: s.ms[i].Kind(), cached: i < s.cached}
	if d.cause.span == nil {
		return k, true
	}
	by, ok := s.ms[i].Origin(), true
	if s == &d.sides[0] {
		took := d.cause.span.to[1].removed(s.ms[i])
		if ok = took != nil && took.Do == replay.OpReplace; ok {
			by = took.By
		}
	}
	k.by = Cause{Record: by.By, Op: origin.Index(by.Op)}
	return k, ok && by.Op >= 0
}

// rows adds a row for each message, in the order of both requests.
func (d *Difference) rows(still []bool) error {
	a, b := &d.sides[0], &d.sides[1]
	i := 0
	for j := 0; j <= len(b.ms); j++ {
		from, end := j, len(a.ms)
		for j < len(b.ms) && !still[j] {
			j++
		}
		if j < len(b.ms) {
			end = b.pair[j]
		}
		for ; i < end; i++ { // removed messages come before added ones
			if a.pair[i] < 0 {
				d.add(d.removed(i))
			}
		}
		for ; from <= min(j, len(b.ms)-1); from++ {
			row, err := d.change(from, still[from])
			if err != nil {
				return err
			}
			d.add(row)
		}
		i = end + 1
	}
	return nil
}

// add adds a row, or extends the previous one if both are alike and have no text of their own.
func (d *Difference) add(row MessageChange) {
	if n := len(d.Messages); n > 0 {
		last := &d.Messages[n-1]
		next := func(was, is int) bool { return was < 0 && is < 0 || was >= 0 && was+last.Count == is }
		alike := last.Change == row.Change && last.Cause == row.Cause && next(last.A, row.A) && next(last.B, row.B)
		if alike && !last.Respelt && !row.Respelt {
			last.Count++
			last.Tokens += row.Tokens
			return
		}
	}
	d.Messages = append(d.Messages, row)
}

func (d *Difference) removed(i int) MessageChange {
	row := MessageChange{Change: Removed, A: i, B: -1, Count: 1, Tokens: int(d.sides[0].digests[i].Tokens)}
	var summary bool
	row.Cause, summary = d.cause.removed(d.sides[0].ms[i])
	if summary {
		row.Change = Summarised
	}
	return row
}

// change returns the change of message j of B.
func (d *Difference) change(j int, still bool) (MessageChange, error) {
	a, b := &d.sides[0], &d.sides[1]
	i, m := b.pair[j], b.ms[j]
	row := MessageChange{Change: Added, A: i, B: j, Count: 1, Tokens: int(b.digests[j].Tokens), Respelt: true}
	if i < 0 {
		row.Cause = d.cause.added(m)
		return row, nil
	}
	old := a.ms[i]
	same := d.cause.span != nil && old.Place() == m.Place()
	if alike := same || a.digests[i].Content == b.digests[j].Content; alike {
		row.Respelt = false
		if !same {
			was, err := a.value(i)
			if err != nil {
				return row, err
			}
			is, err := b.value(j)
			if err != nil {
				return row, err
			}
			row.Respelt = !bytes.Equal(was, is)
		}
	}
	switch {
	case same || a.digests[i].Content == b.digests[j].Content:
		row.Change = Kept
		if !still {
			row.Change, row.Cause = Moved, d.cause.moved(m)
		}
		return row, nil
	case d.cause.span != nil && old.Identity() == m.Identity():
		row.Change, row.Cause = Edited, d.cause.edited(old, m)
	default:
		row.Change, row.Cause = Replaced, d.cause.added(m)
	}
	cut, err := d.truncated(i, j)
	if cut {
		row.Change = Truncated
	}
	return row, err
}

// marker is the maximum length in bytes of a notice that text was cut.
const marker = 256

// truncated reports whether the text of a message is a truncation of the old one: its
// beginning, or its beginning and end, with a short notice of what is missing.
func (d *Difference) truncated(i, j int) (bool, error) {
	v, err := d.ValueA(i)
	old := appendTexts(nil, v.Get("content"))
	v, err2 := d.ValueB(j)
	is := appendTexts(nil, v.Get("content"))
	if err = cmp.Or(err, err2); err != nil || len(is) >= len(old) || len(is) == 0 {
		return false, err
	}
	head := 0
	for head < len(is) && is[head] == old[head] {
		head++
	}
	tail := 0
	for tail < len(is)-head && is[len(is)-1-tail] == old[len(old)-1-tail] {
		tail++
	}
	between := len(is) - head - tail
	return between <= marker && 2*between <= len(is) && head > 0, nil
}

// appendTexts appends the texts of a message's content.
func appendTexts(dst []byte, content jsonl.Value) []byte {
	if content.IsString() {
		return content.AppendText(dst)
	}
	for block := range content.Elements {
		for _, name := range []string{"text", "thinking", "arguments"} {
			if v := block.Get(name); v.IsString() {
				dst = v.AppendText(dst)
			} else {
				dst = append(dst, v...)
			}
		}
	}
	return slices.Clip(dst)
}
