package prompt

import "ctxtool/sessionfmt/jsonl"

// AppendSystem appends parts and compiled text as the JSON object system of an envelope.
func (p *Prompt) AppendSystem(dst []byte) []byte {
	dst = append(dst, `{"parts":[`...)
	for i := range p.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonl.AppendQuoted(append(dst, `{"name":`...), p.Parts[i].Name)
		dst = jsonl.AppendQuoted(append(dst, `,"text":`...), p.Parts[i].Text)
		dst = append(dst, '}')
	}
	dst = jsonl.AppendQuoted(append(dst, `],"compiled":`...), p.Compiled)
	return append(dst, '}')
}

// AppendTools appends the definitions as a JSON array.
func (p *Prompt) AppendTools(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range p.Tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.Tools[i].Append(dst)
	}
	return append(dst, ']')
}

// Append appends the definition as a JSON object, without fields that are not part of it.
func (t *Tool) Append(dst []byte) []byte {
	fields := make([]jsonl.Field, 0, 4)
	for _, name := range []string{"name", "description", "parameters", "native"} {
		fields = append(fields, jsonl.Field{Name: name, Value: t.Raw.Get(name)})
	}
	return jsonl.AppendObject(dst, fields...)
}

// Fields returns the options that are set, in order.
func (o *Options) Fields() (set []jsonl.Field) {
	for _, f := range []jsonl.Field{{Name: "reasoning", Value: o.Reasoning},
		{Name: "temperature", Value: o.Temperature}, {Name: "maxTokens", Value: o.MaxTokens}} {
		if f.Value.Exists() {
			set = append(set, f)
		}
	}
	return set
}

// Append appends the options that are set as a JSON object.
func (o *Options) Append(dst []byte) []byte { return jsonl.AppendObject(dst, o.Fields()...) }
