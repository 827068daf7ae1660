package compact

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"time"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A Place is a message of a context, without its text.
type Place struct {
	Kind   jsonl.Kind // kind by its role in the session
	Sent   bool       // it is part of the request
	Cached bool       // it is in the cached list
	Origin origin.Origin
	Index  int // index in the envelope
	// Tokens are pi's estimate of a message that is not a user message, an answer or a result,
	// as it is stored, not as it is sent (docs/session-format.md 8.1). It is 0 for those three,
	// which count by their texts.
	Tokens int
}

// A View is the messages of a context as passes see them: the kind of each message and the
// lengths of its parts. Texts are read when a pass needs them. A message keeps its index in
// Messages, even if it is removed. A pass changes a copy, which shares unchanged parts.
type View struct {
	Envelope *replay.Envelope
	Messages []Message

	// Prompt is the prompt after the passes so far; nil if it does not count.
	Prompt     *prompt.Prompt
	prompted   func(*prompt.Prompt, *tokens.Counter) int // tokens of the prompt
	reprompted bool                                      // a pass has changed it

	texts     *texts
	partial   bool            // the view of a Keeper, which has only the first messages of the envelope
	form      Form            // form in which changes will be stored; empty allows every change
	at        time.Time       // time of the changes, for a frame that has it
	counter   *tokens.Counter // counter for the context
	tokenizer *tokens.Counter // tokenizer of the same counter; nil if it is none
	listing   []item          // see sources
}

// A Message is a message of a view.
type Message struct {
	Place
	Blocks  []Block
	Call    int   // index of the message with the calls of its group, -1 if it is in none
	results []int // for a message with calls: messages of its group, including removed ones
	Removed bool  // a pass has removed it
	Edited  bool  // a pass has changed its content
	Heads   bool  // it is the summary of a pass's compaction
	gone    bool  // in a Keeper: it was removed before the last run of a layer
	nested  bool  // it is a result with nested calls

	head *head // set if Heads
}

// A ResultBlock is all texts of a tool result, which are one block of a view.
const ResultBlock = jsonl.ImageBlock + 1

// A Block is one part of a message.
type Block struct {
	Kind jsonl.BlockKind
	// IsError is a result's isError: 0 if it has none, else noError or isError.
	IsError uint8
	// At is its index in the content in the session, for a result that of its first text;
	// -1 for a block that a pass has made.
	At     int32
	length           // length of its text, or of a call's arguments as JSON.stringify spells them
	Tool   *ToolName // name for calls and results; may be nil
	ID     string    // id of the call, for calls and results
	text   *string   // the new text, if a pass has changed it
}

// A ToolName is a tool's name and its length.
type ToolName struct {
	Text string
	length
}

// tool returns the name of a block's tool, empty if it has none.
func (b *Block) tool() string {
	if b.Tool == nil {
		return ""
	}
	return b.Tool.Text
}

// NewView returns the view of a context. It reads every line once, on all CPUs. If counter is
// a tokenizer, it also counts the texts with that; nil is pi's estimate.
func NewView(e *replay.Envelope, counter *tokens.Counter) (*View, error) {
	tokenizer := counter
	if tokenizer != nil && tokenizer.Measure != tokens.Tokens {
		tokenizer = nil
	}
	parts := sync.Pool{New: func() any { return &part{tokenizer: tokenizer} }}
	v := &View{Envelope: e, Messages: make([]Message, e.Len()), texts: &texts{e: e, from: e.Replay().NewReader(),
		index: -1}, counter: cmp.Or(counter, &tokens.Pi), tokenizer: tokenizer}
	err := e.Scan(func(index int, p replay.Piece, m *jsonl.Message, tokens int) {
		part := parts.Get().(*part)
		defer parts.Put(part)
		v.Messages[index] = part.message(Place{
			Kind: p.Kind(), Origin: p.Origin(), Index: index, Sent: m != nil, Cached: index < e.Listed(),
			Tokens: tokens,
		}, m)
	})
	if err != nil {
		return nil, err
	}
	v.Messages = slices.DeleteFunc(v.Messages, func(m Message) bool { return m.Blocks == nil }) // none is sent
	v.pair()
	return v, nil
}

