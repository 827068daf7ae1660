package corpus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// piShapes are the members of pi's messages, by role, of their blocks, and of usages: what each is,
// after its name. A name with ? may be absent.
var piShapes = map[string]string{
	"system":     "role string, content said, timestamp number, sections? any, toolsAdded? any, toolsRemoved? any",
	"user":       "role string, content said, timestamp number",
	"custom":     "role string, content said, timestamp number, customType string, display bool, details? any",
	"toolResult": "role string, content blocks, timestamp number, toolCallId string, toolName string, isError bool, details? any, usage? usage",
	"assistant": "role string, content blocks, timestamp number, api string, provider string, model string, usage usage, stopReason stop, " +
		"responseId? string, responseModel? string, errorMessage? string, diagnostics? any",
	"usage":       "input number, output number, cacheRead number, cacheWrite number, totalTokens number, cost cost, cacheWrite1h? number, reasoning? number",
	"cost":        "input number, output number, cacheRead number, cacheWrite number, total number, totalFromProvider? bool",
	"text":        "type string, text string, textSignature? string",
	"image":       "type string, data string, mimeType string",
	"thinking":    "type string, thinking string, thinkingSignature? string, redacted? bool",
	"toolCall":    "type string, id string, name string, arguments object, thoughtSignature? string",
	"replacement": "content said",
}

// piBlocks are the types of blocks that messages have, by role; a replacement has those of any.
var piBlocks = map[string]string{
	"system": "text", "user": "text image", "custom": "text image", "toolResult": "text image",
	"assistant": "text thinking toolCall", "replacement": "text image thinking toolCall",
}

// NotPi lists what an entry of a session has that pi's have not, or the other way around: in its
// message, in its usage, and in what an edit sets as the content of another.
func NotPi(line []byte) (wrong []string) {
	var entry struct{ Message, Usage, Replacement map[string]any }
	if err := json.Unmarshal(line, &entry); err != nil {
		return []string{err.Error()}
	}
	if entry.Message != nil {
		role, _ := entry.Message["role"].(string)
		wrong = shaped(entry.Message, role, role)
	}
	if entry.Usage != nil {
		wrong = append(wrong, shaped(entry.Usage, "usage", "")...)
	}
	if entry.Replacement != nil {
		wrong = append(wrong, shaped(entry.Replacement, "replacement", "replacement")...)
	}
	return wrong
}

// shaped compares an object of a message of that role with its shape.
func shaped(v map[string]any, shape, role string) (wrong []string) {
	known := map[string]bool{}
	if piShapes[shape] == "" {
		return []string{fmt.Sprintf("unknown %q", shape)}
	}
	for member := range strings.SplitSeq(piShapes[shape], ", ") {
		name, kind, _ := strings.Cut(member, " ")
		name, optional := strings.CutSuffix(name, "?")
		known[name] = true
		if of, ok := v[name]; ok || !optional {
			for _, w := range isPi(of, kind, role) {
				wrong = append(wrong, shape+"."+name+": "+w)
			}
		}
	}
	for name := range v {
		if !known[name] {
			wrong = append(wrong, shape+"."+name+": not a member of pi's")
		}
	}
	return wrong
}

// isPi says what is wrong with a value of that kind.
func isPi(v any, kind, role string) (wrong []string) {
	ok := true
	switch of := v.(type) {
	case string:
		ok = kind == "string" || kind == "said" || kind == "any" ||
			kind == "stop" && slices.Contains([]string{"stop", "length", "toolUse"}, of)
	case float64:
		ok = kind == "number" || kind == "any"
	case bool:
		ok = kind == "bool" || kind == "any"
	case map[string]any:
		if kind == "usage" || kind == "cost" {
			return shaped(of, kind, role)
		}
		ok = kind == "object" || kind == "any"
	case []any:
		ok = kind == "any" || kind == "said" || kind == "blocks"
		for _, b := range of {
			if kind == "any" {
				break
			}
			block, _ := b.(map[string]any)
			typ, _ := block["type"].(string)
			if !slices.Contains(strings.Fields(piBlocks[role]), typ) {
				wrong = append(wrong, fmt.Sprintf("a block %q in a message %q", typ, role))
				continue
			}
			wrong = append(wrong, shaped(block, typ, role)...)
		}
	default:
		ok = kind == "any"
	}
	if !ok {
		wrong = append(wrong, fmt.Sprintf("no %s: %.100v", kind, v))
	}
	return wrong
}
