package show

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/lens/entry"
	"ctxtool/internal/lens/trace"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// writeTrace writes a trace as text: files that the query names, then messages by their state,
// those in the context first.
func writeTrace(w *bufio.Writer, found *trace.Tracing, on Screen) {
	for _, f := range found.Files {
		writeTracedFile(w, f, on)
		w.WriteByte('\n')
	}
	ends := grouped(found.Lives, endOf)
	if now := slices.IndexFunc(ends, func(all []*trace.Life) bool { return all[0].Now }); now > 0 {
		ends = slices.Insert(slices.Delete(slices.Clone(ends), now, now+1), 0, ends[now])
	}
	for k, all := range ends {
		as := changed
		if all[0].Now {
			as = good
		}
		fmt.Fprintf(w, "%s%s (%d)\n", phrase.If(k > 0, "\n"), on.paint(as, endOf(all[0])), len(all))
		for _, r := range all {
			writeLife(w, r, on)
		}
	}
}

// grouped returns the elements with the same key as lists, in the order of their first elements.
func grouped[T any, K comparable](all []T, key func(T) K) (groups [][]T) {
	at := map[K]int{}
	for _, one := range all {
		k, ok := at[key(one)]
		if !ok {
			k = len(groups)
			at[key(one)], groups = k, append(groups, nil)
		}
		groups[k] = append(groups[k], one)
	}
	return groups
}

// writeTracedFile writes what was done with a file, what of it is in the context, and what was
// lost, by the event that removed it.
func writeTracedFile(w *bufio.Writer, f *trace.File, on Screen) {
	var did []string
	for _, c := range []struct {
		what string
		n    int
	}{{"read", f.Reads}, {"edited", f.Edits}, {"written", f.Writes}} {
		if c.n > 0 {
			did = append(did, c.what+" "+times(c.n))
		}
	}
	put(w, sessionfmt.Clean(f.Path)+": "+strings.Join(did, ", ")+phrase.If(f.Failed > 0, "; %d failed", f.Failed), on)
	var now []string
	var lost []trace.Holding
	for _, h := range f.Holdings {
		if h.Lost != nil {
			lost = append(lost, h)
			continue
		}
		now = append(now, fmt.Sprintf("%s (%s)", orDash(entryID(h.ID)), h.Did))
	}
	if len(now) > 0 {
		put(w, fmt.Sprintf("  in the context: ~%d tokens of %s: %s", f.Tokens, phrase.Count(len(now), "entry"),
			strings.Join(now, ", ")), on)
	} else {
		put(w, "  not in the context", on)
	}
	by := func(h trace.Holding) trace.Event {
		e := *h.Lost
		e.Mentions = nil
		return e
	}
	for _, all := range grouped(lost, by) {
		tokens, e := 0, by(all[0])
		for _, h := range all {
			tokens += h.Tokens
		}
		put(w, fmt.Sprintf("  lost: ~%d tokens of %s, %s", tokens, phrase.Count(len(all), "entry"), eventText(&e)), on)
	}
}

// times returns a number of times in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return phrase.Count(n, "time")
}

func writeTraceLines(w *bufio.Writer, found *trace.Tracing) error {
	if err := writeLines(w, found.Files); err != nil {
		return err
	}
	return writeLines(w, found.Lives)
}

// endOf returns the state of a message as a heading.
func endOf(r *trace.Life) string {
	switch {
	case r.Now:
		return "in the context"
	case r.Why == trace.OffPath:
		return "not in the context: on another branch"
	case r.Why == trace.AfterBroken:
		return "unknown: after a broken patch"
	case r.Why != "":
		return "never in a context: not sent to a model"
	}
	last := r.Events[len(r.Events)-1]
	return "not in the context: " + eventText(&last)
}

func eventText(e *trace.Event) string {
	id := phrase.If(e.ID != "", "%s, ", entryID(e.ID))
	return fmt.Sprintf("%s by %sline %d%s, before #%d%s", e.Did, id, e.Line, phrase.If(e.Op >= 0, ", op %d", e.Op),
		e.Request, mentioned(e))
}

