package compact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/sessionfmt"
)

// This file is how y-agent tells failures and retries (spec/policies.md 3.6).

// isErrorText says that a result reads like a failure. Case counts, and so do blanks at
// the start.
func isErrorText(s string, patterns []string) bool {
	for _, start := range []string{"FAILED", "failed to", "not found"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return containsAny(s, `"error":`, `"error_type":`, "error:", "Error:", "parameter validation failed", "permission denied") ||
		containsAny(s, patterns...)
}

// isEmptyText says that a result reads as if nothing had been found.
func isEmptyText(s string) bool {
	return len(s) < 200 && containsAny(s, `"results": []`, `"results":[]`, `"count": 0`, `"count":0`,
		"no results found", "No results found", "no matches", "No matches", "[]")
}

// repeats says that two texts are more than nine tenths the same, place by place.
func repeats(a, b string) bool { return similarity(a, b) > 0.9 }

// similarity is the share of places with the same character, of the bytes of the longer
// text, as y-agent counts it: a text that is not ASCII is not even like itself.
func similarity(a, b string) float64 {
	switch {
	case a == "" && b == "":
		return 1
	case a == "" || b == "":
		return 0
	}
	same, long := 0, max(len(a), len(b))
	for a != "" && b != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, k := utf8.DecodeRuneInString(b)
		if x == y {
			same++
		}
		a, b = a[n:], b[k:]
	}
	return float64(same) / float64(long)
}

// failed says that a result is an error: what it says of itself counts, else how it
// reads.
func (w *work) failed(i int) (bool, error) {
	k := w.Messages[i].result()
	switch w.Messages[i].Blocks[k].IsError {
	case isError:
		return true, nil
	case noError:
		return false, nil
	}
	text, err := w.Text(i, k)
	return isErrorText(text, w.Patterns), err
}

// A made is a call as retries are told by it.
type made struct {
	name   string // in lower case
	args   string // in one spelling
	file   string // that it is about, "" for none
	leaves string // all strings in its arguments
}

// made reads the calls of a message.
func (w *work) made(i int) (all []made, err error) {
	for k, b := range w.Messages[i].Blocks {
		if b.Kind != CallBlock {
			continue
		}
		text, err := w.Text(i, k)
		if err != nil {
			return nil, err
		}
		c := made{name: strings.ToLower(b.tool()), args: text}
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		var args any
		if d.Decode(&args) == nil {
			spelled, _ := json.Marshal(args) // what was decoded can be encoded
			c.args = string(spelled)
			c.leaves = strings.Join(leaves(nil, args), "\n")
		}
		for _, name := range []string{"path", "file_path", "filePath", "file"} {
			if c.file = fileKey(sessionfmt.Value(text).Get(name).Text()); c.file != "" {
				break
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// leaves are the strings of a value, by the order of names.
func leaves(all []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(all, v)
	case []any:
		for _, el := range v {
			all = leaves(all, el)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = leaves(all, v[name])
		}
	}
	return all
}

// retries says that a later call does again what another did.
func (c *made) retries(earlier *made) bool {
	return c.name == earlier.name &&
		(c.args == earlier.args || c.file != "" && c.file == earlier.file || alike(earlier.leaves, c.leaves))
}

// alike is repeats, but of texts too different in length nothing is compared.
func alike(a, b string) bool {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	return a != "" && float64(short) > 0.9*float64(long) && repeats(a, b)
}
