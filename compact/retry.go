package compact

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/activity"
	"ctxtool/sessionfmt/jsonl"
)

// This file recognises failures and retries as y-agent does (docs/policies.md 4.4).

// isErrorText reports whether a result reads like a failure. Case and leading blanks matter.
func isErrorText(s string, patterns []string) bool {
	return strings.HasPrefix(s, "FAILED") || strings.HasPrefix(s, "failed to") || strings.HasPrefix(s, "not found") ||
		containsAny(s, `"error":`, `"error_type":`, "error:", "Error:", "parameter validation failed", "permission denied") ||
		containsAny(s, patterns...)
}

// repeats reports whether two texts have the same character at more than 90 % of the places.
func repeats(a, b string) bool { return similarity(a, b, 0.9) > 0.9 }

// similarity returns the number of places with the same character, divided by the bytes of
// the longer text, as y-agent computes it: a text that is not ASCII has less than 1 even with
// itself. It stops early with 0 if the result cannot exceed least.
func similarity(a, b string, least float64) float64 {
	switch {
	case a == "" && b == "":
		return 1
	case a == "" || b == "":
		return 0
	}
	same, long := 0, float64(max(len(a), len(b)))
	for a != "" && b != "" {
		if float64(same+min(len(a), len(b))) <= least*long {
			return 0
		}
		x, n := utf8.DecodeRuneInString(a)
		y, k := utf8.DecodeRuneInString(b)
		if x == y {
			same++
		}
		a, b = a[n:], b[k:]
	}
	return float64(same) / long
}

// failed reports whether a result is an error: by its isError, else by its text.
func (w *Work) failed(i int) bool {
	k := w.Messages[i].result()
	if known := w.Messages[i].Blocks[k].IsError; known != 0 {
		return known == isError
	}
	return isErrorText(w.Text(i, k), w.Patterns)
}

// A made is a call with what identifies its retries.
type made struct {
	name   string // in lower case
	args   string // as normalised JSON
	file   string // that it is for, "" for none
	leaves string // all strings in its arguments
}

// made returns the calls of a message.
func (w *Work) made(i int) (all []made) {
	for k, b := range w.Messages[i].Blocks {
		if b.Kind != jsonl.CallBlock {
			continue
		}
		text := w.Text(i, k)
		c := made{name: strings.ToLower(b.tool()), args: text}
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		d.UseNumber()
		var args any
		if d.Decode(&args) == nil {
			spelled, _ := json.Marshal(args) // what was decoded can be encoded
			c.args = string(spelled)
			c.leaves = strings.Join(leaves(nil, args), "\n")
		}
		for _, name := range []string{"path", "file_path", "filePath", "file"} { // the names that y-agent looks at
			if c.file, _ = activity.File(jsonl.Value(text).Get(name).Text()); c.file != "" {
				break
			}
		}
		all = append(all, c)
	}
	return all
}

// leaves returns the strings in a value, in the order of names.
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

// again reports whether a call is made again by another: with the same arguments, for the same file,
// or with similar strings.
func (c *made) again(d made) bool {
	return d.name == c.name &&
		(d.args == c.args || c.file != "" && d.file == c.file || c.leaves != "" && repeats(c.leaves, d.leaves))
}
