// Package hook tries context hooks on recorded sessions: it reads what a hook returns, judges it
// by the rules of the boundary at which the hook runs, and computes what it changes, in the
// context and in the bill. It runs the command of a hook over all requests of a session.
//
// # Courses
//
// The results of a hook are held as transforms in a copy of the session, so that one walk has the
// context before and after, with causes. replay.Options.Trial replays held transforms under pi's rules
// as well. The bill compares two courses of one path, as recorded and with the held entries. Both are
// counted, and a request is scaled to the size that the provider recorded for it, so the difference is
// that of the patch alone. An entry that only one request gets is replayed in a fork of the walk.
//
// Run walks the path once. At each boundary it writes the state to the hook and reads a line. The JSON
// of the cached messages is kept from request to request, and only differences are written again, so
// memory is that of one request. After three answers in a row that took too long, it stops calling the
// hook. What the hook stores is held, and the next entry of the path is placed after it;
// sessionfmt.Session.Weave writes the result.
//
// Entries that pi reads are made from the difference of the two contexts: a system message for parts
// and tools, a thinking level, edits, and messages at the end.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ctxtool/internal/read/ops"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

type value = jsonl.Value

// A Reason is the boundary at which a hook runs.
type Reason string

// Reasons to run a hook.
const (
	BeforeRequest Reason = "before_request" // its patch is stored, and applies from this request on
	TurnEnd       Reason = "turn_end"       // the same, after an answer and its results
	Ephemeral     Reason = "ephemeral"      // its patch applies to one request, and is not stored
)

// Reasons are all reasons, the default first.
var Reasons = []string{string(BeforeRequest), string(TurnEnd), string(Ephemeral)}

// A Result is what a hook returned: a patch with at least one operation.
type Result struct {
	Name    string      // name of the transformer; empty if the hook gave none
	Patch   jsonl.Value // an array, on one line
	Display jsonl.Value // absent, or an object
}

// Read reads the result of a hook: an object with a patch, a list of operations, or lines of either. null, {}
// and blank lines mean no result. name is the file's name, for messages.
func Read(name string, data []byte) (all []Result, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	if v, err := jsonl.ParseValue(bytes.TrimSpace(data)); err == nil {
		r, err := parse(v)
		if err != nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: err, Hint: helps}
		}
		return appendResult(nil, r), nil
	}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		v, err := jsonl.ParseValue(text)
		if err != nil {
			err = fmt.Errorf("not JSON: %w", err)
		}
		var r Result
		if err == nil {
			r, err = parse(v)
		}
		if err != nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: name, Line: line}, Err: err, Hint: helps}
		}
		all = appendResult(all, r)
	}
	return all, nil
}

const helps = "ctxtool help patch-ops has the form of a result"

// appendResult leaves out a result without operations, as the agent does.
func appendResult(all []Result, r Result) []Result {
	for range r.Patch.Elements {
		return append(all, r)
	}
	return all
}

func parse(v value) (r Result, err error) {
	patch, display := v, value(nil)
	switch {
	case v.IsObject():
		var f [4]value
		v.Fields(f[:], "patch", "transformerName", "display", "op")
		if patch, display = f[0], f[2]; f[3].Exists() && !patch.Exists() {
			return r, errors.New("a single op: must be a list of operations, or an object with a patch")
		}
		for name := range v.Members {
			if !f[0].Exists() && !f[1].Exists() && !display.Exists() {
				return r, fmt.Errorf("%s instead of a patch: must be a list of operations, or an object with a patch%s",
					sessionfmt.Quote(string(name)),
					phrase.If(string(name) == "messages", "; the operation messages_cached_replace takes messages"))
			}
		}
		if !f[1].IsNull() && !f[1].IsString() {
			return r, errors.New("transformerName must be a string")
		}
		if !display.IsNull() && !display.IsObject() {
			return r, errors.New("display must be an object")
		}
		r.Name = f[1].Text()
	case !v.IsNull() && !v.IsArray():
		return r, errors.New("must be a list of operations, or an object with a patch")
	}
	if !patch.IsNull() && !patch.IsArray() {
		return r, errors.New(ops.NotArray.Text)
	}
	if !patch.IsNull() {
		r.Patch, err = oneLine(patch)
	}
	if err == nil && !display.IsNull() {
		r.Display, err = oneLine(display)
	}
	return r, err
}

