package prompt

import (
	"html"
	"regexp"
	"slices"
	"strings"

	"ctxtool/internal/base/lazy"
	"ctxtool/replay/tokens"
)

// Split splits parts where pi joins a prompt (docs/session-format.md 4.7): a prompt in one text at its headings
// or tags, project context by file, skills one by one. The pieces of a part are its text, byte for byte; a part
// without such marks stays whole. Each piece has the origin of its part.
func Split(parts []Part) (all []Part) {
	for _, p := range parts {
		pieces := split(p.Name, p.Text)
		for _, s := range pieces {
			s.Origin, s.Content = p.Origin, p.Content && len(pieces) == 1
			all = append(all, s)
		}
	}
	return all
}

// CountSplit returns the split parts and the tokens of each, which add up to what Count returns for the parts.
// If a counter's result for a text is not the sum of its pieces, the largest piece takes the difference.
func (p *Prompt) CountSplit(c *tokens.Counter) (parts []Part, each []int) {
	whole, _ := p.Count(c)
	for i := range p.Parts {
		some := Prompt{Parts: Split(p.Parts[i : i+1])}
		n, _ := some.Count(c)
		largest, rest := 0, whole[i]
		for k := range n {
			rest -= n[k]
			if n[k] > n[largest] {
				largest = k
			}
		}
		n[largest] += rest
		parts, each = append(parts, some.Parts...), append(each, n...)
	}
	return parts, each
}

// split splits a text: whole prompts into sections, these into files and skills.
func split(name, text string) (all []Part) {
	sections := tagged(name, text)
	if len(sections) < 2 {
		sections = headed(name, text)
	}
	for _, s := range sections {
		files := s.inFiles()
		for _, f := range files {
			all = append(all, f.inSkills()...)
		}
	}
	return all
}

// A cut is the beginning of a piece, with its name.
type cut struct {
	at int
	Part
}

// pieces returns the text from each cut to the next. Text before the first cut has the name of the whole; empty
// pieces are dropped, except that of an empty text.
func pieces(whole Part, cuts []cut) (all []Part) {
	from, p := 0, whole
	for _, c := range append(cuts, cut{at: len(whole.Text)}) {
		if p.Text = whole.Text[from:c.at]; p.Text != "" {
			all = append(all, p)
		}
		from, p = c.at, c.Part
	}
	if len(all) == 0 {
		return []Part{whole}
	}
	return all
}

// Tags of pi's own sections, one of which begins a prompt of several in one text. Sections of extensions
// follow.
var (
	ownTag = lazy.Regexp(`(?m)^<(?:tools|rules|docs|addendum|project_context|skills|cwd)>\n`)
	anyTag = lazy.Regexp(`^<([a-z][a-z0-9_-]*)>\n`)
)

// tagged splits a prompt whose sections stand in tags of their names.
func tagged(name, text string) []Part {
	whole := Part{Name: name, Text: text}
	if !strings.Contains(text, "\n</cwd>") {
		return []Part{whole}
	}
	first := ownTag().FindStringIndex(text)
	if first == nil {
		return []Part{whole}
	}
	var cuts []cut
	if first[0] > 0 {
		cuts = append(cuts, cut{0, Part{Name: "preamble"}})
	}
	for at := first[0]; ; {
		m := anyTag().FindStringSubmatch(text[at:])
		if m == nil {
			break
		}
		end := sectionEnd(text[at:], m[1])
		if end < 0 {
			break
		}
		cuts = append(cuts, cut{at, Part{Name: m[1]}})
		at += end
		cuts = append(cuts, cut{at, Part{Name: name}}) // what follows the last section
	}
	return pieces(whole, cuts)
}

// sectionEnd returns the end of the section of that name, including its tag and the line ends after it: its
// first closing tag before the end of the text or another section, else its first one; -1 for none.
func sectionEnd(text, name string) int {
	closing, first := "\n</"+name+">", -1
	for from := 0; ; {
		i := strings.Index(text[from:], closing)
		if i < 0 {
			return first
		}
		from += i + len(closing)
		after := strings.TrimLeft(text[from:], "\n")
		end := len(text) - len(after)
		if after == "" || anyTag().MatchString(after) {
			return end
		}
		if first < 0 {
			first = end
		}
	}
}

// Headings of a prompt in one text, in order: those before the project context, which itself could contain any
// of them, and those after it, of which the last occurrence counts.
var (
	upper = []heading{
		{"tools", lazy.Regexp(`(?m)^Available tools:\n`)},
		{"guidelines", lazy.Regexp(`(?m)^Guidelines:\n`)},
		{"docs", lazy.Regexp(`(?m)^(?:Documentation:|Pi documentation \(.*\):)\n`)},
	}
	projectContext = []func() *regexp.Regexp{
		lazy.Regexp(`# Project Context\n\n(?:The following project|Project-specific)`),
		lazy.Regexp(`<project_context>\n`),
	}
	skillsHeading = lazy.Regexp(`The following skills provide specialized instructions for specific tasks\.\n`)
	cwdLine       = lazy.Regexp(`Current working directory: .*\n?`)
	dateLine      = lazy.Regexp(`^Current date(?: and time)?: .*\n$`)
)

