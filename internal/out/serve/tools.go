package serve

import (
	"bytes"
	_ "embed" // of the tools
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed tools.toml
var toolFile []byte

// A tool is a command that a client may call.
type tool struct {
	Name, Command, About string
	Fields, Required     []string // names of arguments
	Args                 []string // of the command; see input.args
	Verbatim             bool     // the answer is text, not Markdown
}

// A field is an argument of tools, of the type string or integer.
type field struct {
	Type    string   `json:"type"`
	About   string   `json:"description"`
	Enum    []string `json:"enum,omitempty"`    // the values that it may have; nil for any
	Default string   `json:"default,omitempty"` // the value of an absent one, a string
}

// toolTable has the tools, in the order in which they are listed, and their arguments by name.
var toolTable = sync.OnceValue(func() (all struct {
	Tools  []tool
	Fields map[string]field
}) {
	if err := toml.Unmarshal(toolFile, &all); err != nil {
		panic(err) // it is in the binary
	}
	for k := range all.Tools {
		all.Tools[k].Fields = append(all.Tools[k].Fields, "max_tokens")
	}
	return all
})

// schema returns the JSON schema of the arguments.
func (t *tool) schema() json.RawMessage {
	properties := map[string]field{}
	for _, name := range t.Fields {
		properties[name] = toolTable().Fields[name]
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if t.Required != nil {
		schema["required"] = t.Required
	}
	out, _ := json.Marshal(schema) // of strings
	return out
}

// An input is the arguments of a call.
type input struct {
	values map[string]any
	locate func(session string) (string, error)
	newest string // the file that stands in for an absent session
	err    error  // the first one
}

// newInput reads the arguments of a call.
func newInput(t *tool, arguments json.RawMessage) (*input, error) {
	in := &input{values: map[string]any{}}
	if len(bytes.TrimSpace(arguments)) > 0 {
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.UseNumber()
		if err := d.Decode(&in.values); err != nil {
			return nil, errors.New("the arguments must be a JSON object")
		}
	}
	for name := range in.values {
		if !slices.Contains(t.Fields, name) {
			return nil, fmt.Errorf("unknown argument %q: expected one of %s", name, strings.Join(t.Fields, ", "))
		}
	}
	for _, name := range t.Required {
		if v := in.values[name]; v == nil || v == "" {
			return nil, errors.New("Missing '" + name + "' parameter") // as gsh says it
		}
	}
	return in, nil
}

func (in *input) fail(text string) {
	if in.err == nil {
		in.err = errors.New(text)
	}
}

// value returns an argument as a word, that of its default if it is absent. A session is its file, the
// newest if it is absent.
func (in *input) value(name string) (word string) {
	f := toolTable().Fields[name]
	want, is := f.Type, "another"
	switch v := in.values[name].(type) {
	case nil:
		is = want
	case string:
		word, is = v, "string"
	case json.Number:
		if word = v.String(); isWhole(word) {
			is = "integer"
		}
	}
	switch {
	case is != want:
		in.fail(name + ": must be a " + strings.Replace(want, "integer", "whole number", 1))
	case word == "":
		word = f.Default
	case f.Enum != nil && !slices.Contains(f.Enum, word):
		in.fail("Invalid " + name + " '" + word + "'. Must be one of: " + strings.Join(f.Enum, ", ")) // as gsh says it
	}
	if name == "session" && in.err == nil {
		file, err := in.locate(word)
		if err != nil {
			in.fail(err.Error())
		}
		if word == "" {
			in.newest = file
		}
		word = file
	}
	return word
}

// isWhole reports whether JSON is a whole number of those that all programs have exactly.
func isWhole(number string) bool {
	_, err := strconv.ParseInt(number, 10, 54)
	return err == nil
}

// args returns the arguments of the command.
func (in *input) args(t *tool) (args []string) {
	if t.Command == "search" {
		in.asGSH()
	}
	for _, arg := range t.Args {
		before, name, some := strings.Cut(strings.TrimSuffix(arg, "}"), "{")
		name, word, _ := strings.Cut(name, "=")
		if v := in.value(name); some && v != "" {
			word = v
		}
		if !some {
			args = append(args, arg)
		} else if word != "" {
			args = append(args, before+word)
		}
	}
	if t.Command != "search" {
		return args
	}
	if query := in.value("query"); query != "" {
		return append(args, "-i", "--fixed="+query)
	}
	return append(args, "--", "")
}

// The limits of gsh's tool.
const (
	usualResults = 20
	mostResults  = 50
)

// asGSH reads the arguments of gsh's tool search_context as that does (docs/policies.md), but for the
// source, which gsh requires.
func (in *input) asGSH() {
	n := uint64(usualResults)
	if v, ok := in.values["last_n"].(json.Number); ok {
		if k, err := strconv.ParseUint(v.String(), 10, 31); err == nil {
			n = max(1, min(k, mostResults))
		}
	}
	in.values["last_n"] = json.Number(strconv.FormatUint(n, 10))
	if _, ok := in.values["exit_code"].(json.Number); !ok {
		delete(in.values, "exit_code")
	}
}

// tokens returns the budget of the answer.
func (in *input) tokens(usual int64) int64 {
	if n, err := strconv.ParseInt(in.value("max_tokens"), 10, 64); err == nil && n > 0 {
		return n
	}
	return usual
}
