package compact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// fold adds the notes of a summary: its items become notes of the kinds of their headings.
// In an earlier extract the mark identifies the kind of each note, and its counts continue.
func (x *extractor) fold(summary string) {
	summary, f := cutFiles(strings.ToValidUTF8(summary, "\uFFFD"))
	x.files.add(f)
	for _, path := range append(f.Read, f.Modified...) {
		x.sees(path)
	}
	k := &theContext
	heading := ""
	for _, item := range entriesOf(summary) {
		if item.heading {
			k, heading = kindUnder(item.text)
			continue
		}
		x.foldItem(k, heading, item)
	}
}

// An entry is a line of a summary, with its continuation lines.
type entry struct {
	mark    string // mark of a list item, see listMark
	text    string
	raw     string
	more    []string // continuation lines
	heading bool
}

// entriesOf splits a summary into headings and items. Indented and fenced lines belong to the
// item before them.
func entriesOf(summary string) (all []entry) {
	fenced := false
	for raw := range strings.Lines(summary) {
		raw = strings.TrimRight(raw, " \t\r\n")
		t := strings.TrimSpace(raw)
		fence := strings.HasPrefix(t, "```")
		inside := fenced || fence || len(raw) > len(t)
		if fence {
			fenced = !fenced
		}
		last := len(all) - 1
		switch mark, text := listMark(t); {
		case t == "" && !fenced, t == "---", t == "(none)", t == "- (none)":
		case inside && last >= 0 && !all[last].heading:
			all[last].more = append(all[last].more, "\n  "+strings.TrimPrefix(raw, "  "))
		case strings.HasPrefix(t, "#"), strings.HasPrefix(t, "**") && strings.HasSuffix(t, "**"),
			strings.HasPrefix(t, "=== "):
			all = append(all, entry{text: strings.Trim(t, "#*= :"), heading: true})
		default:
			all = append(all, entry{mark: mark, text: text, raw: t})
		}
	}
	return all
}

// kindUnder returns the kind of the notes under a heading, and the heading itself if no kind
// matches it.
func kindUnder(heading string) (*kind, string) {
	lower := strings.ToLower(heading)
	for _, s := range history {
		if slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(lower, w) }) {
			return s.kinds[0], ""
		}
	}
	if lower == "progress" {
		return &theDone, ""
	}
	return &theContext, heading
}

// foldItem adds the note of one item.
func (x *extractor) foldItem(k *kind, heading string, item entry) {
	for _, own := range kinds {
		switch {
		case own.list != "" && strings.HasPrefix(item.raw, own.list):
			names, between := strings.TrimPrefix(item.raw, own.list), ", "
			if own != &theAddress {
				names, between = strings.Trim(names, "`"), "`, `"
			}
			for _, name := range strings.Split(names, between) {
				x.foldName(own, name)
			}
			return
		case len(own.mark) > len("- [x] ") && strings.HasPrefix(item.raw, own.mark):
			x.foldOwn(own, strings.TrimPrefix(item.raw, own.mark))
			return
		}
	}
	text := item.text + strings.Join(item.more, "")
	switch {
	case text == "" || strings.HasPrefix(text, "Extracted from "):
		return
	case strings.HasPrefix(text, leftOutMark):
		x.put(&theContext, leftOutMark, "An earlier summary was cut. L"+text[1:], x.now)
		return
	case item.mark == "x":
		x.finished(text)
		return
	case item.mark == "o":
		k = &theTodo
	case k == &theOpen && strings.HasPrefix(text, "`"):
		if what, _, ok := strings.Cut(text[1:], "` failed"); ok {
			x.failed[what] = note{text: text, at: x.now}
			return
		}
	case heading != "":
		text = heading + ": " + text
	}
	switch k {
	case &theGoal:
		x.goal = text
	case &theStep:
		x.plan = append(x.plan, text)
	}
	x.put(k, wordsOf(text), text, x.now)
}

// foldOwn adds a note of an earlier extract.
func (x *extractor) foldOwn(k *kind, text string) {
	subject, rest, _ := strings.Cut(strings.TrimPrefix(text, "`"), "`")
	switch k {
	case &theDirection, &theRequest:
		x.put(&theRequest, "", text, x.now)
	case &theAnswer:
		x.put(&theAnswer, "last", text, x.now)
	case &theCommit:
		x.commits++
		x.put(&theCommit, subject, text, x.now)
	case &theTest:
		r := &CommandFact{Command: subject, Judges: tests(subject), OK: true, at: x.now}
		fmt.Sscanf(rest, ": %d", &r.Times)
		_, last, _ := strings.Cut(rest, ", the last ")
		_, r.Verdict, _ = strings.Cut(last, ": ")
		x.runs[subject] = r
	case &theWork:
		f := x.file(subject)
		*f = FileFact{Path: subject, Uses: f.Uses, called: f.called, named: f.named, unsaved: f.unsaved, changed: x.now}
		for _, one := range strings.Split(strings.TrimPrefix(rest, ": "), ", ") {
			var n int
			var what string
			fmt.Sscanf(one, "%d %s", &n, &what)
			if strings.HasPrefix(what, "edit") {
				f.edits = n
			} else {
				f.writes = n
			}
		}
	}
}

