package models

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strconv"
	"strings"
)

// The built-in table is text. It starts with a newline, followed by one line per model, each
// ended by a newline, of twelve columns separated by tabs:
//
//	provider id window output input output cacheRead cacheWrite short long takes tiers
//
// Zero is written as nothing. A tier is "above,input,output,cacheRead,cacheWrite"; tiers are
// separated by ";". The lines are kept as text, since most are never decoded.

//go:embed models.tsv.gz
var packed []byte

// columns is how many columns a line has.
const columns = 12

// Facts are the built-in lines.
type facts struct {
	keys  []key            // in table order
	lines map[key]string   // without their newlines
	named map[string][]key // by their ids without a date, and by their bare names
}

// unpack returns the built-in lines. A test reads every line, so damage is a programming error.
func unpack() *facts {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("models: built-in table: " + err.Error())
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		panic("models: built-in table: " + err.Error())
	}
	f := &facts{lines: map[key]string{}, named: map[string][]key{}}
	for line := range strings.SplitSeq(strings.Trim(string(text), "\n"), "\n") {
		provider, rest, _ := strings.Cut(line, "\t")
		id, _, _ := strings.Cut(rest, "\t")
		k := key{provider, id}
		f.keys = append(f.keys, k)
		f.lines[k] = line
		stem, _ := cutDate(id)
		f.named[stem] = append(f.named[stem], k)
		if name, _ := bareName(id); name != stem {
			f.named[name] = append(f.named[name], k)
		}
	}
	return f
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
