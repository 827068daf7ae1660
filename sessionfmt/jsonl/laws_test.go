package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// lawObjects are objects in every spelling that reading has a branch for: empty, spaced, nested, with escaped names,
// with equal names, and with names that a table of places cannot tell apart.
var lawObjects = []string{
	`{}`, ` { } `, `{"a":1}`, `{ "a" : 1 , "b" : [ ] , "c" : { } }`,
	`{"a":"x","b":{"a":[1,2,{"a":null}],"c":"\"}"},"c":[{},[],""]}`,
	`{"\u0061":1,"b":2}`, `{"a":1,"a":2,"b":3,"a":4}`, `{"a":{"a":{"a":7}},"b":{"a":8}}`,
	`{"b":true,"c":false,"a":null,"d":-1.5e3}`, `{"b":"\ud83d\ude00 \\ \/ \u00e9","a":"é😀\n"}`,
	`{"aa":1,"a":2,"aaa":3,"":4}`, `{"c":[1,"two",[3],{"four":4}],"a":[[]],"b":[ 1 , 2 ]}`,
}

// A stdField is a field as the standard library reads it.
type stdField struct {
	name  string
	value json.RawMessage
}

func membersOf(t *testing.T, text string) (all []stdField) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, stdField{name.(string), value})
	}
	return all
}

