package transcript

import (
	"bytes"
	"slices"
	"strings"

	"ctxtool/internal/said"
)

// subjects are the arguments that describe a call, the most specific first: a command line, a
// file, others.
var subjects = []string{
	"command", "cmd", "script", "path", "file_path", "filePath", "filename", "file", "pattern", "query", "url", "name", "prompt", "description", "id",
}

const commands, files = 3, 8 // numbers of leading subjects that are command lines, and that are command lines or files

// newCall returns a call without its result. It keeps args.
func newCall(tool, id string, args value) ToolCall {
	c := ToolCall{Name: tool, ID: id, Args: args, Exit: -1, Record: -1}
	best, path := len(subjects), len(subjects)
	var file, first value
	has := [...]bool{Writes: false, Edits: false}
	for key, v := range args.Members {
		if first == nil {
			first = v
		}
		switch name := string(key); name {
		case "edits":
			has[Edits] = has[Edits] || v.IsArray()
		case "newText", "new_string", "new_str":
			has[Edits] = has[Edits] || v.IsString()
		case "content":
			has[Writes] = v.IsString()
		default:
			k := slices.Index(subjects, name)
			if k < 0 || !v.IsString() || len(v) == len(`""`) {
				continue
			}
			if k < best {
				best, c.subject = k, v
			}
			if k >= commands && k < files && k < path {
				path, file = k, v
			}
		}
	}
	if c.subject == nil {
		c.subject = first
	}
	c.Command, c.Path = best < commands, file.Text()
	switch {
	case c.Command || c.Path == "":
	case has[Edits]:
		c.Change = Edits
	case has[Writes]:
		c.Change = Writes
	}
	return c
}

func (c *ToolCall) answer(text []byte, failed bool) {
	if string(bytes.TrimSpace(text)) == "(no output)" {
		text = nil
	}
	c.Result, c.Failed = text, failed
	if !c.Command {
		return
	}
	if code := c.Details.Get("exitCode"); code.IsNumber() {
		c.Exit = int(code.Int())
		c.Failed = c.Failed || c.Exit != 0
		return
	}
	if code, output, ok := said.Exit(text, failed); ok {
		c.Exit, c.Result, c.Failed = code, output, failed || code != 0
	}
}

// A Change is what a call does to the file at its path, derived from its arguments, since the
// names of tools differ between agents.
type Change uint8

// The changes.
const (
	Reads Change = iota
	Writes
	Edits
)

// A Replacement is a text replaced by an edit.
type Replacement struct{ Old, New string }

// Replacements returns the replacements in an edit's arguments.
func (c *ToolCall) Replacements() (all []Replacement) {
	from := func(v value) {
		var f [6]value
		v.Fields(f[:], "oldText", "newText", "old_string", "new_string", "old_str", "new_str")
		for k := 0; k < len(f); k += 2 {
			if f[k].IsString() || f[k+1].IsString() {
				all = append(all, Replacement{f[k].Text(), f[k+1].Text()})
				return
			}
		}
	}
	if edits := c.Args.Get("edits"); edits.IsArray() {
		for e := range edits.Elements {
			from(e)
		}
		return all
	}
	from(c.Args)
	return all
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

// NestedCall is a call that the tool of a result made itself, without its result.
func NestedCall(v value) ToolCall {
	c := newCall(v.Get("name").Text(), v.Get("id").Text(), v.Get("arguments"))
	status := v.Get("status")
	c.Answered, c.Failed = !status.Is("unfinished"), status.Is("error")
	return c
}
