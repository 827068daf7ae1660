package notes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/read/phrase"
)

// ErrRoom is returned if the limit of a digest is too small for any content.
var ErrRoom = errors.New("too few tokens for a digest")

// Digest returns a digest of the sessions of a project, given in the order in which they began,
// as Markdown with a limit in tokens: each part has as many lines as fit.
func Digest(all []*Session, most int, count func(text string) int) (string, error) {
	d := &digest{
		sessions: all, last: all[len(all)-1], files: map[string]*file{}, commands: map[string]*command{},
		about: map[string]string{}, needs: map[string]bool{},
	}
	for _, s := range all {
		d.add(s)
	}
	for lines := mostLines; lines > 0; lines-- {
		if text := d.text(lines); count(text) <= most {
			return text, nil
		}
	}
	return "", ErrRoom
}

// mostLines is the maximum number of lines of a part of a digest.
const mostLines = 40

// A digest collects the facts of several sessions about their project.
type digest struct {
	sessions []*Session
	last     *Session
	files    map[string]*file
	commands map[string]*command
	places   []string // keys, the last ones last
	about    map[string]string
	needs    map[string]bool
}

// A file counts what sessions did with a file.
type file struct {
	path                    string
	sessions, uses, changes int
	why                     string   // of the last change
	in                      *Session // the last one
}

// A command is a command that succeeded when it was last run.
type command struct {
	name         string
	times        int
	judges, last bool // the last session ran it too
}

func (d *digest) add(s *Session) {
	for _, f := range s.Files {
		name := s.relative(f.Path)
		if outside(name) {
			continue
		}
		have := d.files[name]
		if have == nil {
			have = &file{path: name}
			d.files[name] = have
		}
		if have.in != s {
			have.in = s
			have.sessions++
		}
		have.uses += f.Uses
		have.changes += f.Changes
		have.why = cmp.Or(reason(f.Said, f.Asked, f.Commit, f.CommitFiles), have.why)
	}
	for _, c := range s.Commands {
		have := d.commands[c.Command]
		if have == nil {
			have = &command{name: c.Command, judges: c.Judges}
			d.commands[c.Command] = have
		}
		have.times += c.Times
		have.last = c.OK
		if !c.OK {
			have.times = 0 // it did not work when it was last run
		}
	}
	last := ""
	for _, r := range s.References {
		file, at, _ := strings.Cut(r.Key, ":")
		key := s.relative(file) + ":" + at
		text := pattern(at, r.Text)
		if outside(key) || text == "" || text == last {
			continue
		}
		last = text
		if d.about[key] == "" {
			d.places = append(d.places, key)
		}
		d.about[key] = text
	}
	for _, name := range s.Needs {
		d.needs[name] = true
	}
}

// outside reports whether a path leads out of the project.
func outside(name string) bool {
	return name == "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") ||
		strings.HasPrefix(name, "../") || strings.Contains(name, ":\\")
}

// text returns the digest with a limit of lines per part.
func (d *digest) text(most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Project: %s\n", inert(d.last.Project()))
	for _, part := range []struct {
		heading string
		lines   []string
	}{
		{"Overview", d.overview(most)}, {"Structure", d.structure(most)}, {"Key Files", d.keyFiles(most)},
		{"Commands That Worked", d.worked(most)}, {"Patterns", d.patterns(most)},
		{"Dependencies", d.dependencies(most)},
		{fmt.Sprintf("Current State (as of %s)", day(d.last.Ended)), d.state(most)},
	} {
		if len(part.lines) > 0 {
			b.WriteString("\n## " + part.heading + "\n" + strings.Join(part.lines, "\n") + "\n")
		}
	}
	return b.String()
}

// overview returns the number of sessions, and the goals of the last ones.
func (d *digest) overview(most int) []string {
	span := day(d.sessions[0].Began)
	if last := day(d.last.Ended); last != span {
		span += " to " + last
	}
	lines := []string{fmt.Sprintf("From %s of %s in %s. They were for:", phrase.Count(len(d.sessions), "session"), span,
		code(d.last.CWD))}
	for _, s := range slices.Backward(d.sessions) {
		if s.Goal != "" && len(lines) <= min(most, 8) {
			lines = append(lines, fmt.Sprintf("- %s (%s)", plain(s.Goal, 160), day(s.Began)))
		}
	}
	if len(lines) == 1 {
		lines[0] = strings.TrimSuffix(lines[0], " They were for:")
	}
	return lines
}

