// Package state reads the state of a session from the end of its file.
package state

import (
	"cmp"
	"errors"
	"time"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Schema is that of a Status.
const Schema = "ctxtool/status/1"

// A Status is the state of a session by its last answer, in schema ctxtool/status/1.
type Status struct {
	Schema string `json:"schema"`
	dialect.Reading
	Model string `json:"model,omitempty"` // `provider/id`, or as the status-line command got it
	// size of the context in tokens ([figures](figures.md)); of a partly read file, absent from a
	// compaction or edit until the next answer
	Context   int64 `json:"context,omitempty"`
	Estimated bool  `json:"estimated,omitempty"` // a part of `context`, or all of it
	// tokens of the model's window, as in `ctxtool ls`; absent where it is not known
	Window int64 `json:"window,omitempty"`
	// US dollars ([figures](figures.md)); of a file over 2 MB only with `--cost`, or if the status-line
	// command got it
	Cost *float64 `json:"cost,omitempty"`
	// the part of it that is recorded; absent with the agent's own `cost`
	Recorded *float64 `json:"recorded,omitempty"`
	// calls of sub-agents are not in `cost`: `--no-subagents`
	NoSubAgents bool `json:"noSubagents,omitempty"`
	Unread      int  `json:"unreadSubagents,omitempty"` // sub-agents that could not be read: they are not in `cost`
	// seconds until the prompt cache expires, 0 if it has
	Warm       *int64 `json:"warm,omitempty"`
	Time       string `json:"time,omitempty"`       // of the last answer
	Unrecorded bool   `json:"unrecorded,omitempty"` // no answer records its usage
	Finding    string `json:"finding,omitempty"`    // check of the last finding at the end of the file
}

// How many bytes at the end of a file are read for its status, at first and at most.
const (
	leastEnd = 64 << 10
	mostEnd  = 8 << 20
)

// Of returns the state of a session at a time. It reads the end of the file only.
func Of(name string, now time.Time, table *models.Table, opt sessionfmt.Options) (*Status, error) {
	for size := int64(leastEnd); ; size = min(8*size, mostEnd) {
		s, err := sessionfmt.OpenLast(name, size, opt)
		if errors.Is(err, sessionfmt.ErrNotSession) && size < mostEnd {
			continue // within a long line
		} else if err != nil {
			return nil, err
		}
		l := reader{Status: &Status{Schema: Schema}, s: s, r: s.NewReader()}
		err = l.read(table)
		all := !s.Coverage.Partial
		s.Close()
		if err == nil && !all && size < mostEnd && (l.Model == "" || l.Time == "" || l.Context == 0) {
			continue
		}
		if err != nil {
			return nil, err
		}
		l.look(now)
		return l.Status, nil
	}
}

// A reader finds the last answer of a session.
type reader struct {
	*Status
	s     *sessionfmt.Session
	r     *sessionfmt.Reader
	model models.Model // of the last answer
	usage jsonl.Usage
	at    int64 // when, milliseconds since 1970
}

// read reads back from the leaf.
func (l *reader) read(table *models.Table) error {
	l.Reading = l.s.Reading()
	for _, f := range l.s.Findings {
		if atEnd[f.Code] {
			l.Finding = f.Code
		}
	}
	path, _ := l.s.Path(l.s.Leaf())
	for k := len(path) - 1; k >= 0 && l.Time == ""; k-- {
		if !l.s.Answers(path[k]) {
			continue
		}
		line, err := l.r.Line(path[k])
		if err != nil {
			return err
		}
		if l.usage = line.Get("message").Get("usage").Usage(); l.usage.Context() == 0 {
			l.Unrecorded = true
			continue
		}
		l.Time = line.Get("timestamp").Text()
		l.at, _ = line.Get("timestamp").Millis()
	}
	l.Unrecorded = l.Unrecorded && l.Time == ""
	r := replay.New(l.s, replay.Options{Rules: replay.Auto.Decide(l.s, l.s.Leaf()), Leaf: l.s.Leaf(), Models: table,
		Lenient: true})
	e, _, err := r.Reach(sessionfmt.After(l.s.Leaf()))
	if err != nil {
		return err
	}
	ref, _, _, err := e.Model()
	if err != nil {
		return err
	}
	l.Model = ref.Name()
	l.model, _, _ = cmp.Or(table, models.Builtin()).Lookup(ref.Provider, ref.ID)
	size, err := e.Size()
	if l.Window = size.Window; !l.s.Coverage.Partial || size.Recorded() {
		l.Context, l.Estimated = int64(size.Tokens), size.Estimated > 0
	}
	return err
}

// atEnd are the findings that the end of a file shows by itself.
var atEnd = map[string]bool{"torn": true, "unterminated": true, "padded": true, "glued": true, "broken-off": true}

// look finds out how long the provider still keeps the prompt cache.
func (l *reader) look(now time.Time) {
	seconds := l.model.PromptCache.Short
	if l.model.PromptCache.Long > 0 && (l.usage.CacheWrite1h > 0 || seconds == 0) {
		seconds = l.model.PromptCache.Long
	}
	if seconds > 0 && l.at > 0 && l.usage.CacheRead+l.usage.CacheWrite > 0 {
		warm := max(0, seconds-(now.UnixMilli()-l.at)/1000)
		l.Warm = &warm
	}
}
