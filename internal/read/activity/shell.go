package activity

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// A Script is the set of commands that a command line runs.
type Script struct {
	Commands []string // significant commands in order, each once: the program and up to two words after it
	Looks    bool     // it only searches for something, and fails without a match
	last     []string // commands whose status may be the status of the line, the most likely last
}

// longestLine is the longest command line that is read as a shell's, in bytes: Linux passes no
// longer argument to a program.
const longestLine = 128 << 10

// parsers are used again, since each has buffers of several kilobytes.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// ReadScript reads a command line, also the scripts in its arguments: bash -c 'make'. A line that
// is not in the language of bash is split at what separates commands in any shell.
func ReadScript(line string) Script {
	if line == "" {
		return Script{}
	}
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	r := scriptReader{parser: parser, known: map[string]bool{}, functions: map[string]*function{}}
	r.out.last = r.text(line)
	r.out.Looks = r.finds && !r.acts
	return r.out
}

// marks surround the words of an error. A colon within a word stays: lint:types.
const marks = ",;.!`'\"()[]:"

// Failed returns the command that failed if the line did: among those that may have ended it, the one that the
// error line names best, else the last. It is empty if no command of the line is significant.
func (s *Script) Failed(errorLine string) (command string) {
	said := map[string]bool{}
	for word := range strings.FieldsSeq(errorLine) {
		word = strings.Trim(word, marks)
		said[word], said[base(word)] = true, true
	}
	most := 0
	for _, c := range s.last {
		n := 0
		for word := range strings.FieldsSeq(c) {
			if said[base(word)] {
				n++
			}
		}
		if n >= most {
			command, most = c, n
		}
	}
	return command
}

// A scriptReader collects the commands of a line. Methods that read a part of it return the commands whose
// status may be that of the part.
type scriptReader struct {
	out       Script
	parser    *syntax.Parser
	finds     bool            // a finder runs
	acts      bool            // another program runs, neither finder nor harmless
	known     map[string]bool // commands in out
	functions map[string]*function
	depth     int  // of scripts in arguments
	strict    bool // after set -e any command may end the script
	foreign   bool // the text is in the language of another shell
}

// A function is a shell function. Its body is read at its first call.
type function struct {
	body *syntax.Stmt
	read bool
	last []string
}

