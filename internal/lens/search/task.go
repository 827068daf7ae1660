package search

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/outline"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TaskSchema is that of a Task.
const TaskSchema = "ctxtool/task/1"

// A Task lists what a folder and earlier sessions contain about a task, in schema ctxtool/task/1.
type Task struct {
	Schema string     `json:"schema"`
	Task   string     `json:"task"`
	Terms  []string   `json:"terms"` // what was looked for: files, names, and other words
	Files  []TaskFile `json:"files"` // those that were named first, then by the number of terms
	// sessions with that task or edits of these files, by words in common, then newest
	Sessions []TaskSession `json:"sessions"`
	Tokens   int           `json:"tokens"`         // of all items, by pi's estimate
	Left     int           `json:"left,omitempty"` // items that --max-tokens had no room for
}

// A TaskFile is a file that the task names, or that contains a word of it.
type TaskFile struct {
	Path    string   `json:"path"`    // below the folder
	Why     string   `json:"why"`     // `direct_mention`, `contains_entity`
	Terms   []string `json:"terms"`   // that it has
	Matches int      `json:"matches"` // of them in its text
	Tokens  int      `json:"tokens"`  // of its text
}

// A TaskSession is a session that edited such files, or had such a goal.
type TaskSession struct {
	File   string  `json:"file"`
	Ref    string  `json:"-"` // as a command takes it
	ID     string  `json:"id,omitempty"`
	Title  string  `json:"title,omitempty"`
	Time   string  `json:"time,omitempty"`  // of its last entry
	Goal   *Goal   `json:"goal,omitempty"`  // if it has half the words of the task
	Edits  []Edit  `json:"edits"`           // by file
	Tried  []Tried `json:"tried,omitempty"` // the last commands that failed after the first edit
	Tokens int     `json:"tokens"`          // of these texts

	last int64
}

// A Goal is the request of a session: the prompt, or the session's name, with most words of the task.
type Goal struct {
	ID    string   `json:"id,omitempty"` // of the prompt
	Text  string   `json:"text"`
	Terms []string `json:"terms"` // that it has
}

// An Edit counts the edits of a file in a session.
type Edit struct {
	Path  string `json:"path"`
	Times int    `json:"times"`
	ID    string `json:"id"`              // of the first entry that did
	Asked string `json:"asked,omitempty"` // the prompt before that
}

// A Tried is a command that failed.
type Tried struct {
	ID      string `json:"id"` // of its result
	Command string `json:"command"`
	Error   string `json:"error"`
}

// How many files a term may add, and files, sessions, and commands of a session there may be;
// the first two as SWE-CLI has them (docs/policies.md).
const (
	filesPerTerm = 5
	mostFiles    = 10
	mostSessions = 5
	mostTried    = 3
)

var (
	fileNames = lazy.Regexp(
		`[\w./-]*\w\.(?:go|py|js|jsx|ts|tsx|java|kt|c|h|cc|cpp|hpp|rs|rb|php|cs|swift|sh|sql|` +
			`html|css|json|ya?ml|toml|md|txt)\b`)
	verbs = strings.Fields("fix debug implement create add remove delete update modify refactor test check verify " +
		"optimize bug new change make write")
)

