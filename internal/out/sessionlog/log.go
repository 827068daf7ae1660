// Package sessionlog writes a session as the log that SWE-CLI would have kept of it: one JSON
// document, written while the session is read.
package sessionlog

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A Head is the beginning of a log.
type Head struct {
	ID      string `json:"session_id"`
	Started string `json:"started_at"`
	Dir     string `json:"working_dir"`
}

// An Event is an event of a log. Its fields depend on its type.
type Event struct {
	Time string `json:"timestamp"` // of the entry, as in the file
	// `user_input`, `context_retrieval`, `llm_call`, `tool_execution`, `context_update`, `compaction`
	Type string `json:"type"`

	Content *string `json:"content,omitempty"` // of a user_input
	Tokens  *int    `json:"tokens,omitempty"`  // of a user_input

	// of a context_retrieval: the first reads and searches for a prompt
	Actions []string `json:"actions,omitempty"`
	Added   *int     `json:"tokens_added,omitempty"` // of a context_retrieval: tokens of their results

	// of an llm_call: the recorded prompt, including cached tokens
	In  *int64 `json:"tokens_in,omitempty"`
	Out *int64 `json:"tokens_out,omitempty"` // of an llm_call, as the provider recorded it
	// of an llm_call: from the answer's time to its entry's, if both are known
	Duration *int64 `json:"duration_ms,omitempty"`

	Tool    string `json:"tool,omitempty"`    // of a tool_execution
	File    string `json:"file,omitempty"`    // of a tool_execution: the path that the call names
	Command string `json:"command,omitempty"` // of a tool_execution: the command that the call runs
	// of a tool_execution: no hook blocked it, and no user message came first
	Approved *bool `json:"approved,omitempty"`
	// of a tool_execution: `ok`, `error`, `blocked`, `skipped`, `aborted`, `unanswered`
	Outcome string `json:"outcome,omitempty"`

	// of a context_update: the context before the next request, and at the end
	Total   *int     `json:"total_tokens,omitempty"`
	Percent *float64 `json:"usage_percent,omitempty"` // of a context_update: of SWE-CLI's limit, 256,000

	Before    *int     `json:"tokens_before,omitempty"`      // of a compaction
	After     *int     `json:"tokens_after,omitempty"`       // of a compaction
	Reduction *float64 `json:"reduction_percent,omitempty"`  // of a compaction
	Compacted *int     `json:"messages_compacted,omitempty"` // of a compaction
}

// Stats are the figures of the path, at the end of a log.
type Stats struct {
	Turns       int      `json:"total_turns"` // prompts of the user
	Calls       int      `json:"llm_calls"`   // answers
	Tools       int      `json:"tools_executed"`
	Compactions int      `json:"compactions"`
	Tokens      int      `json:"total_tokens_used"` // of the context at the end
	Modified    []string `json:"files_modified"`    // by calls that succeeded, the first one first
}

// Write writes the log of the path to record leaf. stopped is the error of the broken patch that
// ended the replay, if any.
func Write(w io.Writer, r *replay.Replay, leaf int) (stopped, err error) {
	l := &logger{w: w, load: r.NewReader(), calls: map[string]activity.Call{}, stats: Stats{Modified: []string{}}}
	about, err := outline.Headed(r.Session)
	if err != nil {
		return nil, err
	}
	l.updated = -1
	text := bytes.TrimSuffix(encode(Head{about.ID, about.Began, about.CWD}, "", "  "), []byte("\n}"))
	l.put(append(text, ",\n  \"events\": ["...))
	l.meter = ledger.New(r, ledger.Options{Counter: &tokens.SWE, Sizes: true}).Meter()
	for step, err := range r.Walk(leaf) {
		if replay.Stopped(err) {
			stopped = err
			break
		}
		if err == nil {
			err = l.step(r, step)
		}
		if err != nil {
			return nil, err
		}
	}
	l.retrieved(l.time)
	l.stats.Tokens = l.total
	l.update(l.stats.Tokens, l.time)
	l.put(append([]byte("\n  ],\n  \"stats\": "), append(encode(l.stats, "  ", "  "), "\n}\n"...)...))
	return stopped, l.err
}

// A logger writes a log during a walk.
type logger struct {
	w       io.Writer
	err     error // of writing; nothing is written after it
	events  int
	load    *replay.Reader
	meter   *ledger.Meter
	prompt  replay.PromptTracker
	had     prompt.State // the prompt whose notes were counted
	notes   int          // tokens of the project's notes for agents, which the prompt has
	total   int          // tokens of the context as SWE-CLI counts it: the messages, and these notes
	stats   Stats
	calls   map[string]activity.Call // that have no result yet
	looked  *Event                   // what the last prompt's work began with; nil once it does something else
	updated int                      // tokens of the last context_update, -1 for none
	time    string                   // of the last entry
}

