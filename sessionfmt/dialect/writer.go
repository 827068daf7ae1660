package dialect

import (
	"slices"
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A Writer appends the JSON of an entry.
type Writer struct {
	Out    []byte
	Native bool           // see Entry
	Said   *jsonl.Message // receives the message that is written, if not nil; see Entry
	Size   int            // of the JSON of Said, bytes

	begin int // of the message
	at    jsonl.Cursor
}

// Raw appends a text as it is.
func (w *Writer) Raw(s string) { w.Out = append(w.Out, s...) }

// Member appends a member of an object after before, if the value exists.
func (w *Writer) Member(before, name string, v jsonl.Value) {
	if v.Exists() {
		w.name(before, name)
		w.Value(v)
	}
}

// Value appends a value on one line.
func (w *Writer) Value(v jsonl.Value) {
	if v.IsString() { // has no newline
		w.Out = append(w.Out, v...)
	} else {
		w.Out = v.AppendOneLine(w.Out)
	}
}

// Text appends a member that is a string.
func (w *Writer) Text(before, name, text string) {
	w.name(before, name)
	w.Out = jsonl.AppendQuoted(w.Out, text)
}

// Number appends a number after before.
func (w *Writer) Number(before string, n int64) {
	w.Out = strconv.AppendInt(append(w.Out, before...), n, 10)
}

// Block appends a block of a content with one string.
func (w *Writer) Block(typ, name string, text jsonl.Value) {
	w.Raw(`{"type":"` + typ + `"`)
	w.Member(",", name, text)
	w.Raw("}")
}

// Begin begins a message of a kind.
func (w *Writer) Begin(kind jsonl.Kind) {
	w.begin = len(w.Out)
	if w.Said != nil {
		*w.Said = jsonl.Message{Kind: kind, Blocks: w.Said.Blocks[:0]}
	}
	w.Text("{", "role", kind.Role())
}

// Set appends a field of the message, if the value exists.
func (w *Writer) Set(name string, v jsonl.Value) {
	w.Member(",", name, v)
	if w.Said != nil && v.Exists() {
		if field := w.Said.Field([]byte(name)); field != nil {
			*field = v
		}
	}
}

// Content appends the content of the message.
func (w *Writer) Content(blocks []jsonl.Block) {
	size := 0
	for i := range blocks {
		b := &blocks[i]
		size += len(b.Raw) + len(b.Text.Value) + len(b.Args) + len(b.Data)
	}
	w.Out = slices.Grow(w.Out, size+1<<10) // so that what is said stays where it is
	w.Raw(`,"content":`)
	start := len(w.Out)
	w.Raw("[")
	for i := range blocks {
		if i > 0 {
			w.Raw(",")
		}
		w.block(&blocks[i])
	}
	w.Raw("]")
	if w.Said != nil {
		w.Said.Content = w.Out[start:]
	}
}

// block appends a block.
func (w *Writer) block(b *jsonl.Block) {
	start, args := len(w.Out), b.Args
	switch b.Kind {
	case jsonl.TextBlock:
		w.Block("text", "text", b.Text.Value)
	case jsonl.ThinkingBlock:
		w.Block("thinking", "thinking", b.Text.Value)
	case jsonl.CallBlock:
		w.Raw(`{"type":"toolCall"`)
		w.Member(",", "id", b.ID)
		w.Member(",", "name", b.Name)
		if args.Exists() {
			w.name(",", "arguments")
			at := len(w.Out)
			w.Value(args)
			args = w.Out[at:]
		}
		w.Raw("}")
	case jsonl.ImageBlock:
		w.Raw(`{"type":"image"`)
		w.Member(",", "data", b.Data)
		w.Member(",", "mimeType", b.Mime)
		w.Raw("}")
	default:
		w.Value(b.Raw)
	}
	if w.Said == nil {
		return
	}
	raw := jsonl.Value(w.Out[start:])
	if b.Kind == jsonl.TextBlock || w.Said.Kind == jsonl.Assistant && (b.Kind == jsonl.ThinkingBlock || b.Kind == jsonl.CallBlock) {
		w.Said.Blocks = append(w.Said.Blocks, jsonl.Block{Kind: b.Kind, Raw: raw, Text: b.Text, ID: b.ID, Name: b.Name, Args: args})
	} else {
		w.Said.ReadBlock(w.at.Reset(raw)) // not of such a message, or of any kind
	}
}

// End ends the message.
func (w *Writer) End() {
	if w.Raw("}"); w.Said != nil {
		w.Size = len(w.Out) - w.begin
	}
}

// Place appends id, parentId and timestamp, with which the entries of all kinds begin.
func (w *Writer) Place(e *Old, timestamp jsonl.Value) {
	w.name(",", "id")
	w.Out = jsonl.AppendQuoted(w.Out, e.ID)
	if e.Kind == jsonl.Header {
		w.Raw(`,"version":3`)
	} else if len(e.Parent) == 0 {
		w.Raw(`,"parentId":null`)
	} else {
		w.name(",", "parentId")
		w.Out = jsonl.AppendQuoted(w.Out, e.Parent)
	}
	w.Member(",", "timestamp", timestamp)
}

func (w *Writer) name(before, name string) {
	w.Out = append(append(append(append(w.Out, before...), '"'), name...), `":`...)
}
