package claude

import (
	"iter"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Messages is of [dialect.Body]: an answer, a result and a prompt are what their records make; a message of the system
// is a note.
func (r *requests) Messages(of *dialect.Recorded) iter.Seq2[dialect.Shown, error] {
	return func(yield func(dialect.Shown, error) bool) {
		var calls []jsonl.Value // lines with the calls of the last answer
		for _, d := range of.Sent.From(0) {
			t, err := r.Turn(d)
			if err != nil {
				yield(dialect.Shown{}, err)
				return
			}
			var all []dialect.Shown
			switch {
			case t.Role.Is("user"):
				all = userMessages(t, calls)
			case t.Role.Is("assistant"):
				if calls, err = r.linesOf(d, t); err != nil {
					yield(dialect.Shown{}, err)
					return
				}
				all = []dialect.Shown{made(jsonl.Assistant, calls)}
			default:
				all = []dialect.Shown{systemMessage(t)}
			}
			for _, one := range all {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// linesOf returns the lines of an answer: its records, if it is all that they have, or else one as a record
// would be.
func (r *requests) linesOf(d dialect.Digest, t dialect.Turn) (lines []jsonl.Value, err error) {
	if at := r.turns[d]; !at.blob && at.parts == at.run.parts {
		for _, span := range at.run.lines {
			line, err := r.read(span)
			if err != nil {
				return nil, err
			}
			lines = append(lines, slices.Clone(line))
		}
		return lines, nil
	}
	return []jsonl.Value{lineOf("assistant", t.Parts)}, nil
}

// lineOf returns a record with a message.
func lineOf(role string, parts []jsonl.Value) jsonl.Value {
	as := jsonl.AppendQuoted(nil, role)
	message := jsonl.Value("{}").With("role", as).With("content", dialect.List(parts...))
	return jsonl.Value("{}").With("type", as).With("message", message)
}

// userMessages returns the results of a message of the user, and what stands between them.
func userMessages(t dialect.Turn, calls []jsonl.Value) (all []dialect.Shown) {
	isResult := func(part jsonl.Value) bool { return part.Get("type").Is("tool_result") }
	for k := 0; k < len(t.Parts); {
		n := k + 1
		if isResult(t.Parts[k]) {
			lines := append([]jsonl.Value{lineOf("user", t.Parts[k:n])}, calls...)
			all = append(all, made(jsonl.ToolResult, lines))
		} else {
			for n < len(t.Parts) && !isResult(t.Parts[n]) {
				n++
			}
			all = append(all, made(jsonl.User, []jsonl.Value{lineOf("user", t.Parts[k:n])}))
		}
		k = n
	}
	return all
}

// made returns the message that lines make.
func made(kind jsonl.Kind, lines []jsonl.Value) dialect.Shown {
	s := &dialect.Source{Kind: kind, Lines: lines}
	for k := range lines {
		s.Spans = append(s.Spans, dialect.Span{Off: int64(k + 1)})
	}
	makeEntry(s)
	var w dialect.JSON
	raw, _ := w.Message(nil, &s.Entries[0].Messages[0], nil)
	return dialect.Shown{Kind: kind, Raw: raw}
}

// systemMessage returns a message of the role system, which stands in its place.
func systemMessage(t dialect.Turn) dialect.Shown {
	details := jsonl.Value("{}").With("role", t.Role)
	for _, f := range t.Fields {
		details = details.With(f.Name, f.Value)
	}
	raw := jsonl.Value(`{"role":"custom","customType":"system"}`).With("content", dialect.List(t.Parts...)).
		With("display", jsonl.Value("true")).With("details", details)
	return dialect.Shown{Kind: jsonl.Custom, Raw: raw}
}
