package jsonl

import (
	"math/rand/v2"
	"testing"
)

// all reads the next value with all that is in it, in the ways that a reader may choose.
func all(c *Cursor, random *rand.Rand) {
	switch {
	case random.IntN(8) == 0:
		c.Value()
	case c.Peek() == '{':
		for range c.Members {
			switch random.IntN(6) {
			case 0: // skipped
			case 1:
				return
			default:
				all(c, random)
			}
		}
	case c.Peek() == '[':
		for range c.Elements {
			if random.IntN(6) > 0 {
				all(c, random)
			}
		}
	default:
		c.String()
	}
}

// TestCursorValidates: what a cursor reads to the end is what the scanner accepts, however it is
// read.
func TestCursorValidates(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	const text = `{"a":[1,-2.5e3,{"b\n":"c\u00e9 d"},[],{}],"e":null,"f":{"g":true, "h" : [ "a long text of more than sixty-four bytes, so that the kernel reads it", false ] } } `
	var c Cursor
	var scan Scanner
	valid := 0
	for range 20_000 {
		line := []byte(text)
		for range random.IntN(3) {
			switch k := random.IntN(len(line)); random.IntN(3) {
			case 0:
				line = append(line[:k:k], line[k+1:]...)
			case 1:
				line[k] = `{}[],:"\ 1tx`[random.IntN(12)]
			default:
				line = line[:max(1, k)]
			}
		}
		want := scan.Check(line) == nil
		all(c.Reset(line), random)
		if whole := c.Since(0).Exists() && SkipSpace(line, c.Offset()) == len(line); whole != want {
			t.Fatalf("%s: read to its end: %v, the scanner: %v", line, whole, want)
		}
		if want {
			valid++
		}
	}
	if valid < 1000 || valid > 19_000 {
		t.Errorf("%d lines are valid", valid)
	}
}
