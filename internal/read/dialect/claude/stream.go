package claude

import (
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Stream is the format of what `claude -p --output-format stream-json` prints (docs/session-format.md 16.10): records
// as in a transcript, each with the id of the session and without a parent, since each follows the one before it. The
// prompt is in it only with --replay-user-messages, and tools are named without their schemas.
var Stream = streamDialect()

func streamDialect() dialect.Dialect {
	d := Dialect
	d.Sniff, d.Read, d.Record = isStream, readStream, isStreamed
	d.Store, d.Days, d.Base = dialect.Store{}, nil, nil
	d.New = func() dialect.Arranger {
		return &streamArranger{arranger: newArranger().(*arranger), before: map[string][]byte{}}
	}
	d.Version = func(line jsonl.Value) jsonl.Value { return line.Get("claude_code_version") }
	d.Pick.Record = slices.Clone(d.Pick.Record)
	d.Pick.Record[atSidechain] = parentCall
	d.Certainty = dialect.Certainty{Messages: "rule", System: "absent", Tools: "absent"}
	d.Prompted, d.Recorded, d.Rules = nil, nil, nil
	return d
}

// parentCall is the field of a sub-agent's records: the call that began it.
const parentCall = "parent_tool_use_id"

// isStream reports whether a file begins as a stream does.
func isStream(first jsonl.Value) bool {
	f := first.All("type", "session_id", "uuid", "sessionId", "parentUuid")
	typ := string(f[0].Inside())
	_, record := types[typ]
	_, other := streamed[typ]
	return f[1].IsString() && f[2].IsString() && !f[3].Exists() && !f[4].Exists() && (record || other) &&
		typ != "result" // which --output-format json prints alone
}

// isStreamed reports whether an object is a line of a stream.
func isStreamed(v jsonl.Value) bool {
	f := v.All("type", "session_id")
	return f[0].IsString() && f[1].IsString()
}

// streamed are the types of lines that only a stream has.
var streamed = map[string]dialect.Code{
	"result": costs, "stream_event": dialect.Skip, "rate_limit_event": dialect.Skip, "tool_progress": dialect.Skip,
	"tool_use_summary": dialect.Skip, "auth_status": dialect.Skip, "keep_alive": dialect.Skip,
	"control_request": dialect.Skip, "control_response": dialect.Skip, "prompt_suggestion": dialect.Skip,
}

// readStream returns the Read of a stream.
func readStream(p *jsonl.Picked) dialect.Head {
	if code, ok := streamed[string(p.Type.Inside())]; ok {
		return dialect.Head{Code: code}
	}
	return read(p)
}

// A streamArranger gives each record the one before it as its parent: of the session, or of the same sub-agent.
type streamArranger struct {
	*arranger
	before   map[string][]byte // ids, by the call that began the sub-agent; the session's own by the empty string
	prompted bool              // a prompt, or the finding that there is none, comes before
	run      int               // of the program, which counts what it cost from 0
	dollars  float64           // of that run so far
}

// Next implements [dialect.Arranger].
func (a *streamArranger) Next(t dialect.Tree, l *dialect.Line) {
	code := l.Code
	if code != dialect.Unknown {
		code &= codeMask
	}
	if code == costs && a.first != nil {
		a.cost(t, t.Read(l.At))
		return
	}
	agent := ""
	if l.Code != dialect.Unknown && l.Code&sidechain != 0 {
		agent = t.Read(l.At).Get(parentCall).Text()
	}
	if !a.prompted && agent == "" && (code == answer || code == user) {
		a.prompted = true
		if code == answer {
			defer t.Report("incomplete", l.Clone(),
				"no prompt comes before it: a stream has prompts only with --replay-user-messages")
		}
	}
	is := *l
	if len(l.ID) > 0 {
		if len(l.Ref) == 0 {
			is.Ref = a.before[agent]
		}
		a.before[agent] = slices.Clone(l.ID)
	}
	a.arranger.Next(t, &is)
}

// cost takes what a run of the program has cost so far, as a result says.
func (a *streamArranger) cost(t dialect.Tree, line jsonl.Value) {
	dollars, ok := line.Get("total_cost_usd").Float()
	if !ok {
		return
	}
	if dollars < a.dollars {
		a.run++
	}
	a.dollars = dollars
	t.Counted(string(rune('0'+a.run)), dollars)
}
