package stats

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ctxtool/internal/base/sorting"
	"ctxtool/internal/lens/survival"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// sessionLens counts what a session contains, on all branches.
var sessionLens = Lens{
	Name:    "session",
	About:   "messages, requests, tool calls, branches, compactions, models, time",
	Default: true,
	read:    readSession,
	add: func(sum, one *Report) {
		partOf(&sum.Session, newSessionPart(one.Session.LongPrompts.Limit)).add(one.File, one.Session)
	},
	finish: func(r *Report) { r.Session.sort() },
	sheets: func(r *Report) []table.Sheet { return cmp.Or(r.Session, newSessionPart(0)).sheets() },
}

// A SessionPart is the content of one or several sessions: all records of the file, on all
// branches, including those with the id of a later one, as in pi's own numbers
// (docs/session-format.md 8.4).
type SessionPart struct {
	Sessions int `json:"sessions"` // those that were read
	Messages int `json:"messages"` // entries that are messages
	// of them; `other` is an unknown role, `none` an entry without message
	Roles    map[string]int `json:"roles"`
	Turns    int            `json:"turns"`    // prompts of the user
	Requests int            `json:"requests"` // answers of models
	// requests by how their answer ended, `none` where it does not say
	StopReasons map[string]int `json:"stopReasons"`
	Models      []ModelCount   `json:"models"`      // the most used first
	Calls       ToolCount      `json:"toolCalls"`   // of all tools together, without `tool`
	Tools       []ToolCount    `json:"tools"`       // by tool, the most called first
	LostResults int            `json:"lostResults"` // results whose call is nowhere
	Branches    int            `json:"branches"`    // leaves of the tree
	// of any agent, also by transforms; a compaction and its shadow count once
	Compactions int         `json:"compactions"`
	Summaries   int         `json:"branchSummaries"` // entries of this type, as the next two
	Edits       int         `json:"edits"`
	Transforms  int         `json:"transforms"`
	Time        TimeSpan    `json:"time"`        // when it was written
	LongPrompts LongPrompts `json:"longPrompts"` // prompts that took many requests

	modelAt map[[2]string]int // indexes into Models and Tools, until they are sorted
	toolAt  map[string]int
}

// A ModelCount is the number of requests that a model answered.
type ModelCount struct {
	Provider string `json:"provider"` // as the answers name it
	Model    string `json:"model"`    // as the answers name it
	Requests int    `json:"requests"` // that it answered
}

// A TimeSpan is the time from the first to the last message (docs/figures.md, "Time"). Seconds is the length of the
// span, or the sum over several sessions.
type TimeSpan struct {
	First   string  `json:"first,omitempty"` // timestamp of the earliest message
	Last    string  `json:"last,omitempty"`  // timestamp of the latest message
	Seconds float64 `json:"seconds"`         // between them, of several sessions their sum

	first, last int64 // milliseconds since 1970
}

// LongPrompts are prompts with more requests than gsh allows (max_iterations, docs/policies.md
// 2.6). On several branches, the longest counts.
type LongPrompts struct {
	Limit int `json:"limit"` // `--max-iterations`
	// prompts that took more requests, on the longest of several branches
	Count int `json:"count"`
	Most  int `json:"most"` // requests that any prompt took
	// at most 20, those with the most requests first; `text` is the first words
	Prompts []LongPrompt `json:"prompts"`
}

// A LongPrompt is one of them. Text is its first words.
type LongPrompt struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line"`
	Entry    string `json:"entry"`
	Requests int    `json:"requests"`
	Text     string `json:"text"`
}

// mostListed limits lists that may be long.
const mostListed = 20

func newSessionPart(limit int) *SessionPart {
	return &SessionPart{
		Roles: map[string]int{}, StopReasons: map[string]int{}, Models: []ModelCount{}, Tools: []ToolCount{},
		LongPrompts: LongPrompts{Limit: limit, Prompts: []LongPrompt{}},
		modelAt:     map[[2]string]int{}, toolAt: map[string]int{},
	}
}

func readSession(l *lensRun) {
	p := newSessionPart(cmp.Or(l.MaxIterations, 25))
	p.Sessions = 1
	l.Report.Session = p
	calls := &callBook{sum: p, each: l.each, record: -1, open: map[string][]openCall{},
		strange: map[string]strangeResult{}}
	l.Records = append(l.Records, func(r *jsonl.Picked) { p.take(calls, r) })
	l.Indexed = append(l.Indexed, func() {
		calls.close()
		l.fail(p.shape(l.Session))
		l.fail(p.compactions(l))
	})
}

