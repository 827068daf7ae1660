package origin

import (
	"cmp"
	"slices"
	"strings"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/linediff"
)

// A line is a line of a file during the replay of what sessions wrote to it.
type line struct {
	text string
	by   int // index of the write that wrote it, -1 for none
}

// A fragment is the part of a file that a write changed, as it left it, with a few lines around it.
type fragment struct {
	by    int
	lines []line
	// first and last report that the fragment begins with the first line of the file, and ends with the last one.
	first, last bool
}

// around is how many lines around a change are part of its fragment.
const around = 3

// A state is the text of a file in one working tree.
type state struct {
	lines []line
	known bool
	at    int64 // of the last write
}

// replayed follows a file through the writes, in each working tree by itself, and returns a fragment for each change.
func replayed(writes []*write, git *trace) (all []fragment) {
	states := map[string]*state{}
	for i, w := range writes {
		folder := cmp.Or(w.of.root.dir, w.of.root.cwd)
		s := states[folder]
		if s == nil {
			s = &state{}
			states[folder] = s
		}
		if w.Whole || w.Adds {
			if text, committed := git.last(w.at); committed > s.at {
				s.lines, s.known = carried(s.lines, text, -1), true
			}
			from, text := 0, w.Text
			if w.Adds {
				from, text = len(s.lines), joined(s.lines)+w.Text
			}
			s.lines, s.known = carried(s.lines, text, i), s.known || w.Whole
			all = append(all, s.fragment(i, from, len(s.lines)))
		}
		for _, e := range w.Edits {
			all = append(all, s.edit(i, w, e, git)...)
		}
		s.at = w.at
	}
	return all
}

// edit replaces a text. Where the text of the file is not known, the fragment has the new text alone.
func (s *state) edit(i int, w *write, e activity.Replacement, git *trace) (all []fragment) {
	if e.Old == "" && !w.Loose { // a new file
		s.lines, s.known = carried(nil, e.New, i), true
		return []fragment{s.fragment(i, 0, len(s.lines))}
	}
	if e.Old == "" || !s.known || !strings.Contains(joined(s.lines), e.Old) {
		text, ok := git.having(w.at, e.Old)
		switch {
		case ok:
			s.lines, s.known = carried(s.lines, text, -1), true
		case w.Loose && e.Old != "": // it replaced nothing
			return nil
		default:
			return []fragment{{by: i, lines: carried(carried(nil, e.Old, -1), e.New, i)}}
		}
	}
	for from := 0; ; {
		text := joined(s.lines)
		at := strings.Index(text[from:], e.Old)
		if at < 0 {
			return all
		}
		at += from
		from = at + len(e.New)
		all = append(all, s.put(i, text, at, at+len(e.Old), e.New))
		if !e.All {
			return all
		}
	}
}

// put replaces a part of the text, and returns the changed lines as a fragment.
func (s *state) put(by int, text string, at, end int, new string) fragment {
	begins, ends := strings.LastIndexByte(text[:at], '\n')+1, end
	head := text[begins:at] + new
	if head != "" && head[len(head)-1] != '\n' || text[end-1] != '\n' { // with the rest of the line
		ends = len(text)
		if rest := strings.IndexByte(text[end:], '\n'); rest >= 0 {
			ends = end + rest + 1
		}
	}
	first := strings.Count(text[:begins], "\n")
	last := first + strings.Count(text[begins:ends], "\n")
	changed := carried(s.lines[first:last], head+text[end:ends], by)
	s.lines = slices.Concat(s.lines[:first], changed, s.lines[last:])
	return s.fragment(by, first, first+len(changed))
}

// fragment returns a part of the text with the lines around it.
func (s *state) fragment(by, from, to int) fragment {
	begin, end := max(0, from-around), min(len(s.lines), to+around)
	return fragment{by, slices.Clone(s.lines[begin:end]), begin == 0, end == len(s.lines)}
}

// carried returns the lines of a text that replaces others. What it has in common with them keeps its writer.
func carried(was []line, text string, by int) (now []line) {
	if len(was) == 0 {
		for l := range strings.Lines(text) {
			now = append(now, line{strings.TrimSuffix(l, "\n"), by})
		}
		return now
	}
	at := 0
	for _, l := range linediff.Lines(joined(was), text) {
		switch l.Mark {
		case ' ':
			now = append(now, was[at])
			at++
		case '-':
			at++
		default:
			now = append(now, line{l.Text, by})
		}
	}
	return now
}

// joined returns the text of lines.
func joined(lines []line) string {
	n := 0
	for _, l := range lines {
		n += len(l.text) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
	return b.String()
}
