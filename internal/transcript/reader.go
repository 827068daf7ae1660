package transcript

import (
	"bytes"
	"iter"
	"slices"

	"ctxtool/sessionfmt"
)

// blocks takes items apart with a reader like that one.
func blocks(items iter.Seq2[Item, error], like reader) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		r := like
		r.yield = yield
		for it, err := range items {
			if err != nil {
				yield(nil, err)
				return
			}
			if !r.item(it) {
				return
			}
		}
		r.unanswered()
	}
}

// A reader makes blocks of items. Calls wait in it for their results.
type reader struct {
	turn  int
	only  map[int]bool // the turns that are wanted; nil for all
	story *Story       // nil where nobody wants it
	yield func(*Block, error) bool
	done  bool

	b      Block
	text   []byte
	calls  []ToolCall // that wait, in order
	record int        // that they are in
	stamp  string
}

// item makes blocks of one item, and is false when nobody wants more.
func (r *reader) item(it Item) bool {
	if it.Ready != nil {
		r.unanswered()
		if r.b = *it.Ready; r.b.Kind == Branch {
			r.turn = r.b.Turn
		}
		r.send()
		return !r.done
	}
	src := it.Message
	if src == nil {
		src = it.Entry
	}
	stamp := it.Entry.Get("timestamp").Text()
	if it.Kind != sessionfmt.ToolResult && it.Kind <= sessionfmt.Ephemeral {
		r.unanswered()
	}
	r.b = Block{Record: it.Record, By: it.By, Stamp: stamp, Value: src, Cut: it.Cut}
	switch it.Kind {
	case sessionfmt.User:
		r.turn++
		r.user(src)
	case sessionfmt.Assistant:
		r.assistant(src)
	case sessionfmt.ToolResult:
		r.result(src)
	case sessionfmt.Bash:
		r.shell(src)
	default:
		r.other(it.Kind, src)
	}
	return !r.done
}

// send hands on the block at hand.
func (r *reader) send() {
	if r.done || r.only != nil && !r.only[r.turn] {
		return
	}
	r.b.Turn = r.turn
	if r.story != nil {
		r.story.take(&r.b)
	}
	r.done = !r.yield(&r.b, nil)
}

// telling says that the turn at hand belongs to the story.
func (r *reader) telling() bool { return r.story != nil && (r.only == nil || r.only[r.turn]) }

// say sends a block of that kind with a text.
func (r *reader) say(k Kind, title string, text []byte) {
	r.b.Kind, r.b.Title, r.b.Text = k, title, text
	r.send()
}

// user makes a prompt, and blocks of the skills and images in it.
func (r *reader) user(m value) {
	r.text = appendTexts(r.text[:0], m.Get("content"))
	skill, name, rest := cutSkill(r.text)
	if skill != nil && len(rest) == 0 {
		rest = []byte("/skill:" + name)
	}
	r.say(Prompt, "", rest)
	if skill != nil {
		r.b.Hidden = true
		r.say(Skill, name, skill)
		r.b.Hidden = false
	}
	r.images(m.Get("content"))
}

// assistant makes what the model said and thought, and keeps its calls until their
// results come.
func (r *reader) assistant(m value) {
	var f [6]value
	m.Fields(f[:], "content", "stopReason", "errorMessage", "usage", "model", "provider")
	if r.telling() {
		r.story.request(f[3], f[5].Text(), f[4].Text())
	}
	content := f[0]
	if content.IsString() {
		r.text = content.AppendText(r.text[:0])
		r.say(Answer, "", r.text)
	}
	for c := range content.Elements {
		var f [5]value
		c.Fields(f[:], "type", "text", "thinking", "name", "arguments")
		switch {
		case f[0].Is("text"):
			if r.text = f[1].AppendText(r.text[:0]); len(bytes.TrimSpace(r.text)) > 0 {
				r.say(Answer, "", r.text)
			}
		case f[0].Is("thinking"):
			if r.text = f[2].AppendText(r.text[:0]); len(bytes.TrimSpace(r.text)) > 0 {
				r.say(Thinking, "", r.text)
			}
		case f[0].Is("toolCall"):
			r.record, r.stamp = r.b.Record, r.b.Stamp
			r.calls = append(r.calls, newCall(f[3].Text(), c.Get("id").Text(), slices.Clone(f[4])))
		}
	}
	if f[1].Is("error") || f[1].Is("aborted") {
		r.text = f[2].AppendText(r.text[:0])
		r.say(Failure, f[1].Text(), r.text)
	}
}

// result sends the call that a tool's result answers.
func (r *reader) result(m value) {
	var f [5]value
	m.Fields(f[:], "toolCallId", "toolName", "content", "isError", "details")
	id := f[0].Text()
	call := ToolCall{Name: f[1].Text(), ID: id, Exit: -1}
	b := r.b
	if k := slices.IndexFunc(r.calls, func(c ToolCall) bool { return c.ID == id }); k >= 0 {
		call = r.calls[k]
		r.calls = slices.Delete(r.calls, k, k+1)
		r.b.Record, r.b.Stamp = r.record, r.stamp
		if r.b.By == b.Record { // nothing has changed the result
			r.b.By = r.record
		}
	}
	r.text = appendTexts(r.text[:0], f[2])
	call.Answered, call.Record, call.Details = true, b.Record, f[4]
	call.answer(r.text, f[3].Truthy())
	r.b.Call, r.b.Text = call, nil
	r.say(Call, call.Name, nil)
	r.b = b
	r.images(f[2])
}

