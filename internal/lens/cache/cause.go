package cache

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
)

// A Cause is why the cache of earlier requests cannot serve a request any further.
type Cause = ledger.Cause

// The causes.
const (
	CauseModel      Cause = "model"      // the model has had no request yet
	CauseSystem     Cause = "system"     // the system prompt changed
	CauseTools      Cause = "tools"      // the tools changed
	CauseThinking   Cause = "thinking"   // the thinking level changed
	CauseCompaction Cause = "compaction" // messages were summarized
	CauseIdle       Cause = "idle"       // the agent summarized messages in a pause, before their cache expired
	CauseEdit       Cause = "edit"       // a context_edit
	CauseTransform  Cause = "transform"  // a patch replaced messages
	CauseBranch     Cause = "branch"     // the previous request was on another branch
	CauseEphemeral  Cause = "ephemeral"  // the previous request ended with ephemeral messages
	CauseUncached   Cause = "uncached"   // the uncached messages at the end moved
	CausePause      Cause = "pause"      // the cache expired
	CauseRewritten  Cause = "rewritten"  // the agent sent an earlier message otherwise, as it recorded
	CauseUnknown    Cause = "unknown"
)

// A Break is where the prefix that a request shares with an earlier one ends, although the
// earlier request continues.
type Break struct {
	At int `json:"at"` // messages before the break; 0 also if it is in the prompt
	// `model`, `system`, `tools`, `thinking`, `compaction`, `idle`, `edit`, `transform`, `branch`, `ephemeral`,
	// `uncached`, `pause`, `rewritten`, `unknown`
	Cause Cause `json:"cause"`
	// found in the recorded bodies of both requests; `at` counts messages as sent
	Recorded bool `json:"recorded,omitempty"`
	Record   int  `json:"-"` // the record of the entry that caused it, -1 for none
	// id of the entry that caused it; for `branch`, the first entry not on the other branch
	Entry string       `json:"entry,omitempty"`
	Op    origin.Index `json:"op,omitzero"` // the op of its patch
	// for a break in the prompt or at a system message: the differing sections and tools, in the prompt's
	// order; the prefix ends at the first
	Sections    []string `json:"sections,omitempty"`
	Reason      string   `json:"reason,omitempty"`      // the op's `invalidateCacheReason`, trimmed
	Transformer string   `json:"transformer,omitempty"` // the transformer of the patch
	// for `pause`, seconds since the lost tokens were last used
	Pause    int64    `json:"pause,omitempty"`
	Lifetime int64    `json:"lifetime,omitempty"` // for `pause`, seconds that the cache keeps it
	Rebilled Rebilled `json:"again,omitzero"`     // sent before and billed again because of it
}

// Section returns the section or tool of the prompt at which the prefix ends, "" if it ends
// elsewhere.
func (b *Break) Section() string {
	if len(b.Sections) == 0 {
		return ""
	}
	return b.Sections[0]
}

// broken returns where and why a cache cannot serve request k any further. kept is the longest
// prefix still in the cache, known the longest that was ever in it, sent by the request
// compared. The cost is not computed yet.
func (c *accountant) broken(k int, kept, known beginning, compared use) *Break {
	s, q, t := c.sent[k], &c.l.Requests[k], &c.trie
	switch {
	case known == noBeginning && c.last < 0:
		return nil
	case known == noBeginning:
		compared.request = int32(c.last)
	}
	of, warm := c.warmed[compared.request]
	if !warm {
		of = compared.request
	}
	paused := t.tokensOf(kept)+c.hiddenOf(kept) < t.tokensOf(known)+c.hiddenOf(known)
	if !paused && known != noBeginning && known == c.sent[of] {
		return nil
	}
	b := &Break{Record: -1, Op: -1}
	var lost int64 // counted
	switch {
	case paused:
		b.At, b.Cause = c.messagesOf(kept), CausePause
		last := c.l.Requests[compared.request].At
		b.Pause, b.Lifetime = (q.At-last)/1000, (compared.until-last)/1000
		lost = t.tokensOf(known) + c.hiddenOf(known) - t.tokensOf(kept) - c.hiddenOf(kept)
	default:
		b.At = c.messagesOf(known)
		c.why(b, of, int32(k), known)
		lost = c.lost(int32(k), &c.l.Requests[of], known)
	}
	if rec := c.idle(of, int32(k)); rec >= 0 {
		b.Cause, b.Record, b.Op, b.Sections, b.Pause, b.Lifetime = CauseIdle, rec, -1, nil, 0, 0
	}
	if !q.Free() { // else nothing was billed
		b.Rebilled.Tokens = scaled(lost, t.tokensOf(s)+c.hidden, q.Size())
	}
	return b
}