func parsed(t *testing.T, text string) Value {
	t.Helper()
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestReadersAgree compares all ways to read a field with the standard library's: the first or the last of equal
// names, one or several, once or on.
func TestReadersAgree(t *testing.T) {
	names := []string{"a", "b", "c", "d", "", "aa", "aaa"}
	for _, text := range lawObjects {
		v, want := parsed(t, text), membersOf(t, text)
		var got []stdField
		for name, value := range v.Members {
			got = append(got, stdField{string(name), json.RawMessage(value)})
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: members %q, want %q", text, got, want)
		}
		fields := make([]String, len(names))
		new(Cursor).Reset(v).Fields(fields, names...)
		shaped := ShapeOf[struct{ a, b, c, d Value }]()
		var held struct{ a, b, c, d Value }
		shaped.Read(new(Cursor).Reset(v), &held)
		all, ints := v.All(names...), v.Ints(names...)
		places := newFields(names, nil)
		new(Scanner).object(v, 0, &places)
		for k, name := range names {
			var first, last Value
			for _, m := range want {
				if m.name == name {
					last = Value(m.value)
					if first == nil {
						first = last
					}
				}
			}
			for reader, got := range map[string]Value{
				"Get": v.Get(name), "All": all[k], "Cursor.Fields": fields[k].Value, "places": places.vals[k],
			} {
				if string(got) != string(last) {
					t.Errorf("%s: %s of %q is %s, want %s", text, reader, name, got, last)
				}
			}
			if k < 4 && string([]Value{held.a, held.b, held.c, held.d}[k]) != string(last) {
				t.Errorf("%s: the shape's %q is %s, want %s", text, name, []Value{held.a, held.b, held.c, held.d}[k], last)
			}
			if got := v.First(name); string(got) != string(first) {
				t.Errorf("%s: First(%q) is %s, want %s", text, name, got, first)
			}
			if ints[k] != last.Int() {
				t.Errorf("%s: Ints of %q is %d", text, name, ints[k])
			}
			if nested := v.First(name, "a"); string(nested) != string(first.First("a")) {
				t.Errorf("%s: First(%q, a) is %s", text, name, nested)
			}
		}
	}
}

// TestElements reads arrays as the standard library does, whether the loop reads an element or not.
func TestElements(t *testing.T) {
	for _, text := range []string{`[]`, `[ ]`, `[1]`, ` [ 1 , "a,]" , [ [] ] , {"b":[1]} , null ] `, `{"a":1}`, `"[1]"`} {
		v := parsed(t, text)
		var want, got []json.RawMessage
		if v.IsArray() {
			if err := json.Unmarshal(v, &want); err != nil {
				t.Fatal(err)
			}
		}
		for el := range v.Elements {
			got = append(got, json.RawMessage(el))
		}
		if fmt.Sprintf("%s", got) != fmt.Sprintf("%s", want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		n, c := 0, new(Cursor).Reset(parsed(t, `[`+text+`,1]`))
		for range c.Elements {
			if n++; n > 1 {
				break
			}
		}
		if n != 2 || c.Peek() != 0 {
			t.Errorf("%s: after a loop that was left at the second of two, the cursor is at %q (%d)", text, c.Peek(), n)
		}
	}
}

// TestStringsAndWords: strings without names of fields, and all content with them.
func TestStringsAndWords(t *testing.T) {
	for _, c := range []struct{ text, strings, words string }{
		{`{"a":"x","b":{"a" : [1,"y\"",null,true,false,-2.5e1],"z":"a"}}`, `"x" "y\"" "a"`,
			`"a" "x" "b" "a" 1 "y\"" true false -2.5e1 "z" "a"`},
		{`"alone"`, `"alone"`, `"alone"`}, {`12`, ``, `12`}, {`null`, ``, ``}, {"[0\t,9\r\n, 7 ]", ``, `0 9 7`}, {`[true]`, ``, `true`},
	} {
		var all, words []string
		for s := range parsed(t, c.text).Strings {
			all = append(all, string(s))
		}
		for s := range parsed(t, c.text).Words {
			words = append(words, string(s))
		}
		if strings.Join(all, " ") != c.strings || strings.Join(words, " ") != c.words {
			t.Errorf("%s: strings %s, words %s", c.text, all, words)
		}
		for range parsed(t, c.text).Strings {
			break
		}
		for range parsed(t, c.text).Words {
			break
		}
	}
}

// TestAppendEdited sets, removes and adds fields of every object in every combination of three, and compares with a
// plain list of fields.
func TestAppendEdited(t *testing.T) {
	values := []Value{nil, Value(`"new"`), Value(`{"n":[1]}`)}
	for _, text := range lawObjects {
		v := parsed(t, text)
		for edit := range 27 {
			fields := []Field{{"a", values[edit%3]}, {"d", values[edit/3%3]}, {"new", values[edit/9]}}
			var want []stdField
			found := map[string]bool{}
			for _, m := range membersOf(t, text) {
				found[m.name] = true
				if k := slices.IndexFunc(fields, func(f Field) bool { return f.Name == m.name }); k >= 0 {
					if m.value = json.RawMessage(fields[k].Value); m.value == nil {
						continue
					}
				}
				want = append(want, m)
			}
			for _, f := range fields {
				if !found[f.Name] && f.Value != nil {
					want = append(want, stdField{f.Name, json.RawMessage(f.Value)})
				}
			}
			got := v.AppendEdited([]byte("kept"), fields...)
			if !bytes.HasPrefix(got, []byte("kept")) || fmt.Sprint(membersOf(t, string(got[4:]))) != fmt.Sprint(want) {
				t.Errorf("%s with %s: %s, want %s", text, fields, got, want)
			}
			parsed(t, string(got[4:]))
			if found["new"] || found["d"] || edit%3 != 0 || values[edit/3%3] == nil || values[edit/9] == nil {
				continue
			}
			if added := v.AppendAdded(nil, fields[1:]...); fmt.Sprint(membersOf(t, string(added))) != fmt.Sprint(membersOf(t, string(v.AppendEdited(nil, fields[1:]...)))) {
				t.Errorf("%s: added %s", text, added)
			}
		}
	}
}

func TestObjects(t *testing.T) {
	one, two := Value(`1`), Value(`[2]`)
	for _, c := range [][2]string{
		{string(AppendObject([]byte("x"), Field{"a", one}, Field{"b", nil}, Field{`q"`, two})), `x{"a":1,"q\"":[2]}`},
		{string(AppendObject(nil)), `{}`}, {string(AppendObject(nil, Field{"b", nil}, Field{"a", one})), `{"a":1}`},
		{string(Value(`{}`).With("a", one)), `{"a":1}`}, {string(Value(`{"a":1}`).With("b", two)), `{"a":1,"b":[2]}`},
		{string(Value(`{"a":1}`).With("b", nil)), `{"a":1}`},
		{string(Value("{ \t}").AppendAdded(nil, Field{"a", one})), "{\"a\":1 \t}"},
		{string(Value("[\n  1,\r\n\t{\"a\":\n2 }\n]").AppendOneLine([]byte("x"))), `x[1,{"a":2 }]`},
		{string(FirstText(one, nil, Value(`"a"`), Value(`"b"`))), `"a"`}, {string(FirstText(one, two)), ``},
	} {
		if c[0] != c[1] {
			t.Errorf("%s, want %s", c[0], c[1])
		}
	}
}

// lawTexts are strings whose lengths differ by what is counted, and by how they are spelled.
var lawTexts = []string{
	`""`, `"a"`, `"plain ASCII of more than eight bytes"`, `"é"`, `"\u00e9\u007f\u0080\u07ff\u0800\uffff"`, `"\n\t\\\"\/\b\f\r"`,
	`"😀"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ude00\ud83d"`, `"\ud83d\n"`, `"\ud83dx\ude00"`, `"\ud83d\ud83d\ude00"`,
	`"日本語のテキスト, and ASCII 12345678 😀😀 é"`, `"\u0000\u001f "`, `"x\u4e2d"`, `"1234567é"`, `"12345678é"`, `"\\u0041"`,
}

// TestSizes measures strings without decoding them, and compares with what decoding them gives.
func TestSizes(t *testing.T) {
	for _, spelled := range lawTexts {
		v := parsed(t, spelled)
		text := v.Text()
		want := Sizes{len(text), len(utf16.Encode([]rune(text))), utf8.RuneCountInString(text)}
		if got := v.Spelled().Sizes(); got != want {
			t.Errorf("%s: %v, want %v", spelled, got, want)
		}
		if got := SizesOf(text); got != want || got.Add(got) != (Sizes{2 * want.Bytes, 2 * want.Units, 2 * want.Scalars}) {
			t.Errorf("SizesOf(%q): %v, want %v", text, got, want)
		}
		if v.Units() != want.Units || v.Spelled().Units() != want.Units || Units(text) != want.Units {
			t.Errorf("%s: %d, %d and %d units, want %d", spelled, v.Units(), v.Spelled().Units(), Units(text), want.Units)
		}
		var buf []byte
		if got := v.Spelled().Bytes(&buf); string(got) != text || string(v.AppendText([]byte("x"))) != "x"+text {
			t.Errorf("%s: bytes %q, want %q", spelled, got, text)
		}
		if back := parsed(t, string(AppendQuoted(nil, v.Exact()))); back.Exact() != v.Exact() || UTF8(v.Exact()) != text {
			t.Errorf("%s: quoted again %s", spelled, back)
		}
		if !v.Is(text) && utf8.ValidString(v.Exact()) || v.Is(text+"x") || Value(`7`).Is(text) {
			t.Errorf("%s: Is is wrong", spelled)
		}
		for n := 1; n < len(v)+3; n++ {
			got := v.Beginning(n)
			if whole := len(v) <= n+2; whole && got != text || !strings.HasPrefix(strings.TrimRight(text, "\uFFFD"), strings.TrimRight(got, "\uFFFD")) {
				t.Errorf("%s: its beginning of %d bytes is %q", spelled, n, got)
			} else if strings.IndexByte(spelled, '\\') < 0 && !whole && (len(got) >= n || len(got) < n-utf8.UTFMax) {
				t.Errorf("%s: its beginning of %d bytes has %d", spelled, n, len(got))
			} else if !whole && len("\\u0000")*(utf8.RuneCountInString(got)+2) < n {
				t.Errorf("%s: its beginning of %d bytes is only %q", spelled, n, got)
			}
		}
	}
	for _, v := range []Value{nil, Value(`1`), Value(`{"a":"b"}`), Value(`null`)} {
		var buf []byte
		if v.Spelled().Sizes() != (Sizes{}) || v.Units() != 0 || len(v.Spelled().Bytes(&buf)) != 0 || v.Text() != "" || v.Inside() != nil || v.Beginning(3) != "" {
			t.Errorf("%s has a length", v)
		}
	}
	for c := range 0x20 {
		want, _ := json.Marshal(string(rune(c)))
		if got := AppendQuoted(nil, string(rune(c))); string(got) != string(want) {
			t.Errorf("%q is spelled %s, want %s", rune(c), got, want)
		}
	}
}

// TestNumbers reads numbers at the limits of what they are read into.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text   string
		int    int64
		truthy bool
	}{
		{`0`, 0, false}, {`-0`, 0, false}, {`0.0`, 0, false}, {`1`, 1, true}, {`-1.9`, -1, true}, {`1e3`, 1000, true}, {`9`, 9, true},
		{`999999999999999999`, 999999999999999999, true}, {`1152921504606846976`, 1 << 60, true}, {`1152921504606846977`, 1 << 60, true},
		{`1152921504606846975`, 1<<60 - 1, true}, {`-1152921504606846977`, -1 << 60, true}, {`1e400`, 1 << 60, true}, {`-1e400`, -1 << 60, true},
		{`"5"`, 0, true}, {`""`, 0, false}, {`null`, 0, false}, {`true`, 0, true}, {`false`, 0, false}, {`[]`, 0, true}, {`{}`, 0, true}, {``, 0, false},
	} {
		v := Value(c.text)
		if v.Int() != c.int || v.Truthy() != c.truthy {
			t.Errorf("%s: %d, %v", c.text, v.Int(), v.Truthy())
		}
		f, ok := v.Float()
		want, err := strconv.ParseFloat(c.text, 64)
		if isNumber := len(c.text) > 0 && (c.text[0] == '-' || c.text[0] >= '0' && c.text[0] <= '9'); v.IsNumber() != isNumber || ok != isNumber ||
			ok && err == nil && f != want {
			t.Errorf("%s: number %v, %v %v", c.text, v.IsNumber(), f, ok)
		}
		if v.IsNull() != (c.text == "" || c.text == "null") || v.Exists() != (c.text != "") {
			t.Errorf("%s: null %v, exists %v", c.text, v.IsNull(), v.Exists())
		}
	}
}