// text reads a script.
func (r *scriptReader) text(script string) []string {
	const deepest = 8
	if r.depth == deepest {
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	if file := parse(r.parser, script); file != nil {
		return r.statements(file.Stmts)
	}
	return r.pieces(script)
}

// parse returns the syntax tree of a script of bash, nil for other texts.
func parse(p *syntax.Parser, script string) *syntax.File {
	if len(script) > longestLine {
		return nil
	}
	file, err := p.Parse(&shallow{strings.NewReader(script)}, "")
	if err != nil {
		return nil
	}
	return file
}

// A shallow reader fails when its caller, the parser, has nested too deeply: the parser has no
// limit of its own, and a stack that overflows ends the program.
type shallow struct{ io.Reader }

var errDeep = errors.New("nested too deeply")

func (s *shallow) Read(p []byte) (int, error) {
	const deepest = 5000 // calls
	if runtime.Callers(deepest, make([]uintptr, 1)) > 0 {
		return 0, errDeep
	}
	return s.Reader.Read(p)
}

// pieces reads a text that is not bash. It ignores the text of a here-document that may not end.
func (r *scriptReader) pieces(text string) (last []string) {
	defer func(was bool) { r.foreign = was }(r.foreign)
	r.foreign = true
	if document := strings.Index(text, "<<"); document >= 0 {
		end := strings.IndexByte(text[document:], '\n')
		text = text[:document+max(end, 0)]
	}
	for piece := range strings.FieldsFuncSeq(text[:min(len(text), longestLine)], separates) {
		piece = cutKeywords(piece)
		var file *syntax.File
		if strings.ContainsAny(piece, "\"'`\\") {
			file = parse(r.parser, piece)
		}
		if file != nil {
			last = orEarlier(r.statements(file.Stmts), last)
			continue
		}
		words := strings.Fields(piece)
		for i := range words {
			words[i] = strings.Trim(words[i], "\"'`")
		}
		last = orEarlier(r.call(words), last)
	}
	return last
}

// cutKeywords removes the keywords before a command.
func cutKeywords(piece string) string {
	for {
		piece = strings.TrimSpace(piece)
		word, rest, _ := strings.Cut(piece, " ")
		if !isOneOf(word, "if then else elif elseif do while until ! try catch finally begin end process") {
			return piece
		}
		piece = rest
	}
}

// separates reports whether a character separates commands, in most shells.
func separates(c rune) bool { return strings.ContainsRune("\n\r;|&(){}", c) }

// orEarlier returns the commands of a part, or if it has none, those of the part before it.
func orEarlier(part, earlier []string) []string {
	if len(part) > 0 {
		return part
	}
	return earlier
}

// statements reads a list of statements.
func (r *scriptReader) statements(list []*syntax.Stmt) (last []string) {
	for _, s := range list {
		part := r.statement(s)
		if r.strict {
			last = append(last, part...)
		} else if s.Background {
			last = orEarlier(last, part)
		} else {
			last = orEarlier(part, last)
		}
	}
	return last
}

func (r *scriptReader) statement(s *syntax.Stmt) (last []string) {
	if s == nil {
		return nil
	}
	for _, redirect := range s.Redirs {
		r.substitutions(redirect.Word)
		r.substitutions(redirect.Hdoc)
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return r.simple(c)
	case *syntax.BinaryCmd:
		return r.binary(c)
	case *syntax.Subshell:
		return r.statements(c.Stmts)
	case *syntax.Block:
		return r.statements(c.Stmts)
	case *syntax.IfClause:
		return r.conditional(c)
	case *syntax.WhileClause:
		condition := r.statements(c.Cond)
		return orEarlier(r.statements(c.Do), condition)
	case *syntax.ForClause:
		r.substitutions(c.Loop)
		return r.statements(c.Do)
	case *syntax.CaseClause:
		r.substitutions(c.Word)
		for _, item := range c.Items {
			last = append(last, r.statements(item.Stmts)...)
		}
		return last
	case *syntax.FuncDecl:
		if c.Name == nil { // the parser takes () for the beginning of one
			return r.statement(c.Body)
		}
		r.functions[c.Name.Value] = &function{body: c.Body}
		return nil
	case *syntax.TimeClause:
		return r.statement(c.Stmt)
	case *syntax.CoprocClause:
		return r.statement(c.Stmt)
	case nil:
		return nil
	default: // tests, arithmetic, declarations: they only run substitutions
		return r.substitutions(c)
	}
}

// binary reads commands that &&, || or | joins. The tree of a long chain is deep on its left.
func (r *scriptReader) binary(c *syntax.BinaryCmd) (last []string) {
	var chain []*syntax.BinaryCmd
	first := c.X
	for chain = append(chain, c); ; chain = append(chain, c) {
		inner, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok || first.Negated || len(first.Redirs) > 0 {
			break
		}
		c, first = inner, inner.X
	}
	last = r.statement(first)
	for _, c := range slices.Backward(chain) {
		part := r.statement(c.Y)
		if c.Op == syntax.AndStmt {
			last = append(last, part...)
		} else { // the later one has the status, unless it only reports or filters
			last = orEarlier(part, last)
		}
	}
	return last
}

// conditional reads an if with all its branches.
func (r *scriptReader) conditional(c *syntax.IfClause) (last []string) {
	var condition []string
	for ; c != nil; c = c.Else {
		condition = orEarlier(r.statements(c.Cond), condition)
		last = append(last, r.statements(c.Then)...)
	}
	return orEarlier(last, condition)
}

// substitutions reads the commands in substitutions of a node, such as $(git rev-parse HEAD).
func (r *scriptReader) substitutions(node syntax.Node) (last []string) {
	if isNil(node) {
		return nil
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			last = orEarlier(r.statements(n.Stmts), last)
			return false
		case *syntax.ProcSubst:
			r.statements(n.Stmts)
			return false
		}
		return true
	})
	return last
}

