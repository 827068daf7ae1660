package compact

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/read/activity"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Request asks for one summary.
type Request struct {
	View     *View
	Style    Style
	Part     SummaryPart
	Messages []int  // the messages to be summarised
	Before   []int  // the user's message that led to it, if any
	After    []int  // the answer that concludes it, if any
	Previous string // an earlier summary, which the new one must include
}

// A SummaryPart is the part of a context that a summary replaces.
type SummaryPart string

// The parts.
const (
	historyPart    SummaryPart = "history"
	turnPrefixPart SummaryPart = "turn-prefix" // the beginning of a turn whose end is kept
	sequencePart   SummaryPart = "sequence"    // a finished piece of work
)

// A Stretch is the messages that a compaction removes: all before an index, except those that
// stay as the prompt.
type Stretch struct {
	Messages int    `json:"messages"`            // of the request, in the range: index of the first kept
	First    string `json:"firstKept,omitempty"` // the first entry that is kept
	Summary  int    `json:"summaryTokens"`       // of the summary without its frame

	From int `json:"-"` // indexes in the view, [From, To)
	To   int `json:"-"`
	Kept int `json:"-"` // the record of First, -1 for none
}

var errNoSummary = errors.New("the summary is empty")

// summary returns the answer to a request, after up to Retries attempts.
func (w *Work) summary(r Request) (text string, err error) {
	r.View = w.View
	if w.Summarize == nil {
		return "", ErrNoAnswer
	}
	for range max(1, w.Retries) {
		text, err = w.Summarize(r)
		if err == nil && jsonl.TrimJS(text) == "" {
			err = errNoSummary
		}
		if err == nil {
			return text, nil
		}
	}
	return "", fmt.Errorf("summarise %s of %d messages: %w", r.Part, len(r.Messages), err)
}

// waits records that the pass waits for summaries and changes nothing until then.
func (w *Work) waits(all ...Request) {
	for k := range all {
		all[k].View = w.View
	}
	w.Requests = all
	w.skip = "it waits for a summary"
	if n := len(all); n > 1 {
		w.skip = fmt.Sprintf("it waits for %d summaries", n)
	}
}

// summarise replaces a range of messages with a summary in the frame of its style.
func (w *Work) summarise(r Stretch, summary, why string) {
	slot, was := r.From, 0
	h := &head{frame: w.frame(w.Style), summary: summary}
	h.framed = h.text(summary, r.Messages, w.at)
	for i := r.To - 1; i >= r.From; i-- {
		if w.Messages[i].Removed || w.Messages[i].Kind == jsonl.System {
			continue
		}
		slot = i
		if w.Live(i) {
			was += w.Messages[i].Tokens(w.Counter)
		}
	}
	if r.Summary = tokensOf(w.Counter, w.length(summary)); r.Kept >= 0 {
		r.First = sessionfmt.Quote(w.session().ID(r.Kept))
	}
	w.change(Change{Message: slot, Block: -1, Action: Summarise, Text: summary, Why: why, Was: was, Range: &r},
		func(m *Message) {
			m.Kind, m.Sent, m.Heads, m.Call = jsonl.CompactionMessage, true, true, -1
			m.Blocks = []Block{newText(h.framed, w.length(h.framed))}
			m.head = h
		})
	w.Changes[len(w.Changes)-1].Now = w.Messages[slot].Tokens(w.Counter)
	for i := r.From; i < r.To; i++ {
		if i != slot && w.Messages[i].Kind != jsonl.System {
			w.Messages[i].Removed = true
		}
	}
}

// earlier returns the summary of a message without its frame, "" if it is not a summary.
func (v *View) earlier(i int) string {
	m := &v.Messages[i]
	switch {
	case m.head != nil:
		return m.head.summary
	case m.Kind != jsonl.CompactionMessage && m.Kind != jsonl.BranchMessage:
		return ""
	}
	text, err := v.texts.from.Summary(v.texts.piece(m))
	return took(v.texts, text, err)
}

// files are the files that tools were called with, as pi tracks them: by the path in the
// call, sorted by UTF-16 code unit. A file that was read and changed is modified
// (docs/session-format.md 9.4).
type files struct {
	Read     []string `json:"readFiles"`
	Modified []string `json:"modifiedFiles"`
}

// filesOf returns the files of the messages of a range, for the details of a compaction. The
// view must still have the messages.
func (v *View) filesOf(r Stretch) files {
	var messages []int
	previous := -1
	for i := r.From; i < r.To; i++ {
		switch m := &v.Messages[i]; {
		case m.Removed:
		case m.isSummary() && previous < 0:
			previous = i
		default:
			messages = append(messages, i)
		}
	}
	return v.files(messages, previous).files()
}

// files returns the files of messages: those in calls of the tools read, write and edit,
// failed or not, and in nested calls. It includes the lists of an earlier compaction if pi
// itself made that; previous is its summary, -1 for none.
func (v *View) files(messages []int, previous int) fileBook {
	b := fileBook{}
	if previous >= 0 && !v.Messages[previous].Heads {
		line := v.texts.line(v.Messages[previous].Origin.Record)
		if details := line.Get("details"); !line.Get("fromHook").Truthy() {
			b.add(files{Read: listed(details.Get("readFiles")), Modified: listed(details.Get("modifiedFiles"))})
		}
	}
	for _, i := range messages {
		if m := &v.Messages[i]; m.Heads || !m.nested && !m.makesCalls() {
			continue
		}
		b.message(v.pieces(i, longestSaid))
	}
	return b
}

