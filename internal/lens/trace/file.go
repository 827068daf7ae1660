package trace

import (
	"cmp"
	"strings"

	"ctxtool/internal/read/activity"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A File counts the tool calls of a path that use a file. The query's text is its path, or
// the last elements of it. A File is a line of schema ctxtool/trace.file/1.
type File struct {
	Schema   string    `json:"schema"`
	Path     string    `json:"path"`     // as the calls name it
	Reads    int       `json:"reads"`    // calls that read it
	Edits    int       `json:"edits"`    // calls that edited it
	Writes   int       `json:"writes"`   // calls that wrote it
	Failed   int       `json:"failed"`   // those of all these whose result is an error
	Tokens   int       `json:"tokens"`   // of its contents in the context, as pi estimates
	Holdings []Holding `json:"holdings"` // the messages that showed the file to the model, in order

	uses []*use
}

// A Holding is a message that showed a file to the model: the result of a read, or the answer
// that edited or wrote it.
type Holding struct {
	ID     string `json:"id"`             // of the entry
	Line   int    `json:"line"`           // of that entry
	Did    string `json:"did"`            // `read`, `edit` or `write`
	Tokens int    `json:"tokens"`         // of the result, or of the call's arguments, as pi estimates
	Lost   *Event `json:"lost,omitempty"` // what removed it from the context
}

// A use is a call that uses a file.
type use struct {
	did    activity.Action
	failed bool
	tokens int
	shown  *life // the message that shows the file; nil if there is none
}

// shows records a message of the call if it shows the file: the result of a read, or the call
// itself otherwise.
func (u *use) shows(l *life) {
	if (l.As == "toolResult") == (u.did == activity.Read) {
		u.shown = l
	}
}

// calls returns the calls of an answer that use files that the text names.
func (t *tracer) calls(answer jsonl.Value) (uses []*use) {
	for c := range activity.Calls(answer.Message()) {
		if c.Action != activity.Read && !c.Action.Changes() {
			continue
		}
		for _, path := range c.Paths {
			if text := t.find.q.Text; text == "" || path != text && !strings.HasSuffix(path, "/"+text) {
				continue
			}
			f := t.files[path]
			if f == nil {
				f = &File{Schema: "ctxtool/trace.file/1", Path: path, Holdings: []Holding{}}
				t.files[path] = f
				t.out.Files = append(t.out.Files, f)
			}
			u := &use{did: c.Action}
			if c.Action != activity.Read {
				u.tokens = tokens.Pi.Of(jsonl.Units([]byte(c.Args)))
			}
			f.uses, uses, t.uses[c.ID] = append(f.uses, u), append(uses, u), u
		}
	}
	return uses
}

// resultOf returns the use of a file whose unedited result the message is, or nil.
func (t *tracer) resultOf(m replay.Piece) *use {
	if edit, omits := m.Edit(); len(t.uses) == 0 || m.Kind() != jsonl.ToolResult || edit >= 0 || omits ||
		m.Origin().Op >= 0 {
		return nil
	}
	line, _, err := t.load.Lines(m)
	t.err = cmp.Or(t.err, err)
	message := line.Get("message")
	u := t.uses[message.Get("toolCallId").Text()]
	if u == nil || u.did != activity.Read {
		return u
	}
	length, msg := 0, message.Message()
	for i := range msg.Blocks {
		if b := &msg.Blocks[i]; b.Kind == jsonl.ImageBlock {
			length += tokens.Pi.Image
		} else {
			length += b.Text.Units()
		}
	}
	u.tokens = tokens.Pi.Of(length)
	return u
}

// holdings counts the uses of each file, and lists the messages that showed it.
func (t *tracer) holdings() {
	for _, f := range t.out.Files {
		for _, u := range f.uses {
			*map[activity.Action]*int{activity.Read: &f.Reads, activity.Edit: &f.Edits,
				activity.Write: &f.Writes}[u.did]++
			if u.failed {
				f.Failed++
			}
			if u.failed || u.shown == nil {
				continue
			}
			h := Holding{ID: u.shown.ID, Line: u.shown.Line, Did: u.did.String(), Tokens: u.tokens}
			if u.shown.Now {
				f.Tokens += u.tokens
			} else {
				h.Lost = &u.shown.Events[len(u.shown.Events)-1]
			}
			f.Holdings = append(f.Holdings, h)
		}
	}
}
