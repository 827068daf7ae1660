package chat

import (
	"bytes"
	"math"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// make implements Make of the dialect.
func (f *Format) make(s *dialect.Source) {
	if other := f.Make[s.Kind]; other != nil {
		other(f, s)
		return
	}
	switch a, _ := f.about(s); s.Kind {
	case jsonl.Header:
		for _, line := range s.Lines[1:] {
			if later, _ := f.About(line); later.CWD.Exists() {
				a.CWD = later.CWD
			}
		}
		e := s.Add()
		e.Time = Time(a.Time)
		e.Set("cwd", a.CWD)
		e.Set("parentSession", a.Parent)
	case jsonl.SessionInfo:
		e := s.Add()
		e.Time = Time(a.Time)
		e.Set("name", a.Title)
	default:
		f.messages(s)
	}
}

// about returns what a line says about the session, if the entry is made of that.
func (f *Format) about(s *dialect.Source) (a About, ok bool) {
	if s.Kind != jsonl.Header && s.Kind != jsonl.SessionInfo {
		return a, false
	}
	return f.About(s.Lines[0])
}

// messages makes the entries of all messages of a line.
func (f *Format) messages(s *dialect.Source) {
	r := f.read(s.Lines[0], s)
	defer r.done()
	if s.Part >= len(r.Said) || s.Kind == jsonl.Unknown {
		s.Entries = s.Entries[:0]
		for range s.Part + 1 {
			s.Add().Type = jsonl.Value(`""`)
		}
		s.Entry().Set("data", s.Lines[0])
		return
	}
	for k := range r.Said {
		m, kind := &r.Said[k], r.Said[k].Kind
		if k == s.Part {
			kind = s.Kind
		} else if kind == jsonl.ChildUsage { // lines name their parent
			break
		}
		if m.Kind == jsonl.ToolResult && m.Tool == nil {
			m.Tool = f.tool(s, m.Call)
		}
		e := s.Add()
		e.Time = Time(m.Time)
		switch kind {
		case jsonl.CustomEntry:
			e.SetText("customType", m.Type)
			e.Set("data", s.Lines[0])
		case jsonl.ChildUsage:
			rest := *m.Usage // besides the answer's own usage; its cost is unknown
			rest.Input -= r.Said[k-1].Usage.Input
			e.SetText("targetId", string(s.Parent))
			e.Set("childUsage", usage(s, &rest))
			e.Set("aggregateUsage", usage(s, m.Usage))
		default:
			m.To(s, e, kind)
		}
	}
	if len(r.Said) == 1 && r.Said[0].calls() {
		s.Keep(0, r.Said[0].Blocks)
	}
}

// Each makes an entry for each message of a line, as long as more returns one.
func (f *Format) Each(s *dialect.Source, line jsonl.Value, entry func(m *Said) *dialect.Entry) {
	r := f.read(line, s)
	defer r.done()
	for k := range r.Said {
		if e := entry(&r.Said[k]); e != nil {
			r.Said[k].To(s, e, r.Said[k].Kind)
		}
	}
}

// tool returns the tool of a call on line 2 of the source, absent if there is none.
func (f *Format) tool(s *dialect.Source, call jsonl.Value) jsonl.Value {
	if len(s.Lines) < 2 {
		return nil
	}
	if _, kept := s.Tool(call); !kept {
		r := f.read(s.Lines[1], nil)
		var said []jsonl.Block
		for k := range r.Said {
			said = append(said, r.Said[k].Blocks...)
		}
		s.Keep(1, said)
		r.done()
	}
	name, _ := s.Tool(call)
	return name
}

// To adds a message of a kind to an entry.
func (m *Said) To(s *dialect.Source, e *dialect.Entry, kind jsonl.Kind) {
	to := e.Message(kind)
	switch kind {
	case jsonl.ToolResult:
		to.Set("toolCallId", m.Call)
		to.Set("toolName", m.Tool)
	case jsonl.Custom:
		if m.Type == "" {
			m.Type = m.Kind.Role()
		}
		to.SetText("customType", m.Type)
	}
	to.Body()
	to.Blocks = append(to.Blocks, m.Blocks...)
	switch kind {
	case jsonl.ToolResult:
		if !m.Untold {
			to.SetTruth("isError", m.Failed)
		}
	case jsonl.Custom:
		to.SetTruth("display", true)
	case jsonl.Assistant:
		to.Set("provider", m.Provider)
		to.Set("model", m.Model)
		to.Stop("")
		if m.Usage != nil {
			to.Set("usage", usage(s, m.Usage))
		}
	}
	if s.Native {
		to.Native = s.Make([]byte("["), m.Native, []byte("]"))
	}
}

// usage returns a usage, with its cost if that is recorded.
func usage(s *dialect.Source, u *jsonl.Usage) jsonl.Value {
	var cost jsonl.Value
	if u.Cost.Known && math.IsInf(u.Cost.Total, 0) { // as implausible as a negative number, and valid JSON
		cost = jsonl.Value("1e999")
	} else if u.Cost.Known {
		cost = strconv.AppendFloat(nil, u.Cost.Total, 'f', -1, 64)
	}
	all := *u
	all.Total = u.Context()
	return s.Usage(all, cost)
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
	if last := v[len(v)-2]; last != 'Z' && !bytes.ContainsAny(v[day:], "+-") {
		out = append(out[:len(out)-1], `Z"`...)
	}
	return out
}
