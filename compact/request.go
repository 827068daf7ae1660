package compact

import (
	"cmp"
	_ "embed" // of the texts of requests
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A Prompt is what a request for a summary can be told besides.
type Prompt struct {
	Focus       string   // what the summary is to look at above all
	Identifiers string   // y-agent: "strict" (the empty text too) lists those to keep, "relaxed" does not
	Patterns    []string // y-agent: texts that are identifiers besides the known ones

	Own *template.Template // of ParsePrompt: the words in place of the policy's; nil for those
}

//go:embed requests.tmpl
var requestTexts string

var requests = sync.OnceValue(func() *template.Template { return template.Must(template.New("").Parse(requestTexts)) })

// notesStyle is that of session notes, as SWE-CLI lays them out.
const notesStyle Style = "notes"

// NotesRequest asks for notes of a whole context, given those that there are; empty for none.
func NotesRequest(e *replay.Envelope, existing string) (Request, error) {
	v, err := NewView(e, nil)
	if err != nil {
		return Request{}, err
	}
	return Request{View: v, Style: notesStyle, Part: historyPart, Messages: v.live(), Before: -1, After: -1, Previous: existing}, nil
}

// text is the request in words, for a model or a person: who the answer is for, the
// messages, and what the summary has to have, by the style whose it is.
func (r Request) text(p Prompt) (string, error) {
	in := struct {
		Request
		Text, Before, After, Identifiers, Focus string
		Tokens                                  int
	}{Request: r, Focus: p.Focus}
	name, named := string(cmp.Or(r.Style, StylePi)), ""
	var err error
	if r.Style == styleSWECLI {
		in.Text, err = r.sweHistory()
	} else {
		in.Text, err = r.conversation(r.Messages)
		named = r.Previous + "\n" + in.Text
	}
	if r.Part == sequencePart && err == nil {
		name, named = "sequence", in.Text
		if in.Before, err = r.conversation(one(r.Before)); err == nil {
			in.After, err = r.conversation(one(r.After))
		}
	}
	if err != nil {
		return "", err
	}
	if r.Style == styleYAgent {
		in.Identifiers = p.identifiers(named)
	}
	var b strings.Builder
	for _, i := range r.Messages {
		in.Tokens += r.View.Messages[i].Tokens(r.View.counter)
	}
	if p.Own != nil {
		err = p.Own.Execute(&b, requestText{in.Text, r.Previous, in.Before, in.After, in.Identifiers, p.Focus, string(r.Part), len(r.Messages), in.Tokens})
		return b.String(), err
	}
	err = requests().ExecuteTemplate(&b, name, in)
	return b.String(), err
}

// resultUnits is how much of a tool result pi shows to who summarises it, in UTF-16
// units.
const resultUnits = 2000

// conversation writes messages as pi does for a summary: without thinking, and with the
// beginning of long results only (docs/session-format.md 9.5).
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
		case jsonl.TextBlock, resultBlock:
			texts = append(texts, p.Says)
		case jsonl.CallBlock:
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

// beginning is a result, cut where it is too long. A pair of surrogates is not parted;
// what is left out is counted as if it were.
func beginning(text string) string {
	n := jsonl.Units(text)
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

// sweChars is how much of a message SWE-CLI shows.
const sweChars = 500

// sweHistory writes messages as SWE-CLI does.
func (r Request) sweHistory() (string, error) {
	var b strings.Builder
	for k, i := range r.Messages {
		m := &r.View.Messages[i]
		_, all, err := r.View.pieces(i, 0)
		if err != nil {
			return "", err
		}
		var texts, tools []string
		for _, one := range all {
			switch one.Kind {
			case jsonl.CallBlock:
				tools = append(tools, one.tool())
			case jsonl.TextBlock, resultBlock:
				texts = append(texts, one.Says)
			}
		}
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
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// one is a message, none for a negative place.
func one(i int) []int {
	if i < 0 {
		return nil
	}
	return []int{i}
}

// A requestText is what the words of a request can refer to. Its exported fields are the
// placeholders of docs/summarizers.md.
type requestText struct {
	Conversation string // the messages to be summarised, as the policy writes them
	Previous     string // the summary before, which the new one has to take in
	Before       string // of a finished piece of work: what the user asked before it
	After        string // and the answer after it
	Identifiers  string // y-agent: what has to stay letter by letter, with the sentence that asks for it
	Focus        string // of --focus
	Part         string // history, turn-prefix or sequence
	Messages     int    // of the conversation
	Tokens       int    // of the conversation
}

// ParsePrompt reads words that ask for summaries. Words without the placeholder of the
// conversation follow it.
func ParsePrompt(text string) (*template.Template, error) {
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("the prompt is empty")
	}
	if !strings.Contains(text, ".Conversation") {
		text = "<conversation>\n{{.Conversation}}\n</conversation>\n\n" + text
	}
	t, err := template.New("prompt").Parse(text)
	if err == nil {
		err = t.Execute(io.Discard, requestText{}) // an unknown placeholder
	}
	if err != nil {
		return nil, fmt.Errorf("%w; the placeholders are {{.Conversation}}, {{.Previous}}, {{.Before}}, {{.After}}, {{.Identifiers}}, {{.Focus}}, {{.Part}}, {{.Messages}} and {{.Tokens}}", err)
	}
	return t, nil
}