// mentioned returns, in words, whether the text that replaced a message still has the query.
func mentioned(e *trace.Event) string {
	what := map[trace.Change]string{trace.ChangeSummed: "the summary", trace.ChangeReplaced: "what replaced it"}[e.Did]
	switch {
	case e.Mentions == nil:
		return ""
	case what != "" && *e.Mentions:
		return "; " + what + " still mentions it"
	case what != "":
		return "; " + what + " does not mention it"
	case *e.Mentions:
		return "; still mentioned"
	}
	return ""
}

// writeLife writes a message with its requests, its first words, and its events.
func writeLife(w *bufio.Writer, r *trace.Life, on Screen) {
	what := cmp.Or(r.Kind, r.As)
	if r.As == "part" || r.As == "tool" {
		what = r.As + " " + sessionfmt.Quote(r.Name)
	}
	at := strings.TrimSpace(clock(r.Time))
	put(w, "  "+on.paint(faint, fmt.Sprintf("%-8s", orDash(entryID(r.ID))))+" "+
		on.paint(kindStyle(cmp.Or(r.Kind, r.As)), what)+phrase.If(r.Line > 0, ", line %d", r.Line)+
		phrase.If(at != "", ", %s", at)+phrase.If(r.Why == "", ": %s", seenBy(r.Seen)), on)
	if r.Text != "" {
		put(w, "           "+r.Text, on)
	}
	events := r.Events
	if len(events) > 0 && (events[0].Did == trace.ChangeEntered && events[0].ID == r.ID && r.Op < 0) {
		events = events[1:]
	}
	if !r.Now && len(events) > 0 {
		events = events[:len(events)-1] // the heading has it
	}
	for _, e := range events {
		put(w, "           "+eventText(&e), on)
	}
}

// seenBy returns the requests that had a message, in words.
func seenBy(requests []trace.Range) string {
	if len(requests) == 0 {
		return "seen by no request"
	}
	var all []string
	for _, s := range requests {
		if s.First == s.Last {
			all = append(all, fmt.Sprintf("#%d", s.First))
		} else {
			all = append(all, fmt.Sprintf("#%d to #%d", s.First, s.Last))
		}
	}
	return "seen by " + strings.Join(all, ", ")
}

// writeBlame writes where a context comes from, a row an item.
func writeBlame(w *bufio.Writer, all []entry.Item, on Screen) {
	WriteTable(w, table.Of(all, []col[*entry.Item]{
		{Name: "entry", Value: func(r *entry.Item) any { return orDash(entryID(r.ID)) }},
		{Name: "line", Unit: table.Number, Yields: 2, Style: always(faint), Value: func(r *entry.Item) any {
			return table.Unless0(r.Line)
		}},
		{Name: "time", Value: func(r *entry.Item) any { return clock(r.Time) }, Yields: 4, Style: always(faint)},
		{Name: "kind", Value: func(r *entry.Item) any { return shortKind(r.Kind) }, Yields: 3, Style: kindStyle},
		{Name: "changed by", Yields: 1, Style: always(changed), Value: func(r *entry.Item) any {
			return sessionfmt.Quote(r.By) + phrase.If(r.Op >= 0, " op %d", r.Op)
		}},
		{Name: "#", Unit: table.Number, Value: func(r *entry.Item) any { return r.Index }},
		{Name: "as", Style: kindStyle, Value: func(r *entry.Item) any {
			return sessionfmt.Quote(r.As) + phrase.If(r.Uncached, "*")
		}},
		{Name: "text", Value: func(r *entry.Item) any { return itemName(r) + r.Text }, Flex: true},
	}), on)
}

// itemName returns the prefix of a text that has a name.
func itemName(r *entry.Item) string { return phrase.If(r.Name != "", "%s: ", sessionfmt.Quote(r.Name)) }

// Entering is what entered a request, and how large the context was before and after.
type Entering struct {
	Items         []entry.Item
	Request       int
	Before, After weigh.Size
}

