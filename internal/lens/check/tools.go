package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"

	"github.com/google/jsonschema-go/jsonschema"
)

// A toolset holds the tools at a step, with their schemas.
type toolset struct {
	absent bool         // from the file
	at     prompt.State // the prompt that has them
	byName map[string]*tool
	bySpec map[string]*tool // by name and schema, for the whole session
	answer jsonl.Message
}

// A tool is a tool definition, prepared for validating arguments.
type tool struct {
	schema jsonl.Value
	full   func() *jsonschema.Resolved
}

// called checks the tool calls of the step if it is an answer and the session records its
// tools.
func (w *walk) called() {
	t, rec := &w.tools, w.step.Record
	is, known, _, err := w.step.Tools()
	if err != nil {
		w.err = err
		return
	}
	t.follow(is)
	w.gone()
	if t.absent || !known || w.s.Kind(rec) != jsonl.Assistant || w.step.Did != replay.Added {
		return
	}
	if !slices.ContainsFunc(w.facts.of(w.s.Offset(rec)), func(f fact) bool { return f.kind() == aCall }) {
		return
	}
	if _, w.err = w.lines.Message(rec, &t.answer); w.err != nil {
		return
	}
	for b := range t.answer.Calls {
		if b.ID == nil {
			continue
		}
		name := sessionfmt.Quote(b.Name.Text())
		if d := t.byName[b.Name.Text()]; d == nil {
			w.found("tool-unknown", "it calls %q, and the request had no such tool", name)
		} else if fault := d.refuses(b.Args); fault != "" {
			w.found("tool-arguments", "the arguments of %s do not fit its schema: %s", name, fault)
		}
	}
}

// follow makes the tools those of a prompt. Of equal names the last one counts.
func (t *toolset) follow(is *prompt.Fold) {
	changed := map[string]bool{}
	t.at.ToolsDiffer(&is.State, func(_ int, was, is *prompt.Tool) {
		for _, d := range []*prompt.Tool{was, is} {
			if was != is && d != nil {
				changed[d.Name] = true
			}
		}
	})
	for name := range changed {
		delete(t.byName, name)
		for _, d := range is.ToolsNamed(name) {
			t.byName[name] = t.tool(&d)
		}
	}
	t.at = is.Kept()
}

// gone finds calls of tools that do not exist, if the options name the existing ones.
func (w *walk) gone() {
	names := w.opt.Implemented
	if len(names) == 0 || w.s.Kind(w.step.Record) != jsonl.Assistant {
		return
	}
	line, _ := w.line(w.step.Record)
	for b := range line.Get("message").Message().Calls {
		if name := b.Name.Text(); !slices.Contains(names, name) {
			w.found("tool-gone", "it calls %q, which nothing implements", sessionfmt.Quote(name))
		}
	}
}

// tool returns a prepared definition. Sessions declare the same tools many times.
func (t *toolset) tool(d *prompt.Tool) *tool {
	schema := d.Raw.Get("parameters")
	key := d.Name + "\n" + string(schema)
	if t.bySpec[key] == nil {
		t.bySpec[key] = &tool{schema, sync.OnceValue(func() *jsonschema.Resolved { return compile(schema) })}
	}
	return t.bySpec[key]
}

// refuses returns the error in arguments, or "".
func (t *tool) refuses(args jsonl.Value) string {
	if t.schema.IsNull() || !args.IsNull() && fits(t.schema, args) {
		return ""
	}
	full := t.full()
	if full == nil {
		return "" // an invalid schema allows all arguments
	}
	if args.IsNull() {
		return "there are none"
	}
	var v any
	if json.Unmarshal(args, &v) != nil {
		return "" // nested too deep for the library
	}
	if err := full.Validate(v); err != nil {
		fault, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "validating root: "), "\n")
		return sessionfmt.Quote(fault)
	}
	return ""
}

// compile prepares a schema. It returns nil if the schema is invalid. Nothing is read from
// the disk or the network: a schema with an external reference is invalid.
func compile(schema jsonl.Value) *jsonschema.Resolved {
	var s jsonschema.Schema
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	full, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return full
}

// remarks are the fields of a schema without an effect on validation.
var remarks = []string{"description", "title", "default", "examples", "$schema", "$id", "$comment"}

// fits reports whether a value is sure to fit a schema that depends on names and types alone, as most do. Of others
// the library decides.
func fits(schema, v jsonl.Value) bool {
	var properties jsonl.Value
	closed := false
	for key, is := range schema.Members {
		ok := true
		switch name := string(key); name {
		case "type":
			ok = hasType(is, v)
		case "required":
			for name := range is.Elements {
				ok = ok && v.Get(name.Text()).Exists()
			}
		case "properties":
			properties = is
		case "additionalProperties":
			closed, ok = !is.Truthy(), !is.IsObject()
		case "items":
			for of := range v.Elements {
				ok = ok && fits(is, of)
			}
		default:
			ok = slices.Contains(remarks, name)
		}
		if !ok {
			return false
		}
	}
	for name, of := range v.Members {
		if sub := properties.Get(string(name)); sub.Exists() && !fits(sub, of) || !sub.Exists() && closed {
			return false
		}
	}
	return schema.IsObject()
}

// hasType reports whether a value is sure to have a type of a schema, or one of several.
func hasType(want, v jsonl.Value) bool {
	for one := range want.Elements {
		if hasType(one, v) {
			return true
		}
	}
	switch want.Text() {
	case "string":
		return v.IsString()
	case "object":
		return v.IsObject()
	case "array":
		return v.IsArray()
	case "number":
		return v.IsNumber()
	case "integer":
		return v.IsNumber() && !bytes.ContainsAny(v, ".eE")
	case "boolean":
		return string(v) == "true" || string(v) == "false"
	}
	return want.Is("null") && v.IsNull()
}
