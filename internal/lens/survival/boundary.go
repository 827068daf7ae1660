package survival

import (
	"strings"

	"ctxtool/internal/read/ops"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A Boundary describes what a compaction did to the messages that a provider gets. They are named
// by their numbers.
type Boundary struct {
	Gone      []int32 // those that the summary replaces, in order
	Kept      int     // messages after the summary
	FirstKept int     // record of the first of these, -1 for none
	Split     bool    // the first of these is within a turn

	Summary []int32 // the summary, and what else the entry put there
	all     replay.Messages
	Survival
}

// A Follower finds the compactions of a path while that is walked.
type Follower struct {
	before  replay.Messages
	carried Facts // that the last summary has
}

// Step returns the compaction that a step was, nil for any other step. Call it after each step.
func (f *Follower) Step(r *replay.Replay, s replay.Step) (b *Boundary, err error) {
	before := f.before
	f.before = s.Messages()
	if s.Did != replay.Compacted {
		return nil, nil
	}
	b = across(before, f.before, s.Record)
	b.Survival, err = b.survive(r, &f.carried)
	return b, err
}

// across describes the compaction at a record, from the messages before and after it.
func across(before, after replay.Messages, record int) *Boundary {
	b := &Boundary{FirstKept: -1, all: after}
	stays := map[replay.Piece]bool{}
	for _, number := range after.Without(before) {
		if p := after.Numbered(number); p.Sent() {
			stays[p.Identity()] = true
			if p.Origin().Record == record {
				b.Summary = append(b.Summary, number)
			}
		}
	}
	for _, number := range before.Without(after) {
		if p := before.Numbered(number); p.Sent() && !stays[p.Identity()] {
			b.Gone = append(b.Gone, number)
		}
	}
	b.Kept = after.Sent() - len(b.Summary)
	for i := range after.Len() {
		if p := after.Piece(i); b.Kept > 0 && p.Sent() && p.Origin().Record != record {
			b.FirstKept = p.Origin().Record
			b.Split = p.Kind() == jsonl.Assistant || p.Kind() == jsonl.ToolResult
			break
		}
	}
	return b
}

// survive finds the facts of the messages of a boundary that its summary has. Last holds the facts of
// the previous summary, which this one can lose; survive sets it to the facts of this one.
func (b *Boundary) survive(r *replay.Replay, last *Facts) (Survival, error) {
	var facts Facts
	load := r.NewReader()
	carried, summary := last, strings.Builder{}
	for _, number := range b.Summary {
		raw, err := load.Provider(b.all.Numbered(number))
		if err != nil {
			return Survival{}, err
		}
		summary.WriteString(raw.Get("content").ContentText() + "\n")
	}
	for _, number := range b.Gone {
		p := b.all.Numbered(number)
		// The summary of a patch is a message of the user.
		patched := p.Kind() == jsonl.User && r.Session.Kind(p.Origin().Record) == jsonl.Transform
		if patched || p.Kind() == jsonl.CompactionMessage {
			if carried != nil {
				facts, carried = *carried, nil // what it told can be lost now
			}
			continue
		}
		m, _, err := load.Message(p)
		if err != nil {
			return Survival{}, err
		}
		told := Tell(p.Kind(), m, p.Origin().Record)
		facts.take(&told)
	}
	s, found := facts.survive(summary.String())
	*last = found
	return s, nil
}

// MayCompact reports whether an entry of a kind can be a compaction.
func MayCompact(k jsonl.Kind) bool {
	return k == jsonl.Compaction || k == jsonl.Reset || k == jsonl.Transform
}

// Compacts reports whether a transform with that line is a compaction: by an op, or by its name.
func Compacts(line jsonl.Value) bool {
	_, applies := ops.Compacts(line)
	return applies || line.Get("transformerName").Is("compaction")
}
