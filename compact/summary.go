package compact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// A Request asks for one summary.
type Request struct {
	View     *View
	Style    Style
	Part     summaryPart
	Messages []int  // what is to be summarised
	Before   int    // the user's message that led to it, -1 for none
	After    int    // the answer that concludes it, -1 for none
	Previous string // an earlier summary, which the new one has to take in
}

// A summaryPart is what part of a context a summary stands for.
type summaryPart string

// The parts.
const (
	historyPart    summaryPart = "history"
	turnPrefixPart summaryPart = "turn-prefix" // the beginning of a turn whose end stays
	sequencePart   summaryPart = "sequence"    // a finished piece of work
)

// A stretch is the messages that a compaction takes out, which are all before one place
// but for those that stay as the prompt.
type stretch struct {
	From     int `json:"from"` // places in the view, [From, To)
	To       int `json:"to"`
	Kept     int `json:"kept"`           // the record from which on messages stay, -1 for none
	Messages int `json:"messages"`       // of the request, in the range: the index of the first that stays
	Summary  int `json:"summary_tokens"` // of the summary alone, without what frames it
}

var errNoSummary = errors.New("the summary is empty")

// summary asks for a summary, as often as it may fail.
func (w *work) summary(r Request) (text string, err error) {
	r.View = w.View
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

// waits reports that nothing happens before those summaries are there.
func (w *work) waits(all ...Request) {
	for k := range all {
		all[k].View = w.View
	}
	w.requests = all
	w.skip = "it waits for a summary"
	if n := len(all); n > 1 {
		w.skip = fmt.Sprintf("it waits for %d summaries", n)
	}
}

// summarise puts a summary, in its frame, in the place of a range of messages.
func (w *work) summarise(r stretch, summary, framed, why string) {
	slot, was := r.From, 0
	for i := r.To - 1; i >= r.From; i-- {
		if w.Messages[i].Gone || w.Messages[i].Kind == jsonl.System {
			continue
		}
		if slot = i; w.Live(i) {
			was += w.Messages[i].Tokens(w.Counter)
		}
	}
	r.Summary = tokensOf(w.Counter, w.length(summary))
	w.change(Change{Message: slot, Block: -1, Action: Summarise, Text: summary, Why: why, Was: was, Range: &r}, func(m *message) {
		m.Kind, m.Sent, m.Heads, m.Call = jsonl.CompactionMessage, true, true, -1
		m.Blocks = []block{newText(framed, w.length(framed))}
		m.summary = &summary
	})
	w.changes[len(w.changes)-1].Now = w.Messages[slot].Tokens(w.Counter)
	for i := r.From; i < r.To; i++ {
		if i != slot && w.Messages[i].Kind != jsonl.System {
			w.Messages[i].Gone = true
		}
	}
}

// earlier is the summary that a message is, as it was written, "" for none.
func (v *View) earlier(i int) (string, error) {
	m := &v.Messages[i]
	switch {
	case m.Heads:
		return *m.summary, nil
	case m.Kind != jsonl.CompactionMessage:
		return "", nil
	}
	raw, err := v.texts.agent(m)
	return raw.Get("summary").Text(), err
}

// previous is the last earlier summary among messages, "" for none.
func (v *View) previous(messages []int) (string, error) {
	for k := len(messages) - 1; k >= 0; k-- {
		if v.Messages[messages[k]].isSummary() {
			return v.earlier(messages[k])
		}
	}
	return "", nil
}

// files are the files that tools were called with, as pi tracks them: by the path that
// was given, sorted by UTF-16 code unit. A file that was read and changed is modified
// (spec/pi-format.md 7.5).
type files struct {
	Read     []string `json:"readFiles"`
	Modified []string `json:"modifiedFiles"`
}

// filesOf are the files that the messages of a range are about, which the view still has:
// what a stored compaction has as its details.
func (v *View) filesOf(r stretch) (files, error) {
	var messages []int
	previous := -1
	for i := r.From; i < r.To; i++ {
		switch m := &v.Messages[i]; {
		case m.Gone:
		case m.isSummary() && previous < 0:
			previous = i
		default:
			messages = append(messages, i)
		}
	}
	return v.files(messages, previous)
}

// files are the files of messages: those that calls of the tools read, write and edit
// name, whether they worked or not, and calls within those. The lists that an earlier
// compaction keeps go in, if pi itself has made them; previous is its summary, -1 for
// none.
func (v *View) files(messages []int, previous int) (files, error) {
	var b fileBook
	if previous >= 0 && !v.Messages[previous].Heads {
		line, err := v.session().NewReader().Line(v.Messages[previous].Origin.Record)
		if err != nil {
			return files{}, err
		}
		if details := line.Get("details"); !line.Get("fromHook").Truthy() {
			b.add(files{Read: listed(details.Get("readFiles")), Modified: listed(details.Get("modifiedFiles"))})
		}
	}
	for _, i := range messages {
		if m := &v.Messages[i]; m.Heads || !m.nested && !m.makesCalls() {
			continue
		}
		raw, all, err := v.pieces(i, longestSaid)
		if err != nil {
			return files{}, err
		}
		b.message(raw, all)
	}
	return b.files(), nil
}

// listed are the strings of a list.
func listed(list jsonl.Value) (all []string) {
	for el := range list.Elements {
		if text := el.Text(); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// With are the files of both.
func (f files) With(g files) files {
	var b fileBook
	for _, one := range []files{f, g} {
		b.add(one)
	}
	return b.files()
}

// String is the files as pi appends them to a summary, with the blank line before them;
// empty where there are none.
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

// cutFiles parts a summary from the files that pi, or we, have put behind it.
func cutFiles(summary string) (text string, f files) {
	text, f.Read = cutBlocks(summary, "read-files")
	text, f.Modified = cutBlocks(text, "modified-files")
	return jsonl.TrimJS(text), f
}

// cutBlocks cuts blocks of a name out of a text, each of lines of its own.
func cutBlocks(text, tag string) (string, []string) {
	open, end := "<"+tag+">\n", "\n</"+tag+">"
	var rest strings.Builder
	var paths []string
	for {
		at := strings.Index(text, open)
		if at < 0 {
			break
		}
		behind := at + len(open)
		if at > 0 && text[at-1] != '\n' {
			rest.WriteString(text[:behind])
			text = text[behind:]
			continue
		}
		inside, after, ok := strings.Cut(text[behind:], end)
		if !ok {
			break
		}
		rest.WriteString(strings.TrimRight(text[:at], "\n"))
		paths = append(paths, strings.Split(inside, "\n")...)
		text = after
	}
	rest.WriteString(text)
	return rest.String(), paths
}

// A fileBook records files.
type fileBook struct{ read, modified map[string]bool }

// message records those of a message, which pieces has read.
func (b *fileBook) message(raw jsonl.Value, all []piece) {
	for _, p := range all {
		if p.Kind == callBlock {
			b.call(p.tool(), p.Args)
		}
	}
	for c := range raw.Get("nestedCalls").Get("calls").Elements {
		b.call(c.Get("name").Text(), c.Get("arguments"))
	}
}

func (b *fileBook) call(tool string, args jsonl.Value) {
	path := args.Get("path")
	if !path.IsString() || len(path) == len(`""`) {
		return
	}
	switch tool {
	case "read":
		b.add(files{Read: []string{path.Text()}})
	case "write", "edit":
		b.add(files{Modified: []string{path.Text()}})
	}
}

func (b *fileBook) add(f files) {
	if b.read == nil {
		b.read, b.modified = map[string]bool{}, map[string]bool{}
	}
	for _, path := range f.Read {
		b.read[path] = true
	}
	for _, path := range f.Modified {
		b.modified[path] = true
	}
}

func (b *fileBook) files() files {
	f := files{Read: []string{}, Modified: []string{}}
	for path := range b.modified {
		f.Modified = append(f.Modified, path)
	}
	for path := range b.read {
		if !b.modified[path] {
			f.Read = append(f.Read, path)
		}
	}
	slices.SortFunc(f.Read, byUnits)
	slices.SortFunc(f.Modified, byUnits)
	return f
}

// byUnits compares as JavaScript sorts: by UTF-16 units.
func byUnits(a, b string) int {
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, k := utf8.DecodeRuneInString(b)
		if x != y {
			return cmp.Or(cmp.Compare(firstUnit(x), firstUnit(y)), cmp.Compare(x, y))
		}
		a, b = a[n:], b[k:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit is the first UTF-16 unit of a character.
func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}
