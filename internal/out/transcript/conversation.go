package transcript

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Conversation is the entries of a path, or of the whole tree: first the path to the leaf,
// then the other branches, each from its fork.
type Conversation struct {
	Stopped error // where the replay stopped; later entries are included

	s       *sessionfmt.Session
	records []int32
	first   int             // number of the turn before the first record's
	before  map[int][]Block // blocks to insert before a record, at -1 after the last
	cuts    map[int]*Cut
	only    map[int]bool // the turns to show; nil for all
}

// NewConversation replays the path to record leaf, or the whole tree.
func NewConversation(r *replay.Replay, leaf int, all bool) (*Conversation, error) {
	c := &Conversation{s: r.Session, first: -1, before: map[int][]Block{}, cuts: map[int]*Cut{}}
	path, _ := c.s.Path(leaf)
	for _, rec := range path {
		c.records = append(c.records, int32(rec))
	}
	steps := r.Walk(leaf)
	if all {
		tree := c.s.Tree()
		c.branches(tree)
		steps = r.WalkTree(tree)
	}
	for step, err := range steps {
		switch {
		case replay.Stopped(err):
			c.Stopped = cmp.Or(c.Stopped, err)
		case err != nil:
			return nil, err
		case step.Did == replay.Compacted:
			c.cuts[step.Record] = &Cut{Before: step.Before, After: step.After}
		}
	}
	c.damage(r.AllFindings())
	return c, nil
}

// branches adds what is not on the path: at each fork, each branch down to its last entry in
// the file.
func (c *Conversation) branches(t *sessionfmt.Tree) {
	turns, turn := map[int32]int{}, -1 // at records, once they are listed
	shown := make([]bool, c.s.Len())
	list := func(rec int32) {
		if c.s.Kind(int(rec)) == jsonl.User {
			turn++
		}
		turns[rec], shown[rec] = turn, true
	}
	for _, rec := range c.records {
		list(rec)
	}
	start := func(rec, fork int) {
		b := Block{Kind: Branch, Record: rec, By: rec, Turn: -1}
		if fork >= 0 {
			b.Turn, b.Title = turns[int32(fork)], c.s.ID(fork)
		}
		turn = b.Turn
		c.before[rec] = append(c.before[rec], b)
		for tip := t.LastBelow(rec); rec >= 0; {
			list(int32(rec))
			c.records = append(c.records, int32(rec))
			on := -1
			for child := range t.Children(rec) {
				if t.LastBelow(child) == tip && !shown[child] {
					on = child
				}
			}
			rec = on
		}
	}
	done := 0 // records whose children are listed
	for _, root := range append([]int{-1}, t.Roots...) {
		if root >= 0 && !shown[root] {
			start(root, -1)
		}
		for ; done < len(c.records); done++ {
			for child := range t.Children(int(c.records[done])) {
				if !shown[child] {
					start(child, int(c.records[done]))
				}
			}
		}
	}
}

// alike is how many findings of a kind are listed separately.
const alike = 3

// damage inserts findings at their places: before the first record at that line or after it.
func (c *Conversation) damage(found []sessionfmt.Finding) {
	if len(found) == 0 {
		return
	}
	order := slices.Clone(c.records)
	slices.Sort(order)
	count := map[string]int{}
	for _, f := range found {
		if count[f.Code]++; count[f.Code] > alike {
			continue
		}
		rec := -1
		if k := sort.Search(len(order), func(k int) bool { return c.s.Reached(int(order[k]), f) }); k < len(order) {
			rec = int(order[k])
		}
		c.before[rec] = append(c.before[rec], Block{Kind: Finding, Record: rec, By: rec, Title: f.Code,
			Text: placed(f)})
	}
	for _, f := range found {
		if n := count[f.Code] - alike; n > 0 {
			count[f.Code] = 0
			c.before[-1] = append(c.before[-1], Block{Kind: Finding, Record: -1, By: -1, Title: f.Code,
				Text: fmt.Appendf(nil, "%d more like it: %s", n, f.Text)})
		}
	}
}

// placed returns a finding as text with its place in the file, if it has one.
func placed(f sessionfmt.Finding) []byte {
	file := phrase.If(f.File != "", "%s, ", sessionfmt.Clean(filepath.Base(f.File)))
	at := phrase.If(f.Line > 0, "line %d: ", f.Line) + phrase.If(f.Entry != "", "entry %s: ", sessionfmt.Quote(f.Entry))
	return []byte(file + at + f.Text)
}

// Since leaves out the records before the first one for which from returns true.
func (c *Conversation) Since(from func(rec int, line jsonl.Value) bool) error {
	lines := c.s.NewReader()
	for k, rec := range c.records {
		line, err := lines.Line(int(rec))
		if err != nil {
			return err
		}
		if from(int(rec), line) {
			c.records = c.records[k:]
			return nil
		}
		if c.s.Kind(int(rec)) == jsonl.User {
			c.first++
		}
	}
	c.records = nil
	return nil
}

