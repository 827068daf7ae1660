// Package state reads the state of a session from the end of its file.
package state

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
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
	Model      string   `json:"model,omitempty"`      // `provider/id`; as the status line command is given it, if it is
	Context    int64    `json:"context,omitempty"`    // tokens at the leaf, as in `ctxtool ls`: the last usage recorded, and an estimate of what came after; of a file that is not read whole absent after a compaction or an edit, until the next answer
	Estimated  bool     `json:"estimated,omitempty"`  // no usage has told all of `context`
	Window     int64    `json:"window,omitempty"`     // tokens of the model's window, as in `ctxtool ls`; absent where it is not known
	Cost       *float64 `json:"cost,omitempty"`       // US dollars, recorded; of a file over 2 MB only with `--cost`, or where the status line command is given it
	Computed   float64  `json:"computed,omitempty"`   // US dollars, of calls that record no cost, by the models table; not in `cost`
	Warm       *int64   `json:"warm,omitempty"`       // seconds for which the provider still keeps the prompt cache, 0 once it is cold; absent where that is not known
	Time       string   `json:"time,omitempty"`       // of the last answer
	Unrecorded bool     `json:"unrecorded,omitempty"` // there are answers, and none of them records its usage
	Finding    string   `json:"finding,omitempty"`    // check of the last finding at the end of the file
}

// How many bytes at the end of a file are read for its status, at first and at most.
const (
	leastEnd = 64 << 10
	mostEnd  = 8 << 20
)

// Of returns the state of a session at a time. It reads the end of the file only.
func Of(name string, now time.Time, table *models.Table, opt sessionfmt.Options) (*Status, error) {
	for size := int64(leastEnd); ; size = min(8*size, mostEnd) {
		st := &Status{Schema: Schema}
		s, err := sessionfmt.OpenLast(name, size, opt)
		if errors.Is(err, sessionfmt.ErrNotSession) && size < mostEnd {
			continue // within a long line
		} else if err != nil {
			return nil, err
		}
		last := reader{Status: st, s: s, r: s.NewReader()}
		err = last.read()
		all := !s.Coverage.Partial
		s.Close()
		if err == nil && !all && size < mostEnd && (st.Model == "" || st.Time == "") {
			continue
		}
		if err != nil {
			return nil, err
		}
		last.look(cmp.Or(table, models.Builtin()), now)
		return st, nil
	}
}

// A reader finds the last answer of a session.
type reader struct {
	*Status
	s     *sessionfmt.Session
	r     *sessionfmt.Reader
	model models.Ref
	usage jsonl.Usage
	at    int64 // when, milliseconds since 1970
	after []int // records after the last answer
}

// read reads back from the leaf.
func (l *reader) read() error {
	l.Reading = l.s.Reading()
	for _, f := range l.s.Findings {
		if atEnd[f.Code] {
			l.Finding = f.Code
		}
	}
	cut := false
	path, _ := l.s.Path(l.s.Leaf())
	for k := len(path) - 1; k >= 0 && l.Time == ""; k-- {
		kind := l.s.Kind(path[k])
		switch {
		case slices.Contains(cuts, kind):
			cut = true
		case kind == jsonl.ModelChange && l.model == models.Ref{}, kind == jsonl.Assistant && l.s.Answers(path[k]):
			line, err := l.r.Line(path[k])
			if err != nil {
				return err
			}
			l.take(kind, line, cut)
		}
		if l.Context == 0 {
			l.after = append(l.after, path[k])
		}
	}
	if err := l.estimate(); err != nil {
		return err
	}
	l.Unrecorded = l.Unrecorded && l.usage.Context() == 0
	if l.model != (models.Ref{}) {
		l.Model = l.model.Name()
	}
	return nil
}

// estimate adds what follows the last answer to the context.
func (l *reader) estimate() error {
	if l.Context == 0 {
		return nil
	}
	r := replay.New(l.s, replay.Options{Rules: replay.ByPi, Leaf: l.s.Leaf()})
	load := r.NewReader()
	for _, rec := range l.after {
		if !l.s.Kind(rec).IsMessage() {
			continue
		}
		m := r.Own(rec)
		n, err := load.Estimate(&tokens.Pi, &m)
		if err != nil {
			return err
		}
		l.Context, l.Estimated = l.Context+int64(n), l.Estimated || n > 0
	}
	return nil
}

// cuts are the kinds of entries after which the last usage is not that of the context.
var cuts = []jsonl.Kind{jsonl.Compaction, jsonl.Reset, jsonl.ContextEdit, jsonl.Deletion, jsonl.Transform}

// atEnd are the findings that the end of a file shows by itself.
var atEnd = map[string]bool{"torn": true, "unterminated": true, "padded": true, "glued": true, "broken-off": true}

// take takes what a model change or an answer says.
func (l *reader) take(kind jsonl.Kind, line jsonl.Value, cut bool) {
	if kind == jsonl.ModelChange {
		l.model = models.Ref{Provider: line.Get("provider").Text(), ID: line.Get("modelId").Text()}
		return
	}
	var f [3]jsonl.Value
	line.Get("message").Fields(f[:], "provider", "model", "usage")
	if !f[2].IsObject() {
		l.Unrecorded = true
		return
	}
	var at jsonl.Cursor
	l.usage.Read(at.Reset(f[2]))
	if l.usage.Context() == 0 {
		return
	}
	if l.model == (models.Ref{}) {
		l.model = models.Ref{Provider: f[0].Text(), ID: f[1].Text()}
	}
	if !cut {
		l.Context = int64(l.usage.Context())
	}
	l.Time = line.Get("timestamp").Text()
	l.at, _ = line.Get("timestamp").Millis()
}

func (l *reader) look(table *models.Table, now time.Time) {
	m, _, ok := table.Lookup(l.model.Provider, l.model.ID)
	if !ok {
		return
	}
	l.Window = m.ContextWindow
	if most := l.usage.Prompt(); most > l.Window {
		l.Window = most + l.usage.Output // see replay.Replay.Window
	}
	seconds := m.PromptCache.Short
	if m.PromptCache.Long > 0 && (l.usage.CacheWrite1h > 0 || seconds == 0) {
		seconds = m.PromptCache.Long
	}
	if seconds > 0 && l.at > 0 && l.usage.CacheRead+l.usage.CacheWrite > 0 {
		warm := max(0, seconds-(now.UnixMilli()-l.at)/1000)
		l.Warm = &warm
	}
}
