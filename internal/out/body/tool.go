package body

import (
	"encoding/json"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// A tool is a definition as a session declares it.
type tool struct {
	name, description string
	parameters        jsonl.Value
	sampling          jsonl.Value // how calls are constrained: by schema or by grammar
}

func newTool(v jsonl.Value) tool {
	return tool{name: v.Get("name").Text(), description: clean(v.Get("description").Exact()),
		parameters: v.Get("parameters"), sampling: v.Get("constrainedSampling")}
}

// currentTools returns the tools at the point of the request.
func (r *request) currentTools() (all []tool) {
	for _, t := range r.prompt.Tools {
		all = append(all, newTool(t.Raw))
	}
	return all
}

// schema returns the parameters as they are sent, and whether they are strict: of a tool that wants that,
// where the interface has strict tools and the schema can be one.
func (t *tool) schema(supported bool, refused func(keyword string, v jsonl.Value) bool) (json.RawMessage, bool) {
	if supported && t.sampling.Get("type").Is("json_schema") {
		if strict, can := strictSchema(t.parameters, refused); can {
			return json.RawMessage(strict), true
		}
	}
	return raw(t.parameters), false
}

// A grammar constrains the one argument of a tool.
type grammar struct{ syntax, definition, input string }

// grammar returns the grammar of a tool for OpenAI's interfaces, and whether it has a usable one.
func (t *tool) grammar() (g grammar, has bool) {
	if !t.sampling.Get("type").Is("grammar") {
		return g, false
	}
	variants := t.sampling.Get("variants")
	for _, of := range []struct{ syntax, name string }{{"lark", "openai_lark"}, {"regex", "openai_regex"}} {
		if text := variants.Get(of.name).Exact(); strings.TrimSpace(text) != "" {
			g.syntax, g.definition = of.syntax, text
			break
		}
	}
	var required []string
	for name := range t.parameters.Get("required").Elements {
		required = append(required, name.Text())
	}
	if g.definition == "" || !t.parameters.Get("type").Is("object") || len(required) != 1 {
		return g, false
	}
	g.input = required[0]
	return g, t.parameters.Get("properties").Get(g.input).Get("type").Is("string")
}

// grammars returns the argument of each tool with a grammar, by the tool's name.
func grammars(tools []tool) map[string]string {
	var inputs map[string]string
	for _, t := range tools {
		if g, has := t.grammar(); has {
			if inputs == nil {
				inputs = map[string]string{}
			}
			inputs[t.name] = g.input
		}
	}
	return inputs
}
