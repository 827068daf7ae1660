package stats

import (
	"path"
	"strings"

	"ctxtool/internal/said"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A contextTally counts the request at the point.
type contextTally struct {
	l      *lensRun
	part   *ContextPart
	calls  map[string]string // file paths of calls that read, by call id
	files  []fileReads       // in the order of their first reads
	fileAt map[string]int    // by path
}

// fileReads are the reads of a file, of which newest is the tokens of the newest.
type fileReads struct {
	reread
	newest int
}

func newContextTally(l *lensRun) *contextTally {
	return &contextTally{l: l, part: l.Report.Context, calls: map[string]string{}, fileAt: map[string]int{}}
}

// add is so much more of a category, in so many messages. What takes nothing is not there.
func (t *contextTally) add(category, name string, tokens, bytes, messages int) {
	if tokens == 0 && bytes == 0 {
		return
	}
	c := t.part.category(category, name)
	c.Tokens += tokens
	c.Bytes += int64(bytes)
	c.Messages += messages
}

// message counts a message of the request.
func (t *contextTally) message(m *replay.Weighed) {
	n, b := m.Tokens, m.Bytes
	if m.Once { // no part of the context, which goes on
		t.add(inEphemeral, "", n.Total(), b.Total(), 1)
		return
	}
	t.part.Sessions[0].Messages++
	s, from := t.l.Session, m.Origin.Record
	t.part.Largest = keep(t.part.Largest, contextEntry{
		Entry: sessionfmt.Quote(s.ID(from)), Line: s.Line(from), Kind: m.Kind.String(), Tool: m.Result.Tool, Tokens: n.Total(), Bytes: m.Size,
	}, entryTokens)
	switch m.Kind {
	case jsonl.User:
		skill := m.Skill
		skill.Tokens = min(skill.Tokens, n.Text)
		if skill.Bytes > 0 {
			t.add(inSkills, skill.Name, skill.Tokens, skill.Bytes, 1)
		}
		t.add(inUser, "", n.Text-skill.Tokens, b.Text-skill.Bytes, 1)
	case jsonl.Assistant:
		t.add(inAssistant, "", n.Text, b.Text, 1)
	case jsonl.ToolResult:
		t.add(inResults, m.Result.Tool, n.Text, b.Text, 1)
		t.read(m)
	case jsonl.CompactionMessage:
		t.add(inSummaries, "compaction", n.Text, b.Text, 1)
	case jsonl.BranchMessage:
		t.add(inSummaries, "branch", n.Text, b.Text, 1)
	case jsonl.Bash:
		t.add(inShell, "", n.Text, b.Text, 1)
	default:
		category := inCustom
		if m.Hidden {
			category = inUnseen
		}
		t.add(category, "", n.Text, b.Text, 1)
	}
	t.add(inThinking, "", n.Thinking, b.Thinking, 1)
	t.add(inCalls, "", n.Calls, b.Calls, 1)
	t.add(inImages, "", n.Images, b.Images, 1)
	for _, r := range m.Reads {
		t.calls[r.Call] = r.Path
	}
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
	name, _ = said.File(name)
	name = path.Clean(name)
	if folder := t.l.Report.project; folder != "" {
		name = strings.TrimPrefix(name, path.Clean(folder)+"/")
	}
	f := rowOf(&t.files, t.fileAt, name, fileReads{reread: reread{Path: name}})
	f.Times++
	f.Tokens += f.newest
	f.newest, f.Entry = m.Tokens.Total(), sessionfmt.Quote(t.l.Session.ID(m.Origin.Record))
}

// prompt counts prompt and tools.
func (t *contextTally) prompt(e *replay.Envelope) error {
	p, err := e.Prompt()
	if err != nil {
		return err
	}
	t.part.Sessions[0].PromptKnown = p.Known
	_, tools := p.Count(t.l.Counter)
	parts, taken := p.CountSplit(t.l.Counter)
	for i, part := range parts {
		category, name := inSystem, part.Name
		if part.Skill != "" {
			category = inSkills
		} else if name == "skills" {
			category, name = inSkills, ""
		}
		t.add(category, name, taken[i], len(part.Text), 0)
	}
	for i, tool := range p.Tools {
		t.add(inTools, tool.Name, tools[i], len(tool.Raw), 0)
	}
	return nil
}

// finish completes the part with what has been counted.
func (t *contextTally) finish() {
	p := t.part
	c := &p.Sessions[0]
	for i := range p.Categories {
		if p.Categories[i].Category != inEphemeral {
			c.Tokens += p.Categories[i].Tokens
			c.Bytes += p.Categories[i].Bytes
		}
	}
	if t.l.Recorded && c.Usage.Tokens != nil {
		rest := *c.Usage.Tokens - c.Tokens
		p.category(inRest, "").Tokens = rest
		c.Tokens += rest
	}
	c.Share = share(c.Tokens, c.Window)
	p.category(inHidden, "").Tokens = c.Hidden
	p.order()
	again := &p.Rereads
	for _, f := range t.files {
		if f.Times > 1 {
			again.Files++
			again.Tokens += f.Tokens
			again.Largest = append(again.Largest, f.reread)
		}
	}
	again.Largest = largest(again.Largest, most, rereadTokens)
}
