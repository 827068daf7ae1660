package transcript

import (
	"iter"
	"slices"

	"ctxtool/internal/base/scratch"
	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

// Blocks yields a conversation, or a part of it, and adds to its story unless that is nil.
// Without texts it only reads what the story needs.
type Blocks func(story *Story, texts bool) iter.Seq2[*Block, error]

// A reader makes blocks. It keeps calls until their results.
type reader struct {
	turn  int
	only  map[int]bool // the turns to show; nil for all
	story *Story       // nil if not requested
	texts bool
	yield func(*Block, error) bool
	done  bool

	b         Block
	text      []byte
	at        jsonl.Cursor
	m         jsonl.Message
	entry     value      // the current one; nil in an envelope
	lone      bool       // it answers no request; see Session.Answers in package sessionfmt
	delegated bool       // a sub-agent wrote it; see Session.Delegated there
	calls     []ToolCall // without a result so far, in order
	args      []byte     // memory of their arguments
	from      int        // the record that contains them
}

// blocksOf returns the blocks that read makes, which begins with a reader in that state each time.
func blocksOf(state reader, read func(r *reader) error) Blocks {
	return func(story *Story, texts bool) iter.Seq2[*Block, error] {
		return func(yield func(*Block, error) bool) {
			r := state
			r.story, r.texts, r.yield = story, texts, yield
			if err := read(&r); err != nil {
				yield(nil, err)
				return
			}
			r.unanswered()
		}
	}
}

// ready yields prepared blocks.
func (r *reader) ready(blocks ...Block) {
	for _, b := range blocks {
		if b.Kind == Branch {
			r.unanswered()
			r.turn = b.Turn
		}
		r.b = b
		r.send()
	}
}

// item yields the blocks of the current entry, or of a message of an envelope.
func (r *reader) item(kind jsonl.Kind, b Block, v value) {
	switch kind { // other entries may come between a call and its result
	case jsonl.User, jsonl.Assistant, jsonl.Compaction, jsonl.BranchSummary:
		r.unanswered()
	}
	r.b = b
	switch kind {
	case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
		r.message(kind, v)
		return
	}
	if r.entry != nil && kind.IsMessage() {
		if r.inStory() {
			r.story.when(v.Get("timestamp"))
		}
		v = v.Get("message")
	}
	if kind == jsonl.Bash {
		r.shell(v)
	} else {
		r.other(kind, v)
	}
}

// send yields the current block.
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

// inStory reports whether the current turn belongs to the story.
func (r *reader) inStory() bool { return r.story != nil && (r.only == nil || r.only[r.turn]) }

// say sends a block of that kind with a text.
func (r *reader) say(k Kind, title string, text []byte) {
	r.b.Kind, r.b.Title, r.b.Text = k, title, text
	r.send()
}

// message makes blocks of a message of user, model or tool, in one pass over it.
func (r *reader) message(kind jsonl.Kind, v value) {
	if kind == jsonl.User {
		r.turn++
	}
	r.m = jsonl.Message{Blocks: r.m.Blocks[:0]}
	if r.at.Reset(v); r.entry == nil {
		r.m.Read(&r.at, kind)
	} else {
		for key := range r.at.Members {
			switch string(key) {
			case "message":
				r.m.Read(&r.at, kind)
			case "timestamp":
				if stamp := r.at.Value(); r.inStory() {
					r.story.when(stamp)
				}
			}
		}
	}
	switch kind {
	case jsonl.User:
		r.user()
	case jsonl.Assistant:
		r.answered()
	case jsonl.ToolResult:
		r.result()
	}
}

// said takes what the model says or thinks.
func (r *reader) said(as Kind, text value) {
	if !text.IsString() || blank(text) {
		return
	}
	r.text = scratch.Reset(r.text)
	if r.texts {
		r.text = appendText(text, r.text)
	}
	if as == Answer && r.inStory() {
		r.story.said(text)
	}
	r.say(as, "", r.text)
}

// call takes a call, which waits for its result.
func (r *reader) call(b *jsonl.Block) {
	if len(r.calls) == 0 {
		r.args = scratch.Reset(r.args)
	}
	r.args = append(r.args, b.Args...)
	r.from = r.b.Record
	r.calls = append(r.calls, ToolCall{
		Call: activity.New(b.Name.Text(), b.ID.Text(), r.args[len(r.args)-len(b.Args):]), Exit: -1, Record: -1,
	})
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

// blank reports whether a string is nothing but white space, as it is mostly spelled.
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

// appendTexts appends the texts of a message, each on lines of its own.
func appendTexts(dst []byte, m *jsonl.Message) []byte {
	start := len(dst)
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == jsonl.TextBlock && len(b.Text.Value) > len(`""`) {
			if len(dst) > start && dst[len(dst)-1] != '\n' {
				dst = append(dst, '\n')
			}
			dst = appendText(b.Text.Value, dst)
		}
	}
	return dst
}

// user makes a prompt, and blocks of the skills and images in it.
func (r *reader) user() {
	r.text = appendTexts(scratch.Reset(r.text), &r.m)
	skill, name, rest := activity.CutSkill(r.text)
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

// answered makes blocks of an answer: what it says and calls, what it took, and why it
// failed.
func (r *reader) answered() {
	m := &r.m
	if m.Content.IsString() {
		r.said(Answer, m.Content)
	}
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			r.said(Answer, b.Text.Value)
		case jsonl.ThinkingBlock:
			r.said(Thinking, b.Text.Value)
		case jsonl.CallBlock:
			r.call(b)
		}
	}
	if r.inStory() && !r.lone {
		r.story.request(m, r.entry, !r.delegated || !r.story.NoSubAgents)
	}
	if m.Failed() {
		r.text = appendText(m.Failure, scratch.Reset(r.text))
		r.say(Failure, m.Stop.Text(), r.text)
	}
}

