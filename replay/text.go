package replay

import (
	"strconv"
	"strings"

	"ctxtool/internal/base/scratch"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

type value = jsonl.Value

// A Reader reads messages. Each result is valid until the next call. It is not safe for
// concurrent use.
type Reader struct {
	r        *Replay
	lines    *sessionfmt.Reader // reads the entries of messages
	edits    *sessionfmt.Reader // reads the edits on them
	buf      []byte
	out      []byte // buffer for an edited message
	sent     []byte // buffer for a message made for the provider
	at       jsonl.Cursor
	msg      jsonl.Message
	weighing weigh.Weigher
}

// NewReader returns a reader of the session's messages.
func (r *Replay) NewReader() *Reader {
	return &Reader{r: r, lines: r.Session.NewReader(), edits: r.Session.NewReader()}
}

// Lines returns the entry of a message, and the edit in force on it, nil if none.
func (l *Reader) Lines(m Piece) (line, edit jsonl.Value, err error) {
	if line, err = l.lines.Line(int(m.rec)); err == nil && m.edit >= 0 {
		edit, err = l.edits.Line(int(m.edit))
	}
	return line, edit, err
}

// Line returns the line of an entry.
func (l *Reader) Line(rec int) (jsonl.Value, error) { return l.lines.Line(rec) }

// Timestamp returns the time of an entry.
func (l *Reader) Timestamp(rec int) (jsonl.Value, error) { return l.lines.Timestamp(rec) }

// Agent returns the message as pi's own context building does (docs/session-format.md 5.3,
// 5.6).
func (l *Reader) Agent(m Piece) (jsonl.Value, error) {
	line, err := l.lines.Line(int(m.rec))
	if err != nil {
		return nil, err
	}
	v := l.source(m, line)
	if m.edit < 0 {
		return v, nil
	}
	edit, err := l.edits.Line(int(m.edit))
	if err != nil {
		return nil, err
	}
	content := edit.Get("replacement").Get("content")
	if content.IsString() && (m.kind == jsonl.Assistant || m.kind == jsonl.ToolResult) {
		content = textBlocks(nil, content)
	}
	l.out = v.AppendEdited(scratch.Reset(l.out), jsonl.Field{Name: "content", Value: content})
	return l.out, nil
}

// source returns the unedited message, built from its record's line.
func (l *Reader) source(m Piece, line value) value {
	switch m.form {
	case checkpoint, patchGiven, framedSummary:
		return line[m.start : m.start+m.size]
	case plain:
		v, content := l.plain(line)
		if m.kind == jsonl.Custom && l.r.Session.Version < 3 {
			l.buf = v.AppendEdited(scratch.Reset(l.buf), jsonl.Field{Name: "role", Value: value(`"custom"`)})
			return l.buf
		}
		if empty := emptyContent(m.kind); empty != nil && content.IsNull() {
			l.buf = v.AppendEdited(scratch.Reset(l.buf), jsonl.Field{Name: "content", Value: empty})
			return l.buf
		}
		return v
	case custom:
		l.buf = appendObject(scratch.Reset(l.buf), line, `"custom"`, "customType", "content", "display", "details")
	case branch:
		l.buf = appendObject(scratch.Reset(l.buf), line, `"branchSummary"`, "summary", "fromId")
	case summary:
		names := []string{"summary", "tokensBefore", "method"}
		if !l.r.Session.OhMyPi() {
			names = names[:2]
		}
		l.buf = appendObject(scratch.Reset(l.buf), line, `"compactionSummary"`, names...)
		if a, ok := archiveOf(line); ok {
			l.buf = value(l.buf).AppendEdited(nil, jsonl.Field{Name: "blocks", Value: a.blocks()})
		}
	case opSummary:
		l.buf = appendOpSummary(scratch.Reset(l.buf), line[m.start:m.start+m.size])
	}
	return l.buf
}

// plain returns the message of a line and its content, in one pass.
func (l *Reader) plain(line value) (msg, content value) {
	c := l.at.Reset(line)
	for key := range c.Members {
		if string(key) != "message" {
			continue
		}
		start := c.Offset()
		content = nil
		for key := range c.Members {
			if string(key) == "content" {
				content = c.Value()
			}
		}
		msg = c.Since(start)
	}
	return msg, content
}

// emptyContent returns the content that null or missing content stands for, nil if it is left unchanged.
func emptyContent(k jsonl.Kind) value {
	switch k {
	case jsonl.System:
		return value(`""`)
	case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
		return value(`[]`)
	}
	return nil
}

// appendObject builds a message with that role from an entry: the named fields if present, and
// the entry's time in milliseconds, null if that is not a date.
func appendObject(dst []byte, line value, role string, names ...string) []byte {
	fields := []jsonl.Field{{Name: "role", Value: value(role)}}
	for i, v := range line.All(append(names, "timestamp")...) {
		switch ms, ok := v.Date(); {
		case i < len(names):
			if names[i] == "content" && v.IsNull() {
				v = value(`[]`)
			}
			fields = append(fields, jsonl.Field{Name: names[i], Value: v})
		case ok:
			fields = append(fields, jsonl.Field{Name: "timestamp", Value: strconv.AppendInt(nil, ms, 10)})
		default:
			fields = append(fields, jsonl.Field{Name: "timestamp", Value: value("null")})
		}
	}
	return jsonl.AppendObject(dst, fields...)
}

// appendOpSummary builds the message of a compaction_apply op. Its time is the op's.
func appendOpSummary(dst []byte, op value) []byte {
	f := op.All("summary", "tokensBefore", "timestamp")
	return jsonl.AppendObject(dst, jsonl.Field{Name: "role", Value: value(`"compactionSummary"`)},
		jsonl.Field{Name: "summary", Value: f[0]},
		jsonl.Field{Name: "tokensBefore", Value: f[1]}, jsonl.Field{Name: "timestamp", Value: f[2]})
}

// textOpening begins a text block.
const textOpening = `{"type":"text","text":`

// textBlocks appends an array with one text block; text is a JSON string.
func textBlocks(dst []byte, text value) value {
	dst = append(append(dst, '['), textOpening...)
	dst = append(dst, text...)
	return append(dst, `}]`...)
}

// Texts in which pi wraps summaries before sending them, escaped for JSON. The two closings differ by a newline
// (docs/session-format.md 7.2).
const (
	compactionOpening = `The conversation history before this point was compacted into the following summary:` +
		`\n\n<summary>\n`
	compactionClosing = `\n</summary>`
	branchOpening     = `The following is a summary of a branch that this conversation came back from:\n\n<summary>\n`
	branchClosing     = `</summary>`
)

// Openings of oh-my-pi's frames; both closings are compactionClosing.
const (
	ompCompactionOpening = `Prior model work/tool state available.\n` +
		`MUST build on prior work; NEVER duplicate prior work.\n\n<summary>\n`
	ompBranchOpening = `Branch-return summary:\n\n<summary>\n`
)

// oh-my-pi's frame around the summary that the model wrote for its successor (method handoff).
const (
	ompHandoffOpening = `Context replaced. The <handoff> below is a handoff document a prior instance of you wrote ` +
		`from the full conversation. It is your own working memory, not user input.\n` +
		`- First person inside it refers to you (the prior instance).\n` +
		`- \"Next Steps\" is your own resumed plan; re-check it against the latest user message before acting.\n` +
		`- The handoff already exists and is complete: NEVER write another handoff document unless the user ` +
		`explicitly asks.\nMUST build on prior work; NEVER duplicate prior work.\n\n<handoff>\n`
	ompHandoffClosing = `\n</handoff>`
)

// Provider returns the message as a provider gets it, nil if it does not get it
// (docs/session-format.md 7.1).
func (l *Reader) Provider(m Piece) (jsonl.Value, error) {
	if m.flags&(omitted|unsent) != 0 {
		return nil, nil
	}
	v, err := l.Agent(m)
	if err != nil {
		return nil, err
	}
	if m.form == patchGiven || m.form == framedSummary {
		return v, nil
	}
	switch m.kind {
	case jsonl.System, jsonl.User, jsonl.Assistant, jsonl.ToolResult:
		return v, nil
	}
	var f [2]value
	v.Fields(f[:], "content", "timestamp")
	content := f[0]
	switch m.kind {
	case jsonl.Custom, jsonl.HookMessage:
		if content.IsString() {
			content = textBlocks(nil, content)
		}
	default:
		if more := v.Get("blocks"); m.form == summary && more.IsArray() { // an introduction precedes the summary
			content = textBlocks(nil, v.Get("summary"))
			if len(more) > len("[]") {
				content = append(append(content[:len(content)-1], ','), more[1:]...)
			}
			break
		}
		content = textBlocks(nil, append(l.wrapped([]byte{'"'}, m, v), '"'))
	}
	l.sent = jsonl.AppendObject(scratch.Reset(l.sent), jsonl.Field{Name: "role", Value: value(`"user"`)},
		jsonl.Field{Name: "content", Value: content}, jsonl.Field{Name: "timestamp", Value: f[1]})
	return l.sent, nil
}

// wrapped appends the text that is sent for a summary or shell command, escaped for JSON.
func (l *Reader) wrapped(dst []byte, m Piece, v value) []byte {
	switch ohMyPi := l.r.Session.OhMyPi(); {
	case ohMyPi && m.kind == jsonl.BranchMessage:
		return join(dst, ompBranchOpening, v.Get("summary"), compactionClosing)
	case ohMyPi && m.kind == jsonl.CompactionMessage && v.Get("method").Is("handoff"):
		return join(dst, ompHandoffOpening, v.Get("summary"), ompHandoffClosing)
	case ohMyPi && m.kind == jsonl.CompactionMessage:
		return join(dst, ompCompactionOpening, v.Get("summary"), compactionClosing)
	case m.kind == jsonl.BranchMessage:
		return join(dst, branchOpening, v.Get("summary"), branchClosing)
	case m.kind == jsonl.CompactionMessage:
		return join(dst, compactionOpening, v.Get("summary"), compactionClosing)
	}
	return bashText(dst, v)
}

// join appends a value between two texts as JavaScript would: a string as its text, a missing
// value as undefined.
func join(dst []byte, before string, v value, after string) []byte {
	dst = append(dst, before...)
	switch {
	case !v.Exists():
		dst = append(dst, "undefined"...)
	case v.IsString():
		dst = append(dst, v[1:len(v)-1]...)
	default:
		quoted := jsonl.AppendQuoted(nil, string(v))
		dst = append(dst, quoted[1:len(quoted)-1]...)
	}
	return append(dst, after...)
}

// bashText appends the text of a bashExecution as the model sees it, escaped for JSON.
func bashText(dst []byte, v value) []byte {
	var f [6]value
	v.Fields(f[:], "command", "output", "cancelled", "exitCode", "truncated", "fullOutputPath")
	dst = join(dst, "Ran `", f[0], "`\\n")
	if f[1].Truthy() {
		dst = join(dst, "```\\n", f[1], "\\n```")
	} else {
		dst = append(dst, "(no output)"...)
	}
	if code, isNumber := f[3].Float(); f[2].Truthy() {
		dst = append(dst, `\n\n(command cancelled)`...)
	} else if !f[3].IsNull() && !(isNumber && code == 0) {
		dst = join(dst, `\n\nCommand exited with code `, f[3], "")
	}
	if f[4].Truthy() && f[5].Truthy() {
		dst = join(dst, `\n\n[Output truncated. Full output: `, f[5], "]")
	}
	return dst
}

// SummaryText returns the text that is sent for a compaction's summary.
func SummaryText(summary string) string {
	unescape := strings.NewReplacer(`\n`, "\n").Replace
	return unescape(compactionOpening) + summary + unescape(compactionClosing)
}
