package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
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
func arguments(args jsonl.Value) string {
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

// The forms of pi's request: for a history, for one whose beginning has been summarised
// before, and for the beginning of a turn (spec/pi-format.md 7.7, spec/pi-1.5.md 7.5).
// Headings and marks are pi's.

const piSections = `## Goal
What the user wants to reach; several points where there are several goals.

## Constraints & Preferences
- Each demand, limit and wish of the user, or (none)

## Progress
### Done
- [x] Each piece of work that is finished

### In Progress
- [ ] What is being worked on

### Blocked
- What stands in the way, if anything does

## Key Decisions
- **Decision**: why it was taken

## Next Steps
1. What to do next, in order

## Critical Context
- Data, examples and references without which the work cannot go on, or (none)`

const piHistory = `Summarise the conversation above, so that another model can go on with the work from your summary alone. Use exactly these headings:

` + piSections + `

Be brief. Keep paths, names of functions and texts of errors exactly as they are.`

const piUpdate = `The conversation above is new. Bring the summary in <previous-summary> up to date with it. Keep what it says and add what is new: progress, decisions, context. Move what is finished from In Progress to Done, rewrite Next Steps by what has been done, and leave out only what no longer matters. Use exactly these headings:

` + piSections + `

Be brief. Keep paths, names of functions and texts of errors exactly as they are.`

const piTurnPrefix = `The text above is the beginning of a turn that was too long to be kept whole. Its end is kept as it is, behind your summary. Summarise the beginning, so that the end can be understood. Use exactly these headings:

## Original Request
What the user asked for in this turn.

## Progress So Far
- What was decided and done in the beginning

## Context Needed to Continue
- What one has to know to understand the end of the turn

Be brief, and keep to what the end of the turn needs.`

func (r Request) piText(p Prompt) (string, error) {
	text, err := r.conversation(r.Messages)
	if err != nil {
		return "", err
	}
	if r.Part == turnPrefixPart {
		return summariser + "\n\n# Conversation\n" + text + "\n\n# Instructions\n" + p.focused(piTurnPrefix), nil
	}
	text = summariser + "\n\n<conversation>\n" + text + "\n</conversation>\n\n"
	if r.Previous == "" {
		return text + p.focused(piHistory), nil
	}
	return text + "<previous-summary>\n" + r.Previous + "\n</previous-summary>\n\n" + p.focused(piUpdate), nil
}

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
