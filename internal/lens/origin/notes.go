package origin

// A Note is what another program noted about a line.
type Note struct {
	By      string `json:"by"`                // `git-ai`, `Entire`
	Session string `json:"session,omitempty"` // the session that it names
	Verdict string `json:"verdict"`           // `agrees`, `names another session`, `names no session`, `is alone`
}