// idleAfter is how long after a request an agent does not wait for the cache to expire, in milliseconds.
const idleAfter = 50 * 60 * 1000

// idle returns the compaction that the agent made by itself in the pause between two requests, -1 for none.
func (c *accountant) idle(of, k int32) int {
	s, e := c.l.Replay.Session, &c.l.Requests[of]
	changes, below := c.l.Since(of, k)
	tried := -1
	made := last(changes, func(ch *replay.Change) bool {
		if ch.By.Record == tried || s.Kind(ch.By.Record) != jsonl.Transform {
			return false
		}
		tried = ch.By.Record // a patch may have many ops
		line := c.line(ch.By.Record)
		at, ok := line.Get("timestamp").Millis()
		return ok && at-e.At >= idleAfter && line.Get("trigger").Is("auto")
	})
	if below >= 0 || made == nil {
		return -1
	}
	for up := made.By.Record; up != int(e.Record); up = s.Parent(up) {
		if kind := s.Kind(up); kind == jsonl.User || kind == jsonl.ToolResult {
			return -1
		}
	}
	return made.By.Record
}

// messagesOf returns the number of messages of a prefix.
func (c *accountant) messagesOf(at beginning) int {
	return max(0, int(c.trie.depth(at))-piecesBefore+1)
}

// hiddenOf returns a prefix's share of the prompt that the file does not record.
func (c *accountant) hiddenOf(at beginning) int64 {
	if at == noBeginning {
		return 0
	}
	return c.hidden
}

// lost returns what request k repeats after a prefix, in counted tokens: messages that an earlier
// request had, and the prompt up to its earlier size.
func (c *accountant) lost(k int32, e *ledger.Request, known beginning) (lost int64) {
	if c.fresh == nil {
		c.fresh = c.l.First()
	}
	v, q := c.view(k), &c.l.Requests[k]
	from := c.trie.index(known.node, c.sent[k].node, k)
	_, lost = v.Total()
	if known.node >= 0 {
		lost -= int64(c.trie.nodes[known.node].tokens)
	}
	for i, m := range c.l.Added(k) {
		if i >= from && v.Has(i) && c.fresh.Of(&m) >= k {
			lost -= int64(m.Tokens)
		}
	}
	depth := c.trie.depth(known)
	if depth < 1 { // the prompt is after the break
		lost += min(c.front(q), c.front(e))
	}
	if depth < 0 {
		lost += c.hidden
	}
	return lost
}

// why finds the difference between requests k and of after a prefix.
func (c *accountant) why(b *Break, of, k int32, known beginning) {
	changes, below := c.l.Since(of, k)
	kindOf := func(ch *replay.Change) jsonl.Kind { return c.l.Replay.Session.Kind(ch.By.Record) }
	switch depth := c.trie.depth(known); {
	case known == noBeginning:
		b.Cause = CauseModel
		c.blame(b, last(changes, func(ch *replay.Change) bool { return kindOf(ch) == jsonl.ModelChange }))
	case below >= 0:
		b.Cause, b.Record = CauseBranch, below
	case depth == 0:
		c.whyPrompt(b, &c.l.Requests[of], &c.l.Requests[k], changes)
	case depth == 1:
		b.Cause = CauseThinking
		c.blame(b, last(changes, func(ch *replay.Change) bool {
			return kindOf(ch) == jsonl.ThinkingChange ||
				ch.Name == "options_set" && !c.op(ch.By).Get("reasoning").IsNull()
		}))
	default:
		c.whyMessage(b, of, k, known.node, changes)
	}
}

// whyMessage finds why request k has another message than request of at the break.
func (c *accountant) whyMessage(b *Break, of, k, known int32, changes iter.Seq[*replay.Change]) {
	v, was := c.view(of), c.originAfter(known, of)
	switch n, _ := v.Until(c.l.Requests[of].Messages().Len()); {
	case b.At < v.Cached():
		c.replaced(b, was, c.originAfter(known, k), changes)
		return
	case b.At >= n:
		b.Cause = CauseEphemeral
	default:
		b.Cause = CauseUncached
	}
	c.blame(b, &replay.Change{By: was}) // what added the messages at the end, of which it is the first
}

// originAfter returns the origin of a request's message after a prefix; its Record is -1 if there
// is none.
func (c *accountant) originAfter(known, k int32) origin.Origin {
	v, i := c.view(k), c.trie.index(known, c.sent[k].node, k)
	if i >= v.End() {
		return origin.Baseline
	}
	return v.Piece(i).Origin()
}