// isNil reports whether a node is absent: an optional word is a nil pointer.
func isNil(node syntax.Node) bool {
	word, ok := node.(*syntax.Word)
	return node == nil || ok && word == nil
}

// simple reads a command with its arguments. Substitutions of a significant command are only arguments; but
// x=$(make) runs make.
func (r *scriptReader) simple(c *syntax.CallExpr) (last []string) {
	if len(c.Args) > 0 {
		last = r.arguments(c)
	}
	if len(last) == 0 {
		return r.substitutions(c)
	}
	return last
}

// arguments reads a command by its arguments, the program among them.
func (r *scriptReader) arguments(c *syntax.CallExpr) []string {
	words := make([]string, len(c.Args))
	braces := false
	for i, arg := range c.Args {
		words[i] = text(arg.Parts)
		braces = braces || arg.Lit() == "{" || arg.Lit() == "}"
	}
	if braces { // a block of PowerShell
		return r.pieces(strings.Join(words, " "))
	}
	if f := r.functions[words[0]]; f != nil {
		if !f.read {
			f.read = true // before the body, which may call the function
			f.last = r.statement(f.body)
		}
		return f.last
	}
	if words[0] == "set" {
		r.strict = r.strict || slices.ContainsFunc(words[1:], isErrexit)
	}
	return r.call(words)
}

// isErrexit reports whether an option of set ends a script at the first failure.
func isErrexit(option string) bool {
	return option == "errexit" || strings.HasPrefix(option, "-") && strings.Contains(option, "e")
}

// call reads a command by its words, including commands that it runs itself.
func (r *scriptReader) call(words []string) []string {
	for len(words) > 0 && (isAssignment(words[0]) || words[0] == "") {
		words = words[1:]
	}
	if len(words) == 0 || r.foreign && words[0][0] == '$' { // an expression of PowerShell
		return nil
	}
	inner, script := unwrap(words)
	switch {
	case script != "":
		return r.text(script)
	case inner != nil:
		return r.call(inner)
	}
	finds := isOneOf(base(words[0]), finders)
	r.finds, r.acts = r.finds || finds, r.acts || !finds && !isOneOf(base(words[0]), harmless)
	name := significant(words)
	if name == "" {
		return nil
	}
	if !r.known[name] {
		r.known[name] = true
		r.out.Commands = append(r.out.Commands, name)
	}
	return []string{name}
}

// text returns a word before expansion. It has $NAME for parameters, "$()" for command substitutions and "$"
// for the rest.
func text(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(unescape(lit.Value, "\"\\$`\n"))
				} else {
					b.WriteString(text([]syntax.WordPart{inner}))
				}
			}
		case *syntax.ParamExp:
			b.WriteString("$")
			if p.Param != nil {
				b.WriteString(p.Param.Value)
			}
		case *syntax.CmdSubst:
			b.WriteString("$()")
		default:
			b.WriteString("$")
		}
	}
	return b.String()
}

// unescape removes backslashes: those before one of some characters, or all if there are none.
func unescape(literal, before string) string {
	if !strings.Contains(literal, `\`) {
		return literal
	}
	var b strings.Builder
	for i := 0; i < len(literal); i++ {
		if literal[i] == '\\' && i+1 < len(literal) && (before == "" || strings.IndexByte(before, literal[i+1]) >= 0) {
			if i++; literal[i] == '\n' {
				continue // the line goes on
			}
		}
		b.WriteByte(literal[i])
	}
	return b.String()
}

// CutDocuments returns a command line with "..." in place of the text of each here-document. A line
// that is not in the language of bash stays as it is.
func CutDocuments(line string) string {
	if !strings.Contains(line, "<<") {
		return line
	}
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	file := parse(parser, line)
	if file == nil {
		return line
	}
	var b strings.Builder
	from := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if redirect, ok := n.(*syntax.Redirect); ok && redirect.Hdoc != nil {
			start, end := int(redirect.Hdoc.Pos().Offset()), int(redirect.Hdoc.End().Offset())
			if end = start + strings.LastIndexByte(line[start:end], '\n') + 1; start >= from && start < end {
				b.WriteString(line[from:start] + "...\n")
				from = end
			}
		}
		return true
	})
	return b.String() + line[from:]
}
