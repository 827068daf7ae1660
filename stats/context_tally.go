package stats

import (
	"path"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A contextTally counts the request at the point.
type contextTally struct {
	l        *lensRun
	part     ContextPart // categories alone
	messages int
	largest  []weighedEntry
	calls    map[string]string // file paths of calls that read, by call id
	files    map[string]*filesReads
	paths    []string // of files, in the order of their first reads
}

// A weighedEntry is a message that may be among the largest.
type weighedEntry struct {
	record        int
	kind          jsonl.Kind
	tool          string
	tokens, bytes int
}

// filesReads are the reads of a file.
type filesReads struct {
	times  int
	tokens int // of all
	newest int // tokens of the newest
	record int // its
}

func newContextTally(l *lensRun) *contextTally {
	return &contextTally{l: l, calls: map[string]string{}, files: map[string]*filesReads{}}
}

// add is so much more of a category, in a message. What takes nothing is not there.
func (t *contextTally) add(category, name string, tokens, bytes int) {
	if t.put(category, name, tokens, bytes) {
		t.part.category(category, name).Messages++
	}
}

func (t *contextTally) put(category, name string, tokens, bytes int) bool {
	if tokens == 0 && bytes == 0 {
		return false
	}
	t.part.category(category, name).plus(contextCategory{Tokens: tokens, Bytes: int64(bytes)})
	return true
}

// message counts a message of the request.
func (t *contextTally) message(m *replay.Weighed) {
	n, b := m.Tokens, m.Bytes
	if m.Once { // no part of the context, which goes on
		t.add(inEphemeral, "", n.Total(), b.Total())
		return
	}
	t.messages++
	t.entry(m)
	switch m.Kind {
	case jsonl.User:
		skill := m.Skill
		skill.Tokens = min(skill.Tokens, n.Text)
		if skill.Bytes > 0 {
			t.add(inSkills, skill.Name, skill.Tokens, skill.Bytes)
		}
		t.add(inUser, "", n.Text-skill.Tokens, b.Text-skill.Bytes)
	case jsonl.Assistant:
		t.add(inAssistant, "", n.Text, b.Text)
	case jsonl.ToolResult:
		t.add(inResults, m.Result.Tool, n.Text, b.Text)
		t.read(m)
	case jsonl.CompactionMessage:
		t.add(inSummaries, "compaction", n.Text, b.Text)
	case jsonl.BranchMessage:
		t.add(inSummaries, "branch", n.Text, b.Text)
	case jsonl.Bash:
		t.add(inShell, "", n.Text, b.Text)
	default:
		category := inCustom
		if m.Hidden {
			category = inUnseen
		}
		t.add(category, "", n.Text, b.Text)
	}
	t.add(inThinking, "", n.Thinking, b.Thinking)
	t.add(inCalls, "", n.Calls, b.Calls)
	t.add(inImages, "", n.Images, b.Images)
	for _, r := range m.Reads {
		t.calls[r.Call] = r.Path
	}
}

// entry records a message among the largest, if it is one.
func (t *contextTally) entry(m *replay.Weighed) {
	t.largest = keep(t.largest, weighedEntry{m.Origin.Record, m.Kind, m.Result.Tool, m.Tokens.Total(), m.Size},
		func(e weighedEntry) int { return e.tokens })
}

// read records the result of a tool that reads a file.
func (t *contextTally) read(m *replay.Weighed) {
	name, ok := t.calls[m.Result.Call]
	if !ok {
		return
	}
	delete(t.calls, m.Result.Call)
	if m.Result.Error {
		return
	}
	name = t.relative(plainPath(name))
	f := t.files[name]
	if f == nil {
		f = &filesReads{}
		t.files[name] = f
		t.paths = append(t.paths, name)
	}
	f.times++
	f.newest = m.Tokens.Total()
	f.tokens += f.newest
	f.record = m.Origin.Record
}

// relative is a path as the session's folder has it.
func (t *contextTally) relative(name string) string {
	if folder := t.l.Report.project; folder != "" {
		if rest, ok := strings.CutPrefix(name, path.Clean(folder)+"/"); ok {
			return rest
		}
	}
	return name
}

// plainPath is the file of a path that may name lines of it (spec/policies.md 3.11).
func plainPath(name string) string {
	if i := strings.LastIndexByte(name, ':'); i > 0 && strings.Trim(name[i+1:], "0123456789-,") == "" {
		name = name[:i]
	}
	return path.Clean(name)
}

// prompt counts prompt and tools.
func (t *contextTally) prompt(e *replay.Envelope) error {
	p, err := e.Prompt()
	if err != nil {
		return err
	}
	t.l.Report.Context.Sessions[0].PromptKnown = p.Known
	parts, tools := p.Count(t.l.Counter)
	for i, part := range p.Parts {
		if part.Name == "skills" {
			t.put(inSkills, "", parts[i], len(part.Text))
		} else {
			t.put(inSystem, part.Name, parts[i], len(part.Text))
		}
	}
	for i, tool := range p.Tools {
		t.put(inTools, tool.Name, tools[i], len(tool.Raw))
	}
	return nil
}

// finish completes the part with what has been counted.
func (t *contextTally) finish(p *ContextPart) {
	c := &p.Sessions[0]
	p.Categories, p.at = t.part.Categories, t.part.at
	for i := range p.Categories {
		if p.Categories[i].Category != inEphemeral {
			c.Tokens += p.Categories[i].Tokens
			c.Bytes += p.Categories[i].Bytes
		}
	}
	c.Messages = t.messages
	if t.l.Recorded && c.Usage.Tokens != nil {
		rest := *c.Usage.Tokens - c.Tokens
		p.category(inRest, "").Tokens = rest
		c.Tokens += rest
	}
	c.Share = share(c.Tokens, c.Window)
	p.category(inHidden, "").Tokens = c.Hidden
	p.order()
	s := t.l.Session
	p.Largest = []contextEntry{}
	for _, e := range t.largest {
		p.Largest = append(p.Largest, contextEntry{
			Entry: sessionfmt.Quote(s.ID(e.record)), Line: s.Line(e.record),
			Kind: e.kind.String(), Tool: e.tool, Tokens: e.tokens, Bytes: e.bytes,
		})
	}
	p.Rereads.Largest = []reread{}
	for _, name := range t.paths {
		f := t.files[name]
		if f.times < 2 {
			continue
		}
		r := reread{Path: name, Times: f.times, Tokens: f.tokens - f.newest, Entry: sessionfmt.Quote(s.ID(f.record))}
		p.Rereads.Files++
		p.Rereads.Tokens += r.Tokens
		p.Rereads.Largest = keep(p.Rereads.Largest, r, func(r reread) int { return r.Tokens })
	}
}
