// Package origin tells which session wrote the lines of files in a git checkout: the request, the prompt and the
// cost. Data flows in one direction: calls of sessions are writes (writes.go), which are replayed into the text of
// each file over time (text.go); git tells the lines of a commit and when they came (git.go); lines are matched with
// what was written (match.go); a Report counts and describes the matches (origin.go, calls.go).
package origin

// Schema is that of a Report.
const Schema = "ctxtool/origin/2"

// A Report is the origin of lines: of a file, of those that a commit brought, or of those that a session wrote.
type Report struct {
	Schema string `json:"schema"`
	Of     string `json:"of"`     // `file`, `commit` or `session`
	Name   string `json:"name"`   // of the file, in the repository; the id of the commit or of the session
	Commit string `json:"commit"` // the id of the commit that has the lines; of a file, the checked out one
	Counts Counts `json:"lines"`
	Files  []File `json:"files"`
	Lines  []Line `json:"text,omitempty"` // of a file
	// sessions that wrote lines, in the order of the calls
	Sessions []Session `json:"sessions"`
	Calls    []Call    `json:"calls"`   // that wrote lines, in the order of time
	Commits  []Commit  `json:"commits"` // that the lines came with; of a commit, those that it merged, itself last
	Notes    []NoteSum `json:"notes"`   // what other programs noted about the lines
	Unread   []Unread  `json:"unread"`  // sessions that cannot be read; they may have written lines, too
}

// Counts are numbers of lines by certainty.
type Counts struct {
	Exact   int `json:"exact"`          // a call wrote this text here
	Edited  int `json:"edited"`         // a call wrote a similar text here, which was changed afterwards
	Likely  int `json:"likely"`         // a command line wrote it, or its text and its place are common
	Unknown int `json:"unknown"`        // no session is known to have written it
	Gone    int `json:"gone,omitempty"` // of a session: it wrote the line, which is not there any more
}

func (c *Counts) add(sure Certainty) {
	*map[Certainty]*int{Exact: &c.Exact, Edited: &c.Edited, Likely: &c.Likely, Unknown: &c.Unknown}[sure]++
}

func (c *Counts) plus(d Counts) {
	c.Exact, c.Edited, c.Likely = c.Exact+d.Exact, c.Edited+d.Edited, c.Likely+d.Likely
	c.Unknown, c.Gone = c.Unknown+d.Unknown, c.Gone+d.Gone
}

// Known is the number of lines that a session wrote.
func (c *Counts) Known() int { return c.Exact + c.Edited + c.Likely }

// A File is the part of a file in a Report.
type File struct {
	File   string `json:"file"`
	Counts Counts `json:"lines"`
}

// A Line is a line with its origin.
type Line struct {
	Number int    `json:"line"` // in the file, from 1
	Text   string `json:"text"`
	// `exact`: a call wrote this text here; `edited`: a call wrote a similar text, which was changed afterwards;
	// `likely`: a command line wrote it, or its text and its place are common; `unknown`
	Certainty Certainty `json:"certainty"`
	Call      *int      `json:"call,omitempty"`   // index in calls; absent if unknown
	Commit    *int      `json:"commit,omitempty"` // index in commits; absent of a line that is not committed
	Was       string    `json:"was,omitempty"`    // what the call wrote, of an edited line
	// who changed an edited line: the author of its commit, and sessions that wrote to the file in between
	Changed string `json:"changedBy,omitempty"`
	Notes   []Note `json:"notes,omitempty"` // what other programs noted about the line
}

// A Call is a call of a tool that wrote lines.
type Call struct {
	Session int    `json:"session"`             // index in sessions
	File    string `json:"file"`                // of the session, or of its sub-agent
	Request int    `json:"request"`             // from 0 on its path, as request:N; -1 if unknown
	ID      string `json:"id"`                  // of the entry
	Line    int    `json:"line"`                // of that entry in the file
	Time    string `json:"time,omitempty"`      // of that entry
	Tool    string `json:"tool"`                // its name
	Prompt  string `json:"prompt,omitempty"`    // first words of what the user asked for
	Agent   string `json:"subAgent,omitempty"`  // the id of the sub-agent that made the call for the session
	Started *int   `json:"startedBy,omitempty"` // the request of the session that started the sub-agent
	// of the request in US dollars, as recorded, else by the table of prices
	Cost   *float64 `json:"cost,omitempty"`
	Counts Counts   `json:"lines"` // that it wrote
}

// A Session is a session that wrote lines.
type Session struct {
	Ref    string  `json:"ref"` // as a command takes it
	File   string  `json:"file"`
	ID     string  `json:"id"`
	Agent  string  `json:"agent"`
	Title  string  `json:"title,omitempty"`
	Calls  int     `json:"calls"`
	Cost   float64 `json:"cost"`  // of the requests that made these calls, each once, in US dollars
	Counts Counts  `json:"lines"` // that it wrote
}

// A Commit is a commit that lines came with.
type Commit struct {
	ID      string `json:"id"`
	Author  string `json:"author"`
	Time    string `json:"time"` // when it was committed
	Subject string `json:"subject"`

	at, authored int64 // milliseconds since 1970; a rebase keeps the second one
}

// A Note is what another program noted about a line.
type Note struct {
	By      string `json:"by"`                // `git-ai`, `Entire`
	Session string `json:"session,omitempty"` // the session that it names
	// `agrees`, `names another session`, `names a session` (none is found here), `names no session` (one is found here)
	Verdict string `json:"verdict"`
}

// A NoteSum counts equal notes.
type NoteSum struct {
	By      string `json:"by"`
	Verdict string `json:"verdict"` // as that of a note
	Lines   int    `json:"lines"`
}

// An Unread is a session that cannot be read.
type Unread struct {
	File  string `json:"file"`
	Error string `json:"error"`

	Err error `json:"-"` // the same
}

// Redact passes the texts of sessions and of the repository through a function.
func (r *Report) Redact(text func(string) string) {
	var all []*string
	for i := range r.Files {
		all = append(all, &r.Files[i].File)
	}
	for i := range r.Lines {
		all = append(all, &r.Lines[i].Text, &r.Lines[i].Was, &r.Lines[i].Changed)
	}
	for i := range r.Sessions {
		all = append(all, &r.Sessions[i].Ref, &r.Sessions[i].File, &r.Sessions[i].Title)
	}
	for i := range r.Calls {
		all = append(all, &r.Calls[i].File, &r.Calls[i].Prompt)
	}
	for i := range r.Commits {
		all = append(all, &r.Commits[i].Author, &r.Commits[i].Subject)
	}
	for i := range r.Unread {
		all = append(all, &r.Unread[i].File, &r.Unread[i].Error)
	}
	for _, s := range append(all, &r.Name) {
		*s = text(*s)
	}
}
