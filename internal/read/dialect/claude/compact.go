package claude

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A compaction waits for its summary, and for kept messages that are written only after it.
type compaction struct {
	line    *dialect.Line
	said    *dialect.Line   // the summary
	before  []*dialect.Line // attachments between the two
	meta    jsonl.Value
	after   bool              // its summary follows the messages that it kept
	missing map[string]string // by uuid: the uuid of the kept message before it
	old     bool              // written by a version that does not record what it attaches
}

// hold holds a compaction.
func (a *arranger) hold(t dialect.Tree, l *dialect.Line) {
	line := t.Read(l.At)
	a.held = &compaction{
		line: l.Clone(), meta: slices.Clone(line.Get("compactMetadata")), missing: map[string]string{},
		old: dialect.Older(line.Get("version").Text(), "2.1.43"),
	}
	// A rewind that summarises everything from a prompt on keeps what precedes it, and ends with its summary.
	anchor := jsonl.FirstText(a.held.meta.Get("preservedMessages").Get("anchorUuid"),
		a.held.meta.Get("preservedSegment").Get("anchorUuid"))
	a.held.after = bytes.Equal(anchor.Inside(), l.ID)
	a.rewritten(t, l)
	before := ""
	for id := range a.held.meta.Get("preservedMessages").Get("uuids").Elements {
		if _, ok := a.find(id); !ok {
			a.held.missing[id.Text()] = before
		}
		before = id.Text()
	}
}

// takes takes the summary of the compaction, or an attachment before it, and reports whether the line is one.
func (c *compaction) takes(l *dialect.Line, code dialect.Code) bool {
	follows := bytes.Equal(l.Ref, c.line.ID)
	for _, one := range c.before {
		follows = follows || bytes.Equal(l.Ref, one.ID)
	}
	switch {
	case !follows || c.said != nil:
		return false
	case code == summary:
		c.said = l.Clone()
		return true
	case code == attachment || code == unsent:
		c.before = append(c.before, l.Clone())
		return true
	}
	return false
}

// rewritten reports that the program rewrote the file at this compaction, which keeps the first record, whose
// parent is gone, or an earlier compaction.
func (a *arranger) rewritten(t dialect.Tree, l *dialect.Line) {
	meta := a.held.meta
	kept := cmp.Or(nth(meta.Get("preservedMessages").Get("uuids"), 0).Text(),
		meta.Get("preservedSegment").Get("headUuid").Text())
	begins := a.headless != nil && kept == string(a.headless.ID)
	total, pre, post := meta.Get("cumulativeDroppedTokens").Int(), meta.Get("preTokens").Int(),
		meta.Get("postTokens").Int()
	if a.dropped += pre - post; total <= a.dropped && !begins {
		return
	}
	if begins {
		a.headless = nil
	}
	a.dropped = max(a.dropped, total)
	t.Report("rewritten", l, "the program rewrote the file after this compaction: contexts before it are gone")
}

// compact adds the compaction: its summary and the messages that it kept replace all others. It follows the
// record before it, although the file gives it no parent.
func (a *arranger) compact(t dialect.Tree) {
	l, said, beside := a.held.line, a.held.said, a.held.before
	kept, ok := a.kept(t, a.held.meta)
	old, after, listed := a.held.old, a.held.after, a.held.meta.Get("preservedMessages").Get("uuids").IsArray()
	a.held = nil
	side := 0
	if l.Code&sidechain != 0 {
		side = 1
	}
	before := a.tail[side]
	if to, ok := a.lead(l.Ref); ok {
		before = a.end(to.entry)
	}
	var made []dialect.Span
	if said == nil { // then they follow it, as others do
		defer func() {
			for _, one := range beside {
				a.record(t, one, one.Code&codeMask, side)
			}
		}()
		beside = nil
	}
	for _, one := range beside {
		if one.Code&codeMask == attachment {
			made = append(made, one.At)
		}
	}
	if said != nil && !after {
		made = append(made, said.At)
	}
	for _, e := range kept {
		spans := t.Spans(int(e))
		if a.entries.At(e).code != answer {
			spans = spans[:1]
		}
		if last := len(made) - 1; last < 0 || made[last] != spans[0] { // several entries of one line
			made = append(made, spans...)
		}
	}
	if said != nil && after {
		made = append(made, said.At)
	}
	l.Rules |= rule.If(len(kept) > 0 && listed, keptList) | rule.If(len(kept) > 0 && !listed, keptSegment)
	e := a.add(t, jsonl.Transform, l, before, side, made...)
	if old {
		t.Report("hidden-attachments", l, "what the program attached after this compaction is not in the file: the "+
			"requests that follow it were larger, by up to 25k tokens")
	}
	if !ok {
		t.Report("kept-unresolved", l,
			"what this compaction kept is not in the file, or cannot be reached in it: only the summary is taken")
	}
	for _, one := range beside {
		a.put(one.ID, link{e, one.At})
	}
	if said != nil {
		a.put(said.ID, link{e, said.At})
	}
	for _, k := range kept {
		a.entries.At(k).keptBy = cmp.Or(a.entries.At(k).keptBy, e)
	}
	a.recorded, a.pinned, a.cut, a.sent[side].entry = link{entry: -1}, false, 0, -1
	if len(kept) > 0 {
		a.cut = e
	}
}

