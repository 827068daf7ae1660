// Package phrase formats numbers and texts for output.
package phrase

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt"
)

// Count returns a number of things, with the plural.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// If returns a formatted text if said is true, else "".
func If(said bool, format string, args ...any) string {
	if !said {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// Short returns a number of tokens as pi prints it: 950, 1.3k, 2m.
func Short(n int64) string {
	unit := func(div float64, suffix string) string {
		return strings.TrimSuffix(OneDecimal(float64(n)/div), ".0") + suffix
	}
	switch {
	case n < 0:
		return "-" + Short(-n)
	case n >= 1_000_000:
		return unit(1_000_000, "m")
	case n >= 1_000:
		return unit(1_000, "k")
	}
	return strconv.FormatInt(n, 10)
}

// OneDecimal formats with one decimal as JavaScript does: ties round up, while Go rounds to
// even.
func OneDecimal(x float64) string {
	if twenty := x * 20; math.FMA(x, 20, -twenty) == 0 && math.Mod(twenty, 2) == 1 {
		x = math.Nextafter(x, math.Inf(1))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// Dollars returns an amount of US dollars: $12.45, with four decimals below ten cents.
func Dollars(n float64) string {
	if n >= 0.1 {
		return fmt.Sprintf("$%.2f", n)
	}
	return fmt.Sprintf("$%.4f", n)
}

// Percent returns a share as a percentage.
func Percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// Cut truncates a line to at most that many characters.
func Cut(line string, most int) string {
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	return string([]rune(line)[:most-1]) + "…"
}

// Indent indents JSON, or returns it unchanged if it is nested too deep.
func Indent(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return text
	}
	return out.Bytes()
}

// Clean is sessionfmt.Clean for a text of several lines: it keeps line ends and tabs.
func Clean(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for k, cell := range cells {
			cells[k] = sessionfmt.Clean(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// WindowFrom says in words where a context window comes from.
func WindowFrom(from string) string {
	switch from {
	case "given":
		return "option"
	case "baseline":
		return from
	case "policy":
		return "default of the policy"
	case "session":
		return "recorded by the agent"
	case "recorded":
		return "the largest recorded prompt, over that of the models table"
	case "assumed":
		return "assumed: the model is unknown"
	case "several":
		return "of the last request; others have another"
	}
	return "models table, " + from
}

// scales are the factors of the letters after a number.
var scales = map[byte]float64{'k': 1e3, 'm': 1e6, 'g': 1e9}

// ParseNumber reads a number such as 150000, 150_000, 150k, 1.5M or 1e6.
func ParseNumber(text string) (float64, error) {
	times := 1.0
	if end := len(text) - 1; end > 0 && scales[text[end]|' '] > 0 {
		text, times = text[:end], scales[text[end]|' ']
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if n *= times; err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, errors.New("not a number")
	}
	return n, nil
}

// And lists things in a sentence: "a", "a and b", "a, b and c".
func And(things []string) string {
	if n := len(things); n > 1 {
		return strings.Join(things[:n-1], ", ") + " and " + things[n-1]
	}
	return strings.Join(things, "")
}