// atLines returns the matches that begin a line. A regular expression that begins with (?m)^ would be tried at
// each byte; without it, its first words are searched.
func atLines(re *regexp.Regexp, text string) [][]int {
	return slices.DeleteFunc(re.FindAllStringSubmatchIndex(text, -1), func(m []int) bool {
		return m[0] > 0 &&
			text[m[0]-1] != '\n'
	})
}

// A heading begins a section of a prompt.
type heading struct {
	name string
	at   func() *regexp.Regexp
}

// headed splits a prompt in one text at pi's headings; the last of them, the working directory, must be
// present.
func headed(name, text string) []Part {
	whole := Part{Name: name, Text: text}
	ends := atLines(cwdLine(), text)
	if len(ends) == 0 {
		return []Part{whole}
	}
	cwd, end := ends[len(ends)-1][0], ends[len(ends)-1][1]
	to := cwd
	if before := strings.LastIndexByte(text[:max(0, cwd-1)], '\n') + 1; dateLine().MatchString(text[before:cwd]) {
		to = before
	}
	lower := []cut{{to, Part{Name: "date"}}, {cwd, Part{Name: "cwd"}}, {end, whole}}
	if all := atLines(skillsHeading(), text[:to]); len(all) > 0 {
		to = all[len(all)-1][0]
		lower = slices.Insert(lower, 0, cut{to, Part{Name: "skills"}})
	}
	context := -1
	for _, re := range projectContext {
		if all := atLines(re(), text[:to]); len(all) > 0 {
			to, context = all[0][0], all[0][0]
		}
	}
	if context >= 0 {
		lower = slices.Insert(lower, 0, cut{to, Part{Name: "project_context"}})
	}
	cuts, from := []cut{{0, Part{Name: "preamble"}}}, 0
	for _, h := range upper {
		if at := h.at().FindStringIndex(text[from:to]); at != nil {
			from += at[0]
			cuts = append(cuts, cut{from, Part{Name: h.name}})
		}
	}
	if cuts[len(cuts)-1].Name == "docs" { // a paragraph; what follows was appended
		if i := strings.Index(text[from:to], "\n\n"); i >= 0 {
			cuts = append(cuts, cut{from + i + len("\n\n"), Part{Name: "addendum"}})
		}
	}
	return pieces(whole, append(cuts, lower...))
}

// Beginnings of a context file: the current tag, or a heading with an absolute path between empty lines.
var (
	fileTag     = lazy.Regexp(`<project_instructions path="(.*)">\n`)
	fileHeading = lazy.Regexp(`## ((?:/|~/|[A-Za-z]:[/\\]|\\\\).*)\n\n`)
)

// inFiles splits a section of project context by file.
func (p Part) inFiles() []Part {
	if p.Name != "project_context" {
		return []Part{p}
	}
	const closing = "\n</project_instructions>\n"
	found := atLines(fileTag(), p.Text)
	inTags := len(found) > 0
	if !inTags {
		found = atLines(fileHeading(), p.Text)
	}
	var cuts []cut
	for _, m := range found {
		if !inTags && !strings.HasSuffix(p.Text[:m[0]], "\n\n") {
			continue
		}
		cuts = append(cuts, cut{m[0], file(p.Text[m[2]:m[3]])})
	}
	if n := len(cuts); n > 0 && inTags { // what follows the last file
		if i := strings.LastIndex(p.Text, closing); i > cuts[n-1].at {
			cuts = append(cuts, cut{i + len(closing), Part{Name: p.Name}})
		}
	}
	return pieces(p, cuts)
}

// Notes returns the project's instructions for agents: the texts of the context files.
func (p *Prompt) Notes() string {
	var b strings.Builder
	for _, part := range Split(p.Parts) {
		if part.Name == "project_context" || part.File != "" && part.Skill == "" {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

func file(path string) Part { return Part{Name: "file " + path, File: path} }

// The forms in which skills are listed.
var (
	skillItem = lazy.Regexp(
		`(?s) *<skill>\n *<name>([^<]*)</name>\n *<description>[^<]*</description>\n *<location>([^<]*)</location>\n *</skill>\n`)
)

// inSkills splits a section of skills one by one.
func (p Part) inSkills() []Part {
	if p.Name != "skills" {
		return []Part{p}
	}
	var cuts []cut
	for _, m := range skillItem().FindAllStringSubmatchIndex(p.Text, -1) {
		name := html.UnescapeString(p.Text[m[2]:m[3]])
		cuts = append(cuts,
			cut{m[0], Part{Name: "skill " + name, Skill: name, File: html.UnescapeString(p.Text[m[4]:m[5]])}},
			cut{m[1], Part{Name: p.Name}})
	}
	return pieces(p, cuts)
}
