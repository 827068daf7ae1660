package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A tool is a command that a client may call.
type tool struct {
	name, command, about string
	fields               []field
	required             []string
	verbatim             bool                     // the answer is text, not Markdown
	args                 func(in *input) []string // of the command; errors are in the input
}

// A field is an argument of a tool. Its type is string, integer or boolean.
type field struct{ name, typ, about string }

var (
	sessionField = field{"session", "string", "a session: its id or the beginning of that, or a file below the folder of sessions; the newest if absent"}
	pointField   = field{"point", "string", "leaf, root, request:N, turn:N, the beginning of an entry id, or a label; leaf if absent"}
)

// tools are the tools, in the order in which they are listed.
var tools = []tool{
	{
		"search_context", "search", "Search past shell commands, agent sessions, or logs.", []field{
			{"source", "string", "shell_history, sessions or logs"},
			{"query", "string", "text to find, ignoring case"},
			{"cwd", "string", "only where the folder begins with this"},
			{"exit_code", "integer", "only commands with this exit status; -1 for all failures"},
			{"event_type", "string", "logs: bash_exec, tool_call, prompt or error"},
			{"last_n", "integer", "most results (default 20, at most 50)"},
		}, []string{"source"}, false, searchArgs,
	},
	{
		"get_context", "replay", "Show the complete context of the model at a point of a session: system prompt, tools and messages.", []field{sessionField, pointField}, nil, true,
		func(in *input) []string {
			return []string{"-f", "full", "--at=" + in.text("point", "leaf"), "--", in.session()}
		},
	},
	{
		"show", "show", "Show an entry of a session and its effect on the context.", []field{sessionField, pointField}, nil, true,
		func(in *input) []string { return []string{"--", in.session(), in.text("point", "leaf")} },
	},
	{
		"diff", "diff", "Show how the context of a session changed between two points, as Markdown.", []field{
			sessionField, {"from", "string", "a point, such as request:3"}, {"to", "string", "a point; leaf if absent"},
		}, []string{"from"}, false,
		func(in *input) []string {
			return []string{"-f", "markdown", "--", in.session(), in.text("from", ""), in.text("to", "leaf")}
		},
	},
	{
		"trace", "trace", "Follow a text through a session: where it entered the context, which requests had it, and what removed it.", []field{
			sessionField, {"text", "string", "the text, such as the name of a file"},
		}, []string{"text"}, true,
		func(in *input) []string { return []string{"--fixed=" + in.text("text", ""), "--", in.session()} },
	},
	{
		"cost", "stats", "Show what the calls of a session cost, by model and purpose, as Markdown.", []field{sessionField}, nil, false,
		func(in *input) []string { return []string{"--lens", "cost", "-f", "markdown", "--", in.session()} },
	},
	{
		"list_sessions", "ls", "List sessions with title, model, context use and cost, the newest first.", []field{
			{"project", "string", "only sessions whose folder name contains this"},
			{"since", "string", "only since a time: yesterday, 7d, 2026-01-31"},
			{"limit", "integer", "most sessions (default 20)"},
		}, nil, true,
		func(in *input) []string {
			return slices.Concat([]string{"--limit", strconv.Itoa(max(1, in.number("limit", 20)))}, in.flag("--project", "project"), in.flag("--since", "since"))
		},
	},
}

// The limits of gsh's tool.
const (
	usualResults = 20
	mostResults  = 50
)

// searchArgs are those of gsh's tool search_context (docs/policies.md).
func searchArgs(in *input) []string {
	source := in.text("source", "")
	if !slices.Contains([]string{"shell_history", "sessions", "logs"}, source) {
		in.fail("Invalid source '" + source + "'. Must be one of: shell_history, sessions, logs")
	}
	n := usualResults
	if v, ok := in.values["last_n"].(json.Number); ok {
		if k, err := strconv.ParseUint(v.String(), 10, 31); err == nil {
			n = max(1, min(int(k), mostResults))
		}
	}
	args := slices.Concat([]string{"-f", "markdown", "--source", source, "--limit", strconv.Itoa(n)}, in.flag("--cwd", "cwd"), in.flag("--event", "event_type"))
	if _, ok := in.values["exit_code"].(json.Number); ok {
		args = append(args, "--exit-code="+strconv.Itoa(in.number("exit_code", 0)))
	}
	if query := in.text("query", ""); query != "" {
		return append(args, "-i", "--fixed="+query)
	}
	return append(args, "--", "")
}

// An input is the arguments of a call.
type input struct {
	values map[string]any
	locate func(session string) (string, error)
	err    error // the first one
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
		if !slices.ContainsFunc(t.all(), func(f field) bool { return f.name == name }) {
			var known []string
			for _, f := range t.all() {
				known = append(known, f.name)
			}
			return nil, fmt.Errorf("unknown argument %q: expected one of %s", name, strings.Join(known, ", "))
		}
	}
	for _, name := range t.required {
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

// text returns a text, or what stands for one that is absent.
func (in *input) text(name, absent string) string {
	switch v := in.values[name].(type) {
	case nil:
		return absent
	case string:
		if v == "" {
			return absent
		}
		return v
	}
	in.fail(name + ": must be a string")
	return ""
}

// number returns a whole number.
func (in *input) number(name string, absent int) int {
	if v := in.values[name]; v != nil {
		n, ok := v.(json.Number)
		if k, err := strconv.Atoi(n.String()); ok && err == nil {
			return k
		}
		in.fail(name + ": must be a whole number")
	}
	return absent
}

// flag returns a flag with the value of an argument, nothing if that is absent.
func (in *input) flag(flag, name string) []string {
	if v := in.text(name, ""); v != "" {
		return []string{flag + "=" + v}
	}
	return nil
}

// session returns the file of the session.
func (in *input) session() string {
	name, err := in.locate(in.text("session", ""))
	if err != nil {
		in.fail(err.Error())
	}
	return name
}

// tokens returns the budget of the answer.
func (in *input) tokens(usual int64) int64 {
	if n := in.number("max_tokens", 0); n > 0 {
		return int64(n)
	}
	return usual
}

// budgetField is an argument of every tool.
var budgetField = field{"max_tokens", "integer", "the size of the answer, in tokens"}

func (t *tool) all() []field { return append(slices.Clip(t.fields), budgetField) }

// schema returns the JSON schema of the arguments.
func (t *tool) schema() json.RawMessage {
	type property struct {
		Type  string `json:"type"`
		About string `json:"description"`
	}
	s := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required,omitempty"`
	}{"object", map[string]property{}, t.required}
	for _, f := range t.all() {
		s.Properties[f.name] = property{f.typ, f.about}
	}
	out, _ := json.Marshal(s) // of strings
	return out
}
