package compact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Pass is one way to make a context smaller. It reads a view and returns changes; it
// never changes a session.
type Pass struct {
	Name     string
	About    string
	System   string // name of the agent that it comes from
	Defaults Options
	reads    string // its options: names of paramTable
	prompt   bool   // it changes the prompt
	run      func(w *Work)
}

// NewPass returns a custom pass for a layer of a policy: run makes its changes by [Work.Omit] and
// [Work.Replace]. Changes that the form cannot store are reported separately.
func NewPass(name, about string, run func(w *Work) error) *Pass {
	return &Pass{Name: name, About: about, Defaults: Options{Counter: &tokens.Pi},
		run: func(w *Work) { w.err = run(w) }}
}

// MarshalText writes the name. It never fails.
func (p *Pass) MarshalText() ([]byte, error) { return []byte(p.Name), nil }

var passes = []*Pass{
	&Truncate, &Superseded, &RetryPrune, &StripThinking, &DropImages, &StaleResults, &Prune, &MergeNotes, &Progressive,
	&Compact, &DropBootstrap, &DropTools, &Redact,
}

// Passes lists all passes, in the order in which several requested ones run (docs/policies.md 1.5).
func Passes() []*Pass { return slices.Clone(passes) }

// FindPass returns the pass of that name.
func FindPass(name string) (*Pass, error) {
	return find(fmt.Sprintf("pass %q", name), name, passes, func(p *Pass) string { return p.Name })
}

// find returns the element of all with a name. what describes it in the error.
func find[T any](what, name string, all []T, called func(T) string) (found T, err error) {
	var names []string
	for _, one := range all {
		if called(one) == name {
			return one, nil
		}
		names = append(names, called(one))
	}
	return found, fmt.Errorf("unknown %s: one of %s", what, strings.Join(names, ", "))
}

// Options are the options of passes. Each pass reads its own, and has its own defaults.
type Options struct {
	Counter *tokens.Counter `json:"-"` // for the report; passes decide by the counter of their system

	Max int `json:"max,omitempty"` // truncate: the longest result, in Unit; 0 for no limit
	// truncate: "bytes" keeps both ends, "chars" and "tokens" the beginning
	Unit      string `json:"unit,omitempty"`
	Protect   int    `json:"protect,omitempty"`   // prune: tokens of the latest results to keep
	Requests  int    `json:"requests,omitempty"`  // stale-results: requests after which a result is stale
	IntraTurn bool   `json:"intraTurn,omitempty"` // retry-prune: in the last turn only, five messages at most
	MinTokens int    `json:"minTokens,omitempty"` // retry-prune, progressive: minimum of tokens to do anything
	// retry-prune: more texts that mark a result as an error
	Patterns []string `json:"patterns,omitempty"`
	Busy     bool     `json:"busy,omitempty"` // superseded: only if few tokens follow, as within a turn

	Style Style `json:"style,omitempty"` // compact: the system whose rules apply
	// compact: messages to keep, for pi tokens; drop-images: requests whose images stay
	Keep    int `json:"keep,omitempty"`
	Retries int `json:"retries,omitempty"` // progressive, compact: attempts for one summary, at least 1

	// progressive: reports whether a context of so many tokens is small enough to stop; nil for never
	enough func(tokens int) bool

	Summarize func(Request) (string, error) `json:"-"` // progressive, compact: without it nothing is summarised
}

// An Action is the kind of a change.
type Action string

// The actions.
const (
	Replace   Action = "replace"   // a text replaces the content of a block
	Drop      Action = "drop"      // a block is removed from its message
	Omit      Action = "omit"      // the message is removed
	Summarise Action = "summarise" // a summary replaces a range of messages
)

// A Change is a change that a pass makes, or would make if the form could store it.
type Change struct {
	Entry  string     `json:"entry"` // the id of the entry that the message comes from
	Line   int        `json:"line,omitempty"`
	Pass   string     `json:"pass"`
	Action Action     `json:"action"`          // `replace` or `drop` a block, `omit` the message, `summarise`
	Block  BlockIndex `json:"block,omitzero"`  // in the message before the change; absent for all of it
	Range  *Stretch   `json:"range,omitempty"` // that a summary replaces
	Was    int        `json:"wasTokens"`
	Now    int        `json:"nowTokens"`
	Why    string     `json:"why"`
	Could  Form       `json:"could,omitempty"` // the form that can store it, if the requested one cannot
	gone   []int      // in a Keeper: the messages that the summary replaces

	Message int    `json:"-"` // its index in the view; the first one of a range
	Record  int    `json:"-"` // of the entry
	Text    string `json:"-"` // the new text
}

