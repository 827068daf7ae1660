package replay

import (
	"slices"

	"ctxtool/internal/read/dialect/pi"
	"ctxtool/internal/read/ops"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// step applies the entry at an index of the path, and returns the rule that it used.
func (m *machine) step(pos, rec int) (did Effect, by rule.Rule) {
	kind := m.r.Session.Kind(rec)
	answers := m.r.Session.Answers(rec)
	if answers {
		for _, o := range m.watch {
			m.fail(o.Request(m.at()))
		}
	}
	m.pos = pos
	if m.r.Options.Without[rec] || m.err != nil {
		return Nothing, rule.Unread
	}
	msg := Piece{rec: int32(rec), pos: int32(pos), edit: -1, op: -1, kind: kind}
	switch kind {
	case jsonl.NoMessage:
		m.r.addFinding("no-message", rec,
			"a message entry without a message adds nothing; pi fails to build a context with it")
		return Nothing, pi.NoMessage
	case jsonl.ModelChange:
		m.model = rec
		m.plain(msg, OpChoose)
		return Settings, rule.Aside
	case jsonl.ThinkingChange:
		m.thinking = rec
		m.plain(msg, OpChoose)
		return Settings, rule.Aside
	case jsonl.Compaction, jsonl.Reset:
		m.altered = pos
		return m.compact(msg)
	case jsonl.ContextEdit:
		m.altered = pos
		return m.edit(rec, pos)
	case jsonl.Deletion:
		m.altered = pos
		return m.leaveOut(rec, pos), pi.Deletion
	case jsonl.Ephemeral:
		m.ephemeral = rec
		m.logged++
		return Nothing, pi.Ephemeral
	case jsonl.Transform:
		if m.r.Rules.Patched() || m.r.Options.Trial && m.r.Session.Held(rec) {
			did = m.transform(msg)
		}
		if m.err == nil {
			m.transforms = append(m.transforms, rec)
		}
		return did, pi.Transform
	}
	by = dialect.ByKind(kind)
	if !m.message(&msg) || m.err != nil {
		return Nothing, by
	}
	switch kind {
	case jsonl.User:
		m.turn++
	case jsonl.Assistant:
		if answers { // otherwise no model produced it
			m.request++
			m.model = rec
		}
		m.ephemeral = -1
	}
	number := m.pool.add(msg)
	if kind == jsonl.User && m.r.Session.Dialect() != nil {
		m.prompts.push(number)
	}
	m.do(change{Change: Change{Do: OpAppend, By: msg.Origin(), Target: -1}, piece: msg, number: number})
	return Added, by
}

// message completes msg, and reports whether its entry adds a message (docs/session-format.md
// 5.3, 5.5, 7.1).
func (m *machine) message(msg *Piece) bool {
	envelope := m.r.Rules.Patched()
	switch msg.kind {
	case jsonl.CustomMessage:
		msg.form, msg.kind = custom, jsonl.Custom
	case jsonl.BranchSummary:
		msg.form, msg.kind = branch, jsonl.BranchMessage
		return m.line(int(msg.rec)).Get("summary").Truthy() || envelope
	case jsonl.HookMessage:
		m.use(pi.Hook)
		if !envelope {
			msg.flags |= unsent
		}
	case jsonl.Bash:
		if m.line(int(msg.rec)).Get("message").Get("excludeFromContext").Truthy() {
			m.use(pi.Excluded)
			if !envelope || !m.r.Options.Lenient {
				msg.flags |= unsent
			} else {
				m.r.addFinding("excluded-sent", int(msg.rec),
					"excluded from the context, but sent by the reference code")
			}
		}
	case jsonl.ToolResult:
		if m.r.Session.OhMyPi() {
			m.resulted(int(msg.rec))
		}
	case jsonl.TransformMessage, jsonl.OtherMessage:
		m.use(pi.OtherRole)
		msg.flags |= unsent
	default:
		return msg.kind.IsMessage()
	}
	return true
}

// edit applies a context_edit (docs/session-format.md 5.6). An edit whose target comes later
// waits for it.
func (m *machine) edit(rec, pos int) (Effect, rule.Rule) {
	line := m.line(rec)
	if m.err != nil {
		return Nothing, rule.Edit
	}
	target := -1
	if id := line.Get("targetId"); id.IsString() {
		target = m.r.Session.Find(id.Text())
	}
	m.reads(line, "targetId", "replacement")
	replacement := line.Get("replacement")
	if !replacement.Exists() {
		m.r.addFinding("edit-no-replacement", rec,
			"an edit without a replacement changes nothing; pi fails to build a context with its target")
		return Nothing, pi.EditOfNothing
	}
	if target < 0 || m.r.Session.Kind(target) == jsonl.Transform {
		return Nothing, pi.EditOfUnknown
	}
	if !replacement.IsNull() && !replacement.Get("content").Exists() {
		m.r.addFinding("edit-no-content", rec,
			"the replacement has no content: the message is left without content, and pi fails to count it")
	}
	if m.applies(edit{rec: int32(rec), pos: int32(pos), target: int32(target), omit: replacement.IsNull()}) {
		return Edited, rule.Edit
	}
	return Nothing, rule.Edit
}

// compact applies a compaction entry: it cuts the state without compactions (docs/session-format.md 5.4, 5.5).
// A reset is a compaction without a summary, and may keep nothing (21).
func (m *machine) compact(msg Piece) (Effect, rule.Rule) {
	rec, reset := int(msg.rec), msg.kind == jsonl.Reset
	if m.r.Rules.Patched() && !reset {
		shadow, err := m.r.Shadows(rec)
		if m.fail(err); shadow {
			return Nothing, pi.Shadowed
		}
	}
	line := m.line(rec)
	if m.err != nil {
		return Nothing, rule.Compaction
	}
	read := []string{"summary", "firstKeptEntryId", "firstKeptEntryIndex", "tokensBefore", "tokensAfter", "details",
		"fromHook", "systemMessage", "usage"}
	if m.r.Session.OhMyPi() {
		read = append(read, "shortSummary", "method", "preserveData", "fromExtension")
	}
	m.reads(line, read...)
	before := *m.current()
	if m.cut == nil {
		m.declared = m.base.dropSystems()
	}
	first, from := m.base.msgs.n, m.pos
	if !reset || line.Get("firstKeptEntryId").IsString() {
		first, from = m.firstKept(rec, line)
	}
	next := state{msgs: m.keep(m.base.msgs, first, int32(from)), from: int32(from),
		uncached: slices.Clip(m.base.uncached)}
	kept := next.msgs.n
	m.cut = &next
	if !reset {
		m.unarchive(rec, line)
		own := msg
		own.form, own.kind = summary, jsonl.CompactionMessage
		m.add(&next, m.pool.intern(own), (*list).prepend)
	}

	if v := line.Get("systemMessage"); v.Truthy() {
		m.use(pi.Checkpointed)
		cp := msg
		cp.form, cp.kind = checkpoint, v.Get("role").RoleKind()
		cp.start, cp.size = span(line, v)
		if cp.kind >= jsonl.TransformMessage {
			cp.flags |= unsent
		}
		m.add(&next, m.pool.intern(cp), (*list).prepend)
		if cp.kind != jsonl.System {
			m.r.addFinding("checkpoint-role", rec,
				"the compaction's systemMessage has another role: pi sends it unchanged")
		}
	} else if hasSystem(m.declared) {
		m.r.addFinding("no-checkpoint", rec,
			"a compaction without a checkpoint: pi has no prompt and tools until the session declares them again")
	}
	if len(next.deltas) == 0 {
		next.deltas = slices.Clip(m.base.deltas)
	} else {
		next.deltas = append(next.deltas, m.base.deltas...)
	}
	if !reset {
		msg.form, msg.kind = summary, jsonl.CompactionMessage
	}
	if m.cutter != nil && m.err == nil {
		m.cutter.compacted(m, msg, line, &before, next.msgs.n-kept)
	}
	m.plain(msg, OpRecompact)
	if reset {
		return Compacted, pi.Restart
	}
	return Compacted, rule.Compaction
}

// plain reports a change that only appends the message of its entry.
func (m *machine) plain(msg Piece, do Operation) {
	m.change = change{Change: Change{Do: do, By: msg.Origin(), Target: -1}}
	m.notify()
}

// keep returns what a compaction keeps of a list without system messages: the messages from index
// first on. An edit before the place on the path from which edits apply is dropped.
func (m *machine) keep(l list, first int, from int32) list {
	visit := l.later(from) - first // patches can leave earlier messages after kept ones
	l.drop(first)
	drop := func(i int) {
		kept := l.at(i)
		if kept.edit < 0 || m.edits[kept.rec].pos >= from {
			return
		}
		kept.edit = -1
		kept.flags &^= omitted
		l.set(i, m.pool.intern(kept))
	}
	for i := range max(0, visit) {
		drop(i)
	}
	for _, target := range m.early {
		if i := m.place(&l, target); i >= 0 {
			drop(i)
		}
	}
	return l
}

// dropSystems removes the system messages in place, since no compaction keeps them, and returns their changes
// of the prompt.
func (s *state) dropSystems() (gone []delta) {
	if !hasDelta(s.deltas) {
		return nil // so that the list stays shared
	}
	was, deltas := s.msgs, s.deltas
	s.msgs, s.deltas = newList(was.pool), nil
	for i, p := range was.all {
		if p.kind != jsonl.System || p.form != plain {
			s.msgs.push(was.number(i))
		}
		if i < was.sorted() {
			s.msgs.body.loose = s.msgs.n
		}
	}
	for _, d := range deltas {
		if d.op == nil {
			gone = append(gone, d)
		} else {
			s.deltas = append(s.deltas, d)
		}
	}
	return gone
}

// Shadows reports whether a compaction entry only repeats a patch: its parent is a
// context_transform named compaction. It skips labels in between, which the reference code does
// not.
func (r *Replay) Shadows(rec int) (bool, error) {
	up := r.Session.Parent(rec)
	for steps := 0; up >= 0 && !r.Options.Lenient && r.Session.Kind(up) == jsonl.Label &&
		steps < r.Session.Len(); steps++ {
		up = r.Session.Parent(up)
	}
	if up < 0 || r.Session.Kind(up) != jsonl.Transform {
		return false, nil
	}
	line, err := r.Session.NewReader().Line(up)
	return line.Get("transformerName").Is("compaction"), err
}

// firstKept returns where a compaction starts to keep: the index of the first kept message in
// the list without compactions, and the place on the path from which edits apply.
func (m *machine) firstKept(rec int, line value) (first, from int) {
	var f [2]value
	line.Fields(f[:], "firstKeptEntryId", "firstKeptEntryIndex")
	kept := m.r.Session.FirstKept(rec, f[0], f[1])
	if kept == rec {
		m.use(pi.KeepsNone)
		return m.base.msgs.n, m.pos
	}
	if from = m.placeOnPath(kept); from < 0 {
		m.use(pi.KeepsUnknown)
		first, from = m.base.msgs.n, m.pos
		if m.r.Rules.Patched() {
			first, from = 0, 0
		}
		m.r.addFinding("kept-unknown", rec, "the compaction's first kept entry %s is not on the path before it: pi "+
			"keeps nothing before it, the envelope rules keep everything", ops.OrMissing(f[0]))
		return first, from
	}
	first, exact := m.base.msgs.from(int32(from))
	if exact || m.r.Session.Kind(kept) == jsonl.System { // the list lacks it after a compaction
		return first, from
	}
	m.use(pi.KeepsLater)
	m.r.addFinding("kept-no-message", rec,
		"the compaction's first kept entry (%s) has no message: keeping starts at the next message",
		m.r.Session.Kind(kept))
	return first, from
}

// placeOnPath returns the index of a record on the path before the current entry, -1 if it is
// not there.
func (m *machine) placeOnPath(rec int) int { return m.path.place(rec, m.pos) }

// hasSystem reports whether there are system messages, so that the session has prompt and
// tools.
func hasSystem(deltas []delta) bool {
	for _, d := range deltas {
		if d.op == nil && d.m.flags&omitted == 0 {
			return true
		}
	}
	return false
}

// span returns the range of v in line. v must be a subslice of line, since both end their
// capacity at the same byte.
func span(line, v value) (start, size uint32) {
	return uint32(cap(line) - cap(v)), uint32(len(v))
}

// leaveOut applies an entry of a variant of pi that names entries to leave out (docs/session-format.md 21), as
// edits without a replacement.
func (m *machine) leaveOut(rec, pos int) (did Effect) {
	for _, target := range m.deleted(rec, m.line(rec)) {
		if m.applies(edit{rec: int32(rec), pos: int32(pos), target: target, omit: true}) {
			did = Edited
		}
	}
	return did
}

// applies applies an edit, and reports whether it changed a message of the request.
func (m *machine) applies(e edit) bool {
	m.edits[e.target] = e
	by := origin.Origin{Record: int(e.rec), By: int(e.rec), Op: -1}
	m.do(change{Change: Change{Do: OpRemove, By: by, Target: int(e.target)}, edit: e})
	return m.change.changed
}

// deleted returns the entries that a deletion names. A deletion of part of a message is not applied.
func (m *machine) deleted(rec int, line value) (targets []int32) {
	for el := range line.Get("deletedTargets").Elements {
		if !el.Get("kind").Is("entry") {
			m.r.addFinding("part-kept", rec, "the deletion of a part of entry %s is not applied",
				ops.OrMissing(el.Get("entryId")))
		} else if target := m.r.Session.Find(el.Get("entryId").Text()); target >= 0 {
			targets = append(targets, int32(target))
		}
	}
	return targets
}
