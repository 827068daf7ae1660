package jsonl

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestNumbersAsJavaScript: numbers are printed as JSON.stringify prints them.
func TestNumbersAsJavaScript(t *testing.T) {
	for text, want := range map[string]string{
		"1e21": "1e+21", "999999999999999900000": "999999999999999900000", "1e20": "100000000000000000000", "-1.5e300": "-1.5e+300",
		"1e-6": "0.000001", "1e-7": "1e-7", "1.5E-10": "1.5e-10", "123e-7": "0.0000123", "5e-324": "5e-324",
		"1e400": "null", "-0": "0", "0.0": "0", "1.0": "1", "-12": "-12", "12345678901234567890": "12345678901234567000",
	} {
		if got := Value("[" + text + "]").AppendMinified(nil); string(got) != "["+want+"]" {
			t.Errorf("%s: %s, want [%s]", text, got, want)
		}
	}
}

// TestStrings: all strings of a value, at any depth, and no names of members.
func TestStrings(t *testing.T) {
	for text, want := range map[string][]string{
		`12`: nil, `"a"`: {"a"}, `["a",1,{"b":"c" ,"d" : ["e",null]}]`: {"a", "c", "e"}, `{"a":{"b":":"}}`: {":"}, `["a\"b","\\"]`: {`a"b`, `\`},
	} {
		var got []string
		for s := range Value(text).Strings {
			got = append(got, s.Text())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestStringified: JSON in a string is what quoting it makes, with its length.
func TestStringified(t *testing.T) {
	for _, text := range []string{
		`12`, `"a"`, `{ "a\"b\\" : [ "\n\u00e9\/", "é 😀 \ud83d", 1.50 ], "10" : "long enough for words: \"quoted\"" }`,
		`["0123456\"", "01234567\"", "\\\\\\\"", null]`,
	} {
		var c Cursor
		out, got := c.AppendStringified([]byte("x"), Value(text))
		want := Value(AppendQuoted(nil, Value(text).AppendMinified(nil))).Spelled()
		if string(got.Value) != string(want.Value) || string(out) != "x"+string(want.Value) || got.Sizes() != want.Sizes() {
			t.Errorf("%s: %s of %v, want %s of %v", text, got.Value, got.Sizes(), want.Value, want.Sizes())
		}
	}
}

// TestMinifiedPieces: the pieces of a large value together are AppendMinified.
func TestMinifiedPieces(t *testing.T) {
	long := strings.Repeat(`plain text, \u00e9\n \ud83d\ude00 \/ `, 90_000)
	dense := strings.Repeat(`\\`, largeValue)
	for _, text := range []string{
		`"` + long + `"`, `"` + dense + `"`, `"` + strings.Repeat("x", 2*largeValue) + `"`,
		`[ "a" , {"10":1,"2":"` + long + `","b":1.50,"b":[ ]}, "` + dense + `" ]`, `{"x" : [ "` + long + `" ] , "y\u0041":{ }}`,
		strings.Repeat(`[`, 40) + `"` + long + `"` + strings.Repeat(`]`, 40), `[` + strings.Repeat(` `, largeValue) + `]`, `{` + strings.Repeat(` `, largeValue) + `}`,
	} {
		var c Cursor
		var got []byte
		most := 0
		Value(text).MinifiedPieces(&c, func(piece []byte) {
			got = append(got, piece...)
			most = max(most, len(piece))
		})
		if want := Value(text).AppendMinified(nil); !bytes.Equal(got, want) {
			t.Errorf("%.40s: %d bytes in pieces, %d at once", text, len(got), len(want))
		}
		if strings.HasPrefix(text, `"plain`) && most > 2*largeValue {
			t.Errorf("a piece of %d bytes", most)
		}
	}
}

// TestExact: lone surrogates stay, and halves that meet where texts are joined are a pair.
func TestExact(t *testing.T) {
	for text, want := range map[string]struct{ json, utf8 string }{
		`"a\ud83db"`:              {`"a\ud83db"`, "a\uFFFDb"},
		`"\uDE42"`:                {`"\ude42"`, "\uFFFD"},
		`"\ude42\ud83d\ud83d"`:    {`"\ude42\ud83d\ud83d"`, "\uFFFD\uFFFD\uFFFD"},
		`"\ud83d\ude42\ufffd\\u"`: {"\"🙂\uFFFD\\\\u\"", "🙂\uFFFD\\u"},
		`"x\ud83d" + "\ude42y"`:   {`"x🙂y"`, "x🙂y"},
		`"\ud83d" + "\ud83dx"`:    {`"\ud83d\ud83dx"`, "\uFFFD\uFFFDx"},
		`7`:                       {`""`, ""},
	} {
		var exact string
		for one := range strings.SplitSeq(text, " + ") {
			exact += Value(one).Exact()
		}
		if got := string(AppendQuoted(nil, exact)); got != want.json {
			t.Errorf("%s: %s, want %s", text, got, want.json)
		}
		if got := UTF8(exact); got != want.utf8 {
			t.Errorf("%s: %q, want %q", text, got, want.utf8)
		}
	}
	if got := string(AppendQuoted(nil, "\xed\x9f\xbf\xed\xa0\xff\xed")); got != "\"\ud7ff\uFFFD\uFFFD\uFFFD\uFFFD\"" {
		t.Errorf("invalid bytes: %q", got)
	}
	for name := range Value(`{"a\ud83d":1,"a\ude42":2}`).Ordered {
		if quoted := string(AppendQuoted(nil, name)); quoted != `"a\ud83d"` && quoted != `"a\ude42"` {
			t.Errorf("name %s", quoted)
		}
	}
}

// TestDate: a value is a date as for JavaScript's Date.
func TestDate(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-01-01T00:00:01.5Z"`: "1767225601500", `"x"`: "", `""`: "", `"1767225601000"`: "",
		`1767225601000`: "1767225601000", `1.9`: "1", `-1.9`: "-1", `-0.5`: "0", `8.64e15`: "8640000000000000", `8640000000000001`: "", `1e400`: "",
		`null`: "0", `false`: "0", `true`: "1", `{}`: "", ``: "",
	} {
		got := ""
		if ms, ok := Value(text).Date(); ok {
			got = strconv.FormatInt(ms, 10)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
