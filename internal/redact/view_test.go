package redact

import (
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
