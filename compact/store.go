package compact

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A jobRecord records the command that made a batch. It is the data of the batch's first entry, by which undo
// finds it.
type jobRecord struct {
	Job    string `json:"job"` // the command
	Policy string `json:"policy,omitempty"`
	Params string `json:"params,omitempty"` // the policy's numbers
	Form   Form   `json:"form"`
	Before int    `json:"tokensBefore"` // in the policy's own counter, if there is a policy
	After  int    `json:"tokensAfter"`
	// Entries is how many entries of the batch follow this one.
	Entries int `json:"entries"`
}

// markType is the custom type of the entry that a batch begins with.
const markType = "ctxtool.reduce"

// A storing adds a reduction to a batch.
type storing struct {
	*View
	*Job
	r       *Reduction
	b       *sessionfmt.Batch
	head    *Change // the compaction, if any
	from    int     // first message that the compaction keeps
	changed []int   // messages from there on that were removed or edited
}

// storing returns what to store of a reduction.
func (j *Job) storing(r *Reduction) (*storing, error) {
	w := &storing{View: r.View, Job: j, r: r}
	for k, c := range r.Changes {
		switch {
		case c.Action != Summarise:
		case w.head != nil:
			return nil, errors.New("two compactions in one batch")
		default:
			w.head, w.from = &r.Changes[k], c.Range.To
		}
	}
	for i := w.from; i < len(w.Messages); i++ {
		if m := &w.Messages[i]; m.Sent && !m.Heads && (m.Removed || m.Edited) {
			w.changed = append(w.changed, i)
		}
	}
	return w, nil
}

// Store adds the entries of a reduction to a batch, none if nothing has changed. A patch
// displays a Markdown table of the changes.
func (j *Job) Store(b *sessionfmt.Batch, r *Reduction, display string) error {
	w, err := j.storing(r)
	if err != nil {
		return err
	}
	w.b = b
	entries := len(w.changed)
	if w.head != nil {
		entries++
	}
	if r.View.reprompted {
		entries++ // only a patch can drop parts of the prompt
	}
	if r.Form == AsTransform && entries > 0 {
		entries = 1
		if w.head != nil {
			entries = 2
		}
	}
	if entries == 0 {
		return nil
	}
	if err := j.Mark(b, r.Form, r.Before, r.After, entries); err != nil {
		return err
	}
	if r.Form == AsTransform {
		w.transform(display)
	} else {
		for _, i := range w.changed { // as pi itself would
			var content value
			if m := &w.Messages[i]; !m.Removed {
				content = w.Content(i)
			}
			addEdit(b, w.session(), w.Messages[i].Origin.Record, content)
		}
	}
	w.compaction()
	return w.texts.err
}

// Mark adds the entry by which Undo finds a batch, unless the job is unmarked: the form, the
// tokens of the context before and after, and how many entries follow the mark.
func (j *Job) Mark(b *sessionfmt.Batch, form Form, before, after, entries int) error {
	if j.Unmarked {
		return nil
	}
	record := jobRecord{Job: j.Command, Form: form, Before: before, After: after, Entries: entries}
	if j.Policy != nil {
		record.Policy, record.Params = j.Policy.Name, j.Policy.params()
	}
	return addRecord(b, markType, record)
}

// addRecord adds a custom entry that describes a batch.
func addRecord(b *sessionfmt.Batch, name string, what any) error {
	data, err := json.Marshal(what)
	b.Add(jsonl.CustomEntry, field("customType", quoted(name)), field("data", data))
	return err
}

// addEdit adds an edit that replaces the content of a record; nil omits the message.
func addEdit(b *sessionfmt.Batch, s *sessionfmt.Session, rec int, content value) {
	b.Add(jsonl.ContextEdit, field("targetId", quoted(s.ID(rec))), field("replacement", replacement(content)))
}

// replacement returns the replacement of an edit with that content.
func replacement(content value) value {
	if content == nil {
		return value("null")
	}
	return fmt.Appendf(nil, `{"content":%s}`, content)
}

