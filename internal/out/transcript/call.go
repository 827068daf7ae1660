package transcript

import (
	"bytes"
	"ctxtool/internal/read/activity"
	"strings"
)

func (c *ToolCall) answer(text []byte, failed bool) {
	if string(bytes.TrimSpace(text)) == "(no output)" {
		text = nil
	}
	c.Result, c.Failed = text, failed
	if !c.Runs() {
		return
	}
	if code, output, ok := activity.Exit(c.Details, text, failed); ok {
		c.Exit, c.Result, c.Failed = code, output, failed || code != 0
	}
}

// Diff returns the diff in the tool's result, empty for none.
func (c *ToolCall) Diff() string { return c.Details.Get("diff").Text() }

// CountDiff counts the lines that a diff adds and removes.
func CountDiff(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "--- "):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

// appendSame appends a key that identifies a command regardless of its folder and of how its
// output is truncated.
func appendSame(dst, line []byte) []byte {
	start := len(dst)
	for word := range bytes.FieldsSeq(line) {
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		dst = append(dst, word...)
	}
	for {
		was := len(dst)
		dst = bytes.TrimSuffix(dst, []byte(" 2>&1"))
		if k := bytes.LastIndex(dst, []byte(" | ")); k >= start && cutsOutput(dst[k+3:]) {
			dst = dst[:k]
		}
		if len(dst) == was {
			return dst
		}
	}
}

// cutsOutput reports whether a command only shows a part of its input.
func cutsOutput(command []byte) bool {
	name, args, _ := bytes.Cut(command, []byte(" "))
	return (string(name) == "head" || string(name) == "tail") && !bytes.ContainsAny(args, "|;&<>")
}

// NestedCall returns a call that the tool of a result made itself, without its result.
func NestedCall(v value) ToolCall {
	c := ToolCall{Call: activity.Nested(v), Exit: -1, Record: -1}
	c.Answered, c.Failed = !c.Status.Is("unfinished"), c.Status.Is("error")
	return c
}
