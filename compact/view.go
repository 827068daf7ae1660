package compact

import (
	"bytes"
	"cmp"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A place is a message of a context, without its text.
type place struct {
	Kind   jsonl.Kind // by its role in the session
	Origin origin.Origin
	Index  int  // in the envelope
	Pos    int  // of its record on the path
	Sent   bool // it is one of the request's messages
	Cached bool // it is one of the list, and no uncached one
	// Tokens are what pi itself takes a message for that is neither user's, answer nor
	// result, as it is stored and not as it is sent (docs/session-format.md 8.1). Of those it
	// is 0: they count for what their texts do.
	Tokens int
}

// A View is the messages of a context as passes see them: what each is and how long
// its parts are, but no texts; those are read when a pass asks for them. A message
// keeps its place in Messages whatever becomes of it and of others. What a pass
// changes is a copy, that shares what has not changed.
type View struct {
	Envelope *replay.Envelope
	Messages []message

	// Prompt is what a pass has made of the prompt; nil where it does not count.
	Prompt     *prompt.Prompt
	prompted   func(*prompt.Prompt, *tokens.Counter) int // what of it counts
	reprompted bool                                      // a pass has changed it

	texts     *texts
	form      Form            // in which changes will be stored; empty where any can be
	counter   *tokens.Counter // by which the context is measured
	tokenizer *tokens.Counter // the same, nil where it is none
}

// A message is a message of a view.
type message struct {
	place
	Blocks []block
	Call   int  // the message that makes the calls of this one's group, -1 where it belongs to none
	Gone   bool // a pass has taken it out
	Edited bool // a pass has changed what it says
	Heads  bool // it is the summary of a compaction, that a pass has put here
	nested bool // it is a result of a tool that has called others

	summary *string // of that, without its frame
}

// A resultBlock is all texts of a tool result, which are one block of a view.
const resultBlock = jsonl.ImageBlock + 1

// A block is one part of a message.
type block struct {
	Kind jsonl.BlockKind
	// IsError is what a result says of itself: 0 nothing, 1 no, 2 yes.
	IsError uint8
	// At is its place in the content as it stands in the session, of a result that
	// of its first text; -1 for one that a pass has made.
	At     int32
	length           // of its text, or of a call's arguments as JSON.stringify spells them
	Tool   *toolName // for calls and results; may be nil
	ID     string    // of the call, for calls and results
	text   *string   // what it says now, where a pass has changed that
}

// A toolName is a tool's name, and how long it is.
type toolName struct {
	Text string
	length
}

// tool is the name of a block's tool, empty where it has none.
func (b *block) tool() string {
	if b.Tool == nil {
		return ""
	}
	return b.Tool.Text
}

// NewView looks at a context: every line is gone over once, on all processors. With a
// counter that is a tokenizer the texts are also counted by that.
func NewView(e *replay.Envelope, counter *tokens.Counter) (*View, error) {
	tokenizer := counter
	if tokenizer != nil && tokenizer.Measure != tokens.Tokens {
		tokenizer = nil
	}
	parts := make([]part, e.Chunks())
	for i := range parts {
		parts[i].tokenizer = tokenizer
	}
	err := e.Scan(func(chunk, index int, p *replay.Piece, m *jsonl.Message, tokens int) {
		parts[chunk].add(place{
			Kind: p.Kind(), Origin: p.Origin(), Index: index, Pos: p.Pos(), Sent: m != nil, Cached: index < e.Listed(), Tokens: tokens,
		}, m)
	})
	if err != nil {
		return nil, err
	}
	n := 0
	for i := range parts {
		n += len(parts[i].messages)
	}
	v := &View{Envelope: e, Messages: make([]message, 0, n), texts: &texts{e: e, from: e.Replay().NewReader(), index: -1}, counter: cmp.Or(counter, &tokens.Pi), tokenizer: tokenizer}
	for i := range parts {
		v.Messages = append(v.Messages, parts[i].messages...)
	}
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
			case resultBlock:
				if at, ok := made[b.ID]; ok {
					m.Call = at
				}
			}
		}
	}
}

// fork is a copy to be changed.
func (v *View) fork() *View {
	w := *v
	w.Messages = append(make([]message, 0, len(v.Messages)+1), v.Messages...)
	return &w
}

// Live reports whether a message is one of the request's, and no pass has taken it out.
func (v *View) Live(i int) bool { return v.Messages[i].Sent && !v.Messages[i].Gone }

// live are the messages of the request, by their places.
func (v *View) live() (at []int) {
	for i := range v.Messages {
		if v.Live(i) {
			at = append(at, i)
		}
	}
	return at
}

// isAssistant and isResult say what role a message is sent in; any other is the user's.
func (m *message) isAssistant() bool { return m.Kind == jsonl.Assistant }
func (m *message) isResult() bool    { return m.Kind == jsonl.ToolResult }

// isUser reports whether a message is sent as the user's: a prompt, a shell command, what an
// extension adds, a summary.
func (m *message) isUser() bool { return !m.isAssistant() && !m.isResult() }

// startsTurn reports whether a message opens a user turn: it is the user's, and says
// something (docs/policies.md 1.1).
func (m *message) startsTurn() bool {
	return m.isUser() && m.text().Bytes > 0
}

