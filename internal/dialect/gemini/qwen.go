package gemini

import (
	_ "embed"
	"path/filepath"
	"strings"

	"ctxtool/internal/dialect"
	"ctxtool/internal/dialect/chat"
	"ctxtool/internal/rule"
	"ctxtool/sessionfmt/jsonl"
)

// qwenFields are the fields of lines of Qwen Code that are known.
//
//go:embed qwen/fields.txt
var qwenFields string

var qwenFormat = chat.Format{
	About: qwenAbout, Read: readQwen, Other: qwenOther, Signed: rule.Of(qwenForm),
	Make: map[jsonl.Kind]func(*chat.Format, *dialect.Source){
		jsonl.Transform: makeCompression, jsonl.UsageEntry: makeSideCall, jsonl.Assistant: makeQwenAnswer,
	},
}

// Qwen is the format of Qwen Code: Gemini CLI's parts, in lines that name their parents.
var Qwen = chat.Dialect(dialect.Dialect{
	Name: "qwen", Fields: qwenFields,
	Sniff: func(first jsonl.Value) bool { _, ok := qwenAbout(first); return ok }, New: newQwenArranger,
	Store: dialect.Store{Variable: "QWEN_HOME", Home: ".qwen", Folders: []string{"projects"}},
	File: func(name string) (id string, part bool) {
		id, _, _ = strings.Cut(filepath.Base(name), ".")
		return id, filepath.Base(filepath.Dir(name)) != chats
	},
	Version: func(line jsonl.Value) jsonl.Value { return line.Get("version") }, Newest: "0.24.4",
	Policy: "pi",
	Pick: jsonl.Pick{Record: []string{"subtype", "systemPayload"},
		As: jsonl.Names{ID: "uuid", Parent: "parentUuid"}},
	Compose: func(dialect.Request) dialect.Composer { return &qwenComposer{} },
	Bulk: []dialect.Bulk{
		{About: "histories in compressions", Path: []string{"systemPayload", "compressedHistory"}},
		{About: "results as shown", Path: []string{"toolCallResult"}, Spare: true},
	},
	Rules:     QwenRules,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, qwenFormat)

// qwenAbout is what a line says about the session. Each one does.
func qwenAbout(line jsonl.Value) (a chat.About, ok bool) {
	f := line.All("sessionId", "cwd", "timestamp", "uuid", "message", "systemPayload", "provenance")
	ok = f[0].IsString() && f[3].IsString() && (f[4].Get("parts").IsArray() || f[5].IsObject() && f[6].IsString())
	return chat.About{ID: f[0], CWD: f[1], Time: f[2], Title: f[5].Get("customTitle")}, ok
}

// What a line is besides a message.
const (
	compression dialect.Code = 0x80 + iota // the history is replaced
	counted                                // usage of a call that a message follows, if it is an answer
	sideCall                               // usage of another call
	renamed                                // a title
	unsent                                 // no request has it, and others may name it as their parent
)

// unsentTypes are the subtypes of lines of type system that no request has.
var unsentTypes = strings.Fields("attribution_snapshot session_model session_source file_history_snapshot " +
	"branch_checkpoint turn_result parent_session at_command user_text_elements session_artifact_event rewind " +
	"session_artifact_snapshot session_sources_snapshot background_task_completed goal_state goal_runtime " +
	"goal_turn_end ui_telemetry")

// qwenOther is what a line is that is no message.
func qwenOther(p *jsonl.Picked) (h dialect.Head, known bool) {
	typ, subtype, payload := p.Type, p.Record[0], p.Record[1]
	h = dialect.Head{ID: p.ID, Ref: p.ParentID, Time: p.Timestamp, Code: unsent}
	switch event := payload.Get("uiEvent"); {
	case typ.Is("user"), typ.Is("assistant"), typ.Is("tool_result"):
		return h, false
	case !typ.Is("system"):
		h.Code = dialect.Unknown
	case subtype.Is("chat_compression") && payload.Get("compressedHistory").IsArray():
		h.Code = compression
	case subtype.Is("custom_title"):
		h.Code = renamed
	case event.Get("event.name").Is("qwen-code.api_response"):
		h.Code, h.Group = counted, asked(event)
		if event.Get("subagent_name").Exists() || strings.HasPrefix(event.Get("prompt_id").Text(), compressing) {
			h.Code = sideCall
		}
	case !isUnsent(subtype):
		h.Code = dialect.Unknown
	}
	return h, true
}

// compressing begins the ids of prompts that ask for a compression.
const compressing = "compress-"

func isUnsent(subtype jsonl.Value) bool {
	for _, known := range unsentTypes {
		if subtype.Is(known) {
			return true
		}
	}
	return false
}

// asked names who answered a call: what the program signed in with, and the model.
func asked(event jsonl.Value) jsonl.Value {
	return jsonl.AppendQuoted(nil, event.Get("auth_type").Text()+"\x00"+event.Get("model").Text())
}

// A qwenLine is what is read of a line with a message.
type qwenLine struct {
	uuid, timestamp, model, subtype jsonl.Value

	agent jsonl.Value `member:"agentId"` // of a sub-agent, whose calls count in its session too

	parent  jsonl.Value `member:"parentUuid"`
	message struct{ raw, role, parts jsonl.Value }
	usage   struct {
		raw jsonl.Value

		input  jsonl.Value `member:"promptTokenCount"`
		output jsonl.Value `member:"candidatesTokenCount"`
		cached jsonl.Value `member:"cachedContentTokenCount"`
		total  jsonl.Value `member:"totalTokenCount"`
	} `member:"usageMetadata"`
	role, parts jsonl.Value // of a message without a line, in a compression
}

var qwenShape = jsonl.ShapeOf[qwenLine]()

// readQwen reads a message.
func readQwen(r *chat.Reader, line jsonl.Value) {
	var of qwenLine
	qwenShape.Read(r.Reset(line), &of)
	role, list := of.message.role, of.message.parts
	if !of.message.raw.Exists() {
		role, list = of.role, of.parts
	}
	r.ID, r.Stamp, r.Ref = of.uuid, of.timestamp, of.parent
	m := chat.Said{Time: of.timestamp, Kind: jsonl.User}
	switch parts := readParts(new(jsonl.Cursor).Reset(list), nil); {
	case !list.IsArray(), of.subtype.Is("realtime_message"):
	case role.Is("model"):
		m.Kind, m.Model = jsonl.Assistant, of.model
		if u := &of.usage; u.raw.IsObject() && !of.agent.Exists() {
			m.Usage = r.Used(qwenUsage(u.input, u.cached, u.output, u.total))
		}
		r.Rules |= qwenAnswer(r, &m, parts)
		r.Said = append(r.Said, m)
	default:
		if of.subtype.IsString() {
			m.Kind, m.Type = jsonl.Custom, of.subtype.Text()
		}
		r.Rules |= qwenPrompt(r, m, parts)
	}
}

// qwenUsage is the usage of a call: tokens served from the cache are in the input, and thoughts in the output.
func qwenUsage(input, cached, output, total jsonl.Value) jsonl.Usage {
	served := min(input.Int(), cached.Int())
	return jsonl.Usage{Input: input.Int() - served, CacheRead: served, Output: output.Int(), Total: total.Int()}
}

// qwenPrompt reads a message of the role user: a prompt, or what tools returned.
func qwenPrompt(r *chat.Reader, m chat.Said, parts []part) (used rule.Set) {
	var sent []jsonl.Value
	prompt := false
	for k := range parts {
		p := &parts[k]
		if p.answered.Exists() {
			said := result(r, p.answered, m.Time)
			used |= rule.If(p.answered.Get("parts").IsArray(), qwenMedia)
			if r.Native {
				said.Native = qwenResult(p.answered)
			}
			r.Said = append(r.Said, said)
			continue
		}
		prompt = true
		b := p.block()
		if r.Own(b); b.Kind != jsonl.TextBlock {
			used |= rule.Of(qwenMedia)
		}
		if one := p.chat(); r.Native && one != nil {
			sent = append(sent, one)
		}
	}
	m.Blocks = r.Take()
	if prompt || len(r.Said) == 0 {
		used |= rule.Of(qwenReminder)
		if len(sent) > 0 {
			m.Native = jsonl.Value(`{"role":"user"}`).With("content", dialect.List(sent...))
		}
		r.Said = append(r.Said, m)
	}
	return used
}

// chat is a part of a prompt as Chat Completions has it, nil for an empty text.
func (p *part) chat() jsonl.Value {
	if b := p.block(); b.Kind == jsonl.ImageBlock {
		url := "data:" + b.Mime.Text() + ";base64," + b.Data.Text()
		image := jsonl.Value("{}").With("url", jsonl.AppendQuoted(nil, url))
		return jsonl.Value(`{"type":"image_url"}`).With("image_url", image)
	}
	if text := p.block().Text.Value; chat.HasText(text) {
		return jsonl.Value(`{"type":"text"}`).With("text", text)
	}
	return nil
}

// qwenResult is what a tool returned, as it is sent.
func qwenResult(answered jsonl.Value) []byte {
	b, _ := response(&chat.Reader{Cursor: *new(jsonl.Cursor).Reset(answered.Get("response"))})
	content := jsonl.Value(`""`)
	if chat.HasText(b.Text.Value) {
		content = dialect.List(jsonl.Value(`{"type":"text"}`).With("text", b.Text.Value))
	}
	return jsonl.Value(`{"role":"tool"}`).With("tool_call_id", answered.Get("id")).With("content", content)
}

// qwenAnswer reads an answer. Thoughts are sent beside its text.
func qwenAnswer(r *chat.Reader, m *chat.Said, parts []part) (used rule.Set) {
	var said, thought []byte
	var calls []jsonl.Value
	for k := range parts {
		p := &parts[k]
		r.Own(p.block())
		switch {
		case p.call.IsObject():
			f := p.call.All("id", "name", "args")
			calls = append(calls, dialect.SentCall(f[0], f[1], f[2]))
		case p.thought.Truthy():
			thought = p.text.AppendText(thought)
		default:
			said = p.text.AppendText(said)
		}
	}
	m.Blocks = r.Take()
	if said == nil && thought == nil && calls == nil {
		return rule.Of(rule.Unread) // it is not sent
	}
	content := jsonl.Value("null")
	if said != nil || thought != nil {
		content = jsonl.AppendQuoted(nil, said)
	}
	one := jsonl.Value(`{"role":"assistant"}`).With("content", content)
	if calls != nil {
		one = one.With("tool_calls", dialect.List(calls...))
	}
	if thought != nil {
		text := jsonl.AppendQuoted(nil, thought)
		one = one.With("reasoning_content", text).With("reasoning", text)
	}
	m.Native = one
	return used
}
