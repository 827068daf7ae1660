package copilot

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A maker makes an entry.
type maker struct {
	*dialect.Source
	e     *dialect.Entry
	lines []jsonl.Value
	data  jsonl.Value // of the first line
}

// makeEntry implements Make of the dialect.
func makeEntry(s *dialect.Source) {
	f := s.Lines[0].All("data", "timestamp")
	m := maker{s, s.Add(), s.Lines, f[0]}
	m.e.Time = f[1]
	switch s.Kind {
	case jsonl.Header:
		m.e.Set("cwd", m.data.Get("context").Get("cwd"))
	case jsonl.ModelChange:
		m.modelChange()
	case jsonl.UsageEntry:
		m.aside()
	case jsonl.System:
		msg := m.e.Message(jsonl.System)
		msg.Set("sections", m.Make([]byte(`{"prompt":`), orEmpty(m.data.Get("content")), []byte(`}`)))
	case jsonl.User:
		m.user()
	case jsonl.Assistant:
		m.answer()
	case jsonl.ToolResult:
		m.result()
	case jsonl.Transform:
		m.compaction()
	default:
		if typ := s.Lines[0].Get("type"); typ.IsString() {
			m.e.Type = typ
		}
		m.e.Set("data", m.data)
	}
}

var empty = jsonl.Value(`""`)

func orEmpty(v jsonl.Value) jsonl.Value {
	if v.IsString() {
		return v
	}
	return empty
}

// modelChange makes the choice of a model, by the line that chooses it or the answer of another one.
func (m *maker) modelChange() {
	name, provider := m.data.Get("model"), github
	if !name.IsString() {
		name = m.Quoted(chosenModel(m.lines[0]))
	}
	if len(m.lines) > 1 {
		provider = providerOf(m.lines[1].Get("data").Get("usage"))
	}
	m.e.SetText("provider", provider)
	m.e.Set("modelId", name)
}

// aside makes the usage of a summary, or of an answer that is not in the file.
func (m *maker) aside() {
	kind, of := "unrecorded answer", m.data.Get("usage")
	if !of.IsObject() {
		kind, of = "compaction", m.data.Get("compactionTokensUsed")
	}
	by := of
	if len(m.lines) > 1 { // an answer's, which names the provider
		by = m.lines[1].Get("data").Get("usage")
	}
	m.e.SetText("kind", kind)
	m.used(m.e.Set, of, jsonl.FirstText(of.Get("model"), m.data.Get("model")), by)
}

