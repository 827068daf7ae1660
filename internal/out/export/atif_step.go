package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"ctxtool/internal/out/body"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// message tells a message of the context.
func (b *telling) message(p replay.Piece) {
	raw, err := b.l.Provider(p)
	if err != nil {
		b.error = err
		return
	}
	m, rec := raw.Message(), p.Origin().Record
	if raw == nil || m.Kind == jsonl.System {
		return
	}
	seen := b.has(p)
	one := &step{At: b.time(rec), Source: "user", Copied: seen ||
		b.again(rec), Extra: object{"entry_id": b.Session.ID(rec)}}
	switch m.Kind {
	case jsonl.ToolResult:
		b.result(m, rec, one)
		return
	case jsonl.Assistant:
		b.flush()
		b.speak(one, m)
		b.open = one
		return
	}
	b.flush()
	if kind := p.Kind(); kind != jsonl.User {
		one.Extra["kind"] = kind.String()
	}
	one.Message = contentOf(m)
	b.write(one)
}

// answer tells a model's answer to a request. in reports whether the context after it has it: what it
// says is in extra if not.
func (b *telling) answer(q *ledger.Request, in bool) {
	b.flush()
	rec := int(q.Record)
	own := b.Replay.Own(rec)
	raw, err := b.l.Agent(own)
	if err != nil {
		b.error = err
		return
	}
	m := raw.Message()
	one := &step{At: b.time(rec), Source: "agent", Model: modelOf(m), Copied: b.again(rec), Requests: 1,
		Extra: object{"entry_id": b.Session.ID(rec)}}
	if level := jsonl.Value(b.Book.Levels[q.Level]); level.IsString() && !level.Is("off") {
		one.Effort = level.Text()
	}
	if m.Failed() {
		one.Extra["stop_reason"] = m.Stop.Text()
	}
	if !q.Known() {
		one.Extra["context_unknown"] = true // the replay did not get there
	}
	if m.Failure.IsString() {
		one.Extra["error"] = m.Failure.Text()
	}
	if in {
		b.speak(one, m)
	} else {
		one.Message, one.Extra["not_in_context"] = "", true
		if text := m.Text(""); text != "" {
			one.Extra["text"] = text
		}
	}
	if at, is := b.calls[q.Record]; is {
		b.metrics(one, at)
	}
	b.open, b.said[rec] = one, true
	b.first(rec)
}

// modelOf returns the model of an answer.
func modelOf(m *jsonl.Message) string {
	return models.Ref{Provider: m.Provider.Text(), ID: m.Model.Text()}.Name()
}

// speak sets what a model said.
func (b *telling) speak(one *step, m *jsonl.Message) {
	one.Source, one.Model = "agent", modelOf(m)
	one.called = map[string]bool{}
	var text, thinking []byte
	for i := range m.Blocks {
		switch block := &m.Blocks[i]; block.Kind {
		case jsonl.TextBlock:
			text = append(text, block.Text.Text()...)
		case jsonl.ThinkingBlock:
			if len(thinking) > 0 {
				thinking = append(thinking, "\n\n"...)
			}
			thinking = append(thinking, block.Text.Text()...)
		case jsonl.CallBlock:
			id, args := cmp.Or(block.ID.Text(), fmt.Sprintf("call-%d", len(one.Calls)+1)), json.RawMessage("{}")
			if block.Args.IsObject() {
				args = block.Args.AppendMinified(nil)
			}
			name := cmp.Or(block.Name.Text(), "unknown")
			one.called[id] = true
			one.Calls = append(one.Calls, object{"tool_call_id": id, "function_name": name, "arguments": args})
		}
	}
	one.Message, one.Reasoning = string(text), string(thinking)
}

// result adds the result of a call to the step that called, or tells it on its own.
func (b *telling) result(m *jsonl.Message, rec int, one *step) {
	extra := object{"entry_id": b.Session.ID(rec)}
	if m.IsError.Truthy() {
		extra["is_error"] = true
	}
	r := object{"content": contentOf(m), "extra": extra}
	if refs := b.subAgents(rec); refs != nil {
		r["subagent_trajectory_ref"] = refs
	}
	call := m.CallID.Text()
	if b.open != nil && b.open.called[call] {
		r["source_call_id"] = call
		b.open.results = append(b.open.results, r)
		return
	}
	b.flush()
	extra["call_id"] = call // of another step
	one.Source, one.Message, one.results = "system", "", []object{r}
	b.write(one)
}

// subAgents returns the embedded trajectories of the sub-agent that worked for a result.
func (b *telling) subAgents(rec int) (refs []object) {
	if len(b.subs) == 0 {
		return nil
	}
	raw, err := b.lines.Raw(rec)
	if err != nil {
		b.error = err
	}
	for id := range b.subs {
		if bytes.Contains(raw, []byte(`"agentId":"`+id+`"`)) {
			refs = append(refs, object{"trajectory_id": id})
		}
	}
	return refs
}

// metrics sets what a call of a model took and cost, and adds it to the totals.
func (b *telling) metrics(one *step, at int) {
	c := &b.Calls[at]
	u := &c.Usage
	extra := object{"cache_write_tokens": u.CacheWrite}
	one.Metrics = object{"prompt_tokens": u.Prompt(), "completion_tokens": u.Output, "cached_tokens": u.CacheRead,
		"extra": extra}
	one.Requests = 1
	if c.Source != "" {
		one.Metrics["cost_usd"], extra["cost_source"] = c.Cost, c.Source
	}
	if one.Copied || b.done[at] {
		return
	}
	b.done[at] = true
	b.total.Prompt += u.Prompt()
	b.total.Completion += u.Output
	b.total.Cached += u.CacheRead
	b.total.Cost += c.Cost
}

// flush writes the step that waits for results.
func (b *telling) flush() {
	if one := b.open; one != nil {
		b.open = nil
		b.write(one)
	}
}

// write writes a step.
func (b *telling) write(one *step) {
	b.steps++
	one.ID = b.steps
	if b.steps > 1 {
		b.w.WriteString(",\n")
	}
	if one.results != nil {
		one.Observation = object{"results": one.results}
	}
	line, err := body.JSON(one)
	b.w.Write(line)
	b.error = cmp.Or(b.error, err)
}

// imageTypes are those that the format has.
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// contentOf returns the content of a message: a text, or parts if it has images.
func contentOf(m *jsonl.Message) any {
	images := slices.ContainsFunc(m.Blocks, func(b jsonl.Block) bool { return b.Kind == jsonl.ImageBlock })
	if !images {
		return m.Text("\n")
	}
	var parts []object
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			parts = append(parts, object{"type": "text", "text": b.Text.Text()})
		case jsonl.ImageBlock:
			if !slices.Contains(imageTypes, b.Mime.Text()) {
				parts = append(parts, object{"type": "text", "text": "[" + b.Mime.Text() + "]"})
				continue
			}
			source := object{"media_type": b.Mime.Text(), "path": "data:" + b.Mime.Text() + ";base64," + b.Data.Text()}
			parts = append(parts, object{"type": "image", "source": source})
		}
	}
	return parts
}
