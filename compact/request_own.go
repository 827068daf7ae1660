package compact

import (
	"fmt"
	"io"
	"strings"
	"text/template"
)

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
