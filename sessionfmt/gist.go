package sessionfmt

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// gistSize is how much of a text is looked at for its gist, in bytes.
const gistSize = 200

// Gist is what an entry says in a line, for people: the first words of a message,
// what a setting is set to. It has no line ends and nothing that a terminal would
// obey, and is empty where there is nothing to say.
func Gist(kind Kind, line Value) string {
	g := gist{}
	g.entry(kind, line)
	return g.String()
}

// MessageGist is the gist of a message by itself, of whatever role.
func (v Value) MessageGist() string {
	g := gist{}
	g.message(v.Get("role").RoleKind(), g.at.Reset(v))
	return g.String()
}

// FirstWords is the gist of a text.
func FirstWords(text string) string {
	g := gist{}
	g.add(text)
	return g.String()
}

// A gist gathers pieces of an entry until they are enough.
type gist struct {
	words []byte // with spaces between them
	size  int    // without
	out   []byte

	at  Cursor
	msg Message
}

// entry gathers what an entry says, and returns its timestamp.
func (g *gist) entry(kind Kind, line Value) (time Value) {
	g.words, g.size = g.words[:0], 0
	for key := range g.at.Reset(line).Members {
		switch string(key) {
		case "timestamp":
			time = g.at.Value()
		case "message":
			if kind < NoMessage {
				g.words, g.size = g.words[:0], 0 // of two the last one counts
				g.message(kind, &g.at)
			}
		}
	}
	if kind > NoMessage {
		g.other(kind, line)
	}
	return time
}

// other gathers what an entry says that is no message.
func (g *gist) other(kind Kind, line Value) {
	switch kind {
	case Compaction, BranchSummary:
		g.text(line.Get("summary"))
	case CustomMessage:
		g.add(line.Get("customType").Text() + ":")
		g.content(line.Get("content"), kind)
	case CustomEntry:
		g.add(line.Get("customType").Text())
	case ContextEdit:
		g.edit(line)
	case Transform:
		g.add(line.Get("transformerName").Text() + ":")
		for op := range line.Get("patch").Elements {
			g.add(op.Get("op").Text())
		}
	case Ephemeral:
		for m := range line.Get("messages").Elements {
			g.content(m.Get("content"), Unknown)
		}
	case ModelChange:
		g.add(line.Get("provider").Text() + "/" + line.Get("modelId").Text())
	case ThinkingChange:
		g.add(line.Get("thinkingLevel").Text())
	case Label:
		if name := line.Get("label").Text(); name != "" {
			g.add(strconv.Quote(name) + " on " + line.Get("targetId").Text())
		} else {
			g.add("clears the label of " + line.Get("targetId").Text())
		}
	case SessionInfo:
		g.add(line.Get("name").Text())
	case UsageEntry:
		g.add(line.Get("kind").Text())
	case Header:
		g.add(line.Get("cwd").Text())
	case Unknown:
		g.add("type " + line.Get("type").Text())
	case Scalar:
		g.add(string(line[:min(len(line), gistSize)]))
	}
}

// String is what has been gathered, on one line.
func (g *gist) String() string {
	out := g.out[:0]
	for rest := g.words; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch {
		case !unicode.IsSpace(r):
			out = utf8.AppendRune(out, cleanRune(r))
		case len(out) > 0 && out[len(out)-1] != ' ':
			out = append(out, ' ')
		}
		rest = rest[n:]
	}
	g.out = out
	return string(bytes.TrimSuffix(out, []byte{' '}))
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
func (g *gist) text(v Value) { g.add(v.beginning(gistSize)) }

// message gathers what the message that comes next says.
func (g *gist) message(kind Kind, c *Cursor) {
	start := c.Offset()
	g.msg.Read(c, kind)
	m := c.since(start)
	switch kind {
	case System:
		g.system(m)
	case Bash:
		g.add("$ " + m.Get("command").beginning(gistSize))
	case BranchMessage, CompactionMessage:
		g.text(m.Get("summary"))
	case ToolResult:
		if g.msg.IsError.Truthy() {
			g.add("error")
		}
		g.add(g.msg.Tool.Text() + ":")
		g.blocks()
	case Assistant:
		g.blocks()
		if g.msg.Failed() {
			g.add("[" + g.msg.Stop.Text() + "]")
			g.text(g.msg.Failure)
		}
	default:
		g.blocks()
	}
}

// system names the sections and tools that a system message sets.
func (g *gist) system(m Value) {
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

// content gathers a content by itself.
func (g *gist) content(content Value, kind Kind) {
	g.msg.ReadContent(g.at.Reset(content), kind)
	g.blocks()
}

// blocks gathers a message's texts, then what it calls; thinking only where it
// says nothing else.
func (g *gist) blocks() {
	if g.msg.Content.IsString() {
		g.text(g.msg.Content)
		return
	}
	var thinking Value
	for i := range g.msg.Blocks {
		if g.size >= gistSize {
			return
		}
		switch b := &g.msg.Blocks[i]; b.Kind {
		case TextBlock:
			g.text(b.Says.Value)
		case ImageBlock:
			g.add("[image]")
		case ThinkingBlock:
			thinking = b.Says.Value
		case CallBlock:
			g.add(b.Name.Text() + "(" + firstArgument(b.Args) + ")")
		}
	}
	if g.size == 0 && thinking.Exists() {
		g.add("(thinks)")
		g.text(thinking)
	}
}

// firstArgument is the first argument of a call, which mostly says what it is
// about.
func firstArgument(args Value) string {
	for _, v := range args.Members {
		if v.IsString() {
			return v.beginning(120)
		}
		return string(v[:min(len(v), 120)])
	}
	return ""
}

func (g *gist) edit(line Value) {
	replacement := line.Get("replacement")
	switch {
	case !replacement.Exists():
		g.add("nothing of " + line.Get("targetId").Text())
	case replacement.IsNull():
		g.add("omits " + line.Get("targetId").Text())
	default:
		g.add("rewrites " + line.Get("targetId").Text() + ":")
		g.content(replacement.Get("content"), Unknown)
	}
}
