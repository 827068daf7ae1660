package body_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/out/body"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
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
	answer := must.Get(session.NewReader().Line(nth(session, q.Answer))).Get("message")
	if answer.Get("stopReason").Is("aborted") && string(answer.Get("content")) == "[]" {
		return // the end of a batch of calls that was aborted: nothing was sent for it
	}
	if q.API == "openai-responses" && q.Model == "" && ofCodex(answer) {
		return // asked by the interface of Codex, which the same form writes
	}
	about := fmt.Sprintf("%s, request %d, %s %s", filepath.Base(session.Name), q.Answer, forms[q.API], q.Model)
	options := replay.Options{Rules: replay.ByPi}
	options.Model.Provider, options.Model.ID, _ = strings.Cut(q.Model, "/")
	e := must.Get(replay.New(session, options).At(sessionfmt.Before(nth(session, q.Answer))))
	got, err := written(e, forms[q.API])
	var sent map[string]any
	if q.Body != nil {
		must.Do(json.Unmarshal(q.Body, &sent))
	}
	messages, _ := sent[list[forms[q.API]]].([]any)
	if err != nil && !slices.ContainsFunc(messages, func(m any) bool { return m.(map[string]any)["role"] != "system" }) {
		return // pi sends what no provider takes
	}
	if strings.Contains(q.Error, "contents are required") || strings.Contains(q.Error, "content is not iterable") ||
		strings.Contains(q.Error, "Unsupported Google thinking level") || strings.Contains(q.Error, "requires JSON-schema") {
		c.thrown++ // of an empty context, an edit without content, a level that Google lacks, a tool that has to be strict
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
	ref := must.Get(e.ModelRef())
	c.row(ref.Provider+" "+q.API).add(got, sent, list[forms[q.API]])
}

// ofCodex reports whether an answer is by a model that is asked by the interface of Codex.
func ofCodex(answer jsonl.Value) bool {
	own, _, _ := models.Builtin().Lookup(answer.Get("provider").Text(), answer.Get("model").Text())
	return own.Interface.API == "openai-codex-responses"
}

// A row counts the requests of a provider by an interface, and those that are equal: as a whole, and by part.
type row struct {
	of              string
	requests, equal int
	parts           [len(partNames)]int
}

var partNames = [...]string{"system", "tools", "messages", "options"}

// row returns the row of a provider and interface.
func (c *comparison) row(of string) *row {
	k, found := slices.BinarySearchFunc(c.rows, of, func(r *row, of string) int { return strings.Compare(r.of, of) })
	if !found {
		c.rows = slices.Insert(c.rows, k, &row{of: of})
	}
	return c.rows[k]
}

func (r *row) add(got, sent map[string]any, list string) {
	r.requests++
	if reflect.DeepEqual(got, sent) {
		r.equal++
	}
	mine, theirs := parts(got, list), parts(sent, list)
	for k := range r.parts {
		if reflect.DeepEqual(mine[k], theirs[k]) {
			r.parts[k]++
		}
	}
}

// parts are the parts of a body, in the order of partNames. What the system says in place is of the messages.
func parts(body map[string]any, list string) (of [len(partNames)]any) {
	items, _ := body[list].([]any)
	lead := 0
	for ; lead < len(items); lead++ {
		item, _ := items[lead].(map[string]any)
		if role := item["role"]; role != "system" && role != "developer" {
			break
		}
	}
	options := map[string]any{}
	for name, v := range body {
		if !slices.Contains([]string{list, "system", "instructions", "systemInstruction", "tools"}, name) {
			options[name] = v
		}
	}
	return [len(partNames)]any{[]any{body["system"], body["instructions"], body["systemInstruction"], items[:lead]}, body["tools"], items[lead:], options}
}

// String is the table of a comparison.
func (c *comparison) String() string {
	var b strings.Builder
	total := row{of: "all"}
	fmt.Fprintf(&b, "\n%-46s %8s %8s", "provider and interface", "requests", "equal")
	for _, name := range partNames {
		fmt.Fprintf(&b, " %8s", name)
	}
	print := func(r *row) {
		fmt.Fprintf(&b, "\n%-46s %8d %8d", r.of, r.requests, r.equal)
		for _, n := range r.parts {
			fmt.Fprintf(&b, " %8d", n)
		}
	}
	for _, r := range c.rows {
		print(r)
		total.requests, total.equal = total.requests+r.requests, total.equal+r.equal
		for k, n := range r.parts {
			total.parts[k] += n
		}
	}
	print(&total)
	return b.String()
}

// A comparison compares the requests of sessions with those of pi.
type comparison struct {
	sessions []*sessionfmt.Session
	compared map[string]int // by interface and model
	rows     []*row         // by provider and interface
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
		// as if this version of pi had written it
		data := bytes.ReplaceAll(sample.Data, []byte(`"stopReason":`), []byte(`"durationMs":1,"stopReason":`))
		must.Do(os.WriteFile(name, data, 0o600))
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
	t.Logf("%d sessions, %d models; pi throws for %d requests: %v", len(files), len(c.compared), c.thrown, c)
}

// held are models of pi's catalogue that nobody looked at while the forms were written.
var held = []string{
	"anthropic/claude-haiku-5-5", "anthropic/claude-sonnet-4-6", "openai/gpt-6.1-terra", "openai/o3", "google/gemini-3.8-flash",
	"openai-codex/gpt-6-luna", "openai-codex/gpt-5.6-sol", "kimi-coding/k3.1-pro", "groq/qwen/qwen3.8-27b", "meta/muse-spark-1.3", "minimax/MiniMax-M3", "xiaomi/mimo-v2.6-pro",
}

// TestPiScenarios holds requests of sessions made at random, and of models that nobody looked at while the forms
// were written, to what pi's own code sends.
func TestPiScenarios(t *testing.T) {
	c := &comparison{compared: map[string]int{}}
	among, asked := heldModels(t), []string{"all"}
	if corpus.Whole() {
		among = catalogue()
	} else {
		asked = nil
		for _, m := range among {
			asked = append(asked, m.Provider+"/"+m.ID)
		}
	}
	var files []string
	for seed := range uint64(corpus.Pick(8, 300)) {
		name := filepath.Join(t.TempDir(), fmt.Sprintf("scenario-%d.jsonl", seed))
		must.Do(os.WriteFile(name, newScenario(seed, among), 0o600))
		session := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		defer session.Close()
		files, c.sessions = append(files, name), append(c.sessions, session)
	}
	corpus.PiBodies(t, asked, files, func(q corpus.PiBody) { c.compare(t, q) })
	t.Logf("%d scenarios, %d models; pi throws for %d requests: %v", len(files), len(c.compared), c.thrown, c)
}

// heldModels returns the models of held.
func heldModels(t *testing.T) (all []models.Model) {
	for _, name := range held {
		provider, id, _ := strings.Cut(name, "/")
		m, _, found := models.Builtin().Lookup(provider, id)
		if !found || m.Interface.API == "" {
			t.Fatalf("no model %s", name)
		}
		all = append(all, m)
	}
	return all
}

// first is the first line of a file.
func first(data []byte) jsonl.Value {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	v, _ := jsonl.ParseValue(line)
	return v
}

// catalogue returns all models that are asked by an interface that a form writes.
func catalogue() (all []models.Model) {
	for m := range models.Builtin().All() {
		if forms[m.Interface.API] != "" {
			all = append(all, m)
		}
	}
	return all
}