// step writes the events of one entry.
func (l *logger) step(r *replay.Replay, step replay.Step) error {
	before := l.total
	changed, err := l.prompt.Follow(step)
	if err != nil {
		return err
	}
	if changed {
		if err := l.countNotes(); err != nil {
			return err
		}
	}
	messages, err := l.meter.Messages(step)
	if err != nil {
		return err
	}
	l.total = messages + l.notes
	line, err := l.load.Line(step.Record)
	if err != nil {
		return err
	}
	earlier := l.time
	l.time = line.Get("timestamp").Text()
	switch kind := r.Session.Kind(step.Record); {
	case step.Did == replay.Compacted:
		l.stats.Compactions++
		after, compacted := l.total, max(0, step.Before-step.After+1)
		share := 0.0
		if before > 0 {
			share = oneDecimal(float64(before-after) / float64(before) * 100)
		}
		l.write(&Event{Type: "compaction", Before: &before, After: &after, Reduction: &share, Compacted: &compacted})
	case kind == jsonl.User:
		m := line.Get("message").Message()
		text := m.Text("\n")
		n := weigh.MessageTokens(&tokens.SWE, m)
		l.stats.Turns++
		l.retrieved(earlier)
		l.looked = &Event{Type: "context_retrieval", Added: new(int)}
		l.write(&Event{Type: "user_input", Content: &text, Tokens: &n})
	case kind == jsonl.Assistant:
		l.answer(line, before, earlier)
	case kind == jsonl.ToolResult:
		l.result(line.Get("message").Message())
	}
	return l.err
}

// countNotes counts the project's notes again if a part with some has changed.
func (l *logger) countNotes() error {
	var parts []prompt.Part
	l.had.PartsDiffer(&l.prompt.Current.State, func(_ int, was, is *prompt.Part) {
		for _, p := range []*prompt.Part{was, is} {
			if was != is && p != nil {
				parts = append(parts, *p)
			}
		}
	})
	l.had = l.prompt.Current.Kept()
	err := l.load.Texts(parts)
	if noted := (&prompt.Prompt{Parts: parts}); err != nil || noted.Notes() == "" {
		return err
	}
	now, err := l.load.Prompt(&l.had)
	l.notes = weigh.TextTokens(&tokens.SWE, []byte(now.Notes()))
	return err
}

// answer writes an answer to a context with a number of tokens since a time, and records its
// calls.
func (l *logger) answer(line jsonl.Value, tokens int, since string) {
	m := line.Get("message").Message()
	calls := slices.Collect(activity.Calls(m))
	for _, c := range calls {
		l.calls[c.ID] = c
	}
	looks := l.looked != nil && !slices.ContainsFunc(calls, func(c activity.Call) bool { return !c.Action.Looks() })
	if !looks || len(calls) == 0 {
		l.retrieved(since)
	}
	l.update(tokens, since)
	for _, c := range calls {
		if l.looked != nil {
			l.looked.Actions = append(l.looked.Actions, lookup(&c))
		}
	}
	usage := m.Usage.Usage()
	e := Event{Type: "llm_call"}
	if in, out := usage.Prompt(), usage.Output; in+out > 0 {
		e.In, e.Out = &in, &out
	}
	asked, begun := line.Get("message").Get("timestamp").Float()
	if at, ended := line.Get("timestamp").Millis(); begun && ended && asked > 0 && asked <= float64(at) {
		took := at - int64(asked)
		e.Duration = &took
	}
	l.stats.Calls++
	l.write(&e)
}

// lookup returns what a call looks up.
func lookup(c *activity.Call) string {
	text := c.Tool
	if what := c.Search(); what.IsString() {
		text += " '" + what.Text() + "'"
	} else if what.Exists() {
		text += " " + string(what)
	}
	if c.Path() != "" {
		text += " " + c.Path()
	}
	return text
}

// result writes the outcome of a call.
func (l *logger) result(m *jsonl.Message) {
	id := m.CallID.Text()
	c, ok := l.calls[id]
	if !ok {
		c.Tool = m.Tool.Text()
	}
	delete(l.calls, id)
	outcome := activity.OK
	if m.IsError.Truthy() {
		outcome = activity.OutcomeOf(true, m.Text("\n"))
	}
	approved := outcome != activity.Blocked && outcome != activity.Skipped
	if ok && outcome <= activity.Error {
		l.stats.Tools++
	}
	for _, file := range c.Paths {
		if c.Action.Changes() && outcome == activity.OK && !slices.Contains(l.stats.Modified, file) {
			l.stats.Modified = append(l.stats.Modified, file)
		}
	}
	if l.looked != nil && c.Action.Looks() {
		*l.looked.Added += weigh.MessageTokens(&tokens.SWE, m)
	}
	l.write(&Event{Type: "tool_execution", Tool: c.Tool, File: c.Path(), Command: c.Command, Approved: &approved,
		Outcome: outcome.String()})
}

// retrieved writes the lookups at the beginning of the work on the last prompt, if any.
func (l *logger) retrieved(at string) {
	if l.looked != nil && len(l.looked.Actions) > 0 {
		l.looked.Time = at
		l.write(l.looked)
	}
	l.looked = nil
}

// update writes the size of the context, if it has changed.
func (l *logger) update(total int, at string) {
	if total != l.updated {
		share := oneDecimal(float64(total) / 256_000 * 100) // of SWE-CLI's own limit
		l.write(&Event{Time: at, Type: "context_update", Total: &total, Percent: &share})
		l.updated = total
	}
}

// write writes an event on a line.
func (l *logger) write(e *Event) {
	if e.Time == "" {
		e.Time = l.time
	}
	comma := "\n    "
	if l.events > 0 {
		comma = ",\n    "
	}
	l.events++
	l.put(append([]byte(comma), encode(e, "", "")...))
}

func (l *logger) put(text []byte) {
	if l.err == nil {
		_, l.err = l.w.Write(text)
	}
}

// encode returns a value as JSON, on a line without indent.
func encode(v any, prefix, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	if err := e.Encode(v); err != nil {
		panic(err) // it is made of numbers and texts
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// oneDecimal rounds a number to one decimal as SWE-CLI does.
func oneDecimal(x float64) float64 { return math.RoundToEven(x*10) / 10 }
