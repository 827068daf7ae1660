package phrase

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

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
