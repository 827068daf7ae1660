package compact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// EventForms are the forms in which events are written, the default first: as gsh logs
// them, as SWE-CLI does, or the report of each pass.
var EventForms = []string{"report", "gsh", "swe-cli"}

// WriteEvents writes what happened as JSON lines, in one of EventForms.
func (p *Plan) WriteEvents(w io.Writer, form, session string, at time.Time) error {
	var b bytes.Buffer
	for _, e := range p.eventsIn(form, session, at) {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// eventsIn are what happened as JSON objects, in one of EventForms
// (spec/policies.md 0.5, 1.11, 2.7).
func (p *Plan) eventsIn(form, session string, at time.Time) (all []any) {
	stamp := at.UTC().Format("2006-01-02T15:04:05.000Z")
	for _, l := range p.Layers {
		if form == "report" && l.Report != nil {
			all = append(all, struct {
				Session string `json:"session"`
				*report
			}{session, l.Report})
		}
	}
	for _, e := range p.Events {
		if cut, ok := e.(truncation); ok && form == "gsh" {
			all = append(all, struct {
				gshEvent
				truncation
			}{gshEvent{stamp, session, "root"}, cut})
		}
	}
	for _, c := range p.Changes {
		if c.Action != Summarise {
			continue
		}
		r := p.report(c.Pass)
		switch form {
		case "gsh":
			all = append(all, struct {
				gshEvent
				gshCompaction
			}{gshEvent{stamp, session, "root"}, gshCompaction{"compaction", r.TokensBefore, c.Range.Summary, r.MessagesBefore, r.MessagesAfter}})
		case "swe-cli":
			all = append(all, struct {
				Time string `json:"timestamp"`
				sweCompaction
			}{stamp, newSWECompaction(r.TokensBefore, r.TokensAfter, c.Range.Messages)})
		}
	}
	return all
}

// A gshCompaction is what gsh logs of a compaction.
type gshCompaction struct {
	Event          string `json:"event"` // compaction
	OriginalTokens int    `json:"original_tokens"`
	SummaryTokens  int    `json:"summary_tokens"`
	MessagesBefore int    `json:"messages_before"`
	MessagesAfter  int    `json:"messages_after"`
}

// A gshEvent is what every line of gsh's log begins with.
type gshEvent struct {
	Time    string `json:"ts"`
	Session string `json:"session"`
	Agent   string `json:"agent"`
}

// report is that of a pass which has run.
func (p *Plan) report(pass string) *report {
	for _, l := range p.Layers {
		if l.Pass == pass && l.Report != nil {
			return l.Report
		}
	}
	return &report{}
}

// Notice is what gsh tells its user of a compaction, empty where there was none.
func (p *Plan) Notice() string {
	for _, c := range p.Changes {
		if c.Action == Summarise {
			return fmt.Sprintf("[context compacted: %d -> %d tokens]", p.Before, c.Range.Summary)
		}
	}
	return ""
}
