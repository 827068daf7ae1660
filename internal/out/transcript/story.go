// Package transcript presents a session to a reader: its turns, with prompts, answers, tool
// calls and their results, and a summary of the work.
//
// # Chapters
//
// Chapters have two megabytes of session or a little more, and begin where no call waits for a result,
// so that they can be drawn in parallel with the same result. A page reads them twice: first in order,
// to collect what was asked, done and failed, and to measure every block if there is a budget; then,
// once it is decided what to fold, to write, on all CPUs. Memory holds a dozen bytes per block, and a
// few chapters.
//
// Pages for browsers draw the rows of entries instead of blocks, since any row can be shown alone, on
// any branch, and beside the context of a request. The rows of 100 MB take 0.2 s of CPU, since each
// line is read once and texts are copied as the file spells them; reading the same texts into blocks
// takes 0.3 s, and spelling them as JSON again comes to that. Blocks that keep ranges of the file
// would need a writer of JSON as long as the one that makes rows.
package transcript

import (
	"cmp"
	"slices"
	"strings"

	"ctxtool/internal/read/activity"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// A Story sums up a conversation.
type Story struct {
	prompts  []string // what a person typed in the first ones
	asked    activity.Asked
	Turns    int
	Requests int
	Calls    int
	Files    []*File    // that were changed, in the order in which they first were
	Commands []*Command // that failed, likewise
	Failures int        // calls of tools that failed, commands aside
	last     []byte     // what the model said last, as it is spelled
	before   []byte     // what it said before that
	Models   []models.Ref
	From     string // the time of the first entry, as it stands
	to       []byte
	Usage    jsonl.Usage // the columns of tokens, and the total of dollars
	Computed float64     // dollars of calls that record no cost, by the table
	Cuts     []Cut       // compactions
	Aside    bool        // what comes now is on other branches: neither goal nor outcome
	// NoSubAgents leaves out what sub-agents used.
	NoSubAgents bool

	files    map[string]*File
	commands map[string]*Command
	line     []byte        // the current command
	same     []byte        // what identifies it; see appendSame
	table    *models.Table // of prices
}

// A File is a file that the conversation changed.
type File struct {
	Path           string
	Added, Removed int  // lines, as the tools told
	Told           bool // they did, of every change
	Written        int  // times that it was written whole
	Edited         int  // times that a part of it was changed
}

// A Command is a command that failed.
type Command struct {
	Line   string
	Times  int  // that it failed
	Exit   int  // status, the last time; -1 where it is not known
	Passed bool // later
}

// NewStory returns an empty story. Without a table of prices it takes the built-in one.
func NewStory(table *models.Table) *Story {
	return &Story{table: cmp.Or(table, models.Builtin()), files: map[string]*File{}, commands: map[string]*Command{}}
}

func (s *Story) take(b *Block) {
	switch b.Kind {
	case Prompt:
		s.Turns++
		if s.wants() {
			s.want(s.asked.Prompt(activity.ReadPrompt(string(b.Text))))
		}
	case Branch:
		s.Aside = s.Aside || b.Value == nil
	case Call:
		if !b.Call.Lost {
			s.Calls++
		}
		s.call(&b.Call)
	case Shell:
		s.ran(&b.Call)
	case Compaction, Transform:
		if b.Cut != nil {
			s.Cuts = append(s.Cuts, *b.Cut)
		}
	}
}

// wants reports whether what a prompt asks for belongs to the goal.
func (s *Story) wants() bool { return !s.Aside && len(s.prompts) < mostPrompts }

func (s *Story) want(text string) {
	if text != "" {
		s.prompts = append(s.prompts, strings.ToValidUTF8(text[:min(len(text), promptBytes)], ""))
	}
}

// The limits of a goal: it uses the first prompts until they have enough words.
const (
	fewWords    = 4
	mostPrompts = 4
	promptBytes = 4096 // of each
)

// First returns what a person typed first, in the first prompt that has such; of the same prompt a session has its
// title (package outline).
func (s *Story) First() string { return strings.Join(s.prompts[:min(1, len(s.prompts))], "") }

// Goal returns the beginning of what a person typed in the first prompts.
func (s *Story) Goal() string {
	var goal []string
	words := 0
	for _, text := range s.prompts {
		if words >= fewWords {
			break
		}
		goal = append(goal, text)
		words += len(strings.Fields(text))
	}
	return strings.Join(goal, " … ")
}

// when records the time of an entry.
func (s *Story) when(stamp value) {
	if s.Aside || !stamp.IsString() {
		return
	}
	if s.From == "" {
		s.From = stamp.Text()
	}
	s.to = append(s.to[:0], stamp...)
}

// To returns the time of the last entry, as in the file.
func (s *Story) To() string { return value(s.to).Text() }

// said records a text of the model.
func (s *Story) said(text value) {
	if !s.Aside {
		s.last, s.before = text.AppendShort(s.before[:0], longestText), s.last
	}
}

// Last returns the last text of the model, and the text before it.
func (s *Story) Last() (last, before string) { return value(s.last).Text(), value(s.before).Text() }

func (s *Story) call(c *ToolCall) {
	switch {
	case c.Runs():
		s.ran(c)
		return
	case c.Failed:
		s.Failures++
		return
	case !c.Answered || !c.Action.Changes():
		return
	}
	diff := c.Diff()
	added, removed := CountDiff(diff)
	for _, path := range c.Paths {
		f := s.file(path)
		f.Told = f.Told && diff != ""
		f.Added, f.Removed = f.Added+added, f.Removed+removed
		if c.Action == activity.Write {
			f.Written++
		} else {
			f.Edited++
		}
	}
}

// ran records that a command was run.
func (s *Story) ran(c *ToolCall) {
	if !c.Answered {
		return
	}
	s.line = c.AppendSubject(s.line[:0])
	s.same = appendSame(s.same[:0], s.line)
	was := s.commands[string(s.same)]
	switch {
	case c.Failed && was == nil:
		was = &Command{Line: string(s.line)}
		s.commands[string(s.same)] = was
		s.Commands = append(s.Commands, was)
		fallthrough
	case c.Failed:
		was.Times++
		was.Exit, was.Passed = c.Exit, false
	case was != nil:
		was.Passed = true
	}
}

func (s *Story) file(path string) *File {
	f := s.files[path]
	if f == nil {
		f = &File{Path: path, Told: true}
		s.files[path] = f
		s.Files = append(s.Files, f)
	}
	return f
}

// request records an answer to a request. entry is the answer's, if it is known. One that is not paid has its cost
// elsewhere.
func (s *Story) request(m *jsonl.Message, entry value, paid bool) {
	s.Requests++
	if s.wants() {
		s.want(s.asked.Answered())
	}
	if paid {
		s.pay(m.Usage, m.Provider, m.Model, entry)
	}
	if last := len(s.Models) - 1; last >= 0 && m.Provider.Is(s.Models[last].Provider) && m.Model.Is(s.Models[last].ID) {
		return
	}
	if asked := (models.Ref{Provider: m.Provider.Text(), ID: m.Model.Text()}); asked != (models.Ref{}) &&
		!slices.Contains(s.Models, asked) {
		s.Models = append(s.Models, asked)
	}
}

// pay adds a usage. A call that records no cost has the one by the prices of its model, or of the
// one that has answered, by the entry of its message.
func (s *Story) pay(usage, provider, model, entry value) {
	u := usage.Usage()
	var answered value
	if !u.Cost.Known {
		answered = entry.Get("message").Get("responseModel")
	}
	dollars, recorded := s.table.Paid(&u, provider, model, answered)
	if !recorded {
		s.Computed += dollars
	}
	sum := &s.Usage
	sum.Input, sum.Output = sum.Input+u.Input, sum.Output+u.Output
	sum.CacheRead, sum.CacheWrite = sum.CacheRead+u.CacheRead, sum.CacheWrite+u.CacheWrite
	sum.Cost.Total += u.Cost.Total
}
