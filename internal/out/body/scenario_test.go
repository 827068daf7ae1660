package body_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"ctxtool/internal/test/must"
	"ctxtool/replay/models"
)

// A scenario is a session of pi's that is made at random of steps that pi's sessions have: prompts, answers of
// several models, calls with and without results, changes of prompt, tools, level and model, compactions, edits,
// branches, and what is kept beside. A seed makes the same session again.
type scenario struct {
	*rand.Rand
	lines  []string
	parent string
	ids    []string // of messages on the path
	tools  []string // that the model has
	made   int      // tools so far
	model  models.Model
	level  string
	among  []models.Model
	used   int // tokens that the last answer recorded
}

// newScenario returns the session of a seed, whose answers are by models of a list.
func newScenario(seed uint64, among []models.Model) []byte {
	s := &scenario{Rand: rand.New(rand.NewPCG(seed, 54)), parent: "null", among: among}
	s.lines = []string{fmt.Sprintf(`{"type":"session","version":3,"id":"scenario-%d","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, seed)}
	s.choose()
	if s.IntN(8) > 0 { // a session without is an old one
		s.system(true)
	}
	steps := []func(){s.turn, s.turn, s.turn, s.turn, s.called, s.called, s.called, s.pictures, s.choose, s.setLevel,
		func() { s.system(false) }, func() { s.system(false) }, s.compact, s.branch, s.edit, s.beside, s.failed, s.bash}
	for range 12 + s.IntN(14) {
		steps[s.IntN(len(steps))]()
	}
	s.turn()
	return []byte(strings.Join(s.lines, "\n") + "\n")
}

// add adds an entry, and returns its id.
func (s *scenario) add(kind string, fields object) string {
	n := len(s.lines)
	id := fmt.Sprintf("%08x", n)
	fields["type"], fields["id"], fields["timestamp"] = kind, id, fmt.Sprintf("2026-01-01T00:%02d:%02d.000Z", n/60, n%60)
	fields["parentId"] = json.RawMessage(s.parent)
	s.lines = append(s.lines, string(must.Get(json.Marshal(fields))))
	s.parent = `"` + id + `"`
	return id
}

type object = map[string]any

func (s *scenario) message(m object) {
	m["timestamp"] = 1767225600000 + 1000*len(s.lines)
	s.ids = append(s.ids, s.add("message", object{"message": m}))
}

// pick returns one of several texts.
func (s *scenario) pick(from ...string) string { return from[s.IntN(len(from))] }

// says is a text, now and then an odd one.
func (s *scenario) says() string {
	switch s.IntN(14) {
	case 0:
		return s.pick("", " ", "\n\t", "\u200b")
	case 1:
		return "\U0001f680 zweiäöü \u2028 </system> \\n \"q\" \x00\x07"
	case 2:
		return strings.Repeat("Many words are here. ", 200+s.IntN(4000))
	}
	return fmt.Sprint("Line ", s.IntN(1e6), s.pick("", "\nand another.", "\r\nwith CR.", "  "))
}

func text(of string) object { return object{"type": "text", "text": of} }

func (s *scenario) image() object {
	return object{"type": "image", "data": s.pick("iVBORw0KGgo=", "R0lGODdh"), "mimeType": s.pick("image/png", "image/gif")}
}

// prompt is what a user says, as a text or as blocks.
func (s *scenario) prompt() {
	if s.IntN(4) == 0 {
		s.message(object{"role": "user", "content": s.says()})
		return
	}
	s.message(object{"role": "user", "content": []any{text(s.says())}})
}

func (s *scenario) turn() {
	s.prompt()
	s.answer("stop", s.thought(), s.reply())
}

// pictures are a prompt with some, and a result with some.
func (s *scenario) pictures() {
	blocks := []any{s.image()}
	if s.IntN(2) == 0 {
		blocks = append(blocks, text(s.says()), s.image())
	}
	s.message(object{"role": "user", "content": blocks})
	call := s.call()
	s.answer("toolUse", s.thought(), call)
	s.result(call, s.image(), text(s.says()))
	s.answer("stop", s.reply())
}

// thought is reasoning as the model's interface returns it, nil for none.
func (s *scenario) thought() object {
	t := object{"type": "thinking", "thinking": s.says()}
	signed, n := "", s.IntN(6)
	switch s.model.Interface.API {
	case "anthropic-messages":
		signed = s.pick("c2lnbmF0dXJl", "")
		if n == 0 {
			t["redacted"], t["thinking"], signed = true, "[Reasoning redacted]", "cmVkYWN0ZWQ="
		}
	case "openai-completions":
		signed = s.pick("reasoning_content", "reasoning", "reasoning_text", "", `[{"type":"reasoning.text","text":"Hm.","index":0}]`,
			`[{"type":"reasoning.summary","summary":"Hm."},{"type":"reasoning.encrypted","data":"e","id":null}]`,
			`[{"type":"reasoning.other"}]`, `[]`)
	case "google-generative-ai":
		signed = s.pick("dGhvdWdodA==", "")
	default:
		signed = s.pick("", fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"e"}`, len(s.lines)),
			fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[]}`, len(s.lines)))
	}
	if signed != "" {
		t["thinkingSignature"] = signed
	}
	if n == 5 {
		return nil
	}
	return t
}

// reply is a text of an answer, signed where the model's interface does so.
func (s *scenario) reply() object {
	t := text(s.says())
	switch api := s.model.Interface.API; {
	case s.IntN(3) > 0:
	case api == "google-generative-ai":
		t["textSignature"] = "dGV4dA=="
	case strings.HasSuffix(api, "responses"):
		id := fmt.Sprint("msg_", len(s.lines))
		t["textSignature"] = s.pick(id, `{"v":1,"id":"`+id+`"}`, `{"v":1,"id":"`+id+`","phase":"commentary"}`, `{"v":1,"id":"`+id+`","phase":"final_answer"}`)
	}
	return t
}

// call is a call of a tool that the model has, or of one that it never had.
func (s *scenario) call() object {
	name := "gone"
	if len(s.tools) > 0 {
		name = s.tools[s.IntN(len(s.tools))]
	}
	n := len(s.lines)*10 + s.IntN(10)
	id := s.pick(fmt.Sprintf("toolu_%d", n), fmt.Sprintf("call_%d|fc_%d", n, n), fmt.Sprintf("call.%d/ü", n),
		fmt.Sprintf("call_%s_%d", strings.Repeat("x", 70), n))
	c := object{"type": "toolCall", "id": id, "name": name, "arguments": object{"path": s.says(), "n": s.IntN(9)}}
	switch api := s.model.Interface.API; {
	case s.IntN(3) > 0:
	case api == "google-generative-ai":
		c["thoughtSignature"] = "dGhvdWdodA=="
	case api == "openai-completions":
		c["thoughtSignature"] = s.pick(`{"type":"reasoning.encrypted","id":"`+id+`","data":"e"}`, `{"type":"reasoning.encrypted","data":"e"}`,
			`{"type":"reasoning.encrypted","id":"`+id+`","data":""}`, "none")
	case strings.HasSuffix(api, "responses"):
		c["namespace"] = "tools"
	}
	return c
}

func (s *scenario) result(call object, blocks ...any) {
	if blocks == nil {
		blocks = []any{}
	}
	s.message(object{"role": "toolResult", "toolCallId": call["id"], "toolName": call["name"], "content": blocks, "isError": s.IntN(4) == 0})
}

// called is a turn with calls, some of which have no result.
func (s *scenario) called() {
	s.prompt()
	for range 1 + s.IntN(3) {
		blocks := []any{s.thought(), s.reply()}
		var calls []object
		for range 1 + s.IntN(3) {
			calls = append(calls, s.call())
			blocks = append(blocks, calls[len(calls)-1])
		}
		s.answer("toolUse", blocks...)
		for _, c := range calls {
			switch s.IntN(9) {
			case 0:
			case 1:
				s.result(c)
			case 2:
				s.result(c, text(s.says()), s.image())
			default:
				s.result(c, text(s.says()))
			}
		}
	}
	if s.IntN(4) > 0 {
		s.answer("stop", s.reply())
	}
}

// answer adds an answer of the model, without blocks that are nil.
func (s *scenario) answer(stop string, blocks ...any) {
	kept := []any{}
	for _, b := range blocks {
		if o, _ := b.(object); o != nil {
			kept = append(kept, o)
		}
	}
	s.used = min(s.used+s.IntN(3000), 60000)
	m := object{"role": "assistant", "content": kept, "api": s.model.Interface.API, "provider": s.model.Provider, "model": s.model.ID,
		"stopReason": stop, "durationMs": 1, "responseId": fmt.Sprint("r", len(s.lines)), "usage": usage(s.used)}
	if s.model.Interface.InPlace().Level {
		m["providerThinkingLevel"] = s.level
	}
	if stop == "error" {
		m["errorMessage"], m["usage"] = "overloaded", usage(0)
	}
	s.message(m)
}

func usage(n int) object {
	return object{"input": n, "output": n / 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": n + n/10,
		"cost": object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}
}

// failed is an answer that failed, or a batch of calls that was aborted: each call has a result, and an empty
// answer follows, for which nothing was sent.
func (s *scenario) failed() {
	s.prompt()
	if s.IntN(2) == 0 {
		s.answer("error", text(s.says()), s.call())
		s.answer("stop", s.reply())
		return
	}
	call := s.call()
	s.answer("toolUse", call)
	s.result(call, text("Operation aborted"))
	s.used = 0
	s.message(object{"role": "assistant", "content": []any{}, "api": s.model.Interface.API, "provider": s.model.Provider,
		"model": s.model.ID, "stopReason": "aborted", "durationMs": 1, "usage": usage(0)})
}

// choose changes the model, and so the level, as far as the model has it.
func (s *scenario) choose() {
	s.model = s.among[s.IntN(len(s.among))]
	s.add("model_change", object{"provider": s.model.Provider, "modelId": s.model.ID})
	s.setLevel()
}

func (s *scenario) setLevel() {
	s.level = s.model.Clamp(s.pick("off", "minimal", "low", "medium", "high", "xhigh", "max"))
	if s.level == "" {
		s.level = "off"
	}
	s.add("thinking_level_change", object{"thinkingLevel": s.level})
}

// system is a message of the system: the first one, or a later change of text, sections and tools.
func (s *scenario) system(first bool) {
	m := object{"role": "system", "content": ""}
	if first || s.IntN(5) == 0 {
		m["content"] = fmt.Sprint("Be brief. ", s.IntN(100))
	}
	if first || s.IntN(2) == 0 {
		sections := object{s.pick("rules", "skills"): fmt.Sprintf("<rules>%d</rules>", s.IntN(100))}
		if !first && s.IntN(3) == 0 {
			sections[s.pick("rules", "skills")] = nil
		}
		m["sections"] = sections
	}
	if first || s.IntN(2) == 0 {
		added := []any{}
		for range 1 + s.IntN(3) {
			added = append(added, s.tool())
		}
		m["toolsAdded"] = added
	}
	if !first && len(s.tools) > 1 && s.IntN(2) == 0 {
		k := s.IntN(len(s.tools))
		m["toolsRemoved"] = []any{object{"name": s.tools[k]}}
		s.tools = append(s.tools[:k:k], s.tools[k+1:]...)
	}
	s.message(m)
}

// tool is a new tool, or a present one with another schema.
func (s *scenario) tool() object {
	name := fmt.Sprint("tool_", s.made)
	if len(s.tools) > 0 && s.IntN(5) == 0 {
		name = s.tools[s.IntN(len(s.tools))]
	} else {
		s.made++
		s.tools = append(s.tools, name)
	}
	schemas := []string{
		`{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"path":{"type":"string","description":"p"},"n":{"type":"integer","minimum":1}},"required":["path"]}`,
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`,
		`{"type":"object","properties":{"any":{},"list":{"type":"array","items":{"type":"object","properties":{"a":{"enum":["x","y"]}}}}}}`,
		`{"type":"object","properties":{"of":{"anyOf":[{"type":"string"},{"type":"null"}]},"when":{"const":"now"}},"required":["of","when"]}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string"}}},"additionalProperties":true}`,
	}
	t := object{"name": name, "description": s.says(), "parameters": json.RawMessage(schemas[s.IntN(len(schemas))])}
	switch s.IntN(8) {
	case 0:
		t["constrainedSampling"] = false
	case 1:
		t["constrainedSampling"] = object{"type": "json_schema", "strict": s.pick("prefer", "prefer", "require")}
	}
	return t
}