// last returns the last of some changes that is wanted, nil for none. Where no change is wanted in the first way,
// the next way counts.
func last(changes iter.Seq[*replay.Change], ways ...func(*replay.Change) bool) *replay.Change {
	for _, wanted := range ways {
		for ch := range changes {
			if wanted(ch) {
				return ch
			}
		}
	}
	return nil
}

// blame makes a change, unless it is nil, the one that a break is due to.
func (c *accountant) blame(b *Break, ch *replay.Change) {
	if ch == nil {
		return
	}
	b.Record = ch.By.Record
	if b.Op = origin.Index(ch.By.Op); b.Op >= 0 {
		b.Reason = jsonl.TrimJS(c.op(ch.By).Get("invalidateCacheReason").Text())
		b.Transformer = c.line(b.Record).Get("transformerName").Text()
	}
}

// op returns an op of a patch.
func (c *accountant) op(by origin.Origin) (op jsonl.Value) {
	if c.patch != by.Record {
		c.patch, c.ops = by.Record, slices.Collect(slices.Clone(c.line(by.Record)).Get("patch").Elements)
	}
	if by.Op < len(c.ops) {
		op = c.ops[by.Op]
	}
	return op
}

// line returns the line of a record, nil after an error.
func (c *accountant) line(rec int) jsonl.Value {
	line, err := c.lines.Line(rec)
	c.err = cmp.Or(c.err, err)
	return line
}

// sets reports whether a change sets the text of the prompt, and whether it sets tools.
func (c *accountant) sets(ch *replay.Change) (text, tools bool) {
	if ch.Do != replay.OpAppend {
		return strings.HasPrefix(ch.Name, "system_"), strings.HasPrefix(ch.Name, "tools_")
	}
	m := c.line(ch.By.Record).Get("message")
	return m.Get("sections").Exists() || m.Get("content").ContentText() != "",
		m.Get("toolsAdded").Exists() || m.Get("toolsRemoved").Exists()
}

// whyPrompt finds what changed the prompt or the tools: a change that sets them, else a compaction or an edit of one,
// else a system message at the beginning.
func (c *accountant) whyPrompt(b *Break, before, after *ledger.Request, changes iter.Seq[*replay.Change]) {
	was, is, folds := c.promptOf(before), c.promptOf(after), !c.inPlace(after).System
	if was.Text == is.Text { // the tools of later messages are in the list
		was, is, folds = &c.l.Prompts[before.Prompt], &c.l.Prompts[after.Prompt], true
	}
	b.Cause, b.Sections = CauseSystem, c.sectionsDiffering(&was.State, &is.State)
	declares := func(ch *replay.Change) bool {
		text, tools := c.sets(ch)
		return text || b.Cause == CauseTools && tools
	}
	if was.Tools != is.Tools && last(changes, declares) == nil {
		b.Cause = CauseTools // no change has set the text
	}
	found := last(changes, func(ch *replay.Change) bool {
		return (ch.Do == replay.OpSet || folds) && declares(ch)
	}, func(ch *replay.Change) bool {
		edit := ch.Do == replay.OpRemove && c.l.Replay.Session.Kind(ch.Target) == jsonl.System
		return edit || ch.Do == replay.OpRecompact
	}, declares)
	if cause := causeOf(found); cause != CauseUnknown {
		b.Cause = cause
	}
	c.blame(b, found)
}

// causeOf returns the cause that a change of the messages is.
func causeOf(ch *replay.Change) Cause {
	switch {
	case ch == nil:
		return CauseUnknown
	case ch.Do == replay.OpRemove:
		return CauseEdit
	case ch.Do == replay.OpCut, ch.Do == replay.OpRecompact:
		return CauseCompaction
	case ch.Do == replay.OpReplace:
		return CauseTransform
	}
	return CauseUnknown
}

// replaced finds what replaced message was by message is: what put that there, else the last change that may have
// done it.
func (c *accountant) replaced(b *Break, was, is origin.Origin, changes iter.Seq[*replay.Change]) {
	may := func(ch *replay.Change) bool {
		if ch.Do == replay.OpRemove {
			return ch.Target == was.Record || ch.Target == is.Record
		}
		return causeOf(ch) != CauseUnknown
	}
	found := last(changes, func(ch *replay.Change) bool {
		return may(ch) && (ch.Do == replay.OpRemove || ch.By.Record == is.Record && ch.By.Op == is.Op)
	}, may)
	b.Cause = causeOf(found)
	c.blame(b, found)
}
