package sessionfmt

import (
	"slices"
	"testing"
)

// TestNumbersAsJavaScript: numbers are printed as JSON.stringify prints them.
func TestNumbersAsJavaScript(t *testing.T) {
	for text, want := range map[string]string{
		"1e21": "1e+21", "999999999999999900000": "999999999999999900000", "1e20": "100000000000000000000", "-1.5e300": "-1.5e+300",
		"1e-6": "0.000001", "1e-7": "1e-7", "1.5E-10": "1.5e-10", "123e-7": "0.0000123", "5e-324": "5e-324",
		"1e400": "null", "-0": "0", "0.0": "0", "1.0": "1", "-12": "-12", "12345678901234567890": "12345678901234567000",
	} {
		if got := Value("[" + text + "]").AppendCompact(nil); string(got) != "["+want+"]" {
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
