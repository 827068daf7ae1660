package redact

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxtool/internal/must"
	"ctxtool/sessionfmt/jsonl"
)

// TestViewOfView: a view of a view is the same, and has the same words, whether all of it is
// looked at or only what reads otherwise.
func TestViewOfView(t *testing.T) {
	r := must.Get(New(Options{}))
	s := r.NewScanner()
	pieces := []string{
		"plain text that goes on for a while, ", "&amp;", "&amp;amp;lt;", "%2540", "%25252", "%40", "\\\\n", "\\\\\\\\u0040", "\\u{40}", "\u200b", "\x1b[31m", "\u009b1m",
		"gh", "p_", "AKIA", "secret", "pass", "word", " = ", "/home/", "/ho", "me/", "user@", "example.com", "--home-", "é", "\xe2\x80", "ſ", "&#x2f;", "&", "%", "\\",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	changed := 0
	for range 1000 {
		var text []byte
		for range rnd.IntN(60) {
			text = append(text, pieces[rnd.IntN(len(pieces))]...)
			for range rnd.IntN(8) {
				text = append(text, pieces[0]...)
			}
		}
		var was, part, whole view
		if !makeView(&was, text, anySpelling, nil) {
			continue
		}
		s.view(nil, &was, false)
		first := slices.Clone(s.viewWords)
		if is := makeView(&part, was.text, anySpelling, &was); is != makeView(&whole, was.text, anySpelling, nil) || is && string(part.text) != string(whole.text) {
			t.Fatalf("a view of %q is %q, looked at in parts %q", was.text, whole.text, part.text)
		} else if !is {
			continue
		}
		s.view(nil, &whole, false)
		want := distinct(s.viewWords)
		s.viewWords = first
		if s.view(nil, &part, true); !slices.Equal(distinct(s.viewWords), want) {
			t.Fatalf("words of %q: %v, want %v", part.text, distinct(s.viewWords), want)
		}
		if part.located() {
			changed++
		}
	}
	if changed < 50 {
		t.Errorf("%d views were looked at in parts", changed)
	}
}

// distinct are words in order, each once.
func distinct(all []foundWord) []foundWord {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b foundWord) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.word, b.word)) })
	return slices.Compact(all)
}

// TestWalkJSON: a walker takes for JSON what a scanner does.
func TestWalkJSON(t *testing.T) {
	line := ` {"type":"message","id":"a\"\u0041","message":{"role":"assistant","content":[{"type":"thinking","thinkingSignature":{"a":[1,-2.5e3]},"x":null},[ ],{ },true]},"n":0} `
	var w walker
	var scan jsonl.Scanner
	rnd := rand.New(rand.NewPCG(1, 2))
	sound := 0
	for range 20000 {
		b := []byte(line)
		for range rnd.IntN(3) {
			at := rnd.IntN(len(b))
			switch rnd.IntN(3) {
			case 0:
				b[at] = line[rnd.IntN(len(line))]
			case 1:
				b = slices.Delete(b, at, at+1)
			default:
				b = b[:at+1]
			}
		}
		want := scan.Check(b) == nil
		if got := w.walk(b); got != want {
			t.Fatalf("%s: %v, want %v", b, got, want)
		}
		if want {
			sound++
		}
	}
	if sound < 1000 {
		t.Errorf("%d lines are JSON", sound)
	}
}
