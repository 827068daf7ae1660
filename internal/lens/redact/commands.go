package redact

import (
	"bytes"
	"strings"
	"sync"
)

// This file finds secrets in the arguments of commands, in what commands read, and in what they print.

// Limits of what is read of a command.
const (
	longestCommand = 1024 // bytes
	mostArguments  = 40
	longestFed     = 160 // bytes of what is piped into it
)

// A commandName is a name of a program, and the program with its lists taken apart.
type commandName struct {
	name                        string
	program                     *program
	with, options, logins, args []string
}

// commandNames are the names of programs, by index; a use has it.
var commandNames = sync.OnceValue(func() (all []commandName) {
	for k := range programs {
		p := &programs[k]
		n := commandName{"", p, strings.Fields(p.With), strings.Fields(p.Options), strings.Fields(p.Logins),
			strings.Fields(p.Args)}
		for n.name = range strings.FieldsSeq(p.Names) {
			all = append(all, n)
		}
	}
	return all
})

// An argument is a range of a command, without the quotation marks around it.
type argument struct{ start, end int }

// A commandLine is a command that is read.
type commandLine struct {
	s    *Scanner
	text []byte
	from int // where its arguments begin
	args []argument
	end  int  // where it ends
	list bool // its arguments are literals with commas between them
}

// at adds the secrets of the command whose name, which is number k, begins at text[at]. Names of several programs are
// read once.
func (c *commandLine) at(dst []hit, k int32, at int) []hit {
	n := &commandNames()[k]
	from, list, ok := n.begins(c.text, at)
	if !ok {
		return dst
	}
	if c.from != from {
		c.from, c.list, c.args = from, list, c.args[:0]
		c.read(from)
		c.s.read += c.end - at
	}
	if !c.has(n.with) {
		return dst
	}
	dst = c.options(dst, n)
	dst = c.positions(dst, n)
	if n.program.Reads {
		dst = c.fed(dst, at)
	}
	if n.program.Prints {
		dst = c.printed(dst)
	}
	return dst
}

// begins reports whether text[at:] is a command of that name, where its arguments begin, and whether they are literals
// with commas between them.
func (n *commandName) begins(text []byte, at int) (from int, list, ok bool) {
	end := at + len(n.name)
	if !hasFolded(text[at:], n.name) || at > 0 && (isName(text[at-1]) || text[at-1] == '=') {
		return 0, false, false
	}
	if hasFolded(text[end:], ".exe") {
		end += len(".exe")
	}
	switch next := byteAt(text, end); {
	case isQuote(next):
		return end + 1, byteAt(text, end+1) == ',', true
	case next == ' ' || next == '\t',
		(next == 0 || next == '\n') && n.program.With == "" && (n.program.Prints || n.program.Reads):
		return end, false, true
	}
	return 0, false, false
}

// byteAt returns text[at], 0 beyond its end.
func byteAt(text []byte, at int) byte {
	if at >= len(text) {
		return 0
	}
	return text[at]
}

// read reads the arguments, from text[at] on.
func (c *commandLine) read(at int) {
	most := min(len(c.text), at+longestCommand)
	for c.end = at; at < most && len(c.args) < mostArguments; {
		switch b := c.text[at]; {
		case b == ' ' || b == '\t' || c.list && (b == ',' || b == '\n'):
			at++
		case strings.IndexByte("\\`^", b) >= 0 && (byteAt(c.text, at+1) == '\n' || byteAt(c.text, at+1) == '\r'):
			for at++; at < most && c.text[at] <= ' '; at++ {
			}
		case strings.IndexByte("\n\r;|&)]`<>", b) >= 0:
			c.end = at
			return
		default:
			from := at
			at = c.argument(at, most)
			if at == from {
				at++
			}
		}
		c.end = at
	}
}

// argument reads the argument that begins at text[at], and returns its end.
func (c *commandLine) argument(at, most int) int {
	a := argument{at, at}
	if b := c.text[at]; b == '"' || b == '\'' {
		if n := bytes.IndexByte(c.text[at+1:most], b); n >= 0 {
			a = argument{at + 1, at + 1 + n}
			if a.end > a.start && c.text[a.end-1] == '\\' {
				a.end--
			}
			c.args = append(c.args, a)
			return at + n + 2
		}
		at++
		a.start = at
	}
	for at < most && c.text[at] > ' ' && strings.IndexByte(";|`", c.text[at]) < 0 && !(c.list && c.text[at] == ',') {
		if b := c.text[at]; (b == '"' || b == '\'') && at > a.start && strings.IndexByte("=:", c.text[at-1]) >= 0 {
			if n := bytes.IndexByte(c.text[at+1:most], b); n >= 0 { // --password="x"
				at += n + 2
				continue
			}
		}
		at++
	}
	a.end = at
	for a.end > a.start && strings.IndexByte(`"')]`, c.text[a.end-1]) >= 0 &&
		bytes.IndexByte(c.text[a.start:a.end-1], c.text[a.end-1]) < 0 {
		a.end--
	}
	c.args = append(c.args, a)
	return at
}

