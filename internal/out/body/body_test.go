package body_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// TestTaken: by every interface, the requests of the sessions of all agents have what providers insist
// on: calls have their results at once. A result without a call is damage, which pi sends too, and a call
// at the end of what another agent sends may still run.
func TestTaken(t *testing.T) {
	n := 0
	for _, c := range slices.Concat(corpus.Sample(t), corpus.Agents(t), corpus.Foreign(t)) {
		name := filepath.Join(t.TempDir(), filepath.Base(c.Name))
		must.Do(os.WriteFile(name, c.Data, 0o600))
		s, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer s.Close()
		e, stopped, err := replay.New(s, replay.Options{Model: models.Ref{Provider: "anthropic", ID: "claude-opus-4-5"}}).Reach(sessionfmt.After(s.Leaf()))
		if err != nil || stopped != nil || e.Len() == 0 {
			continue
		}
		for _, form := range forms {
			of, err := written(e, form)
			if err != nil { // no message
				continue
			}
			n++
			if wrong := unanswered(of[list[form]].([]any)); wrong != "" {
				t.Errorf("%s, %s: %s", c.Name, form, wrong)
			}
		}
	}
	if n < corpus.Least(t, 400, 300) {
		t.Errorf("only %d requests", n)
	}
}

// unanswered is what is wrong with the calls of messages.
func unanswered(messages []any) string {
	open := map[any]int{}
	for _, m := range messages {
		m := m.(map[string]any)
		calls, results, other := pairs(m)
		for _, id := range results {
			if open[id]--; open[id] <= 0 {
				delete(open, id)
			}
		}
		if other && len(open) > 0 && m["role"] != "assistant" && m["role"] != "model" {
			return "a call without a result"
		}
		for _, id := range calls {
			open[id]++
		}
	}
	return ""
}

// pairs are the calls and results of a message or an item, and whether it says more.
func pairs(m map[string]any) (calls, results []any, other bool) {
	switch m["type"] {
	case "function_call", "custom_tool_call", "local_shell_call":
		return []any{m["call_id"]}, nil, false
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		return nil, []any{m["call_id"]}, false
	case "reasoning", "additional_tools":
		return nil, nil, false
	}
	if m["role"] == "tool" {
		return nil, []any{m["tool_call_id"]}, false
	}
	for _, list := range []string{"content", "parts", "tool_calls"} {
		parts, _ := m[list].([]any)
		for _, part := range parts {
			part := part.(map[string]any)
			call, _ := part["functionCall"].(map[string]any)
			response, _ := part["functionResponse"].(map[string]any)
			switch {
			case call != nil:
				calls = append(calls, call["name"])
			case response != nil:
				results = append(results, response["name"])
			case part["type"] == "tool_use", list == "tool_calls":
				calls = append(calls, part["id"])
			case part["type"] == "tool_result":
				results = append(results, part["tool_use_id"])
			default:
				other = true
			}
		}
	}
	_, text := m["content"].(string)
	return calls, results, (other || text) && len(results) == 0
}
