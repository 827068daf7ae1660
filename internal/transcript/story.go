package transcript

import (
	"bytes"
	"slices"

	"ctxtool/replay"
)

// A Story is what happened in a conversation, in all.
type Story struct {
	Name     string // of the session
	Goal     string // what the user asked for first
	Turns    int
	Requests int
	Calls    int
	Files    []*File    // that were changed, in the order in which they first were
	Commands []*Command // that failed, likewise
	Failures int        // calls of tools that failed, commands aside
	Last     string     // what the model said last
	LastAt   int        // the entry of it, -1 for none
	Models   []replay.ModelRef
	From, To string // times, as they stand
	Usage    Usage
	Cuts     []Cut // compactions
	Aside    bool  // what comes now is on other branches: neither goal nor outcome

	files    map[string]*File
	commands map[string]*Command
}

// A File is one that the conversation changed.
type File struct {
	Path           string
	Added, Removed int  // lines, as the tools told
	Told           bool // they did, of every change
	Written        int  // times that it was written whole
	Edited         int  // times that a part of it was changed
}

// A Command is one that failed.
type Command struct {
	Line   string
	Times  int  // that it failed
	Exit   int  // status, the last time; -1 where it is not known
	Passed bool // later
	Record int  // the entry of its last failure
}

// Usage is what requests used, in tokens and US dollars.
type Usage struct {
	Input, Output, CacheRead, CacheWrite int64
	Cost                                 float64
}

// NewStory is the story of nothing.
func NewStory() *Story {
	return &Story{LastAt: -1, files: map[string]*File{}, commands: map[string]*Command{}}
}

// take adds what a block tells.
func (s *Story) take(b *Block) {
	if b.Stamp != "" && !s.Aside {
		if s.From == "" {
			s.From = b.Stamp
		}
		s.To = b.Stamp
	}
	switch b.Kind {
	case Prompt:
		s.Turns++
		if s.Goal == "" {
			s.Goal = string(bytes.TrimSpace(b.Text))
		}
	case Branch:
		s.Aside = s.Aside || b.Value == nil
	case Answer:
		if s.Aside {
			return
		}
		s.Last, s.LastAt = string(b.Text), b.Record
	case Call:
		s.Calls++
		s.call(&b.Call)
	case Shell:
		s.ran(&b.Call)
	case Compaction, Transform:
		if b.Cut != nil {
			s.Cuts = append(s.Cuts, *b.Cut)
		}
	}
}

func (s *Story) call(c *ToolCall) {
	switch {
	case c.Command:
		s.ran(c)
		return
	case c.Failed:
		s.Failures++
		return
	case !c.Answered:
		return
	}
	change := c.Change()
	if change == Reads {
		return
	}
	path := c.Path()
	f := s.files[path]
	if f == nil {
		f = &File{Path: path, Told: true}
		s.files[path] = f
		s.Files = append(s.Files, f)
	}
	diff := c.Diff()
	f.Told = f.Told && diff != ""
	added, removed := CountDiff(diff)
	f.Added, f.Removed = f.Added+added, f.Removed+removed
	if change == Writes {
		f.Written++
	} else {
		f.Edited++
	}
}

// ran takes down that a command was run.
func (s *Story) ran(c *ToolCall) {
	if !c.Answered {
		return
	}
	key := sameCommand(c.Subject)
	was := s.commands[key]
	switch {
	case c.Failed && was == nil:
		was = &Command{Line: c.Subject}
		s.commands[key] = was
		s.Commands = append(s.Commands, was)
		fallthrough
	case c.Failed:
		was.Times++
		was.Exit, was.Passed, was.Record = c.Exit, false, c.Record
	case was != nil:
		was.Passed = true
	}
}

// request adds what an answer says of the request that it answers.
func (s *Story) request(usage value, provider, model string) {
	s.Requests++
	s.pay(usage)
	if ref := (replay.ModelRef{Provider: provider, ID: model}); ref != (replay.ModelRef{}) && !slices.Contains(s.Models, ref) {
		s.Models = append(s.Models, ref)
	}
}

func (s *Story) pay(usage value) {
	var f [5]value
	usage.Fields(f[:], "input", "output", "cacheRead", "cacheWrite", "cost")
	u := &s.Usage
	u.Input += f[0].Int()
	u.Output += f[1].Int()
	u.CacheRead += f[2].Int()
	u.CacheWrite += f[3].Int()
	if cost, ok := f[4].Get("total").Float(); ok {
		u.Cost += cost
	}
}
