package stats

import (
	"bytes"
	"iter"

	"ctxtool/internal/activity"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A weighed is a message of a request with its size, without its text.
type weighed struct {
	Kind      jsonl.Kind // by its role in the session
	Origin    origin.Origin
	Ephemeral bool // logged for one request only
	Hidden    bool // a custom message that is not displayed

	Tokens weigh.Weight // by the counter
	Bytes  weigh.Weight // bytes of its blocks as JSON
	Size   int          // bytes of the message's JSON as the provider gets it

	Skill  skill  // of a prompt that begins with a skill's instructions
	Result result // of a tool result
	Reads  []read // files that an answer reads
	Images []int  // bytes of base64 of each image
}

// A skill is the instructions of a skill at the start of a prompt (docs/session-format.md 4.6),
// which are part of its text.
type skill struct {
	Name          string // empty if there are none
	Tokens, Bytes int
}

// A result identifies the call of a tool result. Call is empty unless the tool reads files.
type result struct {
	Tool  string
	Call  string
	Error bool
}

// A read is a call of a tool that reads a file.
type read struct{ Call, Path string }

// weighedBy yields the messages of a request with their sizes by a counter.
func weighedBy(c *tokens.Counter, e *replay.Envelope) iter.Seq2[*weighed, error] {
	return replay.Each(e, func(l *replay.Reader, p *replay.Piece) (*weighed, error) {
		m, size, err := l.Message(p)
		if err != nil {
			return nil, err
		}
		out := &weighed{Kind: p.Kind(), Origin: p.Origin(), Size: size, Tokens: l.Weigh(c, m)}
		out.read(c, m)
		if out.Kind == jsonl.Custom || out.Kind == jsonl.HookMessage {
			v, err := l.Agent(p)
			out.Hidden = string(v.Get("display")) == "false"
			return out, err
		}
		return out, nil
	})
}

// read records the parts of a message.
func (out *weighed) read(c *tokens.Counter, m *jsonl.Message) {
	for i := range m.Blocks {
		b := &m.Blocks[i]
		size := len(b.Raw)
		switch b.Kind {
		case jsonl.TextBlock:
			if out.Bytes.Text == 0 && m.Kind == jsonl.User {
				out.Skill = skillOf(c, b.Text.Value)
			}
			out.Bytes.Text += size
		case jsonl.ThinkingBlock:
			out.Bytes.Thinking += size
		case jsonl.ImageBlock:
			out.Bytes.Images += size
			out.Images = append(out.Images, max(0, len(b.Data)-2))
		case jsonl.CallBlock:
			out.Bytes.Calls += size
			c := activity.New(b.Name.Text(), b.ID.Text(), b.Args)
			if file, _ := c.Reads(); file != "" {
				out.Reads = append(out.Reads, read{Call: c.ID, Path: file})
			}
		}
	}
	if m.Kind != jsonl.ToolResult {
		return
	}
	tool := m.Tool.Text()
	out.Result = result{Tool: tool, Error: m.IsError.Truthy()}
	if activity.Named(tool) == activity.Read {
		out.Result.Call = m.CallID.Text()
	}
}

const skillTag, skillEnd = `"<skill `, `</skill>`

// skillOf returns the skill that a text begins with.
func skillOf(c *tokens.Counter, raw jsonl.Value) skill {
	end := bytes.Index(raw, []byte(skillEnd))
	if !bytes.HasPrefix(raw, []byte(skillTag)) || end < 0 {
		return skill{}
	}
	end += len(skillEnd)
	text := jsonl.Value(append(bytes.Clone(raw[:end]), '"')).AppendText(nil)
	_, name, _ := activity.CutSkill(text)
	return skill{Name: name, Tokens: weigh.TextTokens(c, text), Bytes: end - 1}
}
