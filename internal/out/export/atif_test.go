package export

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// shapes are the members of the format's objects: their types, with ! for those that must be there.
var shapes = map[string]map[string]string{
	"trajectory": {
		"schema_version": "string!", "session_id": "string", "trajectory_id": "string", "agent": "agent!", "steps": "[]step!", "notes": "string",
		"final_metrics": "final", "continued_trajectory_ref": "string", "subagent_trajectories": "[]trajectory", "extra": "any",
	},
	"agent": {"name": "string!", "version": "string!", "model_name": "string", "tool_definitions": "[]any", "extra": "any"},
	"step": {
		"step_id": "count!", "timestamp": "time", "source": "system|user|agent!", "message": "content!", "model_name": "string",
		"reasoning_effort": "string", "reasoning_content": "string", "tool_calls": "[]call", "metrics": "metrics", "observation": "observation",
		"is_copied_context": "bool", "llm_call_count": "count", "extra": "any",
	},
	"call":        {"tool_call_id": "string!", "function_name": "string!", "arguments": "any!", "extra": "any"},
	"observation": {"results": "[]result!"},
	"result":      {"source_call_id": "string", "content": "content", "subagent_trajectory_ref": "[]ref", "extra": "any"},
	"ref":         {"trajectory_id": "string", "trajectory_path": "string", "session_id": "string", "extra": "any"},
	"metrics": {
		"prompt_tokens": "count", "completion_tokens": "count", "cached_tokens": "count", "cost_usd": "number", "prompt_token_ids": "[]count",
		"completion_token_ids": "[]count", "logprobs": "[]number", "extra": "any",
	},
	"final": {
		"total_prompt_tokens": "count", "total_completion_tokens": "count", "total_cached_tokens": "count", "total_cost_usd": "number",
		"total_steps": "count", "extra": "any",
	},
	"part":   {"type": "text|image|audio!", "text": "string", "source": "source"},
	"source": {"media_type": "string!", "path": "string!"},
}

// A validator collects what breaks the rules of the format.
type validator struct{ wrong []string }

func (v *validator) fail(at, format string, args ...any) {
	v.wrong = append(v.wrong, at+": "+fmt.Sprintf(format, args...))
}

// value checks a value of a type.
func (v *validator) value(at, typ string, is any) {
	if list, ok := strings.CutPrefix(typ, "[]"); ok {
		all, ok := is.([]any)
		if !ok {
			v.fail(at, "must be an array")
		}
		for k, one := range all {
			v.value(fmt.Sprintf("%s[%d]", at, k), list, one)
		}
		return
	}
	text, isText := is.(string)
	n, isNumber := is.(float64)
	_, isBool := is.(bool)
	object, isObject := is.(map[string]any)
	switch typ {
	case "string":
		v.need(at, isText, "must be a string")
	case "bool":
		v.need(at, isBool, "must be a boolean")
	case "number":
		v.need(at, isNumber, "must be a number")
	case "count":
		v.need(at, isNumber && n == math.Trunc(n) && n >= 0, "must be a whole number")
	case "any":
		v.need(at, isObject, "must be an object")
	case "time":
		_, err := time.Parse(time.RFC3339, text)
		v.need(at, err == nil, "must be a time")
	case "content":
		if !isText {
			v.value(at, "[]part", is)
		}
	default:
		if strings.Contains(typ, "|") {
			v.need(at, slices.Contains(strings.Split(typ, "|"), text), "must be one of "+typ)
			return
		}
		v.need(at, isObject, "must be an object")
		v.object(at, typ, object)
	}
}

func (v *validator) need(at string, is bool, text string) {
	if !is {
		v.fail(at, "%s", text)
	}
}

