package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// WriteBlame writes where a context comes from for people, a line a message, cut to a
// width in columns; 0 is what fits a page.
func WriteBlame(w *bufio.Writer, all []replay.Item, width int) {
	for _, r := range all {
		by := ""
		if r.By != "" {
			by = sessionfmt.Quote(r.By)
		}
		if r.Op >= 0 {
			by += fmt.Sprintf(" op %d", r.Op)
		}
		what := r.As
		if r.Index >= 0 {
			what = fmt.Sprintf("%d %s", r.Index, r.As)
		}
		if r.Uncached {
			what += "*"
		}
		line := ""
		if r.Line > 0 {
			line = fmt.Sprint(r.Line)
		}
		name := ""
		if r.Name != "" {
			name = sessionfmt.Quote(r.Name) + ": "
		}
		put(w, strings.TrimRight(fmt.Sprintf("%-8s %5s %s %-13s %-13s %-14s  %s%s", orDash(sessionfmt.Quote(r.ID)), line, clock(r.Time),
			shortKind(r.Kind), by, sessionfmt.Quote(what), name, r.Text), " "), width)
	}
}

// WriteEntering writes what entered a request for people, cut to a width in
// columns.
func WriteEntering(w *bufio.Writer, all []replay.Item, request int, before, after replay.Counts, width int) {
	since := "the start"
	if request > 0 {
		since = fmt.Sprintf("request %d", request-1)
	}
	fmt.Fprintf(w, "request %d: %d tokens, %+d since %s\n", request, after.Total, after.Total-before.Total, since)
	for _, r := range all {
		from := orDash(sessionfmt.Quote(r.ID))
		switch {
		case r.Op >= 0:
			from = fmt.Sprintf("%s op %d", sessionfmt.Quote(r.By), r.Op)
		case r.By != "":
			from += " by " + sessionfmt.Quote(r.By)
		}
		name := ""
		if r.Name != "" {
			name = sessionfmt.Quote(r.Name) + ": "
		}
		put(w, fmt.Sprintf("  %-10s %-20s  %s%s", r.As, from, name, r.Text), width)
	}
}
