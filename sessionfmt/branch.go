package sessionfmt

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// A BranchFile is a new session made of one path of another.
type BranchFile struct {
	ID      string // of the new session
	Entries int    // taken over from the path
	Labels  int    // set again behind them

	s      *Session
	time   string // of the new session
	header []byte
	path   []int
	up     map[int]Value // new parents, of entries whose own is not taken over
	kept   map[int]Value // new first kept entries, of compactions whose own is not
	labels []byte
}

// Branch makes a session of the path to record leaf, as pi does it (spec/pi-1.5.md
// 3): all entries of the path but labels, which are set again at its end, with the
// times that they had, for what is in it. What followed a label follows the entry
// above it, so nothing is cut off. file is how the new session names this one, now
// its time; its id is made from those, so that it is the same each time.
func (s *Session) Branch(leaf int, file string, now time.Time) (*BranchFile, error) {
	if err := s.refuseVersion(); err != nil {
		return nil, s.at(err)
	}
	if s.Version < 3 {
		return nil, s.at(&Error{Err: fmt.Errorf("its format is version %d, and a new session has 3", s.Version), Hint: "ctxtool migrate gives the file today's shape"})
	}
	if s.header < 0 {
		return nil, s.at(&Error{Err: errors.New("it has no session header"), Hint: "ctxtool repair mends it"})
	}
	path, found := s.Path(leaf)
	if len(found) > 0 || len(path) > 0 && s.records[path[0]].up > 0 {
		return nil, s.at(&Error{Err: errors.New("the path to that point has no beginning: parents go round in a circle"), Hint: "ctxtool repair mends it"})
	}
	b := &BranchFile{s: s, time: isoTime(now.UnixMilli()), up: map[int]Value{}, kept: map[int]Value{}}
	if err := b.newHeader(leaf, file, now); err != nil {
		return nil, err
	}
	if err := b.take(path); err != nil {
		return nil, err
	}
	return b, b.label()
}

// newHeader makes the header. pi writes these members in this order.
func (b *BranchFile) newHeader(leaf int, file string, now time.Time) error {
	line, err := b.s.NewReader().Line(b.s.header)
	if err != nil {
		return err
	}
	at := ""
	if leaf >= 0 {
		at = b.s.ID(leaf)
	}
	sum := sha256.Sum256([]byte(line.Get("id").Text() + "\n" + at + "\n" + now.UTC().Format(time.RFC3339Nano)))
	var id [16]byte // a UUID of version 7: the time, and then what is random in others
	ms := uint64(now.UnixMilli())
	for k := range 6 {
		id[k] = byte(ms >> (40 - 8*k))
	}
	copy(id[6:], sum[:10])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	b.ID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	b.header = fmt.Appendf(nil, `{"type":"session","version":3,"id":"%s","timestamp":"%s"`, b.ID, b.time)
	if cwd := line.Get("cwd"); cwd.Exists() {
		b.header = append(append(b.header, `,"cwd":`...), cwd...)
	}
	if file != "" {
		b.header = AppendQuoted(append(b.header, `,"parentSession":`...), file)
	}
	b.header = append(b.header, '}')
	return nil
}

// isoTime is a time as pi writes it.
func isoTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// take decides what is taken over of a path: all but labels. An entry below one
// gets the parent that this had, and a compaction that keeps from one on keeps from
// the next entry on.
func (b *BranchFile) take(path []int) error {
	s, r := b.s, b.s.NewReader()
	above, skipped := Value("null"), false
	next := map[int]Value{} // of labels, the id of the entry that follows
	var waiting []int
	for _, i := range path {
		if s.records[i].kind == Label {
			skipped = true
			waiting = append(waiting, i)
			continue
		}
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		id := bytes.Clone(line.Get("id"))
		if !Value(id).Truthy() {
			return &Error{Pos: s.Pos(i), Err: errors.New("it has no id, and nothing can follow it"), Hint: "ctxtool repair mends it"}
		}
		if skipped {
			b.up[i] = above
		}
		for _, l := range waiting {
			next[l] = id
		}
		if s.records[i].kind == Compaction {
			if to, ok := next[s.FindValue(line.Get("firstKeptEntryId"))]; ok && s.FindValue(line.Get("firstKeptEntryId")) != i {
				b.kept[i] = to
			}
		}
		above, skipped, waiting = id, false, nil
		b.path = append(b.path, i)
	}
	b.Entries = len(b.path)
	return nil
}

