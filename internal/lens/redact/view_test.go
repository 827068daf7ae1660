package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

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

// TestWordsOf: the words of a view are those that a search of it finds, wherever the escapes are.
func TestWordsOf(t *testing.T) {
	r := mustNew(Options{})
	s, views := r.NewScanner(), 0
	s.noting = true
	check := func(text []byte) {
		s.plain(nil, text)
		var v view
		if !makeView(&v, text, anySpelling, true) {
			return
		}
		views++
		s.finish(s.wordsOf(nil, &v), v.text)
		counts := map[spot]int{}
		for _, found := range s.spots {
			counts[found]++
		}
		r.words.each(v.text, func(word int32, end int) { counts[spot{word, int32(end)}]-- })
		for found, n := range counts {
			if n != 0 {
				t.Errorf("%.200q: word %d at %d: %d too many", text, found.word, found.end, n)
			}
		}
	}
	for _, piece := range hostilePieces() {
		for _, more := range []string{"", "x", `\n`, "\u200b", "%41"} {
			check(bytes.Repeat([]byte(piece+more), 7))
		}
		for i := range len(piece) {
			before, after := piece[:i], piece[i+1:]
			check([]byte(before + "\u200b" + piece[i:]))
			check(fmt.Appendf(nil, `%s\u%04x%s`, before, piece[i], after))
			check(fmt.Appendf(nil, `%s%%%02x%s%s`, before, piece[i], after, piece))
		}
	}
	if views < 10_000 {
		t.Errorf("only %d views", views)
	}
}
