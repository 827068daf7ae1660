package stats

import (
	"strings"
	"unicode"

	"ctxtool/sessionfmt/jsonl"
)

// A toolCount is what became of the calls of a tool.
type toolCount struct {
	Tool       string `json:"tool,omitempty"` // its name
	Calls      int    `json:"calls"`          // how often it was called
	OK         int    `json:"ok"`             // calls that went well
	Error      int    `json:"error"`          // calls that failed
	Blocked    int    `json:"blocked"`        // a hook did not let it run
	Skipped    int    `json:"skipped"`        // the user had said something else by then
	Aborted    int    `json:"aborted"`        // by the user, before it ran or while it did
	Unanswered int    `json:"unanswered"`     // no branch has a result
	Asked      int64  `json:"askedBytes"`     // JSON of arguments, as it stands in the file
	Got        int64  `json:"gotBytes"`       // JSON of results' content, as it stands in the file
}

func (t *toolCount) add(one *toolCount) {
	t.Calls += one.Calls
	t.OK += one.OK
	t.Error += one.Error
	t.Blocked += one.Blocked
	t.Skipped += one.Skipped
	t.Aborted += one.Aborted
	t.Unanswered += one.Unanswered
	t.Asked += one.Asked
	t.Got += one.Got
}

func (t *toolCount) outcomes() map[string]int {
	return map[string]int{
		"ok": t.OK, "error": t.Error, "blocked": t.Blocked, "skipped": t.Skipped, "aborted": t.Aborted, "unanswered": t.Unanswered,
	}
}

// An outcome is what became of a tool call.
type outcome uint8

const (
	outcomeOK outcome = iota
	outcomeError
	outcomeBlocked
	outcomeSkipped
	outcomeAborted
	outcomeUnanswered
)

// outcome adds a call with its outcome.
func (t *toolCount) outcome(o outcome) {
	*[...]*int{&t.OK, &t.Error, &t.Blocked, &t.Skipped, &t.Aborted, &t.Unanswered}[o]++
}

// outcomeOf tells the outcome from a result. A file does not say why a result is an
// error, so pi's words have to: it skips the calls behind a message that the user has
// queued, and gives a hook's reason, or its own words, for what the hook blocks; its
// tools say that they were aborted at the end. A result that only says that there is
// none was made up for a call that nobody answered.
func outcomeOf(isError bool, text string) outcome {
	if !isError {
		return outcomeOK
	}
	text = strings.TrimSpace(text)
	start := strings.ToLower(strings.TrimLeftFunc(text[:min(len(text), 64)], func(r rune) bool { return !unicode.IsLetter(r) }))
	end := text[strings.LastIndexByte(text, '\n')+1:]
	switch {
	case text == "No result provided":
		return outcomeUnanswered
	case strings.HasPrefix(start, "skipped due to queued user message"):
		return outcomeSkipped
	case strings.HasPrefix(start, "blocked"), strings.HasPrefix(start, "tool execution was blocked"):
		return outcomeBlocked
	case end == "Command aborted", end == "Operation aborted", end == "Request was aborted":
		return outcomeAborted
	}
	return outcomeError
}

// A callBook pairs calls and results by id, whatever lies between them, and also
// where the result comes first. Where ids are used again, a result answers the last
// call that is still open.
type callBook struct {
	sum     *SessionPart
	open    map[string][]openCall
	strange map[string]strangeResult // results whose call has not come
	msg     jsonl.Message
	at      jsonl.Cursor
}

type openCall struct {
	tool    string
	aborted bool // its answer was
}

type strangeResult struct {
	outcome outcome
	got     int64
}

func newCallBook(sum *SessionPart) *callBook {
	return &callBook{sum: sum, open: map[string][]openCall{}, strange: map[string]strangeResult{}}
}

// tool is the count of the tool with that name.
func (p *SessionPart) tool(name string) *toolCount {
	at, ok := p.toolAt[name]
	if !ok {
		at = len(p.Tools)
		p.toolAt[name] = at
		p.Tools = append(p.Tools, toolCount{Tool: name})
	}
	return &p.Tools[at]
}

// message reads the message of a line.
func (b *callBook) message(kind jsonl.Kind, line jsonl.Value) *jsonl.Message {
	b.msg.Read(b.at.Reset(line.Get("message")), kind)
	return &b.msg
}

// answer records the calls of an answer.
func (b *callBook) answer(m *jsonl.Message) {
	for call := range m.Calls {
		id, tool := call.ID.Text(), call.Name.Text()
		b.count(tool, toolCount{Calls: 1, Asked: int64(len(call.Args))})
		if r, ok := b.strange[id]; ok {
			delete(b.strange, id)
			b.settle(tool, r)
			continue
		}
		b.open[id] = append(b.open[id], openCall{tool, m.Stop.Is("aborted")})
	}
}

// result records a tool result.
func (b *callBook) result(m *jsonl.Message) {
	r := strangeResult{outcomeOK, int64(len(m.Content))}
	if m.IsError.Truthy() {
		r.outcome = outcomeOf(true, string(m.AppendText(nil, "\n")))
	}
	id := m.CallID.Text()
	calls := b.open[id]
	if len(calls) == 0 {
		if _, ok := b.strange[id]; ok {
			b.sum.LostResults++
		}
		b.strange[id] = r
		return
	}
	last := len(calls) - 1
	b.settle(calls[last].tool, r)
	if b.open[id] = calls[:last]; last == 0 {
		delete(b.open, id)
	}
}

// settle counts the outcome of a call.
func (b *callBook) settle(tool string, r strangeResult) {
	one := toolCount{Got: r.got}
	one.outcome(r.outcome)
	b.count(tool, one)
}

func (b *callBook) count(tool string, one toolCount) {
	b.sum.Calls.add(&one)
	b.sum.tool(tool).add(&one)
}

// close counts what is left once all records have been seen.
func (b *callBook) close() {
	for _, calls := range b.open {
		for _, c := range calls {
			outcome := outcomeUnanswered
			if c.aborted {
				outcome = outcomeAborted
			}
			b.settle(c.tool, strangeResult{outcome: outcome})
		}
	}
	b.sum.LostResults += len(b.strange)
}

var toolColumns = []sheetColumn{
	{Name: "tool", Flex: true}, {Name: "calls", Unit: Number}, {Name: "ok", Unit: Number}, {Name: "error", Unit: Number},
	{Name: "blocked", Unit: Number}, {Name: "skipped", Unit: Number}, {Name: "aborted", Unit: Number},
	{Name: "unanswered", Unit: Number}, {Name: "asked", Unit: Bytes}, {Name: "got", Unit: Bytes},
}

func toolRows(tools []toolCount) (rows [][]any) {
	for i := range tools {
		t := &tools[i]
		row := []any{t.Tool}
		for _, n := range []int64{
			int64(t.Calls), int64(t.OK), int64(t.Error), int64(t.Blocked), int64(t.Skipped), int64(t.Aborted), int64(t.Unanswered), t.Asked, t.Got,
		} {
			row = append(row, orNil(n))
		}
		rows = append(rows, row)
	}
	return rows
}