// object checks the members of an object: those that must be there, and that there are no others.
func (v *validator) object(at, typ string, of map[string]any) {
	for name, typ := range shapes[typ] {
		typ, must := strings.CutSuffix(typ, "!")
		if is, has := of[name]; has {
			v.value(at+"."+name, typ, is)
		} else if must {
			v.fail(at, "%s is required", name)
		}
	}
	for name := range of {
		if _, known := shapes[typ][name]; !known {
			v.fail(at, "unknown member %s", name)
		}
	}
	switch typ {
	case "trajectory":
		v.trajectory(at, of)
	case "step":
		v.step(at, of)
	case "ref":
		v.need(at, of["trajectory_id"] != nil || of["trajectory_path"] != nil, "refers to nothing")
	case "part":
		v.need(at, (of["type"] == "text") == (of["text"] != nil) && (of["type"] == "text") != (of["source"] != nil), "needs a text, or a source")
	case "agent", "call":
		for name, is := range of {
			v.need(at+"."+name, is != "", "is empty")
		}
	}
}

func (v *validator) trajectory(at string, of map[string]any) {
	steps, _ := of["steps"].([]any)
	v.need(at, len(steps) > 0 && of["schema_version"] == "ATIF-v1.8", "needs steps, and the version of the format")
	for k, one := range steps {
		step, _ := one.(map[string]any)
		v.need(at, step["step_id"] == float64(k+1), fmt.Sprintf("step %d is not numbered so", k+1))
	}
	ids := map[any]bool{nil: true}
	subs, _ := of["subagent_trajectories"].([]any)
	for _, one := range subs {
		sub, _ := one.(map[string]any)
		v.need(at, !ids[sub["trajectory_id"]], "an embedded trajectory has no id of its own")
		ids[sub["trajectory_id"]] = true
	}
}

func (v *validator) step(at string, of map[string]any) {
	for _, name := range []string{"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"} {
		v.need(at, of["source"] == "agent" || of[name] == nil, name+" is of an agent's step only")
	}
	v.need(at, of["llm_call_count"] != 0.0 || of["metrics"] == nil && of["reasoning_content"] == nil, "no call of a model has metrics")
	calls, _ := of["tool_calls"].([]any)
	ids := map[any]bool{nil: true}
	for _, one := range calls {
		ids[one.(map[string]any)["tool_call_id"]] = true
	}
	observed, _ := of["observation"].(map[string]any)
	results, _ := observed["results"].([]any)
	for _, one := range results {
		v.need(at, ids[one.(map[string]any)["source_call_id"]], "a result of a call of another step")
	}
}

// TestValidator: the validator finds what breaks a rule.
func TestValidator(t *testing.T) {
	good := `{"schema_version":"ATIF-v1.8","agent":{"name":"a","version":"1"},"steps":[{"step_id":1,"source":"agent","message":"m",
		"tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"c","content":"r"}]}}]}`
	for broken, why := range map[string]string{
		"": "", `"version":"1"`: `"version":""`, `"step_id":1`: `"step_id":2`, `"source":"agent"`: `"source":"user"`, `"message":"m",`: `"message":"m","own":1,`,
		`"source_call_id":"c"`: `"source_call_id":"d"`, `"arguments":{}`: `"arguments":"x"`, `"ATIF-v1.8"`: `"ATIF-v1.9"`, `"content":"r"`: `"content":[{"type":"image"}]`,
	} {
		v, of := &validator{}, map[string]any{}
		must.Do(json.Unmarshal([]byte(strings.Replace(good, broken, why, 1)), &of))
		v.object("root", "trajectory", of)
		if (len(v.wrong) > 0) != (broken != "") {
			t.Errorf("%s: %q", why, v.wrong)
		}
	}
}

// prepared sets what a command sets.
func prepared(o *Options) *Options {
	o.Stats.Counter = &tokens.Pi
	o.Stats.Now = time.Unix(2e9, 0)
	o.Note, o.Says = func(string, ...any) {}, func(err error) string { return err.Error() }
	return o
}

