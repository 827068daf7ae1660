package render

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// WriteShownJSON writes entries as one object, schema ctxtool/show/1.
func WriteShownJSON(w *bufio.Writer, all []replay.ShownEntry) error {
	w.WriteString(`{"schema":"ctxtool/show/1","entries":[`)
	for i, s := range all {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('\n')
		var b bytes.Buffer
		inner := bufio.NewWriter(&b)
		if err := writeValue(inner, s); err != nil {
			return err
		}
		inner.Flush()
		w.Write(bytes.TrimSuffix(b.Bytes(), []byte("}")))
		w.WriteString(`,"entry":`)
		w.Write(s.Entry)
		w.WriteByte('}')
	}
	_, err := w.WriteString("\n]}\n")
	return err
}

// WriteShownText writes an entry for people: what it is, what it did, and all of
// it.
func WriteShownText(w *bufio.Writer, s *replay.ShownEntry) error {
	fmt.Fprintf(w, "%s %s, line %d", orDash(sessionfmt.Quote(s.ID)), s.Kind, s.Line)
	if s.Label != "" {
		fmt.Fprintf(w, " [%s]", sessionfmt.Quote(s.Label))
	}
	if s.Parent != "" {
		fmt.Fprintf(w, ", below %s", sessionfmt.Quote(s.Parent))
	}
	if !s.Active {
		w.WriteString(", not on the path to the leaf")
	}
	w.WriteByte('\n')
	if s.Effect != nil {
		writeEffect(w, s.Effect)
	}
	for line := range strings.Lines(string(indented(s.Entry))) {
		w.WriteString(sessionfmt.Clean(strings.TrimSuffix(line, "\n")))
		w.WriteByte('\n')
	}
	return nil
}

func writeEffect(w *bufio.Writer, e *replay.EntryEffect) {
	fmt.Fprintf(w, "  context: %d to %d tokens (%+d)", e.Before.Total, e.After.Total, e.After.Total-e.Before.Total)
	for _, c := range []struct {
		name          string
		before, after int
	}{{"system", e.Before.System, e.After.System}, {"tools", e.Before.Tools, e.After.Tools}, {"messages", e.Before.Messages, e.After.Messages}} {
		if c.before != c.after {
			fmt.Fprintf(w, "; %s %+d", c.name, c.after-c.before)
		}
	}
	w.WriteByte('\n')
	if e.Entered > 0 {
		fmt.Fprintf(w, "  messages entered: %d\n", e.Entered)
	}
	for _, names := range []struct {
		what string
		list []string
	}{{"parts set", e.Parts}, {"parts removed", e.PartsRemoved}, {"tools set", e.Tools}, {"tools removed", e.ToolsRemoved}} {
		if len(names.list) > 0 {
			fmt.Fprintf(w, "  %s: %s\n", names.what, sessionfmt.Clean(strings.Join(names.list, ", ")))
		}
	}
	if e.Broken != "" {
		fmt.Fprintf(w, "  cached prefix: broken, %s\n", e.Broken)
	} else {
		w.WriteString("  cached prefix: kept\n")
	}
}