// A BlockIndex is the index of a block in a message; negative for the whole message.
type BlockIndex int

// IsZero reports whether the index stands for the whole message, which JSON omits.
func (b BlockIndex) IsZero() bool { return b < 0 }

// A Touch is a change in a report.
type Touch struct {
	Ref    int        `json:"ref"` // the message's index in the view
	Block  BlockIndex `json:"block"`
	Action string     `json:"action"` // the pass
	Was    int        `json:"wasTokens"`
	Now    int        `json:"nowTokens"`
}

// A PassReport is what a pass did, in numbers (docs/policies.md 1.2).
type PassReport struct {
	Policy         string          `json:"policy"`
	System         string          `json:"system"`
	Counter        string          `json:"counter"`
	Params         json.RawMessage `json:"params"` // the options that the pass reads
	MessagesBefore int             `json:"messagesBefore"`
	MessagesAfter  int             `json:"messagesAfter"`
	TokensBefore   int             `json:"tokensBefore"`
	TokensAfter    int             `json:"tokensAfter"`
	TokensSaved    int             `json:"tokensSaved"`
	BytesBefore    int             `json:"bytesBefore"`
	BytesAfter     int             `json:"bytesAfter"`
	Touched        []Touch         `json:"touched"`
	Unestimated    int             `json:"unestimatedBlocks"` // images, if the counter counts them as 0
	Skipped        bool            `json:"skipped"`
	SkipReason     string          `json:"skipReason"`
}

// apply runs a pass over a view without changing it. If the pass changes nothing, the result
// has the view itself.
func (p *Pass) apply(v *View, o Options) (*Work, error) {
	o.Counter = cmp.Or(o.Counter, p.Defaults.Counter)
	w := &Work{View: v, from: v, Options: o, pass: p.Name, skip: "nothing to do"}
	w.was = totals(v, o.Counter)
	p.run(w)
	if err := cmp.Or(w.err, w.texts.err); err != nil {
		return nil, err
	}
	w.Report = w.report(p)
	return w, nil
}

// A total is the size of a view.
type total struct{ messages, tokens, bytes, images int }

func totals(v *View, c *tokens.Counter) (t total) {
	for _, i := range v.live() {
		m := &v.Messages[i]
		t.messages++
		t.tokens += m.Tokens(c)
		for k := range m.Blocks {
			t.bytes += m.Blocks[k].Bytes
			if m.Blocks[k].Kind == jsonl.ImageBlock && c.Image == 0 {
				t.images++
			}
		}
	}
	if v.prompted != nil {
		t.tokens += v.prompted(v.Prompt, c)
	}
	return t
}

// A Form is how a session stores the changes of its context.
type Form string

// The forms. AsAuto depends on the session: see decide.
const (
	AsAuto      Form = "auto"
	AsEdits     Form = "edits"     // entries that pi itself reads: context_edit and compaction
	AsTransform Form = "transform" // a patch; pi reads only the compaction in it
)

// Decide returns the form for a session: for AsAuto, a patch if it is replayed by the
// envelope rules. A first patch would change the rules by which auto replays the session,
// so it is an error unless given, which reports whether the caller set the rules.
func (f Form) Decide(r *replay.Replay, leaf int, given bool) (Form, error) {
	patched := replay.Auto.Decide(r.Session, leaf) == replay.ByEnvelope
	switch {
	case f == AsTransform && !patched && !(given && r.Rules == replay.ByEnvelope):
		return "", sessionfmt.Errorf("it has no patches, and pi does not read them").In(r.Session.Name).
			Hinted("--as edits stores what pi reads, --rules envelope a patch")
	case f != AsAuto && f != "":
		return f, nil
	case r.Rules.Patched():
		return AsTransform, nil
	}
	return AsEdits, nil
}

// In returns the view for changes that are stored in a form. Passes do not make changes that
// the form cannot store; they list them in Cannot.
func (v *View) In(f Form) *View {
	w := *v
	w.form = f
	return &w
}