// oneLine returns a value without white space between its parts, and otherwise unchanged.
func oneLine(v value) (value, error) {
	var out bytes.Buffer
	err := json.Compact(&out, jsonl.ReplaceInvalidUTF8(v))
	return out.Bytes(), err
}

// Ops makes a result of operations given as JSON; err names the first that is not JSON.
func Ops(all []string) (r Result, err error) {
	list := value{'['}
	for k, text := range all {
		v, err := jsonl.ParseValue(bytes.TrimSpace([]byte(text)))
		if err != nil {
			return r, fmt.Errorf("op %d: not JSON: %w", k, err)
		}
		list = append(comma(list), v...)
	}
	r.Patch, err = oneLine(append(list, ']'))
	return r, err
}

// Op returns an operation as JSON, with the reason why if it is not empty and the operation
// needs one.
func Op(name, why string, fields ...jsonl.Field) string {
	scope := "cached"
	if o := ops.Find(jsonl.AppendQuoted(nil, name)); o != nil {
		scope = o.Scope()
	}
	out := fmt.Appendf(nil, `{"op":%q,"scope":%q`, name, scope)
	for _, f := range fields {
		out = fmt.Appendf(out, `,%q:%s`, f.Name, f.Value)
	}
	if why != "" && scope == "cached" {
		out = jsonl.AppendQuoted(append(out, `,"invalidateCacheReason":`...), why)
	}
	return string(append(out, '}'))
}

// Append returns the operation that adds messages to a context: uncached for one request, else
// after all cached ones.
func Append(e *replay.Envelope, reason Reason, why string, messages []string) (op string, err error) {
	list := value{'['}
	if reason != Ephemeral {
		if list, err = appendMessages(list, e.CachedMessages()); err != nil {
			return "", err
		}
	}
	for _, m := range messages {
		list = append(comma(list), m...)
	}
	name := "messages_cached_replace"
	if reason == Ephemeral {
		name = "messages_uncached_append"
	}
	return Op(name, why, jsonl.Field{Name: "messages", Value: append(list, ']')}), nil
}

// fields returns the fields of the entry that stores the result.
func (r *Result) fields() []jsonl.Field {
	return []jsonl.Field{
		{Name: "schemaVersion", Value: value("1")},
		{Name: "transformerName", Value: jsonl.AppendQuoted(nil, r.Name)},
		{Name: "patch", Value: r.Patch},
		{Name: "display", Value: r.Display},
	}
}

// Once calls a hook once, with the context at the end of the path to a record, and returns its result. A
// refused operation is an error.
func Once(ctx context.Context, h Hook, name string, r *replay.Replay, leaf int) (all []Result, err error) {
	quiet := *r
	step := quiet.Start().Step() // without an entry
	for step, err = range quiet.Walk(leaf) {
		if err != nil {
			return nil, err
		}
	}
	e := step.Envelope()
	n, err := e.Count(&tokens.Pi)
	if err != nil {
		return nil, err
	}
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	var write Writer
	answer, err := h.Ask(ctx, func(out io.Writer) error { return write.Write(out, BeforeRequest, step, n, size) })
	if err == nil {
		all, err = answered(name, answer)
	}
	if err == nil {
		err = Refused("", Judge(BeforeRequest, all))
	}
	return all, err
}

// answered reads one answer of a hook with that name.
func answered(name string, answer []byte) ([]Result, error) {
	all, err := Read("", answer)
	if at, ok := errors.AsType[*sessionfmt.Error](err); ok {
		err = at.Err
	}
	for k := range all {
		if all[k].Name == "" {
			all[k].Name = name
		}
	}
	return all, err
}
