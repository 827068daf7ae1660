// Package transcript presents a session to a reader: its turns, with prompts, answers, tool
// calls and their results, and a summary of the work.
package transcript

import (
	"bytes"
	"cmp"
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
		if text := bytes.TrimSpace(b.Text); !s.Aside && len(s.prompts) < mostPrompts && len(text) > 0 {
			s.prompts = append(s.prompts, strings.ToValidUTF8(string(text[:min(len(text), promptBytes)]), ""))
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

// request records an answer to a request. entry is the answer's, if it is known.
func (s *Story) request(m *jsonl.Message, entry value) {
	s.Requests++
	s.pay(m.Usage, m.Provider, m.Model, entry)
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

type value = jsonl.Value

// A Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	Prompt     Kind = iota // a user message; it begins a turn
	Skill                  // skill instructions in a prompt, for the model only
	Answer                 // text of the model
	Thinking               // thinking of the model
	Call                   // a call of a tool, with its result
	Shell                  // a command run by the user
	Image                  // an image in the previous message
	Failure                // why an answer failed or was aborted
	System                 // a system message, a part of the prompt, or a tool
	Custom                 // a message of an extension, or of an unknown role
	Compaction             // a summary in place of earlier messages
	Branch                 // a summary of another branch, or the start of one
	Edit                   // a context_edit
	Transform              // a context_transform
	Ephemeral              // messages of a single request
	Setting                // a change of the model or thinking level
	Label                  // a label set or cleared
	Finding                // damage at this place in the file
)

var kindNames = [...]string{
	"prompt", "skill", "answer", "thought", "call", "command", "image", "failure", "system message", "message",
	"compaction", "branch note", "edit", "transform", "ephemeral", "setting", "label", "finding",
}

// String returns the name of the kind, in the singular.
func (k Kind) String() string { return kindNames[k] }

// A Block is a part of a conversation. Its memory is reused for the next block. It has no texts
// unless they are requested.
type Block struct {
	Kind   Kind
	Record int // of the entry, -1 for none
	Turn   int // user prompts so far, less one
	By     int // the entry that determines its content: its own, an edit, or a transform

	Text  []byte // UTF-8, as in the session
	Title string // its subject: a name, a model, a type
	// Hidden reports whether the model saw it, and the user did not.
	Hidden bool
	Value  value // the entry, an image's data, or a tool's definition

	Call ToolCall // of a Call or a Shell
	Cut  *Cut     // of a Compaction, and of a Transform that compacts
}

// A ToolCall is a tool call, or a command of the user, with its result.
type ToolCall struct {
	activity.Call
	Answered bool // there is a result
	Lost     bool // a result without a call
	Failed   bool
	Exit     int // exit status, -1 if unknown
	Result   []byte
	Details  value
	Nested   value // the calls that the tool made itself, and whether they are complete
	Record   int   // of the result, -1 without one
}

// A Cut is the effect of a compaction on the list of messages.
type Cut struct {
	Before, After int // messages
	Tokens        int // of the context before, as the compaction records it; 0 if it does not
}

func (c *ToolCall) answer(text []byte, failed bool) {
	if string(bytes.TrimSpace(text)) == "(no output)" {
		text = nil
	}
	c.Result, c.Failed = text, failed
	if !c.Runs() {
		return
	}
	if code, output, ok := activity.Exit(c.Details, text, failed); ok {
		c.Exit, c.Result, c.Failed = code, output, failed || code != 0
	}
}

// Diff returns the diff in the tool's result, empty for none.
func (c *ToolCall) Diff() string { return c.Details.Get("diff").Text() }

// CountDiff counts the lines that a diff adds and removes.
func CountDiff(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// appendSame appends a key that identifies a command regardless of its folder and of how its
// output is truncated.
func appendSame(dst, line []byte) []byte {
	start := len(dst)
	for word := range bytes.FieldsSeq(line) {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, word...)
	}
	for {
		was := len(dst)
		dst = bytes.TrimSuffix(dst, []byte(" 2>&1"))
		if k := bytes.LastIndex(dst, []byte(" | ")); k >= start && cutsOutput(dst[k+3:]) {
			dst = dst[:k]
		}
		if len(dst) == was {
			return dst
		}
	}
}

// cutsOutput reports whether a command only shows a part of its input.
func cutsOutput(command []byte) bool {
	name, args, _ := bytes.Cut(command, []byte(" "))
	return (string(name) == "head" || string(name) == "tail") && !bytes.ContainsAny(args, "|;&<>")
}

// NestedCall is a call that the tool of a result made itself, without its result.
func NestedCall(v value) ToolCall {
	c := ToolCall{Call: activity.Nested(v), Exit: -1, Record: -1}
	c.Answered, c.Failed = !c.Status.Is("unfinished"), c.Status.Is("error")
	return c
}