// listed returns the strings of an array.
func listed(list jsonl.Value) (all []string) {
	for el := range list.Elements {
		if text := el.Text(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// String returns the files as pi appends them to a summary, after a blank line; empty if there
// are none.
func (f files) String() string {
	var b strings.Builder
	for _, list := range []struct {
		tag   string
		paths []string
	}{{"read-files", f.Read}, {"modified-files", f.Modified}} {
		if len(list.paths) > 0 {
			b.WriteString("\n\n<" + list.tag + ">\n" + strings.Join(list.paths, "\n") + "\n</" + list.tag + ">")
		}
	}
	return b.String()
}

// cutFiles splits a summary from the file lists that pi or this package appended.
func cutFiles(summary string) (text string, f files) {
	text, f.Read = cutBlocks(summary, "read-files")
	text, f.Modified = cutBlocks(text, "modified-files")
	return jsonl.TrimJS(text), f
}

// cutBlocks removes the blocks with a tag from a text, each on its own lines.
func cutBlocks(text, tag string) (rest string, paths []string) {
	if !strings.Contains(text, "<"+tag+">") {
		return text, nil
	}
	block := regexp.MustCompile(`(?s)(?:\A|\n+)<` + tag + `>\n(.*?)\n</` + tag + `>`)
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		paths = append(paths, strings.Split(m[1], "\n")...)
	}
	return block.ReplaceAllLiteralString(text, ""), paths
}

// A fileBook records files, and whether they were changed.
type fileBook map[string]bool

// use records the files of a call.
func (b fileBook) use(c activity.Call) {
	for _, path := range c.Paths {
		if changed := c.Action.Changes(); changed || c.Action == activity.Read {
			b[path] = b[path] || changed
		}
	}
}

// message records the files of a message, whose pieces are given, as pi does: by the names of its own tools.
func (b fileBook) message(nested jsonl.Value, all []piece) {
	for _, p := range all {
		if p.Kind == jsonl.CallBlock {
			b.call(p.tool(), p.Args)
		}
	}
	for c := range nested.Get("calls").Elements {
		b.call(c.Get("name").Text(), c.Get("arguments"))
	}
}

func (b fileBook) call(tool string, args jsonl.Value) {
	if !slices.Contains([]string{"read", "write", "edit"}, tool) {
		return
	}
	if path := args.Get("path").Text(); path != "" {
		b[path] = b[path] || tool != "read"
	}
}

func (b fileBook) add(f files) {
	for _, path := range f.Read {
		if _, known := b[path]; !known {
			b[path] = false
		}
	}
	for _, path := range f.Modified {
		b[path] = true
	}
}

func (b fileBook) files() files {
	f := files{Read: []string{}, Modified: []string{}}
	for path, changed := range b {
		if changed {
			f.Modified = append(f.Modified, path)
		} else {
			f.Read = append(f.Read, path)
		}
	}
	slices.SortFunc(f.Read, byUnits)
	slices.SortFunc(f.Modified, byUnits)
	return f
}

// byUnits compares as JavaScript sorts: by UTF-16 units. That is the order of bytes, except
// that a surrogate pair sorts before characters whose UTF-8 is three bytes from 0xEE on.
func byUnits(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x == y:
		case x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0):
			return cmp.Compare(y, x)
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// A frame is how a system puts the summary of a compaction into a context
// (docs/policies.md 1.6).
type frame struct {
	style Style
	role  string
	mark  value // the field metadata, by which the system finds the message again; nil for none
	text  func(summary string, messages int, at time.Time) string
}

var frames = []frame{
	{style: StylePi, role: "user", text: func(summary string, _ int, _ time.Time) string {
		return replay.SummaryText(summary)
	}},
	{style: StyleGSH, role: "user", text: func(summary string, _ int, _ time.Time) string {
		return "[Context compacted - previous conversation summary]\n\n" + summary
	}},
	{style: styleSWECLI, role: "system", text: func(summary string, messages int, at time.Time) string {
		return fmt.Sprintf("\n=== CONVERSATION HISTORY SUMMARY ===\n(Compacted %d messages at %s)\n\n%s\n\n=== END "+
			"SUMMARY ===\n\nRecent messages follow below (unmodified)...\n",
			messages, at.UTC().Format("2006-01-02 15:04:05.000000"), summary)
	}},
	{style: styleYAgent, role: "system", mark: value(`{"type":"compaction_summary"}`),
		text: func(summary string, _ int, _ time.Time) string {
			return summary
		}},
}

// frame returns the frame of a summary of a style. pi reads edits, and knows its own frame only.
func (v *View) frame(s Style) *frame {
	for i := range frames {
		if f := &frames[i]; f.style == s && (v.form != AsEdits || s == StylePi) {
			return f
		}
	}
	return &frames[0]
}

// A head is the summary of a compaction that a pass has made, and its frame.
type head struct {
	*frame
	summary string
	framed  string
}

// append appends the message as a provider gets it, at a time in milliseconds.
func (h *head) append(dst []byte, millis int64) []byte {
	dst = fmt.Appendf(dst, `{"role":%s,"content":%s`, quoted(h.role),
		append(appendTextBlock(value{'['}, quoted(h.framed)), ']'))
	if h.mark != nil {
		dst = append(append(dst, `,"metadata":`...), h.mark...)
	}
	return fmt.Appendf(dst, `,"timestamp":%d}`, millis)
}