// kept returns the messages that a compaction kept, in order. If one is missing, it returns none; also if a
// segment reaches back over an earlier compaction, where the program does not look either.
func (a *arranger) kept(t dialect.Tree, meta jsonl.Value) (entries []int32, ok bool) {
	has := map[int32]bool{}
	add := func(e int32) {
		if one := a.entries.At(e); (one.conversation() || one.code == attachment || one.code == command) && !has[e] {
			entries, has[e] = append(entries, e), true
		}
	}
	if list := meta.Get("preservedMessages").Get("uuids"); list.IsArray() {
		for id := range list.Elements {
			to, ok := a.at[dialect.Key(id.Text())] // a compaction before may have kept it too
			if !ok || to.entry < 0 {
				return nil, false
			}
			add(to.entry)
		}
		return entries, true
	}
	segment := meta.Get("preservedSegment")
	if !segment.IsObject() {
		return nil, true
	}
	head, ok := a.at[dialect.Key(segment.Get("headUuid").Text())]
	tail, also := a.at[dialect.Key(segment.Get("tailUuid").Text())]
	if !ok || !also || head.entry < 0 || tail.entry < 0 {
		return nil, false
	}
	for e := a.end(tail.entry); e != head.entry; {
		add(e)
		up := a.named(t, e)
		if up < head.entry || up >= e || a.entries.At(up).code == boundary {
			return nil, false
		}
		e = up
	}
	add(head.entry)
	slices.Reverse(entries)
	return entries, true
}

// named returns the entry that a line names as its parent, after any results that follow an answer. For a
// message that a compaction kept, it is this message, although the tree has the compaction.
func (a *arranger) named(t dialect.Tree, e int32) int32 {
	up := a.entries.At(e).parent
	if up < 0 || a.entries.At(up).code != boundary {
		return up
	}
	if to, ok := a.at[dialect.Key(t.Read(t.Spans(int(e))[0]).Get("parentUuid").Text())]; ok {
		return to.entry
	}
	return up
}

// edits adds edits of entries, each below the one before, or a mark if there are none. It skips negative
// targets.
func (a *arranger) edits(t dialect.Tree, l *dialect.Line, up int32, targets []int32, side int) {
	up = a.end(up)
	if len(targets) == 0 {
		a.add(t, jsonl.CustomEntry, l, up, side)
	}
	for _, target := range targets {
		var of []dialect.Span
		if target >= 0 {
			of = t.Spans(int(target))[:1]
		}
		up = a.add(t, jsonl.ContextEdit, l, up, side, of...)
	}
}

// takeOut makes results placeholders, and removes messages and attachments. All lines of an answer are removed
// together.
func (a *arranger) takeOut(t dialect.Tree, l *dialect.Line, up int32, side int) {
	line := t.Read(l.At)
	meta := line.Get("microcompactMetadata")
	var targets []int32
	for id := range meta.Get("compactedToolIds").Elements {
		targets = append(targets, a.resultOf(id.Text()))
	}
	for _, ids := range []jsonl.Value{meta.Get("clearedAttachmentUUIDs"),
		line.Get("snipMetadata").Get("removedUuids")} {
		for id := range ids.Elements {
			to, ok := a.find(id)
			if !ok {
				to.entry = -1
			}
			targets = append(targets, to.entry)
		}
	}
	a.edits(t, l, up, targets, side)
}

// replace replaces the texts of results. The first replacement of a result counts; children of the record
// before it follow the edits.
func (a *arranger) replace(t dialect.Tree, l *dialect.Line) {
	side := 0
	if a.tail[0] < 0 {
		side = 1
	}
	var targets []int32
	fresh := false
	for one := range t.Read(l.At).Get("replacements").Elements {
		call, target := one.Get("toolUseId").Text(), int32(-1)
		if !a.replaced[call] {
			a.replaced[call], fresh, target = true, true, a.resultOf(call)
		}
		targets = append(targets, target)
	}
	up := a.tail[side]
	if !fresh || up < 0 {
		return
	}
	a.edits(t, l, up, targets, side)
	a.ending(up).end = a.tail[side]
}

// resultOf returns the result of a call, -1 for none.
func (a *arranger) resultOf(call string) int32 {
	if e, ok := a.results[dialect.Key(call)]; ok {
		return e
	}
	return -1
}

// synthetic adds an answer that no model gave. It may be the mark of a resume, for which some versions only
// load the parent chain.
func (a *arranger) synthetic(t dialect.Tree, l *dialect.Line, up int32, side int) {
	e := a.add(t, jsonl.Assistant, l, a.end(up), side)
	t.Unanswered(rule.Answer, int(e))
	line := t.Read(l.At)
	version := line.Get("version").Text()
	if dialect.Older(version, "2.1.1") || !dialect.Older(version, "2.1.18") || !saysResumed(line) {
		return
	}
	lost, up := 0, e
	for _, k := range a.since(e) {
		one := a.entries.At(k)
		var spans []dialect.Span
		switch {
		case one.of >= 0 && one.of != k && !one.walked:
			spans = t.Spans(int(k))[:1]
			lost++
		case one.of == k && one.upto > 0 && one.last > one.upto:
			spans = slices.DeleteFunc(t.Spans(int(k)), func(at dialect.Span) bool { return at.Off > one.upto })
		default:
			continue
		}
		up = a.add(t, jsonl.ContextEdit, l, up, side, spans...)
	}
	a.entries.At(e).resumed = true
	if lost > 0 {
		t.Report("resumed", l, fmt.Sprintf("version %s resumed the session here without results of parallel calls: %d",
			version, lost))
	}
}

// since returns the entries before another one, back to the last compaction or resume: earlier ones were edited
// by that.
func (a *arranger) since(e int32) (path []int32) {
	for k := a.entries.At(e).parent; k >= 0 && a.entries.At(k).code != boundary &&
		!a.entries.At(k).resumed; k = a.entries.At(k).parent {
		path = append(path, k)
	}
	slices.Reverse(path)
	return path
}

func saysResumed(line jsonl.Value) bool {
	for block := range line.First("message", "content").Elements {
		if block.Get("text").Is("No response requested.") {
			return true
		}
	}
	return false
}