// TestReplaceInvalidUTF8 compares with the rule of the Encoding Standard: one U+FFFD for each longest beginning of a
// character. Each two bytes are tried, and longer ones at the limits of each range.
func TestReplaceInvalidUTF8(t *testing.T) {
	limits := []byte{0x00, 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0xf5, 0xff}
	begins := func(b []byte) bool {
		for _, second := range limits {
			for _, end := range []string{"", "\x80", "\x80\x80"} {
				if r, n := utf8.DecodeRune(append(slices.Clone(b), end...)); r != utf8.RuneError && n > len(b) {
					return true
				}
				if r, n := utf8.DecodeRune(append(append(slices.Clone(b), second), end...)); r != utf8.RuneError && n > len(b) {
					return true
				}
			}
		}
		return false
	}
	memo := map[string]bool{}
	replaced := func(b []byte) (out string) {
		for len(b) > 0 {
			r, n := utf8.DecodeRune(b)
			if r == utf8.RuneError && n == 1 {
				for n < len(b) {
					key := string(b[:n+1])
					if _, ok := memo[key]; !ok {
						memo[key] = begins(b[:n+1])
					}
					if !memo[key] {
						break
					}
					n++
				}
			}
			out += string(r)
			b = b[n:]
		}
		return out
	}
	try := func(b ...byte) {
		if got, want := string(ReplaceInvalidUTF8(b)), replaced(b); got != want {
			t.Errorf("% x: %q, want %q", b, got, want)
		}
	}
	for first := range 256 {
		try(byte(first))
		for second := range 256 {
			try(byte(first), byte(second))
		}
	}
	for _, first := range limits[9:] {
		for _, second := range limits {
			for _, third := range limits {
				try(first, second, third, 'z')
				try(first, second, third, 0x80)
			}
		}
	}
}

// TestSkip passes over values in parts of every size, and ends where the value does.
func TestSkip(t *testing.T) {
	for _, text := range slices.Concat(lawObjects, lawTexts, []string{`[[],{"a":"]}"}]`, `["\\"]`}) {
		v := parsed(t, text)
		rest := append(slices.Clone(v), `,"next":[]}`...)
		if n, ok := ValueLen(rest); n != len(v) || !ok {
			t.Errorf("%s: ValueLen %d %v", text, n, ok)
		}
		for size := 1; size <= len(v)+1; size++ {
			var s Skipper
			at, room, done := 0, size, false
			for !done && at < len(rest) {
				n, ends := s.Skip(rest[at:min(at+room, len(rest))])
				if n == 0 && !ends {
					room++ // an escape is longer than the part
					continue
				}
				done = ends
				at, room = at+n, size
			}
			if at != len(v) || !done {
				t.Errorf("%s in parts of %d: ends at %d of %d (%v)", text, size, at, len(v), done)
			}
		}
	}
	if n, ok := ValueLen([]byte(`{"a":tru`)); ok || n != 8 {
		t.Errorf("a broken value has the length %d", n)
	}
}
