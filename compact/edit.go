// Package compact reduces a session's context by appending entries. It never changes or
// removes an existing entry.
//
// A Pass is one way to make a context smaller. A Policy is an ordered list of passes, each
// with its trigger; FindPolicy has those of several agents. Job.Plan returns what a policy
// does to the context of an envelope, Job.Store adds it to a batch, and Reduction.Promise
// checks that the session with the batch replays to the planned context. Undo returns a
// batch that reverts the last one. Summaries come from OpenSummarizer; without one, a pass
// that needs a summary changes nothing.
//
// # Views
//
// A pass works on a view: the messages of an envelope, with the size of each part in bytes, UTF-16
// units and characters. A view costs one pass over the lines, on all CPUs, and holds no texts. A pass
// reads only the texts that it needs: truncating reads the results over the limit, pruning reads none.
// All counters count the same view.
//
// A message keeps its place in the view. A pass returns a copy that shares everything unchanged, and a
// list of changes: a new text for a part, a removed part or message, a summary for a range. The next
// pass starts from the copy. The tokens of a change are the tokens that its message loses, so they add
// up to the difference of two views, even for counters that round once per message.
//
// A group is a message with calls and their results. A result belongs to the last message before it
// with a call of its id. Passes remove whole groups; calls without a result and results without a call
// stay.
//
// # Undoing
//
// A batch is undone by one entry: a child of the entry before the batch, which becomes the leaf, after
// the settings that followed. That works as long as nothing follows that the path would lose. Later,
// edits are undone by edits with the old content, one per message, since an edit has one target and
// only another edit replaces it. A compaction, a patch, or the edit of a message that was edited or
// summarized again cannot be undone then: Undo refuses, and names ctxtool branch. An edit without a
// batch that nothing followed is not skipped: the error names the command that restores its message.
// If the leaf was moved into a batch, the batch is its entries on the path, which have one time.
package compact

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

type value = jsonl.Value

// An Editor edits messages of the active path by entries of type context_edit
// (docs/session-format.md 5.6), which it adds to a batch. Providers require each tool call
// with its result, so an answer and its results are omitted and restored together.
type Editor struct {
	intent
	s      *sessionfmt.Session
	b      *sessionfmt.Batch
	path   []int
	lines  *sessionfmt.Reader
	before *sessionfmt.Reader // reads the current edit of a record, while lines has its message
	err    error              // the first of reading
	shown  map[int]bool       // records of the messages in the next request
	edits  map[int]int        // current edits by the records of the context, including omitted messages
	fixed  map[string]bool    // ids of tool calls where a patch added the call or its result: no edit reaches those
}

// NewEditor returns an editor of the context of an envelope, which must be at the session's leaf.
func NewEditor(e *replay.Envelope, b *sessionfmt.Batch) (*Editor, error) {
	s := e.Replay().Session
	d := &Editor{
		intent: intent{e: e, edited: map[int]value{}}, s: s, b: b, lines: s.NewReader(), before: s.NewReader(),
		shown: map[int]bool{}, edits: e.Edits(), fixed: map[string]bool{},
	}
	d.path, _ = s.Path(s.Leaf())
	patched := func(m replay.Message) bool { return m.Origin.Op >= 0 }
	for m, err := range e.Sources(patched) {
		switch {
		case err != nil:
			return nil, err
		case !patched(m):
			d.shown[m.Origin.Record] = true
		case m.Kind == jsonl.ToolResult:
			d.fixed[m.Raw.Get("toolCallId").Text()] = true
		default:
			for _, id := range callsOf(m.Raw) {
				d.fixed[id] = true
			}
		}
	}
	return d, nil
}

// Omit removes a message from the context, with the call or the results that belong to
// it. It is an error if the message is not in the context.
func (d *Editor) Omit(rec int) error {
	if err := d.refuse(rec); err != nil {
		return err
	}
	if !d.shown[rec] {
		return d.at(rec, notShown)
	}
	group := d.group(rec)
	if slices.ContainsFunc(group, d.tied) {
		return d.at(rec, "a patch has put the other half of a tool call into the context, where no edit reaches it")
	}
	for _, i := range group {
		if d.shown[i] {
			d.add(i, nil)
		}
	}
	return d.err
}

const notShown = "it is not in the context: it was summarised or omitted, or is never sent"

// tied reports whether a record cannot be omitted: a patch added its call or its result, which
// would remain unpaired.
func (d *Editor) tied(rec int) bool {
	return slices.ContainsFunc(d.calls(rec), func(id string) bool { return d.fixed[id] })
}

// Restore restores a message to its content before all edits, with the call or the results
// that belong to it, by edits that repeat the content. Messages without an edit get none.
func (d *Editor) Restore(rec int) error {
	if err := d.refuse(rec); err != nil {
		return err
	}
	if _, edited := d.edits[rec]; !edited && !d.shown[rec] {
		return d.at(rec, "cannot restore it: it was summarized, or is never sent")
	}
	for _, i := range d.group(rec) {
		if _, edited := d.edits[i]; !edited {
			continue
		}
		d.add(i, orEmpty(contentOf(d.s, i, d.line(i))))
	}
	return d.err
}

// Replace replaces the content of a message with a text. The tool calls that an answer has in the
// context stay; its thinking is dropped, because its signature covers the original text.
func (d *Editor) Replace(rec int, text string) error {
	if err := d.refuse(rec); err != nil {
		return err
	}
	kind := d.s.Kind(rec)
	if !kind.Replaceable() {
		return d.at(rec, "a %s has no content that could be replaced: omit it", kind)
	}
	if !d.shown[rec] {
		return d.at(rec, notShown)
	}
	content := quoted(text)
	if kind == jsonl.Assistant || kind == jsonl.ToolResult {
		content = appendTextBlock(value{'['}, content)
		if kind == jsonl.Assistant {
			for call := range d.current(rec).Message().Calls {
				content = append(comma(content), call.Raw...)
			}
		}
		content = append(content, ']')
	}
	d.add(rec, content)
	return d.err
}

