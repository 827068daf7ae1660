package agents

import (
	"strings"
)

// geminiAPI is the Gemini API. A request for JSON that no answer is planned for is the one in which Gemini CLI asks
// who speaks next.
var geminiAPI = api{
	name:    "google",
	answers: "gemini-",
	serves: func(path string) bool {
		return strings.Contains(path, ":generateContent") || strings.Contains(path, ":streamGenerateContent") ||
			strings.HasSuffix(path, ":countTokens")
	},
	asked: func(path string, body object) prompt {
		_, model, _ := strings.Cut(path, "/models/")
		model, method, _ := strings.Cut(model, ":")
		p := prompt{model: model, system: body["systemInstruction"], tools: body["tools"],
			items: list(body, "contents"), stream: strings.HasPrefix(method, "stream")}
		config, _ := body["generationConfig"].(object)
		if config["responseMimeType"] == "application/json" {
			p.unplanned = &Answer{Text: Texts{`{"reasoning":"It is done.","next_speaker":"user"}`}}
		}
		return p
	},
	whole: func(r *response) object {
		parts := []object{}
		for k := range r.parts {
			parts = append(parts, r.geminiPart(k))
		}
		return r.candidate(parts, true)
	},
	stream: func(r *response) (all []event, sent int) {
		for k := range r.parts {
			all = append(all, event{"", r.candidate([]object{r.geminiPart(k)}, false)})
		}
		sent = len(all)
		if f := r.Failed; f != nil {
			return append(all, event{"", object{"error": object{"code": 500, "status": f.Code,
				"message": f.Message}}}), sent
		}
		return append(all, event{"", r.candidate([]object{{"text": ""}}, true)}), sent
	},
	failed: func(status int, message string) object {
		names := map[int]string{401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE"}
		return object{"error": object{"code": status, "message": message,
			"status": or(names[status], "INVALID_ARGUMENT")}}
	},
	tokens: func(n int) object { return object{"totalTokens": n} },
}

// geminiPart returns a part of an answer. A signature stands on the part after the thought.
func (r *response) geminiPart(k int) object {
	p, o := r.parts[k], object{}
	switch p.kind {
	case thinkingPart:
		return object{"text": p.text, "thought": true}
	case textPart:
		o["text"] = p.text
	case callPart:
		o["functionCall"] = object{"name": p.call.Name, "args": p.call.input()}
	default:
		return p.asIs
	}
	if k > 0 && r.parts[k-1].kind == thinkingPart {
		o["thoughtSignature"] = r.parts[k-1].sign
	}
	return o
}

// candidate returns an answer, or a part of one. The last has the usage.
func (r *response) candidate(parts []object, last bool) object {
	one := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	all := object{"candidates": []any{extend(one, r.Extra)}, "modelVersion": r.model, "responseId": r.q.Answer}
	if last {
		u := r.usage
		one["finishReason"] = or(r.Stop, "STOP")
		extend(one, r.Delta)
		all["usageMetadata"] = object{"promptTokenCount": u.prompt(), "cachedContentTokenCount": u.read,
			"candidatesTokenCount": u.output - u.thought, "thoughtsTokenCount": u.thought,
			"totalTokenCount": u.prompt() + u.output}
	}
	return all
}