// unanswered sends the calls that no result has come for.
func (r *reader) unanswered() {
	if len(r.calls) == 0 {
		return
	}
	b := r.b
	for _, c := range r.calls {
		c.Record = -1
		r.b = Block{Record: r.record, By: r.record, Stamp: r.stamp, Call: c}
		r.say(Call, c.Name, nil)
	}
	r.calls, r.b = r.calls[:0], b
}

// shell makes a block of a command that the user ran.
func (r *reader) shell(m value) {
	if !m.Get("command").Exists() { // as a provider gets it
		r.text = appendTexts(r.text[:0], m.Get("content"))
		r.say(Custom, "command", r.text)
		return
	}
	c := ToolCall{Name: "user", Subject: m.Get("command").Text(), Command: true, Answered: true, Exit: -1, Record: r.b.Record, Args: m}
	if code := m.Get("exitCode"); code.IsNumber() {
		c.Exit = int(code.Int())
	}
	r.text = m.Get("output").AppendText(r.text[:0])
	c.Result, c.Failed = r.text, c.Exit > 0 || m.Get("cancelled").Truthy()
	r.b.Call, r.b.Hidden = c, false
	r.say(Shell, "", nil)
}

// other makes blocks of entries that are neither said by user or model.
func (r *reader) other(k sessionfmt.Kind, v value) {
	r.text = r.text[:0]
	switch k {
	case sessionfmt.Custom, sessionfmt.HookMessage, sessionfmt.CustomMessage, sessionfmt.OtherMessage:
		r.b.Hidden = string(v.Get("display")) == "false"
		name := v.Get("customType").Text()
		if k == sessionfmt.OtherMessage {
			name = v.Get("role").Text()
		}
		r.text = appendTexts(r.text, v.Get("content"))
		r.say(Custom, name, r.text)
		r.b.Hidden = false
		r.images(v.Get("content"))
	case sessionfmt.System:
		r.system(v)
	case sessionfmt.Compaction, sessionfmt.CompactionMessage:
		r.summary(v)
		r.cut(v)
		r.say(Compaction, "", r.text)
	case sessionfmt.BranchSummary, sessionfmt.BranchMessage:
		r.summary(v)
		r.say(Branch, "", r.text)
	case sessionfmt.ContextEdit:
		r.edit(v)
	case sessionfmt.Transform, sessionfmt.TransformMessage:
		r.transform(v)
	case sessionfmt.Ephemeral:
		for m := range v.Get("messages").Elements {
			r.text = append(appendTexts(r.text, m.Get("content")), '\n')
		}
		r.b.Hidden = true
		r.say(Ephemeral, "", bytes.TrimRight(r.text, "\n"))
	case sessionfmt.ModelChange:
		r.say(Setting, "model", []byte(v.Get("provider").Text()+"/"+v.Get("modelId").Text()))
	case sessionfmt.ThinkingChange:
		r.say(Setting, "thinking level", []byte(v.Get("thinkingLevel").Text()))
	case sessionfmt.Label:
		r.say(Label, v.Get("targetId").Text(), v.Get("label").AppendText(r.text))
	case sessionfmt.SessionInfo:
		if r.story != nil {
			r.story.Name = v.Get("name").Text()
		}
	case sessionfmt.UsageEntry:
		if r.telling() {
			r.story.pay(v.Get("usage"))
		}
	}
}

// summary takes the text of a summary: an entry's, or what a provider gets for it.
func (r *reader) summary(v value) {
	if text := v.Get("summary"); text.Exists() {
		r.text = text.AppendText(r.text)
	} else {
		r.text = appendTexts(r.text, v.Get("content"))
	}
}

// cut adds to what a compaction did what it says of itself.
func (r *reader) cut(v value) {
	if r.b.Cut != nil {
		r.b.Cut.Tokens = int(v.Get("tokensBefore").Int())
	}
}

// images makes blocks of the images in a message's content.
func (r *reader) images(content value) {
	for c := range content.Elements {
		if c.Get("type").Is("image") {
			r.b.Value = c
			r.say(Image, c.Get("mimeType").Text(), nil)
		}
	}
}

// appendTexts appends the texts of a message's content, each on lines of its own.
func appendTexts(dst []byte, content value) []byte {
	if content.IsString() {
		return content.AppendText(dst)
	}
	start := len(dst)
	for c := range content.Elements {
		if text := c.Get("text"); text.IsString() && !c.Get("type").Is("thinking") {
			if len(dst) > start && dst[len(dst)-1] != '\n' {
				dst = append(dst, '\n')
			}
			dst = text.AppendText(dst)
		}
	}
	return dst
}

// cutSkill takes the instructions of a skill off a prompt (spec/pi-format.md 9.1).
func cutSkill(text []byte) (skill []byte, name string, rest []byte) {
	body, ok := bytes.CutPrefix(text, []byte("<skill "))
	head, body, closed := bytes.Cut(body, []byte(">"))
	skill, rest, ended := bytes.Cut(body, []byte("</skill>"))
	if !ok || !closed || !ended {
		return nil, "", text
	}
	if _, after, ok := bytes.Cut(head, []byte(`name="`)); ok {
		quoted, _, _ := bytes.Cut(after, []byte(`"`))
		name = string(quoted)
	}
	return bytes.Trim(skill, "\r\n"), name, bytes.TrimSpace(rest)
}
