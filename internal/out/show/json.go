package show

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"iter"

	"ctxtool/internal/lens/entry"
	"ctxtool/internal/out/body"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// writeProvided writes the messages as a provider gets them.
func writeProvided(w *bufio.Writer, r Report) error {
	if err := writeMessages(w, r.Envelope.ProviderMessages()); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// writeNative writes the items of a request as the session's own agent sends them. Those of pi,
// and of an agent whose form is not known, are messages for a provider.
func writeNative(w *bufio.Writer, r Report) error {
	if d := r.Envelope.Replay().Session.Dialect(); d == nil || d.Neutral {
		return writeProvided(w, r)
	}
	items, err := r.Envelope.Items()
	if err != nil {
		return err
	}
	sep, end := "[\n", "[\n]\n"
	for item, err := range items {
		if err != nil {
			return err
		}
		w.WriteString(sep)
		w.Write(item)
		sep, end = ",\n", "\n]\n"
	}
	_, err = w.WriteString(end)
	return err
}

// An object writes a JSON object field by field, so that it need not be in memory.
type object struct {
	w   *bufio.Writer
	sep string // before the next field
}

func (o *object) key(name string) {
	o.w.WriteString(cmp.Or(o.sep, "{"))
	o.sep = ","
	o.w.Write(jsonl.AppendQuoted(nil, name))
	o.w.WriteByte(':')
}

func (o *object) text(name, s string) {
	o.key(name)
	o.w.Write(jsonl.AppendQuoted(nil, s))
}

// reading writes the fields of a dialect.Reading.
func (o *object) reading(r dialect.Reading) {
	o.text("agent", r.Agent)
	if r.Certainty != nil {
		o.value("certainty", r.Certainty)
	}
}

// raw writes a field that is already JSON, and omits one that is absent.
func (o *object) raw(name string, v jsonl.Value) {
	if v.Exists() {
		o.key(name)
		o.w.Write(v)
	}
}

// value writes a field by its JSON tags.
func (o *object) value(name string, v any) {
	o.key(name)
	writeValue(o.w, v)
}

// writeValue is WriteJSON without the end of the line.
func writeValue(w *bufio.Writer, v any) error { return writeWithout(w, v, "\n") }

// writeOpen is writeValue of an object without its last bracket: more fields follow.
func writeOpen(w *bufio.Writer, v any) error { return writeWithout(w, v, "}\n") }

func writeWithout(w *bufio.Writer, v any, end string) error {
	var b bytes.Buffer
	if err := WriteJSON(&b, v); err != nil {
		return err
	}
	_, err := w.Write(bytes.TrimSuffix(b.Bytes(), []byte(end)))
	return err
}

// WriteJSON writes a value as a line of JSON, by its tags: no HTML is escaped.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// writeLines writes values as JSON, a line each.
func writeLines[T any](w *bufio.Writer, all []T) error {
	for _, v := range all {
		if err := WriteJSON(w, v); err != nil {
			return err
		}
	}
	return nil
}

func (o *object) close() {
	if o.sep == "" {
		o.w.WriteByte('{')
	}
	o.w.WriteByte('}')
}

// writeMessages writes messages as an array.
func writeMessages(w *bufio.Writer, messages iter.Seq2[replay.Message, error]) error {
	return writeArray(w, messages, "\n", func(m replay.Message) error {
		_, err := w.Write(m.Raw)
		return err
	})
}

// writeArray writes an array, an element a line, and after the last one what ends its line.
func writeArray[T any](w *bufio.Writer, all iter.Seq2[T, error], end string, write func(T) error) error {
	w.WriteByte('[')
	sep := "\n"
	for one, err := range all {
		if err != nil {
			return err
		}
		w.WriteString(sep)
		if err := write(one); err != nil {
			return err
		}
		sep = ",\n"
	}
	if sep != "\n" {
		w.WriteString(end)
	}
	return w.WriteByte(']')
}

func writeContext(w *bufio.Writer, r Report) error {
	o := object{w: w}
	o.key("messages")
	if err := writeMessages(w, r.Envelope.ContextMessages()); err != nil {
		return err
	}
	level, err := r.Envelope.ThinkingLevel()
	if err != nil {
		return err
	}
	o.raw("thinkingLevel", level)
	provider, id, named, err := r.Envelope.PathModel()
	if err != nil {
		return err
	}
	o.key("model")
	if !named {
		w.WriteString("null")
	} else {
		m := object{w: w}
		m.raw("provider", provider)
		m.raw("modelId", id)
		m.close()
	}
	o.close()
	return w.WriteByte('\n')
}

// A provenance is where each piece of the envelope comes from, parallel to the pieces.
type provenance struct {
	System   []origin.Provenance `json:"system"`
	Tools    []origin.Provenance `json:"tools"`
	Cached   []origin.Provenance `json:"cached"`
	Uncached []origin.Provenance `json:"uncached"`
}

// tap yields messages, and with Provenance appends to to where each comes from.
func (r Report) tap(messages iter.Seq2[replay.Message, error],
	to *[]origin.Provenance) iter.Seq2[replay.Message, error] {
	if !r.Provenance {
		return messages
	}
	return func(yield func(replay.Message, error) bool) {
		for m, err := range messages {
			*to = append(*to, origin.ProvenanceOf(r.Envelope.Replay().Session, m.Origin))
			if !yield(m, err) {
				return
			}
		}
	}
}

// writeEnvelope writes the envelope (docs/formats.md).
func writeEnvelope(w *bufio.Writer, r Report) error {
	e := r.Envelope
	prompt, err := e.Prompt()
	if err != nil {
		return err
	}
	m, err := entry.MetaOf(e, &tokens.Pi)
	if err != nil {
		return err
	}
	o := object{w: w}
	o.text("schema", "ctxtool/replay/1")
	o.key("system")
	w.Write(prompt.AppendSystem(nil))
	o.key("tools")
	w.Write(prompt.AppendTools(nil))
	o.key("messages")
	from := provenance{System: []origin.Provenance{}, Tools: []origin.Provenance{}, Cached: []origin.Provenance{},
		Uncached: []origin.Provenance{}}
	lists := object{w: w}
	lists.key("cached")
	if err := writeMessages(w, r.tap(e.CachedMessages(), &from.Cached)); err != nil {
		return err
	}
	lists.key("uncached")
	if err := writeMessages(w, r.tap(e.UncachedMessages(), &from.Uncached)); err != nil {
		return err
	}
	lists.close()
	o.key("options")
	w.Write(prompt.Options.Append(nil))
	o.value("meta", m)
	if r.Provenance {
		for _, p := range prompt.Parts {
			from.System = append(from.System, origin.ProvenanceOf(e.Replay().Session, p.Origin))
		}
		for _, t := range prompt.Tools {
			from.Tools = append(from.Tools, origin.ProvenanceOf(e.Replay().Session, t.Origin))
		}
		o.value("provenance", from)
	}
	reading, err := e.Reading()
	if err != nil {
		return err
	}
	o.reading(reading)
	if request, err := body.ReportOf(e); err != nil {
		return err
	} else if request != nil {
		o.value("body", request)
	}
	o.value("coverage", e.Replay().Session.Coverage)
	if found := e.Replay().AllFindings(); len(found) > 0 {
		o.value("findings", found)
	}
	o.close()
	return w.WriteByte('\n')
}
