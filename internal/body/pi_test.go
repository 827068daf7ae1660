package body_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ctxtool/internal/body"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// forms are the forms by the interface in pi's sessions.
var forms = map[string]string{
	"anthropic-messages": "anthropic", "openai-completions": "openai-chat", "openai-responses": "openai-responses",
	"openai-codex-responses": "openai-responses", "google-generative-ai": "google",
}

// list is the field of the messages.
var list = map[string]string{"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "google": "contents"}

// written is the request of an envelope.
func written(e *replay.Envelope, form string) (map[string]any, error) {
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	for _, f := range body.Forms {
		if f.Name != form {
			continue
		}
		if err := f.Write(w, e); err != nil {
			return nil, err
		}
	}
	w.Flush()
	var out map[string]any
	return out, json.Unmarshal(b.Bytes(), &out)
}

// asked are models of pi's catalogue that each have something of their own: tools, levels and system messages
// in place; hosts that are like OpenAI's but for some; tools with strict schemas; marks for a cache.
var asked = []string{
	"anthropic/claude-opus-5-5", "openai/gpt-6.2-sol", "openai-codex/gpt-6.2-sol", "anthropic/claude-sonnet-4-5",
	"openrouter/anthropic/claude-fable-5.1:batch", "deepseek/deepseek-v4-pro", "zai/glm-5.2", "zai/glm-4.7",
	"groq/openai/gpt-oss-120b", "xai/grok-4.7", "moonshotai/kimi-k3", "together/Qwen/Qwen3.5-9B",
	"anthropic/claude-fable-5", "github-copilot/claude-fable-5", "cerebras/gpt-oss-120b", "ant-ling/Ring-2.6-1T",
	"qwen-token-plan/deepseek-v4-pro", "openai/gpt-5.4", "nvidia/meta/muse-glimmer-30b",
}

// compare compares a request with what pi would send, and counts it.
func (c *comparison) compare(t *testing.T, q corpus.PiBody) {
	session := c.sessions[q.File]
	about := fmt.Sprintf("%s, request %d, %s %s", filepath.Base(session.Name), q.Answer, forms[q.API], q.Model)
	options := replay.Options{Rules: replay.ByPi}
	options.Model.Provider, options.Model.ID, _ = strings.Cut(q.Model, "/")
	e := must.Get(replay.New(session, options).At(sessionfmt.Before(nth(session, q.Answer))))
	got, err := written(e, forms[q.API])
	var sent map[string]any
	if q.Body != nil {
		must.Do(json.Unmarshal(q.Body, &sent))
	}
	if messages, _ := sent[list[forms[q.API]]].([]any); err != nil && len(messages) == 0 {
		return // pi sends what no provider takes
	}
	if strings.Contains(q.Error, "contents are required") || strings.Contains(q.Error, "content is not iterable") {
		c.thrown++ // of an empty context, and of an edit without content
		return
	}
	if err != nil || q.Error != "" {
		t.Errorf("%s: %v; pi: %s", about, err, q.Error)
		return
	}
	if !q.Known {
		unlimited(got, sent)
	}
	if unlike := difference(got, sent); unlike != "" {
		t.Errorf("%s: %s", about, unlike)
	}
	c.compared[q.API+" "+q.Model]++
}

// A comparison compares the requests of sessions with those of pi.
type comparison struct {
	sessions []*sessionfmt.Session
	compared map[string]int // by interface and model
	thrown   int            // requests for which pi throws
}

// unlimited takes out of both how long an answer may be, where pi's catalogue has no such model: pi takes
// its limit from settings.
func unlimited(bodies ...map[string]any) {
	for _, of := range bodies {
		for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
			delete(of, name)
		}
		if config, is := of["generationConfig"].(map[string]any); is {
			delete(config, "maxOutputTokens")
		}
		if thinking, is := of["thinking"].(map[string]any); is {
			delete(thinking, "budget_tokens")
		}
	}
}

// difference is the first thing that two JSON values do not share.
func difference(got, want any) string {
	if reflect.DeepEqual(got, want) {
		return ""
	}
	switch want := want.(type) {
	case map[string]any:
		if got, is := got.(map[string]any); is {
			for name := range want {
				if d := difference(got[name], want[name]); d != "" {
					return name + ": " + d
				}
			}
			for name := range got {
				if _, is := want[name]; !is {
					return fmt.Sprintf("%s: %.200v, and it was not sent", name, got[name])
				}
			}
		}
	case []any:
		if got, is := got.([]any); is {
			for k := range min(len(got), len(want)) {
				if d := difference(got[k], want[k]); d != "" {
					return fmt.Sprintf("%d of %d: %s", k, len(want), d)
				}
			}
			return fmt.Sprintf("%d, and %d were sent", len(got), len(want))
		}
	}
	return fmt.Sprintf("%.300v, and %.300v was sent", got, want)
}

// nth is the record of an answer, by its number in the file.
func nth(s *sessionfmt.Session, n int) int {
	for rec := range s.Len() {
		if s.Kind(rec) == jsonl.Assistant {
			if n--; n < 0 {
				return rec
			}
		}
	}
	return -1
}

// TestPi compares the requests of sessions with those that pi's own code sends for them, by every
// interface: of the project's samples, and with CTXTOOL_WHOLE of shared ones, by each model of its catalogue.
func TestPi(t *testing.T) {
	c := &comparison{compared: map[string]int{}}
	samples := corpus.Own(t)
	if corpus.Whole() {
		samples = append(samples, corpus.Shared(t)...)
	}
	var files []string
	for _, sample := range samples {
		dialect := sessionfmt.Sniff(first(sample.Data))
		if strings.Contains(sample.Name, "bad/") || dialect != nil {
			continue
		}
		name := filepath.Join(t.TempDir(), filepath.Base(sample.Name))
		must.Do(os.WriteFile(name, sample.Data, 0o600))
		session, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer session.Close()
		files, c.sessions = append(files, name), append(c.sessions, session)
	}
	models := asked
	if corpus.Whole() {
		models = []string{"all"}
	}
	corpus.PiBodies(t, models, files, func(q corpus.PiBody) { c.compare(t, q) })
	for api := range forms {
		if api != "openai-codex-responses" && c.compared[api+" "] < 60 {
			t.Errorf("%s: only %d requests compared", api, c.compared[api+" "])
		}
	}
	t.Logf("%d sessions: %v; pi throws for %d", len(files), c.compared, c.thrown)
}

// first is the first line of a file.
func first(data []byte) jsonl.Value {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	v, _ := jsonl.ParseValue(line)
	return v
}
