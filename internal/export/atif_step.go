package export

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/internal/body"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
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

// trajectories writes a file for each branch of a session.
func trajectories(w *writing, f *stats.Facts) error {
	t, err := newStory(f)
	if err != nil {
		return err
	}
	id := cmp.Or(f.Report.ID, w.name)
	leaves := t.branches()
	if len(leaves) > 0 { // what they share is the first one's
		path, _ := f.Session.Path(leaves[0])
		for _, rec := range path {
			t.told[rec] = 1
		}
	}
	for k, leaf := range slices.Backward(leaves) {
		end, name, subs := "", id, w.subAgents()
		if k > 0 {
			end, subs = fmt.Sprintf(".%d", k+1), nil
			name += "/" + f.Session.ID(leaf)
		}
		err := w.create(end+".json", func(out *bufio.Writer) error {
			if err := w.trajectory(out, t, leaf, int32(k+1), name, subs); err != nil {
				return err
			}
			w.result.Rows["trajectories"]++
			return out.WriteByte('\n')
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// subAgents returns the files of the sub-agents that Claude Code keeps beside a session.
func (w *writing) subAgents() []string {
	base := strings.TrimSuffix(w.Disk.Path(w.in.Path), filepath.Ext(w.in.Path)) // of .gz or .zst
	files, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(base, ".jsonl"), "subagents", "*.jsonl*"))
	return files
}

// trajectory writes the trajectory of a branch. Those of sub-agents follow its steps.
func (w *writing) trajectory(out *bufio.Writer, t *story, leaf int, number int32, id string, subs []string) error {
	t.subs = map[string]bool{}
	for _, file := range subs {
		t.subs[agentID(file)] = true
	}
	head, err := t.head(leaf, id)
	if err != nil {
		return err
	}
	start, err := body.JSON(head)
	if err != nil {
		return err
	}
	out.Write(start[:len(start)-1])
	out.WriteString(",\"steps\":[\n")
	total, err := t.tell(out, leaf, number)
	if err != nil {
		return err
	}
	if total.Steps == 0 {
		return errNone
	}
	if number == 1 {
		total.Extra = t.others()
	}
	end, err := body.JSON(total)
	if err != nil {
		return err
	}
	out.WriteString("\n],\"final_metrics\":")
	out.Write(end)
	before := ",\"subagent_trajectories\":[\n"
	for _, file := range subs {
		err := w.Stats.Facts(file, func(f *stats.Facts) error {
			sub, err := newStory(f)
			if err != nil {
				return err
			}
			out.WriteString(before)
			before = ",\n"
			return w.trajectory(out, sub, f.Session.Leaf(), 1, agentID(file), nil)
		})
		if err != nil {
			return err
		}
	}
	if before == ",\n" {
		out.WriteString("]")
	}
	_, err = out.WriteString("}")
	return err
}

// agentID returns the id of a sub-agent by the name of its file.
func agentID(file string) string {
	id, _, _ := strings.Cut(filepath.Base(file), ".")
	return strings.TrimPrefix(id, "agent-")
}

// head returns what a trajectory begins with. Its tools are those of the last request.
func (t *story) head(leaf int, id string) (object, error) {
	agent := object{"name": cmp.Or(t.Report.Agent, "unknown"), "version": cmp.Or(t.Session.WrittenBy(), "unknown")}
	head := object{"schema_version": "ATIF-v1.8", "trajectory_id": id, "agent": agent,
		"extra": object{"leaf": t.Session.ID(leaf)}}
	if t.Report.ID != "" {
		head["session_id"] = t.Report.ID
	}
	path, _ := t.Session.Path(leaf)
	for _, rec := range slices.Backward(path) {
		k := t.Book.Answered(rec)
		if k < 0 || !t.Book.Requests[k].Known() {
			continue
		}
		q := &t.Book.Requests[k]
		agent["model_name"] = cmp.Or(t.Book.Models[q.Model].Ref.Name(), "unknown")
		p, err := t.l.Prompt(&t.Book.Prompts[q.Prompt].State)
		var tools []object
		for _, tool := range p.Tools {
			tools = append(tools, object{"type": "function", "function": json.RawMessage(tool.Append(nil))})
		}
		if tools != nil {
			agent["tool_definitions"] = tools
		}
		return head, err
	}
	return head, nil
}

// others returns what calls of models cost that no step tells: of tools, for titles, to keep a cache
// warm. It is nil without any.
func (t *story) others() object {
	calls, cost := 0, float64(0)
	for i := range t.Calls {
		if c := &t.Calls[i]; !t.done[i] && !t.copied(c.Record) {
			calls, cost = calls+1, cost+c.Cost
		}
	}
	if calls == 0 {
		return nil
	}
	return object{"other_calls": calls, "other_cost_usd": cost}
}
