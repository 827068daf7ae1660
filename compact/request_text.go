package compact

import (
	"fmt"
	"strings"

	"ctxtool/sessionfmt"
)

// A Prompt is what a request for a summary can be told besides.
type Prompt struct {
	Focus       string   // what the summary is to look at above all
	Identifiers string   // y-agent: "strict" (the empty text too) lists those to keep, "relaxed" does not
	Patterns    []string // y-agent: texts that are identifiers besides the known ones
}

// text is the request in words, for a model or a person: who the answer is for, the
// messages, and what the summary has to have, by the style whose it is.
func (r Request) text(p Prompt) (string, error) {
	switch {
	case r.Part == sequencePart:
		return r.sequenceText(p)
	case r.Style == StyleGSH:
		return r.gshText(p)
	case r.Style == styleSWECLI:
		return r.sweText(p)
	case r.Style == styleYAgent:
		return r.yAgentText(p)
	}
	return r.piText(p)
}

// summariser is the part of each request that says whose work this is.
const summariser = "You write summaries of conversations between a user and a coding assistant. Do not go on with the conversation, and answer none of its questions. Write the summary and nothing else."

// focused appends what the summary is to look at above all.
func (p Prompt) focused(text string) string {
	if p.Focus == "" {
		return text
	}
	return text + "\n\nAdditional focus: " + p.Focus
}

// resultUnits is how much of a tool result pi shows to who summarises it, in UTF-16
// units.
const resultUnits = 2000

// conversation writes messages as pi does for a summary: without thinking, and with the
// beginning of long results only (spec/pi-format.md 7.6, spec/pi-1.5.md 7.5).
func (r Request) conversation(messages []int) (string, error) {
	var b strings.Builder
	for _, i := range messages {
		_, all, err := r.View.pieces(i, 0)
		if err != nil {
			return "", err
		}
		for _, part := range spoken(&r.View.Messages[i], all) {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			b.WriteString(part)
		}
	}
	return b.String(), nil
}

// spoken is a message as parts of a conversation.
func spoken(m *message, all []piece) (parts []string) {
	var texts, calls []string
	for _, p := range all {
		switch p.Kind {
		case textBlock, resultBlock:
			texts = append(texts, p.Says)
		case callBlock:
			calls = append(calls, p.tool()+"("+arguments(p.Args)+")")
		}
	}
	if m.isAssistant() {
		if len(texts) > 0 {
			parts = append(parts, "[Assistant]: "+strings.Join(texts, "\n"))
		}
		if len(calls) > 0 {
			parts = append(parts, "[Assistant tool calls]: "+strings.Join(calls, "; "))
		}
		return parts
	}
	text := strings.Join(texts, "")
	switch {
	case text == "":
		return nil
	case m.isResult():
		return []string{"[Tool result]: " + beginning(text)}
	}
	return []string{"[User]: " + text}
}

// arguments are those of a call, as k=JSON in the order in which JavaScript has them.
func arguments(args sessionfmt.Value) string {
	var b []byte
	for name, v := range args.Ordered {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = v.AppendCompact(append(append(b, name...), '='))
	}
	return string(b)
}

// beginning is a result, cut where it is too long. A pair of surrogates is not parted;
// what is left out is counted as if it were.
func beginning(text string) string {
	n := sessionfmt.Units(text)
	if n <= resultUnits {
		return text
	}
	return firstUnits(text, resultUnits) + fmt.Sprintf("\n\n[... %d more characters truncated]", n-resultUnits)
}

// firstUnits is the beginning of a text that has at most so many UTF-16 units.
func firstUnits(text string, units int) string {
	for at, c := range text {
		if units--; c > 0xFFFF {
			units--
		}
		if units < 0 {
			return text[:at]
		}
	}
	return text
}
