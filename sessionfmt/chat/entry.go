package chat

import (
	"math"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// append is the dialect's Append.
func (f *Format) append(dst []byte, e *dialect.Entry) []byte {
	w := Writer{dialect.Writer{Out: dst, Native: e.Native, Said: e.Said}}
	line := e.Lines[0]
	switch e.Kind {
	case jsonl.Header:
		w.header(f, e)
		e.Kept = nil
		return w.Out
	case jsonl.SessionInfo:
		a, _ := f.About(line)
		w.Text("{", "type", e.Kind.Type())
		w.Place(e, Time(a.Time))
		w.Member(",", "name", a.Title)
		return append(w.Out, '}')
	}
	k, _ := e.Kept.(*kept)
	if k == nil {
		k = &kept{}
		e.Kept, e.Again = k, false
	}
	if !e.Again {
		k.line.reset(e.Native)
		f.Read(&k.line, line)
		k.calls.reset(false)
		if len(e.Lines) > 1 {
			f.Read(&k.calls, e.Lines[1])
		}
	}
	r := &k.line
	if e.Part >= len(r.Said) || e.Kind == jsonl.Unknown {
		w.Raw(`{"type":""`)
		w.Place(e, nil)
		w.Member(",", "data", line)
		return append(w.Out, '}')
	}
	m := &r.Said[e.Part]
	if m.Kind == jsonl.ToolResult && m.Tool == nil {
		m.Tool = k.calls.tool(m.Call)
	}
	w.Text("{", "type", e.Kind.Type())
	w.Place(e, Time(m.Time))
	switch e.Kind {
	case jsonl.CustomEntry:
		w.Text(",", "customType", m.Type)
		w.Member(",", "data", line)
	case jsonl.ChildUsage:
		rest := *m.Usage // besides the answer's own, whose cost is not told
		rest.Input -= r.Said[e.Part-1].Usage.Input
		w.Text(",", "targetId", string(e.Parent))
		w.usage("childUsage", &rest)
		w.usage("aggregateUsage", m.Usage)
	default:
		w.Raw(`,"message":`)
		w.Message(e.Kind, m)
		e.Size = w.Size
	}
	return append(w.Out, '}')
}

// A kept is what the lines of an entry hold: its own, and the one with the calls that its
// results answer.
type kept struct{ line, calls Reader }

// tool is the tool of a call.
func (r *Reader) tool(call jsonl.Value) jsonl.Value {
	for i := range r.Said {
		for k := range r.Said[i].Blocks {
			if b := &r.Said[i].Blocks[k]; b.Kind == jsonl.CallBlock && string(b.ID) == string(call) {
				return b.Name
			}
		}
	}
	return nil
}

// A Writer appends entries.
type Writer struct{ dialect.Writer }

func (w *Writer) header(f *Format, e *dialect.Entry) {
	a, _ := f.About(e.Lines[0])
	for _, line := range e.Lines[1:] {
		if later, _ := f.About(line); later.CWD.Exists() {
			a.CWD = later.CWD
		}
	}
	w.Text("{", "type", jsonl.Header.Type())
	w.Place(e, Time(a.Time))
	w.Member(",", "cwd", a.CWD)
	w.Member(",", "parentSession", a.Parent)
	w.Raw("}")
}

// Message appends a message as one of a kind.
func (w *Writer) Message(kind jsonl.Kind, m *Said) {
	w.Begin(kind)
	switch kind {
	case jsonl.ToolResult:
		w.Set("toolCallId", m.Call)
		w.Set("toolName", m.Tool)
	case jsonl.Custom:
		if m.Type == "" {
			m.Type = m.Kind.Role()
		}
		w.Text(",", "customType", m.Type)
	}
	if kind == jsonl.System && len(m.Blocks) == 1 {
		w.Member(",", "content", m.Blocks[0].Text.Value)
	} else {
		w.Content(m.Blocks)
	}
	switch kind {
	case jsonl.ToolResult:
		if !m.Untold {
			w.Set("isError", truth[m.Failed])
		}
	case jsonl.Custom:
		w.Raw(`,"display":true`)
	case jsonl.Assistant:
		w.answer(m)
	}
	if w.Native {
		w.Raw(`,"native":[`)
		w.Value(m.Native)
		w.Raw("]")
	}
	w.End()
}

var (
	truth = map[bool]jsonl.Value{true: jsonl.Value("true"), false: jsonl.Value("false")}
	stops = map[bool]jsonl.Value{true: jsonl.Value(`"toolUse"`), false: jsonl.Value(`"stop"`)}
)

// answer appends what an answer has besides its content.
func (w *Writer) answer(m *Said) {
	w.Set("provider", m.Provider)
	w.Set("model", m.Model)
	w.Set("stopReason", stops[m.calls()])
	if m.Usage != nil {
		at := len(w.Out) + len(`,"usage":`)
		if w.usage("usage", m.Usage); w.Said != nil {
			w.Said.Usage = w.Out[at:]
		}
	}
}

// usage appends a usage, with its cost if that is recorded.
func (w *Writer) usage(name string, u *jsonl.Usage) {
	w.Number(`,"`+name+`":{"input":`, u.Input)
	w.Number(`,"output":`, u.Output)
	w.Number(`,"cacheRead":`, u.CacheRead)
	w.Number(`,"cacheWrite":`, u.CacheWrite)
	w.Number(`,"totalTokens":`, u.Context())
	if u.Cost.Known {
		w.Raw(`,"cost":{"total":`)
		if math.IsInf(u.Cost.Total, 0) { // as implausible, and JSON
			w.Raw("1e999")
		} else {
			w.Out = strconv.AppendFloat(w.Out, u.Cost.Total, 'f', -1, 64)
		}
		w.Raw("}")
	}
	w.Raw("}")
}

// Time returns a time as pi writes it. Python writes a space before the hours, and no zone,
// which reads as UTC.
func Time(v jsonl.Value) jsonl.Value {
	const day = len(`"2006-01-02`)
	if !v.IsString() || len(v) < len(`"2006-01-02 15:04"`) || v[day] != ' ' {
		return v
	}
	out := append(jsonl.Value(nil), v...)
	out[day] = 'T'
	if last := v[len(v)-2]; last != 'Z' && !zoned(v[day:]) {
		out = append(out[:len(out)-1], `Z"`...)
	}
	return out
}

// zoned reports whether a time of the day ends with an offset.
func zoned(clock jsonl.Value) bool {
	for _, c := range clock {
		if c == '+' || c == '-' {
			return true
		}
	}
	return false
}
