package transcript

import (
	"bytes"
	"strconv"
	"strings"
)

// subjects are the arguments that say what a call is about, the telling ones first.
var subjects = []string{
	"command", "cmd", "script", "path", "file_path", "filePath", "filename", "file", "pattern", "query", "url", "name", "prompt", "description", "id",
}

// newCall is a call without its result. Args are kept.
func newCall(tool, id string, args value) ToolCall {
	c := ToolCall{Name: tool, ID: id, Args: args, Exit: -1, Record: -1}
	var all [16]value
	args.Fields(all[:len(subjects)], subjects...)
	for k, v := range all[:len(subjects)] {
		if v.IsString() && len(v) > 2 {
			c.Subject, c.Command = v.Text(), k < 3
			return c
		}
	}
	for _, v := range args.Members {
		if c.Subject = v.Text(); c.Subject == "" {
			c.Subject = string(v)
		}
		break
	}
	return c
}

// exited is how pi ends the output of a command that did not succeed
// (spec/pi-format.md 9; the bash tool).
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

// Path is the file that a call is about, empty for none.
func (c *ToolCall) Path() string {
	var f [4]value
	c.Args.Fields(f[:], "path", "file_path", "filePath", "filename")
	for _, v := range f {
		if v.IsString() {
			return v.Text()
		}
	}
	return ""
}

// A Change is what a call did to a file.
type Change uint8

// The changes.
const (
	Reads Change = iota
	Writes
	Edits
)

// Change is what the call does to the file of its path, by the arguments that it
// has: names of tools differ, what they need to know does not.
func (c *ToolCall) Change() Change {
	var f [8]value
	c.Args.Fields(f[:], "content", "edits", "oldText", "newText", "old_string", "new_string", "old_str", "new_str")
	switch {
	case c.Command || c.Path() == "":
		return Reads
	case f[1].IsArray() || f[3].IsString() || f[5].IsString() || f[7].IsString():
		return Edits
	case f[0].IsString():
		return Writes
	}
	return Reads
}

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

// sameCommand is what tells a command from another one: how its output is cut does
// not matter, nor from where it is run.
func sameCommand(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	for {
		was := line
		line = strings.TrimSuffix(line, " 2>&1")
		if k := strings.LastIndex(line, " | "); k >= 0 && cutsOutput(line[k+3:]) {
			line = line[:k]
		}
		if line == was {
			return line
		}
	}
}

// cutsOutput says that a command only shows a part of what it is given.
func cutsOutput(command string) bool {
	name, args, _ := strings.Cut(command, " ")
	return (name == "head" || name == "tail") && !strings.ContainsAny(args, "|;&<>")
}