// has reports whether one of the words is an argument, or there are none.
func (c *commandLine) has(words []string) bool {
	for _, w := range words {
		if c.index(w) >= 0 {
			return true
		}
	}
	return len(words) == 0
}

// index returns which argument is the word, -1 for none. A word with a slash ends it; one with $ is in it.
func (c *commandLine) index(word string) int {
	for k, a := range c.args {
		v := c.text[a.start:a.end]
		if word == "~" {
			if c.isSecretFile(v) {
				return k
			}
			continue
		}
		if len(v) == len(word) && hasFolded(v, word) || word[0] == '/' && len(word) > 3 && bytes.HasSuffix(v,
			[]byte(word)) ||
			word[0] == '$' && bytes.HasPrefix(v, []byte("$")) && bytes.Contains(v, []byte(word[1:])) {
			return k
		}
	}
	return -1
}

// options adds the values of options.
func (c *commandLine) options(dst []hit, n *commandName) []hit {
	for k, a := range c.args {
		v := c.text[a.start:a.end]
		for _, name := range n.options {
			name, glued := strings.CutSuffix(name, "*")
			rest, ok := bytes.CutPrefix(v, []byte(name))
			if !ok && len(v) >= len(name) && name[0] == '/' && hasFolded(v, name) {
				rest, ok = v[len(name):], true
			}
			switch {
			case !ok:
			case len(rest) == 0 && k+1 < len(c.args):
				dst = c.secret(dst, c.args[k+1], false)
			case len(rest) > 1 && (rest[0] == '=' || rest[0] == ':' || name[len(name)-1] == '='):
				from := a.end - len(rest)
				if name[len(name)-1] != '=' {
					from++
				}
				dst = c.secret(dst, argument{from, a.end}, false)
			case glued && len(rest) > 1:
				dst = c.secret(dst, argument{a.end - len(rest), a.end}, false)
			}
		}
		for _, name := range n.logins {
			sign := name[len(name)-1]
			rest, ok := bytes.CutPrefix(v, []byte(name[:len(name)-1]))
			switch {
			case !ok:
			case len(rest) == 0 && k+1 < len(c.args):
				dst = c.login(dst, c.args[k+1], sign)
			case len(rest) > 1 && rest[0] == '=':
				dst = c.login(dst, argument{a.end - len(rest) + 1, a.end}, sign)
			}
		}
	}
	return dst
}

// login adds the secret of a user and a secret with a sign between them.
func (c *commandLine) login(dst []hit, a argument, sign byte) []hit {
	v := c.text[a.start:a.end]
	n := bytes.IndexByte(v, sign)
	if n < 1 || n > longestName || bytes.HasPrefix(v[n:], []byte("://")) {
		return dst
	}
	end := a.end
	if sign == '/' { // and the address of the database
		if at := bytes.LastIndexByte(v, '@'); at > n {
			end = a.start + at
		}
	} else if at := bytes.LastIndexByte(v, '@'); at > n && sign == ':' && bytes.IndexByte(v[at:], '.') > 0 {
		end = a.start + at
	}
	return c.secret(dst, argument{a.start + n + 1, end}, false)
}

// positions adds the arguments that are secrets by their place.
func (c *commandLine) positions(dst []hit, n *commandName) []hit {
	for _, what := range n.args {
		from := 0
		for _, w := range n.with {
			if k := c.index(w); k >= 0 && w[0] != '-' {
				from = max(from, k+1)
			}
		}
		count := 0
		for _, a := range c.args[min(from, len(c.args)):] {
			v := c.text[a.start:a.end]
			switch {
			case what == "=":
				if at := bytes.LastIndexByte(v[:min(len(v), 2*longestName)], '='); at > 0 {
					at = firstAssign(v)
					dst = c.secret(dst, argument{a.start + at + 1, a.end}, true)
				}
				continue
			case len(v) == 0 || v[0] == '-' || v[0] == '/':
				continue
			}
			count++
			if what[0] == '@' && count == 1 {
				dst = c.login(dst, a, what[1])
			} else if int(what[0]-'0') == count {
				dst = c.secret(dst, a, true)
			}
		}
	}
	return dst
}

