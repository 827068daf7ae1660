package sessionfmt

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"ctxtool/sessionfmt/jsonl"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// A BranchFile is a new session with one path of another.
type BranchFile struct {
	ID      string // header of the new session
	Entries int    // records to copy from the path
	Labels  int    // labels to set again at the end

	s      *Session
	time   jsonl.Value // ids taken in the new session
	header []byte
	path   []int
	edits  map[int][]jsonl.Field // changed parents and first kept entries, by record
	labels *Batch
}

// Branch makes a session of the path to record leaf, as pi does (docs/session-format.md 11.4). It copies all
// entries of the path except labels, and sets labels of copied entries again at the end, with their own times.
// The child of a label gets the label's parent, so that nothing is cut off. file is the name under which the
// new session refers to this one, now is its time. The id is a hash of both, so that the result is
// reproducible.
func (s *Session) Branch(leaf int, file string, now time.Time) (*BranchFile, error) {
	if err := s.refuseVersion(); err != nil {
		return nil, s.at(err)
	}
	if s.Version < 3 {
		return nil, s.at(&Error{Err: fmt.Errorf("the format is version %d, and a new session requires 3", s.Version),
			Hint: "ctxtool migrate " + s.Name + " --write upgrades it"})
	}
	if s.header < 0 {
		return nil, s.at(&Error{Err: errors.New("it has no session header"), Hint: "run ctxtool repair"})
	}
	path, found := s.Path(leaf)
	if len(found) > 0 || len(path) > 0 && s.Parent(path[0]) >= 0 {
		return nil, s.at(&Error{Err: errors.New("the path to that point is a parent cycle"),
			Hint: "run ctxtool repair"})
	}
	b := &BranchFile{s: s, time: isoTime(now.UnixMilli()), edits: map[int][]jsonl.Field{}}
	if err := b.newHeader(leaf, file, now); err != nil {
		return nil, err
	}
	if err := b.take(path); err != nil {
		return nil, err
	}
	return b, b.label()
}

// newHeader makes the header, with its fields in pi's order.
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
	var id [16]byte // a UUID version 7: the time, then a hash instead of random bits
	ms := uint64(now.UnixMilli())
	for k := range 6 {
		id[k] = byte(ms >> (40 - 8*k))
	}
	copy(id[6:], sum[:10])
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	b.ID = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	b.header = fmt.Appendf(nil, `{"type":"session","version":3,"id":"%s","timestamp":%s`, b.ID, b.time)
	if cwd := line.Get("cwd"); cwd.Exists() {
		b.header = append(append(b.header, `,"cwd":`...), cwd...)
	}
	if file != "" {
		b.header = jsonl.AppendQuoted(append(b.header, `,"parentSession":`...), file)
	}
	b.header = append(b.header, '}')
	return nil
}

// isoTime returns a time as pi writes it.
func isoTime(ms int64) jsonl.Value {
	return time.UnixMilli(ms).UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`)
}

// take selects the entries of a path to copy: all but labels. The child of a label gets the label's parent; a
// compaction that keeps from a label on keeps from the next entry on.
func (b *BranchFile) take(path []int) error {
	s, r := b.s, b.s.NewReader()
	above, skipped := jsonl.Value("null"), false
	next := map[int]jsonl.Value{} // by the label's id: id of the entry that follows it
	var waiting []int
	for _, i := range path {
		if s.records[i].kind == jsonl.Label {
			skipped = true
			waiting = append(waiting, i)
			continue
		}
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		id := bytes.Clone(line.Get("id"))
		if !jsonl.Value(id).Truthy() {
			return &Error{Pos: s.Pos(i), Err: errors.New("it has no id, so no entry can follow it"),
				Hint: "run ctxtool repair"}
		}
		if skipped {
			b.edits[i] = append(b.edits[i], jsonl.Field{Name: "parentId", Value: above})
		}
		for _, l := range waiting {
			next[l] = id
		}
		if kind := s.records[i].kind; kind == jsonl.Compaction || kind == jsonl.Reset {
			kept := s.FindValue(line.Get("firstKeptEntryId"))
			if to, ok := next[kept]; ok && kept != i {
				b.edits[i] = append(b.edits[i], jsonl.Field{Name: "firstKeptEntryId", Value: to})
			}
		}
		above, skipped, waiting = id, false, nil
		b.path = append(b.path, i)
	}
	b.Entries = len(b.path)
	return nil
}

// label appends the labels of copied entries, each the child of the one before.
func (b *BranchFile) label() error {
	s, r := b.s, b.s.NewReader()
	taken, parent := map[int]bool{}, jsonl.Value("null")
	for _, i := range b.path {
		taken[i] = true
	}
	if n := len(b.path); n > 0 {
		parent = bytes.Clone(r.Entry(b.path[n-1]).Get("id"))
	}
	last := s.lastLabels(r)
	maps.DeleteFunc(last, func(target, _ int) bool { return !taken[target] })
	b.labels = &Batch{s: s, leaf: parent.Text(), parent: parent, names: s.NewNamer()}
	for _, i := range slices.Sorted(maps.Values(last)) {
		line := r.Entry(i)
		if b.labels.time = line.Get("timestamp"); !b.labels.time.Exists() {
			b.labels.time = b.time // the first time that is known
		}
		b.labels.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: line.Get("targetId")},
			jsonl.Field{Name: "label", Value: line.Get("label")})
	}
	b.Labels = b.labels.Len()
	return r.Err()
}

// Print writes the new session.
func (b *BranchFile) Print(w io.Writer) error {
	out := bufio.NewWriter(w)
	out.Write(append(b.header, '\n'))
	r := b.s.NewReader()
	for _, i := range b.path {
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		if edits := b.edits[i]; edits != nil {
			line = line.AppendEdited(nil, edits...)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	out.Write(b.labels.Lines())
	return out.Flush()
}
