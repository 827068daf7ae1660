package activity

import (
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"

	"mvdan.cc/sh/v3/syntax"
)

// A FileChange is the effect of a successful call on a file.
type FileChange struct {
	Path  string // as the call names it; for a command, relative to the folder in Dir
	To    string // the new name of a moved file, else empty
	Dir   string // the folder to which a command changes first, empty for none
	Whole bool   // Text is the whole new content
	Adds  bool   // Text is appended
	Text  string
	Edits []Replacement
	// Loose reports that the content depends on more than the words of the call, because a command line writes
	// it.
	Loose bool
}

// Changes returns what a call writes to files, in order; nothing for texts that only appear in its result.
func (c *Call) Changes() []FileChange {
	switch {
	case c.Action == Run:
		return scriptChanges(c.Command, among(c.Args, []string{"workdir", "cwd", "dir"}).Text())
	case !c.Action.Changes():
		return nil
	}
	if patch := among(c.Args, patches).Text(); strings.Contains(patch, patchBegins) {
		return patchChanges(patch)
	}
	if len(c.Paths) != 1 {
		return nil
	}
	ch := FileChange{Path: c.Paths[0]}
	if text := among(c.Args, contents); text.IsString() && c.Action == Write {
		ch.Whole, ch.Text = true, text.Text()
		return []FileChange{ch}
	}
	if source := c.Args.Get("new_source"); source.IsString() { // a notebook cell, whose lines are JSON
		ch.Edits = []Replacement{{New: cellLines(source.Text())}}
		ch.Loose = true
		return []FileChange{ch}
	}
	if ch.Edits = c.Replacements(); ch.Edits == nil {
		return nil
	}
	return []FileChange{ch}
}

// contents are names of the argument with the content of a file.
var contents = strings.Fields("content contents file_text fileText text")

// cellLines spells the lines of a cell as in a notebook file.
func cellLines(source string) string {
	var b strings.Builder
	for line := range strings.Lines(source) {
		b.Write(jsonl.AppendQuoted(nil, line))
		b.WriteString(",\n")
	}
	return b.String()
}

const patchBegins = "*** Begin Patch"

// patchChanges reads a patch of apply_patch. Its hunks are whole lines, found by the lines around them.
func patchChanges(patch string) (all []FileChange) {
	var old, new strings.Builder
	at := -1 // index of the file
	flush := func() {
		if at >= 0 && old.Len()+new.Len() > 0 && !all[at].Whole {
			all[at].Edits = append(all[at].Edits, Replacement{Old: old.String(), New: new.String()})
		}
		old.Reset()
		new.Reset()
	}
	for line := range strings.Lines(patch) {
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		head, name, named := strings.Cut(strings.TrimSpace(line), ": ")
		switch mark := head; {
		case named && (mark == "*** Add File" || mark == "*** Update File" || mark == "*** Delete File"):
			flush()
			all = append(all, FileChange{Path: name, Whole: mark != "*** Update File"})
			at = len(all) - 1
		case named && mark == "*** Move to" && at >= 0:
			all[at].To = name
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "*** "):
			flush()
		case at < 0:
		case all[at].Whole:
			if text, ok := strings.CutPrefix(line, "+"); ok {
				all[at].Text += text
			}
		case line[0] == '+':
			new.WriteString(line[1:])
		case line[0] == '-':
			old.WriteString(line[1:])
		default:
			line = strings.TrimPrefix(line, " ")
			old.WriteString(line)
			new.WriteString(line)
		}
	}
	flush()
	return all
}

