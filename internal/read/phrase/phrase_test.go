package phrase

import (
	"strings"
	"testing"
)

// TestTrapT55Rounding: an exact tie goes up, as in JavaScript.
func TestTrapT55Rounding(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1250: "1.3k", 1350: "1.4k", 12_250: "12.3k", 999_999: "1000k", 1_000_000: "1m", 2_500_000: "2.5m"} {
		if got := Short(n); got != want {
			t.Errorf("%d prints %s, want %s", n, got, want)
		}
	}
	for x, want := range map[float64]string{12.25: "12.3", 0.05: "0.1", 12.349: "12.3", 100: "100.0"} {
		if got := OneDecimal(x); got != want {
			t.Errorf("%v prints %s, want %s", x, got, want)
		}
	}
}

// TestNearest: a misspelled name means the one with the fewest differences, and none if all are far.
func TestNearest(t *testing.T) {
	all := []string{"redact", "report", "json", "jsonl", "color", "port"}
	for name, want := range map[string]string{
		"redct": "redact", "jsno": "json", "colour": "color", "reprot": "report", "josnl": "jsonl", "jsons": "json jsonl",
		"verbose": "", "x": "", "prot": "port", "redaction": "",
	} {
		if got := strings.Join(Nearest(name, all), " "); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}