// firstAssign returns where the value of NAME=VALUE or --option=NAME=VALUE begins, less one.
func firstAssign(v []byte) int {
	at := bytes.IndexByte(v, '=')
	if v[0] == '-' {
		if n := bytes.IndexByte(v[at+1:], '='); n > 0 && n < longestName {
			return at + 1 + n
		}
	}
	return at
}

// secret adds an argument if it may be a secret: one by its place only if it does not look like a name.
func (c *commandLine) secret(dst []hit, a argument, strict bool) []hit {
	for a.end > a.start+1 && isQuote(c.text[a.start]) && c.text[a.end-1] == c.text[a.start] {
		a.start, a.end = a.start+1, a.end-1
	}
	v := c.text[a.start:a.end]
	for _, scheme := range []string{"pass:", "env:", "file:"} {
		if bytes.HasPrefix(v, []byte(scheme)) {
			if scheme != "pass:" {
				return dst
			}
			v, a.start = v[len(scheme):], a.start+len(scheme)
		}
	}
	if !isGiven(v, strict) {
		return dst
	}
	return append(dst, hit{rule: c.s.r.command, start: a.start, end: a.end, value: string(v)})
}

// isGiven reports whether a text may be a secret that is given where one belongs.
func isGiven(v []byte, strict bool) bool {
	if len(v) < 6 || len(v) > longestValue || isPlain(v) || isFile(v) || repeats(v) || v[0] == '-' || v[0] == '%' ||
		bytes.IndexByte(v, '$') == 0 || bytes.ContainsAny(v, "\n") || harmlessValues.allows(v, nil, nil) {
		return false
	}
	head := v[:min(len(v), judged)]
	m := madeOf(head)
	if strict {
		return m.random() || hasKinds(head, 3) && (m.digits > 1 || hasKinds(head, 4)) || isWords(head, 3) &&
			bytes.IndexByte(v, '/') < 0
	}
	return m.random() || m.chosen() || human(head) || isWords(head, 2) || isPhrase(head)
}

// fed adds what the command reads: a here-string, the first line of a here-document, or what echo pipes into it. The
// command begins at text[at].
func (c *commandLine) fed(dst []hit, at int) []hit {
	rest := c.text[c.end:min(len(c.text), c.end+longestFed)]
	switch {
	case bytes.HasPrefix(rest, []byte("<<<")):
		in := commandLine{s: c.s, text: c.text}
		if in.read(c.end + 3); len(in.args) > 0 {
			dst = c.given(dst, in.args[0])
		}
	case bytes.HasPrefix(rest, []byte("<<")):
		if n := bytes.IndexByte(rest, '\n'); n > 0 {
			from := c.end + n + 1
			to := from + bytes.IndexByte(c.text[from:min(len(c.text), from+longestValue)], '\n')
			for from < to && c.text[from] <= ' ' {
				from++
			}
			if to > from && bytes.IndexByte(c.text[from:to], ' ') < 0 {
				dst = c.given(dst, argument{from, to})
			}
		}
	}
	from := max(0, at-longestFed)
	before := c.text[from:at]
	pipe := bytes.LastIndexByte(before, '|')
	if pipe < 0 || bytes.IndexByte(before[pipe:], '\n') >= 0 {
		return dst
	}
	start := max(bytes.LastIndex(before[:pipe], []byte("echo ")), bytes.LastIndex(before[:pipe], []byte("printf ")))
	if start < 0 || bytes.IndexByte(before[start:], '\n') >= 0 {
		return dst
	}
	c.s.read += len(before)
	in := commandLine{s: c.s, text: c.text[:from+pipe]}
	in.read(from + start + bytes.IndexByte(before[start:], ' '))
	for k := len(in.args) - 1; k >= 0; k-- {
		if v := c.text[in.args[k].start:in.args[k].end]; len(v) > 0 && v[0] != '-' {
			return c.given(dst, in.args[k])
		}
	}
	return dst
}

// given adds what a command reads: a secret, a user and a secret, or a name and a secret.
func (c *commandLine) given(dst []hit, a argument) []hit {
	v := c.text[a.start:a.end]
	if n := bytes.IndexAny(v, ":="); n > 0 && n < 40 && isIdent(v[:n]) {
		a.start += n + 1
	}
	for a.end > a.start+2 && c.text[a.end-2] == '\\' && c.text[a.end-1] == 'n' {
		a.end -= 2
	}
	return c.secret(dst, a, false)
}
