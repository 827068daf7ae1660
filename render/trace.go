package render

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// WriteTrace writes lives for people, those together that came to the same end and
// first what is there now, cut to a width in columns; 0 is what fits a page.
func WriteTrace(w *bufio.Writer, lives []*replay.Life, width int) error {
	now := endOf(&replay.Life{Now: true})
	ends := []string{now}
	of := map[string][]*replay.Life{}
	for _, r := range lives {
		end := endOf(r)
		if of[end] == nil && end != now {
			ends = append(ends, end)
		}
		of[end] = append(of[end], r)
	}
	first := true
	for _, end := range ends {
		if of[end] == nil {
			continue
		}
		if !first {
			w.WriteByte('\n')
		}
		first = false
		fmt.Fprintf(w, "%s (%d)\n", end, len(of[end]))
		for _, r := range of[end] {
			writeLife(w, r, width)
		}
	}
	return nil
}

// endOf is what has become of it, as a heading.
func endOf(r *replay.Life) string {
	switch {
	case r.Now:
		return "in the context now"
	case r.Why == replay.OffPath:
		return "never in this context: on another branch"
	case r.Why == replay.Behind:
		return "not known: behind a broken patch"
	case r.Why != "":
		return "never in a context: no model gets it"
	}
	last := r.Events[len(r.Events)-1]
	return "gone: " + eventText(&last)
}

// eventText is an event in words.
func eventText(e *replay.Event) string {
	at := "line " + fmt.Sprint(e.Line)
	if e.ID != "" {
		at = sessionfmt.Quote(e.ID) + ", " + at
	}
	if e.Op >= 0 {
		at += fmt.Sprintf(", op %d", e.Op)
	}
	at += fmt.Sprintf(", before #%d", e.Request)
	return fmt.Sprintf("%s by %s%s", e.Did, at, mentioned(e))
}

// mentioned says whether what stands there instead holds it.
func mentioned(e *replay.Event) string {
	what := map[replay.Fate]string{replay.FateSummed: "the summary", replay.FateReplaced: "what replaced it"}[e.Did]
	switch {
	case e.Mentions == nil:
		return ""
	case what != "" && *e.Mentions:
		return "; " + what + " still mentions it"
	case what != "":
		return "; " + what + " does not mention it"
	case *e.Mentions:
		return "; it is still in there"
	}
	return ""
}

// writeLife writes what it is, the words, and what happened in between.
func writeLife(w *bufio.Writer, r *replay.Life, width int) {
	what := cmp.Or(r.Kind, r.As)
	if r.As == "part" || r.As == "tool" {
		what = r.As + " " + sessionfmt.Quote(r.Name)
	}
	head := fmt.Sprintf("  %-8s %s", orDash(sessionfmt.Quote(r.ID)), what)
	if r.Line > 0 {
		head += fmt.Sprintf(", line %d", r.Line)
	}
	if at := strings.TrimSpace(clock(r.Time)); at != "" {
		head += ", " + at
	}
	if r.Why == "" {
		head += ": " + seenBy(r.Seen)
	}
	put(w, head, width)
	if r.Text != "" {
		put(w, "           "+r.Text, width)
	}
	events := r.Events
	if len(events) > 0 && (events[0].Did == replay.FateEntered && events[0].ID == r.ID && r.Op < 0) {
		events = events[1:]
	}
	if !r.Now && len(events) > 0 {
		events = events[:len(events)-1] // the heading has it
	}
	for _, e := range events {
		put(w, "           "+eventText(&e), width)
	}
}

// seenBy says which requests have seen it.
func seenBy(requests []replay.Range) string {
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
