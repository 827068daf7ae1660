package hook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/read/ops"
	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Store adds the results to a batch below the point: as transforms, as entries that pi itself understands, or
// as the log of a request-only patch.
func (t *Trial) Store(b *sessionfmt.Batch, edits bool) error {
	switch {
	case t.Reason == Ephemeral:
		t.Form = string(Ephemeral)
		return t.log(b)
	case edits:
		t.Form = "edits"
		return t.edit(b)
	}
	t.Form = "transform"
	for _, r := range t.results {
		b.Add(jsonl.Transform, r.fields()...)
	}
	return nil
}

// log adds the entry that logs request-only messages, as the agent does: only uncached ones, and nothing if
// there are none.
func (t *Trial) log(b *sessionfmt.Batch) error {
	list, err := appendMessages(value{'['}, t.Envelope.UncachedMessages())
	if err == nil && len(list) > 1 {
		b.Add(jsonl.Ephemeral, jsonl.Field{Name: "messages", Value: append(list, ']')})
	}
	return err
}

// appendMessages appends messages to an unclosed array.
func appendMessages(list value, messages iter.Seq2[replay.Message, error]) (value, error) {
	for m, err := range messages {
		if err != nil {
			return nil, err
		}
		list = append(comma(list), m.Raw...)
	}
	return list, nil
}

func comma(list value) value {
	if len(list) > 1 {
		return append(list, ',')
	}
	return list
}

// refuse returns the error for operations that cannot be expressed in pi's own entries, naming the last
// operation of that kind that has an effect.
func (t *Trial) refuse(why string, names ...string) error {
	text := "the results"
	for _, r := range t.results {
		k := 0
		for v := range r.Patch.Elements {
			if slices.Contains(names, v.Get("op").Text()) {
				text = fmt.Sprintf("op %d (%s)", k, v.Get("op").Text())
			}
			k++
		}
	}
	return sessionfmt.Errorf("%s has no form that pi reads: %s", text, why).In(t.opt.Source).
		Hinted("--as transform --rules envelope stores it as a patch")
}

// edit adds the entries that make pi build the context of the trial: a system message, a
// thinking level, edits, and messages at the end.
func (t *Trial) edit(b *sessionfmt.Batch) error {
	for _, v := range t.Verdicts {
		switch v.Name {
		case ops.Append:
			return t.refuse("pi stores no uncached messages", v.Name)
		case ops.Compaction:
			return t.refuse("ctxtool compact appends a compaction", v.Name)
		}
	}
	was, err := t.Difference.A.Envelope.Prompt()
	is, err2 := t.Difference.B.Envelope.Prompt()
	if err = cmp.Or(err, err2); err != nil {
		return err
	}
	if err := t.editPrompt(b, was, is); err != nil {
		return err
	}
	if err := t.editOptions(b, was, is); err != nil {
		return err
	}
	return t.editMessages(b)
}

var (
	partOps = []string{"system_part_set", "system_part_remove", "system_parts_replace"}
	toolOps = []string{"tools_replace", "tools_remove"}
)

// editPrompt adds a system message for the parts and tools that differ.
func (t *Trial) editPrompt(b *sessionfmt.Batch, was, is *prompt.Prompt) error {
	sections := value{'{'}
	set := func(name string, text value) {
		sections = append(append(append(comma(sections), jsonl.AppendQuoted(nil, name)...), ':'), text...)
	}
	for _, p := range was.Parts {
		if !slices.ContainsFunc(is.Parts, func(q prompt.Part) bool { return q.Name == p.Name }) {
			if p.Content {
				return t.refuse("the content of a system message cannot be removed", partOps...)
			}
			set(p.Name, value("null"))
		}
	}
	for _, p := range is.Parts {
		k := slices.IndexFunc(was.Parts, func(q prompt.Part) bool { return q.Name == p.Name })
		switch {
		case k >= 0 && was.Parts[k].Text == p.Text:
		case p.Content:
			return t.refuse("the content of a system message cannot be replaced", partOps...)
		default:
			set(p.Name, jsonl.AppendQuoted(nil, p.Text))
		}
	}
	removed, added := t.editTools(was, is)
	if len(sections)+len(removed)+len(added) == 3 {
		return nil
	}
	if !was.Known {
		return t.refuse("the session records no prompt and tools that it could change",
			append(slices.Clone(partOps), toolOps...)...)
	}
	message := fmt.Appendf(nil, `{"role":"system","content":"","timestamp":%d`, b.Millis())
	for _, f := range []struct {
		name string
		list value
		end  byte
	}{{"sections", sections, '}'}, {"toolsAdded", added, ']'}, {"toolsRemoved", removed, ']'}} {
		if len(f.list) > 1 {
			message = append(fmt.Appendf(message, `,"%s":%s`, f.name, f.list), f.end)
		}
	}
	b.Add(jsonl.System, jsonl.Field{Name: "message", Value: append(message, '}')})
	return nil
}