// isSummary reports whether a message is what a compaction left of the messages before it.
func (m *message) isSummary() bool { return m.Heads || m.Kind == jsonl.CompactionMessage }

// text is how long the texts of a message are together, those of results included.
func (m *message) text() (n length) {
	for i := range m.Blocks {
		if k := m.Blocks[i].Kind; k == jsonl.TextBlock || k == resultBlock {
			n = n.add(m.Blocks[i].length)
		}
	}
	return n
}

// makesCalls reports whether a message has tool calls.
func (m *message) makesCalls() bool { return m.first(jsonl.CallBlock) >= 0 }

// result is the place of a message's result among its blocks, -1 for none.
func (m *message) result() int { return m.first(resultBlock) }

// first is the place of the first block of a kind, -1 for none.
func (m *message) first(kind jsonl.BlockKind) int {
	for i := range m.Blocks {
		if m.Blocks[i].Kind == kind {
			return i
		}
	}
	return -1
}

// A group is a message with tool calls and the results of them, which follows it.
type group struct {
	call    int
	results []int
	waits   []string // the calls without a result, by their ids
}

// open reports whether a call of a group has no result.
func (g *group) open() bool { return len(g.waits) > 0 }

// all are the messages of a group, in order.
func (g *group) all() []int { return append([]int{g.call}, g.results...) }

// groups are the groups of a view in order, and for each message the place of its own
// among them, -1 for none.
func (v *View) groups() (all []group, of []int) {
	of = make([]int, len(v.Messages))
	for i := range v.Messages {
		of[i] = -1
		m := &v.Messages[i]
		switch {
		case !v.Live(i) || m.Call < 0:
		case m.Call == i:
			g := group{call: i}
			for _, b := range m.Blocks {
				if b.Kind == jsonl.CallBlock {
					g.waits = append(g.waits, b.ID)
				}
			}
			of[i] = len(all)
			all = append(all, g)
		default:
			if of[i] = of[m.Call]; of[i] >= 0 {
				g := &all[of[i]]
				g.results = append(g.results, i)
				g.waits = slices.DeleteFunc(g.waits, func(id string) bool { return id == m.Blocks[m.result()].ID })
			}
		}
	}
	return all, of
}

// A piece is a part of a message as the view has it.
type piece struct {
	*block
	Says string      // what it says, of a call nothing
	Args jsonl.Value // of a call, as JSON
}

// pieces are the parts of a message, valid until the next call, and the calls within its
// own, nil for a message that a pass has put there. Of a text longer than most bytes they
// have the beginning and the end; 0 is all of it.
func (v *View) pieces(i, most int) (nested jsonl.Value, all []piece, err error) {
	m := &v.Messages[i]
	msg := &jsonl.Message{}
	if !m.Heads {
		if msg, err = v.texts.of(m); err != nil {
			return nil, nil, err
		}
	}
	for k := range msg.Blocks {
		if says := &msg.Blocks[k].Text; most > 0 && len(says.Value) > most {
			says.Value = says.AppendShort(nil, most)
			v.texts.index = -1
		}
	}
	for k := range m.Blocks {
		p := piece{block: &m.Blocks[k]}
		switch {
		case p.text != nil:
			p.Says = *p.text
		case p.Kind == jsonl.CallBlock:
			p.Args = msg.Blocks[p.At].Args
		default:
			p.Says = says(p.block, msg)
		}
		all = append(all, p)
	}
	return msg.Nested, all, nil
}

// Content is the content of a message as the view has it, as JSON: a list of blocks,
// what has not changed letter by letter as it is in the session. A string stays one
// where nothing has changed.
func (v *View) Content(i int) (jsonl.Value, error) {
	m := &v.Messages[i]
	var had []jsonl.Block
	if !m.Heads {
		msg, err := v.texts.of(m)
		if err != nil {
			return nil, err
		}
		if !m.Edited {
			return bytes.Clone(msg.Content), nil
		}
		if had = msg.Blocks; msg.Content.IsString() {
			had[0].Kind, had[0].Raw = jsonl.TextBlock, appendTextBlock(nil, msg.Content)
			v.texts.index = -1
		}
	}
	out := jsonl.Value{'['}
	next := 0 // the blocks before it are done with
	foreign := func(end int) {
		for ; next < min(end, len(had)); next++ {
			if had[next].Kind == jsonl.OtherBlock { // stays, wherever an edit leaves the message
				out = append(comma(out), had[next].Raw...)
			}
		}
	}
	for _, b := range m.Blocks {
		switch {
		case b.text != nil:
			out = appendTextBlock(comma(out), jsonl.AppendQuoted(nil, *b.text))
		case b.Kind == resultBlock:
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
	return append(out, ']'), nil
}

// comma separates what comes next from what stands before it.
func comma(list []byte) []byte {
	if last := list[len(list)-1]; last != '[' && last != '{' {
		list = append(list, ',')
	}
	return list
}

// appendTextBlock appends a block with one text, which is a JSON string.
func appendTextBlock(dst, text jsonl.Value) jsonl.Value {
	dst = append(dst, `{"type":"text","text":`...)
	return append(append(dst, text...), '}')
}
