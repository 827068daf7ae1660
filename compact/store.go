package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A jobRecord says of a batch what made it: the data of its first entry, by which undo
// finds it.
type jobRecord struct {
	Job    string `json:"job"` // the command
	Policy string `json:"policy"`
	Params string `json:"params"` // the policy's numbers
	Form   Form   `json:"form"`
	Before int    `json:"tokensBefore"` // in the policy's own counter
	After  int    `json:"tokensAfter"`
	// Entries is how many entries of the batch follow this one.
	Entries int `json:"entries"`
}

// markType is the custom type of the entry that a batch begins with.
const markType = "ctxtool.reduce"

// A storage is how the changes of a plan become entries.
type storage struct {
	Form     Form
	Record   jobRecord
	Unmarked bool   // without the entry that says what made the batch
	Reason   string // that a patch gives for changing what is cached
	Display  string // Markdown table of the changes, for a patch
}

// Store adds to a batch the entries which make of a context, before, what passes made of
// it: after, by changes. It adds nothing where nothing has changed.
func (st storage) Store(b *sessionfmt.Batch, before, after *View, changes []Change) error {
	w := &storing{storage: st, View: after, before: before, b: b, s: after.session()}
	for k := range changes {
		if changes[k].Action != Summarise {
			continue
		}
		if w.head != nil {
			return errTwoCompactions
		}
		w.head = &changes[k]
	}
	changed := w.changed()
	entries := len(changed)
	if st.Form == AsTransform {
		entries = min(1, entries)
	}
	if w.head != nil {
		entries++
		if st.Form == AsTransform {
			entries = 2
		}
	}
	if entries == 0 {
		return nil
	}
	if w.Record.Form, w.Record.Entries = st.Form, entries; !st.Unmarked {
		data, err := json.Marshal(w.Record)
		if err != nil {
			return err
		}
		b.Add(jsonl.CustomEntry, field("customType", quoted(markType)), field("data", data))
	}
	if st.Form == AsTransform {
		return w.transform(changed)
	}
	return w.edits(changed)
}

// A storing is a Storing at work.
type storing struct {
	storage
	*View
	before *View
	b      *sessionfmt.Batch
	s      *sessionfmt.Session
	head   *Change // the compaction, if there is one
}

// from is the first message that a compaction leaves, 0 without one.
func (w *storing) from() int {
	if w.head == nil {
		return 0
	}
	return w.head.Range.To
}

// changed are the messages that stay behind a compaction, or would, and are not as
// they were.
func (w *storing) changed() (all []int) {
	for i := w.from(); i < len(w.Messages); i++ {
		if m := &w.Messages[i]; m.Sent && !m.Heads && (m.Gone || m.Edited) {
			all = append(all, i)
		}
	}
	return all
}

// edits stores changes as pi itself would.
func (w *storing) edits(changed []int) error {
	for _, i := range changed {
		m := &w.Messages[i]
		replacement := value("null")
		if !m.Gone {
			content, err := w.Content(i)
			if err != nil {
				return err
			}
			replacement = fmt.Appendf(nil, `{"content":%s}`, content)
		}
		w.b.Add(jsonl.ContextEdit, field("targetId", quoted(w.s.ID(m.Origin.Record))), field("replacement", replacement))
	}
	return w.compaction()
}

// compaction stores the summary, and from which entry on messages stay. It is without
// the policy's frame: pi has its own.
func (w *storing) compaction() error {
	if w.head == nil {
		return nil
	}
	usage, err := w.Envelope.ContextUsage(&tokens.Pi)
	if err != nil {
		return err
	}
	checkpoint, err := w.Envelope.Checkpoint(w.b.Millis())
	if err != nil {
		return err
	}
	details, err := w.details()
	if err != nil {
		return err
	}
	kept := sessionfmt.OwnID
	if w.head.Range.Kept >= 0 {
		kept = quoted(w.s.ID(w.head.Range.Kept))
	}
	w.b.Add(jsonl.Compaction,
		field("summary", quoted(w.head.Text)), field("firstKeptEntryId", kept),
		field("tokensBefore", fmt.Appendf(nil, "%d", usage.Tokens)),
		field("details", details), field("fromHook", value("true")), field("systemMessage", checkpoint))
	return nil
}