// label sets again the labels of what is taken over, one after the other.
func (b *BranchFile) label() error {
	s, r := b.s, b.s.NewReader()
	taken := map[int]bool{}
	for _, i := range b.path {
		taken[i] = true
	}
	last := map[int]int{} // of targets, the record of the label that counts
	var order []int
	for i := range s.records {
		if s.records[i].kind != Label {
			continue
		}
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		target := s.FindValue(line.Get("targetId"))
		if !taken[target] {
			continue
		}
		if line.Get("label").Text() == "" {
			delete(last, target)
			continue
		}
		last[target] = i
		order = append(order, i)
	}
	parent := Value("null")
	if n := len(b.path); n > 0 {
		line, err := r.Line(b.path[n-1])
		if err != nil {
			return err
		}
		parent = bytes.Clone(line.Get("id"))
	}
	used := map[string]bool{}
	for _, i := range order {
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		target := line.Get("targetId")
		if last[s.FindValue(target)] != i {
			continue
		}
		own := []Field{{"targetId", target}, {"label", line.Get("label")}}
		at := line.Get("timestamp")
		if !at.Exists() {
			at = AppendQuoted(nil, b.time) // the first that is known of it
		}
		base := []byte(`"timestamp":` + string(at))
		id := makeID(parent.Text(), appendEntry(nil, Label, own, base), func(id string) bool { return used[id] || s.Find(id) >= 0 })
		used[id] = true
		base = fmt.Appendf(nil, `"id":"%s","parentId":%s,%s`, id, parent, base)
		b.labels = append(appendEntry(b.labels, Label, own, base), '\n')
		parent = AppendQuoted(nil, id)
		b.Labels++
	}
	return nil
}

// WriteTo writes the new session.
func (b *BranchFile) WriteTo(w io.Writer) (n int64, err error) {
	write := func(line []byte) {
		if err == nil {
			var k int
			k, err = w.Write(line)
			n += int64(k)
		}
	}
	write(append(b.header, '\n'))
	r := b.s.NewReader()
	for _, i := range b.path {
		line, lineErr := r.Line(i)
		if lineErr != nil {
			return n, lineErr
		}
		var fields []Field
		if up, ok := b.up[i]; ok {
			fields = append(fields, Field{"parentId", up})
		}
		if kept, ok := b.kept[i]; ok {
			fields = append(fields, Field{"firstKeptEntryId", kept})
		}
		if fields != nil {
			line = line.AppendEdited(nil, fields...)
		}
		write(line)
		write([]byte{'\n'})
	}
	write(b.labels)
	return n, err
}

// A Tree is the whole of a session's tree, of which a path is one way. Every
// entry is in it once: one whose parent is not there is a root, and where parents
// go round in a circle the first of the file is.
type Tree struct {
	Roots []int

	s           *Session
	first, next []int32 // children in the order of the file; -1 for none
	size, tip   []int32 // of the subtree: entries, and the last of the file
}

// Tree links the session's entries from the roots down.
func (s *Session) Tree() *Tree {
	n := len(s.records)
	t := &Tree{s: s, first: filled(n), next: filled(n), size: make([]int32, n), tip: make([]int32, n)}
	for i := n - 1; i >= 0; i-- { // so that lists of children are in file order
		switch p := s.Parent(i); {
		case !s.records[i].kind.IsEntry():
		case p < 0 || p == i:
			t.Roots = append(t.Roots, i)
		default:
			t.next[i], t.first[p] = t.first[p], int32(i)
		}
	}
	slices.Reverse(t.Roots)
	t.sum(t.order())
	return t
}

func filled(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = -1
	}
	return list
}

// order lists the entries, parents before children. It makes roots of what no
// root leads to.
func (t *Tree) order() []int32 {
	n := len(t.s.records)
	order := make([]int32, 0, n)
	seen := make([]bool, n)
	visit := func(root int) {
		from := len(order)
		order = append(order, int32(root))
		seen[root] = true
		for k := from; k < len(order); k++ {
			for c := range t.Children(int(order[k])) {
				if !seen[c] {
					seen[c] = true
					order = append(order, int32(c))
				}
			}
		}
	}
	for _, r := range t.Roots {
		visit(r)
	}
	for i := range n {
		if !seen[i] && t.s.records[i].kind.IsEntry() {
			t.unlink(i)
			t.Roots = append(t.Roots, i)
			visit(i)
		}
	}
	slices.Sort(t.Roots)
	return order
}

// unlink takes an entry from its parent's children.
func (t *Tree) unlink(i int) {
	at := &t.first[t.s.Parent(i)]
	for *at != int32(i) {
		at = &t.next[*at]
	}
	*at = t.next[i]
	t.next[i] = -1
}

// sum works out sizes and tips from the leaves up.
func (t *Tree) sum(order []int32) {
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		t.size[i]++
		t.tip[i] = max(t.tip[i], i)
		for c := range t.Children(int(i)) {
			t.size[i] += t.size[c]
			t.tip[i] = max(t.tip[i], t.tip[c])
		}
	}
}

// Children are the entries whose parent is record i, in the order of the file.
func (t *Tree) Children(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := t.first[i]; c >= 0 && yield(int(c)); c = t.next[c] {
		}
	}
}

// Size is the number of entries at record i and below.
func (t *Tree) Size(i int) int { return int(t.size[i]) }

// Tip is the record at i or below that stands last in the file.
func (t *Tree) Tip(i int) int { return int(t.tip[i]) }
