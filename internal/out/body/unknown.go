package body

import (
	"encoding/json"
	"fmt"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Report says of a request in the interface that pi asks its model by what no file records.
type Report struct {
	Form     string     `json:"form,omitempty"`     // the form that writes it; absent where none does
	Unknown  []Unknown  `json:"unknown,omitempty"`  // fields that the file does not record
	Withheld []Withheld `json:"withheld,omitempty"` // reasoning in the request that the model did not see
	Recorded *Recorded  `json:"recorded,omitempty"` // the agent's own record of the request; absent where there is none
}

// Recorded is the agent's own record of a request.
type Recorded struct {
	// of the record; absent if it is in a file that this one continues
	Line   int           `json:"line,omitempty"`
	ID     string        `json:"id"`               // of the record
	Source string        `json:"source,omitempty"` // what asked, in the agent's own word
	Proof  dialect.Proof `json:"proof"`            // `proved`, `cut`, `withheld`, `unproved`, `gone`
	Doubt  string        `json:"doubt,omitempty"`  // why it is not proved, so that the request follows by rule
	// recorded fields of the body except system prompt, tools and messages; absent if `gone`
	Fields json.RawMessage `json:"fields,omitempty"`
	Cache  []Mark          `json:"cache,omitempty"` // where the body asks for the cache
}

// Mark is a place of a body that asks for the cache.
type Mark struct {
	At    string          `json:"at"`    // names and indexes from 0, as a JSON pointer
	Value json.RawMessage `json:"value"` // what `cache_control` is there
}

// Unknown is a field of a request that follows from something outside the file.
type Unknown struct {
	Member string `json:"member"` // its name, with dots
	Reason string `json:"reason"` // what it follows from
}

// Withheld is a reasoning item that OpenAI withheld from the model, as the answer records.
type Withheld struct {
	ID     string `json:"id"`     // of the item
	Reason string `json:"reason"` // the provider's word
}

// strictLimit is how many strict tools Anthropic takes in one request; over that pi asks again with none.
const strictLimit = 20

// recordedReport returns the report of a request that its agent recorded, nil where it did not.
func recordedReport(e *replay.Envelope) (*Report, error) {
	r, err := e.Recorded()
	if err != nil || r == nil {
		return nil, err
	}
	proof, err := r.Proof()
	report := &Report{Form: e.Replay().Session.Dialect().Interface}
	one := &Recorded{Line: max(0, r.Line), ID: r.ID, Source: r.Source, Proof: proof, Doubt: r.Doubt()}
	var fields []jsonl.Field
	for _, f := range r.Head {
		if f.Name != "system" && f.Name != "tools" {
			fields = append(fields, jsonl.Field{Name: f.Name, Value: r.Marked(f)})
		}
	}
	if fields != nil {
		one.Fields = jsonl.AppendObject(nil, fields...)
	}
	for _, m := range r.Marks {
		mark := Mark{Value: json.RawMessage(m.Value)}
		for _, step := range m.Path {
			name := step.Text()
			if !step.IsString() {
				name = string(step)
			}
			mark.At += "/" + name
		}
		one.Cache = append(one.Cache, mark)
	}
	for _, b := range r.Beyond {
		report.Unknown = append(report.Unknown, Unknown{b.Field, b.Reason})
	}
	report.Recorded = one
	return report, err
}

// ReportOf returns the report on the request at an envelope; nil without a model, or for another agent's
// session that did not record the request.
func ReportOf(e *replay.Envelope) (*Report, error) {
	if e.Replay().Session.Dialect() != nil {
		return recordedReport(e)
	}
	ref, err := e.ModelRef()
	if err != nil || !ref.Known() {
		return nil, err
	}
	model, _, found := e.Replay().Options.Models.Lookup(ref.Provider, ref.ID)
	api := model.Interface.API
	if !found || api == "" {
		answer, err := e.Answer()
		if err != nil {
			return nil, err
		}
		if api = answer.Get("api").Text(); api == "" {
			return &Report{Unknown: []Unknown{{"interface", "the model is not in the catalogue"}}}, nil
		}
	}
	k := slices.IndexFunc(Forms, func(f *Form) bool { return f.api == api || f.kin == api && f.kin != "" })
	if k < 0 {
		return &Report{Unknown: []Unknown{{"interface", fmt.Sprintf("no form writes %s", api)}}}, nil
	}
	r, err := newRequest(Forms[k], e)
	if err != nil {
		return nil, err
	}
	report := &Report{Form: Forms[k].Name, Unknown: r.unknown()}
	for d := range r.answer.Get("diagnostics").Elements {
		if !d.Get("type").Is("openai_input_transformations") {
			continue
		}
		for t := range d.Get("details").Get("transformations").Elements {
			report.Withheld = append(report.Withheld, Withheld{t.Get("id").Text(), t.Get("reason").Text()})
		}
	}
	return report, nil
}

// unknown lists what follows from something outside the file: the login, the environment, the process that
// sent the request, the user's own list of models.
func (r *request) unknown() (all []Unknown) {
	add := func(is bool, member, reason string) {
		if is {
			all = append(all, Unknown{member, reason})
		}
	}
	api, provider := r.api, r.model.Provider
	if r.model.Takes == "" {
		add(true, "model settings", "the model is not in pi's catalogue: its limits and what its host takes are settings")
	}
	recorded := r.answer.Get("usage")
	switch api {
	case anthropic.api:
		add(r.model.Interface.Host == "api.anthropic.com", "thread", "whether the process that sent it continued a "+
			"thread: then without system, tools and earlier messages")
		add(provider == "anthropic", "system, tools[].name", "whether a subscription was used: it adds a block to the "+
			"system prompt, and renames tools")
		add(recorded.Get("cacheWrite").Int() == 0, "cache_control.ttl", "no write to the cache is recorded that tells "+
			"how long it is kept")
		strict := 0
		for _, t := range r.anthropicDefinitions(r.allTools(), false) {
			if t["strict"] == true {
				strict++
			}
		}
		add(strict > strictLimit, "tools[].strict", "over 20 strict tools: refused once, then sent without")
	case responses.api:
		add(provider == "openai", "max_output_tokens, temperature", "whether ChatGPT's login was used, which takes neither")
		add(r.compat.SupportsMidConvoEffort && r.level != "" && r.answer == nil, "reasoning.effort, configuration_update",
			"whether ChatGPT's login was used, which takes the level in the request")
		add(!r.compat.SupportsExplicitPromptCacheMode, "prompt_cache_retention", "a setting of the environment")
	case chat.api:
		add(r.chat.cacheKey, "prompt_cache_retention", "a setting of the environment")
	}
	keyed := api == chat.api && r.chat.cacheKey || r.form == &responses && r.compat.PromptCacheKeyMode != "disabled"
	add(keyed && r.copied(), "prompt_cache_key", "the answer is older than this file: the session that it was copied "+
		"from has another id")
	return all
}

// copied reports whether the answer was copied from the session that this one was forked from.
func (r *request) copied() bool {
	header, err := r.e.Replay().Session.HeaderLine()
	if err != nil || !header.Get("parentSession").IsString() {
		return false
	}
	began, known := header.Get("timestamp").Date()
	at, timed := r.answer.Get("timestamp").Millis()
	return known && timed && at < began
}
