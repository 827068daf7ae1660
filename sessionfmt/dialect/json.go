package dialect

import (
	"fmt"

	"ctxtool/sessionfmt/jsonl"
)

// A JSON writes entries as pi spells them.
type JSON struct {
	out  []byte
	said *jsonl.Message
	size int
	at   jsonl.Cursor
}

// Append appends an entry of a source. If said is not nil, it is set to the message of the entry, as if read
// from its JSON; size is the length of that, 0 if there is none.
func (w *JSON) Append(dst []byte, s *Source, e *Entry, said *jsonl.Message) (out []byte, size int) {
	w.said, w.size = said, 0
	w.out = append(dst, `{"type":`...)
	if e.Type.Exists() {
		w.out = append(w.out, e.Type...)
	} else {
		w.out = jsonl.AppendQuoted(w.out, s.Kind.Type())
	}
	w.out = jsonl.AppendQuoted(append(w.out, `,"id":`...), s.ID)
	switch {
	case s.Kind == jsonl.Header:
		w.raw(`,"version":3`)
	case len(s.Parent) == 0:
		w.raw(`,"parentId":null`)
	default:
		w.out = jsonl.AppendQuoted(append(w.out, `,"parentId":`...), s.Parent)
	}
	w.next("timestamp", e.Time)
	for _, f := range e.Members {
		w.next(f.Name, f.Value)
	}
	if !s.Kind.IsMessage() {
		w.said = nil
	}
	switch {
	case s.Kind == jsonl.Transform && e.Transformer != "":
		w.patch(e)
	case len(e.Messages) == 0:
	case s.Kind == jsonl.ContextEdit:
		w.raw(`,"replacement":`)
		w.message(&e.Messages[0], nil)
		w.next("native", e.Messages[0].Native)
	default:
		w.raw(`,"message":`)
		w.message(&e.Messages[0], e.Messages[0].Native)
	}
	out, w.out = append(w.out, '}'), nil
	return out, w.size
}

// Message is Append for the message alone.
func (w *JSON) Message(dst []byte, m *Message, said *jsonl.Message) (out []byte, size int) {
	w.said, w.size, w.out = said, 0, dst
	w.message(m, nil)
	out, w.out = w.out, nil
	return out, w.size
}

func (w *JSON) raw(s string) { w.out = append(w.out, s...) }

// value appends a value on one line.
func (w *JSON) value(v jsonl.Value) {
	if v.IsString() { // without a newline
		w.out = append(w.out, v...)
	} else {
		w.out = v.AppendOneLine(w.out)
	}
}

// member appends a field.
func (w *JSON) member(name string, v jsonl.Value) {
	w.out = append(append(append(w.out, '"'), name...), `":`...)
	w.value(v)
}

// next appends a field after others, if the value exists.
func (w *JSON) next(name string, v jsonl.Value) {
	if v.Exists() {
		w.out = append(w.out, ',')
		w.member(name, v)
	}
}

// patch appends a single op, which replaces all messages except kept prompts.
func (w *JSON) patch(e *Entry) {
	w.raw(`,"transformerName":"` + e.Transformer + `","schemaVersion":1,"patch":[{"op":"messages_cached_replace",`)
	w.raw(`"scope":"cached","invalidateCacheReason":"` + e.Reason + `",`)
	if k := e.of.Kept; k.Count() > 0 {
		w.out = fmt.Appendf(w.out, `"keptPrompts":{"from":%d,"to":%d,"after":%d},`, k.From, k.To, k.Before())
	}
	w.raw(`"messages":[`)
	for k := range e.Messages {
		if k > 0 {
			w.raw(",")
		}
		w.message(&e.Messages[k], e.Messages[k].Native)
	}
	w.raw("]}]")
}

// message appends a message, with its native form.
func (w *JSON) message(m *Message, native jsonl.Value) {
	start := len(w.out)
	sep := ""
	w.raw("{")
	if role := m.Kind.Role(); role != "" {
		w.raw(`"role":"` + role + `"`)
		sep = ","
	}
	for _, f := range m.members {
		w.raw(sep)
		if f.Name != "content" {
			w.member(f.Name, f.Value)
		} else {
			w.raw(`"content":`)
			w.content(m)
		}
		sep = ","
	}
	w.next("native", native)
	if w.raw("}"); w.said != nil {
		w.size = len(w.out) - start
	}
}

func (w *JSON) content(m *Message) {
	start := len(w.out)
	if w.said != nil {
		blocks := w.said.Blocks[:0]
		*w.said = m.Message
		w.said.Blocks = blocks
	}
	if m.Kind == jsonl.System && len(m.Blocks) == 1 {
		w.value(m.Blocks[0].Text.Value)
	} else {
		w.raw("[")
		for k := range m.Blocks {
			if k > 0 {
				w.raw(",")
			}
			w.block(&m.Blocks[k])
		}
		w.raw("]")
	}
	if w.said != nil {
		w.said.Content = w.out[start:len(w.out):len(w.out)]
	}
}

// block appends a block.
func (w *JSON) block(b *jsonl.Block) {
	start, args := len(w.out), b.Args
	switch b.Kind {
	case jsonl.TextBlock:
		w.raw(`{"type":"text"`)
		w.next("text", b.Text.Value)
	case jsonl.ThinkingBlock:
		w.raw(`{"type":"thinking"`)
		w.next("thinking", b.Text.Value)
		w.next("thinkingSignature", b.Data)
	case jsonl.CallBlock:
		w.raw(`{"type":"toolCall"`)
		w.next("id", b.ID)
		w.next("name", b.Name)
		at := len(w.out) + len(`,"arguments":`)
		if w.next("arguments", args); args.Exists() {
			args = w.out[at:len(w.out):len(w.out)]
		}
	case jsonl.ImageBlock:
		w.raw(`{"type":"image"`)
		w.next("data", b.Data)
		w.next("mimeType", b.Mime)
	default:
		w.value(b.Raw)
	}
	if b.Kind != jsonl.OtherBlock {
		w.raw("}")
	}
	if w.said == nil {
		return
	}
	raw, answer := jsonl.Value(w.out[start:len(w.out):len(w.out)]), w.said.Kind == jsonl.Assistant
	switch {
	case b.Kind == jsonl.TextBlock, answer && (b.Kind == jsonl.ThinkingBlock || b.Kind == jsonl.CallBlock):
		said := jsonl.Block{Kind: b.Kind, Raw: raw, Text: b.Text, ID: b.ID, Name: b.Name, Args: args}
		w.said.Blocks = append(w.said.Blocks, said)
	default: // not valid in this message, or of an unknown kind
		w.said.ReadBlock(w.at.Reset(raw))
	}
}