// touched returns the files that sessions touched most.
func (d *digest) touched(most int) []*file {
	all := slices.SortedFunc(maps.Values(d.files), func(a, b *file) int {
		return cmp.Or(b.sessions-a.sessions, b.changes-a.changes, b.uses-a.uses, cmp.Compare(a.path, b.path))
	})
	return all[:min(len(all), most)]
}

// structure returns the tree of the files that sessions touched most.
func (d *digest) structure(most int) []string {
	var names []string
	for _, f := range d.touched(most) {
		names = append(names, f.path)
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	files := strings.Join(tree([]string{d.last.Project() + "/"}, names, "  "), "\n")
	return strings.Split(strings.TrimSuffix(string(markdown.AppendFence(nil, "", []byte(files))), "\n"), "\n")
}

// tree appends the files of a folder, then those of its folders, sorted by name. A folder whose
// only content is another folder shares its line.
func tree(lines, names []string, indent string) []string {
	var below []string
	for i, name := range names {
		folder, _, deeper := strings.Cut(name, "/")
		if !deeper {
			lines = append(lines, indent+name)
			continue
		}
		below = append(below, name[len(folder)+1:])
		if i+1 < len(names) && strings.HasPrefix(names[i+1], folder+"/") {
			continue
		}
		for {
			next, _, deeper := strings.Cut(below[0], "/")
			if !deeper || slices.ContainsFunc(below, func(n string) bool { return !strings.HasPrefix(n, next+"/") }) {
				break
			}
			for k := range below {
				below[k] = below[k][len(next)+1:]
			}
			folder += "/" + next
		}
		lines = tree(append(lines, indent+folder+"/"), below, indent+"  ")
		below = nil
	}
	return lines
}

// keyFiles returns the files that sessions touched most, with the reason of the last change.
func (d *digest) keyFiles(most int) (lines []string) {
	for _, f := range d.touched(min(most, 15)) {
		line := "- " + code(f.path)
		if f.why != "" {
			line += " - " + f.why
		}
		did := []string{}
		if n := f.uses - f.changes; n > 0 {
			did = append(did, phrase.Count(n, "read"))
		}
		if f.changes > 0 {
			did = append(did, phrase.Count(f.changes, "change"))
		}
		if f.sessions > 1 {
			did = append(did, phrase.Count(f.sessions, "session"))
		}
		if len(did) > 0 {
			line += " (" + strings.Join(did, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// worked returns the commands that succeeded when they were last run: tests and builds, and
// others that were run more than once.
func (d *digest) worked(most int) (lines []string) {
	all := slices.SortedFunc(maps.Values(d.commands), func(a, b *command) int {
		if a.judges != b.judges {
			if a.judges {
				return -1
			}
			return 1
		}
		return cmp.Or(b.times-a.times, cmp.Compare(a.name, b.name))
	})
	for _, c := range all {
		if len(lines) == min(most, 15) {
			break
		}
		first, _, more := strings.Cut(c.name, " ")
		if c.last && (c.judges || c.times > 1 && more) && !outside(c.name) && first != "git" && first != "gh" {
			lines = append(lines, fmt.Sprintf("- %s (%s)", code(c.name), phrase.Count(c.times, "run")))
		}
	}
	return lines
}

func (d *digest) patterns(most int) (lines []string) {
	for _, key := range lastOf(d.places, min(most, 12)) {
		lines = append(lines, "- "+code(key)+" - "+d.about[key])
	}
	return lines
}

func (d *digest) dependencies(most int) []string {
	names := slices.Sorted(maps.Keys(d.needs))
	if len(names) == 0 {
		return nil
	}
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(", and %d more", n)
	}
	return []string{"- " + inert(strings.Join(names, ", ")) + more}
}

// state returns the end of the last session: its task, last commits, tests and builds, and open
// issues.
func (d *digest) state(most int) (lines []string) {
	for i, line := range d.last.task() {
		lines = append(lines, "- "+phrase.If(i == 0, "Last request: ")+line)
	}
	for _, c := range lastOf(d.last.Commits, min(most, 5)) {
		lines = append(lines, fmt.Sprintf("- Commit %s: %s", code(c.Key), plain(c.Text, 120)))
	}
	for _, c := range d.last.Commands {
		if c.Judges && c.OK && c.Verdict != "" && len(lines) < most {
			lines = append(lines, fmt.Sprintf("- %s: %s", code(c.Command), plain(c.Verdict, 100)))
		}
	}
	issues := d.last.issues()
	return append(lines, issues[:min(len(issues), most, 5)]...)
}
