// Package qwen shows the sessions of Qwen Code as entries (docs/session-format.md 20): parts as Gemini CLI has them, in
// lines that name their parents.
package qwen

import (
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/internal/read/dialect/gemini"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

var format = chat.Format{
	About: about, Read: read, Other: other, Signed: rule.Of(form),
	Make: map[jsonl.Kind]func(*chat.Format, *dialect.Source){
		jsonl.Transform: makeCompression, jsonl.UsageEntry: makeSideCall, jsonl.Assistant: makeAnswer,
		jsonl.CustomEntry: makeFailure,
	},
}

// Dialect is the format of Qwen Code.
var Dialect = chat.Dialect(dialect.Dialect{
	Name: "qwen", Fields: reflect.TypeFor[lineFields](), Interface: "openai-chat",
	Sniff: func(first jsonl.Value) bool { _, ok := about(first); return ok }, New: newArranger,
	Store: dialect.Store{Variable: "QWEN_HOME", Home: ".qwen", Folders: []string{"projects"}},
	File:  fileID, SubAgent: func(name string) bool { return owner(name, nil) != "" }, Owner: owner, Nests: nests,
	Version: func(line jsonl.Value) jsonl.Value { return line.Get("version") }, Newest: "0.24.4",
	Policy: "pi", Clears: true,
	Pick: jsonl.Pick{Record: []string{"subtype", "systemPayload"},
		As: jsonl.Names{ID: "uuid", Parent: "parentUuid"}},
	Compose: newComposer,
	Bulk: []dialect.Bulk{
		{About: "histories in compressions", Path: []string{"systemPayload", "compressedHistory"}},
		{About: "results as shown", Path: []string{"toolCallResult"}, Spare: true},
	},
	Rules:     Rules,
	Certainty: dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"},
}, format)

// The folders of a project with sessions, and with sub-agents: a folder of these for each session.
const (
	chats     = "chats"
	subAgents = "subagents"
)

func fileID(name string) (id string, part bool) {
	id, _, _ = strings.Cut(filepath.Base(name), ".")
	return id, filepath.Base(filepath.Dir(name)) != chats
}

// owner returns the session whose sub-agent wrote a file, by its folder or its lines.
func owner(name string, first jsonl.Value) string {
	if f := first.All("agentId", "sessionId"); f[0].IsString() {
		return f[1].Text()
	}
	if dir := filepath.Dir(name); filepath.Base(filepath.Dir(dir)) == subAgents {
		return filepath.Base(dir)
	}
	return ""
}

func nests(name, id string) []dialect.Nest {
	dir := filepath.Dir(name)
	if filepath.Base(dir) != chats {
		return nil
	}
	return []dialect.Nest{{Dir: filepath.Join(filepath.Dir(dir), subAgents, id), Own: true,
		May: func(name string, _ time.Time) bool { return filepath.Ext(name) == ".jsonl" }}}
}

// about returns what a line says about the session. Each one does.
func about(line jsonl.Value) (a chat.About, ok bool) {
	f := line.All("sessionId", "cwd", "timestamp", "uuid", "message", "systemPayload", "subtype")
	ok = f[0].IsString() && f[3].IsString() && (f[4].Get("parts").IsArray() || f[5].IsObject() && f[6].IsString())
	return chat.About{ID: f[0], CWD: f[1], Time: f[2], Title: f[5].Get("customTitle")}, ok
}

// Codes of lines besides messages.
const (
	compression dialect.Code = 0x80 + iota // the history is replaced
	counted                                // usage of a call that a message follows, if it is an answer
	sideCall                               // usage of another call
	agentCall                              // usage of a call of a sub-agent
	failed                                 // a call that failed
	broken                                 // one whose answer had begun
	renamed                                // a title
	unsent                                 // no request has it, and others may name it as their parent
)

// unsentTypes are the subtypes of lines of type system that no request has.
var unsentTypes = strings.Fields("attribution_snapshot session_model session_source file_history_snapshot " +
	"branch_checkpoint turn_result parent_session at_command user_text_elements session_artifact_event rewind " +
	"session_artifact_snapshot session_sources_snapshot background_task_completed goal_state goal_runtime " +
	"goal_turn_end ui_telemetry")

// other returns what a line is that is no message.
func other(p *jsonl.Picked) (h dialect.Head, known bool) {
	typ, subtype, payload := p.Type, p.Record[0], p.Record[1]
	h = dialect.Head{ID: p.ID, Ref: p.ParentID, Time: p.Timestamp, Code: unsent}
	switch {
	case typ.Is("user"), typ.Is("assistant"), typ.Is("tool_result"):
		return h, false
	case !typ.Is("system"):
		h.Code = dialect.Unknown
	case subtype.Is("chat_compression") && payload.Get("compressedHistory").IsArray():
		h.Code = compression
	case subtype.Is("custom_title"):
		h.Code = renamed
	case subtype.Is("ui_telemetry"):
		h.Code, h.Group = telemetry(payload.Get("uiEvent"))
	case !isUnsent(subtype):
		h.Code = dialect.Unknown
	}
	return h, true
}

// telemetry returns what an event is that the program counts, and who answered.
func telemetry(event jsonl.Value) (code dialect.Code, by jsonl.Value) {
	f := event.All("event.name", "response_id", "subagent_name", "prompt_id", "auth_type", "model")
	switch agent := f[2]; {
	case f[0].Is("qwen-code.api_error") && chat.HasText(f[1]):
		return broken, nil
	case f[0].Is("qwen-code.api_error"):
		return failed, nil
	case !f[0].Is("qwen-code.api_response"):
		return unsent, nil
	case agent.Exists() && !strings.HasPrefix(agent.Text(), managed):
		code = agentCall
	case agent.Exists(), strings.HasPrefix(f[3].Text(), compressing):
		code = sideCall
	default:
		code = counted
	}
	by = jsonl.AppendQuoted(nil, f[4].Text()+"\x00"+f[5].Text()) // what the program signed in with, and the model
	return code, by
}

// managed begins the names of agents of the program itself, which keep its memory.
const managed = "managed-"

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

var shape = jsonl.ShapeOf[message]()

// read reads a message.
func read(r *chat.Reader, line jsonl.Value) {
	var of message
	shape.Read(r.Reset(line), &of)
	role, list := of.message.every.role, of.message.every.parts.Value
	if !of.message.raw.Exists() {
		role, list = of.role, of.parts
	}
	r.ID, r.Stamp, r.Ref = of.uuid, of.timestamp, of.parent
	m := chat.Said{Time: of.timestamp, Kind: jsonl.User}
	var few [4]gemini.Part
	switch parts := gemini.ReadParts(new(jsonl.Cursor).Reset(list), few[:0]); {
	case !list.IsArray(), of.subtype.Is("realtime_message"):
	case role.Is("model"):
		m.Kind, m.Model = jsonl.Assistant, of.model
		if u := &of.usage; u.raw.IsObject() && !of.agent.Exists() {
			m.Usage = r.Used(usage(u.input, u.cached, u.output, u.total))
		}
		r.Rules |= answer(r, &m, parts)
		r.Said = append(r.Said, m)
	default:
		if of.subtype.IsString() {
			m.Kind, m.Type = jsonl.Custom, of.subtype.Text()
		}
		r.Rules |= prompted(r, m, parts) | rule.If(of.outcome.status.Is("cancelled"), cancelled)
	}
}

// usage returns the usage of a call: tokens served from the cache are in the input, and thoughts in the output.
func usage(input, cached, output, total jsonl.Value) jsonl.Usage {
	served := min(input.Int(), cached.Int())
	return jsonl.Usage{Input: input.Int() - served, CacheRead: served, Output: output.Int(), Total: total.Int()}
}

// prompted reads a message of the role user: a prompt, or what tools returned.
func prompted(r *chat.Reader, m chat.Said, parts []gemini.Part) (used rule.Set) {
	var sent []jsonl.Value
	prompt := false
	for k := range parts {
		p := &parts[k]
		if p.Answered.Exists() {
			said := gemini.Result(r, p.Answered.Value, m.Time)
			used |= rule.If(p.Answered.Get("parts").IsArray(), media)
			if r.Native {
				said.Native = sentResult(p.Answered.Value)
			}
			r.Said = append(r.Said, said)
			continue
		}
		prompt = true
		b := p.Block()
		if r.Own(b); b.Kind != jsonl.TextBlock {
			used |= rule.Of(media)
		}
		if one := sentPart(p); r.Native && one != nil {
			sent = append(sent, one)
		}
	}
	m.Blocks = r.Take()
	if prompt || len(r.Said) == 0 {
		used |= rule.Of(reminder)
		if len(sent) > 0 {
			m.Native = jsonl.Value(`{"role":"user"}`).With("content", dialect.List(sent...))
		}
		r.Said = append(r.Said, m)
	}
	return used
}

// sentPart returns a part of a prompt or of a result as a composer takes it: a text of Chat Completions, or
// media as they stand; nil for an empty text.
func sentPart(p *gemini.Part) jsonl.Value {
	if p.Inline.IsObject() {
		return p.Raw
	}
	if t := p.Block().Text.Value; chat.HasText(t) {
		return jsonl.Value(`{"type":"text"}`).With("text", t)
	}
	return nil
}

// sentResult returns what a tool returned, as a composer takes it.
func sentResult(answered jsonl.Value) []byte {
	f := answered.All("id", "response", "parts")
	b, _ := gemini.Response(&chat.Reader{Cursor: *new(jsonl.Cursor).Reset(f[1])})
	var parts []jsonl.Value
	if chat.HasText(b.Text.Value) {
		parts = append(parts, jsonl.Value(`{"type":"text"}`).With("text", b.Text.Value))
	}
	for _, p := range gemini.ReadParts(new(jsonl.Cursor).Reset(f[2]), nil) {
		if one := sentPart(&p); one != nil {
			parts = append(parts, one)
		}
	}
	return jsonl.Value(`{"role":"tool"}`).With("tool_call_id", f[0]).With("content", dialect.List(parts...))
}

// answer reads an answer. Thoughts are sent beside its text.
func answer(r *chat.Reader, m *chat.Said, parts []gemini.Part) (used rule.Set) {
	sent := false
	for k := range parts {
		p := &parts[k]
		r.Own(p.Block())
		sent = sent || p.Call.IsObject() || chat.HasText(p.Text.Value)
	}
	m.Blocks = r.Take()
	if !sent {
		return rule.Of(rule.Unread)
	}
	if r.Native {
		m.Native = sentAnswer(parts)
	}
	return 0
}

// sentAnswer returns an answer, as a composer takes it.
func sentAnswer(parts []gemini.Part) []byte {
	var said, thought []byte
	var calls []jsonl.Value
	for k := range parts {
		switch p := &parts[k]; {
		case p.Call.IsObject():
			f := p.Call.All("id", "name", "args")
			calls = append(calls, dialect.SentCall(f[0], f[1], f[2]))
		case p.Thought.Truthy():
			thought = p.Text.AppendText(thought)
		default:
			said = p.Text.AppendText(said)
		}
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
		one = one.With("reasoning_content", jsonl.AppendQuoted(nil, thought))
	}
	return one
}
