package compact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt"
)

// Extract makes summaries out of what the session itself says, in the sections that pi's
// own summaries have. It asks nobody, and the same messages give the same summary: words
// of the user and of the agent as they stand, commands with what came of them, files.
var Extract = Summarizer{
	Name:  "extract",
	About: "put together from the session's own words, commands and files; no model, no network",
	New: func(budget int) func(Request) (string, error) {
		return func(r Request) (string, error) {
			f := facts{view: r.View, ran: map[string]int{}, said: map[string]bool{}}
			for _, i := range r.Messages {
				if err := f.take(i); err != nil {
					return "", err
				}
			}
			files, err := r.View.files(r.Messages, -1)
			if err != nil {
				return "", err
			}
			d := draft{layout: layoutOf(r.Part)}
			d.earlier(r.Previous)
			f.write(&d)
			if r.Style != StylePi { // pi names them itself behind the summary
				d.files = files
			}
			if d.empty() {
				d.add(critical, fmt.Sprintf("%d messages that say nothing", len(r.Messages)))
			}
			return d.within(budget), nil
		}
	},
}

// A section is where a line of a summary stands.
type section uint8

// The sections, in the order of a summary.
const (
	goal section = iota
	constraints
	done
	inProgress
	blocked
	decisions
	nextSteps
	critical
	sections
)

// A layout is the headings of the sections, of which some may be one, and their order.
type layout struct {
	headings [sections]string
	order    [sections]section
}

// The layouts of pi's summaries: of a history, and of the beginning of a turn.
var (
	historyLayout = layout{[sections]string{
		"## Goal", "## Constraints & Preferences", "## Progress\n### Done", "### In Progress", "### Blocked",
		"## Key Decisions", "## Next Steps", "## Critical Context",
	}, [sections]section{goal, constraints, done, inProgress, blocked, decisions, nextSteps, critical}}
	prefixLayout = layout{[sections]string{
		"## Original Request", "## Context Needed to Continue", "## Progress So Far", "## Progress So Far", "## Progress So Far",
		"## Progress So Far", "## Context Needed to Continue", "## Context Needed to Continue",
	}, [sections]section{goal, done, inProgress, blocked, decisions, constraints, nextSteps, critical}}
	marks = [sections]string{"", "- ", "- [x] ", "- [ ] ", "- ", "- ", "- ", "- "}
	// worth is the order in which lines are kept where not all fit.
	worth = [sections]section{goal, constraints, blocked, inProgress, done, nextSteps, decisions, critical}
	// shares are what each section is sure of, in percent of the room for lines.
	shares = [sections]int{goal: 25, constraints: 20, done: 10, inProgress: 5, blocked: 15, decisions: 5, nextSteps: 10, critical: 10}
)

func layoutOf(p Part) *layout {
	if p == TurnPrefix {
		return &prefixLayout
	}
	return &historyLayout
}

// A draft is a summary in the making.
type draft struct {
	*layout
	lines [sections][]string
	files Files
}

// add adds a line, unless it is there.
func (d *draft) add(s section, line string) {
	line = strings.TrimSpace(line)
	if line != "" && !slices.Contains(d.lines[s], line) {
		d.lines[s] = append(d.lines[s], line)
	}
}

// drop takes the lines out that begin so.
func (d *draft) drop(s section, beginning string) {
	d.lines[s] = slices.DeleteFunc(d.lines[s], func(line string) bool { return strings.HasPrefix(line, beginning) })
}

// empty says that there is nothing to say.
func (d *draft) empty() bool {
	for s := range sections {
		if len(d.lines[s]) > 0 {
			return false
		}
	}
	return len(d.files.Read)+len(d.files.Modified) == 0
}

