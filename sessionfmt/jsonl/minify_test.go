package jsonl

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAppendShort(t *testing.T) {
	for _, text := range []string{`plain text of some length, and more of it`, `\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n`, `äöü😀äöü😀äöü😀äöü😀äöü😀`, `\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00\ud83d\ude00`, `\\\\\\\\\\\\\\\\\\\\\\\\\"`} {
		v := Value(`{"a":["` + text + `",1,"short"],"b":"` + text + `"}`)
		for most := 2; most < len(v); most++ {
			out := Value(v.AppendShort(nil, most))
			if !json.Valid(out) {
				t.Fatalf("at most %d of %s: %s", most, v, out)
			}
			if strings.Contains(out.Get("b").Text(), "\uFFFD") {
				t.Fatalf("at most %d of %s: a character was parted: %s", most, v, out)
			}
			if len(text)+2 > most == (string(out) == string(v)) {
				t.Fatalf("at most %d of %s: %s", most, v, out)
			}
		}
	}
}
