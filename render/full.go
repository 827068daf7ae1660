package render

import (
	"bufio"
	"fmt"
	"iter"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var fullFormat = Format{
	Name:  "full",
	About: "the whole envelope as Markdown, as /context --full shows it",
	Need:  sessionfmt.NeedPath,
	write: writeFull,
}

// writeFull is the text of spec/pi-format.md 8.3.
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
	fmt.Fprintf(w, "# Context Envelope\n\n## Meta\n\n- model: %s/%s\n- context window: %d\n\n", model.Provider, model.ID, limit)
	fmt.Fprintf(w, "## Options\n\n```json\n%s\n```\n\n## System (parts)\n\n", indentOptions(prompt.Options))
	for _, p := range prompt.Parts {
		fmt.Fprintf(w, "### %s\n```text\n%s\n```\n\n", p.Name, p.Text)
	}
	w.WriteString("## Tools\n\n")
	if len(prompt.Tools) == 0 {
		w.WriteString("(none)\n")
	}
	for _, t := range prompt.Tools {
		fmt.Fprintf(w, "- **%s**: %s\n", t.Name, t.Raw.Get("description").Text())
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

// indentOptions is the options as JSON, two blanks deep.
func indentOptions(o replay.ModelOptions) string {
	var lines []string
	for _, f := range optionFields(o) {
		lines = append(lines, fmt.Sprintf("  %q: %s", f.name, f.val.AppendCompact(nil)))
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
		fmt.Fprintf(w, "%d. **%s** — %s\n", i, m.Raw.Get("role").Text(), clip(sessionfmt.TrimJS(messageText(m.Raw)), 2000))
		i++
	}
	return nil
}

// messageText is what a message says on one line of the full text.
func messageText(v sessionfmt.Value) string {
	var f [3]sessionfmt.Value
	v.Fields(f[:], "role", "content", "toolName")
	var b strings.Builder
	if f[0].Is("toolResult") {
		b.WriteString("[toolResult " + f[2].Text() + "] ")
	}
	for _, block := range f[1].Blocks(sessionfmt.Unknown) {
		switch block.Kind {
		case sessionfmt.TextBlock:
			b.WriteString(block.Says.Text())
		case sessionfmt.ImageBlock:
			b.WriteString("[image]")
		case sessionfmt.ThinkingBlock:
			b.WriteString("[thinking]")
		case sessionfmt.CallBlock:
			b.WriteString("[toolCall " + block.Name.Text() + "]")
		}
	}
	return b.String()
}

// clip cuts a text at n UTF-16 units and marks the cut. Half of a character that
// the cut goes through prints as U+FFFD, as it does from JavaScript.
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
		display := line.Get("display")
		title := "(unknown)"
		for _, v := range []sessionfmt.Value{line.Get("transformerName"), display.Get("title")} {
			if v.Truthy() {
				title = v.Text()
			}
		}
		fmt.Fprintf(w, "\n### %s\n", title)
		if v := display.Get("summary"); v.Truthy() {
			fmt.Fprintf(w, "\n%s\n", v.Text())
		}
		if v := display.Get("rendererId"); v.Truthy() {
			fmt.Fprintf(w, "\nrendererId: `%s`\n", v.Text())
		}
		if v := display.Get("markdown"); v.Truthy() {
			fmt.Fprintf(w, "\n%s\n", v.Text())
			continue
		}
		var names []string
		for op := range line.Get("patch").Elements {
			names = append(names, op.Get("op").Text())
		}
		fmt.Fprintf(w, "\nops: %s\n", strings.Join(names, ", "))
	}
	return nil
}