// used sets provider, model and usage. What was read from the cache and written to it is a part of the input.
func (m *maker) used(set func(string, jsonl.Value), of, model, by jsonl.Value) {
	set("provider", m.Quoted(providerOf(by)))
	set("model", jsonl.FirstText(model, jsonl.Value(`"unknown"`)))
	if !of.IsObject() {
		return
	}
	n := of.Ints("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
	set("usage", m.Usage(jsonl.Usage{Input: max(0, n[0]-n[2]-n[3]), Output: n[1], CacheRead: n[2], CacheWrite: n[3],
		Total: n[0] + n[1]}, nil))
}

// user makes a message of the user: a prompt, or what the program sends as one.
func (m *maker) user() {
	switch typ := m.lines[0].Get("type"); {
	case typ.Is("system.notification"):
		m.said(m.data.Get("content"))
	case typ.Is("hook.end"):
		m.said(m.data.Get("output").Get("additionalContext"))
	case typ.Is("skill.context_delivered_ref"):
		text := m.data.Get("prefix").Exact() + m.lines[1].Get("data").Get("content").Exact() + m.data.Get("suffix").Exact()
		m.said(m.Quoted(text))
	case typ.Is("tool.execution_complete"):
		command := m.lines[1].Get("data").Get("arguments").Get("command").Exact()
		f := m.data.All("success", "result", "error")
		how, output := "exit code 0", f[1].Get("content")
		if string(f[0]) == "false" {
			how, output = "non-zero exit code", f[2].Get("message")
		}
		m.said(m.Quoted(fmt.Sprintf(shellFrame, how, command, output.Exact())))
	default:
		m.prompt()
	}
}

// shellFrame is the message about a command that the user ran.
const shellFrame = `<user_shell_command_output>
The user executed a shell command directly in their terminal (%s).

Command:
%s

Output:
%s
</user_shell_command_output>`

// said makes a message of the user of one text.
func (m *maker) said(text jsonl.Value) {
	text = orEmpty(text)
	msg := m.e.Message(jsonl.User)
	msg.Body()
	msg.Said(text.Spelled())
	m.native(msg, "user", m.ended(text))
}

// prompt makes a prompt as it is sent: with the time before it, and after it the files that it mentions and pictures.
func (m *maker) prompt() {
	f := m.data.All("transformedContent", "content", "attachments")
	text := orEmpty(jsonl.FirstText(f[0], f[1]))
	if tagged := taggedFiles(f[2]); tagged != "" {
		text = m.Quoted(text.Exact() + "\n\n\n\n<tagged_files>" + tagged + "\n</tagged_files>")
	}
	msg := m.e.Message(jsonl.User)
	msg.Body()
	msg.Said(text.Spelled())
	parts := []jsonl.Value{textPart(text)}
	for a := range f[2].Elements {
		if !isPicture(a) {
			continue
		}
		for _, line := range m.lines[1:] {
			data := line.Get("data").All("assetId", "data", "mimeType", "description")
			if data[0].Is(a.Get("assetId").Text()) {
				about := m.Quoted("Image file at path " + a.Get("path").Text())
				msg.Said(about.Spelled())
				msg.Add(jsonl.Block{Kind: jsonl.ImageBlock, Data: data[1], Mime: data[2]})
				url := jsonl.AppendQuoted(nil, "data:"+data[2].Text()+";base64,"+data[1].Text())
				picture := jsonl.Value("{}").With("url", url)
				parts = append(parts, textPart(about), jsonl.Value(`{"type":"image_url"}`).With("image_url", picture))
				break
			}
		}
	}
	content := text
	if len(parts) > 1 {
		content = dialect.List(parts...)
	}
	m.native(msg, "user", m.ended(content))
}

// taggedFiles returns the entries of the files that a prompt mentions, each on a line.
func taggedFiles(attachments jsonl.Value) (all string) {
	for a := range attachments.Elements {
		if entry := a.Get("taggedFilesEntry"); entry.IsString() {
			all += "\n" + entry.Exact()
		}
	}
	return all
}

func textPart(text jsonl.Value) jsonl.Value { return jsonl.Value(`{"type":"text"}`).With("text", text) }

// native sets what stands for a message in a request, with more of its members.
func (m *maker) native(msg *dialect.Message, role string, content jsonl.Value, more ...jsonl.Field) {
	if !m.Native {
		return
	}
	one := jsonl.Value("{}").With("role", m.Quoted(role)).With("content", content)
	for _, f := range more {
		one = one.With(f.Name, f.Value)
	}
	msg.Native = dialect.List(one)
}

// answer makes an answer. Reasoning is sent again, if it is signed, to the model that it is of.
func (m *maker) answer() {
	f := m.data.All("content", "toolRequests", "model", "reasoningText", "reasoningOpaque", "apiCallId",
		"encryptedContent")
	msg := m.e.Message(jsonl.Assistant)
	msg.Body()
	if len(f[3]) > len(empty) && f[3].IsString() {
		msg.Add(jsonl.Block{Kind: jsonl.ThinkingBlock, Text: f[3].Spelled()})
	}
	content := jsonl.Value("null")
	if len(f[0]) > len(empty) && f[0].IsString() {
		content = f[0]
		msg.Said(content.Spelled())
	}
	var calls []jsonl.Value
	for c := range f[1].Elements {
		of := c.All("toolCallId", "name", "arguments")
		msg.Add(jsonl.Block{Kind: jsonl.CallBlock, ID: of[0], Name: of[1], Args: m.arguments(of[2])})
		calls = append(calls, dialect.SentCall(of[0], of[1], of[2].AppendMinified(nil)))
	}
	var of jsonl.Value
	if len(m.lines) > 1 {
		of = m.lines[1].Get("data").Get("usage")
	}
	m.used(msg.Set, of, f[2], of)
	msg.Set("responseId", f[5])
	msg.Stop("")
	var more []jsonl.Field
	if calls != nil {
		more = append(more, jsonl.Field{Name: "tool_calls", Value: dialect.List(calls...)})
	}
	if f[4].IsString() && !isUnsigned(f[3], f[4], f[6]) && (m.To.Model == "" || f[2].Is(m.To.Model)) {
		more = append(more, jsonl.Field{Name: "reasoning_text", Value: f[3]},
			jsonl.Field{Name: "reasoning_opaque", Value: f[4]})
	}
	if m.To.Host == "anthropic" && isBlank(f[0]) { // which the Messages API does not take
		content = jsonl.Value("null")
		if more == nil {
			return
		}
	}
	m.native(msg, "assistant", m.ended(content), more...)
}

// ended returns a text as it is sent: by the Messages API without white space at its end.
func (m *maker) ended(text jsonl.Value) jsonl.Value {
	if m.Native && m.To.Host == "anthropic" && text.IsString() {
		return m.Quoted(strings.TrimRightFunc(text.Exact(), unicode.IsSpace))
	}
	return text
}

// isBlank reports whether a text has nothing but white space.
func isBlank(text jsonl.Value) bool { return strings.TrimSpace(text.Exact()) == "" }

// arguments returns those of a call, an object.
func (m *maker) arguments(v jsonl.Value) jsonl.Value {
	switch {
	case v.IsObject():
		return v
	case v.IsString():
		return m.Make([]byte(`{"input":`), v, []byte("}"))
	}
	return jsonl.Value("{}")
}

// result makes what a call returned: the text for the model, or why it failed.
func (m *maker) result() {
	if !isResult(m.lines[0]) {
		m.returned(m.missing(), m.Quoted("The execution of this tool, or a previous tool was interrupted."), true)
		return
	}
	f := m.data.All("toolCallId", "success", "result", "error")
	failed, text := string(f[1]) == "false", orEmpty(f[2].Get("content"))
	if failed {
		text = orEmpty(f[3].Get("message"))
	}
	m.returned(f[0], text, failed)
}

func isResult(line jsonl.Value) bool { return line.Get("type").Is("tool.execution_complete") }

// missing returns the id of the call without a result that the entry is of: of those of an answer, the one with
// the number of the entry. After the line with the answer are those with results.
func (m *maker) missing() (id jsonl.Value) {
	n := m.Part
	for c := range m.lines[1].Get("data").Get("toolRequests").Elements {
		id = c.Get("toolCallId")
		of := func(line jsonl.Value) bool { return line.Get("data").Get("toolCallId").Is(id.Text()) }
		if slices.ContainsFunc(m.lines[2:], of) {
			continue
		} else if n == 0 {
			break
		}
		n--
	}
	return id
}

// returned makes the result of a call.
func (m *maker) returned(id, text jsonl.Value, failed bool) {
	msg := m.e.Message(jsonl.ToolResult)
	msg.Set("toolCallId", id)
	var tool jsonl.Value
	for _, line := range m.lines[1:] {
		for c := range line.Get("data").Get("toolRequests").Elements {
			if of := c.All("toolCallId", "name"); of[0].Is(id.Text()) {
				tool = of[1]
			}
		}
	}
	msg.Set("toolName", tool)
	msg.Body()
	msg.Said(text.Spelled())
	msg.SetTruth("isError", failed)
	m.native(msg, "tool", text, jsonl.Field{Name: "tool_call_id", Value: id})
}

// compaction makes the message that replaces the history: all prompts of the session as they were typed, and the
// summary.
func (m *maker) compaction() {
	var b strings.Builder
	b.WriteString("Some of the conversation history has been summarized to free up context.\n\n" +
		"You were originally given instructions from a user over one or more turns. Here were the user messages:\n")
	typed, kept := m.lines[1:], []jsonl.Value(nil)
	if k := slices.IndexFunc(typed, isCompaction); k >= 0 {
		typed, kept = typed[:k], typed[k+1:]
	}
	for _, line := range typed {
		b.WriteString("<user_message>\n" + line.Get("data").Get("content").Exact() + "\n</user_message>\n")
	}
	b.WriteString("\nHere is a summary of the prior context:\n<summary>\n" + m.data.Get("summaryContent").Exact() +
		"\n</summary>\n")
	m.e.Transformer, m.e.Reason = "compaction", "compaction"
	msg := m.e.Message(jsonl.User)
	msg.Body()
	text := m.Quoted(b.String())
	msg.Said(text.Spelled())
	m.native(msg, "user", m.ended(text))
	for k, line := range kept {
		one := maker{m.Source, m.e, kept[k:], line.Get("data")}
		switch typ := line.Get("type"); {
		case typ.Is("assistant.message"):
			one.lines = kept[k : k+1] // its usage counts once
			one.answer()
		case isResult(line) && (k+1 == len(kept) || !isShell(kept[k+1])):
			one.lines = append([]jsonl.Value{line}, kept[:k]...)
			one.result()
		case !isShell(line) && !typ.Is("session.binary_asset") && !typ.Is("skill.invoked"): // which go with another one
			one.user()
		}
	}
}

func isShell(line jsonl.Value) bool { return line.Get("type").Is("tool.user_requested") }

func isCompaction(line jsonl.Value) bool { return line.Get("type").Is("session.compaction_complete") }