// may reports whether a message can be changed. If not, it records why in Cannot.
func (w *Work) may(a Action, i int) bool {
	if w.form == "" {
		return true
	}
	why, could := w.fixed(a, i)
	if why == "" {
		return true
	}
	w.Cannot = append(w.Cannot, w.placed(Change{Message: i, Block: -1, Action: a, Why: why, Could: could}))
	return false
}

// mayAll reports whether all of several messages can be changed.
func (w *Work) mayAll(a Action, all []int) bool {
	return !slices.ContainsFunc(all, func(i int) bool { return !w.may(a, i) })
}

// fixed returns why the view's form cannot store a change of a message, empty if it can, and
// the form that could. For Summarise the message is the first one that is kept.
func (v *View) fixed(a Action, i int) (why string, could Form) {
	m := &v.Messages[i]
	s, rec := v.session(), m.Origin.Record
	switch {
	case !m.Cached:
		return "it is sent after the history, and no entry changes it", ""
	case m.Heads || v.form == AsTransform:
		return "", ""
	case m.Origin.Op >= 0:
		return "a patch has put it there, where no edit reaches it", AsTransform
	case s.ID(rec) == "" || s.WrongID(rec) || s.Shadowed(rec):
		return "it has no id by which an entry could name it", AsTransform
	case a == Summarise && s.Kind(rec) == jsonl.Compaction:
		return "a compaction keeps nothing of the one before it", AsTransform
	case a != Replace && a != Drop || s.Kind(rec) == jsonl.CustomMessage || s.Kind(rec).Replaceable():
		return "", ""
	}
	return fmt.Sprintf("an edit cannot replace what a %s says", m.Kind), AsTransform
}

// A Work is a run of a pass and its result: the current view, and the changes so far.
type Work struct {
	*View
	Options
	Changes  []Change
	Cannot   []Change
	Requests []Request // requests for summaries that the pass waits for
	Report   *PassReport

	from    *View  // the view before the pass
	own     int    // index + 1 of the message that changed last, whose blocks no other view shares; 0 for none
	weight  weight // cannot-store reason of that message
	changed []int  // in a Keeper: messages that have changed since the pass ran, in order
	settled int    // in a Keeper: messages before this one have been through the pass
	memory  *any   // in a Keeper: what the pass remembers of them
	pass    string
	was     total
	skip    string // reason to report if nothing changes
	err     error  // error that ended the pass
}

// news yields the messages that the pass has not seen, in order; it may yield others too.
func (w *Work) news(yield func(i int) bool) {
	for _, i := range w.changed {
		if i < w.settled && !yield(i) {
			return
		}
	}
	for i := w.settled; i < len(w.Messages); i++ {
		if !yield(i) {
			return
		}
	}
}

// recall returns what a pass remembers of its earlier runs; new at first.
func recall[T any](w *Work) *T {
	if w.memory == nil {
		return new(T)
	}
	if *w.memory == nil {
		*w.memory = new(T)
	}
	return (*w.memory).(*T)
}

// placed returns a change with the pass, and the entry that the message comes from.
func (w *Work) placed(c Change) Change {
	s := w.session()
	c.Pass, c.Record = w.pass, w.Messages[c.Message].Origin.Record
	c.Entry, c.Line = sessionfmt.Quote(s.ID(c.Record)), s.Line(c.Record)
	return c
}

// change changes a message by f and records the change, if the form can store it. The tokens
// of a block are the difference that it makes to the message: counters may round up once per
// message.
func (w *Work) change(c Change, f func(m *Message)) {
	if c.Action != Summarise && !w.may(c.Action, c.Message) {
		return
	}
	if w.View == w.from {
		w.View = w.from.fork()
	}
	m := &w.Messages[c.Message]
	if w.own != c.Message+1 {
		m.Blocks, w.own, w.weight = slices.Clone(m.Blocks), c.Message+1, m.weight(w.Counter)
	}
	before, blocks := w.weight.tokens(w.Counter), len(m.Blocks)
	if c.Block >= 0 {
		m.Blocks[c.Block].weigh(w.Counter, -1, &w.weight)
	}
	m.Edited = true
	f(m)
	if c.Block >= 0 && blocks == len(m.Blocks) {
		m.Blocks[c.Block].weigh(w.Counter, 1, &w.weight)
	} else {
		w.weight = m.weight(w.Counter)
	}
	after := w.weight.tokens(w.Counter)
	switch c.Action {
	case Replace:
		if c.Now = after; c.Block >= 0 {
			c.Now = tokensOf(w.Counter, w.length(c.Text))
		}
		c.Was = c.Now + before - after
	case Drop:
		c.Was = before - after
	case Omit:
		c.Was = before
	}
	w.Changes = append(w.Changes, w.placed(c))
}

