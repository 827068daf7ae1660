package search

import (
	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

// A Where is the role of a text in a session.
type Where string

// The places of texts.
const (
	Prompt   Where = "prompt"
	Answer   Where = "answer"
	Thinking Where = "thinking"
	Call     Where = "call"   // the arguments of a tool call, or a command of the user
	Result   Where = "result" // of a call or a command
	Summary  Where = "summary"
	System   Where = "system"
	Failure  Where = "error" // why a request failed
	Name     Where = "name"  // of the session
	Label    Where = "label"
	Patch    Where = "patch"  // an edit, or a transform
	Custom   Where = "custom" // what an extension wrote
)

// A doc is the texts of an entry. It is used for one entry after the other.
type doc struct {
	kind   jsonl.Kind
	time   jsonl.Value
	buf    []byte
	blocks []docBlock
	m      jsonl.Message
	own    int         // how much of the buffer is the entry's own text, before that of nested calls
	exit   jsonl.Value // of a command of the user
	at     jsonl.Cursor
}

// A docBlock is a text.
type docBlock struct {
	where    Where
	tool     string
	from, to int // in the buffer
}

func (d *doc) text(b docBlock) []byte { return d.buf[b.from:b.to] }

// read reads an entry.
func (d *doc) read(kind jsonl.Kind, line jsonl.Value) {
	d.kind, d.time, d.exit = kind, nil, nil
	d.buf, d.blocks, d.own = d.buf[:0], d.blocks[:0], 0
	d.m = jsonl.Message{Blocks: d.m.Blocks[:0]}
	var message jsonl.Value
	for key := range d.at.Reset(line).Members {
		switch string(key) {
		case "timestamp":
			d.time = d.at.Value()
		case "message":
			if kind.IsTurn() {
				d.m.Read(&d.at, kind)
			} else {
				message = d.at.Value()
			}
		}
	}
	switch {
	case kind.IsTurn():
		d.turn()
	case kind == jsonl.Bash:
		var f [3]jsonl.Value
		message.Fields(f[:], "command", "output", "exitCode")
		d.add(Call, "bash", f[0])
		d.add(Result, "bash", f[1])
		d.exit = f[2]
	case kind.IsMessage():
		d.other(message)
	default:
		d.other(line)
	}
}

// turn adds the texts of a prompt, an answer or a result.
func (d *doc) turn() {
	where, tool := Answer, ""
	switch d.kind {
	case jsonl.User:
		where = Prompt
	case jsonl.ToolResult:
		where, tool = Result, d.m.Tool.Text()
	}
	for i := range d.m.Blocks {
		switch b := &d.m.Blocks[i]; b.Kind {
		case jsonl.TextBlock:
			d.add(where, tool, b.Text.Value)
		case jsonl.ThinkingBlock:
			d.add(Thinking, "", b.Text.Value)
		case jsonl.CallBlock:
			name := b.Name.Text()
			for s := range b.Args.Strings {
				d.add(Call, name, s)
			}
		}
	}
	d.add(Failure, "", d.m.Failure)
	d.own = len(d.buf)
	for call := range d.m.NestedCalls {
		tool := call.Get("name").Text()
		for s := range call.Get("arguments").Strings {
			d.add(Call, tool, s)
		}
		d.add(Result, tool, call.Get("error"))
	}
}

// others are what the texts of other entries are, and the field that has them; all texts of the
// entry if it is empty.
var others = map[jsonl.Kind]struct {
	where Where
	field string
}{
	jsonl.System: {System, ""}, jsonl.BranchMessage: {Summary, "summary"},
	jsonl.CompactionMessage: {Summary, "summary"},
	jsonl.TransformMessage:  {Summary, "summary"}, jsonl.Compaction: {Summary, "summary"},
	jsonl.BranchSummary: {Summary, "summary"},
	jsonl.CustomEntry:   {Custom, "data"}, jsonl.ContextEdit: {Patch, "replacement"}, jsonl.Transform: {Patch, "patch"},
	jsonl.Ephemeral: {Patch, ""}, jsonl.SessionInfo: {Name, "name"}, jsonl.Label: {Label, "label"},
}

// other adds the texts of another message or entry.
func (d *doc) other(v jsonl.Value) {
	at, known := others[d.kind]
	switch {
	case known && at.field != "":
		v = v.Get(at.field)
	case !known && (d.kind.IsMessage() || d.kind == jsonl.CustomMessage):
		for _, b := range v.Get("content").Blocks(jsonl.Custom) {
			if b.Kind == jsonl.TextBlock {
				d.add(Custom, "", b.Text.Value)
			}
		}
		return
	case !known:
		return
	}
	for s := range v.Strings {
		d.add(at.where, "", s)
	}
}

func (d *doc) add(where Where, tool string, text jsonl.Value) {
	if len(text) <= len(`""`) || !text.IsString() {
		return
	}
	from := len(d.buf)
	d.buf = text.AppendText(d.buf)
	d.blocks = append(d.blocks, docBlock{where, tool, from, len(d.buf)})
}

// ended returns the exit status of the call that the entry is the result of, nil if it is not
// recorded, and whether the call failed. A call that did not run has not failed.
func (d *doc) ended() (code *int, failed bool) {
	known := func(n int) (*int, bool) { return &n, n != 0 }
	switch d.kind {
	case jsonl.Bash:
		if d.exit.IsNumber() {
			return known(int(d.exit.Int()))
		}
	case jsonl.ToolResult:
		failed = d.m.IsError.Truthy()
		if n, _, ok := activity.Exit(d.m.Details, d.buf[:d.own], failed); ok {
			return known(n)
		}
		if !failed {
			return known(0)
		}
		outcome := activity.OutcomeOf(true, string(d.buf[:d.own]))
		return nil, outcome == activity.Error || outcome == activity.Aborted
	}
	return nil, false
}
