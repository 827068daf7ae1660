package render

import (
	"bytes"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// WriteLogText writes a row as one line for people, cut to a width in columns; 0
// is what fits a page.
func WriteLogText(w *bytes.Buffer, r *replay.LogRow, width int) error {
	mark := r.Mark
	if r.Request != nil {
		mark = fmt.Sprintf("#%d", *r.Request)
	}
	tokens, context := "", ""
	if r.Tokens != nil && *r.Tokens != 0 {
		tokens = fmt.Sprintf("%+d", *r.Tokens)
	}
	if r.Context != nil {
		context = short(int64(*r.Context))
	}
	text := r.Text
	if b := r.Boundary; b != nil {
		text = fmt.Sprintf("[%s#%d, %s (inferred)] %s", behind(b.After), b.Before, b.Likely, text)
	}
	active := " "
	if !r.Active {
		active = "○"
	}
	id := orDash(sessionfmt.Quote(r.ID))
	if r.Kind == sessionfmt.Header.String() {
		id = "-" // is the session's, and long
	}
	line := fmt.Sprintf("%s%-5s %s %-8s %-13s %8s %7s  %s", active, mark, clock(r.Time), id,
		shortKind(r.Kind), tokens, context, text)
	w.WriteString(strings.TrimRight(fit(line, lineWidth(width)), " "))
	return w.WriteByte('\n')
}

func behind(request int) string {
	if request < 0 {
		return "before "
	}
	return fmt.Sprintf("#%d to ", request)
}

// clock is a timestamp's day and time, in the file's own zone, mostly UTC.
func clock(stamp string) string {
	if len(stamp) < 19 || stamp[10] != 'T' {
		return "              "
	}
	return sessionfmt.Clean(stamp[5:10] + " " + stamp[11:19])
}

// shortKind is a kind's name in 13 columns.
func shortKind(kind string) string {
	switch kind {
	case "thinking_level_change":
		return "thinking"
	case "context_transform":
		return "transform"
	case "branch_summary":
		return "branch"
	case "custom_message":
		return "custom_msg"
	}
	return fit(kind, 13)
}