// compaction stores the summary, and the first entry that is kept. The summary is without a
// frame: pi adds its own.
func (w *storing) compaction() {
	if w.head == nil {
		return
	}
	checkpoint, err := w.Envelope.Checkpoint(w.b.Millis())
	w.texts.fail(err)
	details, err := json.Marshal(w.r.From.filesOf(*w.head.Range))
	w.texts.fail(err)
	kept := sessionfmt.OwnID
	if rec := w.head.Range.Kept; rec >= 0 {
		kept = quoted(w.session().ID(rec))
	}
	w.b.Add(jsonl.Compaction,
		field("summary", quoted(w.head.Text)), field("firstKeptEntryId", kept),
		field("tokensBefore", fmt.Appendf(nil, "%d", w.tokensBefore())),
		field("details", details), field("fromHook", value("true")), field("systemMessage", checkpoint))
}

// tokensBefore returns the size of the context, as compactions record it.
func (w *storing) tokensBefore() int {
	size, err := w.Envelope.Size()
	w.texts.fail(err)
	return size.Stored()
}

// transform stores changes as one patch. A compaction is also stored as an entry that pi
// reads, which replay treats as the patch's shadow. The op that compacts puts the summary in
// pi's frame; an op after it gives it another.
func (w *storing) transform(display string) {
	patch, name, reason := []byte{'['}, "ctxtool "+
		w.Command, quoted(fmt.Sprintf("ctxtool %s: %s", w.Command, w.r.passes()))
	replaces := len(w.changed) > 0
	if w.head != nil {
		replaces = replaces || w.Messages[w.head.Message].head.style != StylePi
		name = "compaction"
		patch = fmt.Appendf(comma(patch),
			`{"op":"compaction_apply","scope":"cached","summary":%s,"timestamp":%d,"firstKeptMessageIndex":%d,`+
				`"tokensBefore":%d,`+
				`"invalidateCacheReason":%s}`,
			quoted(w.head.Text), w.b.Millis(), w.place(w.from), w.tokensBefore(), reason)
	}
	if replaces {
		patch = fmt.Appendf(comma(patch),
			`{"op":"messages_cached_replace","scope":"cached","messages":%s,"invalidateCacheReason":%s}`,
			w.messages(), reason)
	}
	for _, op := range promptOps(w.r.From.Prompt, w.Prompt, reason) {
		patch = append(comma(patch), op...)
	}
	title := "ctxtool " + w.Command
	if w.Policy.Name != w.Command {
		title = strings.TrimSpace(title + " " + w.Policy.Name)
	}
	shown := fmt.Appendf(nil, `{"title":%s,"summary":%s`, quoted(title),
		quoted(fmt.Sprintf("%d -> %d tokens", w.r.Before, w.r.After)))
	if display != "" {
		shown = fmt.Appendf(shown, `,"markdown":%s`, quoted(display))
	}
	w.b.Add(jsonl.Transform,
		field("schemaVersion", value("1")), field("transformerName", quoted(name)),
		field("patch", append(patch, ']')), field("display", append(shown, '}')))
}

// messages returns the new cached messages as a JSON array; after a compaction, the summary and
// those that it keeps.
func (w *storing) messages() value {
	out := value{'['}
	if w.head != nil {
		out = w.Messages[w.head.Message].head.append(out, w.b.Millis())
	}
	for i := w.from; i < len(w.Messages); i++ {
		m := &w.Messages[i]
		if !w.Live(i) || !m.Cached || m.Heads {
			continue
		}
		raw := slices.Clone(w.texts.provider(m))
		out = comma(out)
		if !m.Edited {
			out = append(out, raw...)
			continue
		}
		out = raw.AppendEdited(out, field("content", w.Content(i)))
	}
	return append(out, ']')
}

// place returns how many of the request's cached messages were before a message.
func (w *storing) place(to int) (n int) {
	for i := range w.r.From.Messages[:to] {
		if m := &w.r.From.Messages[i]; m.Cached && m.Sent {
			n++
		}
	}
	return n
}

func quoted(s string) value { return jsonl.AppendQuoted(nil, s) }

func field(name string, v value) jsonl.Field { return jsonl.Field{Name: name, Value: v} }
