package compact

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// An intent is what entries are to make of a context: the messages of an envelope, but for
// edited ones, which get their content or, with nil, are omitted. Without an envelope it promises nothing.
type intent struct {
	e      *replay.Envelope
	edited map[int]value // contents by record
}

// Promise returns an error unless the session, read back with the entries, has the context of the
// intent. It compares what all messages say.
func (w *intent) Promise(after *sessionfmt.Session) error {
	if w.e == nil {
		return nil
	}
	opt := w.e.Replay().Options
	opt.Leaf = after.Leaf()
	e, err := replay.New(after, opt).At(sessionfmt.After(after.Leaf()))
	if err != nil {
		return err
	}
	was, _, err := w.messages(w.e)
	is, edited, failed := w.messages(e)
	before, unknown := w.e.Prompt()
	prompt, unset := e.Prompt()
	if err = cmp.Or(err, failed, unknown, unset); err != nil {
		return err
	}
	for rec, content := range w.edited {
		if got, ok := edited[rec]; ok != (content != nil) || ok && after.Kind(rec).Replaceable() && got != sumOf(content) {
			return &sessionfmt.Error{Pos: after.Pos(rec), Err: errOtherContext, Hint: bugHint}
		}
	}
	if !slices.Equal(was, is) || !samePrompt(before, prompt) {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: after.Name}, Err: errOtherContext, Hint: bugHint}
	}
	return nil
}

var errOtherContext = errors.New("nothing is written: the entries would make another context")

const bugHint = "this is a bug in ctxtool; please report it, with the file if possible"

// A sum identifies the content of a message.
type sum [sha256.Size]byte

// sumOf returns the sum of a content. A string has that of an array with one text block, which
// pi makes of it in an edit.
func sumOf(content value) sum {
	if content.IsString() {
		content = append(appendTextBlock(value{'['}, content), ']')
	}
	return sha256.Sum256(content.AppendMinified(nil))
}

// messages returns the sums of the messages of a context that the intent keeps, in order, and of
// those that it edits.
func (w *intent) messages(e *replay.Envelope) (kept []sum, edited map[int]sum, err error) {
	edited = map[int]sum{}
	for m, err := range e.ContextMessages() {
		if err != nil {
			return nil, nil, err
		}
		rec := m.Origin.Record
		if _, ok := w.edited[rec]; ok && m.Origin.Op < 0 {
			edited[rec] = sumOf(m.Raw.Get("content"))
			continue
		}
		kept = append(kept, sumOf(m.Raw))
	}
	return kept, edited, nil
}