// compact puts a summary in place of what is before one of the last messages, or of all.
func (s *scenario) compact() {
	if len(s.ids) < 3 {
		return
	}
	kept := s.ids[len(s.ids)-1-s.IntN(min(6, len(s.ids)-1))]
	s.add("compaction", object{"summary": s.says(), "firstKeptEntryId": kept, "tokensBefore": s.used, "fromHook": false})
	s.used = 0
}

// branch continues at an earlier message, with or without a summary of what is left.
func (s *scenario) branch() {
	if len(s.ids) < 4 {
		return
	}
	from, k := s.parent, len(s.ids)-2-s.IntN(min(3, len(s.ids)-2))
	s.ids = s.ids[:k+1]
	s.parent = `"` + s.ids[k] + `"`
	if s.IntN(2) == 0 {
		s.add("branch_summary", object{"fromId": strings.Trim(from, `"`), "summary": s.says(), "fromHook": false})
	}
	s.choose()
}

// edit changes or removes an earlier message.
func (s *scenario) edit() {
	if len(s.ids) == 0 {
		return
	}
	e := object{"targetId": s.ids[s.IntN(len(s.ids))], "replacement": nil}
	switch s.IntN(3) {
	case 0:
		e["replacement"] = object{"content": []any{text(s.says())}}
	case 1:
		e["replacement"] = object{"content": []any{text(s.says()), text("More.")}}
	}
	s.add("context_edit", e)
}

// beside adds what extensions say, and what no request has.
func (s *scenario) beside() {
	switch s.IntN(5) {
	case 0:
		s.ids = append(s.ids, s.add("custom_message", object{"customType": "clock", "content": s.says(), "display": true}))
	case 1:
		s.ids = append(s.ids, s.add("custom_message", object{"customType": "clock", "content": []any{text(s.says()), s.image()}, "display": false}))
	case 2:
		s.add("custom", object{"customType": "state", "data": object{"a": 1}})
	case 3:
		s.add("session_info", object{"name": "A name"})
	default:
		s.add("usage", object{"kind": "cache_warm", "provider": s.model.Provider, "model": s.model.ID, "usage": usage(9)})
	}
}

// bash is a command that the user ran, and kept from the model or not.
func (s *scenario) bash() {
	s.message(object{"role": "bashExecution", "command": "ls", "output": s.says(), "exitCode": s.IntN(3), "cancelled": s.IntN(5) == 0,
		"truncated": false, "excludeFromContext": s.IntN(3) == 0})
}
