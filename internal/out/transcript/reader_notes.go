package transcript

import (
	"bytes"
	"strings"

	"ctxtool/internal/base/scratch"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/ops"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt/jsonl"
)

// shell makes a block of a command that the user ran.
func (r *reader) shell(m value) {
	if !m.Get("command").Exists() { // as a provider gets it
		r.text = appendTexts(scratch.Reset(r.text), r.content(m.Get("content")))
		r.say(Custom, "command", r.text)
		return
	}
	c := ToolCall{Call: activity.Typed(m.Get("command")), Answered: true, Exit: -1, Record: r.b.Record}
	if code := m.Get("exitCode"); code.IsNumber() {
		c.Exit = int(code.Int())
	}
	r.text = appendText(m.Get("output"), scratch.Reset(r.text))
	c.Result, c.Failed = r.text, c.Exit > 0 || m.Get("cancelled").Truthy()
	r.b.Call = c
	r.say(Shell, "", nil)
}

// other makes blocks of entries that neither user nor model said.
func (r *reader) other(k jsonl.Kind, v value) {
	r.b.Value, r.text = v, scratch.Reset(r.text)
	switch k {
	case jsonl.Custom, jsonl.HookMessage, jsonl.CustomMessage, jsonl.OtherMessage:
		r.custom(k, v)
	case jsonl.System:
		r.system(v)
	case jsonl.Compaction, jsonl.CompactionMessage:
		r.cut(v)
		r.paid(v.Get("usage"), nil, nil)
		r.say(Compaction, "", r.summary(v))
	case jsonl.BranchSummary, jsonl.BranchMessage:
		r.paid(v.Get("usage"), nil, nil)
		r.say(Branch, "", r.summary(v))
	case jsonl.ContextEdit:
		r.edit(v)
	case jsonl.Transform, jsonl.TransformMessage:
		r.transform(v)
	case jsonl.Ephemeral:
		for m := range v.Get("messages").Elements {
			r.text = append(appendTexts(r.text, r.content(m.Get("content"))), '\n')
		}
		r.b.Hidden = true
		r.say(Ephemeral, "", bytes.TrimRight(r.text, "\n"))
	case jsonl.ModelChange:
		provider, id := v.Model()
		r.say(Setting, "model", []byte(models.Ref{Provider: provider.Text(), ID: id.Text()}.Name()))
	case jsonl.ThinkingChange:
		r.say(Setting, "thinking level", []byte(v.Get("thinkingLevel").Text()))
	case jsonl.Label:
		r.say(Label, v.Get("targetId").Text(), appendText(v.Get("label"), r.text))
	case jsonl.UsageEntry:
		r.paid(v.Get("usage"), v.Get("provider"), v.Get("model"))
	case jsonl.ChildUsage:
		if r.story != nil && !r.story.NoSubAgents {
			r.paid(v.Get("childUsage"), nil, nil)
		}
	case jsonl.Reset:
		r.say(Setting, "reset", append(r.text, "what came before is left out"...))
	case jsonl.Deletion:
		r.say(Setting, "deletion", append(r.text, "messages are left out"...))
	}
}

// custom makes a block of an extension's message, or one of an unknown role.
func (r *reader) custom(k jsonl.Kind, v value) {
	name := v.Get("customType").Text()
	if k == jsonl.OtherMessage {
		name = v.Get("role").Text()
	}
	r.text = appendTexts(r.text, r.content(v.Get("content")))
	r.b.Hidden = string(v.Get("display")) == "false"
	r.say(Custom, name, r.text)
	r.b.Hidden = false
	r.images()
}

// summary returns the text of a summary: an entry's, or what a provider gets for it.
func (r *reader) summary(v value) []byte {
	if text := v.Get("summary"); text.Exists() {
		r.text = appendText(text, r.text)
	} else {
		r.text = appendTexts(r.text, r.content(v.Get("content")))
	}
	return r.text
}

// paid records what was used besides answers: for a summary, or by a sub-agent
// (docs/session-format.md 8.4, 21).
func (r *reader) paid(usage, provider, model value) {
	if r.inStory() {
		r.story.pay(usage, provider, model, nil)
	}
}

// cut adds to what a compaction did what it says of itself.
func (r *reader) cut(v value) {
	if r.b.Cut != nil {
		r.b.Cut.Tokens = int(v.Get("tokensBefore").Int())
	}
}

// system makes a block of a system message: what it sets, and the texts.
func (r *reader) system(m value) {
	var set []string
	r.text = appendTexts(r.text, r.content(m.Get("content")))
	if len(r.text) > 0 {
		set = append(set, "content")
	}
	for key, text := range m.Get("sections").Members {
		name := string(key)
		if text.IsNull() {
			set = append(set, "-"+name)
			continue
		}
		set = append(set, name)
		if len(r.text) > 0 {
			r.text = append(r.text, "\n\n"...)
		}
		r.text = appendText(text, r.text)
	}
	for _, list := range []struct{ member, sign string }{{"toolsAdded", "+"}, {"toolsRemoved", "-"}} {
		for t := range m.Get(list.member).Elements {
			set = append(set, list.sign+t.Get("name").Text())
		}
	}
	r.b.Hidden = true
	r.say(System, strings.Join(set, ", "), r.text)
}

// edit makes a block of a context_edit: the title is the id of its target, the
// text what stands there now.
func (r *reader) edit(v value) {
	r.text = appendTexts(r.text, r.content(v.Get("replacement").Get("content")))
	r.say(Edit, v.Get("targetId").Text(), r.text)
}

// transform makes a block of a transform: the title is what it shows, else its
// name; the text is its own Markdown, else its summary.
func (r *reader) transform(v value) {
	display := v.Get("display")
	title := display.Get("title").Text()
	if title == "" {
		title = v.Get("transformerName").Text()
	}
	if op, ok := ops.Compacts(v); ok {
		r.cut(op)
		r.text = appendText(op.Get("summary"), r.text)
	}
	r.say(Transform, title, r.text)
}
