// Package ops has the table of patch operations: their fields, what they do, and what a patch
// must be to be applied (docs/session-format.md 6). Package replay applies them.
package ops

import (
	"bytes"
	"errors"
	"fmt"

	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Op is one kind of patch operation.
type Op struct {
	Name    string
	About   string // what it does, for help
	Cached  bool   // it changes cached content, so it must have a reason
	Fields  []Field
	Example string // the operation as JSON
	// Fold changes prompt, tools or options. It is nil for an operation on messages.
	Fold func(f *prompt.Fold, v jsonl.Value, by origin.Origin)
}

// The names of the operations on messages.
const (
	Replace    = "messages_cached_replace"
	Append     = "messages_uncached_append"
	Compaction = "compaction_apply"
)

// A Field is a field of an operation, besides op, scope and invalidateCacheReason.
type Field struct {
	Name     string
	Type     Type
	Required bool
	Of       []Field // of an element of a List
	About    string  // for the schema
}

// A Type is what a field must be. An optional one may be null.
type Type uint8

// The types.
const (
	Any Type = iota
	Text
	Number
	Names    // an array of names
	Messages // an array of objects
	List     // an array of objects with fields
)

// All are the operations, in the order of the documentation.
var All = []Op{
	{
		Name: "system_part_set", Fold: setPart, About: "set the first part of that name, or add it at the end",
		Cached: true,
		Fields: []Field{{Name: "partName", Type: Text, Required: true},
			{Name: "text", Type: Text, About: "empty if null or absent"}},
		Example: `{"op":"system_part_set","scope":"cached","partName":"policy","text":"Never output secrets.",` +
			`"invalidateCacheReason":"add policy"}`,
	},
	{
		Name: "system_part_remove", Fold: removePart, About: "remove all parts of that name", Cached: true,
		Fields: []Field{{Name: "partName", Type: Text, Required: true}},
		Example: `{"op":"system_part_remove","scope":"cached","partName":"policy",` +
			`"invalidateCacheReason":"drop policy"}`,
	},
	{
		Name: "system_parts_replace", Fold: replaceParts, About: "replace all parts", Cached: true,
		Fields: []Field{{Name: "parts", Type: List, Required: true, Of: []Field{
			{Name: "name", Type: Text, Required: true}, {Name: "text", Type: Text, About: "empty if null or absent"},
		}}},
		Example: `{"op":"system_parts_replace","scope":"cached","parts":[{"name":"base",` +
			`"text":"You are brief."}],"invalidateCacheReason":"new prompt"}`,
	},
	{
		Name: "tools_replace", Fold: replaceTools, About: "replace all tool definitions", Cached: true,
		Fields: []Field{{Name: "tools", Type: List, Required: true, Of: []Field{
			{Name: "name", Type: Text, Required: true}, {Name: "description"},
			{Name: "parameters", About: "a JSON Schema"},
		}}},
		Example: `{"op":"tools_replace","scope":"cached","tools":[{"name":"read","description":"Read a file",` +
			`"parameters":{"type":"object"}}],"invalidateCacheReason":"new schema"}`,
	},
	{
		Name: "tools_remove", Fold: removeTools, About: "remove the tools of those names", Cached: true,
		Fields:  []Field{{Name: "toolNames", Type: Names, Required: true}},
		Example: `{"op":"tools_remove","scope":"cached","toolNames":["bash"],"invalidateCacheReason":"read only"}`,
	},
	{
		Name: Replace, About: "replace all cached messages", Cached: true,
		Fields: []Field{{Name: "messages", Type: Messages, Required: true, About: "as a provider gets them"}},
		Example: `{"op":"messages_cached_replace","scope":"cached","messages":[{"role":"user",` +
			`"content":"Go on."}],"invalidateCacheReason":"old output"}`,
	},
	{
		Name: Append, About: "add messages after all cached ones; needs no reason",
		Fields: []Field{{Name: "messages", Type: Messages, Required: true, About: "as a provider gets them"}},
		Example: `{"op":"messages_uncached_append","scope":"uncached","messages":[{"role":"user",` +
			`"content":"On branch main."}]}`,
	},
	{
		Name: "options_set", Fold: setOptions, About: "set the options that are not null; none can be cleared",
		Cached: true,
		Fields: []Field{{Name: "reasoning", Type: Text}, {Name: "temperature", Type: Number},
			{Name: "maxTokens", Type: Number}},
		Example: `{"op":"options_set","scope":"cached","reasoning":"low","invalidateCacheReason":"easy work"}`,
	},
	{
		Name: Compaction, About: "put a summary in place of the cached messages before an index", Cached: true,
		Fields: []Field{
			{Name: "summary", Type: Text, Required: true},
			{Name: "firstKeptMessageIndex", Type: Number, About: "counts the cached messages from 0"},
			{Name: "timestamp", About: "of the summary, in milliseconds since 1970"},
			{Name: "tokensBefore", About: "tokens of the context before"},
		},
		Example: `{"op":"compaction_apply","scope":"cached","summary":"The build was fixed.",` +
			`"firstKeptMessageIndex":12,"timestamp":1793696405000,"tokensBefore":90000,` +
			`"invalidateCacheReason":"window full"}`,
	},
}

// Find returns the operation with that name, nil if there is none.
func Find(name jsonl.Value) *Op {
	for i := range All {
		if name.Is(All[i].Name) {
			return &All[i]
		}
	}
	return nil
}

// Compacts returns the operation of a transform that compacts, the last one if there are several.
func Compacts(line jsonl.Value) (op jsonl.Value, ok bool) {
	for v := range line.Get("patch").Elements {
		if v.Get("op").Is(Compaction) {
			op, ok = v, true
		}
	}
	return op, ok
}

// Scope returns the scope that the operation has.
func (o *Op) Scope() string {
	if o.Cached {
		return "cached"
	}
	return "uncached"
}

// A Fault is what is wrong with a patch.
type Fault struct {
	Code string // of the finding: see ctxtool check --explain
	Op   int    // the operation's number, -1 for the patch itself
	Text string // says which operation
	// Lenient reports whether the reference code applies the patch anyway.
	Lenient bool
}

// Schema returns the fault of a patch's schemaVersion, nil if it is 1.
func Schema(version jsonl.Value) *Fault {
	if f, ok := version.Float(); ok && f == 1 {
		return nil
	}
	return &Fault{"patch-schema", -1, "schemaVersion must be 1, not " + OrMissing(version), true}
}

// NotArray is the fault of a patch that is not an array.
var NotArray = Fault{Code: "patch-shape", Op: -1, Text: "the patch must be an array"}

// Check returns the first fault of operation k of a patch, nil if it can be applied. An unknown
// operation is one that the reference code ignores.
func Check(k int, v jsonl.Value) *Fault {
	name := v.Get("op")
	o := Find(name)
	if o == nil {
		return &Fault{"patch-op", k, fmt.Sprintf("op %d (%s): unknown op", k, OrMissing(name)), true}
	}
	if o.Cached && jsonl.TrimJS(v.Get("invalidateCacheReason").Text()) == "" {
		return o.fault("patch-reason", k, "invalidateCacheReason is required")
	}
	if err := check(o.Fields, v); err != nil {
		return o.fault("patch-shape", k, err.Error())
	}
	return nil
}

// Scope returns the fault of the scope of operation k in a patch that a session stores, nil if
// it is right. The scope is not used when a patch is applied, but a stored patch may only hold
// cached operations.
func Scope(k int, v jsonl.Value) *Fault {
	o := Find(v.Get("op"))
	switch scope := v.Get("scope"); {
	case o == nil:
		return nil
	case !o.Cached:
		return o.fault("patch-scope", k, "an uncached op in a persisted transform applies to every later request")
	case !scope.Is("cached"):
		return o.fault("patch-scope", k, `scope must be "cached", not `+OrMissing(scope))
	}
	return nil
}

func (o *Op) fault(code string, k int, text string) *Fault {
	return &Fault{Code: code, Op: k, Text: fmt.Sprintf("op %d (%s): %s", k, o.Name, text)}
}

// OrMissing returns a value for a message.
func OrMissing(v jsonl.Value) string {
	if !v.Exists() {
		return "missing"
	}
	return sessionfmt.Quote(string(v))
}

// check validates the fields of an object.
func check(fields []Field, v jsonl.Value) error {
	for _, f := range fields {
		if err := f.check(v.Get(f.Name)); err != nil {
			return err
		}
	}
	return nil
}

var errNoMessage = errors.New("must be a message")

func (f *Field) check(v jsonl.Value) error {
	if !f.Required && v.IsNull() {
		return nil
	}
	switch f.Type {
	case Text:
		if !v.IsString() {
			return fmt.Errorf("%s must be a string", f.Name)
		}
	case Number:
		if !v.IsNumber() {
			return fmt.Errorf("%s must be a number", f.Name)
		}
	case Names, Messages, List:
		return f.checkArray(v)
	}
	return nil
}

func (f *Field) checkArray(v jsonl.Value) error {
	if !v.IsArray() {
		return fmt.Errorf("%s must be an array", f.Name)
	}
	k := 0
	for el := range v.Elements {
		err := check(f.Of, el)
		if f.Type == Messages && !el.IsObject() {
			err = errNoMessage
		}
		if err != nil {
			return fmt.Errorf("%s %d: %w", f.Name, k, err)
		}
		k++
	}
	return nil
}

// setOptions sets the given options. Null keeps the old jsonl.Value, so an option cannot be cleared.
func setOptions(f *prompt.Fold, v jsonl.Value, _ origin.Origin) {
	set := func(to *jsonl.Value, name string) {
		if got := v.Get(name); !got.IsNull() {
			*to = bytes.Clone(got)
		}
	}
	set(&f.Options.Reasoning, "reasoning")
	set(&f.Options.Temperature, "temperature")
	set(&f.Options.MaxTokens, "maxTokens")
}

func setPart(f *prompt.Fold, v jsonl.Value, by origin.Origin) {
	f.SetPart(v.Get("partName").Exact(), v.Get("text").Exact(), by)
}

func removePart(f *prompt.Fold, v jsonl.Value, _ origin.Origin) {
	f.RemoveParts(v.Get("partName").Exact())
}

func replaceParts(f *prompt.Fold, v jsonl.Value, by origin.Origin) {
	f.ReplaceParts()
	for p := range v.Get("parts").Elements {
		f.AddPart(p.Get("name").Exact(), p.Get("text").Exact(), by)
	}
}

func replaceTools(f *prompt.Fold, v jsonl.Value, by origin.Origin) {
	f.ReplaceTools()
	for t := range v.Get("tools").Elements {
		f.AddTool(prompt.NewTool(bytes.Clone(t), by))
	}
}

func removeTools(f *prompt.Fold, v jsonl.Value, _ origin.Origin) {
	for name := range v.Get("toolNames").Elements {
		if name.IsString() {
			f.RemoveTools(name.Text())
		}
	}
}