// Until removes the records for which to returns false.
func (c *Conversation) Until(to func(rec int, line jsonl.Value) bool) (err error) {
	lines := c.s.NewReader()
	c.records = slices.DeleteFunc(c.records, func(rec int32) bool {
		line, wrong := lines.Line(int(rec))
		err = cmp.Or(err, wrong)
		return !to(int(rec), line)
	})
	return err
}

// chapterSize is the approximate size of a chapter, in bytes of the session.
const chapterSize = 2 << 20

// Chapters divides the conversation. Chapters can be read concurrently, and give the same
// blocks in order as the whole: a chapter begins where no call waits for its result.
func (c *Conversation) Chapters() []Blocks { return c.chapters(chapterSize) }

func (c *Conversation) chapters(most int) (all []Blocks) {
	turn, start, size := c.first, 0, 0
	from := turn // of the chapter
	for k, rec := range c.records {
		kind := c.s.Kind(int(rec))
		if b := c.before[int(rec)]; len(b) > 0 && b[0].Kind == Branch {
			turn = b[0].Turn
		}
		if size >= most && (kind == jsonl.User || kind == jsonl.Assistant) && len(c.before[int(rec)]) == 0 {
			all = append(all, c.chapter(c.records[start:k], from, false))
			start, from, size = k, turn, 0
		}
		size += c.s.LineSize(int(rec))
		if kind == jsonl.User {
			turn++
		}
	}
	return append(all, c.chapter(c.records[start:], from, true))
}

// chapter returns some of the records, with the blocks after the last one if end is set. first
// is the number of the turn before them.
func (c *Conversation) chapter(records []int32, first int, end bool) Blocks {
	return blocksOf(reader{turn: first, only: c.only}, func(r *reader) error {
		lines := c.s.NewReader()
		for _, rec := range records {
			i := int(rec)
			r.ready(c.before[i]...)
			if c.s.Kind(i) > jsonl.Reset { // unknown ones, headers
				continue
			}
			line, err := lines.Line(i)
			if err != nil || r.done {
				return err
			}
			kind, line := Shown(c.s, i, line)
			r.entry, r.lone = line, kind == jsonl.Assistant && !c.s.Answers(i)
			r.delegated = c.s.Delegated(i)
			r.item(kind, Block{Record: i, By: i, Cut: c.cuts[i]}, line)
		}
		if end {
			r.ready(c.before[-1]...)
		}
		return nil
	})
}

// Shown returns an entry as pages show it: a compaction of another agent is one, with its summary, and
// not the patch that it reads as.
func Shown(s *sessionfmt.Session, i int, line value) (jsonl.Kind, value) {
	kind, d := s.Kind(i), s.Dialect()
	if d == nil || kind != jsonl.Transform || !line.Get("transformerName").Is("compaction") {
		return kind, line
	}
	summary, at := value(`""`), line.Get("summaryAt").Int()
	for op := range line.Get("patch").Elements {
		k := int64(0)
		for m := range op.Get("messages").Elements {
			if (d.SummaryLast || k == at) && m.Get("role").Is("user") {
				summary = jsonl.AppendQuoted(nil, m.Get("content").ContentText())
			}
			k++
		}
	}
	fields := []jsonl.Field{{Name: "patch"}, {Name: "transformerName"}, {Name: "summary", Value: summary}}
	return jsonl.Compaction, line.AppendEdited(nil, fields...)
}

// Touching keeps only the turns that change one of the named files: a path or its end, a
// folder, or a pattern.
func (c *Conversation) Touching(names []string) error {
	only := map[int]bool{}
	for _, blocks := range c.Chapters() {
		for b, err := range blocks(nil, false) {
			if err != nil {
				return err
			}
			if b.Kind == Call && b.Call.Action.Changes() &&
				slices.ContainsFunc(b.Call.Paths, func(file string) bool { return matchesFile(names, file) }) {
				only[b.Turn] = true
			}
		}
	}
	c.only = only
	return nil
}

// matchesFile reports whether one of the names matches a file.
func matchesFile(names []string, file string) bool {
	file = strings.ReplaceAll(file, "\\", "/")
	for _, name := range names {
		name = strings.TrimSuffix(strings.ReplaceAll(path.Clean(name), "\\", "/"), "/")
		if file == name || strings.HasSuffix(file, "/"+name) || strings.HasPrefix(file, name+"/") ||
			strings.Contains(file, "/"+name+"/") {
			return true
		}
		if ok, _ := path.Match(name, file); ok {
			return true
		}
		if ok, _ := path.Match(name, path.Base(file)); ok {
			return true
		}
	}
	return false
}