// Replace replaces the content of a block with a text. A result keeps its images.
func (w *Work) Replace(i, block int, text, why string) {
	w.change(Change{Message: i, Block: BlockIndex(block), Action: Replace, Text: text, Why: why}, func(m *Message) {
		m.Blocks[block].setText(text, w.length(text))
	})
}

// replaceArguments replaces the arguments of a call with others, as JSON.
func (w *Work) replaceArguments(i, block int, args value, why string) {
	w.change(Change{Message: i, Block: BlockIndex(block), Action: Replace, Text: string(args), Why: why},
		func(m *Message) {
			b, text := &m.Blocks[block], string(args)
			b.length, b.text = w.arguments(b.tool(), args), &text
		})
}

// replaceResult replaces a result with a text, its images included.
func (w *Work) replaceResult(i int, text, why string) {
	block := w.Messages[i].result()
	w.change(Change{Message: i, Block: BlockIndex(block), Action: Replace, Text: text, Why: why}, func(m *Message) {
		m.Blocks[block].setText(text, w.length(text))
		m.Blocks = m.Blocks[block : block+1]
	})
}

// replaceMessage replaces the content of a message, its calls included, with a text.
func (w *Work) replaceMessage(i int, text, why string) {
	w.change(Change{Message: i, Block: -1, Action: Replace, Text: text, Why: why}, func(m *Message) {
		m.Blocks = []Block{newText(text, w.length(text))}
		m.Call = -1
	})
}

// droppedBlock marks a block that drop has emptied, until sweep.
const droppedBlock = ResultBlock + 1

// drop empties a block of a message. The caller must call sweep.
func (w *Work) drop(i, block int, why string) {
	w.change(Change{Message: i, Block: BlockIndex(block), Action: Drop, Why: why}, func(m *Message) {
		m.Blocks[block] = Block{Kind: droppedBlock}
	})
}

// sweep removes the dropped blocks of a message at once: removing them one by one would move all later blocks
// each time.
func (w *Work) sweep(i int) {
	if w.own == i+1 {
		m := &w.Messages[i]
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b Block) bool { return b.Kind == droppedBlock })
	}
}

// Omit removes a message. The caller must remove the rest of its group.
func (w *Work) Omit(i int, why string) {
	w.change(Change{Message: i, Block: -1, Action: Omit, Why: why}, func(m *Message) { m.Removed = true })
}

// setText replaces the content of a block with a text.
func (b *Block) setText(text string, n length) {
	kind := jsonl.TextBlock
	if b.Kind == ResultBlock {
		kind = ResultBlock
	}
	*b = Block{Kind: kind, IsError: b.IsError, At: b.At, Tool: b.Tool, ID: b.ID, length: n, text: &text}
}

func newText(text string, n length) Block {
	return Block{Kind: jsonl.TextBlock, At: -1, length: n, text: &text}
}

func (w *Work) report(p *Pass) *PassReport {
	now := w.was
	if w.View != w.from {
		now = totals(w.View, w.Counter)
	}
	r := &PassReport{
		Policy: p.Name, System: p.System, Counter: w.Counter.Name, Params: p.params(&w.Options),
		MessagesBefore: w.was.messages, MessagesAfter: now.messages,
		TokensBefore: w.was.tokens, TokensAfter: now.tokens, TokensSaved: max(0, w.was.tokens-now.tokens),
		BytesBefore: w.was.bytes, BytesAfter: now.bytes,
		Touched: []Touch{}, Unestimated: w.was.images,
	}
	if p == &Compact {
		r.System = string(w.Style)
	}
	for _, c := range w.Changes {
		r.Touched = append(r.Touched, Touch{c.Message, c.Block, c.Pass, c.Was, c.Now})
	}
	sorting.By(r.Touched, func(a, b Touch) int {
		return cmp.Or(a.Ref-b.Ref, int(a.Block-b.Block))
	})
	if len(w.Changes) == 0 {
		r.Skipped, r.SkipReason = true, w.skip
	}
	return r
}
