package outline

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	"ctxtool/internal/read/activity"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// gistSize is how much of a text a gist uses, in bytes.
const gistSize = 200

// Gist describes an entry in one line: the first words of a message, or the new value of a
// setting. It has no line ends and no terminal escapes, and is empty if there is nothing to
// describe.
func Gist(kind jsonl.Kind, line jsonl.Value) string {
	g := gist{}
	g.entry(kind, line)
	return g.String()
}

// MessageGist returns the gist of a message, of any role.
func MessageGist(v jsonl.Value) string {
	g := gist{}
	g.message(v.Get("role").RoleKind(), g.at.Reset(v))
	return g.String()
}

// FirstWords returns the gist of a text.
func FirstWords(text string) string {
	g := gist{}
	g.add(text)
	return g.String()
}

// A gist collects text of an entry until it is long enough.
type gist struct {
	words []byte // separated by spaces
	size  int    // without separators
	out   []byte

	at  jsonl.Cursor
	msg jsonl.Message
}

// entry collects the text of an entry, and returns its timestamp.
func (g *gist) entry(kind jsonl.Kind, line jsonl.Value) (time jsonl.Value) {
	g.words, g.size = g.words[:0], 0
	for key := range g.at.Reset(line).Members {
		switch string(key) {
		case "timestamp":
			time = g.at.Value()
		case "message":
			if kind < jsonl.NoMessage {
				g.words, g.size = g.words[:0], 0 // of equal keys the last one counts
				g.message(kind, &g.at)
			}
		}
	}
	if kind > jsonl.NoMessage {
		g.other(kind, line)
	}
	return time
}

// other collects the text of an entry that is not a message.
func (g *gist) other(kind jsonl.Kind, line jsonl.Value) {
	switch kind {
	case jsonl.Compaction, jsonl.BranchSummary:
		g.text(line.Get("summary"))
	case jsonl.CustomMessage:
		g.add(line.Get("customType").Text() + ":")
		g.content(line.Get("content"), kind)
	case jsonl.ContextEdit:
		g.edit(line)
	case jsonl.Transform:
		g.add(line.Get("transformerName").Text() + ":")
		for op := range line.Get("patch").Elements {
			g.add(op.Get("op").Text())
		}
	case jsonl.Ephemeral:
		for m := range line.Get("messages").Elements {
			g.content(m.Get("content"), jsonl.Unknown)
		}
	case jsonl.ModelChange:
		provider, id := line.Model()
		g.add(models.Ref{Provider: provider.Text(), ID: id.Text()}.Name())
	case jsonl.Label:
		if name := line.Get("label").Text(); name != "" {
			g.add(strconv.Quote(name) + " on " + line.Get("targetId").Text())
		} else {
			g.add("clears the label of " + line.Get("targetId").Text())
		}
	case jsonl.ChildUsage:
		g.add("for " + line.Get("targetId").Text())
	case jsonl.UsageEntry:
		f := line.All("kind", "purpose")
		g.add(cmp.Or(f[0].Text(), f[1].Text()))
	case jsonl.Deletion:
		for target := range line.Get("deletedTargets").Elements {
			g.add(target.Get("entryId").Text())
		}
	case jsonl.Reset:
		g.add("keeps from " + cmp.Or(line.Get("firstKeptEntryId").Text(), "here"))
	case jsonl.Unknown:
		g.add("type " + line.Get("type").Text())
	case jsonl.Scalar:
		g.add(string(line[:min(len(line), gistSize)]))
	default:
		for _, name := range told[kind] {
			line = line.Get(name)
		}
		g.add(line.Text())
	}
}

// told are the texts of entries that one field tells.
var told = map[jsonl.Kind][]string{
	jsonl.CustomEntry: {"customType"}, jsonl.ThinkingChange: {"thinkingLevel"}, jsonl.Retitled: {"title"},
	jsonl.Slot: {"title"}, jsonl.SessionInfo: {"name"}, jsonl.Tier: {"serviceTier"},
	jsonl.Header: {"cwd"}, jsonl.Status: {"status", "summary"}, jsonl.State: {"state", "status"},
}

