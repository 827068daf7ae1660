package report

import (
	"cmp"
	"encoding/json"
	"slices"

	"ctxtool/internal/lens/cache"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Steps are the requests of all branches, each as the difference from the previous one on its
// path: columns with a value per request. The last one may be a request not sent yet, with
// Entry -1: the context at the leaf, or where the replay stops.
type Steps struct {
	Entry   []int `json:"entry"`   // the answer
	Before  []int `json:"before"`  // the previous step on its path, -1 for none
	Request []int `json:"request"` // from 0 along the path
	Leaf    []int `json:"leaf"`    // the last entry before the request, -1 for none
	// Same is the number of leading messages in common with the previous step. List are the
	// others: an entry's row; if beyond those, the index of a message of Extra plus the number
	// of entries; or [from, n] for messages that the previous step had elsewhere.
	Same     []int   `json:"same"`
	List     [][]any `json:"list"`
	Cached   []int   `json:"cached"` // cached messages; uncached ones follow
	System   []int   `json:"system"` // tokens
	Tools    []int   `json:"tools"`
	Messages []int   `json:"messages"`
	Prompt   []int   `json:"prompt"` // index into Prompts
	Model    []int   `json:"model"`  // index into Models, of the request

	Cache   Cache    `json:"cache"`
	Extra   Extra    `json:"extra"`
	Prompts []Prompt `json:"prompts"`
	Models  []Model  `json:"models"`
}

// Extra are messages other than the unchanged message of an entry: made by a patch, an edit or
// a compaction, or converted for the provider.
type Extra struct {
	Entry  []int `json:"entry"` // the entry with its text
	By     []int `json:"by"`    // the entry that added it: that one, a transform, or an edit
	Op     []int `json:"op"`    // the op of the transform, -1 for none
	Kind   []int `json:"kind"`
	Tokens []int `json:"tokens"`
	Row    []int `json:"row"` // its row: an entry with the same content, or a separate message
}

// A Prompt is the part of a request before the messages, as the difference from another prompt.
type Prompt struct {
	// From is the index of that one, -1 for an empty prompt. A change is [index there, number of items
	// removed, items added...]. A part is the list of its sections, and a section or a tool is [name, row,
	// entry, op], with row -1 for a tool without an implementation, which is omitted.
	From      int             `json:"from"`
	Parts     [][]any         `json:"parts"`
	Tools     [][]any         `json:"tools"`
	Reasoning json.RawMessage `json:"reasoning,omitempty"`
	Options   json.RawMessage `json:"options,omitempty"`
	Known     bool            `json:"known"`             // recorded in the session or a baseline
	NoTools   bool            `json:"noTools,omitempty"` // although known, the agent never records its tools
	number    int32           // in the ledger
}

// A Model is a model used by requests.
type Model struct {
	Name   string `json:"name"`
	Window int64  `json:"window,omitempty"` // tokens
}

// Cache is the account for the prompt cache, in tokens and dollars, with columns like those of
// Steps. Prompt is 0 for unknown requests.
type Cache struct {
	Prompt   []int64 `json:"prompt"`
	Shared   []int64 `json:"shared"`
	Answered []int   `json:"answered"` // 1 if a usage is recorded
	Input    []int64 `json:"input"`
	Read     []int64 `json:"read"`
	Write    []int64 `json:"write"`
	// By step, only for steps that have any.
	Breaks   map[int]*Break          `json:"breaks,omitempty"`
	Unserved map[int]*cache.Rebilled `json:"unserved,omitempty"`
}

// A Break is the cause that ended the prefix that a cache could serve.
type Break struct {
	At          int             `json:"at"` // number of messages before it
	Cause       cache.Cause     `json:"cause"`
	Entry       int             `json:"entry"`              // -1 for none
	Op          int             `json:"op"`                 // -1 for none
	Sections    []string        `json:"sections,omitempty"` // of the prompt, that differ
	Reason      string          `json:"reason,omitempty"`
	Transformer string          `json:"transformer,omitempty"`
	Again       *cache.Rebilled `json:"again,omitempty"`
}

func (p *Report) request(l *ledger.Ledger, k int32) error {
	st, q := &p.Steps, &l.Requests[k]
	p.steps[int(q.Record)] = len(st.Entry)
	p.contexts = append(p.contexts, int(q.Context))
	list, err := p.list(l, k)
	if err != nil {
		return err
	}
	v := l.View(k, false)
	same, _ := v.Until(l.Kept(q))
	st.Entry, st.Request = append(st.Entry, int(q.Record)), append(st.Request, int(q.Number))
	st.Same, st.List, st.Cached = append(st.Same, same), append(st.List, list), append(st.Cached, v.Cached())
	before := -1
	if q.Previous >= 0 {
		before = p.steps[int(l.Requests[q.Previous].Record)]
	}
	ref, err := l.Asked(q)
	if err != nil {
		return err
	}
	leaf := -1 // the last record before the answer
	if q.Place > 0 {
		leaf = p.s.Parent(int(q.Record))
	}
	return p.settings(l, setting{leaf, before, l.Counts(q), ref, promptKey{q.Prompt, l.Levels[q.Level]},
		l.Thinking(q)})
}

// A setting is what a request has besides its messages.
type setting struct {
	leaf, before int
	counts       weigh.Counts
	model        models.Ref
	prompt       promptKey
	reasoning    value
}

// A promptKey identifies a prompt: its number in the ledger, and the thinking level as JSON.
type promptKey struct {
	number int32
	level  string
}

// settings records the rest of a request.
func (p *Report) settings(l *ledger.Ledger, s setting) error {
	st, n := &p.Steps, s.counts
	st.Before, st.Leaf = append(st.Before, s.before), append(st.Leaf, s.leaf)
	st.System, st.Tools, st.Messages = append(st.System, n.System), append(st.Tools, n.Tools),
		append(st.Messages, n.Messages)
	number, err := p.prompt(l, &s)
	if err != nil {
		return err
	}
	st.Prompt = append(st.Prompt, number)
	at, err := p.model(s.model)
	if err != nil {
		return err
	}
	st.Model = append(st.Model, at)
	p.Head.Window = cmp.Or(st.Models[at].Window, p.Head.Window)
	return nil
}

// model returns the index in Models of a request's model.
func (p *Report) model(ref models.Ref) (at int, err error) {
	if at, ok := p.models[ref]; ok {
		return at, nil
	}
	m := Model{Name: ref.Name()}
	if m.Window, _, err = p.r.Window(ref); err != nil {
		return 0, err
	}
	p.models[ref] = len(p.Steps.Models)
	p.Steps.Models = append(p.Steps.Models, m)
	return p.models[ref], nil
}

// list encodes the messages of a request that are not the leading ones of the step before, with
// reference to those that this one has elsewhere.
func (p *Report) list(l *ledger.Ledger, k int32) (list []any, err error) {
	q := &l.Requests[k]
	is, v := q.Messages(), l.View(k, false)
	var was replay.Messages
	var before ledger.View
	if q.Previous >= 0 {
		was, before = l.Requests[q.Previous].Messages(), l.View(q.Previous, false)
	}
	elsewhere := map[int32]int{} // in the step before, by number
	for _, s := range was.Stretches(is) {
		for i := s.From; i < s.To && s.At < 0; i++ {
			elsewhere[was.Number(i)] = i
		}
	}
	list = []any{}
	var run []int
	add := func(at, n int) {
		if run != nil && run[0]+run[1] == at {
			run[1] += n
			return
		}
		run = []int{at, n}
		list = append(list, run)
	}
	for _, s := range is.Stretches(was) {
		from := max(s.From, l.Kept(q))
		if s.At >= 0 {
			first, _ := v.Until(from)
			end, _ := v.Until(s.To)
			if at, _ := before.Until(s.At + from - s.From); first < end {
				add(at, end-first)
			}
			continue
		}
		for i := v.Next(from); i < s.To; i = v.Next(i + 1) {
			if i, ok := elsewhere[is.Number(i)]; ok {
				at, _ := before.Until(i)
				add(at, 1)
				continue
			}
			run = nil
			row, err := p.row(v.Message(i))
			if err != nil {
				return nil, err
			}
			list = append(list, row)
		}
	}
	return list, nil
}

// row returns the row of a message: its entry, or one in Extra.
func (p *Report) row(piece ledger.Message) (int, error) {
	n := p.s.Len()
	from := piece.Origin()
	if piece.Own() && piece.Kind().IsTurn() {
		if p.r.Rules.Patched() {
			p.bodies[piece.Content] = from.Record
		}
		p.Index.Tokens[from.Record] = piece.Tokens
		return from.Record, nil
	}
	if at, ok := p.places[piece.Piece]; ok {
		return n + at, nil
	}
	x := &p.Steps.Extra
	at := len(x.Entry)
	p.places[piece.Piece] = at
	body, ok := p.bodies[piece.Content]
	if !ok {
		v, err := p.speak.Provider(piece.Piece)
		if err != nil {
			return 0, err
		}
		var w rower
		w.c.Reset(v)
		body = p.add(w.message(nil))
		p.bodies[piece.Content] = body
	}
	x.Entry, x.By, x.Op = append(x.Entry, from.Record), append(x.By, from.By), append(x.Op, from.Op)
	x.Kind, x.Tokens, x.Row = append(x.Kind, int(piece.Kind())), append(x.Tokens, int(piece.Tokens)),
		append(x.Row, body)
	return n + at, nil
}

// add adds a row after the entries.
func (p *Report) add(row []byte) int {
	p.extra = append(p.extra, row)
	return p.s.Len() + len(p.extra) - 1
}

// prompt returns the index of a prompt in Prompts.
func (p *Report) prompt(l *ledger.Ledger, s *setting) (int, error) {
	st := &p.Steps
	if at, ok := p.prompts[s.prompt]; ok {
		return at, nil
	}
	is, was := &l.Prompts[s.prompt.number], new(prompt.State)
	out := Prompt{From: -1, Parts: [][]any{}, Tools: [][]any{}, Known: is.Known, NoTools: is.NoTools,
		Reasoning: json.RawMessage(s.prompt.level), number: s.prompt.number}
	if s.before >= 0 {
		out.From = st.Prompt[s.before]
		was = &l.Prompts[st.Prompts[out.From].number].State
	}
	var parts []prompt.Part
	was.PartsDiffer(&is.State, func(_ int, was, is *prompt.Part) {
		if was != is && is != nil {
			parts = append(parts, *is)
		}
	})
	if err := p.speak.Texts(parts); err != nil {
		return 0, err
	}
	was.PartsDiffer(&is.State, func(at int, was, is *prompt.Part) {
		if addChange(&out.Parts, at, was, is) {
			var sections [][4]any
			for _, s := range prompt.Split(parts[:1]) {
				row := p.text(string(jsonl.AppendQuoted(nil, s.Text)))
				sections = append(sections, [4]any{s.Name, row, s.Origin.By, s.Origin.Op})
			}
			add(&out.Parts, sections)
			parts = parts[1:]
		}
	})
	was.ToolsDiffer(&is.State, func(at int, was, t *prompt.Tool) {
		if !addChange(&out.Tools, at, was, t) {
			return
		}
		row := -1
		if is.Implemented == nil || is.Implemented[t.Name] {
			row = p.text(string(t.Raw.AppendMinified(nil)))
		}
		add(&out.Tools, [4]any{t.Name, row, t.Origin.By, t.Origin.Op})
	})
	options := is.Options
	options.Reasoning = s.reasoning
	if len(options.Fields()) > 0 {
		out.Options = json.RawMessage(value(options.Append(nil)).AppendMinified(nil))
	}
	p.prompts[s.prompt] = len(st.Prompts)
	st.Prompts = append(st.Prompts, out)
	return len(st.Prompts) - 1, nil
}

// addChange adds the removal of an item at an index, unless was and is are the same, and reports
// whether one is to be added.
func addChange[T any](all *[][]any, at int, was, is *T) bool {
	if was == is {
		return false
	}
	gone := 0
	if was != nil {
		gone = 1
	}
	if n := len(*all); n > 0 {
		if last := (*all)[n-1]; last[0].(int)+last[1].(int) == at {
			last[1] = last[1].(int) + gone
			return is != nil
		}
	}
	*all = append(*all, []any{at, gone})
	return is != nil
}

// add adds an item to the last change.
func add(all *[][]any, item any) {
	last := &(*all)[len(*all)-1]
	*last = append(*last, item)
}

// text returns the row of a text, adding it if necessary.
func (p *Report) text(text string) int {
	if _, ok := p.texts[text]; !ok {
		p.texts[text] = p.add([]byte(text))
	}
	return p.texts[text]
}

// now adds the context at the leaf, or where the replay stops.
func (p *Report) now(l *ledger.Ledger, leaf int) error {
	if leaf < 0 {
		return nil
	}
	e, err := l.End, error(nil)
	if e == nil { // a broken patch is on the path
		quiet := *p.r
		quiet.Findings = nil
		if e, _, err = quiet.Reach(sessionfmt.After(leaf)); err != nil {
			return err
		}
	}
	if p.Head.Usage, err = e.Size(); err != nil {
		return err
	}
	before := -1
	path, _ := p.s.Path(e.Leaf)
	for _, rec := range slices.Backward(path) {
		if step, ok := p.steps[rec]; ok {
			before = step
			break
		}
	}
	list := []any{}
	var n weigh.Counts
	for i := range e.Len() {
		if m := e.Piece(i); m.Sent() {
			piece, err := l.Of(m)
			if err != nil {
				return err
			}
			row, err := p.row(piece)
			if err != nil {
				return err
			}
			list = append(list, row)
			n.Messages += int(piece.Tokens)
		}
	}
	st := &p.Steps
	st.Entry, st.Request = append(st.Entry, -1), append(st.Request, e.RequestIndex)
	st.Same, st.List, st.Cached = append(st.Same, 0), append(st.List, list), append(st.Cached, e.Cached())
	number, err := l.PromptAt(e)
	if err != nil {
		return err
	}
	front := &l.Prompts[number]
	n.System, n.Tools = front.Counts.System, front.Counts.Tools
	ref, err := e.ModelRef()
	if err != nil {
		return err
	}
	level, err := e.ThinkingLevel()
	if err != nil {
		return err
	}
	reasoning := front.Options.Reasoning
	if reasoning == nil {
		reasoning = p.r.Rules.Reasoning(level)
	}
	return p.settings(l, setting{e.Leaf, before, n, ref, promptKey{number, string(level)}, reasoning})
}

func (p *Report) account(report *cache.Report) {
	c := &p.Steps.Cache
	n := len(p.Steps.Entry)
	for _, column := range []*[]int64{&c.Prompt, &c.Shared, &c.Input, &c.Read, &c.Write} {
		*column = make([]int64, n)
	}
	c.Answered, c.Breaks, c.Unserved = make([]int, n), map[int]*Break{}, map[int]*cache.Rebilled{}
	for r := range report.Bare {
		at, ok := p.steps[r.Record]
		if !ok {
			continue
		}
		c.Prompt[at] = r.Prompt
		if r.Shared != nil {
			c.Shared[at] = r.Shared.Tokens
		}
		if u := r.Recorded; u != nil {
			c.Answered[at], c.Input[at], c.Read[at], c.Write[at] = 1, u.Input, u.CacheRead, u.CacheWrite
		}
		if r.Unserved.Tokens > 0 {
			short := r.Unserved
			c.Unserved[at] = &short
		}
		if b := r.Break; b != nil {
			c.Breaks[at] = &Break{b.At, b.Cause, b.Record, int(b.Op), b.Sections, b.Reason, b.Transformer, nil}
			if b.Rebilled.Tokens > 0 {
				c.Breaks[at].Again = &b.Rebilled
			}
		}
	}
}
