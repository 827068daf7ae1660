package sessionfmt

import "cmp"

// An About describes a session by its header, its name and its first prompt.
type About struct {
	ID   string `json:"id,omitempty"`   // of the header
	Name string `json:"name,omitempty"` // the last one given
	// first words of the first prompt that a person typed on the path; else of the agent's away summary,
	// else of a command
	First     string `json:"first,omitempty"`
	CWD       string `json:"project,omitempty"`       // the header's folder
	Began     string `json:"-"`                       // the header's time, as in the file
	Continued string `json:"continuedIn,omitempty"`   // the id of the session in which its agent went on
	Bridge    string `json:"bridgeSession,omitempty"` // the id by which the agent's service knows it
}

// Title returns the title of a session that has this name, or "" if nothing gives it one. Every command takes
// the title from here, so all print the same (docs/figures.md, "Title and time").
func (a *About) Title() string { return cmp.Or(a.Name, a.First) }