// replaced describes the transform that stands for what another agent did to its history: its
// name, and how many messages it leaves: n that it keeps, and its own.
func (g *gist) replaced(name, patch jsonl.Value, n int) {
	for op := range patch.Elements {
		for range op.Get("messages").Elements {
			n++
		}
	}
	g.words = g.words[:0]
	g.add(fmt.Sprintf("%s: the context becomes %d %s", name.Text(), n,
		cmp.Or(map[int]string{1: "message"}[n], "messages")))
}

// String returns the collected text, on one line.
func (g *gist) String() string {
	g.out = g.out[:0]
	for word := range bytes.FieldsSeq(g.words) {
		g.out = append(append(g.out, word...), ' ')
	}
	return sessionfmt.Clean(string(bytes.TrimSuffix(g.out, []byte{' '})))
}

func (g *gist) add(s string) {
	if s == "" || s == ":" || g.size >= gistSize {
		return
	}
	if len(s) > gistSize {
		s = s[:gistSize]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		s = s[:max(0, len(s)-1)]
	}
	g.words = append(append(g.words, s...), ' ')
	g.size += len(s)
}

// text adds the beginning of a string.
func (g *gist) text(v jsonl.Value) { g.add(v.Beginning(gistSize)) }

// message collects the text of the next message.
func (g *gist) message(kind jsonl.Kind, c *jsonl.Cursor) {
	start := c.Offset()
	g.msg.Read(c, kind)
	m := c.Since(start)
	switch kind {
	case jsonl.System:
		g.system(m)
	case jsonl.Bash:
		g.add("$ " + m.Get("command").Beginning(gistSize))
	case jsonl.BranchMessage, jsonl.CompactionMessage:
		g.text(m.Get("summary"))
	case jsonl.ToolResult:
		if g.msg.IsError.Truthy() {
			g.add("error")
		}
		g.add(g.msg.Tool.Text() + ":")
		for call := range g.msg.NestedCalls {
			g.add("[called " + call.Get("name").Text() + "]")
		}
		g.blocks()
	case jsonl.Assistant:
		g.blocks()
		if g.msg.Failed() {
			g.add("[" + g.msg.Stop.Text() + "]")
			g.text(g.msg.Failure)
		}
	default:
		g.blocks()
	}
}

// system adds the names of the sections and tools that a system message sets.
func (g *gist) system(m jsonl.Value) {
	g.blocks()
	for name, text := range m.Get("sections").Members {
		if text.IsNull() {
			g.add("-" + string(name))
		} else {
			g.add(string(name))
		}
	}
	for t := range m.Get("toolsAdded").Elements {
		g.add("+" + t.Get("name").Text())
	}
	for t := range m.Get("toolsRemoved").Elements {
		g.add("-" + t.Get("name").Text())
	}
}

// content collects the text of a content.
func (g *gist) content(content jsonl.Value, kind jsonl.Kind) {
	g.msg.ReadContent(g.at.Reset(content), kind)
	g.blocks()
}

// blocks collects a message's texts, then its calls, and thinking only if there is nothing
// else.
func (g *gist) blocks() {
	if g.msg.Content.IsString() {
		g.text(g.msg.Content)
		return
	}
	var thinking jsonl.Value
	for i := range g.msg.Blocks {
		if g.size >= gistSize {
			return
		}
		switch b := &g.msg.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			g.text(b.Text.Value)
		case jsonl.ImageBlock:
			g.add("[image]")
		case jsonl.ThinkingBlock:
			thinking = b.Text.Value
		case jsonl.CallBlock:
			c := activity.New(b.Name.Text(), "", b.Args)
			g.add(c.Tool + "(" + c.Beginning(120) + ")")
		}
	}
	if g.size == 0 && thinking.Exists() {
		g.add("(thinks)")
		g.text(thinking)
	}
}

func (g *gist) edit(line jsonl.Value) {
	replacement := line.Get("replacement")
	switch {
	case !replacement.Exists():
		g.add("nothing of " + line.Get("targetId").Text())
	case replacement.IsNull():
		g.add("omits " + line.Get("targetId").Text())
	default:
		g.add("rewrites " + line.Get("targetId").Text() + ":")
		g.content(replacement.Get("content"), jsonl.Unknown)
	}
}