// earlier takes an earlier summary in: by its sections where it has the same ones, all
// else as what is critical.
func (d *draft) earlier(summary string) {
	text, _, _ := strings.Cut(summary, "\n\n<read-files>")
	text, _, _ = strings.Cut(text, "\n\n<modified-files>")
	at := critical
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			at = sectionNamed(line)
			continue
		}
		for _, mark := range []string{"- [x] ", "- [ ] ", "- ", "* "} {
			line = strings.TrimPrefix(line, mark)
		}
		if n, rest, ok := strings.Cut(line, ". "); ok && isNumber(n) {
			line = rest
		}
		d.add(at, line)
	}
}

// sectionNamed is the section with that heading.
func sectionNamed(heading string) section {
	name := strings.TrimLeft(heading, "# ")
	for s := range sections {
		if strings.HasSuffix(historyLayout.headings[s], "# "+name) {
			return s
		}
	}
	return critical
}

// within is the summary in so many of pi's tokens. Each section first gets its share, and
// what is left goes by worth. Of a section that does not fit the middle is left out, since
// what was asked first and what came last counts most. Files take half of it at most.
func (d *draft) within(budget int) string {
	for sessionfmt.Units(d.files.blocks()) > 2*budget {
		d.files.shorten()
	}
	if n := len(d.lines[goal]); n > 0 { // there is always room for what is wanted now
		d.lines[goal][n-1] = oneLine(d.lines[goal][n-1], max(0, 4*budget-d.overhead())/4)
	}
	kept := draft{layout: d.layout, files: d.files}
	all := 4*budget - d.overhead()
	left := all
	var fits [sections][]bool
	for _, s := range worth {
		fits[s] = make([]bool, len(d.lines[s]))
		left -= d.fit(s, fits[s], min(left, all*shares[s]/100))
	}
	for _, s := range worth {
		left -= d.fit(s, fits[s], left)
		for k, line := range d.lines[s] {
			if fits[s][k] {
				kept.lines[s] = append(kept.lines[s], line)
			}
		}
	}
	return kept.text()
}

// fit marks lines of a section that fit into so many units besides those already marked,
// and says how many units they take.
func (d *draft) fit(s section, fits []bool, most int) (taken int) {
	for _, k := range fromTheEnds(len(fits)) {
		n := sessionfmt.Units(marks[s]+d.lines[s][k]) + 4
		if !fits[k] && taken+n <= most {
			fits[k] = true
			taken += n
		}
	}
	return taken
}

// overhead is what headings and files take, in UTF-16 units.
func (d *draft) overhead() int {
	empty := draft{layout: d.layout, files: d.files}
	for s := range sections {
		if len(d.lines[s]) > 0 {
			empty.lines[s] = []string{""}
		}
	}
	return sessionfmt.Units(empty.text())
}

// fromTheEnds are the places 0 to n-1, the first and the last ones first.
func fromTheEnds(n int) (order []int) {
	for i, j := 0, n-1; i <= j; i, j = i+1, j-1 {
		if order = append(order, j); i < j {
			order = append(order, i)
		}
	}
	return order
}

// shorten leaves a file out: one that was only read, if there is one.
func (f *Files) shorten() {
	if n := len(f.Read); n > 0 {
		f.Read = f.Read[:n-1]
	} else {
		f.Modified = f.Modified[:len(f.Modified)-1]
	}
}

// text is the summary as it stands.
func (d *draft) text() string {
	var b strings.Builder
	last := ""
	for _, s := range d.order {
		if len(d.lines[s]) == 0 {
			continue
		}
		if h := d.headings[s]; h != last {
			if strings.HasPrefix(h, "###") && last != d.headings[done] && last != d.headings[inProgress] {
				b.WriteString("\n## Progress")
			}
			b.WriteString("\n" + h + "\n")
			last = h
		}
		for k, line := range d.lines[s] {
			mark := marks[s]
			if s == nextSteps && d.layout == &historyLayout {
				mark = strconv.Itoa(k+1) + ". "
			}
			b.WriteString(mark + line + "\n")
		}
	}
	return strings.TrimSpace(b.String()) + d.files.blocks()
}