// details are the files that a compaction is about.
func (w *storing) details() (value, error) {
	f, err := w.before.filesOf(*w.head.Range)
	if err != nil {
		return nil, err
	}
	return json.Marshal(f)
}

// transform stores changes as one patch, and a compaction once more as an entry that
// pi knows, which replay takes for the patch's shadow.
func (w *storing) transform(changed []int) error {
	var patch []byte
	if len(changed) > 0 {
		messages, err := w.messages()
		if err != nil {
			return err
		}
		patch = fmt.Appendf(patch, `{"op":"messages_cached_replace","scope":"cached","messages":%s,"invalidateCacheReason":%s}`, messages, quoted(w.Reason))
	}
	name := "ctxtool " + w.Record.Job
	if w.head != nil {
		if name = "compaction"; len(patch) > 0 {
			patch = append(patch, ',')
		}
		usage, err := w.Envelope.ContextUsage(&tokens.Pi)
		if err != nil {
			return err
		}
		first := 0
		if len(changed) == 0 {
			first = w.place(w.from())
		}
		patch = fmt.Appendf(patch, `{"op":"compaction_apply","scope":"cached","summary":%s,"timestamp":%d,"firstKeptMessageIndex":%d,"tokensBefore":%d,"invalidateCacheReason":%s}`,
			quoted(w.head.Text), w.b.Millis(), first, usage.Tokens, quoted(w.Reason))
	}
	display := fmt.Appendf(nil, `{"title":%s,"summary":%s`, quoted(w.title()), quoted(fmt.Sprintf("%d -> %d tokens", w.Record.Before, w.Record.After)))
	if w.Display != "" {
		display = fmt.Appendf(display, `,"markdown":%s`, quoted(w.Display))
	}
	w.b.Add(jsonl.Transform,
		field("schemaVersion", value("1")), field("transformerName", quoted(name)),
		field("patch", fmt.Appendf(nil, "[%s]", patch)), field("display", append(display, '}')))
	return w.compaction()
}

func (w *storing) title() string {
	if w.Record.Policy == w.Record.Job {
		return "ctxtool " + w.Record.Job
	}
	return strings.TrimSpace("ctxtool " + w.Record.Job + " " + w.Record.Policy)
}

// messages are the cached messages as they shall be, behind a compaction those that
// stay.
func (w *storing) messages() (value, error) {
	out := value{'['}
	for i := w.from(); i < len(w.Messages); i++ {
		m := &w.Messages[i]
		if !w.Live(i) || !m.Cached || m.Heads {
			continue
		}
		raw, err := w.texts.provider(m)
		if err != nil {
			return nil, err
		}
		raw = slices.Clone(raw)
		if m.Edited {
			content, err := w.Content(i)
			if err != nil {
				return nil, err
			}
			raw = withContent(raw, content)
		}
		out = append(comma(out), raw...)
	}
	return append(out, ']'), nil
}

// place is how many of the request's cached messages stood before a message.
func (w *storing) place(to int) (n int) {
	for i := range w.before.Messages[:to] {
		if m := &w.before.Messages[i]; m.Cached && m.Sent {
			n++
		}
	}
	return n
}

// withContent is a message with another content.
func withContent(message, content value) value {
	out := value{'{'}
	for key, v := range message.Members {
		if string(key) == "content" {
			v = content
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonl.AppendQuoted(out, string(key)), ':')
		out = append(out, v...)
	}
	return append(out, '}')
}

func quoted(s string) value { return jsonl.AppendQuoted(nil, s) }

func field(name string, v value) jsonl.Field { return jsonl.Field{Name: name, Value: v} }
