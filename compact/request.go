package compact

import (
	"cmp"
	_ "embed" // of the texts of requests
	"fmt"
	"strings"
	"sync"
	"text/template"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A Prompt sets how a request for a summary is worded.
type Prompt struct {
	Focus       string   // what the summary should concentrate on
	Identifiers string   // y-agent: "strict" (the empty text too) lists those to keep, "relaxed" does not
	Patterns    []string // y-agent: texts that are identifiers besides the known ones

	Own *Wording // from ParsePrompt, replaces the policy's prompt; nil for that
}

//go:embed requests.tmpl
var requestTexts string

var requests = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Parse(requestTexts)) // it is in the binary
})

// notesStyle is the style of session notes, with SWE-CLI's layout.
const notesStyle Style = "notes"

// NotesRequest returns a request for notes of a whole context, given the existing notes, empty
// for none.
func NotesRequest(e *replay.Envelope, existing string) (Request, error) {
	v, err := NewView(e, nil)
	if err != nil {
		return Request{}, err
	}
	return Request{View: v, Style: notesStyle, Part: historyPart, Messages: v.live(), Previous: existing}, nil
}

// text returns the exact text of the request, for a model or a person: who the answer is for, the
// messages, and what the summary must contain, by its style.
func (r Request) text(p Prompt) (string, error) {
	in := requestText{Previous: r.Previous, Focus: p.Focus, Part: string(r.Part), Messages: len(r.Messages)}
	name, named := string(cmp.Or(r.Style, StylePi)), ""
	if r.Style == styleSWECLI {
		in.Conversation = r.sweHistory()
	} else {
		in.Conversation = r.conversation(r.Messages)
		named = r.Previous + "\n" + in.Conversation
	}
	if r.Part == sequencePart {
		name, named = "sequence", in.Conversation
		in.Before, in.After = r.conversation(r.Before), r.conversation(r.After)
	}
	if r.Style == styleYAgent {
		in.Identifiers = p.identifiers(named)
	}
	for _, i := range r.Messages {
		in.Tokens += r.View.Messages[i].Tokens(r.View.counter)
	}
	if r.View.texts.err != nil {
		return "", r.View.texts.err
	}
	var b strings.Builder
	if p.Own != nil {
		err := p.Own.write(&b, in)
		return b.String(), err
	}
	err := requests().ExecuteTemplate(&b, name, in)
	return b.String(), err
}

// resultUnits is the part of a tool result that pi includes in a request, UTF-16 units.
const resultUnits = 2000

// conversation returns messages as pi writes them for a summary: without thinking, and with
// only the beginning of long results (docs/session-format.md 9.5).
func (r Request) conversation(messages []int) string {
	var parts []string
	for _, i := range messages {
		_, all := r.View.pieces(i, 0)
		parts = append(parts, spoken(&r.View.Messages[i], all)...)
	}
	return strings.Join(parts, "\n\n")
}

// told returns the texts of a message, and its calls as spell writes them.
func told(all []piece, spell func(call *piece) string) (texts, calls []string) {
	for k := range all {
		switch p := &all[k]; p.Kind {
		case jsonl.TextBlock, ResultBlock:
			texts = append(texts, p.Says)
		case jsonl.CallBlock:
			calls = append(calls, spell(p))
		}
	}
	return texts, calls
}

// spoken returns a message as parts of a conversation.
func spoken(m *Message, all []piece) (parts []string) {
	texts, calls := told(all, func(call *piece) string { return call.tool() + "(" + arguments(call.Args) + ")" })
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

// arguments returns the arguments of a call, as k=JSON in JavaScript's order.
func arguments(args jsonl.Value) string {
	var b []byte
	for name, v := range args.Ordered {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = v.AppendMinified(append(append(b, name...), '='))
	}
	return string(b)
}

// beginning returns a result, cut to resultUnits. It does not split a surrogate pair, but
// counts the omitted characters as if it did.
func beginning(text string) string {
	n := jsonl.Units(text)
	if n <= resultUnits {
		return text
	}
	return firstUnits(text, resultUnits) + fmt.Sprintf("\n\n[... %d more characters truncated]", n-resultUnits)
}

// firstUnits returns the beginning of a text, at most so many UTF-16 units.
func firstUnits(text string, units int) string { return text[:endOf(text, units, 2)] }

// sweChars is the number of characters of a message that SWE-CLI includes.
const sweChars = 500

// sweHistory returns messages as SWE-CLI writes them.
func (r Request) sweHistory() string {
	var b strings.Builder
	for k, i := range r.Messages {
		m := &r.View.Messages[i]
		_, all := r.View.pieces(i, 0)
		texts, tools := told(all, (*piece).tool)
		role := "USER"
		switch {
		case m.isAssistant():
			role = "ASSISTANT"
		case m.isResult():
			role = "TOOL"
		}
		if len(tools) > 0 {
			role += " [Tools: " + strings.Join(tools, ", ") + "]"
		}
		text := strings.Join(texts, "\n")
		fmt.Fprintf(&b, "%d. %s: %s\n", k+1, role, text[:scalarEnd(text, sweChars)])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A requestText is the data of a request's template. Its fields are the placeholders of
// docs/summarizers.md.
type requestText struct {
	Conversation string // the messages to be summarised, as the policy writes them
	Previous     string // the earlier summary, which the new one must include
	Before       string // of a finished piece of work: the user's message before it
	After        string // of a finished piece of work: the answer after it
	Identifiers  string // y-agent: what the summary must keep verbatim, with an introductory sentence
	Focus        string // of --focus
	Part         string // history, turn-prefix or sequence
	Messages     int    // of the conversation
	Tokens       int    // of the conversation
}

// Wording is the text of a prompt, from ParsePrompt.
type Wording struct {
	text  *template.Template
	after bool // the text comes after the conversation, of which it has no placeholder
}

// write writes a request with this wording.
func (w *Wording) write(b *strings.Builder, t requestText) error {
	if w.after {
		fmt.Fprintf(b, "<conversation>\n%s\n</conversation>\n\n", t.Conversation)
	}
	return w.text.Execute(b, t)
}

// ParsePrompt parses a prompt for summaries. A prompt without the placeholder of the
// conversation is placed after it.
func ParsePrompt(text string) (*Wording, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("the prompt is empty")
	}
	own := &Wording{after: !strings.Contains(text, ".Conversation")}
	var err error
	if own.text, err = template.New("prompt").Parse(text); err == nil {
		err = own.write(new(strings.Builder), requestText{}) // an unknown placeholder
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the placeholders are {{.Conversation}}, {{.Previous}}, {{.Before}}, {{.After}}, "+
			"{{.Identifiers}}, {{.Focus}}, {{.Part}}, {{.Messages}} and {{.Tokens}}", err)
	}
	return own, nil
}