// stored writes sessions to files.
func stored(t *testing.T, sessions ...corpus.Session) (in []Input) {
	t.Helper()
	from := t.TempDir()
	for k, c := range sessions {
		name := filepath.Join(from, fmt.Sprint(k), filepath.Base(c.Name))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, c.Data, 0o600))
		in = append(in, Input{Path: name, Name: c.Name})
	}
	return in
}

// listed are the files of a folder.
func listed(dir string) []string { return must.Get(filepath.Glob(filepath.Join(dir, "*"))) }

// exported exports sessions, and returns the files.
func exported(t *testing.T, target string, o *Options, sessions ...corpus.Session) (files map[string][]byte, in []Input) {
	t.Helper()
	o.Dir = t.TempDir()
	in = stored(t, sessions...)
	if _, err := Find(target).Export(prepared(o), in); err != nil && !strings.Contains(err.Error(), "no file could be read") {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	for _, file := range listed(o.Dir) {
		files[filepath.Base(file)] = must.Get(os.ReadFile(file))
	}
	return files, in
}

// TestTrajectories: the trajectories of all samples follow the rules of the format. What they add up to
// is what the session cost, each call once, and what a request had can be rebuilt from their steps.
func TestTrajectories(t *testing.T) {
	rebuilt, boundaries := 0, 0
	for _, c := range slices.Concat(corpus.All(t), corpus.Agents(t), corpus.Foreign(t)) {
		if len(c.Data) > corpus.Pick(500_000, math.MaxInt) {
			continue
		}
		own := 0.0
		o := &Options{}
		files, in := exported(t, "atif", o, c)
		cyclic := false
		if o.Stats.Facts(in[0].Path, func(f *stats.Facts) error {
			own = f.Own.Cost.Total
			_, found := f.Session.Path(f.Session.Leaf())
			cyclic = slices.ContainsFunc(found, func(f sessionfmt.Finding) bool { return f.Code == "cycle" })
			return nil
		}) != nil || cyclic { // it cannot be read, or has no path
			continue
		}
		cost := 0.0
		for _, name := range slices.Sorted(maps.Keys(files)) {
			v, of := &validator{}, map[string]any{}
			must.Do(json.Unmarshal(files[name], &of))
			if v.object(name, "trajectory", of); len(v.wrong) > 0 {
				t.Errorf("%s: %.600q", c.Name, v.wrong)
			}
			final := of["final_metrics"].(map[string]any)
			cost += final["total_cost_usd"].(float64)
			if extra, is := final["extra"].(map[string]any); is {
				cost += extra["other_cost_usd"].(float64)
			}
			n, b := rebuild(t, c, of)
			rebuilt, boundaries = rebuilt+n, boundaries+b
		}
		if len(files) > 0 && math.Abs(cost-own) > 1e-9 {
			t.Errorf("%s: the trajectories cost %v, and the session's own calls %v", c.Name, cost, own)
		}
	}
	if rebuilt < 500 || boundaries < 20 {
		t.Errorf("only %d requests rebuilt, %d of them after the context was replaced", rebuilt, boundaries)
	}
	t.Logf("%d requests rebuilt, %d of them after the context was replaced", rebuilt, boundaries)
}

// A turn is a message as both sides can tell it.
type turn struct {
	Role, Text, Thinking string
	Calls                []string
}

// rebuild compares what requests had, by the rule of the format, with their replay. It returns how many,
// and how many after a boundary.
func rebuild(t *testing.T, c corpus.Session, of map[string]any) (n, after int) {
	name := filepath.Join(t.TempDir(), filepath.Base(c.Name))
	must.Do(os.WriteFile(name, c.Data, 0o600))
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer s.Close()
	var input []turn
	boundary := false
	for _, v := range of["steps"].([]any) {
		step := v.(map[string]any)
		extra, _ := step["extra"].(map[string]any)
		id, _ := extra["entry_id"].(string)
		asked := step["llm_call_count"] != nil && extra["context_management"] == nil && step["is_copied_context"] == nil && extra["context_unknown"] == nil
		if rec := s.Find(id); asked && rec >= 0 {
			e, stopped, err := replay.New(s, replay.Options{}).Reach(sessionfmt.Before(rec))
			if err != nil || stopped != nil {
				continue
			}
			if want := sentTurns(e); !reflect.DeepEqual(input, want) {
				t.Errorf("%s: before step %v (%s) are %d messages, and the request had %d: %s", c.Name, step["step_id"], id, len(input), len(want), unlike(input, want))
				return n, after
			}
			n++
			if boundary {
				after++
			}
		}
		if extra["context_management"] != nil {
			input, boundary = results(nil, step, "user"), true
			continue
		}
		input = stepTurns(input, step)
	}
	return n, after
}

// stepTurns adds what a step says to the input of those after it.
func stepTurns(input []turn, step map[string]any) []turn {
	one := turn{Role: step["source"].(string), Text: textOf(step["message"])}
	one.Thinking, _ = step["reasoning_content"].(string)
	calls, _ := step["tool_calls"].([]any)
	for _, call := range calls {
		call := call.(map[string]any)
		one.Calls = append(one.Calls, fmt.Sprint(call["function_name"], call["arguments"]))
	}
	extra, _ := step["extra"].(map[string]any)
	if one.Role != "system" && extra["not_in_context"] == nil {
		input = append(input, one)
	}
	return results(input, step, "result")
}

// results adds the results of a step.
func results(input []turn, step map[string]any, role string) []turn {
	observed, _ := step["observation"].(map[string]any)
	all, _ := observed["results"].([]any)
	for _, r := range all {
		input = append(input, turn{Role: role, Text: textOf(r.(map[string]any)["content"])})
	}
	return input
}

func textOf(content any) string {
	if text, is := content.(string); is {
		return text
	}
	var texts []string
	for _, part := range content.([]any) {
		part := part.(map[string]any)
		if source, is := part["source"].(map[string]any); is {
			texts = append(texts, fmt.Sprint(source["path"]))
		} else {
			texts = append(texts, part["text"].(string))
		}
	}
	return strings.Join(texts, "\n")
}

// sentTurns are the messages of a context as a provider gets them.
func sentTurns(e *replay.Envelope) (all []turn) {
	for m, err := range e.ProviderMessages() {
		must.Do(err)
		msg := m.Raw.Message()
		one := turn{Role: map[jsonl.Kind]string{jsonl.User: "user", jsonl.Assistant: "agent", jsonl.ToolResult: "result"}[msg.Kind]}
		if one.Role == "" {
			continue
		}
		var texts, thinking []string
		for i := range msg.Blocks {
			switch b := &msg.Blocks[i]; b.Kind {
			case jsonl.TextBlock:
				texts = append(texts, b.Text.Text())
			case jsonl.ThinkingBlock:
				thinking = append(thinking, b.Text.Text())
			case jsonl.ImageBlock:
				texts = append(texts, "data:"+b.Mime.Text()+";base64,"+b.Data.Text())
			case jsonl.CallBlock:
				var args any = map[string]any{}
				if b.Args.IsObject() {
					must.Do(json.Unmarshal(b.Args, &args))
				}
				name := b.Name.Text()
				if name == "" {
					name = "unknown"
				}
				one.Calls = append(one.Calls, fmt.Sprint(name, args))
			}
		}
		sep := "\n"
		if one.Role == "agent" {
			sep = ""
		}
		one.Text, one.Thinking = strings.Join(texts, sep), strings.Join(thinking, "\n\n")
		all = append(all, one)
	}
	return all
}

func unlike(got, want []turn) string {
	for k := range min(len(got), len(want)) {
		if !reflect.DeepEqual(got[k], want[k]) {
			return fmt.Sprintf("message %d is %.200v, and was %.200v", k, got[k], want[k])
		}
	}
	return ""
}