// taskTerms returns what a task names: files, and other words.
func taskTerms(task string) (files, words []string) {
	files = fileNames().FindAllString(task, -1)
	rest := fileNames().ReplaceAllString(task, " ")
	for _, w := range strings.FieldsFunc(rest, func(r rune) bool { return !isWord(r) && r != '_' }) {
		if low := strings.ToLower(w); len(w) > 2 && !slices.Contains(verbs, low) && !slices.Contains(small, low) &&
			!slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return files, words
}

// ForTask finds the files below a folder that a task names or that contain its words, and the
// sessions among files that edited them. Items are left out once they have maxTokens tokens; 0
// is no limit.
func ForTask(files []File, task, dir string, maxTokens int, opt Options) (*Task, error) {
	named, words := taskTerms(task)
	out := &Task{Schema: TaskSchema, Task: task, Terms: slices.Concat(named, words), Files: []TaskFile{},
		Sessions: []TaskSession{}}
	found, err := taskFiles(opt.Open.Disk, dir, named, words)
	if err != nil {
		return nil, err
	}
	room := func(n int) bool {
		if maxTokens > 0 && out.Tokens+n > maxTokens {
			out.Left++
			return false
		}
		out.Tokens += n
		return true
	}
	for _, f := range found {
		if room(f.Tokens) {
			out.Files = append(out.Files, f)
		}
	}
	for _, s := range taskSessions(files, newWanted(found, named, words), opt) {
		if room(s.Tokens) {
			out.Sessions = append(out.Sessions, s)
		}
	}
	return out, nil
}

// mostSource is the size of the largest file that is taken for source code, bytes.
const mostSource = 1 << 20

// taskFiles finds files.
func taskFiles(disk sessionfmt.Disk, dir string, named, words []string) (found []TaskFile, err error) {
	var terms []term
	for _, w := range words {
		terms = append(terms, newTerm(w, true))
	}
	err = disk.Walk(dir, func(name string, f fs.DirEntry) {
		below, _ := filepath.Rel(dir, name)
		below = filepath.ToSlash(below)
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > mostSource || strings.HasSuffix(name, ".jsonl") ||
			isHidden(below) {
			return
		}
		text, err := disk.ReadFile(name)
		if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 || !utf8.Valid(text) {
			return
		}
		one := TaskFile{Path: below, Why: "contains_entity"}
		for _, n := range named {
			if strings.HasSuffix("/"+below, "/"+strings.TrimPrefix(n, "./")) {
				one.Why, one.Terms = "direct_mention", append(one.Terms, n)
			}
		}
		for i := range terms {
			n := 0
			for range terms[i].in(text) {
				n++
			}
			if n > 0 || strings.Contains(strings.ToLower(below), string(terms[i].text)) {
				one.Terms, one.Matches = append(one.Terms, words[i]), one.Matches+n
			}
		}
		if len(one.Terms) > 0 {
			one.Tokens = weigh.TextTokens(&tokens.Pi, text)
			found = append(found, one)
		}
	})
	return bestFiles(found), err
}

// isHidden reports whether a file is in a folder that holds no source code of the project.
func isHidden(below string) bool {
	for _, part := range strings.Split(below, "/") {
		if part[0] == '.' || part == "node_modules" || part == "vendor" {
			return true
		}
	}
	return false
}

// bestFiles orders files, and leaves a few for each term.
func bestFiles(found []TaskFile) []TaskFile {
	sorting.By(found, func(a, b TaskFile) int {
		return cmp.Or(cmp.Compare(b.Why, a.Why), cmp.Compare(len(b.Terms), len(a.Terms)),
			cmp.Compare(b.Matches, a.Matches))
	})
	of := map[string]int{}
	var best []TaskFile
	for _, f := range found {
		some := slices.ContainsFunc(f.Terms, func(t string) bool { return of[t] < filesPerTerm })
		if len(best) == mostFiles || !some {
			continue
		}
		for _, t := range f.Terms {
			of[t]++
		}
		best = append(best, f)
	}
	return best
}

// A wanted is what sessions are looked for: edits of files, and words of their goals.
type wanted struct {
	files []TaskFile
	names []term // of the files
	edits gate   // for the names
	words []term // of the task
}

func newWanted(files []TaskFile, named, words []string) *wanted {
	w := &wanted{files: files, words: Words(strings.Join(words, " "), true).terms}
	for _, f := range files {
		w.names = append(w.names, newTerm(path.Base(f.Path), false))
	}
	w.edits = newGate(w.names)
	for i := range w.words {
		w.words[i].whole = true
	}
	for _, n := range named {
		w.words = append(w.words, newTerm(n, true))
	}
	return w
}

// goal returns the terms of the task that a text has, nil if it has less than half of them.
func (w *wanted) goal(text string) (has []string) {
	for i := range w.words {
		for range w.words[i].in([]byte(text)) {
			has = append(has, string(w.words[i].text))
			break
		}
	}
	if 2*len(has) < len(w.words) {
		return nil
	}
	return has
}

// taskSessions finds the sessions that edited files, or had such a goal.
func taskSessions(files []File, w *wanted, opt Options) (all []TaskSession) {
	terms := slices.Concat(w.words, w.names)
	if len(terms) == 0 {
		return nil
	}
	opt.Query, opt.Source, opt.task = &Query{terms: terms, gate: newGate(terms)}, InSessions, w
	r := &Results{opt: &opt}
	for one := range r.each(files) { // what cannot be read is what the search reports
		if one.task != nil {
			all = append(all, *one.task)
		}
	}
	sorting.By(all, func(a, b TaskSession) int {
		return cmp.Or(cmp.Compare(b.fits(), a.fits()), cmp.Compare(b.last, a.last))
	})
	return all[:min(len(all), mostSessions)]
}

// fits is by how many words the goal fits the task, and a half if it is that of the whole session.
func (s *TaskSession) fits() float64 {
	n := float64(len(s.goal().Terms))
	if n > 0 && s.Goal.Text == s.Title {
		n += 0.5
	}
	return n
}

// Begins returns the entry with which the work on the task begins, empty if none is known.
func (s *TaskSession) Begins() string {
	if len(s.Edits) > 0 {
		return s.Edits[0].ID
	}
	return s.goal().ID
}

// goal returns the goal, an empty one if there is none.
func (s *TaskSession) goal() *Goal { return cmp.Or(s.Goal, &Goal{}) }

// taskSession reads the goal of a session and what it did to files; nil if it is none of those
// that are wanted.
func (s *searcher) taskSession(f File, ses *sessionfmt.Session, about outline.About) *TaskSession {
	out, w := &TaskSession{File: f.Given, Ref: f.Ref, ID: about.ID, Edits: []Edit{}}, s.opt.task
	asked, commands := "", map[string]string{}
	for i, err := range s.turns(ses, func(kind jsonl.Kind, raw []byte) bool {
		return kind == jsonl.User || len(out.Edits) > 0 || len(w.files) > 0 && w.edits.may(raw)
	}) {
		if err != nil {
			return nil
		}
		d := &s.doc
		switch d.kind {
		case jsonl.User:
			asked = outline.FirstWords(activity.ReadPrompt(string(d.buf)).String())
			out.asked(w, ses.ID(i), asked)
		case jsonl.ToolResult:
			command, isCommand := commands[d.m.CallID.Text()]
			if _, failed := d.ended(); isCommand && len(out.Edits) > 0 && failed {
				out.Tried = append(out.Tried, Tried{ses.ID(i), outline.FirstWords(command),
					outline.FirstWords(activity.ErrorLine(string(d.buf)))})
				out.Tried = out.Tried[max(0, len(out.Tried)-mostTried):]
			}
		}
		for c := range activity.Calls(&d.m) {
			out.call(&c, w.files, ses.ID(i), asked, commands)
		}
	}
	_ = outline.Entitle(&about, ses, ses.Leaf())
	out.Title = about.Title()
	out.asked(w, out.goal().ID, out.Title)
	if len(out.Edits) == 0 && out.Goal == nil {
		return nil
	}
	out.Time, out.last = lastTime(ses, ses.NewReader())
	texts := out.Title
	if goal := out.goal().Text; goal != out.Title {
		texts += goal
	}
	for _, e := range out.Edits {
		texts += e.Path + e.Asked
	}
	for _, t := range out.Tried {
		texts += t.Command + t.Error
	}
	out.Tokens = weigh.TextTokens(&tokens.Pi, []byte(texts))
	return out
}

// asked records a prompt or the title as the goal, if it has more words of the task than another.
func (s *TaskSession) asked(w *wanted, id, text string) {
	if has := w.goal(text); len(has) > len(s.goal().Terms) {
		s.Goal = &Goal{id, text, has}
	}
}

// call records a call: a command, or an edit of one of the files.
func (s *TaskSession) call(c *activity.Call, edited []TaskFile, id, asked string, commands map[string]string) {
	if c.Runs() {
		commands[c.ID] = c.Command
	}
	if !c.Action.Changes() {
		return
	}
	for _, f := range edited {
		if !slices.ContainsFunc(c.Paths,
			func(p string) bool { return strings.HasSuffix("/"+filepath.ToSlash(p), "/"+f.Path) }) {
			continue
		}
		at := slices.IndexFunc(s.Edits, func(e Edit) bool { return e.Path == f.Path })
		if at < 0 {
			at = len(s.Edits)
			s.Edits = append(s.Edits, Edit{Path: f.Path, ID: id, Asked: asked})
		}
		s.Edits[at].Times++
	}
}