// take counts a record.
func (p *SessionPart) take(calls *callBook, r *jsonl.Picked) {
	kind := r.Kind
	calls.record++
	switch kind {
	case jsonl.User:
		p.Turns++
	case jsonl.Assistant:
		m := r.Said()
		if calls.answer(m); !r.Unanswered {
			p.Requests++
			p.StopReasons[cmp.Or(m.Stop.Text(), "none")]++
			p.model(ModelCount{m.Provider.Text(), m.Model.Text(), 1})
		}
	case jsonl.ToolResult:
		calls.result(r.Said())
	case jsonl.BranchSummary:
		p.Summaries++
	case jsonl.ContextEdit:
		p.Edits++
	case jsonl.Transform:
		p.Transforms++
	}
	if kind.IsMessage() {
		p.Messages++
		switch role := kind.Role(); {
		case kind == jsonl.NoMessage:
			p.Roles["none"]++
		case role == "":
			p.Roles["other"]++
		default:
			p.Roles[role]++
		}
		if ms, ok := r.Timestamp.Millis(); ok {
			p.Time.take(r.Timestamp.Text(), ms)
			p.Time.Seconds = float64(p.Time.last-p.Time.first) / 1000
		}
	}
}

func (p *SessionPart) model(m ModelCount) {
	rowOf(&p.Models, p.modelAt, [2]string{m.Provider, m.Model},
		ModelCount{m.Provider, m.Model, 0}).Requests += m.Requests
}

// take makes the span include a time.
func (s *TimeSpan) take(stamp string, ms int64) {
	if s.First == "" || ms < s.first {
		s.First, s.first = stamp, ms
	}
	if s.Last == "" || ms > s.last {
		s.Last, s.last = stamp, ms
	}
}

// shape counts what depends on the whole tree.
func (p *SessionPart) shape(s *sessionfmt.Session) error {
	n := s.Len()
	inner, prompt, requests := s.Inner(), make([]int32, n), make([]int32, n)
	most := map[int32]int32{}
	for i := range n {
		if s.Kind(i).IsEntry() && !inner[i] {
			p.Branches++
		}
		prompt[i] = -1
		if up := s.Parent(i); up >= 0 && up < i {
			prompt[i], requests[i] = prompt[up], requests[up]
		}
		switch s.Kind(i) {
		case jsonl.User:
			prompt[i], requests[i] = int32(i), 0
		case jsonl.Assistant:
			if s.Answers(i) {
				requests[i]++
				most[prompt[i]] = max(most[prompt[i]], requests[i])
			}
		}
	}
	delete(most, -1) // requests without a prompt
	return p.LongPrompts.find(s, most)
}

// compactions counts the compactions on all branches, by the rules of the lens compactions.
func (p *SessionPart) compactions(l *lensRun) error {
	patched := l.Replay.Rules.Patched()
	for rec := range l.Session.Len() {
		switch kind := l.Session.Kind(rec); {
		case kind == jsonl.Transform && patched:
			if survival.Compacts(l.line(rec)) {
				p.compaction(l, rec)
			}
		case kind == jsonl.Compaction:
			shadow, err := l.Replay.Shadows(rec)
			if err != nil {
				return err
			}
			if !shadow || !patched {
				p.compaction(l, rec)
			}
		}
	}
	return l.err
}

// compaction counts one.
func (p *SessionPart) compaction(l *lensRun, rec int) {
	p.Compactions++
	if l.each != nil {
		l.each.Compacts = append(l.each.Compacts, rec)
	}
}

// find lists the prompts with too many requests, given the number of each.
func (l *LongPrompts) find(s *sessionfmt.Session, most map[int32]int32) error {
	read := s.NewReader()
	for _, rec := range slices.Sorted(maps.Keys(most)) {
		n := int(most[rec])
		l.Most = max(l.Most, n)
		if n <= l.Limit {
			continue
		}
		line, err := read.Line(int(rec))
		if err != nil {
			return err
		}
		l.Count++
		l.Prompts = append(l.Prompts, LongPrompt{
			Line: s.Line(int(rec)), Entry: s.ID(int(rec)), Requests: n,
			Text: cmp.Or(outline.PromptWords(line), outline.Gist(jsonl.User, line)),
		})
	}
	l.cut()
	return nil
}

// cut keeps the longest.
func (l *LongPrompts) cut() {
	l.Prompts = largest(l.Prompts, mostListed, func(p LongPrompt) int { return p.Requests })
}

// add adds another session's part.
func (p *SessionPart) add(file string, one *SessionPart) {
	limit, most := p.LongPrompts.Limit, max(p.LongPrompts.Most, one.LongPrompts.Most)
	addUp(p, one)
	p.LongPrompts.Limit, p.LongPrompts.Most = limit, most
	for _, m := range one.Models {
		p.model(m)
	}
	for i := range one.Tools {
		addUp(p.tool(one.Tools[i].Tool), &one.Tools[i])
	}
	if t := &one.Time; t.First != "" {
		p.Time.take(t.First, t.first)
		p.Time.take(t.Last, t.last)
	}
	p.LongPrompts.Prompts = filed(p.LongPrompts.Prompts, one.LongPrompts.Prompts, file,
		func(l *LongPrompt) *string { return &l.File })
	p.LongPrompts.cut()
}