// tokensIn returns the tokens of a context, marked if no provider recorded any of them.
func tokensIn(s weigh.Size) string { return phrase.If(s.Guessed(), "~") + strconv.Itoa(s.Tokens) }

func writeEntering(w *bufio.Writer, e Entering, on Screen) {
	since := "the start"
	if e.Request > 0 {
		since = fmt.Sprintf("request %d", e.Request-1)
	}
	more := fmt.Sprintf(", %+d since %s", e.After.Tokens-e.Before.Tokens, since)
	if e.Before.Guessed() != e.After.Guessed() && e.Request > 0 {
		more = "" // of the one before, only a part is known
	}
	fmt.Fprintf(w, "%s %s tokens%s\n", on.paint(heading, fmt.Sprintf("request %d:", e.Request)), tokensIn(e.After),
		more)
	for _, r := range e.Items {
		from := orDash(entryID(r.ID))
		switch {
		case r.Op >= 0:
			from = fmt.Sprintf("%s op %d", sessionfmt.Quote(r.By), r.Op)
		case r.By != "":
			from += " by " + sessionfmt.Quote(r.By)
		}
		put(w, "  "+on.paint(kindStyle(r.As), fmt.Sprintf("%-10s", r.As))+" "+
			on.paint(faint, fmt.Sprintf("%-20s", from))+"  "+
			on.paint(heading, itemName(&r))+on.text(r.As, true, r.Text), on)
	}
}

// annotate writes a workflow command of GitHub Actions, which shows the text beside the line
// of a file, or without one, with the run. A level is error, warning or notice.
func annotate(w *bufio.Writer, level, file string, line int, title, text string) {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	fmt.Fprintf(w, "::%s %s%stitle=%s::%s\n", level, phrase.If(file != "", "file=%s,",
		property.Replace(sessionfmt.Clean(file))), phrase.If(file != "" && line > 0, "line=%d,", line),
		property.Replace(sessionfmt.Clean(title)), value.Replace(sessionfmt.Clean(text)))
}

// writeShownJSON writes entries as one object, schema ctxtool/show/1.
func writeShownJSON(w *bufio.Writer, all []entry.Shown) error {
	w.WriteString(`{"schema":"ctxtool/show/1","entries":[`)
	for i, s := range all {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('\n')
		if err := writeOpen(w, s); err != nil {
			return err
		}
		fmt.Fprintf(w, `,"entry":%s}`, s.Entry)
	}
	_, err := w.WriteString("\n]}\n")
	return err
}

func writeShownRaw(w *bufio.Writer, all []entry.Shown, _ Screen) {
	for _, s := range all {
		fmt.Fprintf(w, "%s\n", s.Entry)
	}
}

