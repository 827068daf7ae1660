package body

import (
	"encoding/json"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// google is Google's Gemini API. The model is in the address of a request, not in the body.
var google = Form{
	Name:      "google",
	About:     "the request for Google's Gemini API, without the model, which is in the address",
	api:       "google-generative-ai",
	list:      "contents",
	head:      googleHead,
	items:     googleItems,
	placement: func(*request) (bool, placement) { return false, folded },
	callID: func(r *request, id string, _ bool) string {
		if !r.wantsIDs() {
			return id
		}
		return idPart(id, 64)
	},
}

var gemini = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^gemini(?:-live)?-(\d+)`) })

// version returns the major version of a Gemini model, 0 for another model.
func (r *request) version() int {
	found := gemini().FindStringSubmatch(strings.ToLower(r.model.ID))
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// wantsIDs reports whether calls and results have ids.
func (r *request) wantsIDs() bool {
	return r.version() >= 3 || strings.HasPrefix(r.model.ID, "claude-") || strings.HasPrefix(r.model.ID, "gpt-oss-")
}

func googleHead(r *request) object {
	head, config := object{}, object{}
	if r.most > 0 {
		config["maxOutputTokens"] = r.most
	}
	if temperature := r.prompt.Options.Temperature; temperature.Exists() {
		config["temperature"] = json.RawMessage(temperature)
	}
	if thinking := r.googleThinking(); thinking != nil {
		config["thinkingConfig"] = thinking
	}
	head["generationConfig"] = config
	if text := clean(r.transcript.prompt); text != "" {
		head["systemInstruction"] = object{"role": "user", "parts": []object{{"text": text}}}
	}
	var tools []object
	validated := false
	for _, t := range r.transcript.tools {
		parameters, strict := t.schema(r.version() >= 3, nil)
		validated = validated || strict
		tools = append(tools, object{"name": t.name, "description": t.description,
			"parametersJsonSchema": json.RawMessage(constAsEnum(jsonl.Value(parameters), false))})
	}
	if tools != nil {
		head["tools"] = []object{{"functionDeclarations": tools}}
	}
	if validated {
		head["toolConfig"] = object{"functionCallingConfig": object{"mode": "VALIDATED"}}
	}
	return head
}

var byLevel = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`gemini-3(?:\.\d+)?-(?:pro|flash)|gemini-(?:[4-9]|[1-9]\d)|^gemini-flash-(?:lite-)?latest$|gemma-?4`)
})

// googleThinking asks newer models to think by a level, older ones by a budget of tokens.
func (r *request) googleThinking() object {
	leveled := byLevel().MatchString(strings.ToLower(r.model.ID))
	switch {
	case r.level == "" && !(r.known && r.reasons()):
		return nil
	case r.level == "" && leveled && !r.model.HasLevel("off"):
		lowest := r.model.Clamp("minimal")
		return object{"thinkingLevel": strings.ToUpper(r.named(lowest))}
	case r.level == "":
		return object{"thinkingBudget": 0}
	case leveled:
		return object{"includeThoughts": true, "thinkingLevel": strings.ToUpper(r.named(r.level))}
	}
	return object{"includeThoughts": true, "thinkingBudget": googleBudget(r.model.ID, r.level)}
}

// named returns the provider's name for a level.
func (r *request) named(level string) string {
	if name, _ := r.model.Takes.Level(level); name != "" {
		return name
	}
	return level
}

// googleBudget returns how many tokens a model of version 2.5 thinks; -1 leaves it to the model.
func googleBudget(model, level string) int {
	for _, of := range []struct {
		name    string
		budgets map[string]int
	}{
		{"2.5-pro", map[string]int{"minimal": 128, "low": 2048, "medium": 8192, "high": 32768}},
		{"2.5-flash-lite", map[string]int{"minimal": 512, "low": 2048, "medium": 8192, "high": 24576}},
		{"2.5-flash", map[string]int{"minimal": 128, "low": 2048, "medium": 8192, "high": 24576}},
	} {
		if strings.Contains(model, of.name) {
			return of.budgets[level]
		}
	}
	return -1
}

func googleItems(r *request) iter.Seq2[any, error] {
	var results []object // in a row
	content := func(role string, parts []object) []any {
		if parts == nil {
			return nil
		}
		return []any{object{"role": role, "parts": parts}}
	}
	end := func() []any {
		all := results
		results = nil
		return content("user", all)
	}
	return r.each(func(m *message) []any {
		switch m.role {
		case jsonl.User:
			return content("user", googleParts(m.Blocks))
		case jsonl.Assistant:
			return content("model", googleAnswer(r, m))
		}
		result, images := googleResult(r, m)
		results = append(results, result)
		if images == nil {
			return nil
		}
		return append(end(), content("user", images)...)
	}, end, nothing)
}

func googleParts(blocks []jsonl.Block) (parts []object) {
	for _, b := range blocks {
		switch b.Kind {
		case jsonl.TextBlock:
			parts = append(parts, object{"text": textOf(b)})
		case jsonl.ImageBlock:
			parts = append(parts, object{"inlineData": object{"mimeType": b.Mime.Text(), "data": b.Data.Text()}})
		}
	}
	return parts
}

// googleResult returns the part of a result. Models before Gemini 3 take its images in a message of
// their own: more are the parts of that.
func googleResult(r *request, m *message) (part object, more []object) {
	text, images := m.texts("\n"), googleParts(m.images())
	switch {
	case jsonl.TrimJS(text) != "":
	case images != nil:
		text = imageOnly
	default:
		text = ""
	}
	response := object{"output": text}
	if m.IsError.Truthy() {
		response = object{"error": text}
	}
	result := object{"name": m.Tool.Text(), "response": response}
	if r.wantsIDs() {
		result["id"] = m.call
	}
	switch nested := r.version() == 0 || r.version() >= 3; {
	case images != nil && nested:
		result["parts"] = images
	case images != nil:
		more = append([]object{{"text": "Tool result image:"}}, images...)
	}
	return object{"functionResponse": result}, more
}

var base64 = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`) })

func googleAnswer(r *request, m *message) (parts []object) {
	for _, b := range m.Blocks {
		sealed := ""
		for _, name := range []string{"textSignature", "thinkingSignature", "thoughtSignature"} {
			if s := b.Raw.Get(name).Text(); m.own && len(s)%4 == 0 && base64().MatchString(s) {
				sealed = s
			}
		}
		var part object
		switch {
		case b.Kind == jsonl.CallBlock:
			call := object{"name": b.Name.Text(), "args": raw(b.Args)}
			if r.wantsIDs() {
				call["id"] = b.ID.Text()
			}
			part = object{"functionCall": call}
		case blank(b.Text) && sealed == "":
			continue
		case b.Kind == jsonl.TextBlock:
			part = object{"text": textOf(b)}
		case b.Kind == jsonl.ThinkingBlock:
			part = object{"thought": true, "text": textOf(b)}
		default:
			continue
		}
		if sealed != "" {
			part["thoughtSignature"] = sealed
		}
		parts = append(parts, part)
	}
	return parts
}