// sort puts the largest first. Nothing may be added after that.
func (p *SessionPart) sort() {
	p.modelAt, p.toolAt = nil, nil
	sorting.By(p.Models, func(a, b ModelCount) int {
		return cmp.Or(b.Requests-a.Requests, cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	sorting.By(p.Tools, func(a, b ToolCount) int { return cmp.Or(b.Calls-a.Calls, cmp.Compare(a.Tool, b.Tool)) })
}

func (p *SessionPart) sheets() []table.Sheet {
	long := &p.LongPrompts
	title := fmt.Sprintf("prompts with more than %d requests", long.Limit)
	s := table.Sheet{Title: title, Table: table.Of(long.Prompts, []col[*LongPrompt]{
		{Name: "session", Unit: table.Path, Value: func(l *LongPrompt) any { return l.File }},
		{Name: "entry", Unit: table.Entry, Value: func(l *LongPrompt) any { return l.Entry }},
		{Name: "requests", Unit: table.Number, Value: func(l *LongPrompt) any { return l.Requests }},
		{Name: "prompt", Flex: true, Value: func(l *LongPrompt) any { return l.Text }},
	})}
	if more := long.Count - len(long.Prompts); more > 0 {
		s.Notes = []string{fmt.Sprintf("and %d more", more)}
	}
	tools := table.Sheet{Title: "tool calls", Table: table.Of(p.Tools, []col[*ToolCount]{
		{Name: "tool", Flex: true, Value: func(t *ToolCount) any { return t.Tool }},
		{Name: "calls", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.Calls) }},
		{Name: "ok", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.OK) }},
		{Name: "error", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.Error) }},
		{Name: "blocked", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.Blocked) }},
		{Name: "skipped", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.Skipped) }},
		{Name: "aborted", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.Aborted) }},
		{Name: "unanswered", Unit: table.Number,
			Value: func(t *ToolCount) any { return table.Unless0(t.Unanswered) }},
		{Name: "nested", Unit: table.Number, Value: func(t *ToolCount) any { return table.Unless0(t.Nested) }},
		{Name: "asked", Unit: table.Bytes, Value: func(t *ToolCount) any { return table.Unless0(t.Asked) }},
		{Name: "got", Unit: table.Bytes, Value: func(t *ToolCount) any { return table.Unless0(t.Got) }},
	})}
	return withRows([]table.Sheet{p.sheet(), tools, s.Of(p.Sessions > 1)})
}

// sheet returns the table of numbers, without zero ones.
func (p *SessionPart) sheet() table.Sheet {
	var rows []fact
	row := func(what string, n int, of string) {
		if n > 0 {
			rows = append(rows, fact{what, n, of})
		}
	}
	if p.Sessions != 1 {
		row("sessions", p.Sessions, "")
	}
	row("messages", p.Messages, tally(p.Roles))
	long := ""
	if l := p.LongPrompts; l.Most > 0 {
		long = fmt.Sprintf("the longest took %s", phrase.Count(l.Most, "request"))
	}
	row("prompts", p.Turns, long)
	row("requests", p.Requests, tally(p.StopReasons))
	var used []string
	for _, m := range p.Models {
		used = append(used, fmt.Sprintf("%d %s", m.Requests, modelName(models.Ref{Provider: m.Provider, ID: m.Model})))
	}
	row("models", len(p.Models), strings.Join(used, ", "))
	row("tool calls", p.Calls.Calls, tally(p.Calls.outcomes()))
	row("results without a call", p.LostResults, "")
	row("branches", p.Branches, "")
	row("compactions", p.Compactions, "")
	row("branch summaries", p.Summaries, "")
	row("edits", p.Edits, "")
	row("transforms", p.Transforms, "")
	if p.Time.First != "" {
		rows = append(rows, fact{What: "time", Of: p.Time.String()})
	}
	return table.Sheet{Table: table.Of(rows, []col[*fact]{
		{Name: "what", Value: func(f *fact) any { return f.What }},
		{Name: "number", Unit: table.Number, Value: func(f *fact) any { return table.Unless0(f.Number) }},
		{Name: "of which", Flex: true, Value: func(f *fact) any { return f.Of }},
	})}
}

// modelName returns a model as a flag names it.
func modelName(m models.Ref) string {
	return cmp.Or(strings.Trim(m.Provider+"/"+m.ID, "/"), "unnamed")
}

// String describes the span in words.
func (s TimeSpan) String() string {
	minutes := int64(s.Seconds) / 60
	length := fmt.Sprintf("%dh%02dm", minutes/60, minutes%60)
	if minutes < 60 {
		length = fmt.Sprintf("%dm%02ds", minutes, int64(s.Seconds)%60)
	}
	return fmt.Sprintf("%s to %s, %s", minute(s.First), minute(s.Last), length)
}

// minute returns a time without its seconds.
func minute(stamp string) string {
	if len(stamp) < len("2006-01-02T15:04") {
		return stamp
	}
	return strings.Replace(stamp[:len("2006-01-02T15:04")], "T", " ", 1)
}

// tally returns counts in words, the largest first.
func tally(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	var texts []string
	for _, name := range names {
		if counts[name] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", counts[name], name))
		}
	}
	return strings.Join(texts, ", ")
}
