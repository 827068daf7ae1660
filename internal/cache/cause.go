package cache

import (
	"cmp"
	"slices"

	"ctxtool/internal/ops"
	"ctxtool/replay/ledger"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
)

// A Cause is why the cache of earlier requests cannot serve a request any further.
type Cause string

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
	CauseUnknown    Cause = "unknown"
)

// A Break is where the prefix that a request shares with an earlier one ends, although the
// earlier request continues.
type Break struct {
	At int `json:"at"` // messages before the break; 0 also if it is in the prompt
	// `model`, `system`, `tools`, `thinking`, `compaction`, `idle`, `edit`, `transform`, `branch`, `ephemeral`,
	// `uncached`, `pause`, `unknown`
	Cause  Cause `json:"cause"`
	Record int   `json:"-"` // the record of the entry that caused it, -1 for none
	// id of the entry that caused it; for `branch`, the first entry that the other branch does not have
	Entry string       `json:"entry,omitempty"`
	Op    origin.Index `json:"op,omitzero"` // the op of its patch
	// for a break in the prompt, or at a system message: the sections and tools that differ, in the order of the
	// prompt; the first is where the prefix ends
	Sections    []string `json:"sections,omitempty"`
	Reason      string   `json:"reason,omitempty"`      // the op's `invalidateCacheReason`, trimmed
	Transformer string   `json:"transformer,omitempty"` // the transformer of the patch
	// for `pause`, seconds since a request last used what the cache has lost
	Pause    int64    `json:"pause,omitempty"`
	Lifetime int64    `json:"lifetime,omitempty"` // for `pause`, seconds that the cache keeps it
	Rebilled Rebilled `json:"again,omitzero"`     // what had been sent before and is billed again because of it
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
	s, q, t := &c.sent[k], &c.l.Requests[k], &c.trie
	switch {
	case known == noBeginning && c.last < 0:
		return nil
	case known == noBeginning:
		compared.request = int32(c.last)
	}
	e := &c.sent[compared.request]
	b := &Break{Record: -1, Op: -1}
	var lost int64 // counted
	switch {
	case t.tokensOf(kept)+c.hiddenOf(kept) < t.tokensOf(known)+c.hiddenOf(known):
		b.At, b.Cause = c.messagesOf(kept), CausePause
		last := c.l.Requests[compared.request].At
		b.Pause, b.Lifetime = (q.At-last)/1000, (compared.until-last)/1000
		lost = t.tokensOf(known) + c.hiddenOf(known) - t.tokensOf(kept) - c.hiddenOf(kept)
	case known != noBeginning && known == e.prefix:
		late, ok := c.late[int32(k)]
		if !ok {
			return nil
		}
		return &Break{At: int(late.at), Cause: CauseSystem, Record: int(late.record), Op: -1,
			Sections: c.sectionsSet(late.record)}
	default:
		b.At = c.messagesOf(known)
		c.why(b, e.of, int32(k), known)
		lost = c.lost(int32(k), &c.l.Requests[e.of], known)
	}
	if rec := c.idle(e.of, int32(k)); rec >= 0 {
		b.Cause, b.Record, b.Op, b.Sections, b.Pause, b.Lifetime = CauseIdle, int(rec), -1, nil, 0, 0
	}
	if !q.Free() { // else nothing was billed
		b.Rebilled.Tokens = scaled(lost, t.tokensOf(s.prefix)+c.hidden, q.Size())
	}
	return b
}

// idleAfter is how long after a request an agent does not wait for the cache to expire, in milliseconds.
const idleAfter = 50 * 60 * 1000

