package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// gshCheckpoint is what gsh asks for: a briefing of an agent for itself
// (spec/policies.md 1.5).
const gshCheckpoint = `This is a CONTEXT CHECKPOINT. Write a handoff briefing of the conversation for yourself: it will be all that you have of it when you go on with the task.

It has to have:
- the progress so far, and the decisions that matter
- constraints, context and wishes of the user that have come up
- the files that were read or changed, with their paths
- what is left to do, as concrete next steps
- data, snippets of code and references that going on depends on

Be thorough but concise: what counts is that the work can go on without a break.`

func (r Request) gshText(p Prompt) (string, error) {
	text, err := r.conversation(r.Messages)
	return "<conversation>\n" + text + "\n</conversation>\n\n" + p.focused(gshCheckpoint), err
}

// sweHistory is what SWE-CLI asks for (spec/policies.md 2.4). How it writes messages is
// that of its plan document.
const sweHistory = `You compact the context of a coding assistant: you summarise the history of a conversation so that nothing critical is lost.

PRESERVE:
- decisions and the reasons for them
- fixes of bugs, with the paths of files and what solved it
- features that were built, and how they were designed
- paths that matter, names of functions, patterns of the code
- where the project stands, and what it is for

DROP:
- explanations that have been acted upon
- outputs of tools that say the same again: name the result, not the output
- pleasantries
- repetitions

Original history (%d messages, %d tokens):

%s

Write a dense, structured summary that is about 70%% smaller and keeps what is critical, in bullet points and clear sections.`

// sweChars is how much of a message SWE-CLI shows.
const sweChars = 500

func (r Request) sweText(p Prompt) (string, error) {
	var b strings.Builder
	tokens := 0
	for k, i := range r.Messages {
		m := &r.View.Messages[i]
		tokens += m.Tokens(&sweCounter)
		_, all, err := r.View.pieces(i, 0)
		if err != nil {
			return "", err
		}
		var texts, tools []string
		for _, one := range all {
			switch one.Kind {
			case callBlock:
				tools = append(tools, one.tool())
			case textBlock, resultBlock:
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
		fmt.Fprintf(&b, "%d. %s: %s\n", k+1, role, firstChars(strings.Join(texts, "\n"), sweChars))
	}
	return p.focused(fmt.Sprintf(sweHistory, len(r.Messages), tokens, strings.TrimSuffix(b.String(), "\n"))), nil
}

// firstChars is the beginning of a text, in Unicode scalars.
func firstChars(text string, n int) string {
	if len(text) <= n || utf8.RuneCountInString(text) <= n {
		return text
	}
	for at := range text {
		if n--; n < 0 {
			return text[:at]
		}
	}
	return text
}

// What y-agent asks for (spec/policies.md 3.7, 3.8): of a history, of one whose
// beginning has been summarised before, and of a finished piece of work.
const yAgentSections = `It has to cover:
- what the user decided, and where he changed direction
- files that were read or changed, with what was found in them
- results of tests, errors, and how they were fixed
- conclusions
- which tool call led to which result`

const yAgentSequence = `Summarise the piece of work below, which is finished. The summary takes the place of its messages, between the user's instruction before it and the conclusion behind it; both stay.

Keep results, paths, URLs, values of variables, decisions and outcomes. Leave out attempts that were repeated, formatting, and steps that led nowhere new. Write the summary and nothing else.`

func (r Request) yAgentText(p Prompt) (string, error) {
	text, err := r.conversation(r.Messages)
	if err != nil {
		return "", err
	}
	out := "Summarise the conversation below. "
	if r.Previous != "" {
		out = "Bring the earlier summary and the conversation below together in one summary, the old and the new with the same care. "
	}
	out += yAgentSections + "\n\n" + summariser + p.identifiers(r.Previous+"\n"+text)
	if r.Previous != "" {
		out += "\n\n<previous-summary>\n" + r.Previous + "\n</previous-summary>"
	}
	return p.focused(out + "\n\n<conversation>\n" + text + "\n</conversation>"), nil
}

func (r Request) sequenceText(p Prompt) (string, error) {
	out := yAgentSequence
	whole := ""
	for _, part := range []struct {
		flag     string
		messages []int
	}{{"preceding_user_instruction", one(r.Before)}, {"messages", r.Messages}, {"conclusion", one(r.After)}} {
		text, err := r.conversation(part.messages)
		if err != nil {
			return "", err
		}
		if text != "" {
			whole += "\n\n<" + part.flag + ">\n" + text + "\n</" + part.flag + ">"
		}
	}
	text, err := r.conversation(r.Messages)
	return p.focused(out + p.identifiers(text) + whole), err
}

// one is a message, none for a negative place.
func one(i int) []int {
	if i < 0 {
		return nil
	}
	return []int{i}
}
