package transcript

import (
	"iter"
	"slices"

	"ctxtool/sessionfmt"
)

// Blocks goes through a conversation, or a part of it, and tells the story of it,
// unless that is nil. Without texts it reads only what the story needs.
type Blocks func(story *Story, texts bool) iter.Seq2[*Block, error]

// A reader makes blocks of items. Calls wait in it for their results.
type reader struct {
	turn  int
	only  map[int]bool // the turns that are wanted; nil for all
	story *Story       // nil where nobody wants it
	texts bool
	yield func(*Block, error) bool
	done  bool

	b     Block
	text  []byte
	at    sessionfmt.Cursor
	m     message
	calls []ToolCall // that wait, in order
	args  []byte     // that theirs stand in
	from  int        // the record that they are in
}

// A message is what matters of a message of user, model or tool.
type message struct {
	texts                                 []value
	images                                []image
	id, tool, failed, details             value // of a result
	stop, failure, usage, provider, model value // of an answer
}

type image struct{ mime, data value }

// read takes items apart.
func (r reader) read(items iter.Seq2[Item, error], yield func(*Block, error) bool) {
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

// item makes blocks of one item, and is false when nobody wants more.
func (r *reader) item(it Item) bool {
	if it.Ready != nil {
		if r.b = *it.Ready; r.b.Kind == Branch {
			b := r.b
			r.unanswered()
			r.b, r.turn = b, b.Turn
		}
		r.send()
		return !r.done
	}
	switch it.Kind { // other things may stand between a call and its result
	case sessionfmt.User, sessionfmt.Assistant, sessionfmt.Compaction, sessionfmt.BranchSummary:
		r.unanswered()
	}
	r.b = Block{Record: it.Record, By: it.By, Cut: it.Cut}
	switch it.Kind {
	case sessionfmt.User, sessionfmt.Assistant, sessionfmt.ToolResult:
		r.message(it)
		return !r.done
	}
	src := it.Message
	if src == nil {
		src = it.Entry
		if r.telling() {
			r.story.when(src.Get("timestamp"))
		}
		if it.Kind.IsMessage() {
			src = src.Get("message")
		}
	}
	if it.Kind == sessionfmt.Bash {
		r.shell(src)
	} else {
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

// message makes blocks of a message of user, model or tool, in one pass over it.
func (r *reader) message(it Item) {
	if it.Kind == sessionfmt.User {
		r.turn++
	}
	r.m = message{texts: r.m.texts[:0], images: r.m.images[:0]}
	if it.Message != nil {
		r.members(it.Kind, r.at.Reset(it.Message))
	} else {
		for key := range r.at.Reset(it.Entry).Members {
			switch string(key) {
			case "message":
				r.members(it.Kind, &r.at)
			case "timestamp":
				if stamp := r.at.Value(); r.telling() {
					r.story.when(stamp)
				}
			}
		}
	}
	switch it.Kind {
	case sessionfmt.User:
		r.user()
	case sessionfmt.Assistant:
		r.answered()
	case sessionfmt.ToolResult:
		r.result()
	}
}

// members reads a message. What the model says is sent at once, all else is kept.
func (r *reader) members(k sessionfmt.Kind, c *sessionfmt.Cursor) {
	m := &r.m
	for key := range c.Members {
		switch string(key) {
		case "content":
			if c.Peek() == '"' {
				r.said(k, Answer, c.Value())
				continue
			}
			for range c.Elements {
				r.content(k, c)
			}
		case "toolCallId":
			m.id = c.Value()
		case "toolName":
			m.tool = c.Value()
		case "isError":
			m.failed = c.Value()
		case "details":
			m.details = c.Value()
		case "stopReason":
			m.stop = c.Value()
		case "errorMessage":
			m.failure = c.Value()
		case "usage":
			m.usage = c.Value()
		case "provider":
			m.provider = c.Value()
		case "model":
			m.model = c.Value()
		}
	}
}

// content reads a piece of a message's content.
func (r *reader) content(k sessionfmt.Kind, c *sessionfmt.Cursor) {
	var typ, text, thinking, mime, data, name, id, args value
	for key := range c.Members {
		switch string(key) {
		case "type":
			typ = c.Value()
		case "text":
			text = c.Value()
		case "thinking":
			thinking = c.Value()
		case "mimeType":
			mime = c.Value()
		case "data":
			data = c.Value()
		case "name":
			name = c.Value()
		case "id":
			id = c.Value()
		case "arguments":
			args = c.Value()
		}
	}
	switch {
	case typ.Is("text"):
		r.said(k, Answer, text)
	case typ.Is("thinking"):
		r.said(k, Thinking, thinking)
	case typ.Is("image"):
		r.m.images = append(r.m.images, image{mime, data})
	case typ.Is("toolCall") && k == sessionfmt.Assistant:
		if len(r.calls) == 0 {
			r.args = r.args[:0]
		}
		r.args = append(r.args, args...)
		r.from = r.b.Record
		r.calls = append(r.calls, newCall(name.Text(), id.Text(), r.args[len(r.args)-len(args):]))
	}
}

// appendText appends the text of a string, of a very long one its beginning and its end.
func appendText(v value, dst []byte) []byte {
	if len(v) > longestText && v.IsString() {
		v = v.AppendShort(nil, longestText)
	}
	return v.AppendText(dst)
}

// longestText is how many bytes of a text are read, as it is spelled: nobody reads on.
const longestText = 8 << 20

// said takes a text of a message's content: the model's is sent, others are kept.
func (r *reader) said(by sessionfmt.Kind, as Kind, text value) {
	switch {
	case !text.IsString() || len(text) == len(`""`):
		return
	case by != sessionfmt.Assistant:
		if as == Answer {
			r.m.texts = append(r.m.texts, text)
		}
		return
	}
	if blank(text) {
		return
	}
	r.text = r.text[:0]
	if r.texts {
		r.text = appendText(text, r.text)
	}
	if as == Answer && r.telling() {
		r.story.said(text)
	}
	r.say(as, "", r.text)
}

// blank says that a string is nothing but white space, as it is mostly spelled.
func blank(text value) bool {
	for i := 1; i < len(text)-1; i++ {
		switch text[i] {
		case ' ':
		case '\\':
			if i++; text[i] != 'n' && text[i] != 't' && text[i] != 'r' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// joined is the texts of the message at hand, each on lines of its own.
func (r *reader) joined() []byte {
	r.text = r.text[:0]
	for _, text := range r.m.texts {
		if n := len(r.text); n > 0 && r.text[n-1] != '\n' {
			r.text = append(r.text, '\n')
		}
		r.text = appendText(text, r.text)
	}
	return r.text
}

// user makes a prompt, and blocks of the skills and images in it.
func (r *reader) user() {
	skill, name, rest := cutSkill(r.joined())
	if skill != nil && len(rest) == 0 {
		rest = []byte("/skill:" + name)
	}
	r.say(Prompt, "", rest)
	if skill != nil {
		r.b.Hidden = true
		r.say(Skill, name, skill)
		r.b.Hidden = false
	}
	r.images()
}

// answered ends an answer: what it took, and why it failed.
func (r *reader) answered() {
	m := &r.m
	if r.telling() {
		r.story.request(m.usage, m.provider, m.model)
	}
	if m.stop.Is("error") || m.stop.Is("aborted") {
		r.text = appendText(m.failure, r.text[:0])
		r.say(Failure, m.stop.Text(), r.text)
	}
}

// result sends the call that a tool's result answers.
func (r *reader) result() {
	m := &r.m
	if r.telling() {
		r.story.pay(m.usage)
	}
	id := m.id.Text()
	call := ToolCall{ID: id, Exit: -1}
	b := r.b
	if k := r.waiting(id); k >= 0 {
		call = r.calls[k]
		if k == 0 {
			r.calls = r.calls[1:]
		} else {
			r.calls = slices.Delete(r.calls, k, k+1)
		}
		r.b.Record = r.from
		if r.b.By == b.Record { // nothing has changed the result
			r.b.By = r.from
		}
	} else {
		call.Name, call.Lost = m.tool.Text(), true
	}
	call.Answered, call.Record, call.Details = true, b.Record, m.details
	failed := m.failed.Truthy()
	r.text = r.text[:0]
	if r.texts || failed {
		r.joined()
	}
	call.answer(r.text, failed)
	r.b.Call = call
	r.say(Call, call.Name, nil)
	r.b = b
	r.images()
}

// waiting is the place of the call with that id, -1 if none waits. Results mostly come
// in the order of their calls, or in the opposite one, and there may be many.
func (r *reader) waiting(id string) int {
	if last := len(r.calls) - 1; last > 0 && r.calls[0].ID != id && r.calls[last].ID == id {
		return last
	}
	return slices.IndexFunc(r.calls, func(c ToolCall) bool { return c.ID == id })
}

// unanswered sends the calls that no result has come for.
func (r *reader) unanswered() {
	if len(r.calls) == 0 {
		return
	}
	b := r.b
	for _, c := range r.calls {
		r.b = Block{Record: r.from, By: r.from, Call: c}
		r.say(Call, c.Name, nil)
	}
	r.calls, r.b = r.calls[:0], b
}

// images makes blocks of the images in the message at hand.
func (r *reader) images() {
	for _, i := range r.m.images {
		r.b.Value, r.b.Call = i.data, ToolCall{}
		r.say(Image, i.mime.Text(), nil)
	}
}
