// Package render writes values as text, CSV, JSON and Markdown. It computes none of them:
// begin with package replay or stats, and pass what they return to Write, with the name of a
// form.
package show

import (
	"bufio"
	"cmp"
	"fmt"
	"iter"
	"math"
	"strings"

	"ctxtool/internal/lens/entry"
	"ctxtool/internal/out/body"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Report is a replayed envelope, ready to be printed.
type Report struct {
	Envelope   *replay.Envelope
	Ephemeral  bool // the envelope has the logged request-only messages
	Provenance bool // record where each piece comes from
}

// A Format is a form in which an envelope can be printed.
type Format struct {
	Name  string
	About string // one line for help
	// Need is what the form needs of a path besides its leaf's messages.
	Need sessionfmt.Need
}

// Formats are the forms of an envelope, the default first. Those of requests are last.
var Formats = append([]Format{
	{"summary", "tokens by category, as /context shows them", sessionfmt.NeedModel | sessionfmt.NeedSize},
	{"full", "the whole envelope as Markdown, as /context --full shows it", sessionfmt.NeedPath},
	{"json", "the envelope as one JSON object (docs/formats.md)", sessionfmt.NeedPath},
	{"context", "messages, thinkingLevel and model as pi's context building returns them, as JSON",
		sessionfmt.NeedModel | sessionfmt.NeedThinking},
	{"llm", "the messages as a provider gets them, as a JSON array", 0},
	{"native", "the items of the request as the agent of the session sends them, as a JSON array", 0},
}, forms(func(f *body.Form) Format { return Format{f.Name, f.About, sessionfmt.NeedPath} })...)

// forms makes something of each form of a request.
func forms[T any](of func(f *body.Form) T) (all []T) {
	for _, f := range body.Forms {
		all = append(all, of(f))
	}
	return all
}

// writeSummary writes the text of docs/figures.md; its last line names our own
// commands.
func writeSummary(w *bufio.Writer, r Report) error {
	e := r.Envelope
	prompt, err := e.Prompt()
	if err != nil {
		return err
	}
	m, err := entry.MetaOf(e, &tokens.Pi)
	if err != nil {
		return err
	}
	n, model, limit, size := m.Tokens, m.Model, m.Limit, m.Usage
	whole, rest := n.Total, ""
	if e.Replay().Rules != replay.ByEnvelope { // whose text is the reference's
		whole = size.Tokens
		name, more := size.Rest(n.Total)
		rest = phrase.If(more != 0, "\n- %s: ~%s", name, phrase.Short(int64(more)))
	}
	share := func(tokens int) string {
		if limit <= 0 {
			return ""
		}
		return " (" + phrase.OneDecimal(float64(tokens)/float64(limit)*100) + "%)"
	}
	used := 0
	if limit > 0 {
		used = int(min(100, math.Floor(float64(whole)/float64(limit)*100+0.5)))
	}
	of := fmt.Sprintf("~%s/%s tokens (%d%%)", phrase.Short(int64(whole)), phrase.Short(limit), used)
	system := fmt.Sprintf("system: ~%s%s", phrase.Short(int64(n.System)), share(n.System))
	tools := fmt.Sprintf("tools (%d): ~%s%s", len(prompt.Tools), phrase.Short(int64(n.Tools)), share(n.Tools))
	if e.Replay().Rules != replay.ByEnvelope {
		if limit == 0 {
			of = fmt.Sprintf("~%s tokens, window not known", phrase.Short(int64(whole)))
		}
		if n.NoSystem {
			system = "system: not in the file"
		}
		if n.NoTools {
			tools = "tools: not in the file"
		}
	}
	fmt.Fprintf(w, "# Context Usage\n\n[%s] %s · %s\n\n- %s\n- %s", bar(whole, limit), titleOf(e, model), of,
		system, tools)
	for i, t := range prompt.Tools {
		switch {
		case i == 0:
			fmt.Fprintf(w, " — %s", t.Name)
		case i < 12:
			fmt.Fprintf(w, ", %s", t.Name)
		case i == 12:
			w.WriteString(", …")
		}
	}
	fmt.Fprintf(w, "\n- messages: ~%s%s (cached %d", phrase.Short(int64(n.Messages)), share(n.Messages), e.Cached())
	if u := e.Uncached(); u > 0 {
		fmt.Fprintf(w, ", uncached %d", u)
	}
	w.WriteString(")" + rest + "\n")
	if u := e.Uncached(); r.Ephemeral && u > 0 {
		fmt.Fprintf(w, "- ephemerals: yes (%d message%s)\n", u, strings.Repeat("s", min(1, u-1)))
	}
	fmt.Fprintf(w, "\nContext: %s. `ctxtool replay -f context` prints its messages, `-f full` all of it.\n", size)
	reading, err := e.Reading()
	if err != nil {
		return err
	}
	recorded, err := e.Recorded()
	if err != nil {
		return err
	}
	if e.Leaf >= 0 && e.Replay().Rules != replay.ByEnvelope {
		fmt.Fprintf(w, "How it is known: %s.", reading)
		if recorded != nil {
			text, err := recordedText(recorded)
			if err != nil {
				return err
			}
			w.WriteString(text)
		}
		w.WriteByte('\n')
	}
	if e.Leaf >= 0 && !prompt.Known && e.Replay().Rules != replay.ByAgent {
		w.WriteString("System prompt and tools are not in this file; `--baseline FILE` takes them from another.\n")
	}
	return nil
}

// recordedText says what the agent's record of a request proves, or why it proves nothing.
func recordedText(r *dialect.Recorded) (string, error) {
	proof, err := r.Proof()
	switch proof {
	case dialect.Proved:
		rest := strings.Join(r.Unrecorded(), ", ")
		return fmt.Sprintf(" The record in line %d proves it, but for what no record has: %s.", r.Line, rest), err
	case dialect.Cut:
		return fmt.Sprintf(" The record in line %d proves it, but the agent shortened what it recorded.", r.Line), err
	}
	return fmt.Sprintf(" The record in line %d proves nothing: %s.", r.Line, r.Doubt()), err
}

func bar(used int, limit int64) string {
	filled := 0
	if limit > 0 {
		filled = int(max(0, min(20, math.Floor(float64(used)/float64(limit)*20+0.5))))
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", 20-filled)
}

// titleOf returns the name of the model of a context, spelled by the envelope's rules as the reference spells it.
func titleOf(e *replay.Envelope, m models.Ref) string {
	if e.Replay().Rules == replay.ByEnvelope {
		return m.Provider + "/" + m.ID
	}
	return m.Name()
}

// writeFull writes the text of docs/figures.md.
func writeFull(w *bufio.Writer, r Report) error {
	e := r.Envelope
	prompt, err := e.Prompt()
	if err != nil {
		return err
	}
	model, limit, _, err := e.Model()
	if err != nil {
		return err
	}
	window, noParts, noTools := fmt.Sprint(limit), "", "(none)"
	if e.Replay().Rules != replay.ByEnvelope { // whose text is the reference's
		system, tools := e.Unrecorded(prompt)
		if limit == 0 {
			window = "not known"
		}
		if system {
			noParts = "(not in the file)\n\n"
		}
		if tools {
			noTools = "(not in the file)"
		}
	}
	fmt.Fprintf(w, "# Context Envelope\n\n## Meta\n\n- model: %s\n- context window: %s\n\n", titleOf(e, model), window)
	fmt.Fprintf(w, "## Options\n\n```json\n%s\n```\n\n## System (parts)\n\n", indentOptions(prompt.Options))
	for _, p := range prompt.Parts {
		fmt.Fprintf(w, "### %s\n```text\n%s\n```\n\n", p.Name, jsonl.UTF8(p.Text))
	}
	if len(prompt.Parts) == 0 {
		w.WriteString(noParts)
	}
	w.WriteString("## Tools\n\n")
	for _, tool := range prompt.Tools {
		fmt.Fprintf(w, "- **%s**: %s\n", tool.Name, truthyText(tool.Raw.Get("description")))
	}
	if len(prompt.Tools) == 0 {
		w.WriteString(noTools + "\n")
	}
	fmt.Fprintf(w, "\n## Messages (cached)\n\ncount: %d\n\n", e.Cached())
	if err := writeMessageLines(w, e.CachedMessages()); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n## Messages (uncached)\n\ncount: %d\n\n", e.Uncached())
	if err := writeMessageLines(w, e.UncachedMessages()); err != nil {
		return err
	}
	if err := writeTransforms(w, e); err != nil {
		return err
	}
	if e.Ephemerals > 0 {
		fmt.Fprintf(w, "\n## Ephemeral (request-only log)\n\ncount: %d\n", e.Ephemerals)
	}
	return nil
}

// opNames returns the operations of a transform.
func opNames(transform jsonl.Value) string {
	var names []string
	for op := range transform.Get("patch").Elements {
		names = append(names, op.Get("op").Text())
	}
	return strings.Join(names, ", ")
}

// indentOptions returns the options as JSON, indented by two blanks.
func indentOptions(o prompt.Options) string {
	var lines []string
	for _, f := range o.Fields() {
		lines = append(lines, fmt.Sprintf("  %q: %s", f.Name, f.Value.AppendMinified(nil)))
	}
	if len(lines) == 0 {
		return "{}"
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n}"
}

func writeMessageLines(w *bufio.Writer, messages iter.Seq2[replay.Message, error]) error {
	i := 0
	for m, err := range messages {
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%d. **%s** — %s\n", i, m.Raw.Get("role").Text(), clip(jsonl.TrimJS(messageText(m.Raw)), 2000))
		i++
	}
	return nil
}

// messageText returns the content of a message on one line of the full text.
func messageText(v jsonl.Value) string {
	var f [3]jsonl.Value
	v.Fields(f[:], "role", "content", "toolName")
	var b strings.Builder
	if f[0].Is("toolResult") {
		b.WriteString("[toolResult " + f[2].Text() + "] ")
	}
	for _, block := range f[1].Blocks(jsonl.Unknown) {
		switch block.Kind {
		case jsonl.TextBlock:
			b.WriteString(block.Text.Text())
		case jsonl.ImageBlock:
			b.WriteString("[image]")
		case jsonl.ThinkingBlock:
			b.WriteString("[thinking]")
		case jsonl.CallBlock:
			b.WriteString("[toolCall " + block.Name.Text() + "]")
		}
	}
	return b.String()
}

// clip cuts a text at n UTF-16 units and marks the cut. Half of a character that it splits
// prints as U+FFFD, as it does from JavaScript.
func clip(s string, n int) string {
	for i, r := range s {
		units := 1
		if r > 0xffff {
			units = 2
		}
		switch {
		case n == 0:
			return s[:i] + "…"
		case n < units:
			return s[:i] + "\uFFFD…"
		}
		n -= units
	}
	return s
}

func writeTransforms(w *bufio.Writer, e *replay.Envelope) error {
	if len(e.Transforms) == 0 {
		return nil
	}
	w.WriteString("\n## Context transforms (persisted)\n")
	lines := e.Replay().Session.NewReader()
	for _, rec := range e.Transforms {
		line, err := lines.Line(rec)
		if err != nil {
			return err
		}
		writeTransform(w, line)
	}
	return nil
}

func writeTransform(w *bufio.Writer, line jsonl.Value) {
	display := line.Get("display")
	shown := func(name string) string { return truthyText(display.Get(name)) }
	fmt.Fprintf(w, "\n### %s\n",
		cmp.Or(shown("title"), truthyText(line.Get("transformerName")), "(unknown)"))
	if summary := shown("summary"); summary != "" {
		fmt.Fprintf(w, "\n%s\n", summary)
	}
	if id := shown("rendererId"); id != "" {
		fmt.Fprintf(w, "\nrendererId: `%s`\n", id)
	}
	if text := shown("markdown"); text != "" {
		fmt.Fprintf(w, "\n%s\n", text)
	} else {
		fmt.Fprintf(w, "\nops: %s\n", opNames(line))
	}
}
