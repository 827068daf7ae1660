package notes

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"ctxtool/internal/base/lazy"
)

// The last line of notes is a comment with a mark of each line that was not written by a
// person: a line that is not marked is never changed.
const (
	markStart = "<!-- ctxtool notes: "
	markEnd   = " -->"
	markSize  = 4 // of base64
)

// mark returns the mark of a line.
func mark(line string) string {
	sum := sha256.Sum256([]byte(line))
	return base64.RawURLEncoding.EncodeToString(sum[:3])
}

// A section is a heading with the lines under it. Lines before the first heading form a section
// without heading.
type section struct {
	heading string // as in the text
	lines   []string
}

func (s *section) name() string { return strings.TrimSpace(strings.TrimLeft(s.heading, "# ")) }

// sections splits notes into sections, and removes the marks.
func sections(text string) (all []section, ours map[string]bool) {
	ours = map[string]bool{}
	all = []section{{}}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if marks, ok := strings.CutPrefix(line, markStart); ok && strings.HasSuffix(marks, markEnd) {
			for marks = strings.TrimSuffix(marks, markEnd); len(marks) >= markSize; marks = marks[markSize:] {
				ours[marks[:markSize]] = true
			}
			continue
		}
		if strings.HasPrefix(line, "#") && !fenced {
			all = append(all, section{heading: line})
			continue
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, line)
	}
	return all, ours
}

// Update merges the notes of a later session into existing notes. Lines that a person wrote or
// changed stay unchanged and in place. Our lines are replaced by new ones with the same key, and
// stay if there is none, unless settled reports that an open issue is resolved; its argument is
// the key of the issue. Repeating an update changes nothing. Without existing notes, the result is
// text with the marks of its lines.
func Update(existing, text string, settled func(issue string) bool) string {
	all, ours := sections(existing)
	added, _ := sections(text)
	now := map[string]bool{} // marks of what is ours from now on
	if strings.TrimSpace(existing) == "" {
		all = nil
	}
	for i := range added {
		s := &added[i]
		k := slices.IndexFunc(all, func(old section) bool { return sameHeading(&old, s) })
		if k >= 0 {
			all[k].merge(s, ours, now)
			continue
		}
		if s.heading == "" && strings.TrimSpace(strings.Join(s.lines, "")) == "" {
			continue
		}
		for _, line := range s.lines {
			now[mark(line)] = true
		}
		all = slices.Insert(all, place(all, added[:i]), *s)
	}
	for i := range all {
		s := &all[i]
		if s.name() == issueHeading && settled != nil {
			s.lines = slices.DeleteFunc(s.lines, func(line string) bool {
				return ours[mark(line)] &&
					!slices.ContainsFunc(added, func(a section) bool { return slices.Contains(a.lines, line) }) &&
					settled(key(line))
			})
		}
		for _, line := range s.lines {
			if ours[mark(line)] {
				now[mark(line)] = true
			}
		}
	}
	return written(all, now)
}

// written returns sections as text, with the marks of our lines.
func written(all []section, ours map[string]bool) string {
	var b strings.Builder
	var marks []string
	for i := range all {
		s := &all[i]
		for _, line := range s.lines {
			if m := mark(line); ours[m] && line != "" && !slices.Contains(marks, m) {
				marks = append(marks, m)
			}
		}
		text := strings.Trim(strings.Join(s.lines, "\n"), "\n")
		if s.heading == "" && text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		for _, part := range []string{s.heading, text} {
			if part != "" {
				b.WriteString(part + "\n")
			}
		}
	}
	if len(marks) > 0 {
		b.WriteString("\n" + markStart + strings.Join(marks, "") + markEnd + "\n")
	}
	return b.String()
}

// sameHeading reports whether two sections have the same heading, except the date of the title.
func sameHeading(old, s *section) bool {
	if strings.HasPrefix(s.heading, title) {
		return strings.HasPrefix(old.heading, title)
	}
	return s.heading != "" && strings.EqualFold(old.name(), s.name())
}

// place returns the index at which to insert a missing section: after the last existing section
// that precedes it in new notes, or else at the end.
func place(all, before []section) int {
	for i := range slices.Backward(before) {
		if k := slices.IndexFunc(all, func(old section) bool { return sameHeading(&old, &before[i]) }); k >= 0 {
			return k + 1
		}
	}
	return len(all)
}

