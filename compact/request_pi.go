package compact

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
