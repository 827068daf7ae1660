package transcript

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/activity"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// A Story sums up a conversation.
type Story struct {
	prompts  []string // the first ones
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

	files    map[string]*File
	commands map[string]*Command
	passed   map[uint64]bool // commands that passed and had not failed before, by hash
	line     []byte          // the current command
	same     []byte          // what identifies it; see appendSame
	table    *models.Table   // of prices
	asked    models.Ref      // the model of the last call
	prices   models.Model    // its prices
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
	return &Story{table: cmp.Or(table, models.Builtin()), files: map[string]*File{}, commands: map[string]*Command{}, passed: map[uint64]bool{}}
}

func (s *Story) take(b *Block) {
	switch b.Kind {
	case Prompt:
		s.Turns++
		if !s.Aside && len(s.prompts) < mostPrompts {
			text := bytes.TrimSpace(b.Text)
			s.aim(strings.ToValidUTF8(string(text[:min(len(text), promptBytes)]), ""))
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

// The limits of a goal: it uses the first prompts until they have enough words.
const (
	fewWords    = 4
	mostPrompts = 4
	promptBytes = 4096 // of each
)

// aim records a prompt if it is one of the first.
func (s *Story) aim(text string) {
	if text != "" && len(s.prompts) < mostPrompts {
		s.prompts = append(s.prompts, text)
	}
}

// Goal returns the beginning of the first prompts.
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

// seed is the seed of internal hashes.
var seed = maphash.MakeSeed()

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
	default:
		s.passed[maphash.Bytes(seed, s.same)] = true
	}
}

// Join adds the story of the following records.
func (s *Story) Join(next *Story) {
	if !s.Aside {
		for _, text := range next.prompts {
			s.aim(text)
		}
		s.From = cmp.Or(s.From, next.From)
		if len(next.last) > 0 {
			s.before = s.last
			if len(next.before) > 0 {
				s.before = next.before
			}
			s.last = next.last
		}
		if len(next.to) > 0 {
			s.to = next.to
		}
	}
	s.Aside = s.Aside || next.Aside
	s.Turns += next.Turns
	s.Requests += next.Requests
	s.Calls += next.Calls
	s.Failures += next.Failures
	s.Cuts = append(s.Cuts, next.Cuts...)
	for _, m := range next.Models {
		if !slices.Contains(s.Models, m) {
			s.Models = append(s.Models, m)
		}
	}
	s.spend(next.Usage)
	s.Computed += next.Computed
	for _, f := range next.Files {
		was := s.file(f.Path)
		*was = File{f.Path, was.Added + f.Added, was.Removed + f.Removed, was.Told && f.Told, was.Written + f.Written, was.Edited + f.Edited}
	}
	for key, c := range s.commands {
		c.Passed = c.Passed || next.passed[maphash.String(seed, key)]
	}
	for _, c := range next.Commands {
		s.same = appendSame(s.same[:0], []byte(c.Line))
		if was := s.commands[string(s.same)]; was != nil {
			was.Times, was.Exit, was.Passed = was.Times+c.Times, c.Exit, c.Passed
			continue
		}
		s.commands[string(s.same)] = c
		s.Commands = append(s.Commands, c)
	}
	maps.Copy(s.passed, next.passed)
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

// request records an answer to a request. entry is the answer's, if it is known.
func (s *Story) request(m *jsonl.Message, entry value) {
	s.Requests++
	s.pay(m.Usage, m.Provider, m.Model, entry.Get("message"))
	if s.asked != (models.Ref{}) && !slices.Contains(s.Models, s.asked) {
		s.Models = append(s.Models, s.asked)
	}
}

// pay adds a usage. A call that records no cost has the one by the prices of its model, or of the
// one that a message says has answered.
func (s *Story) pay(usage, provider, model, message value) {
	if !provider.Is(s.asked.Provider) || !model.Is(s.asked.ID) {
		s.asked = models.Ref{Provider: provider.Text(), ID: model.Text()}
		s.prices, _ = s.table.Priced(s.asked.Provider, s.asked.ID, "")
	}
	u := usage.Usage()
	if !u.Cost.Known && s.asked != (models.Ref{}) {
		prices := s.prices
		if !prices.Priced() {
			prices, _ = s.table.Priced(s.asked.Provider, s.asked.ID, message.Get("responseModel").Text())
		}
		dollars, _, _ := prices.Paid(&u)
		s.Computed += dollars
	}
	s.spend(u)
}

func (s *Story) spend(v jsonl.Usage) {
	u := &s.Usage
	u.Input, u.Output, u.CacheRead, u.CacheWrite = u.Input+v.Input, u.Output+v.Output, u.CacheRead+v.CacheRead, u.CacheWrite+v.CacheWrite
	u.Cost.Total += v.Cost.Total
}
