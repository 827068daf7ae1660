package dialect

import (
	"strconv"

	"ctxtool/sessionfmt/jsonl"
)

// A Writer appends the JSON of an entry.
type Writer struct {
	Out    []byte
	Native bool // see Entry
}

// Raw appends a text as it is.
func (w *Writer) Raw(s string) { w.Out = append(w.Out, s...) }

// Member appends a member of an object after before, if the value exists.
func (w *Writer) Member(before, name string, v jsonl.Value) {
	if v.Exists() {
		w.name(before, name)
		w.Out = append(w.Out, v...)
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

// Place appends id, parentId and timestamp, with which the entries of all kinds begin.
func (w *Writer) Place(e *Entry, timestamp jsonl.Value) {
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
