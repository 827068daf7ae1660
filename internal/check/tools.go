package check

import (
	"encoding/json"
	"slices"
	"strings"

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
	fits   map[fit]bool
}

func newToolset() toolset { return toolset{bySpec: map[string]*tool{}, fits: map[fit]bool{}} }

// A tool is a tool definition, prepared for validating arguments.
type tool struct {
	schema jsonl.Value
	typed  bool // see typed
	full   *jsonschema.Resolved
	tried  bool // full has been made, or cannot be made
}

// called checks the tool calls of the step if it is an answer and the session records its
// tools. It reads nothing if all calls are known to fit.
func (w *walk) called() {
	t, rec := &w.tools, w.step.Record
	is, known, _, err := w.step.Tools()
	if err != nil {
		w.err = err
		return
	}
	t.follow(is)
	w.gone()
	if t.absent {
		known = false
	}
	if !known || w.s.Kind(rec) != jsonl.Assistant || w.step.Did != replay.Added {
		return
	}
	found := w.facts.of(w.s.Offset(rec))
	if t.allFit(found, w.facts) {
		return
	}
	line, _ := w.line(rec)
	var calls []*jsonl.Block
	for b := range line.Get("message").Message().Calls {
		if b.ID == nil {
			continue
		}
		calls = append(calls, b)
		if name := b.Name.Text(); t.byName[name] == nil {
			w.found("tool-unknown", "it calls %q, and the request had no such tool", sessionfmt.Quote(name))
		}
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f fact) bool { return f.kind() != aCall })
	for k, b := range calls {
		n := 0
		if len(found) == len(calls) { // else the line has a duplicate field
			n = found[k].outline()
		}
		if fault := t.hold(b, n); fault != "" {
			w.found("tool-arguments", "the arguments of %s do not fit its schema: %s", sessionfmt.Quote(b.Name.Text()), fault)
		}
	}
}

// follow makes the tools those of a prompt. Of equal names the last one counts.
func (t *toolset) follow(is *prompt.Fold) {
	if t.byName == nil {
		t.byName = map[string]*tool{}
	}
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

// A fit is a tool with an outline of calls that it accepts.
type fit struct {
	outline int
	tool    *tool
}

// allFit reports whether all calls of an answer are known to fit, from earlier calls with
// the same outlines.
func (t *toolset) allFit(found []fact, f *facts) bool {
	for _, c := range found {
		if c.kind() != aCall {
			continue
		}
		n := c.outline()
		if n == 0 {
			return false
		}
		if d := t.byName[f.calls.tools[n-1]]; d == nil || !t.fits[fit{n, d}] {
			return false
		}
	}
	return true
}

// hold returns the error in the arguments of a call, or ""; outline is the number of its
// outline.
func (t *toolset) hold(b *jsonl.Block, outline int) string {
	d := t.byName[b.Name.Text()]
	if d == nil {
		return ""
	}
	fault := d.refuses(b.Args)
	if fault == "" && outline > 0 && (d.schema.IsNull() || d.typed) {
		t.fits[fit{outline, d}] = true
	}
	return fault
}

// tool returns a prepared definition. Sessions declare the same tools many times.
func (t *toolset) tool(d *prompt.Tool) *tool {
	schema := d.Raw.Get("parameters")
	key := d.Name + "\n" + string(schema)
	if t.bySpec[key] == nil {
		t.bySpec[key] = &tool{schema: schema, typed: typed(schema)}
	}
	return t.bySpec[key]
}

// refuses returns the error in arguments, or "".
func (t *tool) refuses(args jsonl.Value) string {
	if t.schema.IsNull() {
		return ""
	}
	if !t.tried {
		t.full, t.tried = compile(t.schema), true
	}
	if t.full == nil {
		return "" // an invalid schema allows all arguments
	}
	if args.IsNull() {
		return "there are none"
	}
	var v any
	if json.Unmarshal(args, &v) != nil {
		return "" // nested too deep for the library
	}
	if err := t.full.Validate(v); err != nil {
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

// typed reports whether a schema depends on names and types alone, as most do: either all calls
// with one outline fit it, or none does.
func typed(schema jsonl.Value) bool {
	for key, v := range schema.Members {
		ok := true
		switch name := string(key); name {
		case "type", "required":
		case "properties":
			for _, sub := range v.Members {
				ok = ok && typed(sub)
			}
		case "additionalProperties":
			ok = !v.IsObject()
		case "items":
			ok = typed(v)
		default:
			ok = slices.Contains(remarks, name)
		}
		if !ok {
			return false
		}
	}
	return schema.IsObject()
}
