package claude

import (
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// The places of what [Dialect] skims of a line.
const (
	skimTime = iota
	skimRequest
	skimResponse
	skimModel
	skimStop
	skimUsage
	skimUUID // of the progress of a sub-agent
)

// skim implements Skim of the dialect.
func skim(dst []jsonl.Value, p *jsonl.Picked) []jsonl.Value {
	if p.Type.Is("assistant") {
		said := p.Message
		return append(dst, p.Timestamp, p.Record[atRequest], said[0], said[1], said[2], said[4], nil)
	}
	if p.Type.Is("progress") {
		if by, ok := delegatedBy(p); ok {
			return append(dst, jsonl.FirstText(by.timestamp, p.Timestamp), nil, by.message.id, by.message.model, nil,
				by.message.usage, jsonl.FirstText(by.uuid, p.ID))
		}
	}
	return dst
}

// callOf implements Call of the dialect: that of the first line of an answer, with the usage of the last.
func callOf(s *dialect.Source, lines [][]jsonl.Value) (c jsonl.Call) {
	first, last := lines[0], lines[len(lines)-1]
	c.ID, c.Time, c.Provider = last[skimUUID], last[skimTime], anthropic
	c.Model, c.ResponseID = last[skimModel], last[skimResponse]
	if request := first[skimRequest]; request.IsString() {
		c.Shared = s.Shared(c.ResponseID, request, first[skimTime])
	}
	u, ok := usageOf(c.Model, last[skimUsage])
	c.Usage, c.Used = u.Plausible(), ok
	return c
}

var anthropic = jsonl.Value(`"anthropic"`)

// usageOf returns the usage of an answer of a model; ok is false where none is recorded.
func usageOf(model, used jsonl.Value) (u jsonl.Usage, ok bool) {
	if !used.IsObject() || model.Is("<synthetic>") {
		return u, false
	}
	return readUsage(used), true
}

// A usage is what is read of one.
type usage struct {
	input    jsonl.Value `jsonl:"input_tokens"`
	output   jsonl.Value `jsonl:"output_tokens"`
	read     jsonl.Value `jsonl:"cache_read_input_tokens"`
	written  jsonl.Value `jsonl:"cache_creation_input_tokens"`
	creation struct {
		raw  jsonl.Value
		hour jsonl.Value `jsonl:"ephemeral_1h_input_tokens"`
	} `jsonl:"cache_creation"`
	tier  jsonl.Value `jsonl:"service_tier"`
	geo   jsonl.Value `jsonl:"inference_geo"`
	tools struct {
		raw      jsonl.Value
		searches jsonl.Value `jsonl:"web_search_requests"`
	} `jsonl:"server_tool_use"`

	speed, iterations jsonl.Value
}

var usageShape = jsonl.ShapeOf[usage]()

// readUsage reads a usage.
func readUsage(used jsonl.Value) (u jsonl.Usage) {
	var f usage // read in one pass, for every answer
	var c jsonl.Cursor
	usageShape.Read(c.Reset(used), &f)
	u.Input, u.Output, u.CacheRead, u.CacheWrite = f.input.Int(), f.output.Int(), f.read.Int(), f.written.Int()
	u.CacheWrite1h = f.creation.hour.Int()
	u.Terms = jsonl.TermsOf(f.tier, f.speed, f.geo)
	u.Searches = f.tools.searches.Int()
	u.Total = u.Context()
	if !f.iterations.Exists() {
		return u
	}
	var calls []jsonl.Value // of the model in one response: the count of the last one is the context
	for one := range f.iterations.Elements {
		if typ := one.Get("type"); typ.Is("message") || typ.Is("fallback_message") {
			calls = append(calls, one)
		}
	}
	if n := len(calls); n > 1 {
		last := readUsage(calls[n-1])
		u.Total = last.Total
	}
	return u
}

// A delegation is what is read of the progress of a sub-agent.
type delegation struct {
	message delegatedLine

	typ jsonl.Value `jsonl:"type"`
}

// A delegatedLine is the line of a sub-agent's answer.
type delegatedLine struct {
	//lint:ignore U1000 a shape that is a field begins with raw
	raw, uuid, timestamp, requestId jsonl.Value

	typ     jsonl.Value `jsonl:"type"`
	message struct{ raw, id, model, usage jsonl.Value }
}

var delegationShape = jsonl.ShapeOf[delegation]()

// delegatedBy returns the answer of a sub-agent that a record of progress has, if it has one with a usage.
func delegatedBy(p *jsonl.Picked) (by delegatedLine, ok bool) {
	var d delegation
	var c jsonl.Cursor
	delegationShape.Read(c.Reset(p.Record[atData]), &d)
	return d.message, d.typ.Is("agent_progress") && d.message.typ.Is("assistant") && d.message.message.usage.IsObject()
}
