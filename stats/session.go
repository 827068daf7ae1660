package stats

import "ctxtool/sessionfmt"

// sessionLens counts what is in a session, on all branches.
var sessionLens = Lens{
	Name:    "session",
	About:   "messages, requests, tool calls, branches, compactions, models, time",
	Default: true,
	look: func(l *Look) {
		p := &SessionPart{}
		l.Report.Session = p
		l.Records = append(l.Records, func(_ int64, kind sessionfmt.Kind, _ sessionfmt.Value) { p.take(kind) })
	},
	add: func(sum, one *Report) {
		if sum.Session == nil {
			sum.Session = &SessionPart{}
		}
		sum.Session.Messages += one.Session.Messages
	},
	sheets: func(r *Report) []Sheet {
		return []Sheet{{
			Columns: []Column{{Name: "what"}, {Name: "number", Unit: Number}},
			Rows:    [][]any{{"messages", int64(r.Session.Messages)}},
		}}
	},
}

// A SessionPart is what is in a session.
type SessionPart struct {
	Messages int `json:"messages"`
}

func (p *SessionPart) take(kind sessionfmt.Kind) {
	if kind.IsMessage() {
		p.Messages++
	}
}
