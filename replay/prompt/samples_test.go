package prompt_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// given is a prompt of two parts and two tools, for sessions that record none.
func given() *prompt.Baseline {
	value := func(text string) jsonl.Value { return must.Get(jsonl.ParseValue([]byte(text))) }
	return &prompt.Baseline{
		Parts: []prompt.Part{
			prompt.NewPart("content", "You are careful.", origin.Baseline), prompt.NewPart("tools", "Read first.", origin.Baseline),
		},
		Tools: []prompt.Tool{
			prompt.NewTool(value(`{"name":"read","description":"reads","parameters":{"type":"object"}}`), origin.Baseline),
			prompt.NewTool(value(`{"name":"bash","description":"runs"}`), origin.Baseline),
		},
		Options: prompt.Options{Reasoning: value(`"low"`), Temperature: value("0.5"), MaxTokens: value("100")},
	}
}

// TestSamples: the prompt after each entry, with and without a baseline: its parts and their sections, its tools and
// options, and what they weigh.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		for _, base := range []*prompt.Baseline{nil, given()} {
			last := ""
			for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
				r := replay.New(s, replay.Options{Rules: rules, Lenient: true, Baseline: base, Implemented: []string{"read"}})
				for i := range s.Len() {
					e, err := r.At(sessionfmt.After(i))
					if err != nil {
						continue
					}
					if line := promptOf(e); line != last {
						lines = append(lines, fmt.Sprintf("%v %d: %s", rules, i, line))
						last = line
					}
				}
			}
		}
		return lines
	})
}

// promptOf describes a prompt.
func promptOf(e *replay.Envelope) string {
	p, err := e.Prompt()
	if err != nil {
		return err.Error()
	}
	parts, tools := p.Count(must.Get(tokens.Find("cl100k")))
	split, each := p.CountSplit(&tokens.Pi)
	line := fmt.Sprintf("known %t no tools %t, %d units, counts %v, %v %v, options %s, notes %q, system %s tools %s compiled %s", p.Known,
		p.NoTools, p.Units(), p.Counts(&tokens.Pi), parts, tools, p.Options.Append(nil), p.Notes(),
		golden.Digest(string(p.AppendSystem(nil))), golden.Digest(string(p.AppendTools(nil))), golden.Digest(p.Compiled))
	for k, part := range split {
		line += fmt.Sprintf("; %s %v %q %q %d", part.Name, part.Origin, part.File, part.Skill, each[k])
	}
	for _, tool := range p.Tools {
		line += fmt.Sprintf("; tool %s %v %d", tool.Name, tool.Origin, tool.Units())
	}
	for _, tool := range p.Omitted {
		line += "; omitted " + tool.Name
	}
	return line
}
