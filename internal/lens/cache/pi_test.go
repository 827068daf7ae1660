package cache

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
)

// settled is a session of seven answers of a model, whose prompt, tools and level change between them.
func settled(m models.Model) []byte {
	tool := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"description":"d","parameters":{"type":"object","properties":{}}}`, name)
	}
	system := func(members string) string {
		return `{"type":"message","message":{"role":"system","content":"",` + members + `,"timestamp":1}}`
	}
	said := func(role, text, more string) string {
		return fmt.Sprintf(`{"type":"message","message":{"role":%q,"content":[{"type":"text","text":%q}],"timestamp":1%s}}`,
			role, text, more)
	}
	n, now := 0, "medium"
	turn := func() []string {
		n++
		answer := fmt.Sprintf(`,"api":%q,"provider":%q,"model":%q,"stopReason":"stop","responseId":"r%d",`+
			`"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0}`, m.Interface.API, m.Provider, m.ID, n)
		if m.Interface.InPlace().Level { // pi records the level of an answer that has it in place
			answer += fmt.Sprintf(`,"providerThinkingLevel":%q`, now)
		}
		return []string{said("user", fmt.Sprint("question ", n), ""), said("assistant", fmt.Sprint("answer ", n), answer)}
	}
	level := func(to string) string {
		now = to
		return `{"type":"thinking_level_change","thinkingLevel":"` + to + `"}`
	}
	lines := slices.Concat(
		[]string{fmt.Sprintf(`{"type":"model_change","provider":%q,"modelId":%q}`, m.Provider, m.ID), level("medium"),
			`{"type":"message","message":{"role":"system","content":"Be brief.","toolsAdded":[` + tool("read") + `],"timestamp":1}}`},
		turn(), turn(), []string{system(`"toolsAdded":[` + tool("grep") + `]`)},
		turn(), []string{system(`"sections":{"rules":"Test."}`)},
		turn(), []string{level("high")},
		turn(), []string{system(`"toolsRemoved":[{"name":"grep"}]`)},
		turn(), turn(),
	)
	text := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	parent := "null"
	for k, line := range lines {
		text += fmt.Sprintf(`{"id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z",%s`+"\n", k, parent, k, line[1:])
		parent = fmt.Sprintf(`"e%d"`, k)
	}
	return []byte(text)
}

// TestPiPrefix: where prompt, tools and level change, the account has a break where the request that pi's own
// code makes does not begin with the one before it, for models that take changes in place and others.
func TestPiPrefix(t *testing.T) {
	asked := []string{"anthropic/claude-opus-5-5", "openai/gpt-6.2-sol", "anthropic/claude-sonnet-4-5",
		"moonshotai/kimi-k3", "deepseek/deepseek-v4-pro"}
	var files []string
	var all []models.Model
	for k, name := range asked {
		provider, id, _ := strings.Cut(name, "/")
		m, _, found := models.Builtin().Lookup(provider, id)
		if !found {
			t.Fatalf("no model %s", name)
		}
		file := filepath.Join(t.TempDir(), fmt.Sprint(k))
		must.Do(os.WriteFile(file, settled(m), 0o600))
		files, all = append(files, file), append(all, m)
	}
	var sent [5][7]map[string]any
	corpus.PiBodies(t, nil, files, func(q corpus.PiBody) {
		if q.API == all[q.File].Interface.API {
			must.Do(json.Unmarshal(q.Body, &sent[q.File][q.Answer]))
		}
	})
	for file, model := range asked {
		s := openCacheTest(t, must.Get(os.ReadFile(files[file])))
		report := must.Get(accountOf(replay.New(s, replay.Options{}), Options{Leaf: s.Leaf()}))
		rows := slices.Collect(report.Rows)
		var got, want []string
		for k := 1; k < len(rows); k++ {
			whole := rows[k].Shared.Messages >= report.account.messagesOf(report.account.sent[k-1])
			got = append(got, fmt.Sprintf("%d kept %v", k, rows[k].Break == nil && whole))
			want = append(want, fmt.Sprintf("%d kept %v", k, begins(sent[file][k], sent[file][k-1])))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%v\nby what pi sends:\n%v", model, got, want)
		}
		t.Logf("%s: %v", model, want)
	}
}

// begins reports whether a request begins with an earlier one: what stands before the messages is equal, and so
// are the messages, marks for the cache aside.
func begins(body, earlier map[string]any) bool {
	unmarked(body)
	unmarked(earlier)
	for _, name := range []string{"tools", "system", "thinking", "output_config", "reasoning_effort"} {
		if !reflect.DeepEqual(body[name], earlier[name]) {
			return false
		}
	}
	list := "messages"
	if body["input"] != nil {
		list = "input"
	}
	is, was := body[list].([]any), earlier[list].([]any)
	return len(is) >= len(was) && reflect.DeepEqual(is[:len(was)], was)
}

// unmarked takes the marks for the cache away. A text with a mark is a list of one block.
func unmarked(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "cache_control")
		if text, is := v["content"].(string); is {
			v["content"] = []any{map[string]any{"type": "text", "text": text}}
		}
		for _, member := range v {
			unmarked(member)
		}
	case []any:
		for _, each := range v {
			unmarked(each)
		}
	}
}