// scriptChanges reads what a command line writes, as far as its words reveal it: texts redirected to a file,
// in-place substitutions by sed, and patches for apply_patch.
func scriptChanges(script, dir string) (all []FileChange) {
	if !strings.ContainsAny(script, ">|") && !strings.Contains(script, "sed ") && !strings.Contains(script, "<<") {
		return nil
	}
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	file := parse(parser, script)
	if file == nil {
		return nil
	}
	for _, s := range file.Stmts {
		if !plain(s) {
			continue
		}
		syntax.Walk(s, func(n syntax.Node) bool {
			stmt, ok := n.(*syntax.Stmt)
			if !ok {
				return true
			}
			call, ok := stmt.Cmd.(*syntax.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			words := make([]string, len(call.Args))
			for i, arg := range call.Args {
				words[i] = text(arg.Parts)
			}
			if words[0] == "cd" && len(words) == 2 {
				dir = words[1]
			}
			for _, ch := range statementChanges(stmt, words) {
				ch.Dir = dir
				all = append(all, ch)
			}
			return true
		})
	}
	return all
}

// plain reports whether a statement runs once, at its place.
func plain(s *syntax.Stmt) bool {
	switch s.Cmd.(type) {
	case *syntax.CallExpr, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell:
		return true
	}
	return false
}

// statementChanges returns what a simple command writes.
func statementChanges(s *syntax.Stmt, words []string) (all []FileChange) {
	said, known := "", false // text that it prints
	var to []FileChange
	for _, r := range s.Redirs {
		switch {
		case r.Hdoc != nil && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc):
			said, known = document(r), true
		case (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) && r.N == nil:
			to = append(to, FileChange{Path: text(r.Word.Parts), Adds: r.Op == syntax.AppOut})
		}
	}
	switch base(words[0]) {
	case "apply_patch", "applypatch":
		if len(words) == 2 {
			said = words[1]
		}
		return patchChanges(said)
	case "sed":
		return sedChanges(words[1:])
	case "tee":
		for _, w := range words[1:] {
			if !strings.HasPrefix(w, "-") {
				to = append(to, FileChange{Path: w, Adds: slices.Contains(words, "-a")})
			}
		}
	case "cat":
		known = known && len(words) == 1
	case "echo":
		said, known = strings.Join(words[1:], " ")+"\n", true
	case "printf":
		said, known = strings.ReplaceAll(strings.Join(words[1:min(2, len(words))], ""), `\n`, "\n"), len(words) == 2
	default:
		known = false
	}
	for _, ch := range to {
		if known && ch.Path != "" && !strings.HasPrefix(ch.Path, "/dev/") && !strings.Contains(ch.Path, "$") {
			ch.Text, ch.Whole, ch.Loose = said, !ch.Adds, true
			all = append(all, ch)
		}
	}
	return all
}

// document returns the text of a here-document, unexpanded if its delimiter is quoted.
func document(r *syntax.Redirect) string {
	var b strings.Builder
	_, bare := r.Word.Parts[0].(*syntax.Lit)
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && bare {
			b.WriteString(unescape(lit.Value, "\\$`\n"))
		} else if ok {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(text([]syntax.WordPart{part}))
		}
	}
	return b.String()
}

// sedChanges reads substitutions in place, s/old/new/, without special characters: others are not replayed.
func sedChanges(args []string) (all []FileChange) {
	var edits []Replacement
	var files []string
	inPlace, scripts := false, false
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case strings.HasPrefix(arg, "-i"), strings.HasPrefix(arg, "--in-place"):
			inPlace = true
			if arg == "-i" && i+1 < len(args) && args[i+1] == "" { // of BSD
				i++
			}
		case arg == "-e" && i+1 < len(args):
			i++
			edits, scripts = append(edits, substitution(args[i])...), true
		case strings.HasPrefix(arg, "-"):
		case !scripts:
			edits, scripts = append(edits, substitution(arg)...), true
		default:
			files = append(files, arg)
		}
	}
	for _, name := range files {
		if inPlace && edits != nil {
			all = append(all, FileChange{Path: name, Edits: edits, Loose: true})
		}
	}
	return all
}

// substitution reads a command of sed that replaces a literal text.
func substitution(script string) []Replacement {
	if len(script) < len("s/a//") || script[0] != 's' {
		return nil
	}
	parts := strings.Split(script[2:], script[1:2])
	if len(parts) != 3 || parts[0] == "" || strings.ContainsAny(parts[0]+parts[1], `\*[]^$&`) ||
		strings.Trim(parts[2], "g") != "" {
		return nil
	}
	return []Replacement{{parts[0], parts[1], true}}
}

// Succeeded reports whether the result of a call reports no failure.
func (c *Call) Succeeded(m *jsonl.Message) bool {
	text := []byte(m.Text("\n"))
	code, _, ok := Exit(m.Details, text, m.IsError.Truthy())
	return !m.IsError.Truthy() && (!ok || code == 0) && !refused(string(text))
}

// refused reports whether a result that is not marked as an error is one: Codex reports a patch that does not
// apply this way.
func refused(text string) bool {
	for _, begin := range [...]string{"apply_patch verification failed", "patch rejected", "execution error",
		"failed to ", "aborted by user", "exec_command failed"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}