// current returns the message of a record with the content of its current edit.
func (d *Editor) current(rec int) value {
	message := d.line(rec).Get("message")
	if by, edited := d.edits[rec]; edited {
		content := d.read(d.before, by).Get("replacement").Get("content")
		message = message.AppendEdited(nil, field("content", content))
	}
	return message
}

// contentOf returns the content of a record, which has that line: a message or a custom_message.
func contentOf(s *sessionfmt.Session, rec int, line value) value {
	if s.Kind(rec).IsMessage() {
		line = line.Get("message")
	}
	return line.Get("content")
}

// orEmpty returns content, or an empty array if it is null or missing.
func orEmpty(content value) value {
	if content.IsNull() {
		return value("[]")
	}
	return content
}

// add adds an edit of a record, unless its current edit is the same.
func (d *Editor) add(rec int, content value) {
	d.edited[rec] = bytes.Clone(content)
	by, edited := d.edits[rec]
	if !edited || !bytes.Equal(d.read(d.before, by).Get("replacement"), replacement(content)) {
		addEdit(d.b, d.s, rec, content)
	}
}

// line returns the line of a record, valid until the next one; nil after an error.
func (d *Editor) line(rec int) value { return d.read(d.lines, rec) }

func (d *Editor) read(r *sessionfmt.Reader, rec int) value {
	line, err := r.Line(rec)
	d.err = cmp.Or(d.err, err)
	return line
}

// refuse returns an error if no edit can name or change a record.
func (d *Editor) refuse(rec int) error {
	switch k := d.s.Kind(rec); {
	case !slices.Contains(d.path, rec):
		return d.at(rec, "it is not on the active path: an edit acts on entries before it")
	case d.s.ID(rec) == "" || d.s.WrongID(rec) || d.s.Shadowed(rec):
		return d.at(rec, "it has no id by which an edit could name it")
	case k == jsonl.System:
		return d.at(rec, "a system message is changed by another system message, not by an edit")
	case !k.IsMessage() && k != jsonl.CustomMessage && k != jsonl.BranchSummary && k != jsonl.Compaction:
		return d.at(rec, "an entry of type %s is not a message of the context", k)
	}
	return nil
}

func (d *Editor) at(rec int, format string, args ...any) error {
	return &sessionfmt.Error{Pos: d.s.Pos(rec), Err: fmt.Errorf(format, args...)}
}

// group returns the answer and the results of its calls that rec belongs to, in the order
// of the path. Any other message is a group by itself.
func (d *Editor) group(rec int) []int {
	at, calls := slices.Index(d.path, rec), d.calls(rec)
	if d.s.Kind(rec) == jsonl.ToolResult {
		at, calls = d.call(at, calls[0])
	}
	if calls == nil {
		return []int{rec}
	}
	group := []int{d.path[at]}
	for _, i := range d.path[at+1:] {
		if len(calls) == 0 {
			break
		}
		if d.s.Kind(i) != jsonl.ToolResult {
			continue
		}
		if c := slices.Index(calls, d.calls(i)[0]); c >= 0 {
			calls = slices.Delete(calls, c, c+1)
			group = append(group, i)
		}
	}
	return group
}

// call returns the index on the path of the last answer before an index that makes the call
// id, and the ids of all its calls; nil if there is none.
func (d *Editor) call(before int, id string) (at int, calls []string) {
	for at = before - 1; at >= 0; at-- {
		if d.s.Kind(d.path[at]) != jsonl.Assistant {
			continue
		}
		if calls = d.calls(d.path[at]); slices.Contains(calls, id) {
			return at, calls
		}
	}
	return before, nil
}

// calls returns the ids of an answer's tool calls, or the call id of a result.
func (d *Editor) calls(rec int) []string {
	switch d.s.Kind(rec) {
	case jsonl.Assistant:
		return callsOf(d.line(rec).Get("message"))
	case jsonl.ToolResult:
		return []string{d.line(rec).First("message", "toolCallId").Text()}
	}
	return nil
}

// callsOf returns the ids of a message's tool calls.
func callsOf(message value) (ids []string) {
	for call := range message.Message().Calls {
		ids = append(ids, call.ID.Text())
	}
	return ids
}

// An intent is the context that entries are to make: the messages of an envelope, except edited ones, which get
// their content or, with nil, are omitted. Without an envelope it promises nothing.
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
		if got, ok := edited[rec]; ok != (content != nil) ||
			ok && after.Kind(rec).Replaceable() && got != sumOf(content) {
			return &sessionfmt.Error{Pos: after.Pos(rec), Err: errOtherContext, Hint: bugHint}
		}
	}
	if !slices.Equal(was, is) || !samePrompt(before, prompt) {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: after.Name}, Err: errOtherContext, Hint: bugHint}
	}
	return nil
}

var errOtherContext = errors.New("nothing was written: the entries would produce a different context")

const bugHint = "this is a bug in ctxtool; please report it, with the file if possible"

// A sum identifies the content of a message.
type sum [sha256.Size]byte

// sumOf returns the sum of a content.
func sumOf(content value) sum { return sha256.Sum256(inBlocks(content).AppendMinified(nil)) }

// inBlocks returns a content as blocks: pi turns the string of an edit into one text block.
func inBlocks(content value) value {
	if content.IsString() {
		content = append(appendTextBlock(value{'['}, content), ']')
	}
	return content
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