// merge merges a new section into an existing one.
func (s *section) merge(from *section, ours, now map[string]bool) {
	if strings.HasPrefix(s.heading, title) {
		s.heading = max(s.heading, from.heading)
	}
	mine := func(line string) bool { return line != "" && ours[mark(line)] }
	if name := from.name(); name == goalHeading || name == taskHeading {
		if theirs := slices.ContainsFunc(s.lines, func(line string) bool {
			return strings.TrimSpace(line) != "" &&
				!mine(line)
		}); !theirs {
			s.lines = slices.Clone(from.lines)
			for _, line := range s.lines {
				now[mark(line)] = true
			}
		}
		return
	}
	fresh := slices.DeleteFunc(slices.Clone(from.lines), func(line string) bool { return line == "" })
	for i, line := range s.lines {
		k := slices.IndexFunc(fresh, func(f string) bool { return key(f) == key(line) })
		if line == "" || k < 0 {
			continue
		}
		if mine(line) {
			s.lines[i] = fresh[k]
			if strings.Contains(line, "` (created)") {
				s.lines[i] = strings.Replace(fresh[k], "` (updated)", "` (created)", 1)
			}
			now[mark(s.lines[i])] = true
		}
		fresh = slices.Delete(fresh, k, k+1)
	}
	end := len(s.lines)
	for end > 0 && strings.TrimSpace(s.lines[end-1]) == "" {
		end--
	}
	for _, line := range fresh {
		now[mark(line)] = true
	}
	s.lines = slices.Insert(s.lines, end, fresh...)
	s.shorten(now, mine)
}

// mostKept is the number of our lines that a section keeps over all sessions.
const mostKept = 30

// shorten drops our oldest lines that are not from the last session if a section has too many.
func (s *section) shorten(now map[string]bool, mine func(line string) bool) {
	n := 0
	for _, line := range s.lines {
		if mine(line) || now[mark(line)] {
			n++
		}
	}
	s.lines = slices.DeleteFunc(s.lines, func(line string) bool {
		if n <= mostKept || !mine(line) || now[mark(line)] {
			return false
		}
		n--
		return true
	})
}

// key identifies the subject of a line: the code span with which it begins, or else its words
// without the time of the decision.
func key(line string) string {
	line = strings.TrimSpace(strings.TrimLeft(line, "-* "))
	if box, ok := strings.CutPrefix(line, "["); ok && len(box) > 2 && box[1] == ']' {
		line = strings.TrimSpace(box[2:])
	}
	if rest, ok := strings.CutPrefix(line, "`"); ok {
		if name, _, ok := strings.Cut(rest, "`"); ok {
			return name
		}
	}
	if strings.HasPrefix(line, "Commit `") {
		return "commit"
	}
	line, _, _ = strings.Cut(line, " (decided ")
	return strings.ToLower(strings.Join(strings.Fields(line), " "))
}

// structure is what begins a line of notes: a heading, an item of a list, a box.
var structure = lazy.Regexp(`^\s*(?:#{1,6} |[-*] (?:\[[ xX]\] )?|\d{1,9}\. )?`)

// Inert returns notes that somebody else wrote, such as a model: headings of notes and those of the
// existing ones stay, as items and boxes do, and all else is Markdown that does nothing.
func Inert(text, existing string) string {
	have, _ := sections(existing)
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		begin := structure().FindString(line)
		heading := section{heading: line}
		same := func(old section) bool { return sameHeading(&old, &heading) }
		if strings.Contains(begin, "#") && !heading.ours() && !slices.ContainsFunc(have, same) {
			begin = ""
		}
		b.WriteString(begin + inert(line[len(begin):]) + "\n")
	}
	return b.String()
}

// ours reports whether the heading is one of notes.
func (s *section) ours() bool {
	return slices.Contains(Headings, s.name()) || strings.HasPrefix(s.heading, title) ||
		strings.HasPrefix(s.heading, projectTitle)
}

// Valid reports whether a text has a heading of notes.
func Valid(text string) bool {
	all, _ := sections(text)
	return slices.ContainsFunc(all, func(s section) bool { return slices.Contains(Headings, s.name()) })
}

// Settled reports whether an open issue is resolved: its box was checked, the failed command
// works, or the files are in a commit.
func (s *Session) Settled(issue string) bool {
	for _, d := range s.Done {
		if key(plain(d.Text, 200)) == issue {
			return true
		}
	}
	for _, c := range s.Commands {
		if c.Command == issue && c.OK {
			return true
		}
	}
	return issue == "commit" && len(s.Unsaved) == 0 && len(s.Commits) > 0
}