// result sends the call that a tool's result answers.
func (r *reader) result() {
	m := &r.m
	if r.inStory() {
		r.story.pay(m.Usage, nil, nil, nil)
	}
	id := m.CallID.Text()
	call := ToolCall{Call: activity.Call{ID: id}, Exit: -1}
	b := r.b
	if k := r.waiting(id); k >= 0 {
		call = r.calls[k]
		if k == 0 && len(r.calls) > 1 {
			r.calls = r.calls[1:]
		} else {
			r.calls = slices.Delete(r.calls, k, k+1)
		}
		r.b.Record = r.from
		if r.b.By == b.Record { // nothing has changed the result
			r.b.By = r.from
		}
	} else {
		call.Tool, call.Lost = m.Tool.Text(), true
	}
	call.Answered, call.Record, call.Details, call.Nested = true, b.Record, m.Details, m.Nested
	failed := m.IsError.Truthy()
	r.text = scratch.Reset(r.text)
	if r.texts || failed {
		r.text = appendTexts(r.text, m)
	}
	call.answer(r.text, failed)
	r.b.Call = call
	r.say(Call, call.Tool, nil)
	r.b = b
	r.images()
}

// waiting returns the place of the call with that id, -1 if none waits. Results mostly come in the order of
// their calls, or in the opposite one, and there may be many.
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
		r.say(Call, c.Tool, nil)
	}
	r.calls, r.b = r.calls[:0], b
}

// images makes blocks of the images in the current message.
func (r *reader) images() {
	for i := range r.m.Blocks {
		if b := &r.m.Blocks[i]; b.Kind == jsonl.ImageBlock {
			r.b.Value, r.b.Call, r.b.Unseen = b.Data, ToolCall{}, r.m.Details.Get("imageUnsupportedByModel").Text()
			r.say(Image, b.Mime.Text(), nil)
		}
	}
}

// content reads a content that is not a whole message's.
func (r *reader) content(v value) *jsonl.Message {
	r.m.ReadContent(r.at.Reset(v), jsonl.User)
	return &r.m
}
