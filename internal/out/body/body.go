// Package body writes a request as the interface of a provider takes it: the JSON that pi sends for
// the context of an envelope. docs/formats.md lists what differs.
package body

import (
	"bufio"
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Form is the interface of a provider.
type Form struct {
	Name  string // of the form; a dialect names its agent's interface by it
	About string // one line for help

	api  string // the interface in pi's sessions
	kin  string // another one that takes the same items
	list string // the field of the messages
	lead bool   // the system prompt is the first of them
	// head is all of a request but its messages, which items are.
	head  func(r *request) object
	items func(r *request) iter.Seq2[any, error]
	// placement reports whether later system messages stand in place, and where tools do.
	placement func(r *request) (inPlace bool, tools placement)
	// callID returns the id of a call in an answer of another model, as the interface takes it. foreign
	// reports that it came from another provider, or by another interface.
	callID func(r *request, id string, foreign bool) string
}

// Forms are the interfaces.
var Forms = []*Form{&anthropic, &chat, &responses, &google}

// An object is a JSON object.
type object = map[string]any

// Write writes the request of an envelope. Two messages are in memory at most.
func (f *Form) Write(w *bufio.Writer, e *replay.Envelope) error {
	r, err := newRequest(f, e)
	if err != nil {
		return err
	}
	if recorded, err := e.Proved(); err != nil {
		return err
	} else if r.own && recorded != nil {
		return writeRecorded(w, f, recorded)
	}
	if r.model.ID == "" {
		return r.refuse("no model at this point", "name one with --model PROVIDER/ID")
	}
	if err := r.measure(); err != nil {
		return err
	}
	items, opening := f.items(r), r.opening()
	if r.own {
		if items, err = native(e); err != nil {
			return err
		}
		if tells(r.prompt.Compiled, items) {
			opening = nil
		}
	}
	if f == &anthropic {
		items = r.marked(items)
		if !r.own {
			items = r.leveled(items)
		}
	}
	head, err := JSON(f.head(r))
	if err != nil {
		return err
	}
	if f.lead {
		items = after(opening, items)
	}
	before := append(bytes.TrimSuffix(head, []byte("}")), `,"`+f.list+"\":[\n"...)
	for item, err := range items {
		if err != nil {
			return err
		}
		b, err := JSON(item)
		if err != nil {
			return err
		}
		w.Write(before)
		w.Write(b)
		before = []byte(",\n")
	}
	if len(before) > len(",\n") {
		return r.refuse("no message at this point: a request needs one", "@request:N is the request before an answer")
	}
	_, err = w.WriteString("\n]}\n")
	return err
}

// writeRecorded writes the body of a request as its agent recorded it.
func writeRecorded(w *bufio.Writer, f *Form, r *dialect.Recorded) error {
	var head []jsonl.Field
	for _, field := range r.Head {
		head = append(head, jsonl.Field{Name: field.Name, Value: r.Marked(field)})
	}
	before := append(bytes.TrimSuffix(jsonl.AppendObject(nil, head...), []byte("}")), `,"`+f.list+"\":[\n"...)
	k := 0
	for t, err := range r.Turns(0) {
		if err != nil {
			return err
		}
		w.Write(before)
		w.Write(r.MarkedTurn(k, t.AppendJSON(nil)))
		before = []byte(",\n")
		k++
	}
	_, err := w.WriteString("\n]}\n")
	return err
}

// Chat returns the messages of an envelope as Chat Completions has them, with the system prompt first,
// and its tools.
func Chat(e *replay.Envelope) (messages iter.Seq2[any, error], tools any, err error) {
	r, err := newRequest(&chat, e)
	if err != nil {
		return nil, nil, err
	}
	messages = chatItems(r)
	if text := clean(r.prompt.Compiled); text != "" {
		messages = after([]any{object{"role": "system", "content": text}}, messages)
	}
	return messages, chatHead(r)["tools"], nil
}

// ChatAnswer returns an answer as Chat Completions has it, with its thinking; nil if it is empty.
func ChatAnswer(m *jsonl.Message) map[string]any {
	out := chatAnswer(&message{Message: m}, false)
	var thinking []string
	for _, b := range m.Blocks {
		if b.Kind == jsonl.ThinkingBlock && !blank(b.Text) {
			thinking = append(thinking, textOf(b))
		}
	}
	if out != nil && thinking != nil {
		out["reasoning_content"] = strings.Join(thinking, "\n\n")
	}
	return out
}

// tells reports whether the system prompt is one of the agent's items before what the user says.
func tells(prompt string, items iter.Seq2[any, error]) bool {
	for item := range items {
		v, _ := item.(json.RawMessage)
		if jsonl.Value(v).Get("role").Is("user") {
			break
		}
		for part := range jsonl.Value(v).Get("content").Elements {
			if part.Get("text").Is(prompt) {
				return true
			}
		}
	}
	return false
}

// after yields items before others.
func after(first []any, items iter.Seq2[any, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for _, item := range first {
			if !yield(item, nil) {
				return
			}
		}
		items(yield)
	}
}

// JSON returns a value as JSON. No HTML is escaped.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// native returns the messages as the session's own agent sends them.
func native(e *replay.Envelope) (iter.Seq2[any, error], error) {
	items, err := e.Items()
	return func(yield func(any, error) bool) {
		for item, err := range items {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(json.RawMessage(item), nil) {
				return
			}
		}
	}, err
}
