package dialect

import "fmt"

// A Reading tells how a session is read. All reports on sessions have it.
type Reading struct {
	// that wrote the session: `pi`, `codex`, `claude`, `gemini`, `gsh`, `swe-cli`, `y-agent`, `opencode`, `opencode2`,
	// `openclaw`
	Agent     string     `json:"agent,omitempty"`
	Certainty *Certainty `json:"certainty,omitempty"` // how sure the reader is of the parts of a context; absent for pi
}

// Reading returns how the sessions of a dialect are read; no dialect is pi's.
func (d *Dialect) Reading() Reading {
	r := Reading{Agent: d.Agent()}
	if d != nil {
		r.Certainty = &d.Certainty
	}
	return r
}

// String names the agent, and describes the certainty in words.
func (r Reading) String() string {
	s, c := "a session of "+r.Agent, r.Certainty
	switch {
	case c == nil:
		return s
	case c.System == c.Tools:
		return s + fmt.Sprintf(": messages %s, system prompt and tools %s", inWords[c.Messages], inWords[c.System])
	}
	return s + fmt.Sprintf(": messages %s, system prompt %s, tools %s", inWords[c.Messages], inWords[c.System],
		inWords[c.Tools])
}

// inWords are the certainties in a sentence.
var inWords = map[string]string{"exact": "exact", "rule": "by rule", "absent": "not in the file"}
