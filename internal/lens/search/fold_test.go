package search

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"ctxtool/internal/test/must"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// TestKeys: the key of every character is what Unicode says, and no other has one of ASCII.
func TestKeys(t *testing.T) {
	folder, rare := cases.Fold(), ""
	for r := rune(0x80); r <= 0x2ffff; r++ {
		if utf16.IsSurrogate(r) {
			continue
		}
		text := string(r)
		want := norm.NFD.String(folder.String(norm.NFD.String(text)))
		if got := string(appendKey(nil, []byte(text), true)); got != want {
			t.Errorf("%U has the key %q, want %q", r, got, want)
		}
		if got := string(appendKey(nil, []byte(text), false)); got != norm.NFD.String(text) {
			t.Errorf("%U has the key %q with case", r, got)
		}
		if isASCII(want) {
			rare += text
		}
	}
	want := []rune(rareSpellings)
	slices.Sort(want)
	if rare != string(want) {
		t.Errorf("characters with keys of ASCII are %q, not %q", rare, string(want))
	}
}

// TestFolds: which texts match which queries, and where.
func TestFolds(t *testing.T) {
	for _, test := range []struct{ query, text, match, exact string }{ // exact: with case, - for none
		{"οδος", "η ΟΔΟΣ και", "ΟΔΟΣ", "-"}, {"ΟΔΟΣ", "η οδος", "οδος", "-"}, {"οδοσ", "οδος", "οδος", "-"},
		{"café", "the cafe\u0301 x", "cafe\u0301", "cafe\u0301"}, {"cafe\u0301", "a CAFÉ", "CAFÉ", "-"},
		{"cafe", "cafe\u0301", "-", "-"}, {"cafe", "a café", "-", "-"}, {"caf", "café", "caf", "caf"},
		{"strasse", "die Straße", "Straße", "-"}, {"STRASSE", "die Straße", "Straße", "-"}, {"straße", "STRASSE", "STRASSE", "-"},
		{"straße", "Straße STRAẞE", "Straße", "-"}, {"sen", "Großen", "-", "-"}, {"fine", "a ﬁne day", "ﬁne", "-"},
		{"привет", "Привет", "Привет", "-"}, {"kelvin", "\u212aelvin", "\u212aelvin", "-"},
		{"한글", norm.NFD.String("이 한글"), norm.NFD.String("한글"), norm.NFD.String("한글")}, {"하", "한", "-", "-"},
		{"が", "か\u3099", "か\u3099", "か\u3099"}, {"金", "\uf90a", "\uf90a", "\uf90a"},
		{"istanbul", "İstanbul", "-", "-"}, {"i", "ı", "-", "-"}, {"İ", "i\u0307", "i\u0307", "-"},
		{"ậ", "Â\u0323", "Â\u0323", "-"}, {"y\u0328\u0301", "ý\u0328", "ý\u0328", "ý\u0328"},
	} {
		for k, want := range []string{test.match, test.exact} {
			got := "-"
			for m := range Fixed(test.query, k == 0).matches([]byte(test.text)) {
				got = test.text[m.from:m.to]
				break
			}
			if got != want {
				t.Errorf("%q in %q, fold %v: %q, want %q", test.query, test.text, k == 0, got, want)
			}
		}
	}
}

// TestGateSound: what a query matches, its gate lets pass, however JSON spells it; and the gate keeps out most of
// what does not match.
func TestGateSound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	letters := []string{"s", "k", "e", "a", "o", "t", "n", " ", "/", "ß", "é", "ё", "δ", "σ", "金", "日", "が", "か", "한", "하", "ﬁ", "f", "i", "\u0301", "\u0323", "\u3099", "\u11ab", "ͅ", "α", "😀"}
	vary := func(text string) string { // spells it otherwise
		var out []string
		for _, c := range text {
			s := string(c)
			switch r.IntN(6) {
			case 0:
				s = strings.ToUpper(s)
			case 1:
				s = norm.NFD.String(s)
			case 2:
				for other, key := range keys[true]() {
					if key == string(appendKey(nil, []byte(s), true)) {
						s = string(other)
						break
					}
				}
			}
			out = append(out, s)
		}
		text = strings.Join(out, "")
		return strings.NewReplacer(map[bool][]string{true: {"ss", "ß", "fi", "ﬁ", "k", "\u212a"}, false: {"ß", "ss", "ς", "Σ"}}[r.IntN(2) == 0]...).Replace(text)
	}
	matched, passed, other := 0, 0, 0
	for range 6000 {
		query := ""
		for range 1 + r.IntN(5) {
			query += letters[r.IntN(len(letters))]
		}
		text := "x" + vary(query) + letters[r.IntN(len(letters))]
		if r.IntN(4) == 0 {
			text = strings.Join(letters[r.IntN(15):15+r.IntN(14)], "")
		}
		q := Fixed(query, r.IntN(3) > 0)
		raw := string(must.Get(json.Marshal(text)))
		if r.IntN(3) == 0 {
			raw = ""
			for _, unit := range utf16.Encode([]rune(text)) {
				raw += fmt.Sprintf(`\u%04x`, unit)
			}
			raw = `"` + raw + `"`
		}
		found := false
		for range q.matches([]byte(text)) {
			found = true
			break
		}
		pass := q.gate.may([]byte(raw))
		switch {
		case found && !pass:
			t.Fatalf("%q is in %q, and the gate %+q %q keeps out %s", query, text, q.gate.runs[0].text, q.gate.others, raw)
		case found:
			matched++
		case pass:
			passed++
		default:
			other++
		}
	}
	if matched < 1500 || other < 300 {
		t.Errorf("%d match, %d others pass, %d do not", matched, passed, other)
	}
	for _, query := range []string{"한글", "日本", "が", "session", "check", "café"} {
		if q := Fixed(query, true); len(q.gate.runs) == 0 || q.gate.may([]byte(`"nothing of it — “here” ™ …"`)) {
			t.Errorf("the gate of %q keeps out nothing", query)
		}
	}
}