// pair finds the group of each call and each result: a result belongs to the last
// message before it that makes a call of its id.
func (v *View) pair() {
	made := map[string]int{}
	for i := range v.Messages {
		m := &v.Messages[i]
		m.Call = -1
		for _, b := range m.Blocks {
			switch b.Kind {
			case jsonl.CallBlock:
				made[b.ID] = i
				m.Call = i
			case ResultBlock:
				if at, ok := made[b.ID]; ok {
					m.Call = at
				}
			}
		}
		v.grouped(i)
	}
}

// grouped adds a result to its group.
func (v *View) grouped(i int) {
	if at := v.Messages[i].Call; at >= 0 && at < i {
		v.Messages[at].results = append(v.Messages[at].results, i)
	}
}

// fork returns a copy to change.
func (v *View) fork() *View {
	w := *v
	w.Messages = append(make([]Message, 0, len(v.Messages)+1), v.Messages...)
	return &w
}

// Live reports whether a message is in the request and no pass has removed it.
func (v *View) Live(i int) bool { return v.Messages[i].Sent && !v.Messages[i].Removed }

// live returns the indexes of the live messages.
func (v *View) live() (at []int) {
	for i := range v.Messages {
		if v.Live(i) {
			at = append(at, i)
		}
	}
	return at
}

// last returns the last message that no pass has removed, nil without one.
func (v *View) last() *Message {
	for i := range slices.Backward(v.Messages) {
		if m := &v.Messages[i]; !m.Removed {
			return m
		}
	}
	return nil
}

// backward yields the indexes of the live messages, the last one first.
func (v *View) backward(yield func(i int) bool) {
	for i := len(v.Messages) - 1; i >= 0; i-- {
		if v.Live(i) && !yield(i) {
			return
		}
	}
}

// isAssistant and isResult report whether a message is sent in that role; others are the user's.
func (m *Message) isAssistant() bool { return m.Kind == jsonl.Assistant }
func (m *Message) isResult() bool    { return m.Kind == jsonl.ToolResult }

// isUser reports whether a message is sent as the user's: a prompt, a shell command, what an
// extension adds, a summary.
func (m *Message) isUser() bool { return !m.isAssistant() && !m.isResult() }

// startsTurn reports whether a message starts a user turn: it is the user's, and has text
// (docs/policies.md 1.1).
func (m *Message) startsTurn() bool {
	return m.isUser() && m.text().Bytes > 0
}

// isSummary reports whether a message is the summary of a compaction.
func (m *Message) isSummary() bool { return m.Heads || m.Kind == jsonl.CompactionMessage }

// text returns the total length of the texts of a message, including those of results.
func (m *Message) text() (n length) {
	for i := range m.Blocks {
		if k := m.Blocks[i].Kind; k == jsonl.TextBlock || k == ResultBlock {
			n = n.add(m.Blocks[i].length)
		}
	}
	return n
}

// makesCalls reports whether a message has tool calls.
func (m *Message) makesCalls() bool { return m.first(jsonl.CallBlock) >= 0 }

// result returns the index of the result block of a message, -1 for none.
func (m *Message) result() int { return m.first(ResultBlock) }

// first returns the index of the first block of a kind, -1 for none.
func (m *Message) first(kind jsonl.BlockKind) int {
	for i := range m.Blocks {
		if m.Blocks[i].Kind == kind {
			return i
		}
	}
	return -1
}

// A group is a message with tool calls and their results, which follow it.
type group struct {
	call    int
	results []int
	waits   []string // the ids of calls without a result
}

// open reports whether a call of a group has no result.
func (g *group) open() bool { return len(g.waits) > 0 }

// all returns the messages of a group, in order.
func (g *group) all() []int { return append([]int{g.call}, g.results...) }

// headOf returns the message with the calls of a live message's group, -1 if it is in none.
func (v *View) headOf(i int) int {
	if at := v.Messages[i].Call; v.Live(i) && at >= 0 && v.Live(at) && v.Messages[at].Call == at {
		return at
	}
	return -1
}

