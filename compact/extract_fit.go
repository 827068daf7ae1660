package compact

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// fit writes as many notes as so many UTF-16 units hold, and says what it left out.
// Each kind gets its share first, by how much it matters; what is left over goes to
// what did not fit, in the same order.
func (n *notes) fit(units int, part summaryPart) string {
	sections := history
	if part == turnPrefixPart {
		sections = turnPrefix
	}
	all := make([]bool, len(n.list))
	for i := range all {
		all[i] = true
	}
	if text := n.write(all, sections, part); sessionfmt.Units(text) <= units {
		return text
	}
	none := make([]bool, len(n.list))
	bare := sessionfmt.Units(n.write(none, sections, historyPart)) // all headings, and all that could be left out
	if bare > units/2 {
		return n.bare(units)
	}
	return n.write(n.choose(units-bare), sections, part)
}

// choose picks notes that take so many units together.
func (n *notes) choose(room int) []bool {
	chosen := make([]bool, len(n.list))
	began := map[*kind]bool{}
	left := room
	take := func(k *kind, most int) {
		for _, i := range n.ranked(k) {
			cost := k.cost(n.list[i].text)
			if !began[k] {
				cost += k.frame()
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

// ranked are the places of the notes of a kind, by how much they matter.
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

// cost is how many units a note of a kind takes, frame what the first one takes besides.
func (k *kind) cost(text string) int {
	return sessionfmt.Units(k.mark) + sessionfmt.Units(text) + len(", ")
}

func (k *kind) frame() int {
	switch k {
	case &theModified:
		return len("\n\n<modified-files>\n</modified-files>")
	case &theRead:
		return len("\n\n<read-files>\n</read-files>")
	}
	return len(k.list) + 1
}

// write writes the chosen notes under their headings.
func (n *notes) write(chosen []bool, sections []section, part summaryPart) string {
	of := map[*kind][]string{}
	lost := map[*kind]int{}
	for i, one := range n.list {
		if !chosen[i] {
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
			continue // between messages that stay, only what there is
		}
		if b.Len() > 0 && !(strings.HasPrefix(s.heading, "### ") && strings.HasSuffix(b.String(), "Progress\n")) {
			b.WriteByte('\n')
		}
		b.WriteString(s.heading + "\n" + lines)
	}
	return strings.TrimSuffix(b.String(), "\n") + files{Read: of[&theRead], Modified: of[&theModified]}.String()
}

// lines are what stands under a heading.
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

// leftOut says what a summary has no room for.
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

// bare is what a summary without headings has room for.
func (n *notes) bare(units int) string {
	const cut = "\n(cut)"
	var all []string
	left := units - len(cut)
	for _, k := range kinds {
		for _, i := range n.ranked(k) {
			text := k.mark + k.list + n.list[i].text
			if cost := sessionfmt.Units(text) + 1; cost <= left {
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
