package sessionfmt

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt/jsonl"
)

// TestLawLines reports whether a file's lines are the file, byte for byte.
func TestLawLines(t *testing.T) {
	for _, c := range corpus.All(t) {
		name := c.Name
		s, err := OpenReader(name, bytes.NewReader(c.Data), Options{})
		if err != nil {
			continue
		}
		var all []byte
		records, number := 0, 0
		for l, err := range s.Lines {
			if err != nil {
				t.Fatal(err)
			}
			if l.Record >= 0 {
				if raw, err := s.NewReader().Raw(l.Record); err != nil || !bytes.Equal(raw, l.Raw) || l.Number != s.Line(l.Record) {
					t.Errorf("%s:%d: record %d has another line", name, l.Number, l.Record)
				}
				records++
			}
			all = append(all, l.Raw...)
			if l.Ended {
				all = append(all, '\n')
			}
			number = l.Number
		}
		if !bytes.Equal(all, c.Data) {
			t.Errorf("%s: the lines are not the file", name)
		}
		if records != s.Len() || number != s.Coverage.Lines {
			t.Errorf("%s: %d of %d records, %d of %d lines", name, records, s.Len(), number, s.Coverage.Lines)
		}
		s.Close()
	}
}

func TestAppendEdited(t *testing.T) {
	for _, tt := range []struct {
		in   string
		set  []jsonl.Field
		want string
	}{
		{`{}`, []jsonl.Field{{Name: "a", Value: jsonl.Value("1")}}, `{"a":1}`},
		{`{ }`, []jsonl.Field{{Name: "a", Value: nil}, {Name: "b", Value: jsonl.Value("1")}}, `{"b":1 }`},
		{`{"a":1}`, []jsonl.Field{{Name: "a", Value: nil}}, `{}`},
		{`{"a":1 , "b":2}`, []jsonl.Field{{Name: "a", Value: nil}}, `{ "b":2}`},
		{`{"a":1 , "b":2}`, []jsonl.Field{{Name: "a", Value: nil}, {Name: "b", Value: nil}, {Name: "c", Value: jsonl.Value("3")}}, `{"c":3}`},
		{`{"a":1, "b":2, "c":3}`, []jsonl.Field{{Name: "b", Value: nil}}, `{"a":1, "c":3}`},
		{`{"a":1, "b":2, "c":3 }`, []jsonl.Field{{Name: "c", Value: nil}, {Name: "d", Value: jsonl.Value(`"x"`)}}, `{"a":1, "b":2,"d":"x" }`},
		{`{"a":1.0,"b":{"c":"}"},"c":2}`, []jsonl.Field{{Name: "c", Value: jsonl.Value("3")}, {Name: "e", Value: jsonl.Value("null")}}, `{"a":1.0,"b":{"c":"}"},"c":3,"e":null}`},
		{`{"\u0061":1,"a":2}`, []jsonl.Field{{Name: "a", Value: jsonl.Value("3")}}, `{"\u0061":3,"a":3}`},
		{`{"\u0061":1,"b":2,"a":2}`, []jsonl.Field{{Name: "a", Value: nil}}, `{"b":2}`},
	} {
		padded := append([]byte(tt.in), " after it"...)
		v := jsonl.Value(padded[:len(tt.in)])
		if fresh := v.AppendAdded(nil, jsonl.Field{Name: "new", Value: jsonl.Value("0")}); string(fresh) != string(v.AppendEdited(nil, jsonl.Field{Name: "new", Value: jsonl.Value("0")})) {
			t.Errorf("%s: %s", tt.in, fresh)
		}
		got := string(v.AppendEdited([]byte("x"), tt.set...))
		if got != "x"+tt.want {
			t.Errorf("%s with %q: %s, want %s", tt.in, tt.set, got[1:], tt.want)
		}
	}
}

// FuzzAppendEdited holds editing to encoding/json: the members that were named
// are as they were set, and all others as they were.
func FuzzAppendEdited(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1}`, `{"a":1,"b":[2],"c":{"a":3}}`, ` {"b" : 1 , "a" : 2 , "a":3}`, `{"\u0062":null}`} {
		f.Add([]byte(seed), []byte(`{"x":1}`))
	}
	f.Fuzz(func(t *testing.T, in, set []byte) {
		v, err := jsonl.ParseValue(in)
		to, err2 := jsonl.ParseValue(set)
		if err != nil || err2 != nil || !v.IsObject() || len(in) > 4<<10 {
			return
		}
		out := v.AppendEdited(nil, jsonl.Field{Name: "a", Value: to}, jsonl.Field{Name: "b", Value: nil})
		var was, is map[string]any
		var want any
		if json.Unmarshal(v, &was) != nil || json.Unmarshal(to, &want) != nil {
			return
		}
		if err := json.Unmarshal(out, &is); err != nil {
			t.Fatalf("%s: %s: %v", in, out, err)
		}
		was["a"] = want
		delete(was, "b")
		if !reflect.DeepEqual(was, is) {
			t.Errorf("%s: %s", in, out)
		}
	})
}