// editTools returns the tools that a system message removes and adds, as unclosed arrays: those from the first
// difference on.
func (t *Trial) editTools(was, is *prompt.Prompt) (removed, added value) {
	removed, added = value{'['}, value{'['}
	keep := func(tool prompt.Tool, in []prompt.Tool) bool {
		return slices.ContainsFunc(in, func(o prompt.Tool) bool {
			return o.Name == tool.Name &&
				bytes.Equal(o.Raw, tool.Raw)
		})
	}
	var left []prompt.Tool
	for _, tool := range was.Tools {
		if keep(tool, is.Tools) {
			left = append(left, tool)
			continue
		}
		removed = append(append(append(comma(removed), `{"name":`...), jsonl.AppendQuoted(nil, tool.Name)...), '}')
	}
	for _, tool := range is.Tools {
		if !keep(tool, left) {
			added = append(comma(added), tool.Append(nil)...)
		}
	}
	return removed, added
}

// editOptions adds a thinking level if the reasoning differs.
func (t *Trial) editOptions(b *sessionfmt.Batch, was, is *prompt.Prompt) error {
	for _, f := range []struct {
		name    string
		was, is value
	}{{"temperature", was.Options.Temperature, is.Options.Temperature},
		{"maxTokens", was.Options.MaxTokens, is.Options.MaxTokens}} {
		if !bytes.Equal(f.was, f.is) {
			return t.refuse("pi stores no "+f.name, "options_set")
		}
	}
	if level := is.Options.Reasoning; !bytes.Equal(level, was.Options.Reasoning) {
		b.Add(jsonl.ThinkingChange, jsonl.Field{Name: "thinkingLevel", Value: level})
	}
	return nil
}

// editMessages adds edits for the messages that differ, and the new ones at the end.
func (t *Trial) editMessages(b *sessionfmt.Batch) error {
	d, s := t.Difference, t.s
	a, end, last := sent(d.A.Envelope), d.A.Cached, 0 // last is after the last message that is not new
	for _, c := range d.Messages {
		if c.Change != diff.Added && c.Change != diff.Removed {
			last = max(last, c.B+c.Count)
		}
	}
	for _, c := range d.Messages {
		switch c.Change {
		case diff.Kept:
		case diff.Removed, diff.Edited, diff.Truncated, diff.Replaced:
			for k := range c.Count {
				rec := a[c.A+k].Origin().Record
				if a[c.A+k].Origin().Op >= 0 || s.ID(rec) == "" || s.WrongID(rec) || s.Shadowed(rec) ||
					!s.Kind(rec).Replaceable() && c.Change != diff.Removed {
					return t.refuse(fmt.Sprintf("no edit reaches message %d", c.A+k), ops.Replace)
				}
				replacement := value("null")
				if c.Change != diff.Removed {
					v, err := d.ValueB(c.B + k)
					if err != nil {
						return err
					}
					replacement = fmt.Appendf(nil, `{"content":%s}`, v.Get("content"))
				}
				b.Add(jsonl.ContextEdit, jsonl.Field{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(rec))},
					jsonl.Field{Name: "replacement", Value: replacement})
			}
		case diff.Added:
			for k := range c.Count {
				v, err := d.ValueB(c.B + k)
				if err != nil {
					return err
				}
				if c.A >= 0 && c.A < end || c.B < last || c.B+c.Count > d.B.Cached || !v.Get("role").Is("user") {
					return t.refuse("only messages of the user, at the end, can be added", ops.Replace)
				}
				b.Add(jsonl.User, jsonl.Field{Name: "message", Value: bytes.Clone(v)})
			}
		default:
			return t.refuse("messages cannot be moved", ops.Replace)
		}
	}
	return nil
}

// sent returns the messages of a request.
func sent(e *replay.Envelope) (all []replay.Piece) {
	for i := range e.Len() {
		if m := e.Piece(i); m.Sent() {
			all = append(all, m)
		}
	}
	return all
}

// Promise compares a session, read back with the entries, with the trial.
func (t *Trial) Promise(after *sessionfmt.Session) error {
	if t.Reason == Ephemeral {
		return nil // the log changes no context
	}
	hint := ""
	if t.Form == "edits" {
		hint = "--as transform --rules envelope stores the results as a patch"
	}
	return promise(after, t.opt.Replay, t.opt.Counters[0], t.Envelope, hint)
}

// promise returns an error if the context at the end of a session is not the one that was planned.
func promise(after *sessionfmt.Session, opt replay.Options, c *tokens.Counter, planned *replay.Envelope,
	hint string) error {
	opt.Leaf = after.Leaf()
	e, err := replay.New(after, opt).At(sessionfmt.After(after.Leaf()))
	if err != nil {
		return err
	}
	d, err := diff.Envelopes(c, planned, e)
	if err != nil || d.Equal() {
		return err
	}
	return &sessionfmt.Error{
		Pos:  sessionfmt.Pos{File: planned.Replay().Session.Name},
		Err:  fmt.Errorf("%w: %s differ", errOther, cmp.Or(d.Shared.First, "options")),
		Hint: cmp.Or(hint, "this is a bug in ctxtool; please report it, with the file if possible"),
	}
}

// errOther is the error if entries do not replay to the planned context.
var errOther = errors.New("nothing was written: the entries would produce a different context")
