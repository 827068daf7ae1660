package stats

import (
	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

// A ToolCount is the outcomes of the calls of a tool.
type ToolCount struct {
	Tool       string `json:"tool,omitempty"` // its name
	Calls      int    `json:"calls"`          // how often it was called
	OK         int    `json:"ok"`             // calls that went well
	Error      int    `json:"error"`          // calls that failed
	Blocked    int    `json:"blocked"`        // a hook or the user did not let it run
	Skipped    int    `json:"skipped"`        // the user had said something else by then
	Aborted    int    `json:"aborted"`        // by the user, before it ran or while it did
	Unanswered int    `json:"unanswered"`     // no branch has a result
	Nested     int    `json:"nested"`         // calls of it that other tools made themselves; in no other number
	Asked      int64  `json:"askedBytes"`     // JSON of arguments, as it stands in the file
	Got        int64  `json:"gotBytes"`       // JSON of results' content, as it stands in the file
}

func (t *ToolCount) outcomes() map[string]int {
	return map[string]int{
		"ok": t.OK, "error": t.Error, "blocked": t.Blocked, "skipped": t.Skipped, "aborted": t.Aborted,
		"unanswered": t.Unanswered,
	}
}

// A callBook pairs calls and results by id, whatever lies between them, even if the result comes first. If an
// id is used again, a result answers the last call that is still open.
type callBook struct {
	sum     *SessionPart
	each    *Facts // may be nil
	record  int    // the number of the last one
	open    map[string][]openCall
	strange map[string]strangeResult // results before their call
}

type openCall struct {
	tool    string
	aborted bool // its answer was aborted
	number  int  // index in Facts.Tools
}

type strangeResult struct {
	record  int // -1 for none
	outcome activity.Outcome
	got     int64
}

// counts returns the count of all tools, and of the tool with that name.
func (p *SessionPart) counts(tool string) [2]*ToolCount {
	return [...]*ToolCount{&p.Calls, p.tool(tool)}
}

func (p *SessionPart) tool(name string) *ToolCount {
	return rowOf(&p.Tools, p.toolAt, name, ToolCount{Tool: name})
}

// answer records the calls of an answer.
func (b *callBook) answer(m *jsonl.Message) {
	for call := range m.Calls {
		id, tool := call.ID.Text(), call.Name.Text()
		at := b.each.uses(b.record, call)
		for _, t := range b.sum.counts(tool) {
			t.Calls++
			t.Asked += int64(len(call.Args))
		}
		if r, ok := b.strange[id]; ok {
			delete(b.strange, id)
			b.settle(openCall{tool: tool, number: at}, r)
			continue
		}
		b.open[id] = append(b.open[id], openCall{tool, m.Stop.Is("aborted"), at})
	}
}

func (b *callBook) result(m *jsonl.Message) {
	for call := range m.NestedCalls {
		for _, t := range b.sum.counts(call.Get("name").Text()) {
			t.Nested++
		}
	}
	r := strangeResult{b.record, activity.OK, int64(len(m.Content))}
	if m.IsError.Truthy() {
		r.outcome = activity.OutcomeOf(true, m.Text("\n"))
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
	b.settle(calls[last], r)
	b.open[id] = calls[:last]
	if last == 0 {
		delete(b.open, id)
	}
}

// settle counts the outcome of a call.
func (b *callBook) settle(c openCall, r strangeResult) {
	b.each.settles(c.number, &r)
	for _, t := range b.sum.counts(c.tool) {
		t.Got += r.got
		*[...]*int{&t.OK, &t.Error, &t.Blocked, &t.Skipped, &t.Aborted, &t.Unanswered}[r.outcome]++
	}
}

// close counts open calls after all records.
func (b *callBook) close() {
	for _, calls := range b.open {
		for _, c := range calls {
			outcome := activity.Unanswered
			if c.aborted {
				outcome = activity.Aborted
			}
			b.settle(c, strangeResult{record: -1, outcome: outcome})
		}
	}
	b.sum.LostResults += len(b.strange)
}
