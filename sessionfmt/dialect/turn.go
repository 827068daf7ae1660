package dialect

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"hash"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"ctxtool/internal/base/sorting"
	"ctxtool/sessionfmt/jsonl"
)

// A Turn is a message of a request, in canonical spelling (docs/session-format.md 16.9).
type Turn struct {
	Role   jsonl.Value
	Parts  []jsonl.Value // parts of its content, without cache marks
	Fields []jsonl.Field // other fields, sorted by name
}

// Digest returns the digest of its canonical text.
func (t Turn) Digest() Digest {
	h := sha256.New()
	t.WriteCanonical(h)
	return Digest(h.Sum(nil))
}

// TurnOf returns a message in the provider's form.
func TurnOf(m jsonl.Value) (t Turn) {
	for name, v := range m.Ordered {
		switch name {
		case "role":
			t.Role = slices.Clone(v)
		case "content":
			t.Parts = CanonicalParts(v)
		case CacheMark:
		default:
			t.Fields = append(t.Fields, jsonl.Field{Name: name, Value: AppendCanonical(nil, v, false)})
		}
	}
	SortFields(t.Fields)
	return t
}

// AppendJSON appends the message with its role first.
func (t Turn) AppendJSON(dst []byte) []byte {
	dst = append(append(append(dst, `{"role":`...), t.Role...), `,"content":`...)
	dst = append(dst, List(t.Parts...)...)
	for _, f := range t.Fields {
		dst = append(append(jsonl.AppendQuoted(append(dst, ','), f.Name), ':'), f.Value...)
	}
	return append(dst, '}')
}

// AppendCanonical appends the message in canonical spelling.
func (t Turn) AppendCanonical(dst []byte) []byte {
	own := []jsonl.Field{{Name: "content", Value: List(t.Parts...)}, {Name: "role", Value: t.Role}}
	return AppendSorted(dst, append(own, t.Fields...))
}

// WriteCanonical writes to a hash what AppendCanonical appends.
func (t Turn) WriteCanonical(to hash.Hash) {
	if t.Fields != nil {
		to.Write(t.AppendCanonical(nil))
		return
	}
	before := []byte(`{"content":[`)
	for _, p := range t.Parts {
		to.Write(before)
		to.Write(p)
		before = []byte{','}
	}
	if t.Parts == nil {
		to.Write(before)
	}
	to.Write(append(append([]byte(`],"role":`), t.Role...), '}'))
}

// List joins values to an array.
func List(of ...jsonl.Value) jsonl.Value {
	all := jsonl.Value{'['}
	for k, v := range of {
		if k > 0 {
			all = append(all, ',')
		}
		all = append(all, v...)
	}
	return append(all, ']')
}

// CanonicalParts returns the parts of a content in canonical spelling, without cache marks. A text counts as
// one part.
func CanonicalParts(content jsonl.Value) (parts []jsonl.Value) {
	EachPart(content, func(p jsonl.Value) {
		parts = append(parts, AppendPart(make([]byte, 0, len(p)+len(`{"text":,"type":"text"}`)), p))
	})
	return parts
}

// EachPart passes each part of a content to see, as spelled. A text counts as one part.
func EachPart(content jsonl.Value, see func(part jsonl.Value)) {
	if content.IsString() {
		see(content)
		return
	}
	for p := range content.Elements {
		see(p)
	}
}

// AppendPart appends a part of a content in canonical spelling, without cache marks.
func AppendPart(dst []byte, p jsonl.Value) []byte {
	if p.IsString() {
		return append(appendText(append(dst, `{"text":`...), p), `,"type":"text"}`...)
	}
	return AppendCanonical(dst, p, false)
}

// CacheMark is the field by which a client asks the provider to cache everything up to it.
const CacheMark = "cache_control"

// AppendCanonical appends a value without white space, with the fields of objects sorted by the UTF-16 units of
// their names, texts as JSON.stringify spells them, and numbers as they are. Unless marks is set it omits cache
// marks, at any depth.
func AppendCanonical(dst []byte, v jsonl.Value, marks bool) []byte {
	switch {
	case v.IsString():
		return appendText(dst, v)
	case v.IsArray():
		dst = append(dst, '[')
		open := len(dst)
		for e := range v.Elements {
			if len(dst) > open {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(dst, e, marks)
		}
		return append(dst, ']')
	case v.IsObject():
		var fields []jsonl.Field
		for name, val := range v.Ordered {
			if marks || name != CacheMark {
				fields = append(fields, jsonl.Field{Name: name, Value: val})
			}
		}
		SortFields(fields)
		dst = append(dst, '{')
		for k, f := range fields {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = AppendCanonical(append(jsonl.AppendQuoted(dst, f.Name), ':'), f.Value, marks)
		}
		return append(dst, '}')
	}
	return append(dst, v...)
}

// appendText appends a string as JSON.stringify spells it.
func appendText(dst []byte, v jsonl.Value) []byte {
	if stringified(v) {
		return append(dst, v...)
	}
	return jsonl.AppendQuoted(dst, v.Exact())
}

// stringified reports whether a string is certainly spelled as by JSON.stringify. Most are, since it wrote
// them.
func stringified(v jsonl.Value) bool {
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' {
			continue
		}
		if i++; v[i] == '/' || v[i] == 'u' && !isControl(v[i+1:]) {
			return false
		}
	}
	return utf8.Valid(v)
}

// isControl reports whether four hex digits are those of a control character without a shorter escape, as
// JSON.stringify spells them.
func isControl(digits []byte) bool {
	high, low := digits[2], digits[3]
	short := high == '0' && bytes.IndexByte([]byte("89acd"), low) >= 0
	return digits[0] == '0' && digits[1] == '0' && (high == '0' || high == '1') && !short &&
		(low >= '0' && low <= '9' || low >= 'a' && low <= 'f')
}

// AppendSorted appends an object of these fields, whose values are in canonical spelling.
func AppendSorted(dst []byte, fields []jsonl.Field) []byte {
	SortFields(fields)
	return jsonl.AppendObject(dst, fields...)
}

// SortFields sorts fields by the UTF-16 units of their names.
func SortFields(fields []jsonl.Field) {
	sorting.By(fields, func(a, b jsonl.Field) int { return compareNames(a.Name, b.Name) })
}

// compareNames orders names by their UTF-16 units, as JavaScript sorts. UTF-8 bytes sort differently only if
// one name has a character from U+E000 on.
func compareNames(a, b string) int {
	high := func(c rune) bool { return c >= 0xE000 }
	if bytes.ContainsFunc([]byte(a), high) || bytes.ContainsFunc([]byte(b), high) {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	}
	return cmp.Compare(a, b)
}
