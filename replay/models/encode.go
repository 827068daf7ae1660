package models

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"iter"
	"strconv"
	"strings"
)

// The built-in table is text. It starts with a newline, followed by one line per model, each
// ended by a newline, of twelve columns separated by tabs:
//
//	provider id window output input output cacheRead cacheWrite short long takes tiers
//
// Zero is written as nothing. A tier is "above,input,output,cacheRead,cacheWrite"; tiers are
// separated by ";". The lines are kept as text, since searching them is faster than decoding
// them all.

//go:embed models.tsv.gz
var packed []byte

// columns is how many columns a line has.
const columns = 12

// unpack returns the built-in lines. A test reads every line, so damage is a programming error.
func unpack() string {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("models: built-in table: " + err.Error())
	}
	var text strings.Builder
	// The trailer of a gzip file ends with the size of what was packed.
	text.Grow(int(binary.LittleEndian.Uint32(packed[len(packed)-4:])))
	if _, err := io.Copy(&text, zr); err != nil {
		panic("models: built-in table: " + err.Error())
	}
	return text.String()
}

// findLine returns the line of this key without its newline, or "".
func findLine(text string, k key) string {
	// A tab in a name could reach into the columns that follow.
	if strings.ContainsAny(k.provider, "\t\n") || strings.ContainsAny(k.id, "\t\n") {
		return ""
	}
	at := strings.Index(text, "\n"+k.provider+"\t"+k.id+"\t")
	if at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(text[at+1:], "\n")
	return line
}

// linesWith yields the lines that hold part, without their newlines.
func linesWith(text, part string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for pos := 1; pos < len(text); {
			hit := strings.Index(text[pos:], part)
			if hit < 0 {
				return
			}
			start := strings.LastIndexByte(text[:pos+hit], '\n') + 1
			line, _, _ := strings.Cut(text[start:], "\n")
			if !yield(line) {
				return
			}
			// A part with a newline in it may start on the line before.
			pos = max(pos+hit, start+len(line)) + 1
		}
	}
}

// lineKey returns the key a line starts with.
func lineKey(line string) key {
	provider, rest, _ := strings.Cut(line, "\t")
	id, _, _ := strings.Cut(rest, "\t")
	return key{provider, id}
}

// decodeLine reads one line of the built-in table.
func decodeLine(line string) Model {
	f := strings.SplitN(line, "\t", columns)
	m := Model{
		Provider:      f[0],
		ID:            f[1],
		ContextWindow: count(f[2]),
		MaxTokens:     count(f[3]),
		PromptCache:   PromptCache{Short: count(f[8]), Long: count(f[9])},
		Takes:         Takes(f[10]),
	}
	m.Cost.Rates = rates(f[4:8])
	if f[11] == "" {
		return m
	}
	for tier := range strings.SplitSeq(f[11], ";") {
		f := strings.Split(tier, ",")
		m.Cost.Tiers = append(m.Cost.Tiers, Tier{InputTokensAbove: count(f[0]), Rates: rates(f[1:5])})
	}
	return m
}

// rates reads four prices in the order of the struct.
func rates(f []string) Rates {
	return Rates{Input: dollars(f[0]), Output: dollars(f[1]), CacheRead: dollars(f[2]), CacheWrite: dollars(f[3])}
}

// count reads a whole number; empty is zero. The text is our own, so it has no errors.
func count(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// dollars reads a price; empty is zero.
func dollars(s string) float64 {
	d, _ := strconv.ParseFloat(s, 64)
	return d
}
