package replay

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestList: a list is what a slice is after the same changes, and so is each of its snapshots and
// of the lists that share memory with it.
func TestList(t *testing.T) {
	type pair struct {
		list  list
		plain []int32
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		p := new(pool)
		all := []pair{{list: newList(p)}}
		rec := int32(0)
		add := func() int32 {
			rec++
			return p.add(Piece{rec: rec, pos: rec, op: -1, edit: -1, kind: jsonl.User})
		}
		for range 900 {
			is := &all[rnd.IntN(len(all))]
			l := &is.list
			number := add()
			switch first := rnd.IntN(l.n + 1); rnd.IntN(12) {
			case 0: // a branch, or a snapshot
				if len(all) < 5 {
					is.plain = slices.Clip(is.plain)
					all = append(all, *is)
				}
			case 1:
				if is.plain = slices.Clone(is.plain); first < l.n {
					l.set(first, number)
					is.plain[first] = number
				}
			case 2:
				if first = min(first, 3); rnd.IntN(5) == 0 {
					l.drop(first)
					is.plain = is.plain[first:]
				} else {
					l.cut(first, number)
					is.plain = slices.Concat([]int32{number}, is.plain[first:])
				}
			default:
				for range 1 + rnd.IntN(60) {
					number = add()
					l.push(number)
					is.plain = append(is.plain, number)
				}
			}
		}
		for k := range all {
			l, plain := &all[k].list, all[k].plain
			want := 0
			for i, number := range plain {
				want += one(p.at(number))
				if l.number(i) != number {
					t.Fatalf("message %d is %d, want %d", i, l.number(i), number)
				}
			}
			if l.n != len(plain) || l.shown != want {
				t.Fatalf("%d messages, %d shown, want %d, %d", l.n, l.shown, len(plain), want)
			}
			var differ []int
			was := all[0].plain
			for i := range max(len(was), len(plain)) {
				if i >= min(len(was), len(plain)) || was[i] != plain[i] {
					differ = append(differ, i)
				}
			}
			if got := slices.Collect(l.differs(&all[0].list)); !slices.Equal(got, differ) {
				t.Fatalf("differs at %d places, want %d", len(got), len(differ))
			}
			had := map[int32]bool{}
			for _, number := range was {
				had[number] = true
			}
			without := slices.DeleteFunc(slices.Clone(plain), func(number int32) bool { return had[number] })
			m := snapshot(l)
			if got := m.Without(snapshot(&all[0].list)); !slices.Equal(got, without) || m.Sent() != want {
				t.Fatalf("%d messages that the other has not, want %d; %d sent, want %d", len(got), len(without), m.Sent(), want)
			}
		}
	}
}

// snapshot returns the messages of a list.
func snapshot(l *list) Messages { return Messages{&version{list: *l}, int32(l.n)} }