// foldName adds a name of a list in an earlier extract.
func (x *extractor) foldName(k *kind, name string) {
	switch k {
	case &theCommand:
		x.runs[name] = &CommandFact{Command: name, Judges: tests(name), at: x.now}
	case &theUnsaved:
		x.file(name).unsaved = true
	case &thePlace:
		x.sees(name)
	case &theAddress:
		x.put(k, "", name, x.now)
	}
}

// fit returns the notes that fit in a number of UTF-16 units, and a line with the number of the others. Each
// kind first gets its share, in order of importance; the remaining space goes to notes that did not fit, in the
// same order.
func (n *notes) fit(units int, part SummaryPart) string {
	sections := history
	if part == turnPrefixPart {
		sections = turnPrefix
	}
	if text := n.write(func(int) bool { return true }, sections, part); jsonl.Units(text) <= units {
		return text
	}
	// all headings, and the longest possible line about omitted notes
	none := n.write(func(int) bool { return false }, sections, historyPart)
	bare := jsonl.Units(none)
	if bare > units/2 {
		return n.bare(units)
	}
	chosen := n.choose(units - bare)
	return n.write(func(i int) bool { return chosen[i] }, sections, part)
}

// choose selects notes that take so many units together.
func (n *notes) choose(room int) map[int]bool {
	chosen := map[int]bool{}
	began := map[*kind]bool{}
	left := room
	take := func(k *kind, most int) {
		for _, i := range n.ranked(k) {
			cost := jsonl.Units(k.mark) + jsonl.Units(n.list[i].text) + len(", ")
			if !began[k] {
				cost += cmp.Or(k.tagged, len(k.list)+1)
			}
			if chosen[i] || cost > min(left, most) {
				continue
			}
			chosen[i], began[k] = true, true
			left -= cost
			most -= cost
		}
	}
	for _, k := range kinds {
		take(k, room*k.share/100)
	}
	for _, k := range kinds {
		take(k, left)
	}
	return chosen
}

// ranked returns the indexes of the notes of a kind, the most important first.
func (n *notes) ranked(k *kind) (at []int) {
	for i := range n.list {
		if n.list[i].kind == k {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int {
		if k.oldest {
			return n.list[a].at - n.list[b].at
		}
		return n.list[b].at - n.list[a].at
	})
	return at
}

// write writes the chosen notes under their headings.
func (n *notes) write(chosen func(int) bool, sections []section, part SummaryPart) string {
	of := map[*kind][]string{}
	lost := map[*kind]int{}
	for i, one := range n.list {
		if !chosen(i) {
			lost[one.kind]++
			continue
		}
		of[one.kind] = append(of[one.kind], one.text)
	}
	var b strings.Builder
	for i, s := range sections {
		lines := s.lines(of)
		if i == len(sections)-1 {
			lines += leftOut(lost)
		}
		if lines == "" && s.kinds != nil {
			lines = "(none)\n"
		}
		if part == sequencePart && (lines == "(none)\n" || s.kinds == nil) {
			continue // after removing messages, omit empty sections
		}
		if b.Len() > 0 && !(strings.HasPrefix(s.heading, "### ") && strings.HasSuffix(b.String(), "Progress\n")) {
			b.WriteByte('\n')
		}
		b.WriteString(s.heading + "\n" + lines)
	}
	return strings.TrimSuffix(b.String(), "\n") + files{Read: of[&theRead], Modified: of[&theModified]}.String()
}

// lines returns the lines under a heading.
func (s *section) lines(of map[*kind][]string) string {
	var b strings.Builder
	for _, k := range s.kinds {
		texts := of[k]
		switch {
		case len(texts) == 0:
		case k.list != "":
			b.WriteString(k.list + strings.Join(texts, ", ") + "\n")
		default:
			for i, text := range texts {
				mark := k.mark
				if k == &theStep {
					mark = fmt.Sprintf("%d. ", i+1)
				}
				b.WriteString(mark + text + "\n")
			}
		}
	}
	return b.String()
}

const leftOutMark = "Left out to fit: "

// leftOut returns a line with how many notes of each kind a summary has no room for.
func leftOut(lost map[*kind]int) string {
	var all []string
	for _, k := range kinds {
		if n := lost[k]; n > 0 {
			all = append(all, fmt.Sprint(n, " ", k.what))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "- " + leftOutMark + strings.Join(all, ", ") + "\n"
}

// bare returns a summary without headings, for little room.
func (n *notes) bare(units int) string {
	const cut = "\n(cut)"
	var all []string
	left := units - len(cut)
	for _, k := range kinds {
		for _, i := range n.ranked(k) {
			text := k.mark + k.list + n.list[i].text
			if cost := jsonl.Units(text) + 1; cost <= left {
				all = append(all, text)
				left -= cost
			}
		}
	}
	if len(all) > 0 {
		return strings.Join(all, "\n") + cut
	}
	for _, k := range kinds {
		for _, i := range n.ranked(k) {
			if text := strings.TrimSpace(firstUnits(n.list[i].text, units)); text != "" {
				return text
			}
		}
	}
	return ""
}