// writeShown writes entries as text: the kind of each, its effect, and its JSON.
func writeShown(w *bufio.Writer, all []entry.Shown, on Screen) error {
	for i, s := range all {
		if i > 0 {
			w.WriteByte('\n')
		}
		proseOn(w, on).entry(&s)
		for line := range strings.Lines(string(phrase.Indent(s.Entry))) {
			w.WriteString(sessionfmt.Clean(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	return nil
}

// entry writes what an entry is and what it does.
func (p prose) entry(s *entry.Shown) {
	kind := p.paint(kindStyle(s.Kind), s.Kind)
	label := markup("")
	if s.Label != "" {
		label = p.paint(changed, " ["+sessionfmt.Quote(s.Label)+"]")
	}
	p.line("%v %v, line %v%v%v%v", p.paint(heading, orDash(entryID(s.ID))), kind, s.Line, label,
		phrase.If(s.Parent != "", ", below %s", sessionfmt.Quote(s.Parent)),
		phrase.If(!s.Active, ", not on the path to the leaf"))
	if s.Effect != nil {
		p.effect(s.Effect)
	}
	display := s.Entry.Get("display")
	if title := truthyText(display.Get("title")); title != "" {
		summary := truthyText(display.Get("summary"))
		p.line("  shown as: %v%v", title, phrase.If(summary != "", ", %s", summary))
	}
	if id := truthyText(display.Get("rendererId")); id != "" {
		props := string(display.Get("rendererProps").AppendMinified(nil))
		p.line("  drawn by: %v%v", id, phrase.If(props != "", " with %s", props))
	}
}

// truthyText returns a text, empty for a value that is none.
func truthyText(v jsonl.Value) string {
	if !v.Truthy() {
		return ""
	}
	return v.Text()
}

// effect writes how an entry changes the context.
func (p prose) effect(e *entry.Effect) {
	was, is := e.Was.Or(e.Before), e.Is.Or(e.After)
	comparable := was.Guessed() == is.Guessed() // else of one of them only a part is known
	change := func(name string, by int) string { return phrase.If(by != 0, "; %s %+d", name, by) }
	p.line("  context: %v to %v tokens%v%v%v%v", tokensIn(was), tokensIn(is),
		phrase.If(comparable, " (%+d)", is.Tokens-was.Tokens), change("system", e.After.System-e.Before.System),
		change("tools", e.After.Tools-e.Before.Tools), change("messages", e.After.Messages-e.Before.Messages))
	if e.Entered != 0 {
		p.line("  messages entered: %v", e.Entered)
	}
	for _, list := range []struct {
		what  string
		as    style
		names []string
	}{
		{"parts set", added, e.Parts}, {"parts removed", removed, e.PartsRemoved}, {"tools set", added, e.Tools},
		{"tools removed", removed, e.ToolsRemoved},
	} {
		if len(list.names) > 0 {
			p.line("  %v: %v", list.what, p.paint(list.as, strings.Join(list.names, ", ")))
		}
	}
	kept := p.paint("", "kept")
	if e.Broken != "" {
		kept = p.paint(warning, "broken, "+e.Broken)
	}
	p.line("  cached prefix: %v", kept)
}

// writeCountLines writes an object for each text, and the sum on the last line.
func writeCountLines(w *bufio.Writer, t *tokens.Texts) error {
	for _, r := range t.Rows {
		r.Schema = t.Schema
		if err := WriteJSON(w, r); err != nil {
			return err
		}
	}
	return WriteJSON(w, tokens.Texts{Schema: t.Schema, Counters: t.Counters, Total: t.Total})
}

// countTable returns the texts for programs; by total the sum is the only row.
func countTable(t *tokens.Texts) table.Table {
	rows := t.Rows
	if t.By == "total" {
		rows = []tokens.Text{t.Total}
	}
	return table.Of(rows, append([]col[*tokens.Text]{
		{Name: "file", Value: func(t *tokens.Text) any { return t.File }},
		{Name: "line", Unit: table.Number, Value: func(t *tokens.Text) any { return table.Unless0(t.Line) }},
		{Name: "bytes", Unit: table.Number, Value: func(t *tokens.Text) any { return t.Bytes }},
	}, counted(t)...))
}

// counted returns a column for each counter.
func counted(t *tokens.Texts) (columns []col[*tokens.Text]) {
	for i, c := range t.Counters {
		columns = append(columns, col[*tokens.Text]{Name: c.Name, Unit: table.Tokens, Value: func(r *tokens.Text) any {
			return table.Marked(c.Estimate, r.Tokens[i].N)
		}})
	}
	return columns
}

// writeCount writes a table, with the sum in the last row if there are several.
func writeCount(w *bufio.Writer, t *tokens.Texts, on Screen) {
	rows := t.Rows
	if len(t.Rows) != 1 {
		total := t.Total
		total.File = "total"
		rows = append(slices.Clip(rows), total)
	}
	shown := table.Of(rows, slices.Concat(counted(t), []col[*tokens.Text]{
		{Name: "bytes", Unit: table.Number, Value: func(t *tokens.Text) any { return t.Bytes }},
		{Name: "line", Unit: table.Number, Value: func(t *tokens.Text) any { return table.Unless0(t.Line) }},
	}, []col[*tokens.Text]{
		{Name: "file", Value: func(r *tokens.Text) any { return r.File }, Flex: true},
	}))
	if t.By != "line" {
		shown = shown.Without("line")
	}
	WriteTable(w, shown, on)
}