// groups returns the groups of a view in order, and for each message the index of its group,
// -1 for none.
func (v *View) groups() (all []group, of []int) {
	of = make([]int, len(v.Messages))
	for i := range v.Messages {
		of[i] = -1
		if call := v.headOf(i); call == i {
			of[i] = len(all)
			all = append(all, v.group(i))
		} else if call >= 0 {
			of[i] = of[call]
		}
	}
	return all, of
}

// group returns the group of a message with calls.
func (v *View) group(call int) group {
	m := &v.Messages[call]
	g := group{call: call}
	answered := make(map[string]bool, len(m.results))
	for _, i := range m.results {
		if v.Live(i) {
			g.results = append(g.results, i)
			answered[v.Messages[i].Blocks[v.Messages[i].result()].ID] = true
		}
	}
	for _, b := range m.Blocks {
		if b.Kind == jsonl.CallBlock && !answered[b.ID] {
			g.waits = append(g.waits, b.ID)
		}
	}
	return g
}

// A piece is a block of a message with its text.
type piece struct {
	*Block
	Says string      // its exact text, empty for a call
	Args jsonl.Value // of a call, as JSON
}

// pieces returns the pieces of a message and its nested calls, nil for a message that a pass
// has made. They are valid until the next call. It shortens texts of more than most bytes to
// their beginning and end; 0 is no limit.
func (v *View) pieces(i, most int) (nested jsonl.Value, all []piece) {
	m := &v.Messages[i]
	msg := &jsonl.Message{}
	if !m.Heads {
		msg = v.texts.of(m)
	}
	for k := range msg.Blocks {
		if says := &msg.Blocks[k].Text; most > 0 && len(says.Value) > most {
			says.Value = says.AppendShort(nil, most)
			v.texts.index = -1
		}
	}
	for k := range m.Blocks {
		p := piece{Block: &m.Blocks[k]}
		if text := says(p.Block, msg); p.Kind == jsonl.CallBlock {
			p.Args = jsonl.Value(text)
		} else {
			p.Says = text
		}
		all = append(all, p)
	}
	return msg.Nested, all
}

// Content returns the content of a message in the view as JSON. The content of an unchanged
// message is as in the session, a string included; otherwise it is an array of blocks, the
// unchanged ones byte for byte as in the session.
func (v *View) Content(i int) jsonl.Value {
	m := &v.Messages[i]
	var had []jsonl.Block
	if !m.Heads {
		msg := v.texts.of(m)
		if !m.Edited || v.texts.err != nil {
			return bytes.Clone(msg.Content)
		}
		had = msg.Blocks
		if msg.Content.IsString() {
			had[0].Kind, had[0].Raw = jsonl.TextBlock, appendTextBlock(nil, msg.Content)
			v.texts.index = -1
		}
	}
	out := jsonl.Value{'['}
	next := 0 // the index of the next block to consider
	foreign := func(end int) {
		for ; next < min(end, len(had)); next++ {
			if had[next].Kind == jsonl.OtherBlock { // an edit keeps it
				out = append(comma(out), had[next].Raw...)
			}
		}
	}
	for _, b := range m.Blocks {
		switch {
		case b.text != nil && b.Kind == jsonl.CallBlock: // a signature is one of the original
			foreign(int(b.At))
			out = had[b.At].Raw.AppendEdited(comma(out), jsonl.Field{Name: "arguments", Value: jsonl.Value(*b.text)},
				jsonl.Field{Name: "thoughtSignature"})
		case b.text != nil:
			out = appendTextBlock(comma(out), jsonl.AppendQuoted(nil, *b.text))
		case b.Kind == ResultBlock:
			for i := range had {
				if had[i].Kind == jsonl.TextBlock {
					out = append(comma(out), had[i].Raw...)
				}
			}
		default:
			foreign(int(b.At))
			out = append(comma(out), had[b.At].Raw...)
		}
	}
	foreign(len(had))
	return append(out, ']')
}

// comma appends a comma unless list is at the beginning of an array or object.
func comma(list []byte) []byte {
	if last := list[len(list)-1]; last != '[' && last != '{' {
		list = append(list, ',')
	}
	return list
}

// appendTextBlock appends a text block; text is a JSON string.
func appendTextBlock(dst, text jsonl.Value) jsonl.Value {
	dst = append(dst, `{"type":"text","text":`...)
	return append(append(dst, text...), '}')
}
