package transcript

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// subjects are the arguments that say what a call is about, the telling ones first:
// a command line, a file, anything else.
var subjects = []string{
	"command", "cmd", "script", "path", "file_path", "filePath", "filename", "file", "pattern", "query", "url", "name", "prompt", "description", "id",
}

const commands, files = 3, 8 // up to which of them are such

// newCall is a call without its result. Args are kept.
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

// exited is how pi ends the output of a command that did not succeed
// (docs/session-format.md 4.4).
var exited = []byte("Command exited with code ")

// answer adds what the tool gave.
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
	end := bytes.TrimRight(text, "\n")
	if k := bytes.LastIndex(end, exited); k >= 0 && failed {
		if n, err := strconv.Atoi(string(end[k+len(exited):])); err == nil {
			c.Exit = n
			c.Result = bytes.TrimRight(text[:k], "\n")
		}
	}
}

// A Change is what a call does to the file of its path, by the arguments that it has:
// names of tools differ, what they need to know does not.
type Change uint8

// The changes.
const (
	Reads Change = iota
	Writes
	Edits
)

// A Replacement is a text that an edit puts in the place of another.
type Replacement struct{ Old, New string }

// Replacements are what an edit's arguments say that it changes.
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

// Diff is the diff that the tool's result tells, empty for none.
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

// appendSame appends what tells a command from another one: how its output is cut does
// not matter, nor from where it is run.
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

// cutsOutput reports whether a command only shows a part of what it is given.
func cutsOutput(command []byte) bool {
	name, args, _ := bytes.Cut(command, []byte(" "))
	return (string(name) == "head" || string(name) == "tail") && !bytes.ContainsAny(args, "|;&<>")
}