// idle returns the compaction that the agent made by itself in the pause between two requests, -1 for none.
func (c *accountant) idle(of, k int32) int32 {
	s, e := c.l.Replay.Session, &c.l.Requests[of]
	between, below := c.between(e.Record, c.l.Requests[k].Record)
	for _, rec := range between {
		switch kind := s.Kind(int(rec)); {
		case below >= 0, kind == jsonl.User, kind == jsonl.ToolResult:
			return -1
		case kind == jsonl.Transform:
			line := c.line(rec)
			at, ok := line.Get("timestamp").Millis()
			if ok && at-e.At >= idleAfter && line.Get("trigger").Is("auto") {
				return rec
			}
		}
	}
	return -1
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
	from := c.trie.index(known.node, c.sent[k].prefix.node, k)
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

// why finds the difference between requests s and e after a prefix.
func (c *accountant) why(b *Break, of, k int32, known beginning) {
	e, s := &c.l.Requests[of], &c.l.Requests[k]
	between, below := c.between(e.Record, s.Record)
	switch depth := c.trie.depth(known); {
	case known == noBeginning:
		b.Cause = CauseModel
		c.search(b, between, func(kind jsonl.Kind, _ jsonl.Value, _ string, _ int, _ int) bool {
			return kind == jsonl.ModelChange
		})
	case below >= 0:
		b.Cause, b.Record = CauseBranch, int(below)
	case depth == 0:
		b.Cause, b.Sections = CauseSystem, c.sectionsDiffering(&c.promptOf(e).State, &c.promptOf(s).State)
		if c.promptOf(e).Tools != c.promptOf(s).Tools && c.onlyTools(between) {
			b.Cause = CauseTools
		}
		c.searchPrompt(b, between)
	case depth == 1:
		b.Cause = CauseThinking
		c.search(b, between, func(kind jsonl.Kind, line jsonl.Value, op string, _, _ int) bool {
			return kind == jsonl.ThinkingChange || op == "options_set" && !line.Get("reasoning").IsNull()
		})
	default:
		c.whyMessage(b, of, k, known.node, between)
	}
}

// whyMessage finds why request k has another message than request of at the break.
func (c *accountant) whyMessage(b *Break, of, k, known int32, between []int32) {
	was := c.view(of)
	if b.At < was.Cached() {
		c.searchMessages(b, between, c.originAfter(known, of), c.originAfter(known, k))
		return
	}
	b.Cause = CauseUncached
	if n, _ := was.Until(c.l.Requests[of].Messages.Len()); b.At >= n {
		b.Cause = CauseEphemeral
	}
	c.searchTail(b, c.originAfter(known, of))
}

// originAfter returns the origin of a request's message after a prefix; its Record is -1 if there
// is none.
func (c *accountant) originAfter(known, k int32) origin.Origin {
	v, i := c.view(k), c.trie.index(known, c.sent[k].prefix.node, k)
	if i >= v.End() {
		return origin.Origin{Record: -1, By: -1, Op: -1}
	}
	return v.Piece(i).Origin()
}

// between returns the records of the path to s after e, beginning with e's answer. If e is not
// on that path, below is the first record that only s's path has, else -1.
func (c *accountant) between(e, s int32) (records []int32, below int32) {
	if c.depth == nil {
		c.measure()
	}
	up := func(rec int32) int32 { return int32(c.l.Replay.Session.Parent(int(rec))) }
	rec, other := s, e
	below = s
	for steps := 0; rec != other && steps < 2*len(c.depth); steps++ {
		if other < 0 || rec >= 0 && c.depth[rec] >= c.depth[other] {
			records = append(records, rec)
			below, rec = rec, up(rec)
		} else {
			other = up(other)
		}
		if rec < 0 && other < 0 {
			break
		}
	}
	if rec == e {
		below = -1
		records = append(records, e)
	}
	slices.Reverse(records)
	return records, below
}

// measure computes the depth of all records.
func (c *accountant) measure() {
	c.depth = make([]int32, c.l.Replay.Session.Len())
	var way []int
	for rec := range c.depth {
		way = way[:0]
		at := rec
		for at >= 0 && c.depth[at] == 0 {
			c.depth[at] = -1 // being computed: a cycle ends here
			way = append(way, at)
			at = c.l.Replay.Session.Parent(at)
		}
		deep := int32(0)
		if at >= 0 {
			deep = max(0, c.depth[at])
		}
		for i := len(way) - 1; i >= 0; i-- {
			deep++
			c.depth[way[i]] = deep
		}
	}
}

// search visits entries and the ops of their patches, and records the last one for which want
// returns true.
func (c *accountant) search(b *Break, records []int32, want func(kind jsonl.Kind, line jsonl.Value, op string, rec,
	k int) bool) {
	for _, rec := range records {
		kind := c.l.Replay.Session.Kind(int(rec))
		switch kind {
		case jsonl.ModelChange, jsonl.ThinkingChange, jsonl.Compaction, jsonl.ContextEdit, jsonl.System,
			jsonl.Ephemeral, jsonl.Transform, jsonl.Deletion, jsonl.Reset:
		default:
			continue
		}
		line := c.line(rec)
		if kind != jsonl.Transform {
			if want(kind, line, "", int(rec), -1) {
				b.Record, b.Op, b.Reason, b.Transformer = int(rec), -1, "", ""
			}
			continue
		}
		if !c.l.Replay.Rules.Patched() {
			continue
		}
		k, found := 0, jsonl.Value(nil)
		for v := range line.Get("patch").Elements {
			if want(kind, v, v.Get("op").Text(), int(rec), k) {
				b.Record, b.Op, found = int(rec), origin.Index(k), v
			}
			k++
		}
		if found != nil {
			b.Reason, b.Transformer = jsonl.TrimJS(found.Get("invalidateCacheReason").Text()),
				line.Get("transformerName").Text()
		}
	}
}

// line returns the line of a record, nil after an error.
func (c *accountant) line(rec int32) jsonl.Value {
	line, err := c.lines.Line(int(rec))
	c.err = cmp.Or(c.err, err)
	return line
}

// systemOp reports whether an op changes the text of the prompt.
func systemOp(op string) bool {
	return op == "system_part_set" || op == "system_part_remove" || op == "system_parts_replace"
}

func toolsOp(op string) bool { return op == "tools_replace" || op == "tools_remove" }

// onlyTools reports whether none of the records changed the text of the prompt.
func (c *accountant) onlyTools(records []int32) bool {
	only := true
	c.search(&Break{}, records, func(kind jsonl.Kind, line jsonl.Value, op string, _, _ int) bool {
		message := line.Get("message")
		if systemOp(op) || kind == jsonl.System && (message.Get("sections").Exists() ||
			message.Get("content").ContentText() != "") {
			only = false
		}
		return false
	})
	return only
}

// searchPrompt finds what changed the prompt or the tools: an entry that sets them, else a
// compaction or an edit of one, else a leading system message.
func (c *accountant) searchPrompt(b *Break, records []int32) {
	declares := func(kind jsonl.Kind, line jsonl.Value, op string, _, _ int) bool {
		if b.Cause == CauseTools {
			m := line.Get("message")
			return toolsOp(op) || kind == jsonl.System && (m.Get("toolsAdded").Exists() ||
				m.Get("toolsRemoved").Exists())
		}
		return systemOp(op) || kind == jsonl.System
	}
	inFront := func(kind jsonl.Kind, line jsonl.Value, op string, rec, k int) bool {
		return (kind != jsonl.System || c.opt.Collapse) && declares(kind, line, op, rec, k)
	}
	if c.search(b, records, inFront); b.Record >= 0 {
		return
	}
	c.search(b, records, func(kind jsonl.Kind, line jsonl.Value, _ string, _, _ int) bool {
		switch kind {
		case jsonl.Compaction, jsonl.Reset:
			b.Cause = CauseCompaction
			return true
		case jsonl.ContextEdit:
			target := c.l.Replay.Session.Find(line.Get("targetId").Text())
			if target >= 0 && c.l.Replay.Session.Kind(target) == jsonl.System {
				b.Cause = CauseEdit
				return true
			}
		}
		return false
	})
	if b.Record < 0 {
		c.search(b, records, declares)
	}
}

// searchTail finds what added the messages at the end of a request, of which was is the first.
func (c *accountant) searchTail(b *Break, was origin.Origin) {
	b.Record, b.Op = was.Record, origin.Index(was.Op)
	if was.Op >= 0 {
		c.search(b, []int32{int32(was.Record)}, func(_ jsonl.Kind, _ jsonl.Value, _ string, _,
			k int) bool {
			return k == was.Op
		})
	}
}

// deletes reports whether a deletion names a record.
func (c *accountant) deletes(line jsonl.Value, rec int) bool {
	for el := range line.Get("deletedTargets").Elements {
		if el.Get("kind").Is("entry") && c.l.Replay.Session.Find(el.Get("entryId").Text()) == rec {
			return true
		}
	}
	return false
}

// searchMessages finds what replaced message was by message is: the recorded origin,
// else the last entry that may have done it.
func (c *accountant) searchMessages(b *Break, between []int32, was, is origin.Origin) {
	var sure bool
	b.Cause = CauseUnknown
	c.search(b, between, func(kind jsonl.Kind, line jsonl.Value, op string, rec, k int) bool {
		cause, certain := CauseUnknown, false
		switch {
		case kind == jsonl.ContextEdit:
			target := c.l.Replay.Session.Find(line.Get("targetId").Text())
			if target < 0 || target != was.Record && target != is.Record {
				return false
			}
			cause, certain = CauseEdit, true
		case kind == jsonl.Deletion:
			if !c.deletes(line, was.Record) {
				return false
			}
			cause, certain = CauseEdit, true
		case kind == jsonl.Compaction, kind == jsonl.Reset:
			cause, certain = CauseCompaction, is.Record == rec
		case op == ops.Compaction:
			cause, certain = CauseCompaction, is.Record == rec && is.Op == k
		case op == ops.Replace:
			cause, certain = CauseTransform, is.Record == rec && is.Op == k
		default:
			return false
		}
		if sure && !certain {
			return false
		}
		sure, b.Cause = sure || certain, cause
		return true
	})
}
